package clients

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mutation "github.com/dlpackgen/dlpackgen/internal/mutant"
	"github.com/dlpackgen/dlpackgen/internal/testkit"
	"github.com/dlpackgen/dlpackgen/internal/tier"
)

// mutant is one removed guard, and the case that must detect it.
type mutant struct {
	what          string
	file, old, to string
	library, name string // of cases.py; a library of "special" is a function of special.py
}

const (
	np    = "reader_numpy.h"
	elem  = "reader_elements.h"
	buf   = "reader_buffer.h"
	torch = "reader_torch.h"
	shim  = "reader_torch_shim.h"
	words = "reader_torch_fields.h"
	sub   = "reader_torch_subclass.h"
	jax   = "reader_jax.h"

	paddle = "reader_paddle.h"
)

var mutants = []mutant{
	{"byte-swapped arrays are read", np, "if (d->byte_order == dlpackgen_np_other_order())", "if (0)", "numpy",
		"byte-swapped"},
	{"read-only arrays are written to", np, "(state & DLPACKGEN_NP_WRITEABLE) == 0 || ", "", "numpy", "read-only"},
	{"arrays that warn on write are written to", np, " || (state & DLPACKGEN_NP_WARN_ON_WRITE) != 0", "", "numpy",
		"broadcast_arrays"},
	{"type numbers have no upper limit", "reader_numbers.h", "number < 0 || number >= DLPACKGEN_NP_NUMBERS",
		"number < 0",
		"numpy", "ml_dtypes bfloat16"},
	{"extension dtypes are read natively", np, "if (d->number >= DLPACKGEN_NP_EXTENSIONS) return 1;", "", "numpy",
		"ml_dtypes float8_e5m2"},
	{"variable-width strings are read", np, "if (d->number == DLPACKGEN_NP_VARIABLE_TEXT)", "if (0)", "numpy",
		"variable text"},
	{"long double is read", "reader_numbers.h", "DLPACKGEN_NP_NONE, /* long double */",
		"DLPACKGEN_NP_ELEMENT(kDLFloat, 128, 4),", "numpy", "long double"},
	{"masks are ignored", np, "if (!has_mask) return 0;", "return 0;", "numpy", "masked"},
	{"strides that are no multiple of the element size are rounded", elem, "if ((stride & rest) != 0 && ", "if (0 && ",
		"numpy", "indivisible stride"},
	{"strides of dimensions of size 1 are checked", elem, "memory->shape[i] > 1 && ", "", "numpy",
		"size 1, odd stride"},
	{"strides of empty arrays are checked", elem, "memory->shape[i] > 1 && dlpackgen_has_elements(memory))",
		"memory->shape[i] > 1)", "numpy", "empty, odd stride"},
	{"alignment is not checked", "../dlpackgen/check.h",
		"if (dlpackgen_is_misaligned(tensor)) return dlpackgen_misaligned(at, tensor, message);", "", "numpy",
		"unaligned"},
	{"alignment of empty arrays is checked", "../dlpackgen/check.h",
		"(tensor->dtype) != 0 && !dlpackgen_is_empty(tensor);",
		"(tensor->dtype) != 0;", "numpy", "empty, unaligned"},

	{"the negative bit is ignored", torch, "if (dlpackgen_torch.call.is_neg(handle)) return", "if (0) return",
		"torch", "negative float32"},
	{"the conjugate bit is ignored", torch, "if (dtype.code != kDLComplex) return 0;", "return 0;", "torch",
		"conjugate"},
	{"layouts are not checked", torch, "&& layout == dlpackgen_torch.strided)", ")", "torch", "mkldnn"},
	{"dtypes without a DLPack equivalent are read", torch, "if (out->dtype.lanes != 0) return 0;", "return 0;", "torch",
		"quantized"},
	{"devices are not checked", torch, "if (type == dlpackgen_torch.cpu) return 0;", "return 0;", "torch", "meta"},
	{"requires_grad is not checked", torch,
		"if (dlpackgen_torch_check_grad(handle) < 0) return -1;\n\tif (dlpackgen_torch_read_shape(handle, out,",
		"if (dlpackgen_torch_read_shape(handle, out,", "torch", "requires grad: leaf"},
	{"requires_grad is checked without grad mode", torch, "return call->grad_mode() ? ", "return 1 ? ", "torch",
		"requires grad: leaf, no_grad"},
	{"null pointers to data are accepted", torch, "return out->data ? 0 : dlpackgen_torch_check_memory(out);",
		"return 0;", "torch",
		"storage resized to 0"},
	{"errors of sizes and strides are ignored", torch,
		"call->get_sizes(handle, &out->shape) != 0 ||\n\t    call->get_strides(handle, &out->strides) != 0)",
		"call->get_sizes(handle, &out->shape) + call->get_strides(handle, &out->strides) == 77)", "torch",
		"nested strided"},
	{"errors of the data pointer are ignored", torch,
		"if (result != 0) return dlpackgen_reject(DLPACKGEN_TORCH_WRAPPED);",
		"if (result != 0) out->data = out;", "special", "torch_whose_memory_is_forbidden_is_rejected"},
	{"the number of dimensions is not limited", torch, "if ((uint64_t)dim > DLPACKGEN_MAX_NDIM)", "if (0)", "torch",
		"4000 dimensions"},
	{"more than 64 dimensions are reported as an invalid tensor", "../dlpackgen/check.h",
		"if (error == DLPACKGEN_ERROR_NDIM && tensor->ndim > DLPACKGEN_MAX_NDIM)", "if (0)", "special",
		"torch_has_more_dimensions_than_are_served"},
	{"CPU devices keep their numbers in imports", "import.h",
		"if (dlpackgen_has_needless_id(tensor->device)) tensor->device.device_id = 0;", "", "special",
		"jax_has_one_device_of_the_cpu"},
	{"CPU devices keep their numbers in retained tensors", "managed.h",
		"if (dlpackgen_has_needless_id(view->device)) made->tensor.dl_tensor.device.device_id = 0;", "", "special",
		"jax_has_one_device_of_the_cpu"},
	{"a pair of fp4 values has one lane", "reader_torch_dtypes.h", "kDLFloat4_e2m1fn, 4, 2}", "kDLFloat4_e2m1fn, 4, 1}",
		"torch",
		"float4_e2m1fn_x2"},
	{"subclasses with __torch_dispatch__ are read natively", sub, "if (dispatches != 0)", "if (0)", "torch",
		"dispatching subclass"},
	{"meta subclasses are read", sub, "if (is_meta != 0)", "if (0)", "torch", "meta"},
	{"written tensors are not separated from lazy clones", torch, "if (writable || !call->get_const_data)",
		"if (!call->get_const_data)",
		"special", "torch_shares_memory_until_it_is_written"},
	{"retained tensors are not separated from lazy clones", torch,
		"dlpackgen_torch_borrow(*keep, 1, out, scratch, flags)",
		"dlpackgen_torch_borrow(*keep, 0, out, scratch, flags)", "special",
		"torch_keeps_memory_apart_that_is_handed_on"},
	{"retained tensors are not detached", torch, `*keep = PyObject_CallMethod(object, "detach", NULL);`,
		"*keep = object, Py_INCREF(object);", "special", "torch_keeps_memory_that_the_tensor_gives_up"},
	{"storage sizes are not checked", torch, "needs <= (uint64_t)bytes ? 0 :", "1 ? 0 :", "special",
		"torch_beyond_its_storage_is_rejected"},
	{"storage offsets are not included in the required size", torch, "uint64_t end = offset + 1;", "uint64_t end = 1;",
		"special",
		"torch_beyond_its_storage_is_rejected"},
	{"strides are not included in the required size", torch,
		"(uint64_t)(view->shape[i] - 1) * (uint64_t)view->strides[i]",
		"(uint64_t)(view->shape[i] - 1)", "special", "torch_beyond_its_storage_is_rejected"},
	{"empty tensors require storage", torch, "if (view->shape[i] == 0) return 0;\n\t\tend", "end", "special",
		"torch_beyond_its_storage_is_rejected"},
	{"storage sizes of subclasses are not checked", sub, "return needs <= bytes ? 0 :", "return 1 ? 0 :", "special",
		"torch_beyond_its_storage_is_rejected_by_other_routes"},
	{"storage offsets of subclasses are not included in the required size", sub,
		"needs += dlpackgen_torch_count(object, \"storage_offset\")",
		"(void)needs", "special", "torch_beyond_its_storage_is_rejected_by_other_routes"},
	{"empty subclasses require storage", sub, "span = size == 0 ||", "span = ", "special",
		"torch_beyond_its_storage_is_rejected_by_other_routes"},
	{"tensors without a storage are rejected", sub, "if (!storage && PyErr_ExceptionMatches(PyExc_RuntimeError)) {",
		"if (0) {", "special", "torch_without_a_storage_is_left_to_its_own_export"},
	{"every exception counts as missing storage", sub, "if (!storage && PyErr_ExceptionMatches(PyExc_RuntimeError)) {",
		"if (!storage) {", "special", "torch_without_a_storage_is_left_to_its_own_export"},
	{"every dispatch key set is accepted", words, "return kind == words->plain ||", "return words->plain ||", "torch",
		"negative float32"},
	{"dispatch key sets of a GPU are not accepted", words, "kind == words->plain || kind == words->gpu",
		"kind == words->plain", "special",
		"torch_keys_of_a_gpu_tell_the_device"},
	{"dispatch key sets of a GPU count as the CPU's", words, "!= words->plain;\n}", "== 0;\n}", "special",
		"torch_keys_of_a_gpu_tell_the_device"},
	{"dispatch key sets of a GPU are not determined", words,
		"(void)dlpackgen_torch_outside(&proof, ordinary, dlpackgen_torch_learn_gpu);", "", "special",
		"torch_words_are_proven"},
	{"dispatch key sets of a GPU need not contain those of the CPU", words,
		"if (words->plain && (words->plain & cpu) == cpu) words",
		"words", "special", "torch_that_does_not_tell_keys_is_asked_for_the_device"},
	{"field offsets are never determined", words, "\tif (!keys || !offset || !storage) return;", "\treturn;", "special",
		"torch_words_are_proven"},
	{"one tensor is enough to determine field offsets", words, "while (i < DLPACKGEN_TORCH_PLAIN && objects",
		"while (i < 1 && objects",
		"special", "torch_words_are_those_that_hold_what_torch_says"},
	{"ambiguous fields are accepted", words,
		"if (i < DLPACKGEN_TORCH_PLAIN) continue;\n\t\tif (found) return 0;",
		"if (i < DLPACKGEN_TORCH_PLAIN) continue;", "special", "torch_words_are_those_that_hold_what_torch_says"},
	{"ambiguous key sets are accepted", words,
		"if (!dlpackgen_torch_reports(seen, word)) continue;\n\t\tif (found) return 0;",
		"if (!dlpackgen_torch_reports(seen, word)) continue;", "special",
		"torch_words_are_those_that_hold_what_torch_says"},
	{"key sets need not be equal in all plain tensors", words, "if (seen->plain[i][word] != plain) return false;", "",
		"special",
		"torch_words_are_those_that_hold_what_torch_says"},
	{"key sets need not differ in other tensors", words, "== (plain & ~usual)) return false;",
		"== (plain & ~usual)) continue;", "special",
		"torch_words_are_those_that_hold_what_torch_says"},
	{"key sets are compared with the bits of inference mode", words,
		"if ((seen->others[i][word] & ~usual) == (plain & ~usual))",
		"if (seen->others[i][word] == plain)", "special", "torch_words_are_those_that_hold_what_torch_says"},
	{"empty key sets are accepted", words, "return (plain & ~usual) != 0;", "return true;", "special",
		"torch_words_are_those_that_hold_what_torch_says"},
	{"a missing storage offset is ignored", words, "if (!keys || !offset || !storage) return;",
		"if (!keys || !storage) return;", "special", "torch_words_are_those_that_hold_what_torch_says"},
	{"a missing storage is ignored", words, "if (!keys || !offset || !storage) return;",
		"if (!keys || !offset) return;", "special", "torch_words_are_those_that_hold_what_torch_says"},
	{"a missing storage size is ignored", words, "if (!bytes) return;", "", "special",
		"torch_words_are_those_that_hold_what_torch_says"},
	{"the distance to the sizes has no limits", words, "bytes < 16 || bytes > 128 || ", "", "special",
		"torch_words_lie_between_sizes_that_are_believed"},
	{"sizes need not be aligned", words, "bytes % 8 != 0 || ", "", "special",
		"torch_words_lie_between_sizes_that_are_believed"},
	{"strides need not follow the sizes", words, " || strides != sizes + DLPACKGEN_TORCH_INLINE", "", "special",
		"torch_words_lie_between_sizes_that_are_believed"},
	{"test tensors may have any type", words, "if ((PyObject *)Py_TYPE(tensor) != *proof->found->tensor) return NULL;",
		"", "special", "torch_words_that_are_not_proven_are_asked_of_the_shim"},
	{"the address of a test tensor is not compared", words, "return handle && *(uint64_t *)handle == address ?",
		"return handle ?",
		"special", "torch_whose_address_differs_is_not_proven"},
	{"field offsets are determined in inference mode", words, "\"torch.inference_mode(False)\"",
		"\"torch.inference_mode(torch.is_inference_mode_enabled())\"", "special",
		"torch_words_are_proven_in_any_mode"},
	{"field offsets are determined under torch function modes", words, "\t\"torch._C.DisableTorchFunction()\",\n", "",
		"special",
		"torch_words_are_proven_in_any_mode"},
	{"field offsets are determined under dispatch modes", words, "\t\"torch._C._DisableTorchDispatch()\",\n", "",
		"special",
		"torch_words_are_proven_in_any_mode"},
	{"field offsets are determined under functorch transforms", words, "\t\"torch._C._DisableFuncTorch()\",\n", "",
		"special",
		"torch_words_are_proven_in_any_mode"},
	{"KeyboardInterrupt is dropped", words, " || !PyErr_ExceptionMatches(PyExc_Exception))", ")", "special",
		"torch_that_is_not_proven_is_read_by_its_own_table"},
	{"MemoryError is dropped", words, "PyErr_ExceptionMatches(PyExc_MemoryError) || ", "", "special",
		"torch_that_is_not_proven_is_read_by_its_own_table"},
	{"failing to create a test tensor is an error", words, "\tPyErr_Clear();\n\treturn 0;", "\treturn -1;", "special",
		"torch_that_is_not_proven_is_read_by_its_own_table"},
	{"unproven object layouts are read", torch, "if (learnt > 0) dlpackgen_torch_publish(&found);\n\treturn learnt;",
		"if (learnt >= 0) dlpackgen_torch_publish(&found);\n\treturn learnt < 0 ? -1 : 1;", "special",
		"torch_that_is_not_proven_is_read_by_its_own_table"},
	{"every type counts as torch.Tensor", shim, "type == *known->tensor || type == *known->parameter ?",
		"type != *known->tensor ?", "special", "torch_is_told_by_its_type_in_c"},
	{"another module named torch counts as torch", shim, "if (type != base) Py_CLEAR(module);", "", "special",
		"paddle_in_place_of_torch_is_not_torch"},
	{"types created in Python are recognized by name", "reader_types.h",
		"if (PyType_GetFlags((PyTypeObject *)type) & Py_TPFLAGS_HEAPTYPE) continue;", "", "special",
		"numpy_is_told_by_its_type_in_c"},
	{"native readers cannot be switched off", "reader_types.h", "return !off || !*off || strcmp(off, \"0\") == 0;",
		"return 1 || !off;", "special", "torch_without_native_readers"},
	{"the value 0 switches native readers off", "reader_types.h", " || strcmp(off, \"0\") == 0;", ";", "special",
		"torch_without_native_readers"},

	{"arrays of JAX are written to", jax,
		"if (writable) return dlpackgen_jax_reject_write();\n\tconst int result = dlpackgen_buffer_retain",
		"const int result = dlpackgen_buffer_retain", "jax", "float32"},
	{"tracers are read", jax, "NULL, NULL, dlpackgen_jax_reject_tracer", "NULL, NULL, NULL", "jax", "jit"},
	{"dtypes without a buffer format are errors", jax, "if (!PyErr_ExceptionMatches(PyExc_BufferError)) return -1;",
		"return -1;", "jax", "bfloat16"},
	{"deleted arrays are read through the capsule", jax, "if (is_deleted > 0) return", "if (0) return", "jax",
		"deleted"},
	{"exports to other libraries keep byte_offset", "object.h",
		"const DLTensor view = dlpackgen_without_offset(&tensor->dl_tensor);",
		"const DLTensor view = tensor->dl_tensor;", "special", "paddle_reads_what_we_put_behind_an_offset"},
	{"borrowed exports keep byte_offset", "object.h", "*out = dlpackgen_without_offset(&tensor->dl_tensor);",
		"*out = tensor->dl_tensor;", "special", "ours_is_lent_without_an_offset"},
	{"borrowed exports of own tensors keep byte_offset", "object.h",
		"*out = dlpackgen_without_offset(&own->dl_tensor);",
		"*out = own->dl_tensor;", "special", "ours_is_lent_without_an_offset"},
	{"retained tensors release the buffer", "reader_buffer.h", "if (result == 0) *keep = capsule;",
		"Py_XDECREF(capsule);\n\tif (result == 0) *keep = object, Py_INCREF(object);", "special",
		"jax_keeps_what_was_taken_for_longer"},
	{"buffers are never released", "reader_buffer.h", "\tPyBuffer_Release(view);\n\tfree(view);\n}", "\tfree(view);\n}",
		"special", "jax_is_let_go_of"},
	{"the object of a retained tensor is not released", "managed.h", "Py_DECREF(holder->object);", "", "special",
		"jax_is_let_go_of"},
	{"the buffer is released during a call, while threads run", "call.h",
		"a->private_.reader->retain ? dlpackgen_fetch_retained(call, i) : ", "",
		"special", "jax_keeps_what_another_thread_deletes"},
	{"the buffer is released during a call, while later arguments are read", "call.h",
		"a->private_.reader->retain ? dlpackgen_fetch_retained(call, i) : ", "",
		"special", "jax_keeps_what_another_argument_deletes"},
	{"the buffer is released during a call if no later argument runs code", "call.h",
		"a->private_.reader->retain ? dlpackgen_fetch_retained(call, i) : ",
		"dlpackgen_runs_after(call, i) ? dlpackgen_fetch_retained(call, i) : ",
		"special", "jax_keeps_what_the_function_itself_deletes"},
	{"Paddle's table is called for every tensor", "call.h", "if (plain && DLPACKGEN_RARE(!plain(a->object))) return 1;",
		"", "special", "paddle_tensors_without_memory_are_rejected"},
	{"is_dense of Paddle is ignored", paddle, "if (dense == Py_True) stops", "stops", "special",
		"paddle_tensors_without_memory_are_rejected"},
	{"stop_gradient of Paddle is ignored", paddle, "const int is_plain = stops == Py_True;",
		"const int is_plain = stops != NULL;", "special", "paddle_gradients_are_rejected_while_they_are_recorded"},
	{"the tables of tensors that fail the quick check are trusted", "call.h",
		"a->private_.trusted = a->private_.trusted && a->private_.reader;", "", "special",
		"paddle_gradients_are_rejected_while_they_are_recorded"},
	{"parameters of Paddle are not read through the table", "access.h",
		"return access->makes ? dlpackgen_fill_paddle(access) : 0;",
		"return 0;", "special", "paddle_parameters_are_read_by_the_table_of_tensors"},
	{"attributes overridden in Python count as C's", paddle, "is = Py_IS_TYPE(*found, kind);", "is = 1;", "special",
		"paddle_is_asked_by_its_methods_where_those_are_not_its_own"},
	{"missing attributes of Paddle are ignored", "access.h", "\treturn opened;\n}\n\n/* Returns whether a type's table",
		"\treturn opened < 0 ? -1 : 1;\n}\n\n/* Returns whether a type's table", "special",
		"paddle_is_asked_by_its_methods_where_those_are_not_its_own"},
}

// trapping builds a module that crashes if it reads beyond one of its arrays.
var trapping = []string{"-O0", "-Wno-error", "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"}

// For every guard there is a case that detects its removal.
func TestEveryGuardIsThereForACase(t *testing.T) {
	tier.OnlyNightly(t)
	if testing.Short() {
		t.Skip("builds a module with all mutants, and -short was given")
	}
	python := environment(t)
	needs(t, python, "numpy", "ml_dtypes", "torch", "jax", "paddle")
	var all []mutation.Mutant
	for _, m := range mutants {
		all = append(all, mutation.Mutant{File: filepath.Join("dlpackgen_python", m.file), Old: m.old, New: m.to})
	}
	folderOf := mutation.Programs(t, testkit.Parts(t), all, func(headers string, flags ...string) string {
		return build(t, python, headers, append(flags, trapping...)...)
	})
	runs := map[[2]string][]string{} // by the module's folder and the imports
	var want []string
	for i, m := range mutants {
		folder, env := folderOf(t, i)
		number := strings.TrimPrefix(env, mutation.Variable+"=")
		key := [2]string{folder, m.imports()}
		runs[key] = append(runs[key], number, m.script())
		want = append(want, fmt.Sprintf("caught %s %s\n", number, m.script()))
	}
	whole, printed := build(t, python, generated(t)), ""
	for imports, scripts := range scriptsOfMutants() {
		for _, script := range scripts { // which pass with all guards
			key := [2]string{whole, imports}
			runs[key] = append(runs[key], "0", script)
			want = append(want, fmt.Sprintf("missed 0 %s\n", script))
		}
	}
	for key, pairs := range runs {
		out, log, err := script(python, key[0], append([]string{"../mutants.py", key[1]}, pairs...)...)
		require.NoError(t, err, log)
		printed += out
	}
	for _, line := range want {
		assert.Truef(t, strings.Contains(printed, line), "not so: %s", line)
	}
}

// scriptsOfMutants returns the scripts that must fail for mutants, by their imports.
func scriptsOfMutants() map[string][]string {
	all := map[string][]string{}
	for _, m := range mutants {
		if scripts := all[m.imports()]; !slices.Contains(scripts, m.script()) {
			all[m.imports()] = append(scripts, m.script())
		}
	}
	return all
}

// script is the script that must fail for a mutant.
func (m mutant) script() string {
	if m.library == "special" {
		return "special.py " + m.name
	}
	return fmt.Sprintf("ours.py %s '%s'", m.library, m.name)
}

// imports returns the libraries that can be imported once for many mutants. JAX has threads, which
// a fork does not copy, so each case imports it.
func (m mutant) imports() string {
	if strings.HasPrefix(m.file, strings.TrimSuffix(torch, ".h")) {
		return "torch"
	}
	if strings.HasPrefix(m.name, "paddle_") {
		return "paddle"
	}
	return "numpy,ml_dtypes"
}

// fieldsMoved simulates a NumPy with other offsets of the fields.
var fieldsMoved = [3]string{np, "  char* data;\n  int ndim;\n", "  char* data;\n  void* news;\n  int ndim;\n"}

// longMoved simulates a NumPy whose long has another width than C's.
var longMoved = [3]string{"reader_numbers.h", "DLPACKGEN_NP_INTEGER(kDLInt, long),",
	"DLPACKGEN_NP_INTEGER(kDLInt, int),"}

// A NumPy with other fields is detected before they are used, and its arrays are read through the
// buffer protocol; without that check, they are read incorrectly.
func TestANumPyOfOtherFieldsIsReadByTheBufferProtocol(t *testing.T) {
	python := environment(t)
	needs(t, python, "numpy", "ml_dtypes")
	modules := build(t, python, wrongly(t, fieldsMoved))
	names := []string{"bool", "int8", "int64", "uint16", "float16", "float32", "float64", "complex64", "complex128",
		"column-major",
		"negative strides", "zero strides", "0-d", "empty", "size 1, odd stride", "64 dimensions", "field", "read-only",
		"unaligned", "indivisible stride", "masked"}
	passes(t, python, modules, 4*len(names), append([]string{"ours.py", "numpy"}, names...)...)

	passes(t, python, build(t, python, wrongly(t, longMoved)), 4*len(names),
		append([]string{"ours.py", "numpy"}, names...)...)

	unproven := wrongly(t, fieldsMoved, [3]string{np, "int proven = writable &&", "int proven = 1 || writable &&"})
	fails(t, python, build(t, python, unproven, "-Wno-error"), "", "ours.py", "numpy", "float32")
	unproven = wrongly(t, longMoved, [3]string{np, "int proven = writable &&", "int proven = 1 || writable &&"})
	fails(t, python, build(t, python, unproven, "-Wno-error"), "", "ours.py", "numpy", "int64")
}

// A torch with another object layout is detected by its address, and read through its own table or
// capsule, with the same queries.
func TestATorchOfOtherObjectsIsReadByItsOwnTable(t *testing.T) {
	if testing.Short() {
		t.Skip("loads torch, and -short was given")
	}
	python := environment(t)
	needs(t, python, "torch")
	moved := [3]string{shim, "found->handle = head + ", "found->handle = head + word + "}
	unproven := [3]string{words, "*(uint64_t*)handle == address ? *(const uint64_t**)handle : NULL",
		"address ? (const uint64_t *)(uintptr_t)address : NULL"}
	empty := [3]string{shim, "*(void**)(void*)handle ? handle : NULL", "handle"}
	wrong := run{build(t, python, wrongly(t, moved, unproven, empty)), []string{"ours.py", "torch", "float32"}}
	names := []string{"float32", "bfloat16", "transposed", "0-d", "conjugate", "negative float32",
		"requires grad: leaf", "meta", "FakeTensor"}
	right := run{build(t, python, wrongly(t, moved)), append([]string{"ours.py", "torch"}, names...)}
	printed := forked(t, python, "torch", wrong, right)
	printed.fails(t, "", wrong)
	printed.passes(t, 4*len(names), right)
}

// A torch whose words cannot be found is queried through the shim in every case, and then needs the
// shim's answers.
func TestATorchWithOtherFieldsIsQueriedByTheShim(t *testing.T) {
	if testing.Short() {
		t.Skip("loads torch, and -short was given")
	}
	python := environment(t)
	needs(t, python, "torch")
	hidden := [3]string{words, "DLPACKGEN_TORCH_TAIL = 4", "DLPACKGEN_TORCH_TAIL = 3"}
	var runs []run
	for _, modules := range []string{
		build(t, python, wrongly(t, hidden)),
		build(t, python, generated(t), "-DDLPACKGEN_TORCH_NEWEST_TESTED=1"), // each torch is newer
	} {
		runs = append(runs, run{modules, []string{"special.py", "torch_words_are_proven"}},
			run{modules, []string{"ours.py", "torch"}},
			run{modules, []string{"special.py", "torch_beyond_its_storage_is_rejected",
				"torch_beyond_its_storage_is_rejected_by_other_routes"}})
	}
	for _, forgotten := range [][3]string{
		{torch, "dlpackgen_torch.call.get_storage_size(handle, &bytes) != 0", "(bytes = 1 << 20) == 0"},
		{torch, "dlpackgen_torch.call.get_storage_offset(handle, &offset) != 0", "0"},
	} {
		modules := build(t, python, wrongly(t, hidden, forgotten))
		runs = append(runs, run{modules, []string{"special.py", "torch_beyond_its_storage_is_rejected"}})
	}
	printed := forked(t, python, "torch", runs...)
	for i := range 2 {
		printed.fails(t, "torch_words_are_proven", runs[3*i])
		printed.passes(t, packages["torch"].least, runs[3*i+1])
		printed.passes(t, 2, runs[3*i+2])
	}
	for _, forgotten := range runs[6:] {
		printed.fails(t, "torch_beyond_its_storage_is_rejected", forgotten)
	}
}

// A torch that lacks a function is queried in Python, or not read natively.
func TestATorchWithoutAFunctionIsQueriedInPython(t *testing.T) {
	if testing.Short() {
		t.Skip("loads torch, and -short was given")
	}
	python := environment(t)
	needs(t, python, "torch")
	names := []string{"float32", "transposed", "conjugate", "negative float32", "requires grad: leaf",
		"requires grad: leaf, no_grad",
		"sparse", "mkldnn", "copy on write"}
	missing := map[string][]string{
		"optional functions are missing":               {"torch_get_const_data_ptr", "aoti_torch_abi_version"},
		"a required function is missing":               {"aoti_torch_get_dim"},
		"the function for the negative bit is missing": {"_ZN2at6native6is_neg"},
		"the function for requires_grad is missing":    {"_ZNK3c1010TensorImpl13requires_grad"},
		"the variable with the type is missing":        {"THPVariableClass"},
	}
	runs := map[string]run{}
	for lacks, symbols := range missing {
		var edits [][3]string
		for _, symbol := range symbols {
			edits = append(edits, [3]string{shim, symbol, "no_such_" + symbol})
		}
		runs[lacks] = run{build(t, python, wrongly(t, edits...)), append([]string{"ours.py", "torch"}, names...)}
	}
	printed := forked(t, python, "torch", slices.Collect(maps.Values(runs))...)
	for lacks := range missing {
		t.Run(lacks, func(t *testing.T) { printed.passes(t, 4*len(names), runs[lacks]) })
	}
}

// A case with an unknown name would pass with any guard.
func TestCasesOfMutantsExist(t *testing.T) {
	python := environment(t)
	needs(t, python, "numpy", "ml_dtypes")
	modules := build(t, python, generated(t))
	fails(t, python, modules, "no such case", "ours.py", "numpy", "no such case")
	fails(t, python, modules, "numpy_no_such_case", "special.py", "numpy_no_such_case")
}
