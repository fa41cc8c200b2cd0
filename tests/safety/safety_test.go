// Package safety tries to break the C helpers, the C++ headers and dlpackgen_python: hostile
// tensors, sanitizers, failing allocations, threads, forks, and the end of Python. docs/safety.md
// records the findings.
package safety

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// headers creates a folder of all generated headers for C and C++.
func headers(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, language := range []string{"c", "cpp"} {
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(golden.Root(t), "gen", language))))
	}
	return dir
}

// parts creates this folder with each part of dlpackgen_python as a file.
func parts(t *testing.T) (dir string) {
	t.Helper()
	dir = headers(t)
	testkit.WriteParts(t, dir)
	return dir
}

// mutant creates this folder with a text replaced in one file.
func mutant(t *testing.T, file, old, changed string) (dir string) {
	t.Helper()
	dir = headers(t)
	if strings.HasPrefix(file, "dlpackgen_python/") {
		dir = parts(t)
	}
	mutation.Mutant{File: file, Old: old, New: changed}.Alone(t, dir)
	return dir
}
