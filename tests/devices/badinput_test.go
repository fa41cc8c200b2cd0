package devices

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/testkit"
)

// bad is a mistake of a caller or of an installation, with its last line of output for CUDA and for
// ROCm, where not every mistake exists.
type bad struct {
	what   string
	macros []string // of the stand-in; "absent": no driver
	steps  []string
	want   string
	rocm   string
}

var badInput = []bad{
	{"no driver", []string{"absent"}, []string{"probe"},
		"probe 1 0 cuda: the driver is not installed, or not in the library path: libcuda.so.1",
		"probe 1 0 rocm: the driver is not installed, or not in the library path: libamdhip64.so.5"},
	{"a stub", []string{"-DSTUB"}, []string{"probe"},
		"probe 2 34 cuda: the driver does not report its version: CUDA_ERROR_STUB_LIBRARY (34): this is the stub " +
			"of a toolkit",
		""},
	{"an old driver", []string{"-DDRIVER=10020"}, []string{"probe"},
		"probe 3 0 cuda: the driver has version 10020, but 11000 or newer is required; update the NVIDIA " +
			"driver",
		"probe 3 0 rocm: the driver has version 10020, but 50000000 or newer is required; update the " +
			"ROCm runtime"},
	{"no device", nil, []string{"preload", "devices:0", "probe"},
		"probe 4 100 cuda: the driver of version 13000 does not start: CUDA_ERROR_NO_DEVICE (100): the driver " +
			"sees no device",
		"probe 4 100 rocm: the driver of version 60443484 does not start: hipErrorNoDevice (100): the driver " +
			"sees no device"},
	{"a child of fork", nil, []string{"probe", "fork", "count"},
		"count 6 0 cuda: CUDA was started before this process was forked",
		"count 6 0 rocm: ROCm was started before this process was forked"},
	{"the address of an empty tensor", nil, []string{"info:n"},
		"info 7 0 cuda: pointer_attributes: NULL instead of the address; the device of an empty tensor is the declared one",
		"info 7 0 rocm: pointer_attributes: NULL instead of the address; the device of an empty tensor is the declared one"},
	{"a type of device", nil, []string{"alloc:14:0:4"},
		"alloc 8 0 cuda: allocate: device type 14; CUDA has the types 2, 3 and 13",
		"alloc 8 0 rocm: allocate: device type 14; ROCm has the types 10 and 11"},
	{"an id out of range", nil, []string{"alloc:2:3:4"},
		"alloc 9 0 cuda: allocate: there is no device 3; this process sees 3, numbered from 0",
		"alloc 9 0 rocm: allocate: there is no device 3; this process sees 3, numbered from 0"},
	{"no stream", nil, []string{"number:2:0:0"},
		"number 10 0 cuda: stream_from_dlpack: the number 0 is not a stream of CUDA",
		"number 10 0 rocm: stream_from_dlpack: the number 1 is not a stream of ROCm"},
	{"a stream of another device", nil, []string{"probe", "stream:1:0", "order:s0:0:1:0"},
		"order 11 0 cuda: stream_wait: the consumer's stream: the stream ",
		"order 11 0 rocm: stream_wait: the consumer's stream: the stream "},
	{"a capture", nil, []string{"probe", "stream:0:0", "capture:0:1:7", "alloc:2:0:4:s0"},
		"alloc 12 0 cuda: allocate: the stream ",
		"alloc 12 0 rocm: allocate: the stream "},
	{"a pointer of another context", nil, []string{"probe", "make:plain:0", "make:foreign:0", "info:p1"},
		"info 13 0 cuda: pointer_attributes of ",
		""},
	{"a graph's memory", nil, []string{"probe", "make:unmapped:0", "info:p0"},
		"info 14 0 cuda: pointer_attributes of ",
		""},
	{"a freed pointer", nil, []string{"alloc:2:0:4", "alloc:2:0:4", "remember:0", "free:0",
		"copy:2:0:t1:2:0:p0:16@1@0"},
		"copy 16 0 cuda: copy: the source: its declared device (2, 0) does not match the driver's (1, 0) for memory ",
		"copy 16 0 rocm: copy: the source: its declared device (10, 0) does not match the driver's (1, 0) for memory "},
	{"no memory on the device", nil, []string{"alloc:2:0:1000000000000"},
		"alloc 19 2 cuda: allocate: 4000000000000 bytes of device type 2 on device 0: CUDA_ERROR_OUT_OF_MEMORY (2)",
		"alloc 19 2 rocm: allocate: 4000000000000 bytes of device type 10 on device 0: hipErrorOutOfMemory (2)"},
}

// Each mistake has a separate code and text, and causes no crash and no leak.
func TestEachBadInputHasItsOwnCodeAndText(t *testing.T) {
	if testing.Short() {
		t.Skip("builds several stand-ins")
	}
	toEach(t, client(t, cuda(t), testkit.Sanitized...), badInput,
		func(macros ...string) string { return standin(t, macros...) })
	var known []bad
	for _, b := range badInput {
		if b.want = b.rocm; b.want == "" {
			continue
		}
		if b.macros == nil {
			b.macros = []string{hip6}
		}
		b.steps = slices.Clone(b.steps)
		for i := range b.steps {
			b.steps[i] = stepOfROCm(b.steps[i])
		}
		known = append(known, b)
	}
	require.Len(t, known, len(badInput)-3, "ROCm has no stub, no other contexts and no addresses of graphs")
	toEach(t, rocmEnd.client(t, rocm(t), testkit.Sanitized...), known,
		func(macros ...string) string { return hipStandin(t, macros...) })
}

// toEach passes all of them to a program, with the drivers that they need.
func toEach(t *testing.T, program string, all []bad, driverOf func(macros ...string) string) {
	t.Helper()
	codes, texts := map[string]string{}, map[string]string{}
	for _, b := range all {
		driver := ""
		if len(b.macros) == 0 || b.macros[0] != "absent" {
			driver = driverOf(b.macros...)
		}
		out := steps(t, program, driver, b.steps...)
		last := out[len(out)-1]
		assert.True(t, strings.HasPrefix(last, b.want), "%s: %s", b.what, last)
		words := strings.SplitN(last, " ", 4)
		require.Len(t, words, 4, last)
		assert.Empty(t, codes[words[1]], "%s has the code of another", b.what)
		assert.Empty(t, texts[words[3]], "%s has the text of another", b.what)
		codes[words[1]], texts[words[3]] = b.what, b.what
	}
}

// The driver reports no owner of freed memory, and a tensor without elements allocates nothing.
func TestFreedAndEmptyMemory(t *testing.T) {
	out := do(t, "alloc:2:0:4", "remember:0", "info:p0", "delete:0", "info:p0", "alloc:2:0:0", "info:t1", "delete:1",
		"alive")
	assert.Equal(t, []string{"alloc ok 2 0 4 1 data", "info ok 2 0 0 +0 16", "info ok 1 0 -1 +-1 0",
		"alloc ok 2 0 0 1 null",
		"info 7 0 cuda: pointer_attributes: NULL instead of the address; the device of an empty tensor is the declared one",
		"alive 0 depth 0"}, out)
}

// Exhausted host memory has the same code everywhere.
func TestNoMemoryOnTheHost(t *testing.T) {
	for call, request := range map[string]string{"cuMemHostAlloc": "alloc:3:0:4",
		"cuMemAllocManaged": "alloc:13:0:4", "cuMemAllocAsync": "alloc:2:0:4"} {
		out := do(t, "inject:"+call+":2", request, "inject:"+call+":0", request, "delete:0", "alive")
		assert.Regexp(t,
			`^alloc 19 2 cuda: allocate: 16 bytes of device type (2|3|13) on device 0: CUDA_ERROR_OUT_OF_MEMORY \(2\)`,
			out[0])
		assert.Equal(t, []string{"alive 0 depth 0"}, out[2:])
	}
}
