package oneapi

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// mutants are backends with one change, which a scenario must detect.
var mutants = []struct{ file, old, fresh, scenario string }{
	{"usm_pointer.h", "if (all_kinds || memory->kind == USM_DEVICE", "if (1 || memory->kind == USM_DEVICE", "shared"},
	{"usm_pointer.h", "if (all_kinds || memory->kind == USM_DEVICE", "if (memory->kind == USM_DEVICE",
		"the host's, pinned"},
	{"usm_pointer.h", "if (!code) code = device_check_pointer(pointer, info, error);", "", "null"},
	{"usm_pointer.h", "if (memory->kind == USM_UNKNOWN)\n", "if (0)\n", "freed, or of another context"},
	{"usm_pointer.h", "if (memory->ordinal < 0 || memory->id == declared.device_id)", "if (1)",
		"of another device than it says"},
	{"usm_pointer.h", "if (memory->ordinal < 0 || memory->id == declared.device_id)",
		"if (memory->id == declared.device_id)", "of every kind"},
	{"usm_pointer.h", "int code = usm_check_id(what, t->device.device_id, error);", "int code = 0;",
		"of another device than it says"},
	{"usm_pointer.h", " || (flags & ~(uint32_t)DLPACKGEN_USM_ALL_KINDS)", "", "of unknown flags"},
	{"usm_pointer.h", "flags == DLPACKGEN_USM_ALL_KINDS", "0", "of every kind"},
	{"usm_pointer.h", "flags == DLPACKGEN_USM_ALL_KINDS", "1", "of every kind"},
	{"usm_pointer.h", "if (count && !tensor->data)", "if (0)", "without elements"},
	{"usm_pointer.h", "(int)tensor->device.device_type != BACKEND_device", "0", "of another type"},
	{"usm_pointer.h", ": usm_check_id(\"check_tensor\", tensor->device.device_id, error);", ": 0;", "without elements"},
	{"usm_stream.h", "*number < USM_LOWEST_HANDLE || ", "", "rejected"},
	{"usm_stream.h", "if ((uintptr_t)stream->handle < USM_LOWEST_HANDLE)", "if (0)", "rejected"},
	{"usm_stream.h", "return code ? code : usm_check_id(what, device.device_id, error);",
		"return (void)code, usm_check_id(what, device.device_id, error);", "of what device"},
	{"usm_stream.h", "if (!code) code = device_current(source, device, &handle, error);",
		"if (!code) (void)device_current(source, device, &handle, error);", "current"},
	{"device_stream.h", "(size_t)device.device_id < source->count", "1", "current"},
	{"usm_stream.h", "return code ? code : device_check_ordered(what, stream, error);", "return code;", "finished"},
	{"device_allocation.h", "if (*count && (!to->data || !from->data))", "if (0)", "of no memory"},
	{"usm_copy.h", "else if (t->device.device_type != kDLCPU)", "else if (0)", "of the host alone, or of another type"},
	{"usm_copy.h", "if (t->device.device_type == kDLCPU && m->kind == USM_DEVICE)", "if (0)",
		"of another device than is said"},
	{"usm_copy.h", "if (device_ends(side->start, bytes, m->base, m->size))", "if (0)", "beyond the end"},
	{"usm_copy.h", "if (to->device.device_type == kDLCPU && from->device.device_type == kDLCPU)", "if (0)",
		"of the host alone, or of another type"},
	{"usm_copy.h", "bytes, stream, waits, error);\n}", "bytes, stream, waits & 0, error);\n}",
		"from the host and back, waited for"},
	{"usm_copy.h", "bytes, stream, waits, error);\n}", "bytes, stream, waits | 1, error);\n}",
		"of pinned memory, queued"},
	{"usm_copy.h", "if (code || !bytes)", "if (code)", "nothing"},
	{"levelzero_load.h", "code = levelzero_know(parts[i], root, error);", "(void)root;",
		"of a tile, which is its card's"},
	{"levelzero_pointer.h", "if (code || levelzero_root_of(id) >= 0)", "if (1)", "nowhere"},
	{"levelzero_pointer.h", "const int there = ordinal >= 0 && ", "const int there = ", "once"},
	{"levelzero_pointer.h", "if (root < 0 || row->id < 0)", "if (row->id < 0)", "of what is none"},
	{"levelzero_pointer.h", "if (root < 0 || row->id < 0)", "if (root < 0)", "of what is none"},
	{"levelzero_pointer.h", "if (again && ", "if (0 && ", "once"},
	{"levelzero_pointer.h", "if (!code && !ids != !count)", "if (0)", "of no device"},
	{"levelzero_pointer.h", "if (!code && !ids != !count)", "if (!code && !ids && count)", "of no device"},
	{"levelzero_pointer.h", "if (!code && !ids != !count)", "if (!code && ids && !count)", "of no device"},
	{"levelzero_pointer.h", "if (found.kind == DRIVER_memory_unknown) continue;",
		"if (found.kind == DRIVER_memory_unknown) break;", "of another driver"},
	{"levelzero_pointer.h", "owner ? memory->ordinal : first", "owner ? memory->ordinal : 0", "the host's, pinned"},
	{"levelzero_pointer.h", "found.kind != DRIVER_memory_device ||", "", "shared"},
	{"levelzero_order.h", "if (!immediate)", "if (0)", "a list that is recorded"},
	{"levelzero_order.h", "if (root != wanted)", "if (0)", "a stream of another device"},
	{"levelzero_order.h", "if (context != levelzero_platform_of(root)->context)", "if (0)",
		"a stream of another context"},
	{"levelzero_order.h",
		"if (code || consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC)",
		"if (code)", "unordered"},
	{"levelzero_order.h", "if (waits.list == works.list)", "if (0)", "one stream"},
	{"levelzero_order.h", "waits.in_order ? 0 : ", "1 ? 0 : ", "one stream"},
	{"levelzero_order.h", "if (levelzero_platform_of(waits.root) != levelzero_platform_of(works.root))", "if (0)",
		"of two drivers"},
	{"levelzero_order.h", "if (levelzero.driver.event_status(slot->waited))", "if (0)", "and not before"},
	{"levelzero_order.h", "if (levelzero.driver.event_status(slot->waited))", "if (1)",
		"events serve again when both are done"},
	{"levelzero_order.h", "(void)levelzero.driver.event_reset(slot->event);", "",
		"events serve again when both are done"},
	{"levelzero_order.h", "(void)levelzero.driver.event_reset(slot->waited);", "",
		"events serve again when both are done"},
	{"levelzero_order.h", "levelzero_put(platform, slot, 0);", "", "that fails at the producer's barrier"},
	{"levelzero_order.h", "levelzero_barrier(waits, slot->waited, slot->event)",
		"levelzero_barrier(waits, slot->waited, NULL)", "two barriers and an event"},
	{"levelzero_order.h", "levelzero_unmake(slots, pool);", "", "that fails at an event"},
	{"levelzero_order.h", "free(slots);\nreturn levelzero_fail", "return levelzero_fail", "that fails at the pool"},
	{"levelzero_order.h", "DRIVER_scope_host, DRIVER_scope_device}", "0, 0}", "two barriers and an event"},
	{"levelzero_order.h", "0, 0, DRIVER_queue_in_order,", "0, 0, 0,", "finished"},
	{"levelzero_memory.h", "DRIVER_free_blocking}", "0}", "of a device"},
	{"levelzero_memory.h", "if (data && device_is_ready())", "if (device_is_ready())", "empty"},
	{"levelzero_memory.h", "result = levelzero_await_work(block);", "", "waits for the streams that are named"},
	{"levelzero_memory.h", "if (!result) result = levelzero.driver.memory_free",
		"result = levelzero.driver.memory_free", "when the work on it failed"},
	{"device_allocation.h", "if (tensor && tensor->deleter == deleter)", "if (tensor)", "freed by a call"},
	{"levelzero_memory.h", "if (code || !tensor->dl_tensor.data)", "if (code)", "empty"},
	{"levelzero_memory.h", "while (*at && (*at)->list != fresh->list)", "while (*at)", "the latest of each"},
	{"levelzero_memory.h", "\t\tfree(fresh);\n\t\treturn code;", "\t\treturn code;", "without events"},
	{"levelzero_memory.h", "if (result) old = fresh;", "if (result) free(fresh);", "without a barrier"},
	{"levelzero_memory.h", "return usm_check_stream(\"allocate\", &first, error);",
		"return usm_check_id(\"alloc\", r->device.device_id, error);", "on a stream of another device"},
	{"levelzero_memory.h", "if ((int)r->device.device_type != BACKEND_device)", "if (0)", "nowhere"},
	{"levelzero_memory.h", "if (!bytes) return", "if (0) return", "empty"},
	{"levelzero_memory.h", "if (code) free(block);\n\telse *tensor", "if (!code) *tensor", "without memory"},
	{"levelzero_copy.h", "stream->in_order ? 0 : levelzero_barrier(stream, NULL, NULL);\n\tif", "0;\n\tif",
		"on a list without order"},
	{"levelzero_copy.h", "return result || stream->in_order ? result : levelzero_barrier(stream, NULL, NULL);",
		"return result;", "on a list without order"},
	{"levelzero_copy.h", "if (!result && waits)", "if (0)", "whose end fails"},
	{"levelzero_copy.h", "if (levelzero_platform_of(memory->ordinal) != levelzero_platform_of(root)) return 0;",
		"return 1;", "between others, through the host"},
	{"levelzero_copy.h", "return !levelzero.driver.device_peer", "return 0 && !levelzero.driver.device_peer",
		"between devices that reach each other"},
	{"levelzero_copy.h", "if (!code) code = levelzero_finish_copy(0, stream, bytes, 1, error);", "",
		"between others, through the host"},
	{"levelzero_copy.h", "\tfree(buffer);\n", "", "between others, through the host"},
}

// found returns a scenario by its name.
func found(t *testing.T, name string) scenario {
	t.Helper()
	var out []scenario
	for _, group := range groups {
		for _, s := range group {
			if s.name == name {
				out = append(out, s)
			}
		}
	}
	require.Len(t, out, 1, "scenarios called "+name)
	return out[0]
}

// mutated returns a copy of the backend with one change.
func mutated(t *testing.T, file, old, fresh string) string {
	t.Helper()
	return testkit.Mutated(t, parts(t), file, old, fresh)
}

// trying builds the backend with mutants, without optimization, and returns a function that runs
// steps with the mutant of an index: their output, or nil for a crash.
func trying(t *testing.T, all []mutation.Mutant) func(t *testing.T, i int, driver string, words ...string) []string {
	t.Helper()
	gcc := testtool.Require(t, "gcc", "gcc")
	plain := testkit.Built(t, "plain", func(dir string) {
		for _, name := range []string{"client", "made_levelzero"} {
			testkit.Run(t, gcc, "-std=gnu11", "-w", "-g", "-c", "-I", parts(t), "-o", filepath.Join(dir, name+".o"),
				"testdata/"+name+".c")
		}
	})
	programOf := mutation.Programs(t, parts(t), all, func(dir string, flags ...string) string {
		program := filepath.Join(dir, "client")
		args := append([]string{"-std=gnu11", "-w", "-g", "-fsanitize=address", "-I", dir, "-o", program}, flags...)
		testkit.Run(t, gcc, append(args, filepath.Join(plain, "client.o"), filepath.Join(plain, "made_levelzero.o"),
			filepath.Join(dir, "dlpackgen_oneapi.c"), "-ldl", "-lpthread")...)
		return program
	})
	return func(t *testing.T, i int, driver string, words ...string) []string {
		t.Helper()
		program, env := programOf(t, i)
		return testkit.Tried(environ("LD_LIBRARY_PATH="+driver, env), program, words...)
	}
}

func TestEachGuardIsMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the backend for each guard")
	}
	var all []mutation.Mutant
	for _, m := range mutants {
		all = append(all, mutation.Mutant{File: m.file, Old: m.old, New: m.fresh})
	}
	tried := trying(t, all)
	for i, m := range mutants {
		t.Run(m.file+" "+m.scenario, func(t *testing.T) {
			s := found(t, m.scenario)
			out := tried(t, i, standin(t), append([]string{"probe", "ids", "log"}, s.steps...)...)
			if len(out) > 2 && out[0] == "probe ok 65551 3" {
				out = out[3:]
			}
			assert.False(t, s.fits(out), "%s -> %s is not detected: %q", m.old, m.fresh, out)
		})
	}
}

// The guards of the start and the end are visible with other drivers and steps.
func TestEachGuardOfTheStartIsMissed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the backend for each guard")
	}
	guards := []struct {
		file, old, fresh string
		macros, steps    []string
		want             string // in the output of the unchanged backend
	}{
		{"levelzero_load.h", "if (*version < DRIVER_OLDEST)", "if (0)", []string{"-DVERSION=65545"},
			[]string{"probe"}, "probe 3 0"},
		{"device_start.h", "if (!found && !f->optional)", "if (0)",
			[]string{"-DzeDriverGetDefaultContext=zeOther"}, []string{"probe"},
			"probe 3 0 oneapi: the loader lacks"},
		{"levelzero_load.h", "if (*context) return", "return", []string{"-DNOCONTEXT"}, []string{"probe"}, "probe 5 0"},
		{"levelzero_load.h", "if (!result && properties.kind != DRIVER_type_gpu)", "if (0)", []string{"-DOLD=0"},
			[]string{"probe"}, "probe ok 65551 1"},
		{"levelzero_load.h", "if (levelzero.root_count) return", "if (1) return", []string{"-DNOGPU"},
			[]string{"probe"}, "probe 4 0"},
		{"levelzero_load.h", "if (levelzero.root_count) return", "if (levelzero.root_count && !first) return",
			[]string{"-DBROKEN=1"}, []string{"probe"}, "probe ok 65551 2"},
		{"levelzero_load.h", "if (!first) first = code;", "first = code;", []string{"-DBROKEN=0", "-DOLD=1"},
			[]string{"probe"}, "probe 22 1879048193"},
		{"levelzero_load.h", "if (code) levelzero.root_count = roots, levelzero.known_count = known;", "",
			[]string{"-DOLD=0"}, []string{"probe"}, "probe ok 65551 1"},
		{"levelzero_pointer.h", "if (device == id) continue;", "continue;", nil, []string{"ids:0:4:4"}, "ids 7 0"},
		{"levelzero_pointer.h", "if (device == id) continue;", "if (!device) continue;", nil, []string{"ids:0:4:4"},
			"ids 7 0"},
		{"levelzero_pointer.h", "if (device == id) continue;", "if (!id) continue;", nil, []string{"ids:0:@1:5"},
			"ids 7 0"},
		{"levelzero_pointer.h", "if (device == id) continue;", "", nil, []string{"ids:0:@0:5"}, "ids ok"},
		{"levelzero_pointer.h", "levelzero.roots[i].listed", "(int32_t)i", []string{"-DOLD=0"},
			[]string{"probe", "ids", "id:0"}, "id ok 2"},
		{"levelzero_load.h", "first ? &unread : error", "error", []string{"-DOLD=0", "-DBROKEN=1"},
			[]string{"probe"}, "probe 3 0 oneapi: the driver supports"},
		{"device_error.h", "if (error) *error = *first;", "", []string{"-DNOGPU"}, []string{"probe"},
			"probe 4 0 oneapi"},
		{"levelzero_load.h", "const int32_t listed = levelzero.listed++;\n\tif (result) return",
			"const int32_t listed = levelzero.listed;\n\tlevelzero.listed += !result;\n\tif (result) return",
			[]string{"-DLOST=0"}, []string{"probe", "ids", "id:1"}, "id ok 2"},
		{"levelzero_load.h", "for (uint32_t i = 0; i < count; i++) {\n\t\tconst int code = levelzero_add_root",
			"for (uint32_t i = 0; !failed && i < count; i++) {\n\t\tconst int code = levelzero_add_root",
			[]string{"-DLOST=0"}, []string{"probe"}, "probe ok 65551 2"},
		{"levelzero_load.h", "if (levelzero.root_count == first) return code;", "if (code) return code;",
			[]string{"-DLOST=0"}, []string{"probe"}, "probe ok 65551 2"},
		{"levelzero_load.h", "if (result) return levelzero_fail(error, result, \"the version of a driver\");", "",
			[]string{"-DMUTE=0", "-DLOST=2"}, []string{"probe"}, "probe 22"},
		{"levelzero_load.h", "if (levelzero.root_count == first) return code;", "", []string{"-DNOGPU"},
			[]string{"probe"}, "probe 4 0"},
		{"device_start.h", "if (!code) device_at_fork(device_child);", "", nil, []string{"probe", "fork", "count"},
			"count 6 0"},
		{"levelzero_load.h", "(void)atexit(levelzero_end);", "", nil, []string{"ids", "alloc:0:4", "atexit"},
			"alloc ok"},
		{"levelzero_memory.h", " && device_is_ready()", "", nil,
			[]string{"ids", "alloc:0:1", "log", "fork", "delete:0", "log"}, "log \n"},
		{"levelzero_pointer.h", "if (atomic_load_explicit(&levelzero.numbered, memory_order_acquire)) return",
			"if (1) return", nil, []string{"probe", "alloc:0:4"}, "alloc 25 0"},
		{"levelzero_pointer.h", "return id < 0 ? -1 : root;", "return root;", nil,
			[]string{"ids:4:-:2", "alloc:-1:4"}, "alloc 9 0"},
		{"levelzero_pointer.h", "return id >= 0;", "return 1;", nil,
			[]string{"probe", "make:device:0", "info:p0", "drop:0:0"}, "info 25 0"},
		{"levelzero_pointer.h", "!device_is_ready() || !info ||", "!device_is_ready() ||", nil,
			[]string{"ids", "alloc:0:4", "infonull:0", "delete:0"}, "infonull 7 0"},
		{"levelzero_pointer.h", "if (!device_is_ready() ||", "if (atomic_load(&device_state.phase) == DEVICE_NEW ||",
			nil, []string{"ids", "alloc:0:4", "fork", "info:t0", "delete:0"}, "info 6 0"},
		{"device_library.h", "RTLD_NOW | RTLD_LOCAL", "RTLD_NOW | RTLD_GLOBAL", nil, []string{"probe", "mapped"},
			"mapped 1 global 0"},
	}
	var all []mutation.Mutant
	for _, c := range guards {
		all = append(all, mutation.Mutant{File: c.file, Old: c.old, New: c.fresh})
	}
	tried := trying(t, all)
	for i, c := range guards {
		t.Run(c.old, func(t *testing.T) {
			sound := strings.Join(on(t, standin(t, c.macros...), c.steps...), "\n") + "\n"
			require.Contains(t, sound, c.want)
			out := strings.Join(tried(t, i, standin(t, c.macros...), c.steps...), "\n") + "\n"
			assert.NotContains(t, out, c.want)
		})
	}
}

// Without the lock of the events, ThreadSanitizer reports a race.
func TestARaceIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("runs threads under ThreadSanitizer")
	}
	out, err := threaded(t, mutated(t, "levelzero_load.h",
		"while (atomic_flag_test_and_set_explicit(busy, memory_order_acquire)) continue;", "(void)busy;"))
	require.Error(t, err)
	assert.Regexp(t, `data race .*in (levelzero|usm)_`, strings.Join(strings.Fields(out), " "))
}
