// Package testtool finds the external programs that tests use. It skips a test whose program is
// missing, and names the package to install.
package testtool

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dlpackgen/dlpackgen/internal/golden"
)

// Require returns the path of a program, or skips the test and names the Debian package.
func Require(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("needs %s: apt-get install %s", name, debian)
	}
	return path
}

// RequirePython returns the Python with the frameworks: the one that DLPACKGEN_PYTHON names, or
// that of `make setup`.
func RequirePython(t testing.TB) string {
	t.Helper()
	python := cmp.Or(os.Getenv("DLPACKGEN_PYTHON"), filepath.Join(golden.Root(t), ".venv", "bin", "python"))
	if _, err := exec.LookPath(python); err != nil {
		t.Skipf("needs %s: make setup, or set DLPACKGEN_PYTHON", python)
	}
	return python
}
