package devices

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
)

// linkedBackend gives the library with the back end, which scripts load by ctypes.
func linkedBackend(t testing.TB) string {
	t.Helper()
	dir := testkit.Built(t, "backend", func(dir string) {
		testkit.Run(t, testtool.Require(t, "gcc", "gcc"), "-std=gnu11", "-O1", "-shared", "-fPIC", "-o",
			filepath.Join(dir, "libdlpackgen_cuda.so"),
			filepath.Join(cuda(t), "dlpackgen_cuda.c"), "-ldl")
	})
	return filepath.Join(dir, "libdlpackgen_cuda.so")
}

// extensions builds the modules of tests/python of the headers in a folder.
func extensions(t testing.TB, headers, dir string) {
	t.Helper()
	python, gcc := testtool.RequirePython(t), testtool.Require(t, "gcc", "gcc")
	out, err := exec.Command(python, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])").Output()
	require.NoError(t, err)
	include := strings.TrimSpace(string(out))
	if _, missing := os.Stat(filepath.Join(include, "Python.h")); missing != nil {
		t.Skip("needs Python.h: apt-get install python3-dev")
	}
	for _, name := range []string{"checked", "stranger"} {
		testkit.Run(t, gcc, "-std=c11", "-O0", "-w", "-shared", "-fPIC", "-fvisibility=hidden",
			"-DPy_LIMITED_API=0x030B0000", "-I", headers, "-isystem", include,
			"-o", filepath.Join(dir, name+".abi3.so"), filepath.Join(golden.Root(t), "tests/python/module", name+".c"))
	}
}

// withPython runs tests of with_python.py, or all, over the stand-in.
func withPython(t testing.TB, modules string, names ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("timeout", append([]string{"600", testtool.RequirePython(t), "with_python.py"}, names...)...)
	cmd.Env = append(os.Environ(), "MODULES="+modules, "BACKEND="+linkedBackend(t), "LD_LIBRARY_PATH="+standin(t),
		"PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A module for Python uses the table: for whose memory it is, for the order of streams
// and for results.
func TestAModuleForPythonUsesTheTable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds modules")
	}
	dir := t.TempDir()
	extensions(t, filepath.Join(golden.Root(t), "gen/c"), dir)
	out, err := withPython(t, dir)
	require.NoError(t, err, out)
	source, err := os.ReadFile("with_python.py")
	require.NoError(t, err)
	assert.Len(t, regexp.MustCompile(`(?m)^ok test_`).FindAllString(out, -1),
		strings.Count(string(source), "\ndef test_"), out)
}

// withVendor runs tests of with_vendor.py, or all, over the driver of a vendor.
func withVendor(t testing.TB, modules string, names ...string) (string, error) {
	t.Helper()
	dir := testkit.Built(t, "vendorsbackend", func(dir string) {
		args := []string{"-std=gnu11", "-O1", "-shared", "-fPIC", "-o", filepath.Join(dir, "libdlpackgen_acme.so")}
		testkit.Run(t, testtool.Require(t, "gcc", "gcc"), append(append(args, acmeEnd.sources(t, acme(t))...), "-ldl")...)
	})
	cmd := exec.Command("timeout", append([]string{"600", testtool.RequirePython(t), "with_vendor.py"}, names...)...)
	cmd.Env = append(os.Environ(), "MODULES="+modules, "BACKEND="+filepath.Join(dir, "libdlpackgen_acme.so"),
		"LD_LIBRARY_PATH="+acmeDriver(t), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A module whose headers know nothing of a vendor's streams reads their numbers by the
// backend that it uses.
func TestAModuleForPythonUsesAVendorsTable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds modules")
	}
	dir := t.TempDir()
	extensions(t, filepath.Join(golden.Root(t), "gen/c"), dir)
	out, err := withVendor(t, dir)
	require.NoError(t, err, out)
	source, err := os.ReadFile("with_vendor.py")
	require.NoError(t, err)
	assert.Len(t, regexp.MustCompile(`(?m)^ok test_`).FindAllString(out, -1),
		strings.Count(string(source), "\ndef test_"), out)
	for _, m := range []struct{ file, old, fresh, script string }{
		{"place.h", "(!call->stream || !dlpackgen_streams_at(call->private_.state, a->private_.declared))", "1",
			"test_producers_are_asked_with_the_stream"},
		{"place.h", "if (found) return dlpackgen_use_number_by(call, i, device, found->table);", "",
			"test_numbers_of_streams"},
		{"object.h", "if (streams == dlpackgen_streams_none && table) {", "if (0) {", "test_given_tensors"},
		{"object.h",
			"if (table->stream_from_dlpack(device, &asked, &known, &error) == DLPACKGEN_BACKEND_OK) return 1;",
			"return 1;", "test_given_tensors"},
	} {
		wrong, modules := testkit.Mutated(t, testkit.Parts(t), "dlpackgen_python/"+m.file, m.old, m.fresh), t.TempDir()
		extensions(t, wrong, modules)
		out, err := withVendor(t, modules, m.script)
		assert.Error(t, err, "%s\n%s", m.old, out)
		assert.NotContains(t, out, "has no attribute 'test_", "a test of another name")
	}
}

var moduleMutants = []struct{ file, old, fresh, script string }{
	{"backend.h", "if (dlpackgen_same_device(info->device, device)) return 0;", "return 0;", "test_whose_memory_it_is"},
	{"backend.h", "return dlpack_device_owner((int32_t)device.device_type);", "return (int32_t)device.device_type;",
		"test_whose_memory_it_is"},
	{"backend.h",
		"if (table->pointer_attributes(address, info, &error)) return dlpackgen_backend_fault(call, i, &error);",
		"if (table->pointer_attributes(address, info, &error)) return 0;", "test_whose_memory_it_is"},
	{"backend.h", "case DLPACKGEN_BACKEND_NOT_MAPPED:", "", "test_whose_memory_it_is"},
	{"backend.h", "+ tensor->byte_offset + low;", "+ low;", "test_where_elements_reach"},
	{"backend.h", "+ tensor->byte_offset + low;", "+ tensor->byte_offset;", "test_where_elements_reach"},
	{"backend.h", "last < (const char *)info.base + info.bytes) return 0;", "1) return 0;", "test_where_elements_reach"},
	{"backend.h", "return dlpackgen_check_address(call, i, table, last, &end);",
		"return dlpackgen_argument_error(call, i, PyExc_BufferError, \"x\");", "test_where_elements_reach"},
	{"backend.h", "!= DLPACKGEN_OK || low == high) continue;", "!= DLPACKGEN_OK) continue;",
		"test_nothing_is_loaded_before_it_is_asked"},
	{"backend.h",
		"if (found->table->stream_wait(&ours, &theirs, &error)) return dlpackgen_backend_fault(call, i, &error);",
		"", "test_libraries_are_waited_for"},
	{"backend.h", "if (found->table->stream_wait(&ours, &theirs, &error)) return",
		"if (found->table->stream_wait(&ours, &theirs, &error)) return 0 *", "test_order_that_is_refused"},
	{"backend.h", "call->private_.owns |= DLPACKGEN_OWES_ORDER;", "", "test_libraries_are_waited_for"},
	{"backend.h", "if (found->table->stream_wait(&theirs, &ours, &error) == DLPACKGEN_BACKEND_OK) continue;",
		"found->table->stream_wait(&theirs, &ours, &error); continue;", "test_order_that_fails_at_the_end"},
	{"backend.h", "if (!found || !found->source) return 0;", "if (!found) return 0;", "test_the_stream_of_the_program"},
	{"backend.h", "return dlpackgen_family(device) == (int32_t)device.device_type ? ", "return 1 ? ",
		"test_results_without_memory"},
	{"backend.h", "case DLPACKGEN_BACKEND_OUT_OF_MEMORY: return PyExc_MemoryError;", "", "test_results_without_memory"},
	{"backend.h", "table->abi_version == DLPACKGEN_BACKEND_ABI_VERSION && ", "", "test_tables_of_other_versions"},
	{"backend.h", " && table->size >= sizeof *table)", ")", "test_tables_of_other_versions"},
	{"backend.h", "if (i == DLPACKGEN_MAX_BACKENDS) {", "if (0) {", "test_as_many_back_ends_as_there_is_room_for"},
	{"backend.h", "state->backends[i].table->device_type != table->device_type", "1",
		"test_as_many_back_ends_as_there_is_room_for"},
	{"backend.h", "asked->ndim, asked->shape, call->stream, 0};", "asked->ndim, asked->shape, NULL, 0};",
		"test_results_on_the_device"},
	{"place.h", "|| a->private_.waits || ", "|| ", "test_libraries_are_waited_for"},
	{"place.h", "return settled ? settled : dlpackgen_check_owners(call);", "return settled;",
		"test_whose_memory_it_is"},
	{"place.h", "call->stream = dlpackgen_plain_stream(device, stream);", "", "test_the_stream_of_the_program"},
	{"result.h", "if (call->stream) (void)found->table->keep_until(tensor, &stream, NULL);", "",
		"test_results_on_the_device"},
	{"result.h", "((struct dlpackgen_object *)made)->stream = call->stream;", "", "test_results_on_the_device"},
	{"object.h", "if (!wish.copy && object->table && dlpackgen_let_follow(object, wish.stream)) return NULL;", "",
		"test_results_on_the_device"},
	{"object.h", "if (((struct dlpackgen_object *)object)->table) return 1;", "", "test_results_as_arguments"},
	{"routes.h", "if (!registered) route->api = NULL;", "", "test_results_as_arguments"},
	{"object.h", "from.dtype = dlpackgen_copied_as(object->tensor);", "", "test_results_on_the_device"},
	{"object.h", "(of->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);", "0;", "test_results_on_the_device"},
	{"object.h", "wish.to_host ? wish.reaches : NULL", "wish.reaches", "test_results_on_the_device"},
	{"object.h", "state ? dlpackgen_streams_at(state, device) : NULL;", "NULL;", "test_given_tensors_reach_the_host"},
	{"place.h", "if (!failed) failed = table->stream_wait(&stream, &stream, &error);", "",
		"test_streams_of_another_device"},
	{"place.h", "stream.handle == standard.handle ? NULL : stream.handle;", "stream.handle;",
		"test_streams_of_another_device"},
	{"object.h", "dlpackgen_delete_quietly(made, NULL);\n\treturn NULL;", "return made;", "test_results_on_the_device"},
}

// Each of these makes the library wrong in one place, which the named test sees.
func TestTheModuleFindsWhatIsWrong(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the modules for each mistake")
	}
	for _, m := range moduleMutants {
		t.Run(m.file+" "+m.old, func(t *testing.T) {
			t.Parallel()
			dir, wrong := t.TempDir(), testkit.Parts(t)
			mutation.OnceIn(t, filepath.Join(wrong, "dlpackgen_python", m.file), m.old, m.fresh)
			extensions(t, wrong, dir)
			out, err := withPython(t, dir, m.script)
			assert.Error(t, err, out)
			assert.NotContains(t, out, "has no attribute 'test_", "a test of another name")
		})
	}
}
