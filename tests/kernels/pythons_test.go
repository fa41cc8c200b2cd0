package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// The module with the stable ABI works with the newer Pythons of `make pythons`. A free-threaded
// build does not load it, and gets a module that is compiled for it. The same applies to the
// example.
func TestOtherPythons(t *testing.T) {
	others := strings.Fields(os.Getenv("DLPACKGEN_PYTHONS"))
	if len(others) == 0 {
		t.Skip("needs other versions of Python: make pythons")
	}
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	stable := module(t, testtool.RequirePython(t), dir)
	example := testkit.NewExample(t, "../../examples/kernels", "generated", "build")
	example.Generate(t)
	stableExample := exampleModule(t, testtool.RequirePython(t), example.Dir, ".abi3.so")
	for _, python := range others {
		t.Run(filepath.Base(python), func(t *testing.T) {
			if !testtool.Has(python, "numpy") {
				t.Skip("numpy has no wheel for this Python")
			}
			home, exampleHome, env := stable, stableExample, []string(nil)
			if isFreeThreaded(t, python) {
				home, env = freeThreaded(t, python, dir), []string{"PYTHON_GIL=0"}
				exampleHome = exampleModule(t, python, example.Dir, ".so", "-UPy_LIMITED_API")
			}
			output, err := runsWith(python, home, env)
			require.NoError(t, err, output)
			assert.Contains(t, output, " tests")
			assertExample(t, python, exampleHome, env)
		})
	}
}

func isFreeThreaded(t *testing.T, python string) bool {
	t.Helper()
	out, err := exec.Command(python, "-c",
		"import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED'))").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out)) == "1"
}

// freeThreaded builds the module without the stable ABI.
func freeThreaded(t *testing.T, python, dir string) string {
	t.Helper()
	home := module(t, python, dir, "-UPy_LIMITED_API")
	file := filepath.Join(home, "tried/_kernels")
	require.NoError(t, os.Rename(file+".abi3.so", file+".so"))
	return home
}

// exampleModule builds the module of the example only for Python, and returns its folder.
func exampleModule(t *testing.T, python, dir, suffix string, flags ...string) string {
	t.Helper()
	home := t.TempDir()
	args := append([]string{"-std=c11", testkit.Level(), "-fPIC", "-shared", "-fvisibility=hidden",
		"-DPy_LIMITED_API=0x030B0000",
		"-isystem", testtool.RequireHeaders(t, python), "-o", filepath.Join(home, "_kernels"+suffix)}, flags...)
	for _, folder := range []string{"c", "kernels", "python"} {
		args = append(args, "-I"+filepath.Join(dir, "generated", folder))
	}
	for _, source := range []string{"kernels_impl.c", "generated/kernels/kernels.c", "generated/python/_kernels.c"} {
		args = append(args, filepath.Join(dir, source))
	}
	testkit.Run(t, testtool.RequireCompiler(t, "gcc", "gcc"), append(args, "-lm")...)
	return home
}

// assertExample compares the table's line for NumPy.
func assertExample(t *testing.T, python, home string, env []string) {
	t.Helper()
	cmd := exec.Command(python, "../../examples/kernels/use.py", "numpy")
	cmd.Env = append(append(os.Environ(), "PYTHONPATH="+home, "PYTHONDONTWRITEBYTECODE=1"), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, regexp.MustCompile(`(?m)^NumPy +30\.951 .* IndexError$`), string(out))
}
