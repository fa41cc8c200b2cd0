package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/emit/c"
	"github.com/dlpackgen/dlpackgen/internal/emit/python"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// Parts returns a copy of gen/c in which each part is a file: those of dlpackgen_python.h and .c
// in dlpackgen_python/, those of a header of C beside it. A mutant names one part.
func Parts(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(golden.Root(t), "gen", "c"))))
	WriteParts(t, dir)
	return dir
}

// Unfolded returns the folder of a target of the latest release in which each part is a file of its
// own: a mutant names one part.
func Unfolded(t testing.TB, target emit.Target) string {
	t.Helper()
	return Built(t, "unfolded"+target.Name, func(dir string) {
		release, err := spec.Embedded().Release("latest")
		require.NoError(t, err)
		manifest, err := target.Manifest(&emit.Model{Release: release})
		require.NoError(t, err)
		WriteUnfolded(t, release.Version, manifest, dir)
	})
}

// WriteUnfolded writes a manifest like that below a folder.
func WriteUnfolded(t testing.TB, version string, manifest emit.Manifest, dir string) {
	t.Helper()
	files, err := emit.Render(version, manifest.Unfolded())
	require.NoError(t, err)
	write(t, dir, files)
}

func write(t testing.TB, dir string, files []emit.File) {
	t.Helper()
	for _, f := range files {
		file := filepath.Join(dir, filepath.FromSlash(f.Path))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, f.Data, 0o600))
	}
}

// WriteParts does so to a copy that is there.
func WriteParts(t testing.TB, dir string) {
	t.Helper()
	release, err := spec.Embedded().Release("latest")
	require.NoError(t, err)
	model := &emit.Model{Release: release}
	manifest, err := c.Target.Manifest(model)
	require.NoError(t, err)
	WriteUnfolded(t, release.Version, manifest, dir)
	manifest, err = python.Parts(model)
	require.NoError(t, err)
	files, err := emit.Render(release.Version, manifest)
	require.NoError(t, err)
	write(t, dir, files)
}
