package devices

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// fetched returns the folder that a script of this folder fills, or skips the test; a file in it
// shows whether it was filled.
func fetched(t *testing.T, name, whole string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("fetches packages of Debian")
	}
	testtool.Require(t, "apt-get", "apt")
	dir := filepath.Join(golden.Root(t), ".cache", name)
	if _, err := os.Stat(filepath.Join(dir, whole)); err != nil {
		out, err := exec.Command("timeout", "120", "./fetch-"+name+".sh", dir).CombinedOutput()
		if err != nil {
			t.Skipf("needs packages of Debian, which could not be fetched: %v %s", err, out)
		}
	}
	return dir
}

func pocl(t *testing.T) string { return fetched(t, "pocl", "vendors/pocl.icd") }

// example runs the vendor's example, and reports whether it succeeded.
func example(t *testing.T, env ...string) ([]string, error) {
	t.Helper()
	cmd := exec.Command(filepath.Join(golden.Root(t), "examples/vendor/run.sh"), t.TempDir())
	cmd.Env = append(append(os.Environ(), unoptimized(t)), env...)
	out, err := cmd.Output()
	return strings.Split(strings.TrimSpace(string(out)), "\n"), err
}

// unoptimized is the variable PATH with compilers that do not optimize.
func unoptimized(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testtool.AddUnoptimized(t, dir)
	return "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// The example over OpenCL's unified shared memory passes the conformance checks, on one device and
// on two, and works with a program's own queue.
func TestTheExampleOfAVendor(t *testing.T) {
	dir := pocl(t)
	lib := filepath.Join(dir, "root/usr/lib/x86_64-linux-gnu")
	for _, devices := range []string{"cpu", "cpu cpu"} {
		out, err := example(t, "RUNNER="+filepath.Join(lib, "ld-linux-x86-64.so.2")+" --library-path "+lib,
			"OCL_ICD_VENDORS="+filepath.Join(dir, "vendors")+"/", "POCL_DEVICES="+devices)
		require.NoError(t, err, "%q", out)
		assert.NotRegexp(t, "(?m)^not tested: |^FAIL ", strings.Join(out, "\n"))
		assert.Contains(t, out, "ok streams wait for each other")
		assert.Contains(t, out, "32 checks, 0 failed")
		assert.Equal(t, "1 2 3 4 5 6", out[len(out)-1])
	}
}

// The example's Python modules: numpy copies the backend's allocations, producers on kDLExtDev
// receive the stream of the call, and PyTorch's tensors on PrivateUse1 are arguments and results,
// ordered by PyTorch's current stream.
func TestTheExampleInPython(t *testing.T) {
	dir, python := pocl(t), testtool.RequirePython(t)
	testtool.Require(t, "g++", "g++")
	lib := filepath.Join(dir, "root/usr/lib/x86_64-linux-gnu")
	cmd := exec.Command(filepath.Join(golden.Root(t), "examples/vendor/python/run.sh"), t.TempDir())
	cmd.Env = append(os.Environ(), "RUNNER="+filepath.Join(lib, "ld-linux-x86-64.so.2")+" --library-path "+lib,
		"OCL_ICD_VENDORS="+filepath.Join(dir, "vendors")+"/", "POCL_DEVICES=cpu cpu", "DLPACKGEN_PYTHON="+python,
		unoptimized(t))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, check := range []string{"given_tensors_reach_the_host", "producers_are_asked_with_the_stream",
		"numbers_of_streams_are_checked"} {
		assert.Contains(t, string(out), "ok "+check+"\n")
	}
	if strings.Contains(string(out), "not checked: PyTorch") {
		t.Skip("the rest needs torch: pip install -r tests/requirements-frameworks.txt")
	}
	for _, check := range []string{"tensors_are_copied", "torch_and_the_module_share_memory",
		"calls_work_on_the_stream_of_torch",
		"another_stream_waits_for_that_of_torch", "the_other_device_has_its_own"} {
		assert.Contains(t, string(out), "ok "+check+"\n")
	}
}

// Without an OpenCL platform, the test reports that, and functions that need one fail.
func TestTheExampleWithoutAPlatform(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the example")
	}
	testtool.Require(t, "cc", "gcc")
	out, err := example(t, "OCL_ICD_VENDORS="+t.TempDir()+"/")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 77, exit.ExitCode())
	assert.Regexp(t,
		`^not tested: checks that need a device: clusm: (the driver is not installed|OpenCL does not start: `+
			`CL_PLATFORM_NOT_FOUND_KHR)`, out[len(out)-2])
}

// openCL is the description in the example's config.
func openCL(t *testing.T) *backend.Backend {
	t.Helper()
	file := filepath.Join(golden.Root(t), "examples/vendor/dlpackgen.yaml")
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	cfg, _ := config.Decode(file, src, spec.Embedded(), targets.Table(), config.Choice{})
	require.NotNil(t, cfg)
	return cfg.Backends[0]
}

// OpenCL's own headers match the example's description; the callback of clCreateContext is not
// declared there.
func TestTheHeadersOfOpenCLAgree(t *testing.T) {
	dir, b := pocl(t), openCL(t)
	source := vendored(t, filepath.Join(golden.Root(t), "examples/vendor/dlpackgen.yaml"), "")
	var c strings.Builder
	c.WriteString("#define CL_TARGET_OPENCL_VERSION 300\n#include <CL/cl.h>\n#include <CL/cl_ext.h>\n#include " +
		"\"vendor_impl.h\"\n")
	c.WriteString(facts(b))
	for _, f := range b.Functions {
		if f.Name != "context" {
			fmt.Fprintf(&c, "FORM(%s, __typeof__(&%s));\n", f.Name, f.Symbol)
		}
	}
	headers := filepath.Join(dir, "root/usr/include")
	assert.Empty(t, agrees(t, headers, source, c.String()))
	for row, wrong := range map[string]string{
		"(DRIVER_queue_device ==": "(1 + DRIVER_queue_device ==", "(-61 ==": "(-62 ==",
		"FORM(flush, __typeof__(&clFlush": "FORM(flush, __typeof__(&clWaitForEvents",
	} {
		assert.NotEmpty(t, agrees(t, headers, source, mutation.Once(t, c.String(), row, wrong)), row)
	}
}
