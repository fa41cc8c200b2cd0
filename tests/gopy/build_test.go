package gopy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// sources returns the package's C files.
func sources(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(golden.Root(t), "gen", "go", "dlpack", "dlpackpy", "*.c"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// Without warnings, with the most common compilers for cgo.
func TestTheCIsClean(t *testing.T) {
	strict := []string{"-std=c11", "-Wshadow", "-Wstrict-prototypes", "-pedantic"}
	for cc, test := range map[string]struct {
		debian string
		flags  []string
	}{
		"gcc":                    {"gcc", strict},
		"clang-16":               {"clang-16", strict},
		"aarch64-linux-gnu-gcc":  {"gcc-aarch64-linux-gnu", strict},
		"x86_64-w64-mingw32-gcc": {"mingw-w64", nil},
	} {
		t.Run(cc, func(t *testing.T) {
			if testing.Short() && cc != "gcc" {
				t.Skip("compiles for some seconds, and -short was given")
			}
			testtool.Require(t, cc, test.debian)
			for _, file := range sources(t) {
				args := append([]string{"-Wall", "-Wextra", "-Werror", "-c", "-o", filepath.Join(t.TempDir(), "x.o"),
					file}, test.flags...)
				out, err := exec.Command(cc, args...).CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
		})
	}
}

// A module looks up Python's functions when it is imported, so one file works with every Python.
// Its own symbols are hidden, so two modules can be imported.
func TestSymbols(t *testing.T) {
	requireLinux(t)
	file := filepath.Join(library, "gopy.so")
	out, err := exec.Command("nm", "--dynamic", "--undefined-only", "--format=just-symbols", file).Output()
	if err != nil {
		t.Skip("needs nm: apt-get install binutils")
	}
	for _, name := range strings.Fields(string(out)) {
		assert.NotRegexp(t, `^_?Py`, name)
	}
	out, err = exec.Command("nm", "--dynamic", "--defined-only", "--format=just-symbols", file).Output()
	require.NoError(t, err)
	assert.Contains(t, strings.Fields(string(out)), "PyInit_gopy")
	for _, name := range strings.Fields(string(out)) {
		assert.False(t, strings.HasPrefix(name, "dlp_"), name)
	}
}

// Two modules are two Go runtimes in one process, each with its own copy of the bindings. They
// exchange tensors like unrelated libraries.
func TestTwoModulesInOneProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a second module, and -short was given")
	}
	python := environment(t)
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-o", filepath.Join(dir, "gotorch.so"),
		"../../examples/go-torch").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(python, "two.py")
	cmd.Env = append(os.Environ(), "GOPY="+library, "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, 2, strings.Count(string(out), "ok test_"), "%s", out)
}
