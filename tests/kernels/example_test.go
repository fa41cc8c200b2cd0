package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// exampleSays runs the example with the installed libraries, and returns its output.
func exampleSays(t *testing.T) (libraries []string, output string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the example, and -short was given")
	}
	python := testtool.RequirePython(t)
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS("../../examples/kernels")))
	for _, made := range []string{"generated", "build"} {
		require.NoError(t, os.RemoveAll(filepath.Join(copied, made)))
	}
	program := filepath.Join(t.TempDir(), "dlpackgen")
	testkit.BuildProgram(t, program)
	for _, library := range []string{"numpy", "torch", "jax", "paddle"} {
		isAtNight := library == "jax" || library == "paddle"
		if testtool.Has(python, library) && (!isAtNight || tier.IsNightly()) {
			libraries = append(libraries, library)
		}
	}
	cmd := exec.Command("sh", append([]string{filepath.Join(copied, "run.sh")}, libraries...)...)
	cmd.Env = append(os.Environ(), "DLPACKGEN="+program, "GOWORK=off", "CFLAGS=-O0",
		"DLPACKGEN_PYTHON="+testkit.ForkedProgram(t, python, testkit.Torch),
		"PYTEST_ADDOPTS=-rs -p no:logging")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return libraries, string(out)
}

// callersOf are the lines of the table for a library.
var callersOf = map[string][]string{"numpy": {"NumPy"}, "torch": {"torch", "torch.ops", "torch.compile"},
	"jax": {"JAX"}, "paddle": {"Paddle"}}

// The table of the example has the same numbers for each caller, and the same error.
func TestTheExample(t *testing.T) {
	libraries, output := exampleSays(t)
	callers := []string{"C++", "Go"}
	for _, library := range libraries {
		callers = append(callers, callersOf[library]...)
	}
	for _, caller := range callers {
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(caller) + ` +([^ ].*)$`).FindStringSubmatch(output)
		require.NotNil(t, row, "%s\n%s", caller, output)
		want := []string{"30.951", "9.108", "108.000", "1.529", "5.831", "156.000", "IndexError"}
		if caller == "JAX" {
			want[5] = "-" // its arrays are immutable
		}
		assert.Equal(t, want, strings.Fields(row[1]), caller)
	}
	if testtool.Has(testtool.RequirePython(t), "pytest", "hypothesis") {
		assert.Regexp(t, `\d+ passed`, output, "the tests that the example generates")
	}
	if slices.Contains(libraries, "torch") {
		assertTraining(t, output)
		assert.NotContains(t, output, "set DLPACKGEN_OPERATORS", "the tests of gradients find the operators")
	}
}

// assertTraining compares the losses after 50 steps, with the kernel and with torch's own function.
func assertTraining(t *testing.T, output string) {
	t.Helper()
	losses := regexp.MustCompile(`trained for 50 steps: loss ([\d.]+), by torch's own ([\d.]+)`).FindStringSubmatch(
		output)
	require.NotNil(t, losses, output)
	assert.Equal(t, losses[2], losses[1])
	off := regexp.MustCompile(`torch.b?float16: at most 0\.0e\+00 from torch's own`).FindAllString(output, -1)
	assert.Len(t, off, 2, output)
}
