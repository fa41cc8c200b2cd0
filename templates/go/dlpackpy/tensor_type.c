//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "python.h"

#include "dlpackgen_codes.h"
#include "dlpackgen_rules.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "copy.h"

#define py dlp_00000000_py_python
#define BufferError dlp_00000000_py_exception("BufferError")

/* The object type of package dlpack's table, and its destructor: C functions of another package,
 * which the linker cannot find by name. */
static const DLPackExchangeAPI* inner;
static void (*release_object)(void* object);
static const DLPackExchangeAPI* outer; /* the table for this type */

void dlp_00000000_py_prepare(const DLPackExchangeAPI* objects, void* release, const DLPackExchangeAPI* table) {
  inner = objects;
  *(void**)&release_object = release;
  outer = table;
}

/* A Python tensor: an object without fields, followed by these fields. */
struct fields {
  void* object; /* of package dlpack; NULL if Python created the tensor */
  uint64_t flags;
};

static PyObject* type;

static struct fields* fields_of(PyObject* self) { return (struct fields*)(void*)((char*)self + py.head); }

bool dlp_00000000_py_is_own(PyObject* of) { return of == type; }

uint64_t dlp_00000000_py_flags(PyObject* object) { return fields_of(object)->flags; }

uintptr_t dlp_00000000_py_export(uintptr_t object, uint64_t flags) {
  PyObject* made = py.PyType_GenericAlloc(type, 0);
  if (!made) {
    release_object((void*)object);
    return 0;
  }
  /* A shared copy no longer belongs to one consumer. */
  *fields_of(made) = (struct fields){(void*)object, flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED};
  return (uintptr_t)made;
}

static void dealloc(PyObject* self) {
  PyObject *own = py.PyObject_Type(self), *kind, *value, *trace;
  /* The tensor may be Python's own, whose deleter runs Python code. */
  py.PyErr_Fetch(&kind, &value, &trace);
  if (fields_of(self)->object) release_object(fields_of(self)->object);
  py.PyErr_Restore(kind, value, trace);
  py.PyObject_Free(self);
  py.Py_DecRef(own);
  py.Py_DecRef(own); /* an object owns its type */
}

/* Returns the fields of a tensor; NULL with an exception. */
static const struct fields* tensor_of(void* object) {
  PyObject* of = py.PyObject_Type(object);
  py.Py_DecRef(of);
  if (of != type) py.PyErr_SetString(dlp_00000000_py_exception("TypeError"), DLPACKGEN_TEXT_FOREIGN_OBJECT);
  else if (!fields_of(object)->object) py.PyErr_SetString(BufferError, "the object has no tensor");
  else return fields_of(object);
  return NULL;
}

/* The table */

int dlp_00000000_py_managed(void* object, DLManagedTensorVersioned** out) {
  const struct fields* tensor = tensor_of(object);
  if (!tensor) return -1;
  if (inner->managed_tensor_from_py_object_no_sync(tensor->object, out)) {
    py.PyErr_NoMemory();
    return -1;
  }
  (*out)->flags = tensor->flags;
  return 0;
}

/* A borrowed view has no read-only flag, so the consumer would write to it. */
int dlp_00000000_py_borrow(void* object, DLTensor* out) {
  const struct fields* tensor = tensor_of(object);
  if (!tensor) return -1;
  if (!tensor->flags) return inner->dltensor_from_py_object_no_sync(tensor->object, out);
  py.PyErr_SetString(BufferError, DLPACKGEN_TEXT_NO_FLAGS);
  return -1;
}

int dlp_00000000_py_wrap(DLManagedTensorVersioned* tensor, void** out) {
  PyObject* made = py.PyType_GenericAlloc(type, 0); /* first, because the caller keeps a rejected tensor */
  if (!made) return -1;
  struct fields* fields = fields_of(made);
  fields->flags = tensor ? tensor->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED : 0;
  if (inner->managed_tensor_to_py_object_no_sync(tensor, &fields->object)) {
    fields->object = NULL;
    py.Py_DecRef(made);
    py.PyErr_SetString(BufferError, "no tensor of this version of DLPack, or out of memory");
    return -1;
  }
  *out = made;
  return 0;
}

void dlp_00000000_py_set_error(void* unused, const char* kind, const char* message) {
  (void)unused;
  py.PyErr_SetString(dlp_00000000_py_exception(kind), message);
}

/* Capsules */

/* Python stores the pointers to these names, not copies. */
static const char fresh[] = DLPACKGEN_CAPSULE, fresh_versioned[] = DLPACKGEN_CAPSULE_VERSIONED;

static void delete_versioned(DLManagedTensorVersioned* tensor) {
  if (tensor->deleter) tensor->deleter(tensor);
}

/* A consumer renames the capsule when it takes the tensor; otherwise, the capsule frees it. The
 * capsule may be deleted while an exception is set. */
static void destroy(PyObject* capsule) {
  PyObject *kind, *value, *trace;
  py.PyErr_Fetch(&kind, &value, &trace);
  if (py.PyCapsule_IsValid(capsule, fresh_versioned)) {
    delete_versioned(py.PyCapsule_GetPointer(capsule, fresh_versioned));
  } else if (py.PyCapsule_IsValid(capsule, fresh)) {
    DLManagedTensor* tensor = py.PyCapsule_GetPointer(capsule, fresh);
    tensor->deleter(tensor);
  }
  py.PyErr_Restore(kind, value, trace);
}

static PyObject* versioned_capsule(DLManagedTensorVersioned* tensor) {
  PyObject* capsule = py.PyCapsule_New(tensor, fresh_versioned, destroy);
  if (!capsule) delete_versioned(tensor);
  return capsule;
}

static void delete_legacy(DLManagedTensor* self) {
  delete_versioned(self->manager_ctx);
  free(self);
}

/* Flags that the old struct cannot store must not be lost. */
static PyObject* legacy_capsule(DLManagedTensorVersioned* tensor) {
  DLManagedTensor* made = NULL;
  uint64_t lost = tensor->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED;
  if (lost) py.PyErr_SetString(BufferError, DLPACKGEN_TEXT_LEGACY);
  else if (!(made = malloc(sizeof *made))) py.PyErr_NoMemory();
  if (!made) {
    delete_versioned(tensor);
    return NULL;
  }
  *made = (DLManagedTensor){tensor->dl_tensor, tensor, delete_legacy};
  PyObject* capsule = py.PyCapsule_New(made, fresh, destroy);
  if (!capsule) delete_legacy(made);
  return capsule;
}

/* Copies */

/* Replaces a tensor by a copy in new memory; NULL with an exception. */
static DLManagedTensorVersioned* copied(DLManagedTensorVersioned* tensor) {
  const DLTensor* from = &tensor->dl_tensor;
  const size_t item = dlpackgen_item_of(from, 0);
  DLManagedTensorVersioned* made = NULL;
  DLTensor like = *from;
  like.device = (DLDevice){kDLCPU, 0};
  if (item == 0) py.PyErr_SetString(BufferError, DLPACKGEN_TEXT_WHOLE_BYTES);
  else if (!inner->managed_tensor_allocator(&like, &made, NULL, dlp_00000000_py_set_error)) {
    if (made->dl_tensor.data)
      dlpackgen_copy_along(0, from, made->dl_tensor.data, (char*)from->data + from->byte_offset, item);
    made->flags = DLPACK_FLAG_BITMASK_IS_COPIED;
  }
  delete_versioned(tensor);
  return made;
}

/* Methods */

/* Reads a pair of integers; false with an exception. */
static bool pair(PyObject* tuple, const char* name, long long out[2]) {
  if (py.PyTuple_Size(tuple) != 2) {
    py.PyErr_Clear();
    py.PyErr_Format(dlp_00000000_py_exception("TypeError"), DLPACKGEN_TEXT_NO_PAIR, name);
    return false;
  }
  for (int i = 0; i < 2; i++) {
    out[i] = py.PyLong_AsLongLong(py.PyTuple_GetItem(tuple, i));
    if (out[i] == -1 && py.PyErr_Occurred()) return false;
  }
  return true;
}

/* The producer of such a tensor exports finished data, so no stream needs to wait. The host has no
 * streams, and -1 requests no synchronization. */
static bool stream_fits(PyObject* stream, DLDevice device) {
  if (stream == py.None || !dlpackgen_device_is_host((int32_t)device.device_type)) return true;
  long long number = py.PyLong_AsLongLong(stream);
  if (number == -1) return !py.PyErr_Occurred();
  if (!py.PyErr_Occurred()) py.PyErr_Format(BufferError, "stream is %lld, but host memory has no streams", number);
  return false;
}

/* The memory is exported in place or, unless forbidden, as a copy in host memory. */
static bool device_fits(PyObject* wanted, DLDevice device, bool in_place, bool* copy) {
  long long want[2];
  if (wanted == py.None) return true;
  if (!pair(wanted, "dl_device", want)) return false;
  if (want[0] == (long long)device.device_type && want[1] == device.device_id) return true;
  if (want[0] == kDLCPU && dlpackgen_device_is_host_readable((int32_t)device.device_type) && !in_place)
    return *copy = true;
  py.PyErr_Format(BufferError, DLPACKGEN_TEXT_OTHER_DEVICE, (int)device.device_type, (int)device.device_id, want[0],
                  want[1]);
  return false;
}

/* The arguments of __dlpack__ that have an effect. */
struct export_options {
  bool versioned, copy;
};

static bool parse(PyObject* args, PyObject* keywords, DLDevice device, struct export_options* options) {
  static char* names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = py.None, *version = py.None, *where = py.None, *copy = py.None;
  long long newest[2] = {0, 0};
  if (!py.PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", names, &stream, &version, &where, &copy))
    return false;
  if (version != py.None && !pair(version, "max_version", newest)) return false;
  int truth = copy == py.None ? 0 : py.PyObject_IsTrue(copy);
  options->versioned = newest[0] >= DLPACKGEN_VERSIONED_MAJOR;
  options->copy = truth > 0;
  bool in_place = copy != py.None && !truth;
  return truth >= 0 && stream_fits(stream, device) && device_fits(where, device, in_place, &options->copy);
}

static PyObject* dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  DLManagedTensorVersioned* tensor;
  struct export_options options;
  if (dlp_00000000_py_managed(self, &tensor)) return NULL;
  if (!parse(args, keywords, tensor->dl_tensor.device, &options)) {
    delete_versioned(tensor);
    return NULL;
  }
  if (options.copy && !(tensor = copied(tensor))) return NULL;
  return options.versioned ? versioned_capsule(tensor) : legacy_capsule(tensor);
}

static PyObject* dlpack_device(PyObject* self, PyObject* none) {
  (void)none;
  DLManagedTensorVersioned* tensor; /* a tensor with flags is not lent */
  if (dlp_00000000_py_managed(self, &tensor)) return NULL;
  const DLDevice device = tensor->dl_tensor.device;
  delete_versioned(tensor);
  PyObject* made = py.PyTuple_New(2);
  if (!made) return NULL;
  py.PyTuple_SetItem(made, 0, py.PyLong_FromLongLong(device.device_type));
  py.PyTuple_SetItem(made, 1, py.PyLong_FromLongLong(device.device_id));
  return made;
}

/* The type */

/* Adds the table to the type, under its names in DLPack 1.3 and 1.2. */
static bool offer(PyObject* to) {
  PyObject* capsule = py.PyCapsule_New((void*)outer, DLPACKGEN_CAPSULE_EXCHANGE_API, NULL);
  PyObject* number = py.PyLong_FromLongLong((long long)(intptr_t)outer);
  bool put = capsule && number && !py.PyObject_SetAttrString(to, DLPACKGEN_ATTRIBUTE_EXCHANGE_API, capsule) &&
             !py.PyObject_SetAttrString(to, DLPACKGEN_ATTRIBUTE_OLDER_EXCHANGE_API, number);
  py.Py_DecRef(capsule);
  py.Py_DecRef(number);
  return put;
}

PyObject* dlp_00000000_py_tensor_type(const char* name) {
  static PyMethodDef methods[] = {
      {"__dlpack__", (PyCFunction)(void (*)(void))dlpack, METH_VARARGS | METH_KEYWORDS,
       "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nReturns the tensor in a capsule."},
      {"__dlpack_device__", dlpack_device, METH_NOARGS,
       "__dlpack_device__($self, /)\n--\n\nReturns the type and the id of the tensor's device."},
      {NULL, NULL, 0, NULL},
  };
  PyType_Slot slots[] = {
      {Py_tp_dealloc, (void*)(uintptr_t)dealloc},
      {Py_tp_methods, methods},
      {Py_tp_doc, "A tensor of Go for consumers of DLPack, such as numpy.from_dlpack and torch.from_dlpack."},
      {0, NULL},
  };
  PyType_Spec spec = {name, (int)(py.head + sizeof(struct fields)), 0, Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  if (type) return type;
  PyObject* made = py.PyType_FromSpec(&spec);
  if (made && !offer(made)) {
    py.Py_DecRef(made);
    return NULL;
  }
  return type = made;
}
