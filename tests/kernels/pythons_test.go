package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// The module of the stable ABI serves the newer Pythons of `make pythons`. A free-threaded build
// does not load it, and gets a module that is compiled for it alone.
func TestOtherPythons(t *testing.T) {
	others := strings.Fields(os.Getenv("DLPACKGEN_PYTHONS"))
	if len(others) == 0 {
		t.Skip("needs other versions of Python: make pythons")
	}
	dir := t.TempDir()
	testkit.Generate(t, "testdata/kernels.yaml", dir)
	stable := module(t, testtool.RequirePython(t), dir)
	for _, python := range others {
		t.Run(filepath.Base(python), func(t *testing.T) {
			if !testtool.Has(python, "numpy") {
				t.Skip("numpy has no wheel for this Python")
			}
			home, env := stable, []string(nil)
			out, err := exec.Command(python, "-c",
				"import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED'))").Output()
			require.NoError(t, err)
			if strings.TrimSpace(string(out)) == "1" {
				home, env = freeThreaded(t, python, dir), []string{"PYTHON_GIL=0"}
			}
			said, err := runsWith(python, home, env)
			require.NoError(t, err, said)
			assert.Contains(t, said, " tests")
		})
	}
}

// freeThreaded builds the module without the stable ABI.
func freeThreaded(t *testing.T, python, dir string) string {
	t.Helper()
	home := module(t, python, dir, "-UPy_LIMITED_API")
	file := filepath.Join(home, "tried/_kernels")
	require.NoError(t, os.Rename(file+".abi3.so", file+".so"))
	return home
}
