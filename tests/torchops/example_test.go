package torchops

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
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// The example is built as a wheel and, at night, by CMake. Its training has PyTorch's own losses
// with both, and the wheel rejects another torch version by name.
func TestTheExample(t *testing.T) {
	tier.OnlyNightly(t)
	p := torch(t)
	if !testtool.Has(p.python, "setuptools") {
		t.Skip("needs setuptools: pip install -r tests/requirements.txt")
	}
	cmd := exec.Command(filepath.Join(golden.Root(t), "examples", "torch-op", "run.sh"))
	cmd.Env = append(os.Environ(), "DLPACKGEN_PYTHON="+p.python,
		"CFLAGS=-O0 -g0", "CXXFLAGS=-O0", "BUILD_TYPE=") // -O1 is tested elsewhere
	testtool.Require(t, "cmake", "cmake")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for line, times := range map[string]int{"ok eager": 2, "ok compiled": 2, "ok rejected": 2,
		"ok wheel": 1, "ok other torch": 1, "ok cmake": 1} {
		assert.Equal(t, times, strings.Count(string(out), line), "%s", out)
	}
}
