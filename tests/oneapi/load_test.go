package oneapi

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

func TestTheDriverIsLoadedByTheFirstCall(t *testing.T) {
	assert.Equal(t, []string{"mapped 0 global 0", "probe ok 65551 3", "mapped 1 global 0"},
		on(t, standin(t), "mapped", "probe", "mapped"))
}

// starts are drivers that do not start, each with a separate code and text; the first error is
// kept.
var starts = []struct {
	macros, steps []string
	want          string
}{
	{[]string{"-DSTART=0x78000001"}, nil,
		`4 2013265921 oneapi: the loader was found, but no driver starts: ZE_RESULT_ERROR_UNINITIALIZED ` +
			`\(0x78000001\): the loader found no driver, or the driver no device; .*`},
	{[]string{"-DSTART=0x70010000"}, nil,
		`5 1879113728 oneapi: .*: ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS \(0x70010000\): this user has ` +
			`no access to the device; .*`},
	{[]string{"-DSTART=0x70020000"}, nil,
		`5 1879179264 oneapi: .*: ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE \(0x70020000\): a dependency ` +
			`of the driver is not installed.*`},
	{[]string{"-DNOGPU"}, nil,
		`4 0 oneapi: Level Zero has started but found no GPU: none is installed, or ZE_AFFINITY_MASK hides it`},
	{[]string{"-DNOCONTEXT"}, nil,
		`5 0 oneapi: the driver has no default context, in which libraries share memory`},
	{[]string{"-DVERSION=65545"}, nil,
		`3 0 oneapi: the driver supports version 1\.9 of Level Zero, but 1\.14 or newer is required; update ` +
			`Intel's Level Zero loader and the driver of the GPU`},
	{[]string{"-DBROKEN=0", "-DOLD=1"}, nil,
		`22 1879048193 oneapi: the devices of a driver: ZE_RESULT_ERROR_DEVICE_LOST \(0x70000001\): .*`},
	{[]string{"-DOLD=0", "-DBROKEN=1"}, nil,
		`3 0 oneapi: the driver supports version 1\.4 of Level Zero, but 1\.14 or newer is required; .*`},
	{[]string{"-DzeDriverGetDefaultContext=zeOther"}, nil,
		`3 0 oneapi: the loader lacks zeDriverGetDefaultContext, of version 1\.14 of Level Zero; update .*`},
	{[]string{"-DzeInit=zeOther"}, nil,
		`3 0 oneapi: the library does not export zeInit: it is not the loader; install .*`},
}

func TestEachErrorAtTheStartHasItsText(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a stand-in for each")
	}
	for _, c := range starts {
		out := on(t, standin(t, c.macros...), "probe", "count", "ids", "info:h")
		assert.True(t, testkit.Fits([]string{"probe " + c.want, "count " + c.want, "ids " + c.want, "info " + c.want},
			out), "%q", out)
	}
	text := testkit.Built(t, "text", func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "libze_loader.so.1"), []byte("not a library"), 0o600))
	})
	assert.Regexp(t,
		`^probe 1 0 oneapi: the loader of Level Zero is not installed, or not in the library path: .* .*(invalid ELF `+
			`header|file too short); install`, on(t, text, "probe")[0])
}

// A failing driver does not affect others, whose devices keep their positions in SYCL's list.
func TestADriverThatFailsIsLeftOut(t *testing.T) {
	out := on(t, standin(t, "-DOLD=0"), "probe", "make:device:2", "ids", "id:0", "id:1", "info:p0", "alloc:2:4",
		"info:t0", "delete:0", "alloc:0:4", "drop:0:2")
	assert.True(t, testkit.Fits([]string{"probe ok 65551 1", "ids ok", "id ok 2",
		`id 9 0 oneapi: id: there is no device 1; there are 1, counted from 0`, `info ok 14 2 0 \+0 64`,
		"alloc ok 14 2 4 1 data", `info ok 14 2 0 \+0 16`,
		`alloc 9 0 oneapi: allocate: no device of Level Zero has the id 0; .*`}, out), "%q", out)
	out = on(t, standin(t, "-DBROKEN=1"), "probe", "ids", "id:1", "alloc:1:4", "delete:0")
	assert.True(t, testkit.Fits([]string{"probe ok 65551 2", "ids ok", "id ok 1", "alloc ok 14 1 4 1 data"}, out),
		"%q", out)
}

// A failing device keeps its position, and does not affect the other devices of its driver.
func TestADeviceThatFailsKeepsItsPosition(t *testing.T) {
	out := on(t, standin(t, "-DLOST=0"), "probe", "ids", "id:0", "id:1", "make:device:1", "make:device:2", "info:p0",
		"info:p1", "drop:0:1", "drop:1:2")
	assert.True(t, testkit.Fits([]string{"probe ok 65551 2", "ids ok", "id ok 1", "id ok 2", `info ok 14 1 0 \+0 64`,
		`info ok 14 2 1 \+0 64`}, out), "%q", out)
	out = on(t, standin(t, "-DLOST=1"), "probe", "ids", "id:0", "id:1", "alloc:1:4")
	assert.True(t, testkit.Fits([]string{"probe ok 65551 2", "ids ok", "id ok 0", "id ok 2",
		`alloc 9 0 oneapi: allocate: no device of Level Zero has the id 1; .*`}, out), "%q", out)
	out = on(t, standin(t, "-DLOST=2", "-DOLD=0"), "probe")
	assert.True(t, testkit.Fits([]string{`probe 3 0 oneapi: the driver supports version 1\.4 .*`}, out), "%q", out)
	out = on(t, standin(t, "-DMUTE=0"), "probe", "ids", "id:0")
	assert.True(t, testkit.Fits([]string{"probe ok 65551 1", "ids ok", "id ok 2"}, out), "%q", out)
	out = on(t, standin(t, "-DMUTE=0", "-DLOST=2"), "probe")
	assert.True(t,
		testkit.Fits([]string{`probe 22 1879048193 oneapi: the version of a driver: ZE_RESULT_ERROR_DEVICE_LOST .*`},
			out), "%q", out)
}

func TestAForkedChildGetsAnError(t *testing.T) {
	out := on(t, standin(t), "probe", "ids", "alloc:0:4", "log", "fork", "count", "alloc:0:4", "delete:0", "log")
	require.Len(t, out, 7)
	assert.Contains(t, out[4], "count 6 0 oneapi: Level Zero was started before this process was forked")
	assert.Contains(t, out[5], "alloc 6 0 oneapi: Level Zero was started before")
	assert.Equal(t, "log ", out[6], "the deleter does not call the parent's driver")
	assert.Equal(t, []string{"count ok 3"}, on(t, standin(t), "fork", "count"),
		"a child may start a driver that the parent did not start")
}

// Only libdl and libc are linked, and two symbols are exported.
func TestLinkedLibrariesAndExportedSymbols(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a library")
	}
	gcc, library := testtool.Require(t, "gcc", "gcc"), filepath.Join(t.TempDir(), "x.so")
	testkit.Run(t, gcc, append(testkit.Strict, "-shared", "-fPIC", "-Wl,-z,defs", "-o", library,
		filepath.Join(folder(t),
			"dlpackgen_oneapi.c"), "-ldl")...)
	out, err := exec.Command(testtool.Require(t, "nm", "binutils"), "-D", "--defined-only", "--format=just-symbols",
		library).Output()
	require.NoError(t, err)
	assert.Equal(t, []string{"dlpackgen_oneapi", "dlpackgen_usm"}, strings.Fields(string(out)))
	out, err = exec.Command(testtool.Require(t, "readelf", "binutils"), "-d", library).Output()
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.Contains(line, "(NEEDED)") {
			assert.Regexp(t, `\[lib(c|dl|pthread)\.so\.\d\]`, line)
		}
	}
}

// No compiler reports a warning.
func TestSourcesCompileWithoutWarnings(t *testing.T) {
	if testing.Short() {
		t.Skip("runs six compilers")
	}
	for _, c := range []struct{ compiler, debian, flag string }{
		{"gcc", "gcc", "-Wconversion"},
		{"clang-16", "clang-16", "-O2"},
		{"x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64", "-O1"},
		{"i686-w64-mingw32-gcc", "gcc-mingw-w64-i686", "-O1"},
		{"aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu", "-O1"},
	} {
		t.Run(c.compiler, func(t *testing.T) {
			flags := append(testkit.Strict, "-O1", c.flag, "-Wno-sign-conversion")
			testkit.Run(t, testtool.Require(t, c.compiler, c.debian),
				append(flags, "-c", "-o", filepath.Join(t.TempDir(), "x.o"),
					filepath.Join(folder(t), "dlpackgen_oneapi.c"))...)
		})
	}
}

// threaded runs threads with a backend under ThreadSanitizer; it returns the output and whether it
// succeeded.
func threaded(t *testing.T, source string) (string, error) {
	t.Helper()
	testtool.Require(t, "setarch", "util-linux")
	gcc, dir := testtool.Require(t, "gcc", "gcc"), t.TempDir()
	testkit.Run(t, gcc, "-std=gnu11", "-g", testkit.Level(), "-DQUIET", "-fPIC", "-shared", "-I", parts(t), "-o",
		filepath.Join(dir, "libze_loader.so.1"), "testdata/standin.c", "-lpthread")
	program := filepath.Join(dir, "threads")
	testkit.Run(t, gcc, "-std=gnu11", "-g", testkit.Level(), "-fsanitize=thread", "-DDEVICES=2", "-DOTHER=0",
		"-DROUNDS=100",
		`-DBACKEND_HEADER="dlpackgen_oneapi.h"`, "-DBACKEND_TABLE=dlpackgen_oneapi",
		`-DBACKEND_LIBRARY="libze_loader.so.1"`, "-I", source, "-o", program,
		"../../internal/testkit/testdata/threads.c", filepath.Join(source, "dlpackgen_oneapi.c"), "-ldl",
		"-lpthread")
	// ThreadSanitizer of older compilers fails with more random addresses
	cmd := exec.Command("setarch", "-R", program)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "TSAN_OPTIONS=halt_on_error=1",
		"ONEAPI_DEVICE_SELECTOR=level_zero:*")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Threads start the driver together, and allocate, order, keep, copy and free.
func TestThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("runs threads under ThreadSanitizer")
	}
	out, err := threaded(t, folder(t))
	require.NoError(t, err, out)
	assert.Equal(t, "alive 0\n", out)
}

// If two threads keep a tensor for one stream concurrently, the later event is awaited.
func TestTheLaterEventStays(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the backend once more")
	}
	gcc, dir := testtool.Require(t, "gcc", "gcc"), t.TempDir()
	testkit.Run(t, gcc, "-std=gnu11", "-g", "-DQUIET", "-fPIC", "-shared", "-I", parts(t), "-o",
		filepath.Join(dir, "libze_loader.so.1"), "testdata/standin.c", "-lpthread")
	program := filepath.Join(dir, "late")
	testkit.Run(t, gcc, "-std=gnu11", "-g", "-I", parts(t), "-o", program, "testdata/late.c", "-ldl", "-lpthread")
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, "ONEAPI_DEVICE_SELECTOR=level_zero:*")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "2 events, the last one is kept\n", string(out))
}
