package devices

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// hipStandin returns the folder of a variant of HIP's stand-in, by its macros.
func hipStandin(t testing.TB, macros ...string) string {
	t.Helper()
	gcc := testtool.RequireCompiler(t, "gcc", "gcc")
	return testkit.Built(t, "hipstandin"+strings.Join(macros, ""), func(dir string) {
		args := []string{"-std=gnu11", "-g", testkit.Level(), "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o",
			filepath.Join(dir, rocmEnd.library)}
		testkit.Run(t, gcc, append(append(args, macros...), "testdata/standin_hip.c", "-lpthread")...)
	})
}

const hip5, hip6 = "-DDRIVER=50221153", "-DDRIVER=60443484"

// notOfROCm are CUDA cases without a counterpart: contexts and their state, managed memory as a
// type, and the number 2 for a stream.
var notOfROCm = []string{
	"of another context", "of another context, where no primary one is in use", "of a graph",
	"where another device must be current",
	"where nothing was started, nothing starts", "managed first", "None and the defaults", "rejected", "current",
	"of each kind", "nowhere",
	"pinned and managed memory where somebody is at work", "managed memory that the device has not",
	"when the driver has ended",
	"what was allocated before is gone", "the device is started anew", "somebody else has started it anew",
	"what another device did is over",
	"nobody's device is started to look at an address",
	"the same stream, also by its other name", "cuDevicePrimaryCtxRetain fails", "cuCtxPushCurrent fails",
	"when the driver fails",
}

// guards are the steps that ROCm lacks, or has under another name.
var guards = regexp.MustCompile(
	`cu(?:DevicePrimaryCtxRetain|CtxGetCurrent|CtxPushCurrent|CtxPopCurrent|CtxGetDevice)\\\((?:\\?d)?\d?\\\) ?`)

// ofROCm converts a CUDA case to ROCm.
func ofROCm(s scenario) scenario {
	out := scenario{name: s.name}
	for _, step := range s.steps {
		out.steps = append(out.steps, stepOfROCm(step))
	}
	names := []string{"cuda:", "rocm:", "of CUDA", "of ROCm", "alloc ok 2 ", "alloc ok 10 ", "alloc ok 3 ",
		"alloc ok 11 ", "info ok 2 ", "info ok 10 ", "info ok 3 ", "info ok 11 ",
		"of type 2", "of type 10", "have type 2", "have type 10", "device type 2 ", "device type 10 ", `device \(2, `,
		`device \(10, `,
		`driver's \(2, `, `driver's \(10, `, `.* \(2, 1\) .*`, `.* \(10, 1\) .*`,
		"the stream 0x1: ", "the stream (nil): ", "cuPointerGetAttributes\\(7\\)", "cuPointerGetAttributes\\(4\\)",
		"memory of type 3", "memory of type 10"}
	for _, e := range backend.Embedded("cuda").Errors {
		for _, r := range backend.Embedded("rocm").Errors {
			if r.Value == e.Value {
				names = append(names, e.Name, r.Name)
			}
		}
	}
	replace := strings.NewReplacer(names...)
	for _, want := range s.want {
		out.want = append(out.want,
			guards.ReplaceAllString(strings.ReplaceAll(replace.Replace(want), "(nil)", "(?:0x0|\\(nil\\))"), ""))
	}
	return out
}

var typesOfROCm = map[string]string{"2": "10", "3": "11"}

// stepOfROCm converts a step to ROCm: its device types, and NULL for the default stream, which is 1
// in CUDA.
func stepOfROCm(step string) string {
	w := strings.Split(step, ":")
	stream := func(i int) {
		if len(w) > i && w[i] == "1" {
			w[i] = "0"
		}
	}
	device := func(i int) { w[i] = cmp.Or(typesOfROCm[w[i]], w[i]) }
	switch w[0] {
	case "alloc":
		device(1)
		stream(4)
	case "number":
		device(1)
		if other, swapped := map[string]string{"0": "1", "1": "0"}[w[3]]; swapped { // the default and the rejected one
			w[3] = other
		}
	case "copy":
		device(1)
		device(4)
		w[7] = strings.ReplaceAll(w[7], "@1@", "@0@")
	case "order":
		stream(1)
		stream(3)
	case "keep":
		stream(2)
	case "finish":
		stream(1)
	}
	return strings.Join(w, ":")
}

// hipOnly are the cases that CUDA has in another form, or not at all.
var hipOnly = []scenario{
	{"managed memory is the device's", []string{"make:managed:2", "make:managedhost:1", "info:p0", "info:p1+5"},
		[]string{`info ok 10 2 2 \+0 64`, `info ok 10 1 1 \+5 64`}},
	{"not mapped", []string{"make:unmapped:1", "info:p0"}, []string{`info ok 1 0 -1 \+-1 0`}},
	{"an array in its numbering", []string{"make:array:1", "info:p0"},
		[]string{`info 15 0 rocm: pointer_attributes of 0x\w+: a texture array or other memory of type 10, not linear memory`}},
	{"where nothing was started", []string{"info:h", "log"},
		[]string{`info ok 1 0 -1 \+-1 0`, `log cuPointerGetAttributes\(4\) `}},
	{"a query that fails", []string{"make:plain:0", "inject:cuPointerGetAttributes:700", "info:p0"},
		[]string{`info 22 700 rocm: pointer_attributes of 0x\w+: hipErrorIllegalAddress \(700\): a kernel accessed invalid memory.*`}},
	{"numbers", []string{"number:10:1:none", "number:10:1:0", "number:10:1:-1", "number:10:1:94000000000",
		"number:10:1:1", "number:10:1:2", "number:10:1:-2"},
		[]string{"number ok 0 1 0", "number ok 0 1 0", "number ok 0 1 1", "number ok 94000000000 1 0",
			"number 10 0 rocm: stream_from_dlpack: the number 1 is not a stream of ROCm; a stream is None, " +
				"-1, a default stream's number, or a handle", "number 10 0 .* number 2 .*", "number 10 0 .*"}},
	{"a program's streams", []string{"current:n:0", "current:t:0", "current:t:1", "current:c:1", "current:c:2",
		"current:n:5"},
		[]string{"current ok 0", "current ok 0", "current ok 2", "current ok 4097", "current 10 0 .* the error 77",
			"current 9 0 .*"}},
	{"types and ids", []string{"alloc:10:3:4", "alloc:11:1:4", "alloc:13:0:4", "alloc:2:0:4", "alloc:-1:0:4"},
		[]string{"alloc 9 0 rocm: allocate: there is no device 3; .*",
			"alloc 9 0 rocm: allocate: device type 11 has only the id 0, not 1",
			"alloc 8 0 rocm: allocate: device type 13; ROCm has the types 10 and 11",
			"alloc 8 0 .*", "alloc 8 0 .*"}},
	{"memory of each type", []string{"alloc:10:2:3", "alloc:11:0:3", "info:t0", "info:t1", "delete:0", "delete:1",
		"alive"},
		[]string{"alloc ok 10 2 3 1 data", "alloc ok 11 0 3 1 data", `info ok 10 2 2 \+0 12`,
			`info ok 11 0 2 \+0 12`, "alive 0 depth 0"}},
	{"a device that cannot be made current",
		[]string{"alloc:10:1:4", "inject:hipSetDevice:4", "free:0", "finish:0:1", "alive"},
		[]string{"alloc ok .*", "free ok",
			`finish 21 4 rocm: making device 1 current: hipErrorDeinitialized \(4\): .*`, "alive 1 depth 0"}},
	{"the device that was current comes back",
		[]string{"stream:1:0", "order:s0:1:0:2", "alive", "alloc:10:2:1", "delete:0", "alive"},
		[]string{"order ok", "alive 0 depth 0", "alloc ok .*", "alive 0 depth 0"}},
	{"pinned memory where somebody is at work",
		[]string{"make:plain:2", "alloc:11:0:4", "info:t0", "delete:0", "alive"},
		[]string{"alloc ok .*", `info ok 11 0 2 \+0 16`, "alive 0 depth 0"}},
	{"memory that the host has registered",
		[]string{"make:registered:1", "alloc:10:1:4", "info:p0", "copy:10:1:t0:11:0:p0:16@0@1", "delete:0"},
		[]string{"alloc ok .*", `info ok 11 0 1 \+-1 0`, "copy ok"}},
	{"the thread's own stream", []string{"finish:2:1", "log"},
		[]string{"finish ok", `log cuStreamIsCapturing\(2\) cuStreamSynchronize\(2\) `}},
	{"the same stream twice", []string{"order:0:0:0:0", "log"}, []string{"order ok", "log "}},
}

// rocmScenarios are the common cases of CUDA and ROCm, and ROCm's own.
func rocmScenarios() (out []scenario) {
	for _, group := range groups {
		for _, s := range group {
			if !slices.Contains(notOfROCm, s.name) {
				out = append(out, ofROCm(s))
			}
		}
	}
	return append(out, hipOnly...)
}

// driveROCm runs steps after the runtime was loaded.
func driveROCm(words []string, do func(...string) []string) []string {
	out := do(append([]string{"probe", "log"}, words...)...)
	if len(out) < 3 || !strings.HasPrefix(out[0], "probe ok ") {
		return nil
	}
	return out[2:]
}

func TestROCm(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a sanitized client: CUDA's, of the same sources, is enough for make quick")
	}
	program := rocmEnd.client(t, rocm(t), testkit.Sanitized...)
	for _, version := range []string{hip6, hip5} {
		all := rocmScenarios()
		require.Greater(t, len(all), 70)
		for _, s := range all {
			t.Run(version+"/"+s.name, func(t *testing.T) {
				out := driveROCm(s.steps,
					func(words ...string) []string { return steps(t, program, hipStandin(t, version), words...) })
				assert.True(t, s.fits(out), "%q\n%s\n%q", s.steps, s.want, out)
			})
		}
	}
}

// rocmMutants are the guards that only ROCm has; the last word is the version of the runtime that
// detects them.
var rocmMutants = []struct {
	mutant
	version string
}{
	{mutant{"streams_current.h", "*pushed = current + 1;", "", "the device that was current comes back"}, hip6},
	{mutant{"streams_current.h", "if (pushed) (void)streams.driver.device_use(pushed - 1);", "",
		"the device that was current comes back"}, hip6},
	{mutant{"streams_current.h", "if (result) return streams_fail(error, result, \"making device",
		"if (0) return streams_fail(error, result, \"making device", "a device that cannot be made current"}, hip6},
	{mutant{"streams_current.h", "return *device < 0 ? DRIVER_stream_unknown : 0;", "return 0;",
		"a handle that the driver rejects"}, hip6},
	{mutant{"streams_current.h", "&flags, &active) && active;", "&flags, &active);",
		"pinned memory where somebody is at work"}, hip6},
	{mutant{"streams_current.h", "if (!a->mapped) return 0;", "", "freed or never known"}, hip5},
	{mutant{"streams_current.h", "DRIVER_memory_host_in(streams.version)", "DRIVER_memory_host", "pinned"}, hip5},
	{mutant{"streams_current.h", "DRIVER_memory_device_in(streams.version)", "DRIVER_memory_device",
		"our own, and inside"}, hip5},
	{mutant{"streams_current.h", "DRIVER_memory_array_in(streams.version)", "DRIVER_memory_array",
		"an array in its numbering"}, hip5},
	{mutant{"streams_current.h", "if (result) return result;", "", "a query that fails"}, hip6},
	{mutant{"streams_current.h", "if (streams.driver.address_range(&a->start, &a->size, address) || !a->start) ", "",
		"beyond the end"}, hip6},
	{mutant{"streams_current.h", " || !a->start) ", ") ", "memory that the host has registered"}, hip6},
	{mutant{"streams_current.h", "DRIVER_copy_default", "0", "pinned, queued"}, hip6},
	{mutant{"streams_current.h", "from_ordinal, bytes, stream);", "to_ordinal, bytes, stream);", "between devices"},
		hip6},
	{mutant{"streams_pointer.h", "typed ? 0 : a->ordinal;", "0;", "managed memory is the device's"}, hip6},
	{mutant{"streams_pointer.h", "typed ? BACKEND_managed : BACKEND_device", "BACKEND_managed",
		"managed memory is the device's"}, hip6},
	{mutant{"streams_memory.h", "if (type < 0 || ", "if (", "types and ids"}, hip6},
	{mutant{"streams_order.h", "(uintptr_t)driver_numbers[i].number == (uintptr_t)stream ||", "",
		"the thread's own stream"}, hip6},
}

func TestEachGuardOfROCmIsMissed(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("compiles the backend for each guard")
	}
	all := rocmScenarios()
	var mutants []mutant
	for _, m := range rocmMutants {
		mutants = append(mutants, m.mutant)
	}
	tried := rocmEnd.trying(t, rocmParts(t), mutations(mutants))
	for at, m := range rocmMutants {
		t.Run(m.file+" "+m.scenario, func(t *testing.T) {
			i := slices.IndexFunc(all, func(s scenario) bool { return s.name == m.scenario })
			require.GreaterOrEqual(t, i, 0, m.scenario)
			out := driveROCm(all[i].steps,
				func(words ...string) []string { return tried(t, at, hipStandin(t, m.version), words...) })
			assert.False(t, all[i].fits(out), "%s -> %s is not detected: %q", m.old, m.fresh, out)
		})
	}
}

// Errors of the runtime at the start, with the messages for CUDA's driver.
func TestROCmAtTheStart(t *testing.T) {
	if testing.Short() {
		t.Skip("builds other runtimes")
	}
	program := rocmEnd.client(t, rocm(t), testkit.Sanitized...)
	known := []string{":12345", ":100"}
	for _, e := range backend.Embedded("rocm").Errors {
		known = append(known, ":"+strconv.FormatInt(e.Value, 10))
	}
	shared := 0
	for _, c := range startErrors {
		if c.steps[0] != "devices:0" && !slices.ContainsFunc(known,
			func(end string) bool { return strings.HasSuffix(c.steps[0], end) }) {
			continue // of CUDA only
		}
		shared++
		want := ofROCm(scenario{want: []string{strings.NewReplacer("13000", "60443484", "CUDA_ERROR_OF_TOMORROW",
			"hipErrorOfTomorrow", ", or CUDA_VISIBLE_DEVICES hides it",
			", HIP_VISIBLE_DEVICES").Replace(c.want)}}).want[0]
		out := steps(t, program, hipStandin(t, hip6),
			append(append([]string{"preload"}, c.steps...), "probe", "inject:cuInit:0", "count")...)
		require.Len(t, out, 2)
		assert.Contains(t, out[0], "probe "+want)
		assert.Equal(t, strings.TrimPrefix(out[0], "probe "), strings.TrimPrefix(out[1], "count "))
	}
	assert.GreaterOrEqual(t, shared, 5)
	assert.Equal(t,
		[]string{"probe 3 0 rocm: the driver has version 40500000, but 50000000 or newer is required; " +
			"update the ROCm runtime"}, steps(t, program, hipStandin(t, "-DDRIVER=40500000"), "probe"))
	assert.Equal(t,
		[]string{"probe 3 0 rocm: the driver of version 60443484 lacks hipGetStreamDeviceId of version " +
			"40200000; update the ROCm runtime"},
		steps(t, program, hipStandin(t, hip6, "-DhipGetStreamDeviceId=renamed"), "probe"))
	assert.Contains(t, steps(t, program, hipStandin(t, hip6, "-DhipMallocAsync=renamed"), "probe", "log",
		"alloc:10:0:4", "log", "delete:0")[3], "cuMemAlloc(16)", "pools are done without")
	for _, line := range steps(t, program, "", "probe", "count", "alloc:10:0:4", "info:h", "number:10:0:0",
		"current:0:0", "order:0:0:0:1", "finish:0:0", "copy:1:0:h:1:0:h:4@0@0") {
		_, text, _ := strings.Cut(line, " ")
		assert.Equal(t,
			"1 0 rocm: the driver is not installed, or not in the library path: libamdhip64.so.5: cannot "+
				"open shared object file: No such file or directory; install the ROCm runtime", text)
	}
	out := steps(t, program, hipStandin(t, hip6), "probe", "alloc:10:0:4", "log", "fork", "count", "delete:0", "log")
	assert.Contains(t, out[3], "count 6 0 rocm: ROCm was started before this process was forked")
	assert.Equal(t, "log ", out[4], "the deleter does not call the parent's runtime")
	assert.Equal(t, []string{"nulls 7 7 7 7 7 7 7 7 7 7 7 7 0"},
		driveROCm([]string{"nulls"},
			func(words ...string) []string { return steps(t, program, hipStandin(t, hip6), words...) }))
	good(t, conformance(t, rocmEnd, rocm(t), hipStandin(t, hip6), testkit.Sanitized...))
}
