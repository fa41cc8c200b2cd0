// Package safety tries to make the C helpers, the C++ headers and dlpackgen_python misbehave:
// hostile tensors, sanitizers, allocations that fail, threads, forks, and Pythons that end.
// docs/safety.md records the findings.
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

// headers makes a folder of all generated headers for C and C++.
func headers(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, language := range []string{"c", "cpp"} {
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(golden.Root(t), "gen", language))))
	}
	return dir
}

// parts makes such a folder in which each part of dlpackgen_python is a file.
func parts(t *testing.T) (dir string) {
	t.Helper()
	dir = headers(t)
	testkit.WriteParts(t, dir)
	return dir
}

// mutant makes such a folder with another text in one file, which must hold the old one.
func mutant(t *testing.T, file, old, changed string) (dir string) {
	t.Helper()
	dir = headers(t)
	if strings.HasPrefix(file, "dlpackgen_python/") {
		dir = parts(t)
	}
	mutation.Mutant{File: file, Old: old, New: changed}.Alone(t, dir)
	return dir
}
