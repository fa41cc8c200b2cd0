package testtool

import (
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

//go:embed ccache/compiler.sh
var compilerScript []byte

//go:embed ccache/stable.sh
var stableScript []byte

// RequireCompiler returns the path of a compiler, or skips the test and names the Debian package.
// If ccache is installed, the compiler is run through it: results are taken from .cache/ccache,
// independently of the folder.
func RequireCompiler(t testing.TB, name, debian string) string {
	t.Helper()
	path := Require(t, name, debian)
	if _, err := exec.LookPath("ccache"); err != nil {
		return path
	}
	root := golden.Root(t)
	if os.Getenv("CCACHE_DIR") == "" {
		require.NoError(t, os.Setenv("CCACHE_DIR", filepath.Join(root, ".cache", "ccache")))
	}
	dir := filepath.Join(root, ".cache", "compilers")
	put(t, filepath.Join(dir, "stable"), stableScript)
	put(t, filepath.Join(dir, name), compilerScript)
	return filepath.Join(dir, name)
}

// RunsGCC reports whether sources that a test compiles only to run them are compiled by gcc: in
// make nightly, and where Clang 16 is missing. make test uses Clang, because it takes less time
// without optimization. docs/testing.md lists the tests that compile the same sources with gcc.
func RunsGCC() bool {
	_, err := exec.LookPath("clang-16")
	return tier.IsNightly() || err != nil
}

// RequireRunCompiler returns the compiler for such sources, instead of gcc or g++.
func RequireRunCompiler(t testing.TB, gcc string) string {
	t.Helper()
	if RunsGCC() {
		return RequireCompiler(t, gcc, gcc)
	}
	return RequireCompiler(t, map[string]string{"gcc": "clang-16", "g++": "clang++-16"}[gcc], "clang-16")
}

// put writes a missing program. Another process may do the same at the same time.
func put(t testing.TB, path string, text []byte) {
	t.Helper()
	if old, err := os.ReadFile(path); err == nil && string(old) == string(text) {
		return
	}
	makeFolder(t, filepath.Dir(path))
	fresh, err := os.CreateTemp(filepath.Dir(path), "new")
	require.NoError(t, err)
	_, err = fresh.Write(text)
	require.NoError(t, err)
	require.NoError(t, fresh.Chmod(0o755))
	require.NoError(t, fresh.Close())
	require.NoError(t, os.Rename(fresh.Name(), path))
}

// makeFolder creates a folder below the root and its parent. Unlike os.MkdirAll, it does not query
// their times: they would be inputs of the test, which the go command would run again after a
// different package has added a compiler.
func makeFolder(t testing.TB, dir string) {
	t.Helper()
	for _, name := range []string{filepath.Dir(dir), dir} {
		if err := os.Mkdir(name, 0o755); !errors.Is(err, fs.ErrExist) {
			require.NoError(t, err)
		}
	}
}
