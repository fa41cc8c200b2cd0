/*
 * libtorch's stable C shim. Its symbols are looked up in the torch that the program has loaded, so
 * one binary works with many versions. Properties that neither the shim nor PyTorch's exchange
 * table reports are queried with exported functions of libtorch. If a version lacks one of them,
 * its tensors are read through its exchange table and queried in Python. Reading through the shim
 * runs no Python code.
 */
#ifndef DLPACKGEN_PYTHON_READER_TORCH_SHIM_H_
#define DLPACKGEN_PYTHON_READER_TORCH_SHIM_H_

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "loaded.h"
#include "reader_elements.h"
#include "reader_torch_dtypes.h"
#include "reader_types.h"

/* The newest tested minor version of torch 2. The fields below are not read in newer versions. */
#ifndef DLPACKGEN_TORCH_NEWEST_TESTED
#define DLPACKGEN_TORCH_NEWEST_TESTED 15
#endif

/* Functions of libtorch. A handle is the address of an at::Tensor, whose only member points to the
 * TensorImpl. Functions that return int32_t return 0 on success. */
struct dlpackgen_torch_functions {
  int32_t (*get_data)(void* handle, void** data); /* separates copy-on-write memory */
  int32_t (*get_dim)(void* handle, int64_t* dim);
  int32_t (*get_sizes)(void* handle, int64_t** sizes);
  int32_t (*get_strides)(void* handle, int64_t** strides);
  int32_t (*get_dtype)(void* handle, int32_t* dtype);
  int32_t (*get_device_type)(void* handle, int32_t* type);
  int32_t (*get_device_index)(void* handle, int32_t* index);
  int32_t (*device_cpu)(void);
  int32_t (*device_cuda)(void);
  int32_t (*layout_strided)(void);
  bool (*grad_mode)(void);
  int32_t (*get_storage_size)(void* handle, int64_t* bytes);
  int32_t (*get_storage_offset)(void* handle, int64_t* elements);
  int32_t (*get_layout)(void* handle, int32_t* layout);
  bool (*is_neg)(const void* handle);
  bool (*is_conj)(const void* handle);
  bool (*requires_grad)(const void* impl);
  /* The rest may be NULL. */
  int32_t (*get_const_data)(void* handle, const void** data);
  uint64_t (*abi_version)(void); /* from 2.10 on: torch's version, one byte per number, from the highest */
};

/* A word of the TensorImpl, or of the storage, counted from 0, that is never the result of the
 * search. */
struct dlpackgen_torch_words {
  uint32_t keys, storage, offset; /* of the TensorImpl */
  uint32_t bytes;                 /* of the storage */
  uint64_t usual;                 /* the keys that tensors for inference lack */
  uint64_t plain;                 /* the other keys of dense tensors on the CPU; 0 if not verified */
  uint64_t gpu;                   /* those of dense tensors on CUDA; equal to plain if torch does not report them */
};

/* The functions and properties of the torch in this process. */
struct dlpackgen_torch_known {
  struct dlpackgen_torch_functions call;
  struct dlpackgen_torch_words words;
  DLDataType dtypes[DLPACKGEN_TORCH_DTYPES]; /* lanes is 0 for dtypes that DLPack lacks */
  int32_t cpu, cuda, strided;
  DLDeviceType gpu;    /* the device type of `cuda`: torch for ROCm uses the same name for its devices */
  ptrdiff_t handle;    /* the offset of the at::Tensor in the object */
  bool is_maybe_owned; /* preceded by a flag whether the object owns it, as before 2.10 */
  PyObject *const *tensor, *const *parameter; /* the addresses at which torch itself stores its two types */
  /* The reader that dlpackgen_torch has installed, or NULL. It is compiled against this torch, and
   * faster than the shim. It returns 0 if it has read the tensor, with shape and strides in the
   * scratch memory of borrow(), or 1 if the shim must read it. */
  int (*read)(void* object, int writable, DLTensor* out, int64_t* scratch);
};

/* Written once, before any access method that uses it is published, so readers need no lock. */
static struct dlpackgen_torch_known dlpackgen_torch;
static int dlpackgen_torch_claimed, dlpackgen_torch_published;

DLPACKGEN_FAST bool dlpackgen_torch_is_known(void) { return DLPACKGEN_LOAD(&dlpackgen_torch_published) != 0; }

/* Publishes the functions. If several threads look them up concurrently, which is possible without
 * the GIL, the first one publishes them. The others wait until the copy is complete. */
static void dlpackgen_torch_publish(const struct dlpackgen_torch_known* found) {
  if (DLPACKGEN_CLAIM(&dlpackgen_torch_claimed)) {
    dlpackgen_torch = *found;
    DLPACKGEN_STORE(&dlpackgen_torch_published, 1);
  }
  while (!dlpackgen_torch_is_known()) {
  }
}

/* The symbols of struct dlpackgen_torch_functions, in its order. */
static const char dlpackgen_torch_names[] =
    "aoti_torch_get_data_ptr\0"
    "aoti_torch_get_dim\0"
    "aoti_torch_get_sizes\0"
    "aoti_torch_get_strides\0"
    "aoti_torch_get_dtype\0"
    "aoti_torch_get_device_type\0"
    "aoti_torch_get_device_index\0"
    "aoti_torch_device_type_cpu\0"
    "aoti_torch_device_type_cuda\0"
    "aoti_torch_layout_strided\0"
    "aoti_torch_grad_mode_is_enabled\0"
    "aoti_torch_get_storage_size\0"
    "aoti_torch_get_storage_offset\0"
    "aoti_torch_get_layout\0"
    "_ZN2at6native6is_negERKNS_6TensorE\0"
    "_ZN2at6native7is_conjERKNS_6TensorE\0"
    "_ZNK3c1010TensorImpl13requires_gradEv\0"
    "?torch_get_const_data_ptr\0"
    "?aoti_torch_abi_version\0";

/* Finds all functions, or none. */
static bool dlpackgen_torch_link(void* library, struct dlpackgen_torch_functions* call) {
  return !dlpackgen_loaded_link(library, dlpackgen_torch_names, call);
}

static void dlpackgen_torch_learn_dtypes(void* library, DLDataType* dtypes) {
  const size_t count = sizeof dlpackgen_torch_dtypes / sizeof *dlpackgen_torch_dtypes;
  dlpackgen_loaded_store_dtypes(library, dlpackgen_torch_dtypes, count, dtypes);
}

/* Returns torch's C type from which all tensors derive, if a type derives from it: a borrowed
 * reference, or NULL, with an exception only if a lookup failed. */
static PyObject* dlpackgen_torch_base(PyObject* type) { return dlpackgen_c_base(type, "torch._C", "TensorBase"); }

/* Returns torch's own C module, which a program may have replaced: a new reference, or NULL, with
 * an exception only if a lookup failed. */
static PyObject* dlpackgen_torch_module(PyObject* base) {
  PyObject* name = PyUnicode_FromString("torch._C");
  PyObject* module = name ? PyImport_GetModule(name) : NULL;
  PyObject* type = module ? PyObject_GetAttrString(module, "TensorBase") : NULL;
  if (type != base) Py_CLEAR(module);
  if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
  Py_XDECREF(type);
  Py_XDECREF(name);
  return module;
}

/* Returns the loaded library of that module, or NULL, with an exception only if memory is
 * exhausted. */
static void* dlpackgen_torch_find(PyObject* base) {
  PyObject* module = dlpackgen_torch_module(base);
  PyObject* file = module ? PyObject_GetAttrString(module, "__file__") : NULL;
  PyObject* path = NULL;
  void* library = NULL;
  if (file && PyUnicode_FSConverter(file, &path)) library = dlpackgen_loaded_open(PyBytes_AsString(path));
  Py_XDECREF(path);
  Py_XDECREF(file);
  Py_XDECREF(module);
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_MemoryError)) PyErr_Clear();
  return library;
}

/* Looks up the two Python types that torch itself treats as plain tensors. A type that only has the
 * name of one of them can then be recognized. */
static bool dlpackgen_torch_find_types(void* library, struct dlpackgen_torch_known* found) {
  void* tensor = library ? dlpackgen_loaded_symbol(library, "THPVariableClass") : NULL;
  void* parameter = library ? dlpackgen_loaded_symbol(library, "ParameterClass") : NULL;
  memcpy(&found->tensor, &tensor, sizeof tensor);
  memcpy(&found->parameter, &parameter, sizeof parameter);
  return tensor && parameter;
}

static int dlpackgen_torch_compare(const struct dlpackgen_torch_known* known, const PyObject* type) {
  return type == *known->tensor || type == *known->parameter ? DLPACKGEN_TYPE_EXACT : DLPACKGEN_TYPE_DERIVED;
}

static int dlpackgen_torch_recognize(PyObject* type) {
  struct dlpackgen_torch_known found;
  PyObject* base = dlpackgen_torch_base(type);
  if (!base) return PyErr_Occurred() ? -1 : DLPACKGEN_TYPE_OTHER;
  if (dlpackgen_torch_is_known()) return dlpackgen_torch_compare(&dlpackgen_torch, type);
  if (dlpackgen_torch_find_types(dlpackgen_torch_find(base), &found)) return dlpackgen_torch_compare(&found, type);
  return PyErr_Occurred() ? -1 : DLPACKGEN_TYPE_DERIVED;
}

/* Whether this torch was built for ROCm. */
static bool dlpackgen_torch_is_rocm(void) {
  PyObject* hip = dlpackgen_imported("torch.version", "hip");
  const bool is_rocm = hip && hip != Py_None;
  Py_XDECREF(hip);
  return is_rocm;
}

/* Whether a torch is not newer than the newest version whose fields were tested. */
static bool dlpackgen_torch_is_tested(const struct dlpackgen_torch_functions* call) {
  const uint64_t version = call->abi_version ? call->abi_version() : 0;
  return version < (UINT64_C(2) << 56 | (uint64_t)(DLPACKGEN_TORCH_NEWEST_TESTED + 1) << 48);
}

/* The presumed offset of the at::Tensor, from the size of the class that contains it; to be
 * verified. */
static bool dlpackgen_torch_guess_handle(PyObject* base, struct dlpackgen_torch_known* found) {
  PyObject* size = PyObject_GetAttrString(base, "__basicsize__");
  const long basic = size ? PyLong_AsLong(size) : -1;
  const long head = (long)sizeof(PyObject), word = (long)sizeof(void*);
  Py_XDECREF(size);
  found->is_maybe_owned = basic == head + 4 * word;
  found->handle = head + (found->is_maybe_owned ? word : 0);
  return basic == head + 3 * word || basic == head + 4 * word;
}

/* Returns the at::Tensor in a torch object, or NULL if another access method must be used. */
DLPACKGEN_FAST void* dlpackgen_torch_handle_in(const struct dlpackgen_torch_known* known, PyObject* object) {
  char* handle = (char*)object + known->handle;
  /* A tensor that only C++ owns is reached through one more pointer. */
  if (known->is_maybe_owned && handle[-(ptrdiff_t)sizeof(void*)] != 0) return NULL;
  return *(void**)(void*)handle ? handle : NULL;
}

DLPACKGEN_FAST void* dlpackgen_torch_handle(PyObject* object) {
  return dlpackgen_torch_handle_in(&dlpackgen_torch, object);
}

#endif /* DLPACKGEN_PYTHON_READER_TORCH_SHIM_H_ */
