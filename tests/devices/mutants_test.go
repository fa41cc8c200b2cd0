package devices

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// mutant is a backend with one change, which a scenario must detect.
type mutant struct {
	file, old, fresh string
	scenario         string
}

var mutants = []mutant{
	{"streams_pointer.h", "if (a->managed) {", "if (0) {", "managed first"},
	{"streams_pointer.h", "info->device.device_id = a->ordinal;", "", "our own, and inside"},
	{"streams_pointer.h", "if (!a->mapped && !a->context)", "if (0)", "of a graph"},
	{"streams_current.h", "if (!context || ", "if (1 || ", "of another context"},
	{"streams_current.h", "if (!context || ", "if (", "of a pool of a device that is in use"},
	{"streams_pointer.h", "else if (a->type == DRIVER_memory_device)", "else if (1)", "an array"},
	{"streams_pointer.h", "if (result) code = streams_query_again(pointer, &a, result, error);",
		"if (result) code = 23;", "where another device must be current"},
	{"streams_current.h", "if (queried) return", "if (1) return", "where nothing was started, nothing starts"},
	{"streams_current.h", "if (!streams_active(ordinal) || ", "if (", "where nothing was started, nothing starts"},
	{"streams_pointer.h", "if (!code) code = device_check_pointer(pointer, info, error);", "", "null"},
	{"streams_current.h", "int active = starts;", "int active = 1;",
		"of another context, where no primary one is in use"},
	{"streams_current.h",
		"return !streams_context_id(context, &id) && id == atomic_load(&streams.devices[ordinal].id);",
		"return (void)context, (void)id, 1;", "somebody else has started it anew"},
	{"streams_current.h", "atomic_store(&device->own, NULL);", "", "the device is started anew"},
	{"streams_current.h", "atomic_fetch_add(&device->resets, 1);", "", "the device is started anew"},
	{"streams_current.h", "if (result || !active) return result;", "if (result) return result;",
		"nobody's device is started to look at an address"},
	{"streams_release.h", "|| streams_was_reset(block->ordinal, block->resets)", "",
		"what was allocated before is gone"},
	{"streams_release.h", "if (!streams_was_reset(keep->ordinal, keep->resets))", "",
		"what another device did is over"},
	{"streams_release.h", "if (streams_special(first)) first = streams_handle(NULL);", "",
		"on a stream of each thread"},
	{"streams_release.h", "if (!streams_caller && block->kind != STREAMS_EMPTY && device_is_ready())", "if (0)",
		"freed in a host function, which may make no calls"},
	{"streams_copy.h", "if (waits || (uintptr_t)stream == DRIVER_DEFAULT_STREAM)", "if (waits)",
		"not broken by a copy on the default stream"},
	{"streams_current.h", "if (pushed) (void)", "if (0) (void)", "an event between two streams"},
	{"streams_context.h", "if (id >= 0 && id < streams.count)", "if (id >= 0)", "of what device"},
	{"streams_context.h", "if (id >= 0 && id < streams.count)", "if (id < streams.count)", "of what device"},
	{"streams_context.h", "return code ? code : streams_check_id(what, device.device_id, error);",
		"return (void)code, streams_check_id(what, device.device_id, error);", "of what device"},
	{"numbers_read.h", "rejected = driver_numbers[i].rejected;", "rejected = 0;", "rejected"},
	{"numbers_read.h", "int rejected = !fits && number != -1;", "int rejected = 0;", "rejected"},
	{"streams_order.h", "if (device != stream->device.device_id)", "if (0)", "a stream of another device"},
	{"streams_current.h", "streams_leave(1);", "", "a stream of another device"},
	{"streams_order.h", "if (consumer->status == producer->status && consumer->id == producer->id)", "if (1)",
		"the producer's alone"},
	{"streams_order.h", " && consumer->id == producer->id)", ")", "into two"},
	{"streams_order.h", "if (consumer->device.device_id == producer->device.device_id &&", "if (0 &&",
		"the same stream, also by its other name"},
	{"streams_order.h", "if (consumer->device.device_id == producer->device.device_id &&", "if (",
		"default streams of two devices are two"},
	{"streams_order.h",
		"if (code || consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC)",
		"if (code)", "unordered"},
	{"streams_order.h", "if (code || stream->flags & DLPACKGEN_STREAM_NO_SYNC || streams_special(handle))",
		"if (code || stream->flags & DLPACKGEN_STREAM_NO_SYNC)", "an event between two streams"},
	{"streams_order.h", "(void)streams.driver.event_destroy(event);", "", "an event between two streams"},
	{"streams_order.h", "(void)streams.driver.event_destroy(*event);", "", "cuEventRecord fails"},
	{"streams_order.h", "if (capture->status == DRIVER_capture_none || ", "if (1 || ", "a broken one"},
	{"streams_order.h", `code = streams_check_no_capture("stream_synchronize",`,
		`code = 0; (void)("stream_synchronize",`, "no waiting"},
	{"streams_order.h", "if (mode != UINT_MAX) (void)", "if (0) (void)", "for peers"},
	{"streams_order.h", "unsigned int mode = DRIVER_capture_relaxed;", "unsigned int mode = 0;",
		"in the mode that others' captures permit"},
	{"device_stream.h", "if (failed)", "if (0)", "current"},
	{"device_stream.h", "(size_t)device.device_id < source->count", "1", "current"},
	{"streams_memory.h", `code = streams_check_no_capture("allocate",`, `code = ((void)"allocate", 0); (void)(`,
		"no allocation"},
	{"streams_memory.h", `int pushed, code = streams_check("allocate", &first, error);`, "int pushed, code = 0;",
		"on a stream of another device"},
	{"streams_memory.h", "if (r->device.device_id == 0)", "if (1)", "nowhere"},
	{"streams_memory.h", "if (type < 0 || (type != BACKEND_device && type != BACKEND_host && type != BACKEND_managed))",
		"if (0)", "nowhere"},
	{"streams_memory.h", "if (!dlpackgen_device_id_is_zero(type))", "if (0)", "nowhere"},
	{"streams_memory.h", "peer == ordinal || ", "", "for peers"},
	{"streams_memory.h", "if (!can)\n", "if (0)\n", "managed memory that the device has not"},
	{"streams_memory.h", "if (!streams_has_pools(ordinal) || ", "if (", "for peers without pools"},
	{"streams_memory.h", "while (device < streams.count && !streams_active(device)) device++;", "",
		"pinned and managed memory where somebody is at work"},
	{"streams_memory.h", "if (!streams_special(stream)) return", "if (0) return", "pinned memory where its stream is"},
	{"streams_memory.h", "if (bytes) code =", "code =", "empty"},
	{"streams_memory.h", "free(block);\n", "", "without memory"},
	{"streams_release.h", "if (code == DLPACKGEN_BACKEND_CAPTURING)", "if (0)", "a deleter meanwhile frees later"},
	{"streams_release.h", "\tif (streams_caller) streams_retry();\n", "", "a deleter meanwhile frees later"},
	{"streams_release.h", "if (!named && block->kind != STREAMS_PLAIN)", "if (0)", "on a stream"},
	{"streams_release.h", "if (!named && block->kind != STREAMS_PLAIN)",
		"if (!named && block->kind == STREAMS_POOL)", "pinned memory waits for its stream"},
	{"streams_pointer.h", "if (!a->mapped && !a->context)", "if (!a->mapped)", "where another device must be current"},
	{"streams_release.h", "named |= atomic_load(&keep->recorded) && ", "named |= ", "without a record"},
	{"streams_release.h", "named |= ", "named = 0 & ", "waits for the stream that is named"},
	{"streams_release.h", "return code == DLPACKGEN_BACKEND_SHUTTING_DOWN ? DLPACKGEN_BACKEND_OK : code;",
		"return code;", "when the driver has ended"},
	{"streams_release.h", "return code == DLPACKGEN_BACKEND_SHUTTING_DOWN ? DLPACKGEN_BACKEND_OK : code;",
		"return 0;", "when the device is lost"},
	{"streams_release.h", "result = streams.driver.stream_synchronize(own);", "result = 0;", "also pinned memory"},
	{"device_allocation.h", "if (tensor && tensor->deleter == deleter)", "if (tensor)",
		"not what is empty, or another's"},
	{"streams_release.h", "if (code || block->kind == STREAMS_EMPTY)", "if (code)", "not what is empty, or another's"},
	{"streams_release.h", "int code = streams_check_no_capture(\"deallocate\", first,",
		"int code = 0; (void)(\"deallocate\", first,", "of the request's stream, not joined by a deleter"},
	{"streams_release.h", `streams_check_no_capture("keep_until",`, `0; (void)("keep_until",`, "no keeping"},
	{"streams_release.h", "if (keep->stream == stream && keep->ordinal == ordinal && keep->resets == resets) break;",
		";", "waits for the stream that is named"},
	{"device_side.h", "if ((declared == found || pinned) && !other)", "if (!other)", "of what was freed"},
	{"device_side.h", "if ((declared == found || pinned) && !other)", "if (declared == found || pinned)",
		"of another device than is said"},
	{"device_side.h", "return size && ", "return 0 && ", "beyond the end"},
	{"streams_copy.h", "!streams_goes_on(side->start + bytes - 1, &info))", "1)", "mapped of two allocations"},
	{"streams_copy.h", "there.device.device_type == info->device.device_type && there.ordinal == info->ordinal;",
		"1;", "beyond the end"},
	{"device_allocation.h", "if (*count && (!dlpackgen_is_contiguous(to) || !dlpackgen_is_contiguous(from)))",
		"if (0)", "of other elements"},
	{"device_allocation.h", "to->dtype.bits != from->dtype.bits ||", "", "of other elements"},
	{"streams_copy.h", "const int waits = to->pageable || from->pageable;", "const int waits = 0;",
		"from the host and back, waited for"},
	{"streams_copy.h", "const int waits = to->pageable || from->pageable;", "const int waits = 1;", "pinned, queued"},
	{"streams_copy.h", `code = streams_check_no_capture("copy",`, `code = ((void)"copy", 0); (void)(`,
		"no copy of memory that is not pinned"},
	{"streams_copy.h", "to->ordinal != from->ordinal", "0", "between devices"},
	{"streams_copy.h", "target.pageable && source.pageable", "0", "of the host alone"},
	{"streams_copy.h", "if (code || !bytes)", "if (code)", "nothing"},
	{"device_tensor.h", "dlpackgen_element_bits(dtype, 0)", "(uint64_t)dtype.bits * dtype.lanes", "of twelve bits"},
	{"device_tensor.h", "return rule == DLPACKGEN_OK ?",
		"return rule == DLPACKGEN_OK || rule == DLPACKGEN_ERROR_EXTENT ?", "too large"},
	{"device_tensor.h", "if (!dlpackgen_bytes_of_(count, width, &total) ||",
		"dlpackgen_bytes_of_(count, width, &total);\n  if (0 &&", "too large"},
}

// found returns a scenario by its name.
func found(t *testing.T, name string) scenario {
	t.Helper()
	for _, group := range groups {
		for _, s := range group {
			if s.name == name {
				return s
			}
		}
	}
	require.Fail(t, "no scenario "+name)
	return scenario{}
}

// mutated returns a copy of the backend with one change.
func mutated(t *testing.T, file, old, fresh string) string {
	t.Helper()
	return testkit.Mutated(t, cudaParts(t), file, old, fresh)
}

// trying builds a backend with mutants, without optimization, and returns a function that runs
// steps with the mutant of an index: their output, or nil for a crash.
func (b backEnd) trying(t *testing.T, source string, all []mutation.Mutant) func(t *testing.T, i int, driver string,
	words ...string) []string {
	t.Helper()
	gcc := testtool.Require(t, "gcc", "gcc")
	object := filepath.Join(testkit.Built(t, "plain"+b.name, func(dir string) {
		testkit.Run(t, gcc, append([]string{"-std=gnu11", "-w", "-g", "-c", "-I", source, "-o", filepath.Join(dir,
			"client.o"), "testdata/client.c"}, b.macros()...)...)
	}), "client.o")
	programOf := mutation.Programs(t, source, all, func(dir string, flags ...string) string {
		program := filepath.Join(dir, "client")
		args := append([]string{"-std=gnu11", "-w", "-g", "-fsanitize=address", "-I", dir, "-o", program, object,
			"-ldl"}, flags...)
		testkit.Run(t, gcc, append(args, b.sources(t, dir)...)...)
		return program
	})
	return func(t *testing.T, i int, driver string, words ...string) []string {
		t.Helper()
		program, env := programOf(t, i)
		return testkit.Tried(append(os.Environ(), "LD_LIBRARY_PATH="+driver, env), program, words...)
	}
}

// mutations are the mistakes of mutants.
func mutations(all []mutant) (made []mutation.Mutant) {
	for _, m := range all {
		made = append(made, mutation.Mutant{File: m.file, Old: m.old, New: m.fresh})
	}
	return made
}

func TestEachGuardIsMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the backend for each guard")
	}
	tried := cudaEnd.trying(t, cudaParts(t), mutations(mutants))
	for i, m := range mutants {
		t.Run(m.file+" "+m.scenario, func(t *testing.T) {
			s := found(t, m.scenario)
			out := tried(t, i, standin(t), append([]string{"probe", "log"}, s.steps...)...)
			if len(out) > 1 {
				out = out[2:]
			}
			assert.False(t, s.fits(out), "%s -> %s is not detected: %q", m.old, m.fresh, out)
		})
	}
}

// The guards of the start are visible with other drivers.
func TestEachGuardOfTheStartIsMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the backend for each guard")
	}
	guards := []struct {
		file, old, fresh string
		macros           []string
		steps            []string
		want             string // in the output of the unchanged backend
	}{
		{"streams_load.h", "if (streams.version < DRIVER_OLDEST)", "if (0)", []string{"-DDRIVER=10020"},
			[]string{"probe"}, "probe 3 0"},
		{"device_start.h", "if (!found && !f->optional)", "if (0)", []string{`-DMISSING="cuStreamGetCtx"`},
			[]string{"probe"}, "probe 3 0"},
		{"device_start.h", "if (!found && !f->optional)", "if (!found)", []string{"-DDRIVER=11000"},
			[]string{"probe"}, "probe ok 11000 3"},
		{"streams_load.h",
			"if (result) return streams_fail(error, result, \"the driver does not report its version\");", "",
			[]string{"-DSTUB"}, []string{"probe"}, "probe 2 34"},
		{"streams_load.h", "if (streams.count < 1)", "if (0)", nil, []string{"preload", "devices:-1", "probe"},
			"probe 4 0 cuda: the driver of version 13000 has no device"},
		{"streams_current.h", "if (streams.driver.primary_state(ordinal, &flags, &active) || !active) return 0;",
			"(void)flags, (void)active;", []string{"-DDRIVER=11080"},
			[]string{"probe", "alloc:2:1:4", "log", "reset:1:0", "alloc:2:1:4", "log"},
			"\nlog cuDevicePrimaryCtxGetState(1) "},
		{"device_start.h", "if (!code) device_at_fork(device_child);", "", nil, []string{"probe", "fork", "count"},
			"count 6 0"},
		{"device_error.h", "if (error) *error = *first;", "", []string{"-DSTUB"}, []string{"probe"}, "probe 2 34 cuda"},
		{"streams_release.h", "|| !device_is_ready()", "", nil,
			[]string{"probe", "alloc:2:0:1", "log", "fork", "delete:0", "log"}, "log \n"},
		{"device_library.h", "RTLD_NOW | RTLD_LOCAL", "RTLD_NOW | RTLD_GLOBAL", nil, []string{"probe", "mapped"},
			"mapped 1 global 0"},
		{"device_driver.h", `{"cuMemAlloc", "cuMemAlloc_v2", 3020`, `{"cuMemAlloc", "cuMemAlloc_v2", 2000`,
			[]string{"-DDRIVER=11000"}, []string{"probe", "alloc:2:0:1"}, "alloc ok"},
		{"device_driver.h", `{"cuCtxPushCurrent", "cuCtxPushCurrent_v2",`,
			`{"cuCtxPushCurrent", "cuCtxPushCurrent",`, []string{"-DLOOKUP=0"}, []string{"probe"}, "probe ok"},
		{"device_driver.h", `DRIVER_LOOKUP_FLAGS = 1`, `DRIVER_LOOKUP_FLAGS = 2`, nil, []string{"probe"}, "probe ok"},
	}
	var all []mutation.Mutant
	for _, c := range guards {
		all = append(all, mutation.Mutant{File: c.file, Old: c.old, New: c.fresh})
	}
	tried := cudaEnd.trying(t, cudaParts(t), all)
	for i, c := range guards {
		t.Run(c.old, func(t *testing.T) {
			sound := strings.Join(steps(t, client(t, cuda(t), testkit.Sanitized...), standin(t, c.macros...),
				c.steps...), "\n") + "\n"
			require.Contains(t, sound, c.want)
			out := strings.Join(tried(t, i, standin(t, c.macros...), c.steps...), "\n") + "\n"
			assert.NotContains(t, out, c.want)
		})
	}
}

// Without the lock of a tensor's list, ThreadSanitizer reports a race.
func TestARaceIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("runs threads under ThreadSanitizer")
	}
	testtool.Require(t, "setarch", "util-linux")
	out, err := cudaEnd.threaded(t,
		mutated(t, "streams_release.h",
			"while (atomic_flag_test_and_set_explicit(&block->busy, memory_order_acquire)) continue;", ""),
		"testdata/standin.c")
	require.Error(t, err)
	assert.Regexp(t, `data race .*in streams_`, out)
	source := testkit.Mutated(t, acmeParts(t), "vendor_memory.h",
		"while (atomic_flag_test_and_set_explicit(&block->busy, memory_order_acquire)) continue;", "")
	out, err = acmeEnd.threaded(t, source, "testdata/acme.c", "-DDEVICES=2", "-DOTHER=0")
	require.Error(t, err)
	assert.Regexp(t, `data race .*in vendor_`, out)
}
