package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// pip installs the example without a network, and it returns each library's own results for its own
// tensors.
func TestTheExample(t *testing.T) {
	python := testtool.RequirePython(t)
	testtool.RequireHeaders(t, python)
	if testing.Short() {
		t.Skip("loads large frameworks, and -short was given")
	}
	if !testtool.Has(python, "setuptools", "torch", "jax", "paddle") {
		t.Skip("needs torch, jax and paddle: pip install -r tests/requirements-frameworks.txt")
	}
	cmd := exec.Command(filepath.Join(golden.Root(t), "examples", "py-kernel", "run.sh"))
	cmd.Env = append(os.Environ(), "DLPACKGEN_PYTHON="+testkit.ForkedProgram(t, python, testkit.Frameworks))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, library := range []string{"numpy", "torch", "jax", "paddle", "tvm_ffi"} {
		assert.Contains(t, strings.Split(string(out), "\n"), "ok "+library)
	}
}
