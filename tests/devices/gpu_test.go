package devices

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	"github.com/dlpackgen/dlpackgen/internal/need"
)

// script runs tests/gpu/run.sh over a driver and gives its output and exit code.
func script(t *testing.T, bin, driver string) (string, int) {
	t.Helper()
	need.Program(t, "python3", "python3")
	cmd := exec.Command(filepath.Join(golden.Root(t), "tests/gpu/run.sh"), bin)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+driver, "PYTHON=python3", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return string(out), failed.ExitCode()
	}
	require.NoError(t, err)
	return string(out), 0
}

// Where there is no GPU, the script for one says so; over the stand-in, what needs
// no kernel passes.
func TestTheScriptForGPUs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds what the script needs")
	}
	bin := t.TempDir()
	run(t, filepath.Join(golden.Root(t), "tests/gpu/run.sh"), "--build", bin)
	out, code := script(t, bin, "")
	assert.Equal(t, 2, code)
	assert.Contains(t, out, "no GPU to check on: cuda: the driver is not installed")
	out, code = script(t, bin, standin(t))
	assert.Zero(t, code, out)
	assert.Regexp(t, `\nok every_step_in_c\n(?s:.*)\nok no_context_is_started_by_asking\n(?s:.*)\n\d+ checks, 0 failed, \d+ skipped\n$`, out)
}

// Python reaches the table by ctypes: numpy reads and frees what it is given.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("builds what the script needs")
	}
	python, bin, wrong := need.Python(t), t.TempDir(), t.TempDir()
	const name = "numpy_takes_ours_where_the_host_reads_it"
	check := func(bin string) string {
		cmd := exec.Command(python, filepath.Join(golden.Root(t), "tests/gpu/gpu.py"), bin, name)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+standin(t), "PYTHONDONTWRITEBYTECODE=1")
		out, _ := cmd.CombinedOutput() // the last line has what counts
		return string(out)
	}
	run(t, filepath.Join(golden.Root(t), "tests/gpu/run.sh"), "--build", bin)
	assert.Equal(t, "ok "+name+"\n1 checks, 0 failed, 0 skipped\n", check(bin))
	leaks := mutated(t, "streams_release.h", "if (!result) result = streams.driver.host_free(data);", "")
	run(t, need.Program(t, "gcc", "gcc"), "-std=gnu11", "-w", "-shared", "-fPIC", "-o", filepath.Join(wrong, "libdlpackgen_cuda.so"),
		filepath.Join(leaks, "dlpackgen_cuda.c"), "-ldl")
	assert.Contains(t, check(wrong), "the deleter gave the memory back")
}

// A back end that is wrong fails.
func TestTheScriptForGPUsFindsFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a back end that is wrong")
	}
	bin, wrong := t.TempDir(), mutated(t, "streams_pointer.h", "if (a->managed) {", "if (0) {")
	run(t, filepath.Join(golden.Root(t), "tests/gpu/run.sh"), "--build", bin)
	run(t, need.Program(t, "gcc", "gcc"), "-std=gnu11", "-w", "-shared", "-fPIC", "-o", filepath.Join(bin, "libdlpackgen_cuda.so"),
		filepath.Join(wrong, "dlpackgen_cuda.c"), "-ldl")
	out, code := script(t, bin, standin(t))
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "FAIL managed_memory\n")
}
