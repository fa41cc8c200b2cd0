package devices

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

	"github.com/dlpackgen/dlpackgen/internal/config"
	"github.com/dlpackgen/dlpackgen/internal/diag"
	"github.com/dlpackgen/dlpackgen/internal/emit"
	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/spec"
	"github.com/dlpackgen/dlpackgen/internal/targets"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

var acmeEnd = backEnd{"acme", "libacme.so.1", "libacme", "acmeInit"}

func contents(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return data
}

// described returns the target of a config's backend, and its model.
func described(t testing.TB, file, path string) (config.Target, *emit.Model) {
	t.Helper()
	cfg, found := config.Decode(file, contents(t, file), spec.Embedded(), targets.Table(), config.Choice{})
	require.NotNil(t, cfg, diag.Text(found.Sorted(), false))
	release, err := spec.Embedded().Release("1.3")
	require.NoError(t, err)
	i := slices.IndexFunc(cfg.Selected, func(target config.Target) bool { return target.Name == cfg.Backends[0].Name })
	require.GreaterOrEqual(t, i, 0)
	return cfg.Selected[i], &emit.Model{Release: cfg.Extend(release), Options: map[string]string{"import": path}}
}

// emitted returns the files of that backend.
func emitted(t testing.TB, file, path string) []emit.File {
	t.Helper()
	target, model := described(t, file, path)
	files, err := target.Emit(model)
	require.NoError(t, err)
	return files
}

// vendored returns the folder of that backend, with a vendor's part instead of the starter file.
func vendored(t testing.TB, file, part string) string {
	t.Helper()
	return testkit.Built(t, "vendored"+strings.ReplaceAll(file+part, "/", "_"), func(dir string) {
		for _, f := range emitted(t, file, "example.com/vendored") {
			path := filepath.Join(dir, filepath.FromSlash(f.Path))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			data := f.Data
			if strings.HasSuffix(f.Path, "_impl.c") && part != "" {
				data = contents(t, part)
			}
			require.NoError(t, os.WriteFile(path, data, 0o600))
		}
	})
}

func acme(t testing.TB) string { return vendored(t, "testdata/acme.yaml", "testdata/acme_impl.c") }

// acmeParts is that folder with each part as a file, for mutants.
func acmeParts(t testing.TB) string {
	t.Helper()
	return testkit.Built(t, "acmeparts", func(dir string) {
		target, model := described(t, "testdata/acme.yaml", "example.com/vendored")
		manifest, err := target.Manifest(model)
		require.NoError(t, err)
		testkit.WriteUnfolded(t, model.Release.Version, manifest, dir)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "acme_impl.c"), contents(t, "testdata/acme_impl.c"), 0o600))
	})
}

// acmeDriver returns the folder of that vendor's driver.
func acmeDriver(t testing.TB, macros ...string) string {
	t.Helper()
	gcc := testtool.Require(t, "gcc", "gcc")
	return testkit.Built(t, "acmedriver"+strings.Join(macros, ""), func(dir string) {
		args := []string{"-std=gnu11", "-g", testkit.Level(), "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o",
			filepath.Join(dir, "libacme.so.1")}
		testkit.Run(t, gcc, append(append(args, macros...), "testdata/acme.c", "-lpthread")...)
	})
}

// conformanceOf builds the conformance program of a backend.
func conformanceOf(t testing.TB, b backEnd, source string, flags ...string) string {
	t.Helper()
	gcc := testtool.Require(t, "gcc", "gcc")
	dir := testkit.Built(t, "conformance"+strings.ReplaceAll(source, "/", "_")+strings.Join(flags, ""),
		func(dir string) {
			args := append(append([]string{"-o", filepath.Join(dir, "conformance")}, testkit.Strict...), flags...)
			testkit.Run(t, gcc, append(append(args, filepath.Join(source, "conformance/conformance.c"), "-ldl",
				"-lpthread"), b.sources(t, source)...)...)
		})
	return filepath.Join(dir, "conformance")
}

// conformance returns the output of that program, which exits with 77: without hooks, order is not
// tested.
func conformance(t testing.TB, b backEnd, source, driver string, flags ...string) []string {
	t.Helper()
	cmd := exec.Command(conformanceOf(t, b, source, flags...))
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+driver, "ASAN_OPTIONS=abort_on_error=0")
	return testkit.LinesOf(t, cmd, 77)
}

// untested are the lines about checks that need hooks.
var untested = []string{
	"not tested: order: conformance_hooks has no `open`, `close`, `hold` and `release`",
	"not tested: leaks: conformance_hooks has no `live`",
	"23 checks, 0 failed",
}

// good are the lines for a backend without hooks that has a device and passes all checks.
func good(t testing.TB, lines []string) {
	t.Helper()
	require.Greater(t, len(lines), len(untested))
	tail := len(lines) - len(untested)
	for _, line := range lines[:tail] {
		assert.Regexp(t, "^ok ", line)
	}
	assert.Equal(t, untested, lines[tail:])
}

// shm replaces the backend of that name in the program: its table is a part of another, and it has
// no described target.
func shm(t testing.TB) string {
	t.Helper()
	return testkit.Built(t, "shm", func(dir string) {
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(golden.Root(t), "backends/shm"))))
		require.NoError(t, os.CopyFS(filepath.Join(dir, "conformance"), os.DirFS(filepath.Join(cudaParts(t),
			"conformance"))))
		text := "#include \"../dlpackgen_shm.h\"\n#include \"conformance_hooks.h\"\nstatic const struct " +
			"conformance_hooks conformance_hooks = {0};\n#define CONFORMANCE_TABLE " +
			"dlpackgen_shm()->device\n#define CONFORMANCE_NAME \"shm\"\n" +
			"static const struct conformance_type { int type, zero; } conformance_types[] = {{kDLCPU, 1}};\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "conformance/conformance_device.h"), []byte(text), 0o600))
	})
}

// The conformance program passes with every backend, with a device and without a driver.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for each backend")
	}
	good(t, conformance(t, cudaEnd, cuda(t), standin(t), testkit.Sanitized...))
	good(t, conformance(t, acmeEnd, acme(t), acmeDriver(t), testkit.Sanitized...))
	good(t, conformance(t, backEnd{name: "shm"}, shm(t), "", testkit.Sanitized...))
	for _, b := range []struct {
		backEnd
		source string
	}{{cudaEnd, cuda(t)}, {acmeEnd, acme(t)}} {
		out := conformance(t, b.backEnd, b.source, "", testkit.Sanitized...)
		assert.Equal(t, []string{"ok the table", "ok the first error stays", "ok null everywhere"}, out[:3])
		assert.Regexp(t,
			"^not tested: checks that need a device: "+b.name+
				": the driver is not installed, or not in the library path: ", out[3])
		assert.Equal(t, "3 checks, 0 failed", out[4])
	}
}

// faults are mistakes that a conformance check must detect, all of them in one program.
var faults = []struct{ file, old, fresh, check string }{
	{"dlpackgen_acme.c", "DLPACKGEN_BACKEND_ABI_VERSION,", "DLPACKGEN_BACKEND_ABI_VERSION + 1,", "the table"},
	{"device_allocation.h", "*count = found;", "*count = found + 1;", "devices are counted"},
	{"device_allocation.h", "if (size >= first) return DLPACKGEN_BACKEND_OK;", "if (1) return DLPACKGEN_BACKEND_OK;",
		"sizes of callers"},
	{"vendor_stream.h", "if (device.device_id >= 0 && device.device_id < vendor.info.devices)", "if (1)",
		"devices that do not exist"},
	{"numbers_read.h", "return !rejected;", "return 1;", "numbers of streams"},
	{"vendor_stream.h", "if (!code) *stream = (dlpackgen_stream){vendor_handle(handle), device, 0, 0};",
		"if (!code) *stream = (dlpackgen_stream){vendor_handle(handle), {kDLCPU, 0}, 0, 0};",
		"streams of a program"},
	{"device_allocation.h", "tensor->version.major = DLPACK_MAJOR_VERSION;", "", "tensors are as requested"},
	{"device_allocation.h", "if (rule != DLPACKGEN_OK)", "if (0)", "requests that are rejected"},
	{"device_tensor.h", "if (!dlpackgen_bytes_of_(count, width, &total) ||",
		"dlpackgen_bytes_of_(count, width, &total);\n  if (0 &&", "requests that are rejected"},
	{"acme_impl.c", "info->ordinal = device,", "info->ordinal = -1,", "whose memory"},
	{"acme_impl.c", "driver->copy(to, from, bytes,", "driver->copy(to, from, bytes - 1,", "copies arrive"},
	{"device_allocation.h", "if (*count && (!dlpackgen_is_contiguous(to) || !dlpackgen_is_contiguous(from)))",
		"if (0)", "copies that are rejected"},
	{"vendor_stream.h",
		"if (code || consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC) return code;",
		"if (code || consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC) return 7;",
		"streams in order"},
	{"vendor_memory.h", "if (code || !block->tensor.dl_tensor.data) return code;",
		"if (code) return 7;\n\tif (!block->tensor.dl_tensor.data) return 7;", "tensors that are kept"},
	{"device_error.h", "if (error) *error = *first;", "", "the first error stays"},
}

func TestConformanceFindsErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a backend that is wrong")
	}
	gcc, dir, program := testtool.Require(t, "gcc", "gcc"), t.TempDir(), filepath.Join(t.TempDir(), "wrong")
	require.NoError(t, os.CopyFS(dir, os.DirFS(acmeParts(t))))
	for _, f := range faults {
		mutation.OnceIn(t, filepath.Join(dir, f.file), f.old, f.fresh)
	}
	testkit.Run(t, gcc, append([]string{"-std=c11", "-w", "-I", dir, "-o", program, filepath.Join(dir,
		"conformance/conformance.c"), "-ldl", "-lpthread"}, acmeEnd.sources(t, dir)...)...)
	var out []byte
	for _, driver := range []string{acmeDriver(t), ""} {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+driver)
		text, err := cmd.CombinedOutput()
		require.Error(t, err, "%s", text)
		out = append(out, text...)
	}
	for _, f := range faults {
		assert.Contains(t, string(out), "FAIL "+f.check+"\n")
	}
}

// The Go package contains the vendor's part too, and two copies with different import paths share
// no symbol.
func TestAVendorsPackageInGo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program in Go")
	}
	dir := t.TempDir()
	write := func(name string, data []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}
	for _, copied := range []string{"a", "b"} {
		for _, f := range emitted(t, "testdata/acme.yaml", "example.com/two/"+copied) {
			data := []byte(strings.ReplaceAll(string(f.Data), "\npackage acme\n", "\npackage "+copied+"\n"))
			if f.Path == "acme_impl.c" {
				data = contents(t, "testdata/acme_impl.c")
			}
			write(copied+"/"+f.Path, data)
		}
	}
	write("go.mod", []byte("module example.com/two\n\ngo 1.23\n"))
	write("main.go", contents(t, "testdata/acme.go.txt"))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LD_LIBRARY_PATH="+acmeDriver(t))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, "{70 2} <nil> true\ntrue <nil> <nil>\n{0 1 false} <nil> <nil>\n"+
		"acme: stream_from_dlpack: the number 0 is not a stream of Acme; a stream is None, -1, a default "+
		"stream's number, or a handle\n", string(out))
}

// A function without an implementation returns an error that names its file.
func TestAVendorsPartAsItIsMade(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another backend")
	}
	out := steps(t, acmeEnd.client(t, vendored(t, "testdata/acme.yaml", ""), testkit.Sanitized...), acmeDriver(t),
		"probe", "count")
	assert.Equal(t, []string{"probe 20 0 acme: start: not implemented; implement it in acme_impl.c",
		"count 20 0 acme: start: not implemented; implement it in acme_impl.c"}, out)
}

// The documented command line builds and runs the conformance program in the generated folder. The
// program reports what is missing: the vendor's part, or the driver.
func TestTheDocumentedCommandLine(t *testing.T) {
	testtool.Require(t, "cc", "gcc")
	text := contents(t, filepath.Join(golden.Root(t), "docs/devices.md"))
	line := regexp.MustCompile("(?m)^cc .*conformance.*$").FindString(string(text))
	require.NotEmpty(t, line)
	for _, c := range []struct{ source, driver, says string }{
		{vendored(t, "testdata/acme.yaml", ""), acmeDriver(t),
			"not tested: checks that need a device: acme: start: not implemented; implement it in acme_impl.c"},
		{acme(t), t.TempDir(),
			"not tested: checks that need a device: acme: the driver is not installed, or not in the library path: "},
		{acme(t), acmeDriver(t), untested[0]},
	} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(c.source)))
		assert.Contains(t, string(contents(t, filepath.Join(dir, "conformance/conformance.c"))),
			strings.TrimSuffix(line, " && conformance/run"),
			"its comment has the same line")
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LD_LIBRARY_PATH="+c.driver)
		lines := testkit.LinesOf(t, cmd, 77)
		assert.Condition(t, func() bool {
			return slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, c.says) })
		}, "%q", lines)
	}
}

// vendorScenarios test the sources that all vendors share.
var vendorScenarios = []scenario{
	{"memory of each type", []string{"alloc:12:1:3", "alloc:1000:0:3", "info:t0", "info:t1+4", "info:h", "log",
		"delete:0", "delete:1", "log", "alive"},
		[]string{"alloc ok 12 1 3 1 data", "alloc ok 1000 0 3 1 data", `info ok 12 1 1 \+0 12`,
			`info ok 1000 0 0 \+4 12`, `info ok 1 0 -1 \+-1 0`,
			`log acmeAlloc\(12,1,0\) acmeAlloc\(12,0,1\) (acmeWho\(\) ){3}`, `log acmeFree\(\) acmeFree\(\) `,
			"alive 0 depth 0"}},
	{"empty memory is none of the driver's", []string{"alloc:12:1:0", "log", "keep:0:0:1", "delete:0", "log"},
		[]string{"alloc ok 12 1 0 1 null", "log ", "keep ok", "log "}},
	{"types and ids", []string{"alloc:2:0:1", "alloc:12:2:1", "alloc:12:-1:1", "alloc:1000:1:1", "number:1000:0:1",
		"number:12:2:1"},
		[]string{"alloc 8 0 acme: allocate: device type 2 is not one of Acme",
			"alloc 9 0 acme: allocate: there is no device 2; this process sees 2, numbered from 0", "alloc 9 0 .*",
			"alloc 9 0 acme: allocate: device type 1000 has only the id 0, not 1",
			"number 8 0 acme: stream_from_dlpack: device type 1000; the streams of Acme have type 12",
			"number 9 0 .*"}},
	{"sizes", []string{"alloc:12:0:-1", "alloc:12:0:9000000000000000000", "alloc:12:0:1000000000000",
		"alloc:12:0:1::1", "alive"},
		[]string{"alloc 7 0 .*", "alloc 7 0 .*",
			`alloc 19 -2 acme: allocate: 4000000000000 bytes: ACME_NO_MEMORY \(-2\): the device does not have enough ` +
				`memory`,
			"alloc 20 0 acme: allocate: Acme does not let other devices access its memory", "alive 0 depth 0"}},
	{"a stream of another device",
		[]string{"stream:1:0", "alloc:12:0:4:s0", "alloc:12:1:4:s0", "order:s0:0:0:0", "finish:s0:0", "delete:0",
			"alive"},
		[]string{`alloc 11 0 acme: allocate: the stream 0x\w+ is of device 1, not of device 0`, "alloc ok .*",
			`order 11 0 acme: stream_wait: the consumer's stream: .*`, "finish 11 0 .*", "alive 0 depth 0"}},
	{"a stream of any device",
		[]string{"stream:1:0", "alloc:1000:0:4:s0", "inject:acmeStreamDevice:-3", "alloc:1000:0:4:s0", "delete:0",
			"alive"},
		[]string{"alloc ok 1000 0 4 1 data",
			`alloc 10 -3 acme: the stream 0x\w+: ACME_NO_STREAM \(-3\): it is not a stream`, "alive 0 depth 0"}},
	{"numbers", []string{"number:12:1:none", "number:12:1:1", "number:12:1:-1", "number:12:1:94000000000",
		"number:12:1:0", "number:12:1:-3"},
		[]string{"number ok 0 1 0", "number ok 0 1 0", "number ok 0 1 1", "number ok 94000000000 1 0",
			"number 10 0 acme: stream_from_dlpack: the number 0 is not a stream of Acme; a stream is None, " +
				"-1, a default stream's number, or a handle", "number 10 0 .*"}},
	{"a program's streams", []string{"current:n:1", "current:t:0", "current:t:1", "current:c:1", "current:n:5"},
		[]string{"current ok 0", "current ok 0", "current ok 2", "current ok 4097", "current 9 0 .*"}},
	{"order", []string{"stream:1:0", "order:0:0:s0:1", "log", "alive"},
		[]string{"order ok", `log acmeStreamDevice\(1\) acmeRecord\(1,1\) acmeWait\(-1,0\) acmeDrop\(\) `,
			"alive 0 depth 0"}},
	{"no order", []string{"stream:1:0", "order:0:0:0:0", "order:-s0:0:0:1", "order:0:0:-:1", "log"},
		[]string{"order ok", "order ok", "order ok", "log "}},
	{"the default streams of two devices", []string{"order:0:0:0:1", "log"},
		[]string{"order ok", `log acmeRecord\(-1,1\) acmeWait\(-1,0\) acmeDrop\(\) `}},
	{"order that fails", []string{"inject:acmeWait:-3", "order:0:0:0:1", "inject:acmeRecord:-3", "order:0:0:0:1",
		"alive"},
		[]string{`order 10 -3 acme: waiting: ACME_NO_STREAM \(-3\): it is not a stream`,
			`order 10 -3 acme: an event: ACME_NO_STREAM .*`, "alive 0 depth 0"}},
	{"kept", []string{"stream:1:0", "alloc:12:1:4", "keep:0:s0:1", "keep:0:s0:1", "keep:0:0:0", "log", "alive",
		"delete:0", "log", "alive"},
		[]string{"alloc ok .*", "keep ok", "keep ok", "keep ok",
			`log acmeAlloc\(16,1,0\) acmeStreamDevice\(1\) acmeRecord\(1,1\) acmeStreamDevice\(1\) ` +
				`acmeRecord\(1,1\) acmeDrop\(\) acmeRecord\(-1,0\) `,
			"alive 3 depth 0", `log (acmeJoin\(\) acmeDrop\(\) ){2}acmeFree\(\) `, "alive 0 depth 0"}},
	{"two default streams are kept", []string{"alloc:12:0:4", "keep:0:0:0", "keep:0:0:1", "log", "delete:0", "log"},
		[]string{"alloc ok .*", "keep ok", "keep ok", "log .*", `log (acmeJoin\(\) acmeDrop\(\) ){2}acmeFree\(\) `}},
	{"not kept", []string{"alloc:12:0:4", "keep:0:-:0", "keep:x:0:0", "inject:acmeRecord:-2", "keep:0:0:0",
		"delete:0", "alive"},
		[]string{"alloc ok .*", "keep 10 0 acme: keep_until: a stream is required; -1 means no stream",
			"keep 18 0 .*", `keep 19 -2 acme: an event: ACME_NO_MEMORY .*`, "alive 0 depth 0"}},
	{"what fails while it is freed",
		[]string{"alloc:12:0:4", "keep:0:0:0", "inject:acmeJoin:-3", "inject:acmeFree:-2", "free:0", "alive"},
		[]string{"alloc ok .*", "keep ok", "free 10 -3 acme: waiting: .*", "alive 0 depth 0"}},
	{"freed after the end", []string{"alloc:12:0:4", "inject:acmeFree:-4", "free:0", "free:n", "free:x"},
		[]string{"alloc ok .*", "free ok", "free ok", "free 18 0 .*"}},
	{"freed elsewhere", []string{"alloc:12:0:4", "deletethere:0", "alive"}, []string{"alloc ok .*", "alive 0 depth 0"}},
	{"copies", []string{"alloc:12:1:4", "log", "copy:12:1:t0:1:0:h:16@0@1", "copy:12:1:t0:12:1:t0:16@0@1", "log",
		"delete:0"},
		[]string{"alloc ok .*", "log .*", "copy ok", "copy ok",
			`log (acmeWho\(\) ){2}acmeCopy\(16,-1,1\) acmeFinish\(-1,1\) (acmeWho\(\) ){2}acmeCopy\(16,-1,1\) `}},
	{"copies of memory that the host reads",
		[]string{"alloc:12:1:4", "alloc:1000:0:4", "log", "copy:12:1:t0:1:0:t1:16@0@1",
			"copy:1000:0:t1:12:1:t0:16@0@1", "log", "delete:0", "delete:1"},
		[]string{"alloc ok .*", "alloc ok .*", "log .*", "copy ok", "copy ok",
			`log ((acmeWho\(\) ){2}acmeCopy\(16,-1,1\) ){2}`}},
	{"copies that are rejected",
		[]string{"alloc:12:1:4", "copy:12:0:t0:1:0:h:16@0@1", "copy:12:1:t0+1:1:0:h:16@0@1",
			"copy:1:0:h:1:0:h+64:16@0@1", "copy:12:1:t0:1:0:h:16@-@1", "copy:12:1:h:12:1:t0:16@0@1", "delete:0"},
		[]string{"alloc ok .*",
			`copy 16 0 acme: copy: the destination: its declared device \(12, 0\) does not match the driver's ` +
				`\(12, 1\) .*`,
			`copy 16 0 .* beyond the end .*`,
			"copy 8 0 acme: copy: neither tensor is in memory of Acme", "copy 10 0 .*",
			`copy 16 0 .* declared device \(12, 1\) does not match the driver's \(1, 0\) .*`}},
	{"copies that fail", []string{"alloc:12:1:4", "inject:acmeFinish:-9", "copy:12:1:t0:1:0:h:16@0@1",
		"inject:acmeCopy:-2", "copy:12:1:t0:1:0:h:16@0@1", "delete:0", "alive"},
		[]string{"alloc ok .*", `copy 23 -9 acme: stream_synchronize: error \(-9\)`, "copy 19 -2 .*",
			"alive 0 depth 0"}},
	{"a child of fork", []string{"alloc:12:1:4", "log", "fork", "count", "keep:0:0:0", "delete:0", "log"},
		[]string{"alloc ok .*", "log .*",
			"count 6 0 acme: Acme was started before this process was forked, and works only in the parent; .*",
			"keep 6 0 .*", "log "}},
	{"nulls", []string{"nulls"}, []string{"nulls 7 7 7 7 7 7 7 7 7 7 7 7 0"}},
}

// driveVendor runs steps with acme's driver.
func driveVendor(t *testing.T, words []string, do func(...string) []string) []string {
	t.Helper()
	out := do(append([]string{"probe", "log"}, words...)...)
	if len(out) < 3 || out[0] != "probe ok 70 2" {
		return nil
	}
	return out[2:]
}

func TestAVendorsBackEnd(t *testing.T) {
	program := acmeEnd.client(t, acme(t), testkit.Sanitized...)
	for _, s := range vendorScenarios {
		t.Run(s.name, func(t *testing.T) {
			out := driveVendor(t, s.steps,
				func(words ...string) []string { return steps(t, program, acmeDriver(t), words...) })
			assert.True(t, s.fits(out), "%s\n%q", s.want, out)
		})
	}
}

// The start, with other drivers.
func TestAVendorsDriverThatIsOther(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another driver")
	}
	program := acmeEnd.client(t, acme(t), testkit.Sanitized...)
	assert.Equal(t, []string{"mapped 0 global 0", "probe ok 70 2", "mapped 1 global 0"},
		steps(t, program, acmeDriver(t), "mapped", "probe", "mapped"))
	assert.Equal(t, []string{"probe 3 0 acme: the driver has no acmeFinish; update Acme's driver"},
		steps(t, program, acmeDriver(t, "-DLESS"), "probe"))
	assert.Equal(t,
		[]string{"probe 3 0 acme: the driver has version 50, but 60 or newer is required; update Acme's " +
			"driver"},
		steps(t, program, acmeDriver(t, "-DVERSION=50"), "probe"))
	for step, want := range map[string]string{
		"devices:0":          "probe 4 0 acme: the driver has no device",
		"inject:acmeInit:-2": "probe 19 -2 acme: the driver does not start: ACME_NO_MEMORY (-2): the device does not have enough memory",
	} {
		out := steps(t, program, acmeDriver(t), "preload", step, "probe", "inject:acmeInit:0", "count")
		assert.Equal(t, []string{want, "count" + strings.TrimPrefix(want, "probe")}, out, "the first error stays")
	}
}

// vendorMutants are the guards that all vendors share.
var vendorMutants = []mutant{
	{"device_allocation.h", "if (pointer && info)", "if (1)", "nulls"},
	{"vendor_load.h", "dlpackgen_pointer_attributes found = DLPACKGEN_POINTER_ATTRIBUTES_INIT;",
		"dlpackgen_pointer_attributes found = *info;",
		"memory of each type"},
	{"device_start.h", "if (!code) device_at_fork(device_child);", "", "a child of fork"},
	{"vendor_stream.h", "if (!found)", "if (0)", "types and ids"},
	{"vendor_stream.h", "if (found->zero && device.device_id)", "if (0)", "types and ids"},
	{"vendor_stream.h", "if (device.device_id >= 0 && device.device_id < vendor.info.devices)",
		"if (device.device_id >= 0)", "types and ids"},
	{"vendor_stream.h", "if (device.device_id >= 0 && device.device_id < vendor.info.devices)",
		"if (device.device_id < vendor.info.devices)", "types and ids"},
	{"device_stream.h", "if ((int)device.device_type == BACKEND_device)", "if (1)", "types and ids"},
	{"vendor_stream.h", "if (vendor_special(vendor_handle(handle))) return", "if (0) return", "no order"},
	{"vendor_stream.h", "special |= !driver_numbers[i].rejected && driver_numbers[i].handle == (uintptr_t)handle;",
		"special = 1;", "a stream of another device"},
	{"vendor_stream.h", "if (code || owner == ordinal || ordinal < 0) return code;", "return code;",
		"a stream of another device"},
	{"vendor_stream.h", "if (code || stream->flags & DLPACKGEN_STREAM_NO_SYNC) return code;", "if (code) return code;",
		"no order"},
	{"device_stream.h", "if (!(stream->flags & DLPACKGEN_STREAM_NO_SYNC))", "if (1)", "not kept"},
	{"numbers_read.h", "int rejected = !fits && number != -1;", "int rejected = 0;", "numbers"},
	{"numbers_read.h", "rejected = driver_numbers[i].rejected;", "rejected = 0;", "numbers"},
	{"numbers_read.h", "stream->handle = (void *)driver_numbers[i].handle;", "", "numbers"},
	{"numbers_read.h", "stream->flags = number == -1 ? DLPACKGEN_STREAM_NO_SYNC : 0;", "", "numbers"},
	{"device_stream.h", "(size_t)device.device_id < source->count", "0", "a program's streams"},
	{"vendor_stream.h",
		"if (code || consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC) return code;",
		"if (code) return code;", "no order"},
	{"vendor_stream.h", "if (waits.device.device_id == works.device.device_id && waits.handle == works.handle)",
		"if (0)", "no order"},
	{"vendor_stream.h", "if (waits.device.device_id == works.device.device_id && waits.handle == works.handle)",
		"if (waits.handle == works.handle)", "the default streams of two devices"},
	{"vendor_stream.h", "vendor.impl->delete_mark(&vendor.driver, mark);", "", "order that fails"},
	{"vendor_memory.h", "if (data && device_is_ready())", "if (data)", "a child of fork"},
	{"vendor_memory.h", "if (data && device_is_ready())", "if (device_is_ready())",
		"empty memory is none of the driver's"},
	{"vendor_memory.h", "if (!first) first = code;", "", "what fails while it is freed"},
	{"vendor_memory.h", "code = vendor_await_work(block, error);", "code = 0;", "kept"},
	{"vendor_memory.h", "vendor.impl->delete_mark(&vendor.driver, keep->mark);", "", "kept"},
	{"vendor_memory.h", "return code == DLPACKGEN_BACKEND_SHUTTING_DOWN ? DLPACKGEN_BACKEND_OK : code;",
		"return code;", "freed after the end"},
	{"vendor_memory.h", "return code == DLPACKGEN_BACKEND_SHUTTING_DOWN ? DLPACKGEN_BACKEND_OK : code;", "return 0;",
		"what fails while it is freed"},
	{"device_allocation.h", "if (tensor && tensor->deleter == deleter)", "if (tensor)", "not kept"},
	{"vendor_memory.h", "if (old) vendor.impl->delete_mark(&vendor.driver, old);", "", "kept"},
	{"vendor_memory.h", "keep->stream.device.device_id == fresh->stream.device.device_id)", "1)",
		"two default streams are kept"},
	{"vendor_memory.h", "if (code || !block->tensor.dl_tensor.data) return code;", "if (code) return code;",
		"empty memory is none of the driver's"},
	{"vendor_memory.h", "if (!code && r->flags & DLPACKGEN_BACKEND_PEER_ACCESS)", "if (0)", "sizes"},
	{"vendor_stream.h", "|| ordinal < 0) return code;", ") return code;", "a stream of any device"},
	{"vendor_memory.h", "== BACKEND_device ? r->device.device_id : -1;",
		"== BACKEND_device ? r->device.device_id : -1;\n\tif (ordinal < 0) return 0;", "a stream of any device"},
	{"vendor_memory.h", "return vendor_check_handle(\"allocate\", r->stream, ordinal, error);",
		"return (void)ordinal, 0;", "a stream of another device"},
	{"vendor_memory.h", "if (bytes) code =", "code =", "empty memory is none of the driver's"},
	{"vendor_copy.h", "if (!code) code = device_check_declared(what, t, &info, error);", "",
		"copies that are rejected"},
	{"device_side.h", "if ((declared == found || pinned) && !other)", "if (declared == found && !other)",
		"copies of memory that the host reads"},
	{"device_side.h", "if ((declared == found || pinned) && !other)", "if (declared == found || pinned)",
		"copies that are rejected"},
	{"vendor_copy.h", "if (device_ends(start, bytes, info.base, info.bytes))", "if (0)", "copies that are rejected"},
	{"vendor_copy.h", "if (!code && !target && !source)", "if (0)", "copies that are rejected"},
	{"vendor_copy.h", "if (!code && host) code", "if (0) code", "copies"},
	{"vendor_copy.h", "if (!code && host) code", "if (!code) code", "copies"},
}

func TestEachGuardOfVendorsIsMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the backend for each guard")
	}
	tried := acmeEnd.trying(t, acmeParts(t), mutations(vendorMutants))
	for at, m := range vendorMutants {
		t.Run(m.file+" "+m.scenario, func(t *testing.T) {
			i := slices.IndexFunc(vendorScenarios, func(s scenario) bool { return s.name == m.scenario })
			require.GreaterOrEqual(t, i, 0, m.scenario)
			out := driveVendor(t, vendorScenarios[i].steps,
				func(words ...string) []string { return tried(t, at, acmeDriver(t), words...) })
			assert.False(t, vendorScenarios[i].fits(out), "%s -> %s is not detected: %q", m.old, m.fresh, out)
		})
	}
}
