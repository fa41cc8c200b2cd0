// Package testtool finds the programs of others that tests use, and skips a test
// whose program is missing with the way to get it. It installs nothing.
package testtool

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/golden"
)

// Program returns the path of a program, which comes with that Debian package.
func Require(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("needs %s: apt-get install %s", name, debian)
	}
	return path
}

// Python returns the Python that has the frameworks: the one that DLPACKGEN_PYTHON
// names, or that of `make setup`.
func RequirePython(t testing.TB) string {
	t.Helper()
	python := cmp.Or(os.Getenv("DLPACKGEN_PYTHON"), filepath.Join(golden.Root(t), ".venv", "bin", "python"))
	if _, err := exec.LookPath(python); err != nil {
		t.Skipf("needs %s: make setup, or set DLPACKGEN_PYTHON", python)
	}
	return python
}
