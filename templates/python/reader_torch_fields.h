/*
 * The offsets of four words in torch's objects: the dispatch keys, the storage, the offset in the
 * storage, and the storage's size. libtorch's shim returns each of them with a call; reading the
 * words takes one load each.
 *
 * No version of torch guarantees these offsets, so they are verified once per process with tensors
 * that are created for this purpose: for each value, exactly one word must match what torch reports
 * in Python for all of them. A value without such a word is queried through the shim, and so are
 * all values in a torch that is newer than the tested versions. The words are only used as numbers,
 * except the address of the storage, which torch has reported. Since before torch 2.5, a TensorImpl
 * ends with its sizes and strides, the offset, the number of elements, flags and the keys
 * (c10/core/TensorImpl.h, the checks of its size), so the position of the strides, which the shim
 * reports, limits the search.
 *
 * The verification calls torch in Python, with all modes disabled, and before a call reads its
 * first argument, so the code that it runs cannot change anything that was checked.
 */
#ifndef DLPACKGEN_PYTHON_READER_TORCH_WORDS_H_
#define DLPACKGEN_PYTHON_READER_TORCH_WORDS_H_

#include "errors.h"
#include "reader_torch_shim.h"
#include "reader_torch_subclass.h"

/* Returns the TensorImpl of a dense tensor on the CPU or on CUDA without negated or conjugated
 * values, whose fields have the verified offsets; NULL for others. */
DLPACKGEN_FAST const uint64_t* dlpackgen_torch_plain(const void* handle) {
  const struct dlpackgen_torch_words* words = &dlpackgen_torch.words;
  const uint64_t* impl = *(const uint64_t* const*)handle;
  const uint64_t kind = impl[words->keys] & ~words->usual;
  /* If nothing is verified, this is the first word, a pointer, which is not 0. */
  return kind == words->plain || kind == words->gpu ? impl : NULL;
}

/* Returns on which of the two devices a plain tensor is. */
DLPACKGEN_FAST bool dlpackgen_torch_is_on_gpu(const uint64_t* plain) {
  const struct dlpackgen_torch_words* words = &dlpackgen_torch.words;
  return (plain[words->keys] & ~words->usual) != words->plain;
}

/* Verification */

enum { DLPACKGEN_TORCH_PLAIN = 5, DLPACKGEN_TORCH_OTHERS = 6 };

/* The observed values of the created tensors. */
struct dlpackgen_torch_seen {
  const uint64_t* plain[DLPACKGEN_TORCH_PLAIN]; /* TensorImpls */
  const uint64_t* inference;                    /* of a plain tensor for inference */
  const uint64_t* others[DLPACKGEN_TORCH_OTHERS];
  uint64_t storage[DLPACKGEN_TORCH_PLAIN]; /* addresses */
  uint64_t offset[DLPACKGEN_TORCH_PLAIN];  /* elements */
  uint64_t bytes[DLPACKGEN_TORCH_PLAIN];
  uint32_t sizes, end; /* the words at which a TensorImpl's sizes begin and its strides end */
};

/* After the strides follow the offset, the number of elements, flags and the keys. A storage begins
 * with two or three words, four words of its data, and the size. */
enum { DLPACKGEN_TORCH_TAIL = 4, DLPACKGEN_TORCH_STORAGE = 8, DLPACKGEN_TORCH_INLINE = 5 };

/* Returns the word that contains each object's value, or 0 if there is no such word or several. */
static uint32_t dlpackgen_torch_only(const uint64_t* const* objects, const uint64_t* values, uint32_t begin,
                                     uint32_t end) {
  uint32_t found = 0;
  for (uint32_t word = begin; word < end; word++) {
    int i = 0;
    while (i < DLPACKGEN_TORCH_PLAIN && objects[i][word] == values[i]) i++;
    if (i < DLPACKGEN_TORCH_PLAIN) continue;
    if (found) return 0;
    found = word;
  }
  return found;
}

/* Whether a word is equal in all plain tensors, and different in all others. */
static bool dlpackgen_torch_reports(const struct dlpackgen_torch_seen* seen, uint32_t word) {
  const uint64_t plain = seen->plain[0][word], usual = plain ^ seen->inference[word];
  for (int i = 1; i < DLPACKGEN_TORCH_PLAIN; i++)
    if (seen->plain[i][word] != plain) return false;
  for (int i = 0; i < DLPACKGEN_TORCH_OTHERS; i++)
    if ((seen->others[i][word] & ~usual) == (plain & ~usual)) return false;
  return (plain & ~usual) != 0;
}

static uint32_t dlpackgen_torch_find_keys(const struct dlpackgen_torch_seen* seen) {
  uint32_t found = 0;
  for (uint32_t word = seen->end; word < seen->end + DLPACKGEN_TORCH_TAIL; word++) {
    if (!dlpackgen_torch_reports(seen, word)) continue;
    if (found) return 0;
    found = word;
  }
  return found;
}

/* Finds all words, or changes nothing. The address of a storage is only dereferenced if every
 * TensorImpl contains it. */
static void dlpackgen_torch_find_words(const struct dlpackgen_torch_seen* seen, struct dlpackgen_torch_words* words) {
  const uint64_t* storages[DLPACKGEN_TORCH_PLAIN];
  const uint32_t end = seen->end, keys = dlpackgen_torch_find_keys(seen);
  const uint32_t offset = dlpackgen_torch_only(seen->plain, seen->offset, end, end + DLPACKGEN_TORCH_TAIL);
  const uint32_t storage = dlpackgen_torch_only(seen->plain, seen->storage, 1, seen->sizes);
  uint32_t bytes;
  if (!keys || !offset || !storage) return;
  for (int i = 0; i < DLPACKGEN_TORCH_PLAIN; i++) memcpy(&storages[i], &seen->plain[i][storage], sizeof *storages);
  bytes = dlpackgen_torch_only(storages, seen->bytes, 1, DLPACKGEN_TORCH_STORAGE);
  if (!bytes) return;
  words->keys = keys;
  words->storage = storage;
  words->offset = offset;
  words->bytes = bytes;
  words->usual = seen->plain[0][keys] ^ seen->inference[keys];
  words->gpu = words->plain = seen->plain[0][keys] & ~words->usual;
}

/* The tensors for the verification. Functions that fail return NULL or -1, with or without an
 * exception. */

#define DLPACKGEN_TORCH_EMPTY(shape, dtype) "torch.empty(" shape ", dtype=torch." dtype ", device='cpu'"

/* They are all plain, and differ in every other property. The storage of the last one is
 * resized. */
static const char* const dlpackgen_torch_plain_ones[DLPACKGEN_TORCH_PLAIN] = {
    DLPACKGEN_TORCH_EMPTY("(5, 7, 1, 2, 3)", "float64") ")",
    DLPACKGEN_TORCH_EMPTY("(300,)", "complex64") ")[200:277]",
    DLPACKGEN_TORCH_EMPTY("(11,)", "float32") ", requires_grad=True)",
    DLPACKGEN_TORCH_EMPTY("()", "bool") ")",
    DLPACKGEN_TORCH_EMPTY("(9, 2)", "int16") ")[4:]",
};

/* Tensors whose keys differ from those of plain ones, each in a different way. */
static const char* const dlpackgen_torch_other_ones[DLPACKGEN_TORCH_OTHERS] = {
    "torch._neg_view(" DLPACKGEN_TORCH_EMPTY("(3,)", "float32") "))",
    DLPACKGEN_TORCH_EMPTY("(3,)", "complex64") ").conj()",
    "torch._to_functional_tensor(" DLPACKGEN_TORCH_EMPTY("(3,)", "float32") "))",
    "torch._efficientzerotensor((3,), dtype=torch.float32, device='cpu')",
    "torch.empty((3,), dtype=torch.float32, device='meta')",
    DLPACKGEN_TORCH_EMPTY("(3,)", "float32") ", layout=torch.sparse_coo)",
};

static PyObject* dlpackgen_torch_eval(PyObject* scope, const char* expression) {
  PyObject* code = Py_CompileString(expression, "dlpackgen", Py_eval_input);
  PyObject* value = code ? PyEval_EvalCode(code, scope, scope) : NULL;
  Py_XDECREF(code);
  return value;
}

static int dlpackgen_torch_number(PyObject* scope, const char* expression, uint64_t* number) {
  PyObject* value = dlpackgen_torch_eval(scope, expression);
  *number = value ? PyLong_AsUnsignedLongLong(value) : 0;
  Py_XDECREF(value);
  return PyErr_Occurred() ? -1 : 0;
}

/* The state of the verification. */
struct dlpackgen_torch_proof {
  struct dlpackgen_torch_known* found;
  PyObject* scope; /* contains torch, and retains the tensors */
  struct dlpackgen_torch_seen seen;
};

/* Returns the TensorImpl of an exact torch.Tensor, if the object contains the address that torch
 * reports; NULL with or without an exception. */
static const uint64_t* dlpackgen_torch_impl_of(const struct dlpackgen_torch_proof* proof, PyObject* tensor) {
  uint64_t address = 0;
  void* handle;
  if ((PyObject*)Py_TYPE(tensor) != *proof->found->tensor) return NULL;
  if (dlpackgen_torch_number(proof->scope, "x._cdata", &address)) return NULL;
  handle = dlpackgen_torch_handle_in(proof->found, tensor);
  return handle && *(uint64_t*)handle == address ? *(const uint64_t**)handle : NULL;
}

/* Creates a tensor from an expression. The scope retains it under the name x and under the
 * expression. */
static int dlpackgen_torch_see(struct dlpackgen_torch_proof* proof, const char* expression, const uint64_t** impl) {
  PyObject *scope = proof->scope, *tensor = dlpackgen_torch_eval(scope, expression);
  const int kept =
      tensor && !PyDict_SetItemString(scope, expression, tensor) && !PyDict_SetItemString(scope, "x", tensor);
  *impl = kept ? dlpackgen_torch_impl_of(proof, tensor) : NULL;
  Py_XDECREF(tensor);
  return *impl ? 0 : -1;
}

/* Finds sizes and strides inside of a TensorImpl with the maximum rank that is stored inline. */
static int dlpackgen_torch_see_sizes(const struct dlpackgen_torch_functions* call, const uint64_t* impl,
                                     struct dlpackgen_torch_seen* seen) {
  void* handle = &impl;
  int64_t *sizes = NULL, *strides = NULL;
  ptrdiff_t bytes;
  if (call->get_sizes(handle, &sizes) != 0 || call->get_strides(handle, &strides) != 0) return -1;
  bytes = (const char*)sizes - (const char*)impl;
  if (bytes < 16 || bytes > 128 || bytes % 8 != 0 || strides != sizes + DLPACKGEN_TORCH_INLINE) return -1;
  seen->sizes = (uint32_t)bytes / 8;
  seen->end = seen->sizes + 2 * DLPACKGEN_TORCH_INLINE;
  return 0;
}

/* The steps */

/* Verifies the offset of the at::Tensor in the object. */
static int dlpackgen_torch_see_handle(struct dlpackgen_torch_proof* proof) {
  const uint64_t* impl;
  return dlpackgen_torch_see(proof, DLPACKGEN_TORCH_EMPTY("(2,)", "float32") ")", &impl);
}

static int dlpackgen_torch_see_ordinary(struct dlpackgen_torch_proof* proof) {
  const int last = DLPACKGEN_TORCH_PLAIN - 1;
  struct dlpackgen_torch_seen* seen = &proof->seen;
  PyObject* scope = proof->scope;
  for (int i = 0; i < DLPACKGEN_TORCH_OTHERS; i++)
    if (dlpackgen_torch_see(proof, dlpackgen_torch_other_ones[i], &seen->others[i])) return -1;
  for (int i = 0; i < DLPACKGEN_TORCH_PLAIN; i++)
    if (dlpackgen_torch_see(proof, dlpackgen_torch_plain_ones[i], &seen->plain[i]) ||
        dlpackgen_torch_number(scope, "x.untyped_storage()._cdata", &seen->storage[i]) ||
        dlpackgen_torch_number(scope, "x.untyped_storage().nbytes()", &seen->bytes[i]) ||
        dlpackgen_torch_number(scope, "x.storage_offset()", &seen->offset[i]))
      return -1;
  if (dlpackgen_torch_number(scope, "x.untyped_storage().resize_(13).nbytes()", &seen->bytes[last])) return -1;
  return dlpackgen_torch_see_sizes(&proof->found->call, seen->plain[0], seen);
}

static int dlpackgen_torch_see_inference(struct dlpackgen_torch_proof* proof) {
  return dlpackgen_torch_see(proof, DLPACKGEN_TORCH_EMPTY("(4,)", "float32") ")", &proof->seen.inference);
}

/* Determines the keys of CUDA tensors without creating one: torch reports in Python by which bits
 * they differ from those on the CPU. */
static int dlpackgen_torch_learn_gpu(struct dlpackgen_torch_proof* proof) {
  struct dlpackgen_torch_words* words = &proof->found->words;
  uint64_t cpu, gpu;
  if (dlpackgen_torch_number(proof->scope, "torch._C.DispatchKeySet(torch._C.DispatchKey.CPU).raw_repr()", &cpu) ||
      dlpackgen_torch_number(proof->scope, "torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA).raw_repr()", &gpu))
    return -1;
  if (words->plain && (words->plain & cpu) == cpu) words->gpu = words->plain ^ cpu ^ gpu;
  return 0;
}

/* The contexts around each step, which disable modes with Python code. */
static const char* const dlpackgen_torch_no_modes[] = {
    "torch._C.DisableTorchFunction()",
    "torch._C._DisableTorchDispatch()",
    "torch._C._DisableFuncTorch()",
    NULL,
};

typedef int (*dlpackgen_torch_step)(struct dlpackgen_torch_proof* proof);

/* Runs a step in contexts, the last of which determines whether tensors are created in inference
 * mode. */
static int dlpackgen_torch_within(struct dlpackgen_torch_proof* proof, const char* const* modes, const char* last,
                                  dlpackgen_torch_step step) {
  PyObject *mode = dlpackgen_torch_eval(proof->scope, *modes ? *modes : last), *left;
  PyObject* entered = mode ? PyObject_CallMethod(mode, "__enter__", NULL) : NULL;
  int failed = !entered;
  if (entered) failed = *modes ? dlpackgen_torch_within(proof, modes + 1, last, step) : step(proof);
  struct dlpackgen_pending pending = dlpackgen_suspend();
  left = entered ? PyObject_CallMethod(mode, "__exit__", "OOO", Py_None, Py_None, Py_None) : NULL;
  failed |= !left;
  if (pending.kind) dlpackgen_resume(pending);
  Py_XDECREF(left);
  Py_XDECREF(entered);
  Py_XDECREF(mode);
  return failed ? -1 : 0;
}

static int dlpackgen_torch_outside(struct dlpackgen_torch_proof* proof, const char* last, dlpackgen_torch_step step) {
  return dlpackgen_torch_within(proof, dlpackgen_torch_no_modes, last, step);
}

/* Clears the exception of a failed verification. Returns 0, or -1 with an exception if the call
 * must fail. */
static int dlpackgen_torch_unproven(void) {
  if (!PyErr_Occurred()) return 0;
  if (PyErr_ExceptionMatches(PyExc_MemoryError) || !PyErr_ExceptionMatches(PyExc_Exception)) return -1;
  PyErr_Clear();
  return 0;
}

/* Verifies the fields with tensors of the module torch. Returns 1, 0 if the handle's offset is not
 * verified, or -1 with an exception if the call must fail. */
static int dlpackgen_torch_prove_in(PyObject* torch, struct dlpackgen_torch_known* found) {
  static const char ordinary[] = "torch.inference_mode(False)", inference[] = "torch.inference_mode(True)";
  struct dlpackgen_torch_proof proof;
  int proven;
  memset(&proof, 0, sizeof proof);
  proof.found = found;
  proof.scope = Py_BuildValue("{sO}", "torch", torch);
  proven = proof.scope && !dlpackgen_torch_outside(&proof, ordinary, dlpackgen_torch_see_handle);
  if (proven && sizeof(void*) == sizeof(uint64_t) && dlpackgen_torch_is_tested(&found->call) &&
      !dlpackgen_torch_outside(&proof, ordinary, dlpackgen_torch_see_ordinary) &&
      !dlpackgen_torch_outside(&proof, inference, dlpackgen_torch_see_inference)) {
    dlpackgen_torch_find_words(&proof.seen, &found->words);
    (void)dlpackgen_torch_outside(&proof, ordinary, dlpackgen_torch_learn_gpu);
  }
  Py_XDECREF(proof.scope);
  return dlpackgen_torch_unproven() ? -1 : proven;
}

/* Verifies the offsets of the fields with the package torch that belongs to the real C module; as
 * above. */
static int dlpackgen_torch_prove(PyObject* base, struct dlpackgen_torch_known* found) {
  PyObject* real = dlpackgen_torch_module(base);
  PyObject* name = real ? PyUnicode_FromString("torch") : NULL;
  PyObject* torch = name ? PyImport_GetModule(name) : NULL;
  PyObject* own = torch ? PyObject_GetAttrString(torch, "_C") : NULL;
  const int proven = own && own == real ? dlpackgen_torch_prove_in(torch, found) : 0;
  Py_XDECREF(own);
  Py_XDECREF(torch);
  Py_XDECREF(name);
  Py_XDECREF(real);
  return proven < 0 || dlpackgen_torch_unproven() ? -1 : proven;
}

#endif /* DLPACKGEN_PYTHON_READER_TORCH_WORDS_H_ */
