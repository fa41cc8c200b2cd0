package devices

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// scenario is steps of the client, and their output.
type scenario struct {
	name  string
	steps []string
	want  []string // regular expressions, one per line
}

// fits reports whether lines match.
func (s scenario) fits(lines []string) bool { return testkit.Fits(s.want, lines) }

const (
	guardPattern  = `cuDevicePrimaryCtxRetain\(0\) cuCtxGetCurrent\(\) cuCtxPushCurrent\(0\) `
	silentPattern = `log (?:(?:cuDevicePrimaryCtxRetain|cuCtxGetCurrent|cuCtxPushCurrent|cuCtxPopCurrent|cuStreamIsCapturing|cuThreadExchangeStreamCaptureMode|cuStreamGetCaptureInfo|cuStreamGetCtx|cuCtxGetDevice)\([^)]*\) )*`
	allocPattern  = "alloc ok .*"
)

var pointers = []scenario{
	{"of the host", []string{"info:h"}, []string{`info ok 1 0 -1 \+-1 0`}},
	{"our own, and inside", []string{"alloc:2:1:16", "info:t0", "info:t0+60", "delete:0"},
		[]string{"alloc ok 2 1 16 1 data", `info ok 2 1 1 \+0 64`, `info ok 2 1 1 \+60 64`}},
	{"managed first", []string{"make:managed:1", "make:managedhost:2", "info:p0", "info:p1"},
		[]string{`info ok 13 0 1 \+0 64`, `info ok 13 0 2 \+0 64`}},
	{"pinned", []string{"make:pinned:2", "info:p0+3"}, []string{`info ok 3 0 2 \+3 64`}},
	{"of a pool, by its ordinal", []string{"make:pooled:2", "info:p0"}, []string{`info ok 2 2 2 \+0 64`}},
	{"of a pool of a device that is in use", []string{"alloc:2:2:1", "make:pooled:2", "info:p0", "delete:0"},
		[]string{"alloc ok .*", `info ok 2 2 2 \+0 64`}},
	{"freed or never known", []string{"make:unknown:1", "info:p0"}, []string{`info ok 1 0 -1 \+-1 0`}},
	{"of another context", []string{"make:plain:0", "make:foreign:0", "info:p0", "info:p1"},
		[]string{`info ok 2 0 0 \+0 64`,
			`info 13 0 cuda: pointer_attributes of 0x\w+: the memory belongs to a context that the program created on ` +
				`device 0, not to the primary context, which libraries share; allocate it there`}},
	{"of another context, where no primary one is in use", []string{"make:plain:1", "make:foreign:0", "info:p1", "log"},
		[]string{`info 13 0 .*`, `log cuPointerGetAttributes\(7\) cuDevicePrimaryCtxGetState\(0\) `}},
	{"of a graph", []string{"make:unmapped:1", "info:p0"},
		[]string{`info 14 0 cuda: pointer_attributes of 0x\w+: there is no memory at the address: it is only reserved, or a graph's own, .*`}},
	{"an array", []string{"make:array:1", "info:p0"},
		[]string{`info 15 0 cuda: pointer_attributes of 0x\w+: a texture array or other memory of type 3.*`}},
	{"where another device must be current", []string{"make:plain:2", "needs:1", "info:p0", "log"},
		[]string{`info ok 2 2 2 \+0 64`,
			`log cuPointerGetAttributes\(7\) cuDevicePrimaryCtxGetState\(0\) cuDevicePrimaryCtxGetState\(1\) ` +
				`cuDevicePrimaryCtxRetain\(2\) cuCtxGetCurrent\(\) cuCtxPushCurrent\(2\) cuPointerGetAttributes\(7\) ` +
				`cuCtxPopCurrent\(\) `}},
	{"where nothing was started, nothing starts", []string{"info:h", "log"},
		[]string{`info ok 1 0 -1 \+-1 0`, `log cuPointerGetAttributes\(7\)( cuDevicePrimaryCtxGetState\(\d\)){3} `}},
	{"when the driver fails", []string{"make:plain:0", "inject:cuPointerGetAttributes:700", "info:p0"},
		[]string{`info 22 700 cuda: pointer_attributes of 0x\w+: CUDA_ERROR_ILLEGAL_ADDRESS \(700\): a kernel accessed invalid memory.*`}},
	{"null", []string{"info:n"},
		[]string{`info 7 0 cuda: pointer_attributes: NULL instead of the address; the device of an empty tensor is the declared one`}},
}

var streamsByNumber = []scenario{
	{"None and the defaults", []string{"number:2:1:none", "number:2:1:1", "number:2:1:2", "number:2:1:-1",
		"number:2:1:94000000000"},
		[]string{"number ok 1 1 0", "number ok 1 1 0", "number ok 2 1 0", "number ok 0 1 1",
			"number ok 94000000000 1 0"}},
	{"rejected", []string{"number:2:1:0", "number:2:1:-2"},
		[]string{`number 10 0 cuda: stream_from_dlpack: the number 0 is not a stream of CUDA; a stream is ` +
			`None, -1, a default stream's number, or a handle`,
			`number 10 0 cuda: stream_from_dlpack: the number -2 is not a stream of CUDA; .*`}},
	{"of what device", []string{"number:2:3:1", "number:2:-1:1", "number:1:0:1"},
		[]string{`number 9 0 cuda: stream_from_dlpack: there is no device 3; this process sees 3, numbered from 0`,
			`number 9 0 .* no device -1; .*`,
			`number 8 0 cuda: stream_from_dlpack: device type 1; the streams of CUDA have type 2`}},
	{"current", []string{"current:n:0", "current:t:0", "current:t:1", "current:t:2", "current:c:1", "current:c:2",
		"current:n:5"},
		[]string{"current ok 1", "current ok 1", "current ok 2", "current ok 1", "current ok 4097",
			`current 10 0 cuda: current_work_stream: the program's callback returned the error 77`, `current 9 0 .*`}},
}

var order = []scenario{
	{"an event between two streams", []string{"order:2:0:1:0", "log", "alive"},
		[]string{"order ok",
			`log ` + guardPattern +
				`cuStreamIsCapturing\(2\) cuCtxPopCurrent\(\) cuCtxGetCurrent\(\) cuCtxPushCurrent\(0\) ` +
				`cuStreamIsCapturing\(1\) ` +
				`cuEventCreate\(2\) cuEventRecord\(1\) cuCtxGetCurrent\(\) cuStreamWaitEvent\(2,0\) ` +
				`cuEventDestroy\(\) cuCtxPopCurrent\(\) `, "alive 0 depth 0"}},
	{"the same stream, also by its other name", []string{"order:0:0:1:0", "order:2:1:2:1", "log"},
		[]string{"order ok", "order ok", "log "}},
	{"default streams of two devices are two", []string{"order:1:0:1:1", "log"}, []string{"order ok",
		`log .*cuCtxPushCurrent\(1\) cuStreamIsCapturing\(1\) cuEventCreate\(2\) cuEventRecord\(1\) ` +
			`cuCtxGetCurrent\(\) cuCtxPushCurrent\(0\) cuStreamWaitEvent\(1,0\) cuCtxPopCurrent\(\) ` +
			`cuEventDestroy\(\) cuCtxPopCurrent\(\) `}},
	{"unordered", []string{"order:-:0:2:0", "order:2:0:-:0", "log"}, []string{"order ok", "order ok", "log "}},
	{"a stream of another device",
		[]string{"stream:1:0", "order:s0:0:1:0", "order:1:0:s0:0", "order:s0:1:1:1", "alive"},
		[]string{`order 11 0 cuda: stream_wait: the consumer's stream: the stream 0x\w+ is of device 1, not of ` +
			`device 0`,
			`order 11 0 cuda: stream_wait: the producer's stream: the stream 0x\w+ is of device 1, not of device 0`,
			"order ok", "alive 0 depth 0"}},
	{"a handle that the driver rejects", []string{"stream:0:0", "inject:cuStreamGetCtx:400", "order:s0:0:1:0"},
		[]string{`order 10 400 cuda: stream_wait: the consumer's stream: the stream 0x\w+: ` +
			`CUDA_ERROR_INVALID_HANDLE \(400\): .*`}},
	{"no device and no stream of a device", []string{"order:1:7:1:0"}, []string{`order 9 0 .*`}},
}

var captures = []scenario{
	{"both into one graph", []string{"stream:0:0", "stream:0:0", "capture:0:1:7", "capture:1:1:7",
		"order:s0:0:s1:0"}, []string{"order ok"}},
	{"into two", []string{"stream:0:0", "stream:0:0", "capture:0:1:7", "capture:1:1:8", "log", "order:s0:0:s1:0",
		"log"},
		[]string{"log ",
			`order 12 0 cuda: stream_wait: the two streams are captured into two graphs; order them in the ` +
				`graph, and pass -1 as the stream`, silentPattern}},
	{"the producer's alone", []string{"stream:0:0", "capture:0:1:7", "log", "order:1:0:s0:0", "log"},
		[]string{"log ",
			`order 12 0 cuda: stream_wait: the producer's stream is captured, but the consumer's is not; .*`,
			silentPattern}},
	{"the consumer's alone", []string{"stream:0:0", "capture:0:1:7", "log", "order:s0:0:2:0", "log"},
		[]string{"log ",
			`order 12 0 cuda: stream_wait: the consumer's stream is captured, but the producer's is not; .*`,
			silentPattern}},
	{"a broken one", []string{"stream:0:0", "capture:0:2:7", "order:s0:0:2:0"},
		[]string{`order 12 0 cuda: stream_wait: the capture of the stream 0x\w+ was invalidated by an earlier call`}},
	{"somebody's, seen from the default stream", []string{"legacy:1", "log", "order:2:0:1:0", "log"},
		[]string{"log ",
			`order 12 906 cuda: stream_wait: the stream 0x1: CUDA_ERROR_STREAM_CAPTURE_IMPLICIT \(906\): the ` +
				`legacy default stream waits .*`, silentPattern}},
	{"no allocation", []string{"stream:0:0", "capture:0:1:7", "log", "alloc:2:0:4:s0", "log", "alive"},
		[]string{"log ",
			`alloc 12 0 cuda: allocate: the stream 0x\w+ is captured into a graph, which would own the memory; ` +
				`allocate before the capture`, silentPattern, "alive 0 depth 0"}},
	{"no allocation on the default stream", []string{"legacy:1", "log", "alloc:2:0:4", "log"},
		[]string{"log ", `alloc 12 906 .*`, silentPattern}},
	{"no waiting", []string{"stream:0:0", "capture:0:1:7", "log", "finish:s0:0", "log"},
		[]string{"log ",
			`finish 12 0 cuda: stream_synchronize: the stream 0x\w+ is captured into a graph, and waits for nothing .*`,
			silentPattern}},
	{"no keeping", []string{"alloc:2:0:4", "stream:0:0", "capture:0:1:7", "log", "keep:0:s0:0", "log", "delete:0"},
		[]string{"alloc ok .*", "log .*",
			`keep 12 0 cuda: keep_until: the stream 0x\w+ is captured into a graph, whose work is done at each ` +
				`launch; .*`, silentPattern}},
	{"no copy of memory that is not pinned",
		[]string{"alloc:2:0:4", "stream:0:0", "capture:0:1:7", "log", "copy:1:0:h:2:0:t0:16@s0@0",
			"copy:2:0:t0:2:0:t0:16@s0@0", "delete:0"},
		[]string{"alloc ok .*", "log .*",
			`copy 12 0 cuda: copy: the stream 0x\w+ is captured into a graph, and memory that is not pinned .*; ` +
				`pin it`, "copy ok"}},
	{"of others, not broken by a deleter",
		[]string{"stream:0:0", "stream:0:0", "alloc:2:0:4:s0", "alloc:3:0:4:s0", "capture:1:1:7", "delete:0",
			"delete:1", "captures", "alive"},
		[]string{"alloc ok .*", "alloc ok .*", "captures whole", "alive 0 depth 0"}},
	{"of the request's stream, not joined by a deleter",
		[]string{"stream:0:0", "alloc:2:0:4:s0", "capture:0:1:7", "delete:0", "captures", "alive", "capture:0:0:0",
			"alloc:2:0:0", "alive"},
		[]string{"alloc ok .*", "captures whole", "alive 1 depth 0", "alloc ok .*", "alive 0 depth 0"}},
	{"not broken by a copy on the default stream",
		[]string{"alloc:2:0:4", "alloc:3:0:4", "legacy:1", "copy:2:0:t0:3:0:t1:16@1@0", "captures", "legacy:0",
			"delete:0", "delete:1", "alive"},
		[]string{"alloc ok .*", "alloc ok .*",
			`copy 12 906 cuda: copy: the stream 0x1: CUDA_ERROR_STREAM_CAPTURE_IMPLICIT .*`, "captures whole",
			"alive 0 depth 0"}},
	{"a deleter meanwhile frees later",
		[]string{"alloc:2:0:4", "alloc:2:0:4", "legacy:1", "log", "delete:0", "log", "alive", "legacy:0", "delete:1",
			"alive"},
		[]string{"alloc ok .*", "alloc ok .*", "log .*", silentPattern, "alive 2 depth 0", "alive 0 depth 0"}},
}

var allocations = []scenario{
	{"of each kind", []string{"alloc:2:2:3", "alloc:3:0:3", "alloc:13:0:3", "info:t0", "info:t1", "info:t2", "log",
		"delete:0", "delete:1", "delete:2", "log", "alive"},
		[]string{"alloc ok 2 2 3 1 data", "alloc ok 3 0 3 1 data", "alloc ok 13 0 3 1 data", `info ok 2 2 2 \+0 12`,
			`info ok 3 0 2 \+0 12`, `info ok 13 0 2 \+0 12`,
			`log .*cuMemAllocAsync\(12,1\) .*cuMemHostAlloc\(12,1\) .*cuMemAllocManaged\(12,1\) .*`,
			`log .*cuMemFreeAsync\(s@2\) .*cuStreamSynchronize\(s@2\) cuMemFreeHost\(\) .*cuMemFree\(\) .*`,
			"alive 0 depth 0"}},
	{"of twelve bits", []string{"elements:1:12:1:5", "log", "delete:0"},
		[]string{"elements ok", `log .*cuMemAllocAsync\(10,1\) .*`}},
	{"empty", []string{"alloc:2:1:0", "log", "delete:0", "log"}, []string{"alloc ok 2 1 0 1 null", "log ", "log "}},
	{"on a stream", []string{"stream:1:0", "alloc:2:1:4:s0", "log", "delete:0", "log", "alive"},
		[]string{"alloc ok .*", `log .*cuMemAllocAsync\(16,s@1\) .*`,
			`log .*cuStreamIsCapturing\(s@1\) cuEventCreate\(2\) cuEventRecord\(s@1\) cuCtxGetCurrent\(\) ` +
				`cuStreamWaitEvent\(s@1,0\) cuEventDestroy\(\) cuMemFreeAsync\(s@1\) ` +
				`cuThreadExchangeStreamCaptureMode\(0\) cuCtxPopCurrent\(\) `, "alive 0 depth 0"}},
	{"on a stream that is gone",
		[]string{"stream:1:0", "alloc:2:1:4:s0", "keep:0:s0:1", "close:0", "delete:0", "alive"},
		[]string{"alloc ok .*", "keep ok", "alive 0 depth 0"}},
	{"on a stream of each thread", []string{"alloc:2:1:4:2", "log", "delete:0", "log", "alive"},
		[]string{"alloc ok .*", "log .*", `log .*cuEventRecord\(1\) .*cuMemFreeAsync.*`, "alive 0 depth 0"}},
	{"on a stream of another device", []string{"stream:1:0", "alloc:2:0:4:s0", "alive"},
		[]string{`alloc 11 0 .* is of device 1, not of device 0`, "alive 0 depth 0"}},
	{"in the mode that others' captures permit", []string{"alloc:3:0:4", "log", "delete:0", "log", "alive"},
		[]string{"alloc ok .*",
			`log .*StreamCaptureMode\(2\) .*cuMemHostAlloc\(16,1\) cuThreadExchangeStreamCaptureMode\(0\) .*`,
			`log .*StreamCaptureMode\(2\) .*cuMemFreeHost\(\) cuThreadExchangeStreamCaptureMode\(0\) .*`,
			"alive 0 depth 0"}},
	{"pinned and managed memory where somebody is at work",
		[]string{"make:plain:2", "alloc:3:0:4", "alloc:13:0:4", "log", "delete:0", "delete:1", "alive"},
		[]string{"alloc ok .*", "alloc ok .*",
			`log [^!]*cuDevicePrimaryCtxRetain\(2\) cuCtxGetCurrent\(\) cuCtxPushCurrent\(2\) .*`,
			"alive 0 depth 0"}},
	{"pinned memory where its stream is",
		[]string{"make:plain:0", "stream:1:0", "alloc:3:0:4:s0", "log", "delete:0", "alive"},
		[]string{"alloc ok .*",
			`log .*cuCtxPushCurrent\(1\) .*cuStreamIsCapturing\(s@1\) .*cuMemHostAlloc\(16,1\).*`,
			"alive 0 depth 0"}},
	{"managed memory that the device has not", []string{"inject:cuDeviceGetAttribute:801", "alloc:13:0:4", "alive"},
		[]string{`alloc 20 0 cuda: allocate: device 0 has no managed memory`, "alive 0 depth 0"}},
	{"for peers without pools", []string{"inject:cuDeviceGetAttribute:801", "alloc:2:0:4::1", "alive"},
		[]string{`alloc 20 0 cuda: allocate: device 0 has no memory pools, which access by other devices requires`,
			"alive 0 depth 0"}},
	{"for peers", []string{"alloc:2:0:4::1", "alive", "log", "delete:0"},
		[]string{"alloc ok .*", "alive 1 depth 0",
			`log .*cuDeviceGetDefaultMemPool\(0\) cuDeviceCanAccessPeer\(1,0\) cuMemPoolSetAccess\(0,1,1,3\) ` +
				`cuDeviceCanAccessPeer\(2,0\) cuMemAllocAsync.*`}},
	{"without memory", []string{"alloc:2:0:1000000000000", "alive"},
		[]string{`alloc 19 2 cuda: allocate: 4000000000000 bytes of device type 2 on device 0: ` +
			`CUDA_ERROR_OUT_OF_MEMORY \(2\): the device is out of memory`, "alive 0 depth 0"}},
	{"too large", []string{"alloc:2:0:9000000000000000000", "alloc:2:0:-1"},
		[]string{`alloc 7 0 cuda: allocate: 9000000000000000000 elements of 32 bits exceed the address space`,
			`alloc 7 0 cuda: allocate: dimension 0 has the extent -1`}},
	{"nowhere", []string{"alloc:2:3:4", "alloc:2:-1:0", "alloc:3:1:4", "alloc:13:1:4", "alloc:1:0:4", "alloc:14:0:4"},
		[]string{`alloc 9 0 cuda: allocate: there is no device 3; this process sees 3, numbered from 0`,
			`alloc 9 0 .* no device -1; .*`,
			`alloc 9 0 cuda: allocate: device type 3 has only the id 0, not 1`,
			`alloc 9 0 cuda: allocate: device type 13 has .*`,
			`alloc 8 0 cuda: allocate: device type 1; CUDA has the types 2, 3 and 13`, `alloc 8 0 .*`}},
	{"freed by a call", []string{"alloc:2:0:4", "free:0", "free:n", "free:x", "alive"},
		[]string{"alloc ok .*", "free ok", "free ok",
			`free 18 0 cuda: deallocate: the tensor was allocated by another library; call its own deleter`,
			"alive 0 depth 0"}},
	{"freed on another thread", []string{"alloc:2:1:4", "deletethere:0", "settled:0", "alive"},
		[]string{"alloc ok .*", "alive 0 depth 0"}},
	{"freed in a host function, which may make no calls",
		[]string{"alloc:2:1:4", "alloc:3:0:4", "hostfunction:0", "hostfunction:1", "settled:0", "breaches", "alive"},
		[]string{"alloc ok .*", "alloc ok .*", "breaches 0", "alive 0 depth 0"}},
	{"when the driver has ended", []string{"alloc:2:1:4", "inject:cuCtxPushCurrent:4", "free:0"},
		[]string{"alloc ok .*", "free ok"}},
	{"when the context is destroyed", []string{"alloc:2:1:4", "inject:cuMemFreeAsync:709", "free:0"},
		[]string{"alloc ok .*", "free ok"}},
	{"when the device is lost", []string{"alloc:2:1:4", "inject:cuMemFreeAsync:700", "free:0"},
		[]string{"alloc ok .*", `free 22 700 cuda: deallocate: 0x\w+: CUDA_ERROR_ILLEGAL_ADDRESS \(700\): .*`}},
}

var keeping = []scenario{
	{"waits for the stream that is named",
		[]string{"stream:1:0", "stream:1:0", "alloc:2:1:4:s0", "keep:0:s0:1", "keep:0:s1:1", "keep:0:s1:1",
			"close:0", "close:1", "log", "delete:0", "log", "alive"},
		[]string{"alloc ok .*", "keep ok", "keep ok", "keep ok",
			`log .*cuEventCreate.*cuEventRecord.*cuEventCreate.*cuEventRecord.*cuEventRecord.*`,
			`log cuCtxGetCurrent\(\) cuCtxPushCurrent\(1\) cuThreadExchangeStreamCaptureMode\(2\) ` +
				`(?:cuCtxGetCurrent\(\) cuStreamWaitEvent\(s@1,0\) cuEventDestroy\(\) ){2}cuMemFreeAsync\(s@1\) ` +
				`cuThreadExchangeStreamCaptureMode\(0\) cuCtxPopCurrent\(\) `, "alive 0 depth 0"}},
	{"and for that of the request, unless it is named",
		[]string{"stream:1:0", "alloc:2:1:4", "keep:0:s0:1", "log", "delete:0", "log", "alive"},
		[]string{"alloc ok .*", "keep ok", "log .*",
			`log .*cuEventRecord\(1\) .*cuStreamWaitEvent\(s@1,0\) .*cuStreamWaitEvent\(s@1,0\) .*cuMemFreeAsync.*`,
			"alive 0 depth 0"}},
	{"pinned memory waits for its stream",
		[]string{"stream:0:0", "alloc:3:0:4", "alloc:3:0:4:s0", "log", "delete:0", "log", "delete:1", "log",
			"alive"},
		[]string{"alloc ok .*", "alloc ok .*", "log .*",
			`log .*cuEventRecord\(1\) .*cuStreamWaitEvent\(s@0,0\) .*cuStreamSynchronize\(s@0\) ` +
				`cuMemFreeHost\(\) .*`,
			`log .*cuEventRecord\(s@0\) .*cuStreamWaitEvent\(s@0,0\) .*cuStreamSynchronize\(s@0\) ` +
				`cuMemFreeHost\(\) .*`, "alive 0 depth 0"}},
	{"also pinned memory", []string{"alloc:3:0:4", "keep:0:1:0", "log", "delete:0", "log", "alive"},
		[]string{"alloc ok .*", "keep ok", "log .*",
			`log .*cuStreamWaitEvent\(s@0,0\) cuEventDestroy\(\) cuStreamSynchronize\(s@0\) cuMemFreeHost\(\) .*`,
			"alive 0 depth 0"}},
	{"not what is empty, or another's",
		[]string{"alloc:2:0:0", "keep:0:1:0", "keep:x:1:0", "keep:0:-:0", "delete:0", "alive"},
		[]string{"alloc ok .*", "keep ok",
			`keep 18 0 cuda: keep_until: the tensor was allocated by another library; .*`,
			`keep 10 0 cuda: keep_until: a stream is required; -1 means no stream`, "alive 0 depth 0"}},
	{"without an event", []string{"alloc:2:0:4", "inject:cuEventCreate:2", "keep:0:1:0", "inject:cuEventCreate:0",
		"delete:0", "alive"},
		[]string{"alloc ok .*", `keep 19 0 .*`, "alive 0 depth 0"}},
	{"without a record", []string{"alloc:2:0:4", "inject:cuEventRecord:719", "keep:0:1:0", "inject:cuEventRecord:0",
		"log", "delete:0", "log", "alive"},
		[]string{"alloc ok .*", `keep 22 719 .*`, "log .*", `log .*cuEventRecord\(1\) .*cuMemFreeAsync.*`,
			"alive 0 depth 0"}},
}

// After cudaDeviceReset, on a device that was not used since, and on one that was.
var resets = []scenario{
	{"what was allocated before is gone",
		[]string{"alloc:2:1:4", "keep:0:1:1", "reset:1:0", "log", "delete:0", "log", "alive"},
		[]string{"alloc ok .*", "keep ok", "log .*",
			`log cuDevicePrimaryCtxGetState\(1\) (?:cuDevicePrimaryCtxGetState\(1\) )*`, "alive 1 depth 0"}},
	{"the device is started anew",
		[]string{"alloc:2:1:4", "reset:1:0", "log", "alloc:2:1:4", "log", "free:0", "free:1", "log", "alive"},
		[]string{"alloc ok .*", "log .*", "alloc ok .*",
			`log .*cuDevicePrimaryCtxRetain\(1\) .*cuStreamCreate\(1\) cuMemAllocAsync\(16,1\) .*`, "free ok",
			"free ok", `log [^L]*cuMemFreeAsync\(s@1\) [^L]*`, "alive 0 depth 0"}},
	{"somebody else has started it anew",
		[]string{"alloc:2:1:4", "reset:1:1", "log", "alloc:2:1:4", "log", "free:0", "free:1", "log", "alive"},
		[]string{"alloc ok .*", "log .*", "alloc ok .*",
			`log .*cuDevicePrimaryCtxRetain\(1\) .*cuStreamCreate\(1\) cuMemAllocAsync\(16,1\) .*`, "free ok",
			"free ok", `log [^L]*cuMemFreeAsync\(s@1\) [^L]*`, "alive 0 depth 0"}},
	{"what another device did is over",
		[]string{"stream:1:0", "alloc:2:0:4", "keep:0:s0:1", "reset:1:1", "log", "delete:0", "log", "alive"},
		[]string{"alloc ok .*", "keep ok", "log .*", `log [^L]*cuMemFreeAsync\(s@0\) [^L]*`, "alive 1 depth 0"}},
	{"nobody's device is started to look at an address",
		[]string{"alloc:2:1:4", "reset:1:0", "log", "info:t0", "log", "delete:0"},
		[]string{"alloc ok .*", "log .*", `info ok 1 0 -1 .*`,
			`log cuPointerGetAttributes\(7\) (?:cuDevicePrimaryCtxGetState\(\d\) )*`}},
}

var copies = []scenario{
	{"from the host and back, waited for",
		[]string{"alloc:2:1:4", "log", "copy:2:1:t0:1:0:h:16@1@1", "log", "copy:1:0:h+64:2:1:t0:16@2@1", "log",
			"delete:0"},
		[]string{allocPattern, "log .*", "copy ok",
			`log .*cuMemcpyAsync\(16,1\) cuStreamSynchronize\(1\) cuCtxPopCurrent\(\) `, "copy ok",
			`log .*cuMemcpyAsync\(16,2\) cuStreamSynchronize\(2\) .*`}},
	{"pinned, queued", []string{"alloc:2:1:4", "alloc:3:0:4", "log", "copy:2:1:t0:3:0:t1:16@1@1",
		"copy:2:1:t0:1:0:t1:16@1@1", "log", "delete:0", "delete:1"},
		[]string{allocPattern, allocPattern, "log .*", "copy ok", "copy ok",
			`log .*cuMemcpyAsync\(16,1\) cuCtxPopCurrent\(\) .*cuMemcpyAsync\(16,1\) cuCtxPopCurrent\(\) `}},
	{"between devices", []string{"alloc:2:0:4", "alloc:2:1:4", "log", "copy:2:1:t1:2:0:t0:16@1@0", "log", "delete:0",
		"delete:1"},
		[]string{allocPattern, allocPattern, "log .*", "copy ok",
			`log .*cuMemcpyPeerAsync\(1,0,16,1\) cuCtxPopCurrent\(\) `}},
	{"nothing", []string{"copy:2:0:n:2:0:n:0@1@0", "log"}, []string{"copy ok", "log "}},
	{"of what was freed", []string{"make:unknown:0", "alloc:2:0:4", "copy:2:0:p0:2:0:t0:16@1@0", "delete:0"},
		[]string{allocPattern,
			`copy 16 0 cuda: copy: the destination: its declared device \(2, 0\) does not match the driver's ` +
				`\(1, 0\) for memory 0x\w+; ` +
				`it may have been freed`}},
	{"of another device than is said",
		[]string{"alloc:2:1:4", "alloc:2:0:4", "copy:2:0:t1:2:0:t0:16@1@0", "copy:1:0:h:1:0:t0:16@1@0", "delete:0",
			"delete:1"},
		[]string{allocPattern, allocPattern,
			`copy 16 0 cuda: copy: the source: its declared device \(2, 0\) does not match the driver's \(2, 1\) .*`,
			`copy 16 0 .* its declared device \(1, 0\) .* \(2, 1\) .*`}},
	{"beyond the end", []string{"alloc:2:1:4", "copy:2:1:t0+1:1:0:h:16@1@1", "delete:0"},
		[]string{allocPattern,
			`copy 16 0 cuda: copy: the destination has 16 bytes at 0x\w+, beyond the end of its memory of 16 bytes`}},
	{"mapped of two allocations",
		[]string{"make:split:1", "alloc:2:1:25", "alloc:2:1:32", "copy:2:1:t1:2:1:p0:128@1@1",
			"copy:2:1:t1+28:2:1:p0+28:100@1@1", "copy:2:1:p0+28:2:1:t0:101@1@1", "delete:0", "delete:1"},
		[]string{allocPattern, allocPattern, "copy ok", "copy ok",
			`copy 16 0 cuda: copy: the destination has 101 bytes at 0x\w+, beyond the end of its memory of 64 bytes`}},
	{"of the host alone", []string{"copy:1:0:h:1:0:h+64:16@1@0"},
		[]string{`copy 8 0 cuda: copy: neither tensor is in memory of CUDA`}},
	{"of other elements", []string{"copy:1:0:h:1:0:h:16@1@0d", "copy:1:0:h:1:0:h:16@1@0x"},
		[]string{`copy 17 0 cuda: copy: the dtypes of the two tensors differ`,
			`copy 17 0 cuda: copy: the source is not C-contiguous; make a contiguous copy first`}},
	{"on no stream", []string{"copy:1:0:h:1:0:h:16@-@0"},
		[]string{`copy 10 0 cuda: copy: a stream is required; -1 means no stream`}},
	{"that fails", []string{"alloc:2:1:4", "inject:cuMemcpyAsync:700", "copy:2:1:t0:1:0:h:16@1@1", "delete:0", "alive"},
		[]string{allocPattern, `copy 22 700 cuda: copy of 16 bytes: CUDA_ERROR_ILLEGAL_ADDRESS .*`, "alive 0 depth 0"}},
	{"whose end fails", []string{"alloc:2:1:4", "inject:cuStreamSynchronize:719", "copy:2:1:t0:1:0:h:16@1@1",
		"finish:1:1", "delete:0", "alive"},
		[]string{allocPattern, `copy 22 719 .*`, `finish 22 719 cuda: stream_synchronize: the stream 0x1: .*`,
			"alive 0 depth 0"}},
	{"waited for", []string{"finish:2:1", "log", "finish:-:1"},
		[]string{"finish ok", `log .*cuStreamIsCapturing\(2\) cuStreamSynchronize\(2\) cuCtxPopCurrent\(\) `,
			`finish 10 0 .*`}},
}

// failing returns a scenario for each driver function that fails.
func failing(steps []string, want string, calls ...string) (out []scenario) {
	for _, call := range calls {
		out = append(out, scenario{call + " fails", append([]string{"inject:" + call + ":719"}, steps...),
			[]string{want, "alive 0 depth 0"}})
	}
	return out
}

// groups are all scenarios.
var groups = map[string][]scenario{
	"pointers": pointers, "streams by number": streamsByNumber, "order": order, "captures": captures,
	"allocations": allocations,
	"keeping":     keeping, "copies": copies, "resets": resets,
	"order that fails": failing([]string{"order:2:1:1:0", "alive"},
		`order 22 719 .*: CUDA_ERROR_LAUNCH_FAILED \(719\): a kernel failed; .*`,
		"cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent"),
	"allocations that fail": failing([]string{"alloc:2:1:4", "alive"},
		`alloc 22 719 .*CUDA_ERROR_LAUNCH_FAILED \(719\): .*`,
		"cuDevicePrimaryCtxRetain", "cuCtxPushCurrent", "cuStreamCreate", "cuMemAllocAsync"),
}

func TestScenarios(t *testing.T) {
	for name, group := range groups {
		t.Run(name, func(t *testing.T) {
			for _, s := range group {
				t.Run(s.name, func(t *testing.T) {
					out := do(t, s.steps...)
					assert.True(t, s.fits(out), "%s\n%q", s.want, out)
				})
			}
		})
	}
}

// sizeOf computes the bytes of elements by DLPack's rules: lanes narrower than a byte are packed,
// all other elements are whole bytes.
func sizeOf(bits, lanes, count int) int {
	if bits < 8 {
		return (bits*lanes*count + 7) / 8
	}
	return (bits*lanes + 7) / 8 * count
}

// Each element has the memory for its type, also with odd widths.
func TestElementsOfEveryWidthFit(t *testing.T) {
	var requested []string
	var want []string
	for _, bits := range []int{1, 2, 4, 6, 7, 8, 9, 12, 16, 24, 31, 32, 33, 64, 127, 128, 255} {
		for _, lanes := range []int{1, 2, 3, 5} {
			for _, count := range []int{1, 5, 9} {
				requested = append(requested, fmt.Sprintf("elements:1:%d:%d:%d", bits, lanes, count), "log",
					fmt.Sprintf("delete:%d", len(want)))
				want = append(want, fmt.Sprintf("cuMemAllocAsync(%d,1)", sizeOf(bits, lanes, count)))
			}
		}
	}
	out := do(t, requested...)
	require.Len(t, out, 2*len(want))
	for i, call := range want {
		assert.Equal(t, "elements ok", out[2*i])
		assert.Contains(t, out[2*i+1], call, requested[3*i])
	}
}

func TestNullEverywhere(t *testing.T) {
	assert.Equal(t, []string{"nulls 7 7 7 7 7 7 7 7 7 7 7 7 0"}, do(t, "nulls"))
}

// At the end of a process, the deleter runs after main.
func TestTheDeleterAtExit(t *testing.T) {
	assert.Equal(t, []string{"alloc ok 2 0 4 1 data"}, do(t, "alloc:2:0:4", "atexit"))
}
