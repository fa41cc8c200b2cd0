package oneapi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// wheels returns the virtual environment with SYCL and dpnp, or skips the test.
func wheels(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles against SYCL's headers")
	}
	dir := cache(t, "oneapi")
	if _, err := os.Stat(filepath.Join(dir, "installed.txt")); err != nil {
		t.Skip("needs the wheels of tests/requirements-oneapi.txt: make setup")
	}
	return dir
}

// syclFlags are g++'s flags to compile with the wheels without warnings.
func syclFlags(t testing.TB) []string {
	include := filepath.Join(wheels(t), "include")
	return []string{"-std=c++17", "-g", testkit.Level(), "-Wall", "-Wextra", "-Wshadow", "-Werror", "-Wno-array-bounds",
		"-isystem", include, "-isystem", filepath.Join(include, "sycl"),
		"-DSYCL_DISABLE_FSYCL_SYCLHPP_WARNING"}
}

// syclObject compiles a C++ source once.
func syclObject(t testing.TB, key, source string, flags ...string) string {
	t.Helper()
	gxx := testtool.RequireCompiler(t, "g++", "g++")
	dir := testkit.Built(t, key, func(dir string) {
		testkit.Run(t, gxx, append(append(syclFlags(t), flags...), "-I", parts(t), "-c", "-o", filepath.Join(dir,
			"x.o"), source)...)
	})
	return filepath.Join(dir, "x.o")
}

// syclLink returns the client with a backend, and with memory and queues of SYCL.
func syclLink(t testing.TB, key string, backEnd string) string {
	t.Helper()
	made := syclObject(t, "made", "testdata/made_sycl.cpp")
	dir := testkit.Built(t, "sycl"+key, func(dir string) {
		object, lib := filepath.Join(dir, "client.o"), filepath.Join(wheels(t), "lib")
		testkit.Run(t, testtool.Require(t, "gcc", "gcc"), "-std=gnu11", "-g", "-Wall", "-Wextra", "-I", parts(t), "-c",
			"-o", object, "testdata/client.c")
		testkit.Run(t, "g++", "-o", filepath.Join(dir, "client"), object, made, backEnd, "-L"+lib, "-Wl,-rpath,"+lib,
			"-lsycl", "-ldl", "-lpthread")
	})
	return filepath.Join(dir, "client")
}

// syclClient is the client of the backend over SYCL.
func syclClient(t testing.TB) string {
	return syclLink(t, "", syclObject(t, "backend", filepath.Join(folder(t), "dlpackgen_oneapi_sycl.cpp")))
}

// noVendors hides the machine's OpenCL devices.
const noVendors = "OCL_ICD_VENDORS=/nothing"

// platforms are the devices that SYCL finds: the CPU, simulated cards, or both.
var platforms = []string{"cpu", "COMPOSITE", "FLAT", "COMBINED", "both"}

// onPlatform returns a command that sees the devices of those platforms.
func onPlatform(t testing.TB, platform, program string, words ...string) (*exec.Cmd, []string) {
	t.Helper()
	lib := filepath.Join(wheels(t), "lib")
	cpu := "OCL_ICD_FILENAMES=" + filepath.Join(lib, "libintelocl.so")
	switch platform {
	case "cpu":
		return exec.Command(program, words...), []string{cpu, noVendors}
	case "both":
		platform = "COMPOSITE"
	default:
		cpu = "OCL_ICD_FILENAMES="
	}
	return exec.Command("./run-level-zero.sh", append([]string{program}, words...)...),
		[]string{cpu, noVendors, "L0ROOT=" + levelZero(t) + "/root", "HIER=" + platform, "EXTRA=" + lib}
}

func onSYCL(t testing.TB, platform string, words ...string) []string {
	t.Helper()
	cmd, env := onPlatform(t, platform, syclClient(t), words...)
	return output(t, cmd, env...)
}

// The devices on each platform. SYCL lists tiles if the hierarchy is flat.
func TestSYCLListsDevices(t *testing.T) {
	simulates(t)
	const cpu, gpu = `device cpu Intel\(R\) OpenCL`, `device gpu .*Level-Zero`
	for platform, want := range map[string][]string{
		"cpu": {cpu}, "COMPOSITE": {gpu, gpu}, "FLAT": {gpu, gpu, gpu, gpu}, "COMBINED": {gpu, gpu, gpu, gpu},
		"both": {cpu, gpu, gpu},
	} {
		out := onSYCL(t, platform, "probe", "count", "devices")
		want = append([]string{fmt.Sprintf(`probe ok 20\d{6} %d`, len(want)), fmt.Sprintf("count ok %d", len(want))},
			want...)
		assert.True(t, testkit.Fits(want, out), "%s %q", platform, out)
	}
}

// everywhere are scenarios with the same output on each platform.
var everywhere = []scenario{
	{"memory told apart", []string{"alloc:0:4", "info:t0", "info:t0+8", "info:h", "import:0:t0:16", "make:shared:0",
		"info:p0", "~info:p0", "make:host:0", "info:p1", "~info:p1", "info:n", "delete:0"},
		[]string{"alloc ok 14 0 4 1 data", `info ok 14 0 0 \+-1 0`, `info ok 14 0 0 \+-1 0`, `info ok 1 0 -1 \+-1 0`,
			`import ok 14 0 0 \+-1 0`,
			`info 24 0 oneapi: pointer_attributes: the memory 0x\w+ is shared with the host, but only device memory is accepted here; .*`,
			`info ok 14 0 0 \+-1 0`,
			`info 24 0 .* is the host's, but .*`, `info ok 14 0 -1 \+-1 0`, `info 7 0 .*`}},
	{"copies", []string{"alloc:0:4", "say:0:hello", "open:loose:0", "copy:14:0:t0:1:0:h:16@0@0",
		"copy:1:0:h+64:14:0:t0:16@s0@0", "host:64", "copy:14:0:t0:1:0:h:16@-@0", "copy:1:0:t0:1:0:h:16@0@0",
		"copy:2:0:h:1:0:h:16@0@0", "copy:14:0:n:14:0:n:0@0@0", "copy:14:0:h:1:0:h:16@0@0", "delete:0"},
		[]string{"alloc ok .*", "copy ok", "copy ok", "host hello", `copy 10 .*`, `copy (?:16|8) 0 .*`, `copy 8 .*`,
			"copy ok", `copy 13 0 oneapi: copy: the destination: 0x\w+ is not memory under the default context .*`}},
	{"streams", []string{"open:order:0", "open:loose:0", "order:s0:0:s1:0", "order:0:0:s0:0", "order:s1:0:s1:0",
		"order:-:0:0:0", "alloc:0:4:s1", "keep:0:s0:0", "keep:0:s0:0", "keep:0:s1:0", "finish:s0:0", "finish:0:0",
		"handle:0:close", "handle:1:close", "deletethere:0", "finish:-:0", "finish:=2:0"},
		[]string{"order ok", "order ok", "order ok", "order ok", "alloc ok .*", "keep ok", "keep ok", "keep ok",
			"finish ok", "finish ok", "finish 10 .*", "finish 10 .*"}},
	{"a queue of another context", []string{"open:other:0", "finish:s0:0", "alloc:0:4:s0"},
		[]string{`finish 13 0 oneapi: stream_synchronize: the queue 0x\w+ belongs to a context that the program created, not to ` +
			`the platform's default one, .*`, "alloc 13 .*"}},
	{"numbers", []string{"ids:7", "id:0", "id:9", "stream:14:0:none", "stream:14:0:-1", "stream:14:0:1",
		"stream:14:9:none", "stream:2:0:none", "current:n:0", "current:t:0"},
		[]string{"ids ok", "id ok 0", `id 9 0 oneapi: id: SYCL lists no device 9; it lists \d, numbered from 0`,
			"stream ok 0 0 0", "stream ok 0 0 1", "stream 10 .*", "stream 9 .*", "stream 8 .*", "current ok 0",
			"current ok 4096"}},
	{"rejected requests", []string{"alloc:0:0", "delete:0", "alloc:9:4", "alloc:0:4::1", "alloc:0:-1",
		"alloc:0:9000000000000000000", "alloc:0:400000000000000000", "free:n", "free:x", "keep:x:0:0"},
		[]string{"alloc ok 14 0 0 1 null", "alloc 9 .*",
			`alloc 8 0 oneapi: allocate: device type 1; oneAPI has the type 14`, "alloc 7 .*", "alloc 7 .*",
			`alloc (?:19|23) .*`, "free ok", "free 18 .*", "keep 18 .*"}},
	{"null", []string{"nulls"}, []string{"nulls 7 7 7 7 7 7 7 7 7 7 7 7 7 7 0"}},
	{"a deleter at exit", []string{"alloc:0:4", "keep:0:0:0", "atexit"}, []string{"alloc ok .*", "keep ok"}},
	{"a child of fork", []string{"open:order:0", "alloc:0:4:s0", "handle:0:busy", "fork", "count", "delete:0"},
		[]string{"alloc ok .*",
			`count 6 0 oneapi: SYCL was started before this process was forked, and works only in the parent; .*`}},
}

func TestSYCL(t *testing.T) {
	simulates(t)
	for _, platform := range platforms {
		t.Run(platform, func(t *testing.T) {
			for _, s := range everywhere {
				t.Run(s.name, func(t *testing.T) {
					out := onSYCL(t, platform, s.steps...)
					assert.True(t, s.fits(out), "%q\n%q", s.want, out)
				})
			}
		})
	}
}

// particular are scenarios of one platform.
var particular = map[string][]scenario{
	"cpu": {
		{"of another context, or freed",
			[]string{"make:other:0", "info:p0", "import:0:p0:4", "make:device:0", "drop:1:0", "import:0:p1:4"},
			[]string{`info ok 1 0 -1 \+-1 0`,
				`import 13 0 oneapi: check_tensor: the tensor: 0x\w+ is not memory under the default context of a ` +
					`platform; it was freed, or allocated under another context: .*`, "import 13 .*"}},
		{"really in order", []string{"open:order:0", "open:loose:0", "handle:0:busy", "handle:0:done",
			"order:s1:0:s0:0", "finish:s1:0", "handle:0:done"},
			[]string{"done 0", "order ok", "finish ok", "done 1"}},
		{"really one queue in order",
			[]string{"open:loose:0", "alloc:0:4", "handle:0:busy", "handle:0:done", "copy:14:0:t0:1:0:h:16@s0@0",
				"handle:0:done", "delete:0"},
			[]string{"alloc ok .*", "done 0", "copy ok", "done 1"}},
		{"really kept", []string{"open:order:0", "alloc:0:4", "keep:0:0:0", "handle:0:busy", "keep:0:s0:0",
			"handle:0:done", "delete:0", "handle:0:done"},
			[]string{"alloc ok .*", "keep ok", "keep ok", "done 0", "done 1"}},
		{"really kept for its own queue",
			[]string{"open:order:0", "alloc:0:4:s0", "handle:0:busy", "handle:0:done", "handle:0:close", "delete:0",
				"handle:0:done"},
			[]string{"alloc ok .*", "done 0", "done 1"}},
		{"recorded into a graph",
			[]string{"alloc:0:4", "open:recorded:0", "order:s0:0:0:0", "order:0:0:s0:0", "finish:s0:0",
				"keep:0:s0:0", "copy:1:0:h:14:0:t0:16@s0@0", "alloc:0:4:s0", "handle:0:end", "finish:s0:0", "delete:0"},
			[]string{"alloc ok .*",
				`order 12 0 oneapi: stream_wait: the consumer's queue is recorded into a graph and the other is ` +
					`not; order them in the graph, and pass -1 as the stream`,
				`order 12 0 oneapi: stream_wait: the producer's queue is recorded .*`,
				`finish 12 0 oneapi: stream_synchronize: the queue 0x\w+ is recorded into a graph, and waits for nothing ` +
					`before the graph is launched`,
				"keep 12 .*", "copy 12 .*",
				`alloc 12 0 oneapi: allocate: the queue 0x\w+ is recorded into a graph, whose work cannot ` +
					`be waited for; .*`, "finish ok"}},
	},
	"COMPOSITE": {
		{"a tile is its card's",
			[]string{"make:device:1:1", "info:p0", "import:1:p0:64", "import:0:p0:64", "open:order:1:0",
				"order:s0:1:0:0", "order:s0:0:0:0"},
			[]string{`info ok 14 1 1 \+-1 0`, `import ok 14 1 1 \+-1 0`,
				`import 16 0 oneapi: check_tensor: the tensor declares device 0, but the memory 0x\w+ is of device 1 in ` +
					`the order of SYCL`, "order ok",
				`order 11 0 oneapi: stream_wait: the consumer's stream: the queue 0x\w+ is of device 1, not of ` +
					`device 0`}},
		{"two cards", []string{"alloc:0:4", "alloc:1:4", "say:0:hello", "copy:14:0:t0:1:0:h:16@0@0",
			"copy:14:1:t1:14:0:t0:16@0@1", "copy:1:0:h+64:14:1:t1:16@0@1", "host:64"},
			[]string{"alloc ok .*", "alloc ok .*", "copy ok", "copy ok", "copy ok", "host hello"}},
	},
	"both": {
		{"in order across platforms",
			[]string{"open:order:0", "open:order:1", "handle:0:busy", "order:s1:1:s0:0", "handle:0:done",
				"finish:s1:1", "handle:0:done"},
			[]string{"order ok", "done 0", "finish ok", "done 1"}},
		{"devices of two platforms",
			[]string{"alloc:0:4", "alloc:2:4", "make:device:2:1", "info:t0", "info:t1", "info:p0", "import:1:t0:16",
				"import:0:t1:16", "order:0:0:0:1", "say:0:world",
				"copy:14:0:t0:1:0:h:16@0@0", "copy:14:2:t1:14:0:t0:16@0@2", "copy:1:0:h+64:14:2:t1:16@0@2", "host:64",
				"make:host:0", "~import:2:p1:4"},
			[]string{"alloc ok 14 0 .*", "alloc ok 14 2 .*", `info ok 14 0 0 .*`, `info ok 14 2 2 .*`,
				`info ok 14 2 2 .*`, `import 16 0 .* declares device 1, but the memory 0x\w+ is of device 0 .*`,
				"import 16 .*",
				"order ok", "copy ok", "copy ok", "copy ok", "host world",
				`import ok 14 0 -1 .*`}},
	},
}

func TestSYCLInParticular(t *testing.T) {
	simulates(t)
	for platform, group := range particular {
		for _, s := range group {
			t.Run(platform+" "+s.name, func(t *testing.T) {
				out := onSYCL(t, platform, s.steps...)
				assert.True(t, s.fits(out), "%q\n%q", s.want, out)
			})
		}
	}
}

// Without a driver, there is no device, and the error is repeated.
func TestSYCLWithoutADevice(t *testing.T) {
	cmd := exec.Command(syclClient(t), "probe", "count", "alloc:0:4", "info:h", "ids")
	out := output(t, cmd, noVendors, "ONEAPI_DEVICE_SELECTOR=cuda:*")
	want := `4 0 oneapi: SYCL lists no device: no driver is found, or ONEAPI_DEVICE_SELECTOR hides them; install ` +
		`a driver`
	assert.True(t, testkit.Fits([]string{"probe " + want, "count " + want, "alloc " + want, "info " + want,
		"ids " + want}, out), "%q", out)
}

// Level Zero in C, with SYCL's device numbering, assigns the same ids to SYCL's memory as SYCL. If
// the selector excludes other platforms, it does so without the numbering.
func TestLevelZeroAgreesWithSYCL(t *testing.T) {
	simulates(t)
	program := syclLink(t, "levelzero", cObject(t))
	for _, c := range []struct {
		platform, selector string
		steps, want        []string
	}{
		{"both", "", []string{"devices", "ids:1:2", "make:device:2:1", "info:p0", "make:device:1", "info:p1",
			"import:2:p0:4", "make:shared:1", "~info:p2", "alloc:2:4"},
			[]string{"device cpu .*", "device gpu .*", "device gpu .*", "ids ok", `info ok 14 2 1 \+0 \d+`,
				`info ok 14 1 0 \+0 \d+`, `import ok 14 2 1 \+0 \d+`, `info ok 14 1 0 \+0 64`,
				"alloc ok 14 2 4 1 data"}},
		{"both", "level_zero:*", []string{"devices", "make:device:1:1", "info:p0", "ids:0:1"},
			[]string{"device gpu .*", "device gpu .*", `info ok 14 1 1 \+0 \d+`, "ids ok"}},
		{"FLAT", "level_zero:gpu", []string{"make:device:3", "info:p0", "ids:0:1:2:3"},
			[]string{`info ok 14 3 3 \+0 \d+`, "ids ok"}},
	} {
		cmd, env := onPlatform(t, c.platform, program, c.steps...)
		out := output(t, cmd, append(env, "ONEAPI_DEVICE_SELECTOR="+c.selector)...)
		assert.True(t, testkit.Fits(c.want, out), "%q\n%q", c.want, out)
	}
}

// cObject is the backend over Level Zero.
func cObject(t testing.TB) string {
	t.Helper()
	dir := testkit.Built(t, "levelzero", func(dir string) {
		testkit.Run(t, testtool.Require(t, "gcc", "gcc"),
			append(testkit.Strict, "-c", "-o", filepath.Join(dir, "x.o"),
				filepath.Join(folder(t), "dlpackgen_oneapi.c"))...)
	})
	return filepath.Join(dir, "x.o")
}

// Each guard of the SYCL sources, and the scenario that needs it. One build contains all mutants.
var syclMutants = []struct{ file, old, fresh, platform, scenario string }{
	{"sycl_devices.hpp", "first != likely", "0", "both", "devices of two platforms"},
	{"sycl_devices.hpp", "id >= 0 && id < count", "1", "cpu", "numbers"},
	{"sycl_devices.hpp", "memory->kind == USM_HOST", "0", "both", "devices of two platforms"},
	{"sycl_devices.hpp", "kind == sycl::usm::alloc::unknown", "0", "cpu", "memory told apart"},
	{"sycl_order.hpp", "id != stream->device.device_id", "0", "COMPOSITE", "a tile is its card's"},
	{"sycl_order.hpp", "queue.get_context() == state->roots[id].context", "1", "cpu", "a queue of another context"},
	{"sycl_order.hpp", "recorded(waits) != recorded(works)", "0", "cpu", "recorded into a graph"},
	{"sycl_order.hpp", "!recorded(queue)", "1", "cpu", "recorded into a graph"},
	{"sycl_order.hpp", "consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC", "1",
		"cpu", "really in order"},
	{"sycl_memory.hpp", "!named", "0", "cpu", "really kept for its own queue"},
	{"sycl_copy.hpp", "queue.is_in_order()", "1", "cpu", "really one queue in order"},
	{"device_allocation.h", "tensor && tensor->deleter == deleter", "tensor", "cpu", "rejected requests"},
	{"sycl_memory.hpp", "phase.load() != sycl_phase::ready", "0", "cpu", "a child of fork"},
	{"sycl_memory.hpp", "static_cast<int>(r->device.device_type) != BACKEND_device", "0", "cpu", "rejected requests"},
	{"sycl_copy.hpp", "!can_access(id, to->memory) || !can_access(id, from->memory)", "0", "COMPOSITE", "two cards"},
}

// particularly returns a scenario by its name.
func particularly(t *testing.T, platform, name string) scenario {
	t.Helper()
	for _, s := range append(everywhere, particular[platform]...) {
		if s.name == name {
			return s
		}
	}
	require.Fail(t, "no scenario "+name)
	return scenario{}
}

func TestEachGuardForSYCLIsMissed(t *testing.T) {
	tier.OnlyNightly(t)
	wheels(t)
	simulates(t)
	source := t.TempDir()
	require.NoError(t, os.CopyFS(source, os.DirFS(parts(t))))
	all := make([]mutation.Mutant, len(syclMutants))
	for i, m := range syclMutants {
		all[i] = mutation.Mutant{File: m.file, Old: m.old, New: m.fresh}
	}
	written := mutation.Write(t, source, all)
	require.Empty(t, written.Apart, "each is a statement or an expression")
	object := filepath.Join(source, "all.o")
	testkit.Run(t, testtool.Require(t, "g++", "g++"), append(append(syclFlags(t), written.Flags...), "-I", source,
		"-c", "-o", object, filepath.Join(source, "dlpackgen_oneapi_sycl.cpp"))...)
	program := syclLink(t, "mutants", object)
	for i, m := range syclMutants {
		s := particularly(t, m.platform, m.scenario)
		for _, number := range []int{0, i + 1} {
			cmd, env := onPlatform(t, m.platform, program, s.steps...)
			if m.platform == "cpu" && number != 0 { // some wait forever
				limited := testkit.Limited(program, s.steps...).Args
				cmd, env = onPlatform(t, m.platform, limited[0], limited[1:]...)
			}
			cmd.Env = environ(append(env, mutation.Env(number))...)
			out, err := cmd.Output()
			lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			assert.Equal(t, number == 0, err == nil && s.fits(lines), "%s -> %s: %q", m.old, m.fresh, lines)
		}
	}
}

// The script names the first available SYCL; its output builds the backend.
func TestFindingSYCL(t *testing.T) {
	venv := wheels(t)
	dir := t.TempDir()
	fake := func(parts ...string) string {
		file := filepath.Join(append([]string{dir}, parts...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755))
		return file
	}
	root := filepath.Join(dir, "root")
	fake("root/compiler/latest/include/sycl/sycl.hpp")
	fake("root/compiler/latest/lib/libsycl.so")
	icpx := filepath.Dir(fake("bin/icpx"))
	find := func(what string, env ...string) (string, error) {
		cmd := exec.Command("sh", filepath.Join(folder(t), "sycl_find.sh"), what)
		cmd.Env = append(os.Environ(), append([]string{"ONEAPI_ROOT=", "PYTHON=/nothing"}, env...)...)
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	python := "PYTHON=" + filepath.Join(venv, "bin/python")
	for _, c := range []struct {
		env                     []string
		compiler, compile, link string
	}{
		{[]string{"PATH=" + icpx + ":" + os.Getenv("PATH"), "ONEAPI_ROOT=" + root, python}, "icpx",
			"-std=c++17 -fsycl", "-fsycl"},
		{[]string{"ONEAPI_ROOT=" + root, python, "CXX="}, "g++",
			"-isystem " + root + "/compiler/latest/include/sycl", "-L" + root + "/compiler/latest/lib"},
		{[]string{python, "CXX=clang++"}, "clang++", "-isystem " + venv + "/include/sycl", "-L" + venv + "/lib"},
	} {
		for what, want := range map[string]string{"compiler": c.compiler, "compile": c.compile, "link": c.link} {
			out, err := find(what, c.env...)
			require.NoError(t, err, out)
			assert.Contains(t, out, want, what)
		}
	}
	out, err := find("compile")
	assert.Error(t, err)
	assert.Equal(t,
		"no SYCL: found neither icpx in PATH, nor ONEAPI_ROOT, nor the wheel intel-sycl-rt of /nothing\n"+
			"install it: pip install intel-sycl-rt", out)
	out, err = find("what")
	assert.Error(t, err)
	assert.Equal(t, "usage: sh sycl_find.sh compiler|compile|link", out)
	compile, err := find("compile", python)
	require.NoError(t, err)
	link, err := find("link", python)
	require.NoError(t, err)
	program := filepath.Join(dir, "program")
	testkit.Run(t, "sh", "-c", "g++ "+compile+" -I "+folder(t)+" -o "+program+" testdata/probe.cpp "+syclObject(t,
		"backend", filepath.Join(folder(t), "dlpackgen_oneapi_sycl.cpp"))+" "+link)
	cmd, env := onPlatform(t, "cpu", program)
	assert.Equal(t, []string{"oneapi 1", "14 0", "13"}, output(t, cmd, env...))
}
