package devices

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/dlpackgen/dlpackgen/internal/golden"
	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/testtool"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// linkedBackend returns the library with the backend, which scripts load through ctypes.
func linkedBackend(t testing.TB) string {
	t.Helper()
	dir := testkit.Built(t, "backend", func(dir string) {
		testkit.Run(t, testtool.Require(t, "gcc", "gcc"), "-std=gnu11", testkit.Level(), "-shared", "-fPIC", "-o",
			filepath.Join(dir, "libdlpackgen_cuda.so"),
			filepath.Join(cuda(t), "dlpackgen_cuda.c"), "-ldl")
	})
	return filepath.Join(dir, "libdlpackgen_cuda.so")
}

// extensions builds the modules of tests/python with the headers of a folder.
func extensions(t testing.TB, headers, dir string, flags ...string) {
	t.Helper()
	python, gcc := testtool.RequirePython(t), testtool.Require(t, "gcc", "gcc")
	include := testtool.RequireHeaders(t, python)
	for _, name := range []string{"checked", "untrusted"} {
		testkit.Run(t, gcc, append([]string{"-std=c11", "-O0", "-w", "-shared", "-fPIC", "-fvisibility=hidden",
			"-DPy_LIMITED_API=0x030B0000", "-I", headers, "-isystem", include, "-o",
			filepath.Join(dir, name+".abi3.so"),
			filepath.Join(golden.Root(t), "tests/python/module", name+".c")}, flags...)...)
	}
}

// scripts runs a Python program with a stand-in for the driver, and a backend for it.
type scripts func(t testing.TB, modules string, words ...string) (string, error)

// withPython is for the CUDA backend.
func withPython(t testing.TB, modules string, words ...string) (string, error) {
	t.Helper()
	return scripted(t, modules, linkedBackend(t), standin(t), words)
}

func scripted(t testing.TB, modules, backend, driver string, words []string) (string, error) {
	t.Helper()
	cmd := exec.Command(testtool.RequirePython(t), words...)
	cmd.Env = append(os.Environ(), "MODULES="+modules, "BACKEND="+backend, "LD_LIBRARY_PATH="+driver,
		"PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A Python module uses the table for the owner of memory, for the order of streams and for results.
func TestAModuleForPythonUsesTheTable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds modules")
	}
	dir := t.TempDir()
	extensions(t, filepath.Join(golden.Root(t), "gen/c"), dir)
	out, err := withPython(t, dir, "with_python.py")
	require.NoError(t, err, out)
	source, err := os.ReadFile("with_python.py")
	require.NoError(t, err)
	assert.Len(t, regexp.MustCompile(`(?m)^ok test_`).FindAllString(out, -1),
		strings.Count(string(source), "\ndef test_"), out)
}

// withVendor is for a vendor's backend.
func withVendor(t testing.TB, modules string, words ...string) (string, error) {
	t.Helper()
	dir := testkit.Built(t, "vendorsbackend", func(dir string) {
		args := []string{"-std=gnu11", testkit.Level(), "-shared", "-fPIC", "-o",
			filepath.Join(dir, "libdlpackgen_acme.so")}
		testkit.Run(t, testtool.Require(t, "gcc", "gcc"),
			append(append(args, acmeEnd.sources(t, acme(t))...), "-ldl")...)
	})
	return scripted(t, modules, filepath.Join(dir, "libdlpackgen_acme.so"), acmeDriver(t), words)
}

// A module without the vendor's stream rules in its headers reads stream numbers through its
// backend.
func TestAModuleForPythonUsesAVendorsTable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds modules")
	}
	dir := t.TempDir()
	extensions(t, filepath.Join(golden.Root(t), "gen/c"), dir)
	out, err := withVendor(t, dir, "with_vendor.py")
	require.NoError(t, err, out)
	source, err := os.ReadFile("with_vendor.py")
	require.NoError(t, err)
	assert.Len(t, regexp.MustCompile(`(?m)^ok test_`).FindAllString(out, -1),
		strings.Count(string(source), "\ndef test_"), out)
	areNoticed(t, vendorModuleMutants, "with_vendor.py", withVendor)
}

var vendorModuleMutants = []moduleMutant{
	{"stream.h", "(!call->stream || !dlpackgen_streams_at(call->private_.state, a->private_.declared))", "1",
		"test_producers_export_for_the_stream"},
	{"stream.h", "if (found) return dlpackgen_use_number_by(call, i, device, found->table);", "",
		"test_numbers_of_streams"},
	{"object.h", "if (streams == DLPACKGEN_STREAMS_NONE && table) {", "if (0) {", "test_passed_tensors"},
	{"object.h",
		"if (table->stream_from_dlpack(device, &requested, &known, &error) == DLPACKGEN_BACKEND_OK) return 1;",
		"return 1;", "test_passed_tensors"},
}

// moduleMutant breaks the modules in one place, which the named test detects.
type moduleMutant struct{ file, old, fresh, test string }

func (m moduleMutant) mutation() mutation.Mutant {
	return mutation.Mutant{File: filepath.Join("dlpackgen_python", m.file), Old: m.old, New: m.fresh}
}

var moduleMutants = []moduleMutant{
	{"backend.h", "if (dlpackgen_same_device(info->device, device)) return 0;", "return 0;", "test_whose_memory_it_is"},
	{"backend.h", "return dlpackgen_device_owner((int32_t)device.device_type);", "return (int32_t)device.device_type;",
		"test_whose_memory_it_is"},
	{"backend.h",
		"if (table->pointer_attributes(address, info, &error)) return dlpackgen_backend_failed(call, i, &error);",
		"if (table->pointer_attributes(address, info, &error)) return 0;", "test_whose_memory_it_is"},
	{"backend.h", "case DLPACKGEN_BACKEND_NOT_MAPPED:", "", "test_whose_memory_it_is"},
	{"backend.h", "+ tensor->byte_offset + low;", "+ low;", "test_byte_ranges_of_elements"},
	{"backend.h", "+ tensor->byte_offset + low;", "+ tensor->byte_offset;", "test_byte_ranges_of_elements"},
	{"backend.h", "last < (const char *)info.base + info.bytes) return 0;", "1) return 0;",
		"test_byte_ranges_of_elements"},
	{"backend.h", "return dlpackgen_check_address(call, i, table, last, &end);",
		"return dlpackgen_argument_error(call, i, PyExc_BufferError, \"x\");", "test_byte_ranges_of_elements"},
	{"backend.h", "!= DLPACKGEN_OK || low == high) continue;", "!= DLPACKGEN_OK) continue;",
		"test_nothing_is_loaded_before_it_is_asked"},
	{"backend.h",
		"if (found->table->stream_wait(&ours, &theirs, &error)) return dlpackgen_backend_failed(call, i, &error);",
		"", "test_libraries_are_waited_for"},
	{"backend.h", "if (found->table->stream_wait(&ours, &theirs, &error)) return",
		"if (found->table->stream_wait(&ours, &theirs, &error)) return 0 *", "test_order_that_is_rejected"},
	{"backend.h", "call->private_.owns |= DLPACKGEN_ORDER_PENDING;", "", "test_libraries_are_waited_for"},
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
	{"backend.h", "requested->ndim, requested->shape, call->stream, 0};",
		"requested->ndim, requested->shape, NULL, 0};",
		"test_results_on_the_device"},
	{"stream.h", "|| a->private_.waits || ", "|| ", "test_libraries_are_waited_for"},
	{"stream.h", "return settled ? settled : dlpackgen_check_owners(call);", "return settled;",
		"test_whose_memory_it_is"},
	{"stream.h", "call->stream = dlpackgen_plain_stream(device, stream);", "", "test_the_stream_of_the_program"},
	{"result.h", "if (call->stream) (void)found->table->keep_until(tensor, &stream, NULL);", "",
		"test_results_on_the_device"},
	{"result.h", "((struct dlpackgen_object *)made)->stream = call->stream;", "", "test_results_on_the_device"},
	{"object.h", "if (!options.copy && object->table && dlpackgen_let_follow(object, options.stream)) return NULL;", "",
		"test_results_on_the_device"},
	{"object.h", "if (((struct dlpackgen_object *)object)->table) return 1;", "", "test_results_as_arguments"},
	{"access.h", "if (!registered) access->api = NULL;", "", "test_results_as_arguments"},
	{"object.h", "from.dtype = dlpackgen_copied_as(object->tensor);", "", "test_results_on_the_device"},
	{"object.h", "(of->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);", "0;", "test_results_on_the_device"},
	{"object.h", "options.to_host ? options.reaches : NULL", "options.reaches", "test_results_on_the_device"},
	{"object.h", "state ? dlpackgen_streams_at(state, device) : NULL;", "NULL;",
		"test_passed_tensors_are_read_by_the_host"},
	{"stream.h", "if (!failed) failed = table->stream_wait(&stream, &stream, &error);", "",
		"test_streams_of_another_device"},
	{"stream.h", "stream.handle == standard.handle ? NULL : stream.handle;", "stream.handle;",
		"test_streams_of_another_device"},
	{"object.h", "dlpackgen_delete_quietly(made, NULL);\n\treturn NULL;", "return made;", "test_results_on_the_device"},
}

func TestTheModuleFindsWhatIsWrong(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds the modules with all mistakes")
	}
	areNoticed(t, moduleMutants, "with_python.py", withPython)
}

// areNoticed builds the modules with all mutants, and expects the test of each to fail, and to pass
// without it.
func areNoticed(t *testing.T, mutants []moduleMutant, script string, run scripts) {
	t.Helper()
	source, err := os.ReadFile(script)
	require.NoError(t, err)
	headers, dir, all := testkit.Parts(t), t.TempDir(), []mutation.Mutant(nil)
	for _, m := range mutants {
		all = append(all, m.mutation())
	}
	written := mutation.Write(t, headers, all)
	require.Empty(t, written.Apart, "each of them changes statements")
	extensions(t, headers, dir, written.Flags...)
	words, plain := []string{"../mutants.py", ""}, map[string]bool{}
	for i, m := range mutants {
		require.Contains(t, string(source), "\ndef "+m.test+"(")
		if words = append(words, strconv.Itoa(i+1), script+" "+m.test); !plain[m.test] {
			words, plain[m.test] = append(words, "0", script+" "+m.test), true
		}
	}
	out, err := run(t, dir, words...)
	require.NoError(t, err, out)
	for i, m := range mutants {
		t.Run(m.file+" "+m.old, func(t *testing.T) {
			assert.Contains(t, out, "missed 0 "+script+" "+m.test+"\n", "it fails without the mistake")
			assert.Contains(t, out, "caught "+strconv.Itoa(i+1)+" "+script+" "+m.test+"\n",
				"the mistake was not detected")
		})
	}
}
