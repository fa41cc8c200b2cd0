/* Allocates tensors through the library of an argument. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_RESULT_H_
#define DLPACKGEN_PYTHON_RESULT_H_

#include "object.h"

/* The SetError callback for a foreign allocator; the context is not needed. */
static void dlpackgen_set_error(void* context, const char* kind, const char* message) {
  PyObject* known = PyExc_RuntimeError;
  (void)context;
  if (kind && strcmp(kind, "MemoryError") == 0) known = PyExc_MemoryError;
  else if (kind && strcmp(kind, "BufferError") == 0) known = PyExc_BufferError;
  else if (kind && strcmp(kind, "ValueError") == 0) known = PyExc_ValueError;
  else if (kind && strcmp(kind, "TypeError") == 0) known = PyExc_TypeError;
  PyErr_SetString(known, message ? message : "a library could not allocate a tensor");
}

/* The exchange table of a library and its properties, or NULL. Copied, because the cached access
 * method may be removed while an allocator runs. */
struct dlpackgen_maker {
  const DLPackExchangeAPI* api;
  const struct dlpackgen_native_reader* known;
};

/* The result of a foreign allocator is written to, so it must match the request. */
static int dlpackgen_is_as_requested(const DLManagedTensorVersioned* made, const DLTensor* requested) {
  const int managed = dlpackgen_device_is_managed((int32_t)requested->device.device_type);
  dlpackgen_mismatch_ mismatch = {-1, 0, 0};
  return dlpackgen_validate_versioned(made, 0) == DLPACKGEN_OK &&
         dlpackgen_differs_(&made->dl_tensor, made->flags, requested, managed, &mismatch) == DLPACKGEN_DIFFERS_NOT_;
}

/* Allocates through a library. Returns 0, 1 with an exception if the library does not allocate, or
 * -1 with an exception. */
static int dlpackgen_allocate_by_table(const DLPackExchangeAPI* api, const DLTensor* requested,
                                       DLManagedTensorVersioned** made) {
  DLTensor prototype = *requested; /* an allocator may change it, and its result is compared with the request */
  int64_t shape[DLPACKGEN_MAX_NDIM];
  if (requested->ndim > 0) memcpy(shape, requested->shape, (size_t)requested->ndim * sizeof *shape);
  prototype.shape = shape;
  *made = NULL;
  if (api->managed_tensor_allocator(&prototype, made, NULL, dlpackgen_set_error)) {
    *made = NULL;
    dlpackgen_failed(PyExc_RuntimeError, "its library could not allocate a tensor");
    return 1;
  }
  if (!PyErr_Occurred() && *made && dlpackgen_is_as_requested(*made, requested)) return 0;
  if (*made) dlpackgen_delete_quietly(*made, NULL);
  else dlpackgen_failed(PyExc_RuntimeError, "its library could not allocate a tensor");
  *made = NULL;
  if (!PyErr_Occurred()) dlpackgen_reject("its library allocated a different tensor than requested");
  return -1; /* also where a table succeeded and left an exception */
}

/* Allocates through a library's Python functions, if the call is on the library's stream. Memory of
 * its pool can be used on that stream, and the library reads the result on that stream without
 * synchronization. */
static DLManagedTensorVersioned* dlpackgen_allocate_by_python(const struct dlpackgen_call* call,
                                                              const struct dlpackgen_native_reader* reader,
                                                              const DLTensor* requested, int64_t bytes) {
  DLTensor view = *requested;
  void* stream = NULL;
  if (reader->stream(requested->device, &stream)) return NULL;
  if (dlpackgen_plain_stream(requested->device, stream) != dlpackgen_plain_stream(requested->device, call->stream)) {
    dlpackgen_reject("its library's stream differs from the call's and would not wait for the result");
    return NULL;
  }
  view.strides = NULL;
  view.byte_offset = 0;
  PyObject* owner = reader->allocate(requested->device, bytes, &view.data);
  DLManagedTensorVersioned* made = owner ? dlpackgen_from_owner(owner, &view, 0) : NULL;
  Py_XDECREF(owner);
  return made;
}

/* Allocates through the module itself, a backend, or a library's Python functions. */
static DLManagedTensorVersioned* dlpackgen_allocate_here(struct dlpackgen_call* call,
                                                         const struct dlpackgen_native_reader* known,
                                                         const DLTensor* requested, int64_t bytes) {
  const struct dlpackgen_backend_entry* backend = dlpackgen_streams_at(call->private_.state, requested->device);
  char where[32];
  if (requested->device.device_type == kDLCPU)
    return dlpackgen_allocate(requested->dtype, requested->ndim, requested->shape);
  if (backend) return dlpackgen_allocate_by_backend(call, backend->table, requested);
  if (known && known->allocate) return dlpackgen_allocate_by_python(call, known, requested, bytes);
  PyErr_Format(PyExc_BufferError,
               "its library cannot allocate on %s: pass a PyTorch or CuPy array, or memory for the result",
               dlpackgen_device_text(requested->device, where));
  return NULL;
}

/* Allocates through a library, or as above if the library rejects the request, as the table of
 * cuda.core's StridedMemoryView does on the CPU. Exhausted memory is not a rejection. */
static DLManagedTensorVersioned* dlpackgen_allocate_like(struct dlpackgen_call* call, const struct dlpackgen_maker* by,
                                                         const DLTensor* requested, int64_t bytes) {
  const int is_possible =
      requested->device.device_type == kDLCPU || dlpackgen_streams_at(call->private_.state, requested->device) != NULL;
  DLManagedTensorVersioned* made = NULL;
  if (by->api) {
    const int left = dlpackgen_allocate_by_table(by->api, requested, &made);
    if (left <= 0 || !is_possible || dlpackgen_pass_over()) return made;
  }
  return dlpackgen_allocate_here(call, by->known, requested, bytes);
}

/* Looks up the allocator of an argument's library, which most calls do not need. */
static int dlpackgen_find_maker(const struct dlpackgen_call* call, int like, struct dlpackgen_maker* by) {
  by->api = NULL;
  by->known = NULL;
  if (like < 0 || like >= call->function->nparameters ||
      call->function->parameters[like].kind != DLPACKGEN_KIND_TENSOR) {
    PyErr_Format(PyExc_SystemError, "%s(): argument %d, counted from 0, is not a tensor", call->function->name, like);
    return -1;
  }
  PyObject* object = call->arguments[like].object;
  if (!object) return 0;
  const struct dlpackgen_access* access = dlpackgen_access_of(call->private_.state, object);
  if (!access) return dlpackgen_about(call->function, like);
  by->api = access->makes;
  by->known = access->reader ? access->reader : access->rejecting;
  return 0;
}

/* Compares two tensors in all properties that a function uses. */
static int dlpackgen_is_unchanged(const DLTensor* a, const DLTensor* b) {
  if (a->data != b->data || a->byte_offset != b->byte_offset || a->ndim != b->ndim) return 0;
  if (dlpackgen_dtype_of(a) != dlpackgen_dtype_of(b) || !dlpackgen_same_device(a->device, b->device)) return 0;
  for (int32_t d = 0; d < a->ndim; d++)
    if (a->shape[d] != b->shape[d] || a->strides[d] != b->strides[d]) return 0;
  return 1;
}

/* Reads a borrowed tensor again, without running foreign code. Returns 1 if it is unchanged, 0, or
 * -1 with an exception. */
static int dlpackgen_is_as_borrowed(struct dlpackgen_call* call, const struct dlpackgen_argument* a) {
  const struct dlpackgen_access* access = dlpackgen_access_of(call->private_.state, a->object);
  int64_t scratch[DLPACKGEN_SCRATCH];
  struct dlpackgen_argument now = *a;
  if (!access) return -1;
  if (access->yields) return 1; /* its memory stays with the object, or it was read as another type */
  if (access->reader) {
    if (access->reader->borrow(a->object, 0, &now.tensor, scratch, &now.flags)) return PyErr_Occurred() ? -1 : 0;
  } else {
    if (access->plain && !access->plain(a->object)) return 0;
    if (!dlpackgen_borrow_by_table(access->api, 1, a->object, 0, &now.tensor)) return 0;
  }
  return (now.tensor.ndim == 0 || (now.tensor.shape && now.tensor.strides)) &&
         dlpackgen_is_unchanged(&now.tensor, &a->tensor);
}

/* Checks that all borrowed tensors of the call are unchanged after foreign code has run. Returns 0,
 * or -1 with an exception. */
static int dlpackgen_check_again(struct dlpackgen_call* call) {
  for (int i = 0; i < call->function->nparameters; i++) {
    const struct dlpackgen_argument* a = &call->arguments[i];
    if (call->function->parameters[i].kind != DLPACKGEN_KIND_TENSOR || !a->object || call->private_.owns >> i & 1)
      continue;
    const int same = dlpackgen_is_as_borrowed(call, a);
    if (same < 0) return dlpackgen_about(call->function, i);
    if (!same) return dlpackgen_argument_error(call, i, PyExc_BufferError, "it changed while the result was allocated");
  }
  return 0;
}

static DLManagedTensorVersioned* dlpackgen_make_like(struct dlpackgen_call* call, int like, DLDataType dtype,
                                                     int32_t ndim, const int64_t* shape) {
  struct dlpackgen_maker by;
  DLManagedTensorVersioned* made = NULL;
  DLTensor requested;
  int64_t bytes;
  if (dlpackgen_find_maker(call, like, &by)) return NULL;
  memset(&requested, 0, sizeof requested);
  requested.device.device_type = kDLCPU;
  if (call->arguments[like].object) requested.device = call->arguments[like].tensor.device;
  requested.dtype = dtype;
  requested.ndim = ndim;
  requested.shape = (int64_t*)(uintptr_t)shape;
  if (ndim > DLPACKGEN_MAX_NDIM || dlpackgen_nbytes(&requested, 0, &bytes) != DLPACKGEN_OK)
    PyErr_SetString(PyExc_ValueError, "the result has an invalid shape");
  else made = dlpackgen_allocate_like(call, &by, &requested, bytes);
  const int ran_code = by.api || requested.device.device_type != kDLCPU;
  if (!made) dlpackgen_about(call->function, like);
  else if (ran_code && dlpackgen_check_again(call)) {
    dlpackgen_delete_quietly(made, NULL);
    return NULL;
  }
  return made;
}

DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_new_empty(struct dlpackgen_call* call, int like,
                                                                   DLDataType dtype, int32_t ndim,
                                                                   const int64_t* shape) {
  int* const nested = dlpackgen_descend();
  if (!nested) return NULL;
  DLManagedTensorVersioned* made = dlpackgen_make_like(call, like, dtype, ndim, shape);
  dlpackgen_ascend(nested);
  return made;
}

/* Looks up the from_dlpack of a type's package; the result is as for dlpackgen_find(). */
static int dlpackgen_find_in_package(struct dlpackgen_state* state, PyObject* type, PyObject** found) {
  PyObject *home, *package, *module = NULL;
  int result = dlpackgen_find(type, "__module__", &home);
  *found = NULL;
  if (result > 0 && !PyUnicode_Check(home)) result = 0;
  const char* name = result > 0 ? PyUnicode_AsUTF8AndSize(home, NULL) : NULL;
  package = name ? PyUnicode_FromStringAndSize(name, (Py_ssize_t)strcspn(name, ".")) : NULL;
  if (result > 0) result = package ? dlpackgen_find_module(package, &module) : -1;
  if (result > 0) result = dlpackgen_find_name(module, state->from_dlpack, found);
  Py_XDECREF(module);
  Py_XDECREF(package);
  Py_XDECREF(home);
  return result;
}

/* Looks up the from_dlpack of the package of an object's type, or of the first base whose package
 * has one, for example for a subclass of torch.Tensor. */
static int dlpackgen_find_in_packages(struct dlpackgen_state* state, PyObject* object, PyObject** found) {
  PyObject* bases = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__mro__");
  const Py_ssize_t count = bases && PyTuple_Check(bases) ? PyTuple_Size(bases) : 0;
  int result = bases ? 0 : -1;
  *found = NULL;
  for (Py_ssize_t i = 0; i < count && result == 0; i++)
    result = dlpackgen_find_in_package(state, PyTuple_GetItem(bases, i), found);
  Py_XDECREF(bases);
  return result;
}

/* Looks up the from_dlpack of the array namespace of an object. */
static int dlpackgen_find_in_namespace(struct dlpackgen_state* state, PyObject* object, PyObject** found) {
  PyObject *ask, *space = NULL;
  int result = dlpackgen_find_name(object, state->array_namespace, &ask);
  *found = NULL;
  if (result > 0) space = PyObject_CallNoArgs(ask);
  if (result > 0) result = space ? dlpackgen_find_name(space, state->from_dlpack, found) : -1;
  Py_XDECREF(space);
  Py_XDECREF(ask);
  return result;
}

/* Looks up the from_dlpack of an object's library. A library that fails during the lookup has
 * none. */
static int dlpackgen_find_from_dlpack(struct dlpackgen_state* state, PyObject* object, PyObject** found) {
  int result = dlpackgen_find_in_namespace(state, object, found);
  if (result < 0) result = dlpackgen_pass_over();
  if (result == 0) result = dlpackgen_find_in_packages(state, object, found);
  return result < 0 ? dlpackgen_pass_over() : result;
}

/* Records the call's stream for a tensor of a backend, because its deleter may be called after the
 * stream was destroyed. Returns the backend, or NULL. */
static const dlpackgen_backend* dlpackgen_keep(const struct dlpackgen_call* call, DLManagedTensorVersioned* tensor) {
  const struct dlpackgen_backend_entry* found = dlpackgen_streams_at(call->private_.state, tensor->dl_tensor.device);
  const dlpackgen_stream stream = dlpackgen_stream_at(tensor->dl_tensor.device, call->stream);
  if (!found || tensor->dl_tensor.device.device_type == kDLCPU) return NULL;
  if (call->stream) (void)found->table->keep_until(tensor, &stream, NULL);
  return found->table;
}

static PyObject* dlpackgen_wrap_by_table(const struct dlpackgen_call* call, const DLPackExchangeAPI* api,
                                         DLManagedTensorVersioned* tensor) {
  void* made = NULL;
  (void)dlpackgen_keep(call, tensor);
  if (api->managed_tensor_to_py_object_no_sync(tensor, &made) == 0 && made) {
    if (!PyErr_Occurred()) return (PyObject*)made;
    struct dlpackgen_pending left = dlpackgen_suspend();
    Py_DECREF((PyObject*)made);
    dlpackgen_resume(left);
    return NULL; /* a table may succeed and leave an exception */
  }
  dlpackgen_delete_quietly(tensor, NULL); /* a function that fails does not take ownership, as in torch and tvm-ffi */
  dlpackgen_failed(PyExc_RuntimeError, "its exchange table did not create an object");
  return NULL;
}

/* Exports a tensor on which the call's stream is still working. Its consumer waits for the
 * stream. */
static PyObject* dlpackgen_return_unfinished(struct dlpackgen_call* call, DLManagedTensorVersioned* tensor) {
  const dlpackgen_backend* const table = dlpackgen_keep(call, tensor);
  PyObject* made = dlpackgen_export_object(call->module, tensor);
  if (made && table) {
    ((struct dlpackgen_object*)made)->table = table;
    ((struct dlpackgen_object*)made)->stream = call->stream;
  }
  return made;
}

static PyObject* dlpackgen_wrap_by_python(struct dlpackgen_call* call, PyObject* like,
                                          DLManagedTensorVersioned* tensor) {
  PyObject *ours = dlpackgen_return_unfinished(call, tensor), *from = NULL, *made = NULL;
  const int found = ours ? dlpackgen_find_from_dlpack(call->private_.state, like, &from) : -1;
  if (found == 0) return ours;
  if (found > 0) made = PyObject_CallFunctionObjArgs(from, ours, NULL);
  Py_XDECREF(from);
  Py_XDECREF(ours);
  return made;
}

static PyObject* dlpackgen_wrap_like(struct dlpackgen_call* call, int like, DLManagedTensorVersioned* tensor) {
  struct dlpackgen_maker by;
  PyObject* made = NULL;
  if (dlpackgen_find_maker(call, like, &by)) {
    dlpackgen_delete_quietly(tensor, NULL);
    return NULL;
  }
  PyObject* object = call->arguments[like].object;
  if (!object) made = dlpackgen_export_object(call->module, tensor);
  else if (by.api) made = dlpackgen_wrap_by_table(call, by.api, tensor);
  else made = dlpackgen_wrap_by_python(call, object, tensor);
  if (!made) dlpackgen_about(call->function, like);
  return made;
}

DLPACKGEN_PYTHON_API PyObject* dlpackgen_to_py_object(struct dlpackgen_call* call, int like,
                                                      DLManagedTensorVersioned* tensor) {
  int* const nested = dlpackgen_descend();
  if (!nested) {
    dlpackgen_delete_quietly(tensor, NULL);
    return NULL;
  }
  PyObject* made = dlpackgen_wrap_like(call, like, tensor);
  dlpackgen_ascend(nested);
  return made;
}

#endif
