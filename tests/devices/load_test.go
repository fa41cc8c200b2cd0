package devices

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

func TestTheDriverIsLoadedByTheFirstCall(t *testing.T) {
	out := steps(t, client(t, cuda(t), testkit.Sanitized...), standin(t), "mapped", "probe", "mapped")
	assert.Equal(t, []string{"mapped 0 global 0", "probe ok 13000 3", "mapped 1 global 0"}, out)
}

func TestWithoutADriverTheFirstErrorIsRepeated(t *testing.T) {
	out := steps(t, client(t, cuda(t), testkit.Sanitized...), "", "probe", "count", "alloc:2:0:4", "info:h",
		"number:2:0:1", "current:0:0",
		"order:1:0:1:0", "finish:1:0", "copy:1:0:h:1:0:h:4@1@0")
	require.Len(t, out, 9)
	for _, line := range out {
		_, text, _ := strings.Cut(line, " ")
		assert.Equal(t,
			"1 0 cuda: the driver is not installed, or not in the library path: libcuda.so.1: cannot open "+
				"shared "+
				"object file: No such file or directory; install the NVIDIA driver", text)
	}
}

// startErrors are the driver's possible errors at its start.
var startErrors = []struct {
	steps []string
	want  string
}{
	{[]string{"inject:cuInit:100"},
		"4 100 cuda: the driver of version 13000 does not start: CUDA_ERROR_NO_DEVICE (100): the driver sees " +
			"no device: none is installed, or CUDA_VISIBLE_DEVICES hides it"},
	{[]string{"devices:0"}, "4 100 cuda: the driver of version 13000 does not start: CUDA_ERROR_NO_DEVICE (100)"},
	{[]string{"inject:cuInit:46"},
		"5 46 cuda: the driver of version 13000 does not start: CUDA_ERROR_DEVICE_UNAVAILABLE (46): the device " +
			"is busy"},
	{[]string{"inject:cuInit:803"},
		"5 803 cuda: the driver of version 13000 does not start: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): the " +
			"driver library and the kernel module have different versions"},
	{[]string{"inject:cuInit:804"},
		"5 804 cuda: the driver of version 13000 does not start: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE " +
			"(804): the compatibility library"},
	{[]string{"inject:cuInit:999"},
		"5 999 cuda: the driver of version 13000 does not start: CUDA_ERROR_UNKNOWN (999)"},
	{[]string{"inject:cuInit:12345"},
		"23 12345 cuda: the driver of version 13000 does not start: CUDA_ERROR_OF_TOMORROW (12345): something " +
			"new"},
	{[]string{"inject:cuDeviceGetCount:3"},
		"23 3 cuda: the driver of version 13000 does not start: CUDA_ERROR_NOT_INITIALIZED (3)"},
	{[]string{"inject:cuDriverGetVersion:34"},
		"2 34 cuda: the driver does not report its version: CUDA_ERROR_STUB_LIBRARY (34): this is the stub of a " +
			"toolkit"},
}

// Each error at the start has a separate code and text, and is permanent.
func TestEachErrorAtTheStartHasItsText(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	for _, c := range startErrors {
		words := append(append([]string{"preload"}, c.steps...), "probe", "inject:cuInit:0", "count")
		out := steps(t, client(t, cuda(t), testkit.Sanitized...), standin(t), words...)
		require.Len(t, out, 2)
		assert.Contains(t, out[0], "probe "+c.want)
		assert.Equal(t, strings.TrimPrefix(out[0], "probe "), strings.TrimPrefix(out[1], "count "))
	}
}

func TestAStubIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another stand-in")
	}
	out := steps(t, client(t, cuda(t), testkit.Sanitized...), standin(t, "-DSTUB"), "probe", "count")
	for _, line := range out {
		assert.Contains(t, line,
			" 2 34 cuda: the driver does not report its version: CUDA_ERROR_STUB_LIBRARY (34): this is the stub of a toolkit, which is only for linking: remove it from the library path and install the driver")
	}
}

func TestOldDriversAreRejectedByVersionOrByFunction(t *testing.T) {
	if testing.Short() {
		t.Skip("builds four stand-ins")
	}
	program := client(t, cuda(t), testkit.Sanitized...)
	out := steps(t, program, standin(t, "-DDRIVER=10020"), "probe")
	assert.Equal(t,
		[]string{"probe 3 0 cuda: the driver has version 10020, but 11000 or newer is required; update " +
			"the NVIDIA driver"}, out)
	out = steps(t, program, standin(t, `-DMISSING="cuStreamGetCtx"`), "probe")
	assert.Equal(t,
		[]string{"probe 3 0 cuda: the driver of version 13000 lacks cuStreamGetCtx of version 9020; update " +
			"the NVIDIA driver"}, out)
	dir := testkit.Built(t, "nothing", func(dir string) {
		source := filepath.Join(dir, "empty.c")
		require.NoError(t, os.WriteFile(source, []byte("int unrelated;\n"), 0o600))
		testkit.Run(t, testtool.Require(t, "gcc", "gcc"), "-shared", "-fPIC", "-o", filepath.Join(dir, "libcuda.so.1"),
			source)
	})
	assert.Contains(t, steps(t, program, dir, "probe")[0],
		"probe 3 0 cuda: the library does not export cuDriverGetVersion: it is not the driver, or too old")
	text := testkit.Built(t, "text", func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "libcuda.so.1"), []byte("not a library"), 0o600))
	})
	assert.Regexp(t,
		`^probe 1 0 cuda: the driver is not installed, or not in the library path: .* .*(invalid ELF header|file too short); `+
			`install`, steps(t, program, text, "probe")[0])
}

// Functions of newer drivers are optional.
func TestPoolsAreDoneWithout(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another stand-in")
	}
	out := steps(t, client(t, cuda(t), testkit.Sanitized...), standin(t, "-DDRIVER=11000"), "probe", "log",
		"alloc:2:0:4", "log", "delete:0", "log", "alive")
	assert.Contains(t, out[3], "cuMemAlloc(16)")
	assert.NotContains(t, out[3], "Async")
	assert.Contains(t, out[4], "cuMemFree()")
	assert.Equal(t, "alive 0 depth 0", out[5])
}

// The stand-in returns the 32-bit entry points of CUDA 2 for a request without a version, or by the
// bare name.
func TestFunctionsAreLookedUpByVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("builds three stand-ins")
	}
	for lookup, word := range map[string]string{"2": "cuGetProcAddress_v2(", "1": "cuGetProcAddress(", "0": ""} {
		out := steps(t, client(t, cuda(t), testkit.Sanitized...), standin(t, "-DLOOKUP="+lookup), "probe", "log",
			"alloc:2:0:4", "delete:0", "log", "alive")
		require.Len(t, out, 5, "%v", out)
		for _, f := range backend.Embedded("cuda").Functions {
			if word != "" {
				assert.Contains(t, out[1], word+f.Symbol+",")
			}
		}
		assert.Equal(t, word != "", strings.Contains(out[1], "cuGetProcAddress"))
		assert.NotContains(t, out[3], "TRAP")
		assert.Equal(t, "alive 0 depth 0", out[4])
	}
}

func TestAForkedChildGetsAnError(t *testing.T) {
	program := client(t, cuda(t), testkit.Sanitized...)
	out := steps(t, program, standin(t), "probe", "alloc:2:0:4", "log", "fork", "count", "alloc:2:0:4", "delete:0",
		"log")
	require.Len(t, out, 6)
	assert.Contains(t, out[3], "count 6 0 cuda: CUDA was started before this process was forked")
	assert.Contains(t, out[4], "alloc 6 0 cuda: CUDA was started before")
	assert.Equal(t, "log ", out[5], "the deleter does not call the parent's driver")
	out = steps(t, program, standin(t), "fork", "count")
	assert.Equal(t, []string{"count ok 3"}, out, "a child may start a driver that the parent did not start")
}

// Only libdl and libc are linked, and one symbol is exported.
func TestLinkedLibrariesAndExportedSymbols(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a library")
	}
	gcc, dir := testtool.Require(t, "gcc", "gcc"), t.TempDir()
	library := filepath.Join(dir, "x.so")
	testkit.Run(t, gcc, append(testkit.Strict, "-shared", "-fPIC", "-Wl,-z,defs", "-o", library, filepath.Join(cuda(t),
		"dlpackgen_cuda.c"), "-ldl")...)
	out, err := exec.Command(testtool.Require(t, "nm", "binutils"), "-D", "--defined-only", library).Output()
	require.NoError(t, err)
	assert.Equal(t, []string{"T", "dlpackgen_cuda"}, strings.Fields(string(out))[1:])
	out, err = exec.Command(testtool.Require(t, "readelf", "binutils"), "-d", library).Output()
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.Contains(line, "(NEEDED)") {
			assert.Regexp(t, `\[(?:lib(?:c|dl)|ld-linux-[\w-]+)\.so`, line)
		}
	}
}
