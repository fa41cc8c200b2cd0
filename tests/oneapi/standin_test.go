package oneapi

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// standin returns the folder of a variant of the stand-in, by its macros.
func standin(t testing.TB, macros ...string) string {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	return testkit.Built(t, "standin"+strings.NewReplacer(" ", "").Replace(strings.Join(macros, "")), func(dir string) {
		args := []string{"-std=gnu11", "-g", testkit.Level(), "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden",
			"-fPIC",
			"-shared", "-I", parts(t)}
		testkit.Run(t, gcc, append(append(args, macros...), "-o", filepath.Join(dir, "libze_loader.so.1"),
			"testdata/standin.c", "-lpthread")...)
	})
}

// on runs a client with a stand-in.
func on(t testing.TB, driver string, words ...string) []string {
	t.Helper()
	return output(t, exec.Command(client(t, testkit.Sanitized...), words...), "LD_LIBRARY_PATH="+driver)
}

// do runs steps with the usual stand-in, after its devices were numbered.
func do(t testing.TB, words ...string) []string {
	t.Helper()
	out := on(t, standin(t), append([]string{"probe", "ids", "log"}, words...)...)
	require.Greater(t, len(out), 2)
	require.Equal(t, []string{"probe ok 65551 3", "ids ok"}, out[:2])
	return out[3:]
}

var startLog = `log zeInit\(0\) zeDriverGet\(\) zeDeviceGet\(0\) zeDeviceGetProperties\(0\) ` +
	`zeDeviceGetSubDevices\(0\) ` +
	`zeDeviceGetSubDevices\(0\.0\) zeDeviceGetSubDevices\(0\.1\) zeDeviceGetProperties\(1\) ` +
	`zeDeviceGetSubDevices\(1\) zeDeviceGetSubDevices\(1\.0\) zeDeviceGetSubDevices\(1\.1\) ` +
	`zeDriverGetApiVersion\(0\) zeDriverGetDefaultContext\(0\) zeDeviceGet\(1\) zeDeviceGetProperties\(2\) ` +
	`zeDeviceGetSubDevices\(2\) zeDriverGetApiVersion\(1\) ` +
	`zeDriverGetDefaultContext\(1\) zeDeviceGet\(2\) zeDeviceGetProperties\(3\) `

const checked = `zeCommandListIsImmediate\((l\d)\) zeCommandListGetDeviceHandle\(l\d\) ` +
	`zeCommandListGetContextHandle\(l\d\) `

var pointers = []scenario{
	{"of the host", []string{"info:h", "log"},
		[]string{`info ok 1 0 -1 \+-1 0`,
			`log zeMemGetAllocProperties\(0\) zeMemGetAllocProperties\(0\) zeMemGetAllocProperties\(1\) `}},
	{"our own, and inside", []string{"alloc:1:16", "log", "info:t0+60", "log", "delete:0"},
		[]string{"alloc ok .*", "log .*", `info ok 14 1 1 \+60 64`,
			`log zeMemGetAllocProperties\(0\) zeMemGetAddressRange\(0\) `}},
	{"of a tile, which is its card's", []string{"make:device:1:1", "info:p0", "drop:0:1"},
		[]string{`info ok 14 1 1 \+0 64`}},
	{"of another driver", []string{"make:device:2", "info:p0", "drop:0:2"}, []string{`info ok 14 2 2 \+0 64`}},
	{"shared", []string{"make:shared:1:0", "info:p0", "~info:p0", "drop:0:1"},
		[]string{
			`info 24 0 oneapi: pointer_attributes: the memory 0x\w+ is shared with the host, .*; allocate device memory, or use the table that accepts every kind`,
			`info ok 14 1 1 \+0 64`}},
	{"the host's, pinned", []string{"make:host:2", "info:p0", "~info:p0", "drop:0:2"},
		[]string{`info 24 0 .* is the host's, but only device memory is accepted here; .*`, `info ok 14 2 -1 \+0 64`}},
	{"of another context", []string{"make:other:0", "info:p0"}, []string{`info ok 1 0 -1 \+-1 0`}},
	{"null", []string{"info:n"},
		[]string{`info 7 0 oneapi: pointer_attributes: NULL instead of the address; the device of an empty tensor is the declared one`}},
	{"when the driver fails", []string{"inject:zeMemGetAllocProperties:0x70000001", "info:h"},
		[]string{`info 22 1879048193 oneapi: pointer_attributes: the memory 0x\w+: ZE_RESULT_ERROR_DEVICE_LOST ` +
			`\(0x70000001\): the device hung, was reset or removed; .*`}},
	{"when the driver fails to tell bounds",
		[]string{"alloc:0:4", "inject:zeMemGetAddressRange:0x1234", "info:t0", "inject:zeMemGetAddressRange:0",
			"delete:0"},
		[]string{"alloc ok .*",
			`info 23 4660 .*: an error \(0x1234\): Level Zero's documentation lists the number`}},
}

var imports = []scenario{
	{"as it says", []string{"make:device:1:0", "import:1:p0:64", "drop:0:1"}, []string{`import ok 14 1 1 \+0 64`}},
	{"of another device than it says", []string{"make:device:1:0", "import:0:p0:64", "import:7:p0:64", "drop:0:1"},
		[]string{`import 16 0 oneapi: check_tensor: the tensor declares device 0, but the memory 0x\w+ is of device 1 in ` +
			`the order of SYCL`,
			`import 9 0 oneapi: check_tensor: the tensor: no device of Level Zero has the id 7; there are 3, and ` +
				`ZE_FLAT_DEVICE_HIERARCHY is unset`}},
	{"freed, or of another context",
		[]string{"make:device:0", "drop:0:0", "import:0:p0:64", "make:other:0", "import:0:p1:64", "import:0:h:64"},
		[]string{`import 16 0 oneapi: check_tensor: the tensor: 0x\w+ is not memory under the default context of a ` +
			`platform; it was freed, or allocated under another context: .*`, `import 16 .*`, `import 16 .*`}},
	{"of every kind", []string{"make:shared:0", "import:0:p0:64", "~import:0:p0:64", "make:host:0",
		"~import:1:p1:64", "import:1:p1:64", "drop:0:0", "drop:1:0"},
		[]string{"import 24 .*", `import ok 14 0 0 \+0 64`, `import ok 14 0 -1 \+0 64`, "import 24 .*"}},
	{"without elements", []string{"import:1:n:0", "import:3:n:0", "import:0:n:4"},
		[]string{`import ok 14 1 -1 \+-1 0`, "import 9 .*",
			`import 7 0 oneapi: check_tensor: a tensor with elements has no data`}},
	{"of unknown flags", []string{"import:0:n:0:14:2", "import:0:n:0:14:3", "import:0:n:0:14:1"},
		[]string{`import 7 0 oneapi: check_tensor: unknown flags; expected DLPACKGEN_USM_ALL_KINDS`, "import 7 .*",
			"import ok .*"}},
	{"of another type", []string{"import:0:h:4:1", "import:0:h:4:2"},
		[]string{`import 8 0 oneapi: check_tensor: the tensor declares device type 1, but oneAPI has 14`,
			"import 8 .*"}},
}

var numberings = []scenario{
	{"once", []string{"ids", "ids:0:1:2", "ids:1:0", "ids:0", "id:2", "id:3", "id:-1"},
		[]string{"ids ok", "ids ok",
			`ids 7 0 oneapi: set_device_ids: device 0 has the id 0 already, which tensors carry; number devices once`,
			"ids ok", "id ok 2",
			`id 9 0 oneapi: id: there is no device 3; there are 3, counted from 0`, "id 9 .*"}},
	{"of what is none", []string{"ids:x", "ids:-:-:-4"},
		[]string{`ids 9 0 oneapi: set_device_ids: 0x\w+ with the id 0; expected a root device and its position`,
			"ids 9 .*"}},
	{"of no device", []string{"ids:-", "ids:n"},
		[]string{`ids 7 0 oneapi: set_device_ids: no device has an id; pass NULL, in Go nil, if no other library of the ` +
			`program uses SYCL`, `ids 7 0 oneapi: set_device_ids: NULL instead of the ids`}},
}

var streamsByNumber = []scenario{
	{"None and handles", []string{"stream:14:1:none", "stream:14:1:-1", "stream:14:1:94000000000"},
		[]string{"stream ok 0 1 0", "stream ok 0 1 1", "stream ok 94000000000 1 0"}},
	{"rejected", []string{"stream:14:1:0", "stream:14:1:1", "stream:14:1:-2", "finish:=2:0"},
		[]string{`stream 10 0 oneapi: stream_from_dlpack: the number 0 is not a stream of oneAPI; a stream ` +
			`is None, -1, or a handle`, "stream 10 .*", "stream 10 .*",
			`finish 10 0 oneapi: stream_synchronize: the stream 0x2 is not an object in memory`}},
	{"of what device", []string{"stream:14:3:none", "stream:14:-1:none", "stream:2:0:none"},
		[]string{"stream 9 .*", "stream 9 .*",
			`stream 8 0 oneapi: stream_from_dlpack: device type 2; the streams of oneAPI have type 14`}},
	{"current", []string{"current:n:0", "current:t:0", "current:t:1", "current:c:2", "current:c:1", "current:n:5"},
		[]string{"current ok 0", "current ok 4096", "current ok 0", "current ok 8194",
			`current 10 0 oneapi: current_work_stream: the program's callback returned the error 77`, "current 9 .*"}},
}

var order = []scenario{
	{"two barriers and an event", []string{"open:order:0", "open:order:0", "log", "order:s0:0:s1:0", "log"},
		[]string{"log .*", "order ok",
			`log ` + checked + checked +
				`zeCommandListImmediateGetFlags\(l0\) zeCommandListImmediateGetFlags\(l1\) ` +
				`zeEventPoolCreate\(0,1,32\) ` +
				`zeEventCreate\(0,4,2\) .*zeEventCreate\(31,4,2\) zeCommandListAppendBarrier\(l1,e30,-\) ` +
				`zeCommandListAppendBarrier\(l0,e31,e30\) `}},
	{"events serve again when both are done",
		append(append([]string{"open:order:0", "open:order:0"}, repeated("order:s0:0:s1:0", 16)...), "log",
			"order:s0:0:s1:0", "log"),
		append(repeated("order ok", 16), "log .*", "order ok",
			`log .*zeEventQueryStatus\(e1\) zeEventHostReset\(e0\) zeEventHostReset\(e1\) `+
				`zeCommandListAppendBarrier\(l1,e0,-\) .*`)},
	{"and not before", append(append([]string{"open:order:0", "open:order:0", "handle:0:hold"},
		repeated("order:s0:0:s1:0", 16)...), "log", "order:s0:0:s1:0", "log"),
		append(repeated("order ok", 16), "log .*", "order ok",
			`log .*(?:zeEventQueryStatus\(e\d+\) ){16}zeEventPoolCreate.*`)},
	{"one stream", []string{"open:order:0", "open:loose:0", "log", "order:s0:0:s0:0", "order:0:0:0:0", "log",
		"order:s1:0:s1:0", "log"},
		[]string{"log .*", "order ok", "order ok", `log [^B]*zeCommandListCreateImmediate\(0,2,2\) `, "order ok",
			`log .*zeCommandListAppendBarrier\(l1,-,-\) `}},
	{"unordered", []string{"order:-:0:0:0", "order:0:0:-:0", "log"}, []string{"order ok", "order ok", "log "}},
	{"of two devices", []string{"order:0:0:0:1", "log"},
		[]string{"order ok",
			`log .*zeCommandListCreateImmediate\(0,2,2\) zeCommandListCreateImmediate\(1,2,2\) ` +
				`.*zeCommandListAppendBarrier\(l1,.*zeCommandListAppendBarrier\(l0,.*`}},
	{"of two drivers", []string{"order:0:0:0:2"},
		[]string{`order 20 0 oneapi: stream_wait: devices 0 and 2 have two drivers, whose streams cannot wait ` +
			`for each other; synchronize the producer's stream`}},
	{"a stream of another device", []string{"open:order:1:0", "order:s0:0:0:0", "order:0:0:s0:0", "order:s0:1:0:1"},
		[]string{`order 11 0 oneapi: stream_wait: the consumer's stream: the stream 0x\w+ is of device 1 of ` +
			`Level Zero; expected device 0, its number 0`,
			`order 11 0 oneapi: stream_wait: the producer's stream: .*`, "order ok"}},
	{"a stream of another context", []string{"open:other:0", "finish:s0:0"},
		[]string{`finish 13 0 oneapi: stream_synchronize: the stream 0x\w+ belongs to a context that the program created, not to ` +
			`the driver's default one, which libraries share; create it there`}},
	{"a list that is recorded", []string{"open:recorded:0", "order:s0:0:0:0"},
		[]string{`order 12 0 oneapi: stream_wait: the consumer's stream: the command list 0x\w+ is not an immediate one, as required`}},
	{"a handle that the driver rejects",
		[]string{"open:order:0", "inject:zeCommandListIsImmediate:0x78000005", "finish:s0:0"},
		[]string{`finish 10 2013265925 oneapi: stream_synchronize: the stream 0x\w+: ZE_RESULT_ERROR_INVALID_NULL_HANDLE ` +
			`\(0x78000005\): a handle is NULL`}},
	{"finished", []string{"finish:0:1", "log", "finish:-:0"},
		[]string{"finish ok", `log zeCommandListCreateImmediate\(1,2,2\) zeCommandListHostSynchronize\(l0\) `,
			`finish 10 0 oneapi: stream_synchronize: a stream is required; -1 means no stream`}},
	{"that fails at the producer's barrier",
		append(append([]string{"inject:zeCommandListAppendBarrier:0x70000001"}, repeated("order:0:0:0:1", 17)...),
			"log"),
		append(repeated("order 22 1879048193 .*: a barrier on the producer's stream .*", 17),
			`log .*zeEventPoolCreate(?:.(?:[^P]|P[^o]))*`)},
	{"that fails at the consumer's barrier",
		[]string{"inject:zeCommandListAppendBarrier:0x70000001:1", "order:0:0:0:1"},
		[]string{"order 22 1879048193 .*: a barrier on the consumer's stream .*"}},
	{"that fails at the pool", []string{"inject:zeEventPoolCreate:0x70000003", "order:0:0:0:1"},
		[]string{`order 19 1879048195 oneapi: stream_wait: a pool of events: .*`}},
	{"that fails at an event", []string{"inject:zeEventCreate:0x70000002:5", "order:0:0:0:1", "log"},
		[]string{`order 19 1879048194 oneapi: stream_wait: an event: .*`,
			`log .*(?:zeEventDestroy\(e\d\) ){5}zeEventPoolDestroy\(0\) `}},
	{"that fails at the list", []string{"inject:zeCommandListCreateImmediate:0x70000003", "finish:0:0"},
		[]string{`finish 19 1879048195 oneapi: a command list of device 0: .*`}},
}

var allocations = []scenario{
	{"of a device", []string{"alloc:1:3", "log", "delete:0", "log", "alive"},
		[]string{"alloc ok 14 1 3 1 data", `log zeMemAllocDevice\(12,256,1\) `, `log zeMemFreeExt\(1\) `, "alive 0"}},
	{"empty", []string{"alloc:1:0", "keep:0:0:1", "log", "delete:0", "log"},
		[]string{"alloc ok 14 1 0 1 null", "keep ok", "log ", "log "}},
	{"on a stream of another device", []string{"open:order:1", "alloc:0:4:s0", "alive"},
		[]string{"alloc 11 .*", "alive 0"}},
	{"nowhere", []string{"alloc:3:4", "alloc:-1:0", "alloc:0:4::1", "alloc:0:4::2"},
		[]string{"alloc 9 .*", "alloc 9 .*", `alloc 8 0 oneapi: allocate: device type 1; oneAPI has the type 14`,
			"alloc 8 .*"}},
	{"too large", []string{"alloc:0:9000000000000000000", "alloc:0:-1", "alloc:0:9000000000", "alive"},
		[]string{`alloc 7 0 oneapi: allocate: 9000000000000000000 elements of 32 bits exceed the address space`,
			`alloc 7 .*extent -1`,
			`alloc 19 2013265929 oneapi: allocate: 36000000000 bytes on device 0: ZE_RESULT_ERROR_UNSUPPORTED_SIZE ` +
				`\(0x78000009\): the allocation exceeds the device's limit`, "alive 0"}},
	{"without memory", []string{"inject:zeMemAllocDevice:0x70000003", "alloc:0:4"},
		[]string{`alloc 19 1879048195 .*: the device is out of memory`}},
	{"freed by a call", []string{"alloc:0:4", "free:0", "free:n", "free:x", "keep:x:0:0", "alive"},
		[]string{"alloc ok .*", "free ok", "free ok",
			`free 18 0 oneapi: deallocate: the tensor was allocated by another library; call its own deleter`,
			"keep 18 .*", "alive 0"}},
	{"freed on another thread", []string{"alloc:2:4", "deletethere:0", "alive"}, []string{"alloc ok .*", "alive 0"}},
	{"when the device is lost", []string{"alloc:0:4", "inject:zeMemFreeExt:0x70000001", "free:0"},
		[]string{"alloc ok .*", `free 22 1879048193 oneapi: deallocate: 0x\w+: .*`}},
	{"when the work on it failed",
		[]string{"alloc:0:4", "keep:0:0:0", "inject:zeEventHostSynchronize:0x70000001", "free:0", "log"},
		[]string{"alloc ok .*", "keep ok", `free 22 .*`, `log (?:[^F]|F[^r])*`}},
}

var keeping = []scenario{
	{"waits for the streams that are named",
		[]string{"open:order:0", "open:order:0:1", "alloc:0:4", "handle:0:hold", "keep:0:s0:0", "keep:0:s1:0", "log",
			"delete:0", "log", "alive"},
		[]string{"alloc ok .*", "keep ok", "keep ok",
			`log .*zeCommandListAppendBarrier\(l0,e31,-\) .*zeCommandListAppendBarrier\(l1,e29,-\) `,
			`log zeEventHostSynchronize\(e31\) waited\(\) zeEventHostReset\(e30\) zeEventHostReset\(e31\) ` +
				`zeEventHostSynchronize\(e29\) zeEventHostReset\(e28\) zeEventHostReset\(e29\) zeMemFreeExt\(1\) `,
			"alive 0"}},
	{"the latest of each", []string{"alloc:0:4", "keep:0:0:0", "keep:0:0:0", "log", "delete:0", "log"},
		[]string{"alloc ok .*", "keep ok", "keep ok", "log .*",
			`log zeEventHostSynchronize\(e29\) zeEventHostReset\(e28\) zeEventHostReset\(e29\) zeMemFreeExt\(1\) `}},
	{"on no stream", []string{"alloc:0:4", "keep:0:-:0", "delete:0"}, []string{"alloc ok .*", `keep 10 .*`}},
	{"without a barrier", append(append([]string{"alloc:0:4", "inject:zeCommandListAppendBarrier:0x70000001"},
		repeated("keep:0:0:0", 17)...), "log", "delete:0", "alive"),
		append(append([]string{"alloc ok .*"},
			repeated(`keep 22 1879048193 oneapi: keep_until: a barrier on the stream 0x\w+: .*`, 17)...),
			`log .*zeEventPoolCreate(?:.(?:[^P]|P[^o]))*`, "alive 0")},
	{"without events", []string{"alloc:0:4", "inject:zeEventPoolCreate:0x70000002", "keep:0:0:0", "delete:0",
		"alive"}, []string{"alloc ok .*", "keep 19 .*", "alive 0"}},
}

var copies = []scenario{
	{"from the host and back, waited for",
		[]string{"alloc:1:4", "say:0:hello", "log", "copy:14:1:t0:1:0:h:16@0@1", "log",
			"copy:1:0:h+64:14:1:t0:16@0@1", "host:64", "delete:0"},
		[]string{"alloc ok .*", "log .*", "copy ok",
			`log .*zeCommandListAppendMemoryCopy\(l0,16\) zeCommandListHostSynchronize\(l0\) `, "copy ok",
			"host hello"}},
	{"of pinned memory, queued",
		[]string{"make:host:0", "alloc:0:4", "log", "copy:14:0:t0:1:0:p0:16@0@0", "~copy:14:0:t0:14:0:p0:16@0@0",
			"log", "copy:14:0:t0:14:0:p0:16@0@0", "delete:0", "drop:0:0"},
		[]string{"alloc ok .*", "log .*", "copy ok", "copy ok", `log (?:[^S]|S[^y])*`, "copy 24 .*"}},
	{"on a list without order",
		[]string{"open:loose:0", "alloc:0:4", "log", "copy:14:0:t0:14:0:t0:16@s0@0", "log", "delete:0"},
		[]string{"alloc ok .*", "log .*", "copy ok",
			`log .*zeCommandListAppendBarrier\(l0,-,-\) zeCommandListAppendMemoryCopy\(l0,16\) ` +
				`zeCommandListAppendBarrier\(l0,-,-\) `}},
	{"between devices that reach each other",
		[]string{"alloc:0:4", "alloc:1:4", "log", "copy:14:1:t1:14:0:t0:16@0@0", "log", "delete:0", "delete:1"},
		[]string{"alloc ok .*", "alloc ok .*", "log .*", "copy ok",
			`log .*zeDeviceCanAccessPeer\(0,1\) zeCommandListAppendMemoryCopy\(l0,16\) `}},
	{"between others, through the host",
		[]string{"alloc:1:4", "alloc:2:4", "say:0:world", "copy:14:1:t0:1:0:h:16@0@1", "log",
			"copy:14:2:t1:14:1:t0:16@0@1", "log", "copy:1:0:h+64:14:2:t1:16@0@2", "host:64", "delete:0", "delete:1"},
		[]string{"alloc ok .*", "alloc ok .*", "copy ok", "log .*", "copy ok",
			`log .*zeCommandListHostSynchronize\(l0\) zeCommandListAppendMemoryCopy\(l0,16\) ` +
				`zeCommandListHostSynchronize\(l0\) zeCommandListAppendMemoryCopy\(l1,16\) ` +
				`zeCommandListHostSynchronize\(l1\) `, "copy ok", "host world"}},
	{"nothing", []string{"copy:14:0:n:14:0:n:0@0@0", "log"}, []string{"copy ok", "log "}},
	{"of what was freed", []string{"make:device:0", "drop:0:0", "alloc:0:4", "copy:14:0:t0:14:0:p0:16@0@0",
		"delete:0"}, []string{"alloc ok .*",
		`copy 16 0 oneapi: copy: the source: 0x\w+ is not memory under the default .*`}},
	{"of another device than is said",
		[]string{"alloc:1:4", "copy:14:0:t0:1:0:h:16@0@0", "copy:1:0:t0:14:1:t0:16@0@0", "delete:0"},
		[]string{"alloc ok .*",
			`copy 16 0 oneapi: copy: the destination declares device 0, but the memory 0x\w+ is of device 1 in the ` +
				`order of SYCL`,
			`copy 16 0 oneapi: copy: the destination declares 0x\w+ as host memory, but it is memory of device 1`}},
	{"beyond the end", []string{"alloc:1:4", "copy:14:1:t0+1:1:0:h:16@0@1", "delete:0"},
		[]string{"alloc ok .*",
			`copy 16 0 oneapi: copy: the destination has 16 bytes at 0x\w+, beyond the end of its memory of 16 bytes`}},
	{"of the host alone, or of another type", []string{"copy:1:0:h:1:0:h+64:16@0@0", "copy:2:0:h:1:0:h:16@0@0"},
		[]string{`copy 8 0 oneapi: copy: neither tensor is in memory of oneAPI`,
			`copy 8 0 oneapi: copy: the destination declares device type 2; oneAPI copies between 14 and 1`}},
	{"that is not compact", []string{"copy:1:0:h:1:0:h:16@0@0x"},
		[]string{`copy 17 0 oneapi: copy: the source is not C-contiguous; make a contiguous copy first`}},
	{"of no memory", []string{"alloc:0:4", "copy:14:0:t0:1:0:n:16@0@0", "copy:1:0:n:14:0:t0:16@0@0", "delete:0"},
		[]string{"alloc ok .*", "copy 7 0 oneapi: copy: the source has elements but no data",
			"copy 7 0 oneapi: copy: the destination has elements but no data"}},
	{"on no stream", []string{"copy:1:0:h:1:0:h:16@-@0"}, []string{`copy 10 .*`}},
	{"that fails", []string{"alloc:1:4", "inject:zeCommandListAppendMemoryCopy:0x70000001",
		"copy:14:1:t0:1:0:h:16@0@1", "delete:0"},
		[]string{"alloc ok .*", `copy 22 1879048193 oneapi: copy of 16 bytes: .*`}},
	{"whose end fails", []string{"alloc:1:4", "inject:zeCommandListHostSynchronize:0x70000001",
		"copy:14:1:t0:1:0:h:16@0@1", "finish:0:1", "delete:0"},
		[]string{"alloc ok .*", `copy 22 .*`, `finish 22 .*`}},
}

func repeated(word string, n int) []string { return slices.Repeat([]string{word}, n) }

// groups are all scenarios.
var groups = map[string][]scenario{
	"pointers": pointers, "imports": imports, "numberings": numberings, "streams by number": streamsByNumber,
	"order":       order,
	"allocations": allocations, "keeping": keeping, "copies": copies,
}

func TestScenarios(t *testing.T) {
	for name, group := range groups {
		t.Run(name, func(t *testing.T) {
			for _, s := range group {
				t.Run(s.name, func(t *testing.T) {
					out := do(t, s.steps...)
					assert.True(t, s.fits(out), "%q\n%q", s.want, out)
				})
			}
		})
	}
}

func TestNullEverywhere(t *testing.T) {
	assert.Equal(t, []string{"nulls 7 7 7 7 7 7 7 7 7 7 7 7 7 7 0"}, do(t, "nulls"))
}

// The order of shutdown: the driver first, and then the tensor.
func TestTheDeleterAtExit(t *testing.T) {
	assert.Equal(t, []string{"alloc ok 14 0 4 1 data"}, do(t, "alloc:0:4", "atexit"))
}

// Without a numbering, exactly the functions with an id fail.
func TestWithoutANumbering(t *testing.T) {
	out := on(t, standin(t), "probe", "log", "count", "info:h", "make:device:0", "info:p0", "id:0", "alloc:0:4",
		"stream:14:0:none", "import:0:p0:4", "finish:0:0", "drop:0:0")
	want := `25 0 oneapi: .*: the ids of devices are SYCL's, which Level Zero does not report; set ` +
		`ONEAPI_DEVICE_SELECTOR=level_zero:\*, pass the ids to dlpackgen_usm\(\)->set_device_ids, .*`
	assert.True(t, testkit.Fits([]string{"probe ok 65551 3", startLog, "count ok 3", `info ok 1 0 -1 \+-1 0`,
		"info " + want, "id " + want, "alloc " + want, "stream " + want, "import " + want, "finish " + want}, out),
		"%q", out)
}

// A device that SYCL does not list has no id, and cannot be used.
func TestDevicesThatSYCLDoesNotList(t *testing.T) {
	out := on(t, standin(t), "probe", "ids:4:-:2", "id:0", "id:1", "id:2", "make:device:1", "info:p0", "alloc:2:4",
		"info:t0", "delete:0", "alloc:1:4", "drop:0:1")
	assert.True(t, testkit.Fits([]string{"probe ok .*", "ids ok", "id ok 4",
		`id 9 0 oneapi: id: SYCL does not list device 1; there are 3, counted from 0`, "id ok 2",
		`info 9 0 oneapi: pointer_attributes: the memory 0x\w+: SYCL does not list its device, number 1 of Level Zero`,
		"alloc ok 14 2 4 1 data", `info ok 14 2 2 \+0 16`, "alloc 9 .*"}, out), "%q", out)
}

// Two devices with one id could not be distinguished, and a device with two ids not be found.
func TestEachIDIsOfOneDevice(t *testing.T) {
	out := on(t, standin(t), "ids:0:4:4", "make:device:2", "import:4:p0:64", "ids:0:4:7", "import:4:p0:64",
		"import:7:p0:64", "drop:0:2")
	assert.True(t,
		testkit.Fits(
			[]string{`ids 7 0 oneapi: set_device_ids: rows 1 and 2 give two devices the id 4; each needs its own`,
				"import 25 .*", "ids ok", "import 16 .*", "import ok .*"}, out), "%q", out)
	out = on(t, standin(t), "ids:0:@1:5", "id:0", "ids:0:@0:5", "id:0", "id:2")
	assert.True(t,
		testkit.Fits(
			[]string{`ids 7 0 oneapi: set_device_ids: rows 0 and 1 name one device, the second with the id 1; ` +
				`name it once`, "id 25 .*", "ids ok", "id ok 0", "id ok 5"}, out), "%q", out)
}
