package cpp

import (
	"bytes"
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

// module builds testdata/module.cpp into an importable folder.
func module(t *testing.T, python string, more ...string) (dir string) {
	t.Helper()
	testtool.Require(t, gcc.program, gcc.debian)
	dir = t.TempDir()
	args := flags([]string{"-std=c++17", testkit.Level(), "-shared", "-fPIC", "-o", filepath.Join(dir, "cppx.so"),
		"testdata/module.cpp", "-isystem", testtool.RequireHeaders(t, python)},
		gen(t), strict, []string{"-Wno-missing-field-initializers"}, more)
	out, err := exec.Command(gcc.program, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// clients runs testdata/clients.py, with the libraries to import.
func clients(t *testing.T, libraries ...string) {
	t.Helper()
	python := testtool.RequirePython(t)
	for _, name := range append(libraries, "tvm_ffi") {
		if exec.Command(python, "-c",
			"import importlib.util, sys; sys.exit(importlib.util.find_spec('"+name+"') is None)").Run() != nil {
			t.Skipf("needs %s in .venv: make setup", name)
		}
	}
	args := append([]string{filepath.Join("testdata", "clients.py")}, libraries...)
	cmd := exec.Command(python, args...)
	if len(libraries) > 0 {
		cmd = testkit.Forked(python, testkit.Frameworks, args...)
	}
	cmd.Env = append(os.Environ(), "PYTHONPATH="+module(t, python))
	var printed bytes.Buffer
	cmd.Stderr = &printed
	out, err := cmd.Output()
	assert.NoError(t, err, "%s%s", out, printed.Bytes())
	assert.Equal(t, "cppx\n"+strings.Join(append(libraries, "done"), "\n")+"\n", string(out))
}

func TestOwnTypeInPython(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	clients(t)
}

func TestTensorsOfFrameworks(t *testing.T) {
	if testing.Short() {
		t.Skip("imports torch and paddle")
	}
	clients(t, "torch", "paddle")
}
