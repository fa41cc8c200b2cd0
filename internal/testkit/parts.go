package testkit

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// Unfolded returns a folder with a target of the latest release in which each part is a separate
// file, to which mutants can refer.
func Unfolded(t testing.TB, target emit.Target) string {
	t.Helper()
	return Built(t, "unfolded"+target.Name, func(dir string) { WriteUnfoldedTarget(t, target, dir) })
}

// WriteUnfoldedTarget writes these files to a folder, which may contain the folded files.
func WriteUnfoldedTarget(t testing.TB, target emit.Target, dir string) {
	t.Helper()
	release, err := spec.Embedded().Release("latest")
	require.NoError(t, err)
	manifest, err := target.Manifest(&emit.Model{Release: release})
	require.NoError(t, err)
	WriteUnfolded(t, release.Version, manifest, dir)
}

// WriteUnfolded writes a manifest with separate parts below a folder.
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

// WriteParts writes the parts to an existing copy.
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

// partGuard matches the include guard of a header in C++, and the name of its file in it.
var partGuard = regexp.MustCompile(`(?m)^#ifndef (DLPACKGEN_V\d+_\d+_(?:PYTORCH_)?(\w+)_HPP_)\n#define (\w+)\n`)

// Split writes each part of a generated C++ header to a separate file, which the header then
// includes. Mutants can refer to one part.
func Split(t testing.TB, header string) {
	t.Helper()
	data, err := os.ReadFile(header)
	require.NoError(t, err)
	text := string(data)
	for {
		all := partGuard.FindAllStringSubmatchIndex(text, -1)
		require.NotEmpty(t, all, header)
		last := all[len(all)-1] // no other part begins in it
		if len(all) == 1 {
			break
		}
		end := "#endif  // " + text[last[2]:last[3]] + "\n"
		size := strings.Index(text[last[0]:], end)
		require.Positive(t, size, header)
		part, name := text[last[0]:last[0]+size+len(end)], strings.ToLower(text[last[4]:last[5]])+".hpp"
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(header), name), []byte(part), 0o600))
		text = text[:last[0]] + "#include \"" + name + "\"\n" + text[last[0]+len(part):]
	}
	require.NoError(t, os.WriteFile(header, []byte(text), 0o600))
}
