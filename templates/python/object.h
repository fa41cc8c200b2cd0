/* The type of the tensors that a module exports. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_OBJECT_H_
#define DLPACKGEN_PYTHON_OBJECT_H_

#include "begin.h"
#include "copy.h"

struct dlpackgen_object {
  PyObject_HEAD DLManagedTensorVersioned* tensor;
  const dlpackgen_backend* table; /* the backend for unfinished work, or NULL */
  void* stream;                   /* of the unfinished work */
};

/* The existing modules, newest first. A program may import this file more than once, and the
 * functions of a table do not receive their module. The types of all modules have the same layout.
 * Guarded by the GIL. */
static struct dlpackgen_state* dlpackgen_newest;

static void dlpackgen_list_module(struct dlpackgen_state* state) {
  state->older = dlpackgen_newest;
  dlpackgen_newest = state;
}

/* Does nothing for a module that is not listed. */
static void dlpackgen_unlist_module(struct dlpackgen_state* state) {
  struct dlpackgen_state** place = &dlpackgen_newest;
  while (*place && *place != state) place = &(*place)->older;
  if (*place) *place = state->older;
}

static void dlpackgen_object_dealloc(PyObject* self) {
  PyObject* type = (PyObject*)Py_TYPE(self);
  freefunc release = (freefunc)(uintptr_t)PyType_GetSlot((PyTypeObject*)type, Py_tp_free);
  dlpackgen_delete_quietly(((struct dlpackgen_object*)self)->tensor, NULL);
  release(self);
  Py_DECREF(type); /* an object owns its type */
}

/* Creates an object of a type, and takes ownership of the tensor, also on failure. */
static PyObject* dlpackgen_new_object(PyObject* type, DLManagedTensorVersioned* tensor) {
  DLManagedTensorVersioned* whole = dlpackgen_with_strides(tensor);
  PyObject* made = whole ? PyType_GenericAlloc((PyTypeObject*)type, 0) : NULL;
  if (made) ((struct dlpackgen_object*)made)->tensor = whole;
  else dlpackgen_delete_quietly(whole ? whole : tensor, NULL);
  return made;
}

DLPACKGEN_PYTHON_API PyObject* dlpackgen_export_object(PyObject* module, DLManagedTensorVersioned* tensor) {
  return dlpackgen_new_object(dlpackgen_state_of(module)->tensor, tensor);
}

/* Returns the tensor of an object of this type; NULL with an exception for any other object. */
static DLManagedTensorVersioned* dlpackgen_tensor_of(PyObject* object) {
  destructor ends = (destructor)(uintptr_t)PyType_GetSlot(Py_TYPE(object), Py_tp_dealloc);
  if (ends == dlpackgen_object_dealloc) return ((struct dlpackgen_object*)object)->tensor;
  PyErr_SetString(PyExc_TypeError, DLPACKGEN_TEXT_FOREIGN_OBJECT);
  return NULL;
}

/* Adds the offset to the address, because some libraries ignore the offset: Paddle 3.3 reads the
 * memory before it. The offset of a handle cannot be added. */
static DLTensor dlpackgen_without_offset(const DLTensor* tensor) {
  DLTensor view = *tensor;
  if (!view.data || dlpackgen_device_is_opaque((int32_t)view.device.device_type)) return view;
  view.data = (char*)view.data + view.byte_offset;
  view.byte_offset = 0;
  return view;
}

static int dlpackgen_borrow_own(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags) {
  const DLManagedTensorVersioned* own = ((struct dlpackgen_object*)object)->tensor;
  if (((struct dlpackgen_object*)object)->table) return 1; /* its __dlpack__ makes the consumer's stream wait for it */
  *out = dlpackgen_without_offset(&own->dl_tensor);
  *flags = own->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED;
  if (writable && *flags & DLPACK_FLAG_BITMASK_READ_ONLY) return dlpackgen_reject(DLPACKGEN_TEXT_READ_ONLY);
  dlpackgen_copies(out, scratch);
  return 0;
}

/* With several consumers, a copy does not belong to one of them any more. */
static DLManagedTensorVersioned* dlpackgen_share(PyObject* self, const DLManagedTensorVersioned* tensor) {
  const DLTensor view = dlpackgen_without_offset(&tensor->dl_tensor);
  return dlpackgen_from_owner(self, &view, tensor->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED);
}

/* The table */

static int dlpackgen_table_allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                                    void (*set_error)(void*, const char*, const char*)) {
  const int fits = prototype->device.device_type == kDLCPU;
  PyGILState_STATE gil = PyGILState_Ensure();
  *out = fits ? dlpackgen_allocate(prototype->dtype, prototype->ndim, prototype->shape) : NULL;
  const int no_memory = fits && !*out && PyErr_ExceptionMatches(PyExc_MemoryError);
  if (fits && !*out) PyErr_Clear();
  PyGILState_Release(gil);
  if (*out) return 0;
  if (!set_error) return -1;
  if (!fits) set_error(context, "BufferError", "memory can be allocated only on the CPU");
  else set_error(context, no_memory ? "MemoryError" : "ValueError", "cannot create a tensor of this shape and dtype");
  return -1;
}

static int dlpackgen_table_managed(void* object, DLManagedTensorVersioned** out) {
  const DLManagedTensorVersioned* tensor = dlpackgen_tensor_of((PyObject*)object);
  *out = tensor ? dlpackgen_share((PyObject*)object, tensor) : NULL;
  return *out ? 0 : -1;
}

/* On failure, the caller keeps the tensor. */
static int dlpackgen_table_wrap(DLManagedTensorVersioned* tensor, void** out) {
  const dlpackgen_error_code error = dlpackgen_validate_versioned(tensor, DLPACKGEN_ACCEPT_NULL_STRIDES);
  struct dlpackgen_object* made = NULL;
  *out = NULL;
  if (error != DLPACKGEN_OK) dlpackgen_reject_error(tensor ? &tensor->dl_tensor : NULL, error);
  else if (!dlpackgen_newest) PyErr_SetString(PyExc_RuntimeError, "the module of this exchange table was unloaded");
  else made = (struct dlpackgen_object*)PyType_GenericAlloc((PyTypeObject*)dlpackgen_newest->tensor, 0);
  if (!made) return -1;
  made->tensor = dlpackgen_with_strides(tensor);
  if (made->tensor) *out = made;
  else Py_DECREF((PyObject*)made);
  return *out ? 0 : -1;
}

/* A borrowed view has no flags, so a consumer would write to it. */
static int dlpackgen_table_borrow(void* object, DLTensor* out) {
  const DLManagedTensorVersioned* tensor = dlpackgen_tensor_of((PyObject*)object);
  if (!tensor) return -1;
  if (tensor->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED) return dlpackgen_reject(DLPACKGEN_TEXT_NO_FLAGS);
  *out = dlpackgen_without_offset(&tensor->dl_tensor);
  return 0;
}

static int dlpackgen_table_stream(DLDeviceType device_type, int32_t device_id, void** out) {
  (void)device_id;
  *out = NULL;
  if (dlpackgen_device_is_host((int32_t)device_type)) return 0;
  PyErr_SetString(PyExc_RuntimeError, "tensors of this type have no streams");
  return -1;
}

static const DLPackExchangeAPI dlpackgen_own_table = {
    {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, NULL},
    dlpackgen_table_allocate,
    dlpackgen_table_managed,
    dlpackgen_table_wrap,
    dlpackgen_table_borrow,
    dlpackgen_table_stream,
};

/* Copies */

/* Returns the data type by which a tensor is copied. Padded elements are copied as bytes: a
 * DLTensor alone has no flags, so they would be treated as packed. */
static DLDataType dlpackgen_copied_as(const DLManagedTensorVersioned* tensor) {
  const DLDataType dtype = tensor->dl_tensor.dtype;
  const uint64_t bits = dlpackgen_element_bits(dtype, tensor->flags);
  const int is_padded = (tensor->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0;
  if (dtype.bits >= DLPACKGEN_PACKED_BELOW || !is_padded) return dtype;
  const DLDataType bytes = {kDLUInt, 8, (uint16_t)(bits / 8)};
  return bytes;
}

/* Copies the properties of the original to the copy. */
static DLManagedTensorVersioned* dlpackgen_label_copy(DLManagedTensorVersioned* made,
                                                      const DLManagedTensorVersioned* of) {
  made->dl_tensor.dtype = of->dl_tensor.dtype;
  made->flags = DLPACK_FLAG_BITMASK_IS_COPIED | (of->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);
  return made;
}

/* Finds the backend for memory of an object that the host cannot read; NULL if there is none. The
 * backend of unfinished work takes precedence. */
static const dlpackgen_backend* dlpackgen_extends(PyObject* self, DLDevice device) {
  const struct dlpackgen_state* state = (const struct dlpackgen_state*)PyType_GetModuleState(Py_TYPE(self));
  const struct dlpackgen_backend_entry* found = state ? dlpackgen_streams_at(state, device) : NULL;
  if (((struct dlpackgen_object*)self)->table) return ((struct dlpackgen_object*)self)->table;
  return found && !dlpackgen_device_is_host_readable((int32_t)device.device_type) ? found->table : NULL;
}

/* Copies from a device, after the work on the tensor's stream, or on the default stream if that
 * work is finished. */
static DLManagedTensorVersioned* dlpackgen_copied_by_backend(const struct dlpackgen_object* object,
                                                             const dlpackgen_backend* table) {
  DLTensor from = object->tensor->dl_tensor;
  const dlpackgen_stream stream = dlpackgen_stream_at(from.device, object->stream);
  dlpackgen_backend_error error;
  from.dtype = dlpackgen_copied_as(object->tensor);
  DLManagedTensorVersioned* made = dlpackgen_allocate(from.dtype, from.ndim, from.shape);
  if (!made) return NULL;
  if (table->copy(&made->dl_tensor, &from, &stream, &error) == DLPACKGEN_BACKEND_OK)
    return dlpackgen_label_copy(made, object->tensor);
  PyErr_SetString(dlpackgen_backend_kind(error.code), error.text);
  dlpackgen_delete_quietly(made, NULL);
  return NULL;
}

/* Creates a copy in new memory on the CPU. `table` is the backend for the memory, or NULL. */
static DLManagedTensorVersioned* dlpackgen_copied(const struct dlpackgen_object* object,
                                                  const dlpackgen_backend* table) {
  const DLTensor* from = &object->tensor->dl_tensor;
  const size_t item = dlpackgen_item_of(from, object->tensor->flags);
  if (table) return dlpackgen_copied_by_backend(object, table);
  if (item == 0) {
    dlpackgen_reject(DLPACKGEN_TEXT_WHOLE_BYTES);
    return NULL;
  }
  DLManagedTensorVersioned* made = dlpackgen_allocate(dlpackgen_copied_as(object->tensor), from->ndim, from->shape);
  if (!made) return NULL;
  if (made->dl_tensor.data)
    dlpackgen_copy_along(0, from, (char*)made->dl_tensor.data, (const char*)from->data + from->byte_offset, item);
  return dlpackgen_label_copy(made, object->tensor);
}

/* __dlpack__ */

/* Reads a pair of integers; 0 with an exception. */
static int dlpackgen_pair(PyObject* tuple, const char* name, long long out[2]) {
  if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 2) {
    PyErr_Format(PyExc_TypeError, DLPACKGEN_TEXT_NO_PAIR, name);
    return 0;
  }
  for (int i = 0; i < 2; i++) {
    if (dlpackgen_number(PyTuple_GetItem(tuple, i), &out[i])) return 0;
  }
  return 1;
}

/* Exported tensors are finished, so no stream needs to wait. Numbers that are not streams of the
 * device are still rejected. A backend accepts further numbers. */
static int dlpackgen_stream_fits(PyObject* stream, DLDevice device, const dlpackgen_backend* table) {
  const enum dlpackgen_streams streams = dlpackgen_streams_of((int32_t)device.device_type);
  dlpackgen_stream known;
  dlpackgen_backend_error error;
  char where[32];
  if (stream == Py_None) return 1;
  long long number;
  if (dlpackgen_number(stream, &number)) return 0;
  if (number == -1 || !dlpackgen_stream_is_rejected(streams, number)) return 1;
  if (streams == DLPACKGEN_STREAMS_NONE && table) {
    const int64_t requested = number;
    if (table->stream_from_dlpack(device, &requested, &known, &error) == DLPACKGEN_BACKEND_OK) return 1;
    PyErr_SetString(dlpackgen_backend_kind(error.code), error.text);
    return 0;
  }
  PyErr_Format(PyExc_RuntimeError, "stream %lld is invalid on %s", number, dlpackgen_device_text(device, where));
  return 0;
}

/* The relevant arguments of __dlpack__. */
struct dlpackgen_export_options {
  int versioned, copy, in_place;
  const dlpackgen_backend* reaches; /* the backend that brings it to the host, or NULL */
  int to_host;
  PyObject* stream;
};

/* The memory is exported in place or, unless that is forbidden, as a copy in host memory. */
static int dlpackgen_device_fits(PyObject* wanted, DLDevice device, struct dlpackgen_export_options* options) {
  long long want[2];
  if (wanted == Py_None) return 1;
  if (!dlpackgen_pair(wanted, "dl_device", want)) return 0;
  if (want[0] == (long long)device.device_type && want[1] == device.device_id) return 1;
  const int readable = options->reaches || dlpackgen_device_is_host_readable((int32_t)device.device_type);
  if (want[0] == kDLCPU && readable && !options->in_place) return options->copy = options->to_host = 1;
  PyErr_Format(PyExc_BufferError, DLPACKGEN_TEXT_OTHER_DEVICE, (int)device.device_type, (int)device.device_id, want[0],
               want[1]);
  return 0;
}

static int dlpackgen_parse_export_options(PyObject* args, PyObject* keywords, DLDevice device,
                                          struct dlpackgen_export_options* options) {
  static char names[4][16] = {"stream", "max_version", "dl_device", "copy"};
  static char* list[] = {names[0], names[1], names[2], names[3], NULL};
  PyObject *stream = Py_None, *version = Py_None, *where = Py_None, *copy = Py_None;
  long long newest[2] = {0, 0};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", list, &stream, &version, &where, &copy))
    return 0;
  if (version != Py_None && !dlpackgen_pair(version, "max_version", newest)) return 0;
  const int truth = copy == Py_None ? 0 : PyObject_IsTrue(copy);
  options->stream = stream;
  options->versioned = newest[0] >= DLPACKGEN_VERSIONED_MAJOR;
  options->copy = truth > 0;
  options->in_place = copy != Py_None && truth == 0;
  return truth >= 0 && dlpackgen_stream_fits(stream, device, options->reaches) &&
         dlpackgen_device_fits(where, device, options);
}

/* Makes the consumer's stream wait for the tensor's stream. Returns 0, or -1 with an exception. */
static int dlpackgen_let_follow(const struct dlpackgen_object* object, PyObject* stream) {
  const DLDevice device = object->tensor->dl_tensor.device;
  const dlpackgen_stream ours = dlpackgen_stream_at(device, object->stream);
  dlpackgen_stream theirs;
  dlpackgen_backend_error error;
  const int64_t number = stream == Py_None ? 0 : PyLong_AsLongLong(stream);
  int failed = object->table->stream_from_dlpack(device, stream == Py_None ? NULL : &number, &theirs, &error);
  if (!failed) failed = object->table->stream_wait(&theirs, &ours, &error);
  if (failed) PyErr_SetString(dlpackgen_backend_kind(error.code), error.text);
  return failed ? -1 : 0;
}

static PyObject* dlpackgen_object_dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  const DLManagedTensorVersioned* own = dlpackgen_tensor_of(self);
  const struct dlpackgen_object* const object = (const struct dlpackgen_object*)self;
  struct dlpackgen_export_options options = {0, 0, 0, NULL, 0, NULL};
  if (own) options.reaches = dlpackgen_extends(self, own->dl_tensor.device);
  if (!own || !dlpackgen_parse_export_options(args, keywords, own->dl_tensor.device, &options)) return NULL;
  if (!options.copy && object->table && dlpackgen_let_follow(object, options.stream)) return NULL;
  DLManagedTensorVersioned* passed =
      options.copy ? dlpackgen_copied(object, options.to_host ? options.reaches : NULL) : dlpackgen_share(self, own);
  return passed ? dlpackgen_export_capsule(passed, options.versioned ? DLPACKGEN_VERSIONED : 0) : NULL;
}

static PyObject* dlpackgen_object_device(PyObject* self, PyObject* nothing) {
  const DLManagedTensorVersioned* own = dlpackgen_tensor_of(self);
  (void)nothing;
  return own ? Py_BuildValue("(ii)", (int)own->dl_tensor.device.device_type, (int)own->dl_tensor.device.device_id)
             : NULL;
}

/* The type */

/* Stores the table on the type, as the current and as the older attribute. */
static int dlpackgen_offer_table(PyObject* type) {
  void* table = (void*)(uintptr_t)&dlpackgen_own_table;
  PyObject* capsule = PyCapsule_New(table, dlpackgen_table_capsule, NULL);
  PyObject* number = capsule ? PyLong_FromVoidPtr(table) : NULL;
  int failed = !number || PyObject_SetAttrString(type, dlpackgen_table_attribute, capsule) ||
               PyObject_SetAttrString(type, dlpackgen_older_table_attribute, number);
  Py_XDECREF(capsule);
  Py_XDECREF(number);
  return failed ? -1 : 0;
}

/* Creates the type Tensor for a module; returns a new reference. */
static PyObject* dlpackgen_make_type(PyObject* module) {
  static char text[] = "A tensor for consumers of DLPack, such as numpy.from_dlpack and torch.from_dlpack.";
  static PyMethodDef methods[] = {
      {"__dlpack__", (PyCFunction)(void (*)(void))dlpackgen_object_dlpack, METH_VARARGS | METH_KEYWORDS,
       "Returns the tensor in a capsule."},
      {"__dlpack_device__", dlpackgen_object_device, METH_NOARGS,
       "Returns the type and the id of the tensor's device."},
      {NULL, NULL, 0, NULL},
  };
  PyType_Slot slots[] = {
      {Py_tp_dealloc, (void*)(uintptr_t)dlpackgen_object_dealloc},
      {Py_tp_methods, methods},
      {Py_tp_doc, text},
      {0, NULL},
  };
  PyType_Spec spec = {"Tensor", (int)sizeof(struct dlpackgen_object), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* name = PyModule_GetNameObject(module);
  PyObject* full = name ? PyUnicode_FromFormat("%U.Tensor", name) : NULL;
  PyObject* type = NULL;
  spec.name = full ? PyUnicode_AsUTF8AndSize(full, NULL) : NULL; /* copied by Python, from 3.11 on */
  if (spec.name) type = PyType_FromModuleAndSpec(module, &spec, NULL);
  if (type && dlpackgen_offer_table(type)) Py_CLEAR(type);
  Py_XDECREF(full);
  Py_XDECREF(name);
  return type;
}

#endif
