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

// levelZero returns the folder with a newer Debian's Level Zero, or skips the test.
func levelZero(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("fetches packages of Debian")
	}
	testtool.Require(t, "apt-get", "apt")
	dir := cache(t, "levelzero")
	testkit.Built(t, "fetched", func(string) {
		if _, err := os.Stat(filepath.Join(dir, "done")); err != nil {
			if out, err := exec.Command("timeout", "120", "./fetch-level-zero.sh", dir).CombinedOutput(); err != nil {
				t.Logf("%v\n%s", err, out)
			}
		}
	})
	if _, err := os.Stat(filepath.Join(dir, "done")); err != nil {
		t.Skip("needs libze-intel-gpu1, libze1 and libze-dev of Debian forky, which could not be fetched")
	}
	return dir
}

// simulated runs the client with Intel's driver and simulated cards.
func simulated(t *testing.T, hierarchy string, words ...string) []string {
	t.Helper()
	cmd := exec.Command("./run-level-zero.sh", append([]string{client(t)}, words...)...)
	return output(t, cmd, "L0ROOT="+levelZero(t)+"/root", "HIER="+hierarchy)
}

// simulates skips the test if Intel's driver does not start, because its settings are specific to
// it.
func simulates(t *testing.T) {
	t.Helper()
	out := simulated(t, "COMPOSITE", "probe")
	if !strings.HasPrefix(out[0], "probe ok ") && os.Getenv("DLPACKGEN_REQUIRE_L0") == "" {
		t.Skipf("Intel's driver simulates no card here: %s", out[0])
	}
}

// Memory of a tile belongs to a different device in each hierarchy.
func TestSimulatedHierarchies(t *testing.T) {
	simulates(t)
	for hierarchy, want := range map[string][]string{
		"COMPOSITE": {"probe ok 65551 2", "ids ok", "id ok 1", `info ok 14 1 1 \+0 64`, `info ok 14 0 0 \+0 64`,
			`info 24 0 oneapi: pointer_attributes: the memory 0x\w+ is shared with the host, but only device memory is accepted here; .*`},
		"FLAT": {"probe ok 65551 4", "ids ok", "id ok 1", `info ok 14 1 1 \+0 64`, `info ok 14 0 0 \+0 64`,
			`info 24 .*`},
		"COMBINED": {"probe ok 65551 4", "ids ok", "id ok 1", `info ok 14 1 1 \+0 64`,
			`info 9 0 oneapi: pointer_attributes: the memory 0x\w+: its device is not listed, because its tiles are; ZE_FLAT_DEVICE_HIERARCHY is COMBINED`, `info 24 .*`},
	} {
		t.Run(hierarchy, func(t *testing.T) {
			part, card := "", "0"
			switch hierarchy {
			case "COMPOSITE":
				part = ":1"
			case "COMBINED":
				card = "0:9"
			}
			out := simulated(t, hierarchy, "probe", "ids", "id:1", "make:device:1"+part, "info:p0",
				"make:device:"+card, "info:p1", "make:shared:0", "info:p2")
			assert.True(t, testkit.Fits(want, out), "%q", out)
		})
	}
}

func TestSimulatedMemory(t *testing.T) {
	simulates(t)
	for _, s := range []scenario{
		{"told apart", []string{"ids", "alloc:1:4", "info:t0+8", "info:h", "make:shared:1", "~info:p0",
			"make:host:0", "info:p1", "~info:p1", "delete:0"},
			[]string{"ids ok", "alloc ok 14 1 4 1 data", `info ok 14 1 1 \+8 16`, `info ok 1 0 -1 \+-1 0`,
				`info ok 14 1 1 \+0 64`,
				`info 24 0 .* is the host's, but only device memory is accepted here; .*`, `info ok 14 0 -1 \+0 64`}},
		{"numbered as SYCL does",
			[]string{"alloc:0:4", "ids:3:1", "count", "id:0", "id:1", "alloc:3:4", "info:t0", "make:device:1:0",
				"info:p0", "alloc:0:4"},
			[]string{`alloc 25 0 oneapi: allocate: the ids of devices are SYCL's, which Level Zero does not report; .*`,
				"ids ok", "count ok 2", "id ok 3", "id ok 1",
				"alloc ok 14 3 4 1 data", `info ok 14 3 0 \+0 16`, `info ok 14 1 1 \+0 64`,
				`alloc 9 0 oneapi: allocate: no device of Level Zero has the id 0; there are 2, and ` +
					`ZE_FLAT_DEVICE_HIERARCHY is COMPOSITE`}},
		{"copied", []string{"ids", "alloc:0:4", "alloc:1:4", "say:0:hello", "copy:14:0:t0:1:0:h:16@0@0",
			"copy:14:1:t1:14:0:t0:16@0@0", "copy:1:0:h+64:14:1:t1:16@0@1", "host:64", "delete:0", "delete:1"},
			[]string{"ids ok", "alloc ok .*", "alloc ok .*", "copy ok", "copy ok", "copy ok", "host hello"}},
		{"imported", []string{"ids", "make:device:1:1", "import:1:p0:64", "import:0:p0:64", "drop:0:1",
			"import:1:p0:64", "import:1:h:64"},
			[]string{"ids ok", `import ok 14 1 1 \+0 64`,
				`import 16 0 oneapi: check_tensor: the tensor declares device 0, but the memory 0x\w+ is of device 1 in ` +
					`the order of SYCL`,
				`import 16 0 oneapi: check_tensor: the tensor: 0x\w+ is not memory under the default context of a ` +
					`platform; it was freed, or .*`, `import 16 .*`}},
		{"on streams", []string{"ids", "open:order:0", "open:loose:1:1", "alloc:1:4", "order:s1:1:s0:0",
			"order:0:0:s1:1", "order:s1:1:s1:1", "keep:0:s1:1", "finish:s0:0", "finish:s1:1", "finish:0:1",
			"order:s0:1:0:1", "open:other:0", "finish:s2:0", "open:recorded:0", "finish:s3:0", "deletethere:0"},
			[]string{"ids ok", "alloc ok .*", "order ok", "order ok", "order ok", "keep ok", "finish ok",
				"finish ok", "finish ok",
				`order 11 0 oneapi: stream_wait: the consumer's stream: the stream 0x\w+ is of device 0 of Level ` +
					`Zero; expected device 1, its number 1`,
				`finish 13 0 oneapi: stream_synchronize: the stream 0x\w+ belongs to a context that the program created, .*`,
				`finish 12 0 oneapi: stream_synchronize: the command list 0x\w+ is not an ` +
					`immediate one, as required`}},
		{"without memory", []string{"ids", "alloc:0:1000000000000000", "alloc:0:0", "delete:0"},
			[]string{"ids ok",
				`alloc 19 2013265929 oneapi: allocate: 4000000000000000 bytes on device 0: ` +
					`ZE_RESULT_ERROR_UNSUPPORTED_SIZE \(0x78000009\): .*`, "alloc ok 14 0 0 1 null"}},
		{"at exit", []string{"ids", "alloc:0:4", "atexit"}, []string{"ids ok", "alloc ok .*"}},
	} {
		t.Run(s.name, func(t *testing.T) {
			out := simulated(t, "COMPOSITE", s.steps...)
			assert.True(t, testkit.Fits(s.want, out), "%q\n%q", s.want, out)
		})
	}
}

// SYCL that sees only Level Zero numbers its devices in Level Zero's order.
func TestTheSelectorNumbersDevices(t *testing.T) {
	simulates(t)
	for selector, want := range map[string]string{"level_zero:*": "id ok 1", "level_zero:gpu": "id ok 1",
		"level_zero:1": "id 25 .*", "*:gpu": "id 25 .*"} {
		cmd := exec.Command("./run-level-zero.sh", client(t), "id:1")
		out := output(t, cmd, "L0ROOT="+levelZero(t)+"/root", "ONEAPI_DEVICE_SELECTOR="+selector)
		assert.True(t, testkit.Fits([]string{want}, out), "%s %q", selector, out)
	}
}

// The loader alone finds no driver, and reports this before its age.
func TestTheLoaderWithoutADriver(t *testing.T) {
	dir := levelZero(t)
	for _, loader := range []string{"root", "old"} {
		lib := filepath.Join(dir, loader, "usr/lib/x86_64-linux-gnu")
		require.DirExists(t, lib)
		cmd := exec.Command(client(t), "mapped", "probe", "count", "alloc:0:4", "info:h", "mapped")
		if loader == "root" {
			cmd = exec.Command(filepath.Join(lib, "ld-linux-x86-64.so.2"),
				append([]string{"--library-path", lib}, cmd.Args...)...)
		}
		out := output(t, cmd, "LD_LIBRARY_PATH="+lib, "ZE_ENABLE_ALT_DRIVERS=/nothing")
		want := `4 2013265921 oneapi: the loader was found, but no driver starts: ZE_RESULT_ERROR_UNINITIALIZED ` +
			`\(0x78000001\): the loader found no driver, .*`
		assert.True(t, testkit.Fits([]string{"mapped 0 global 0", "probe " + want, "count " + want, "alloc " + want,
			"info " + want, "mapped 1 global 0"}, out), "%s %q", loader, out)
	}
}

func TestWithoutALoaderTheFirstErrorIsRepeated(t *testing.T) {
	if exec.Command("sh", "-c", "ldconfig -p | grep -q libze_loader.so.1").Run() == nil {
		t.Skip("needs a machine that has no loader of Level Zero of its own")
	}
	out := output(t, exec.Command(client(t, testkit.Sanitized...), "probe", "count", "alloc:0:4", "info:h",
		"stream:14:0:none", "id:0", "ids", "import:0:h:4",
		"order:0:0:0:0", "finish:0:0", "copy:1:0:h:1:0:h:4@0@0", "current:n:0", "free:n"), "LD_LIBRARY_PATH=")
	require.Len(t, out, 13)
	assert.Equal(t, "free ok", out[12])
	for _, line := range out[:12] {
		_, text, _ := strings.Cut(line, " ")
		assert.Equal(t,
			"1 0 oneapi: the loader of Level Zero is not installed, or not in the library path: "+
				"libze_loader.so.1: cannot open "+
				"shared object file: No such file or directory; install Intel's Level Zero loader and the driver of "+
				"the GPU", text)
	}
}
