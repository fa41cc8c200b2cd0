package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// asks evaluates an expression in a Python, and returns its output.
func asks(t *testing.T, python, expression string) string {
	t.Helper()
	out, err := exec.Command(python, "-c", "import sys, sysconfig; print("+expression+")").CombinedOutput()
	require.NoError(t, err, "%s: %s", python, out)
	return strings.TrimSpace(string(out))
}

// modulesFor returns a folder with the modules for a Python: with the stable ABI or, for a
// free-threaded build, which does not load these, compiled for it.
func modulesFor(t *testing.T, python string, freeThreaded bool) string {
	t.Helper()
	if !freeThreaded {
		return modules(t)
	}
	b, dir := newBuilder(t), t.TempDir()
	b.python, b.suffix = python, ".so"
	b.flags = append([]string{"-std=c11", testkit.Level()}, strict...)
	b.build(t, dir, "checked", "module/checked.c")
	b.build(t, dir, "untrusted", "module/untrusted.c")
	return dir
}

// The Pythons of `make pythons`: newer releases, debug builds, which abort if Python's API is
// called with an exception set, and a free-threaded build, which runs without the GIL.
func TestOtherPythons(t *testing.T) {
	others := strings.Fields(os.Getenv("DLPACKGEN_PYTHONS"))
	if len(others) == 0 {
		t.Skip("needs other versions of Python: make pythons")
	}
	for _, python := range others {
		t.Run(filepath.Base(python), func(t *testing.T) {
			freeThreaded := asks(t, python, `bool(sysconfig.get_config_var("Py_GIL_DISABLED"))`) == "True"
			dir := modulesFor(t, python, freeThreaded)
			var env []string
			if freeThreaded {
				env = []string{"PYTHON_GIL=0"}
			}
			for _, name := range append([]string{"inlined.py", "lives.py", "threads.py", "leaks.py"}, calls...) {
				t.Run(name, func(t *testing.T) { runs(t, python, dir, name, env...) })
			}
			t.Run("with_torch.py", func(t *testing.T) {
				if !testtool.Has(python, "torch") {
					t.Skipf("torch has no wheel for this Python (%s)", strings.TrimPrefix(python, golden.Root(t)))
				}
				runs(t, python, dir, "with_torch.py", env...)
			})
		})
	}
}
