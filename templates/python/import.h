/* Reads the tensor of an object, with each access method. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_IMPORT_H_
#define DLPACKGEN_PYTHON_IMPORT_H_

#include "capsules.h"

/* Returns the truth value of an object, and releases it: 1, 0, or -1 with an exception. */
static int dlpackgen_truth(PyObject* answer) {
  const int truth = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return truth;
}

/* Calls a method without arguments, and rejects the object if the result is true. */
static int dlpackgen_reject_if(PyObject* object, PyObject* method, const char* why) {
  const int truth = dlpackgen_truth(PyObject_CallMethodObjArgs(object, method, NULL));
  return truth > 0 ? dlpackgen_reject("%s", why) : truth;
}

/* Returns whether torch or Paddle records gradients. */
static int dlpackgen_grad_is_recorded(const char* library) {
  PyObject* ask;
  const int found = dlpackgen_find_imported(library, "is_grad_enabled", &ask);
  if (found <= 0) return found < 0 ? -1 : 1;
  const int truth = dlpackgen_truth(PyObject_CallNoArgs(ask));
  Py_DECREF(ask);
  return truth;
}

static int dlpackgen_reject_grad(struct dlpackgen_state* state, PyObject* object) {
  int truth = dlpackgen_truth(PyObject_GetAttr(object, state->requires_grad));
  if (truth > 0) truth = dlpackgen_grad_is_recorded("torch");
  return truth > 0 ? dlpackgen_reject(
                         "it requires grad, but this function records no gradients: pass detach(), or call this under "
                         "no_grad()")
                   : truth;
}

/* The same for Paddle's tensors, whose attribute has the opposite meaning. */
static int dlpackgen_reject_no_stop(struct dlpackgen_state* state, PyObject* object) {
  const int stops = dlpackgen_truth(PyObject_GetAttr(object, state->stop_gradient));
  const int truth = stops == 0 ? dlpackgen_grad_is_recorded("paddle") : stops < 0 ? -1 : 0;
  return truth > 0 ? dlpackgen_reject(
                         "its stop_gradient is False, but this function records no gradients: pass detach(), or call "
                         "this under paddle.no_grad()")
                   : truth;
}

/* Returns whether an object has the memory that its table requires. */
static int dlpackgen_is_contiguous_anyhow(struct dlpackgen_state* state, PyObject* object) {
  return dlpackgen_truth(PyObject_CallMethodObjArgs(object, state->is_dense, NULL));
}

static int dlpackgen_query_all(struct dlpackgen_state* state, PyObject* object,
                               const struct dlpackgen_native_reader* rejecting, uint8_t queries) {
  if (rejecting && rejecting->reject(object)) return dlpackgen_failed(PyExc_BufferError, "it was rejected");
  if (queries & dlpackgen_query_mask) return dlpackgen_reject(DLPACKGEN_TEXT_MASKED);
  if (queries & dlpackgen_query_neg && dlpackgen_reject_if(object, state->is_neg, DLPACKGEN_TEXT_NEGATED)) return -1;
  if (queries & dlpackgen_query_conj && dlpackgen_reject_if(object, state->is_conj, DLPACKGEN_TEXT_CONJUGATED))
    return -1;
  if (queries & dlpackgen_query_grad && dlpackgen_reject_grad(state, object)) return -1;
  if (queries & dlpackgen_query_stop && dlpackgen_reject_no_stop(state, object)) return -1;
  const int dense = queries & dlpackgen_query_dense ? dlpackgen_is_contiguous_anyhow(state, object) : 1;
  return dense ? dense < 0 ? -1 : 0 : dlpackgen_reject(DLPACKGEN_TEXT_NOT_DENSE);
}

/* The values of some tensors differ from those in memory, and neither tables nor capsules express
 * that. */
static int dlpackgen_query(struct dlpackgen_state* state, PyObject* object,
                           const struct dlpackgen_native_reader* rejecting, uint8_t queries) {
  return dlpackgen_query_all(state, object, rejecting, queries) ? dlpackgen_not_exported(object) : 0;
}

/* Raises the validator's error about a tensor. */
DLPACKGEN_SLOW static int dlpackgen_reject_error(const DLTensor* tensor, dlpackgen_error_code error) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  dlpackgen_put_invalid(&text, tensor, error);
  return dlpackgen_raise(DLPACKGEN_STATUS_BUFFER_ERROR, &text);
}

/* Validates a tensor of a foreign library, also from a native reader, because CuPy's users can
 * create any shape. If requested, shape and strides are copied first: for all tensors except those
 * of native readers, which always have strides. */
static int dlpackgen_validate_argument(struct dlpackgen_argument* a, int64_t* scratch, int copy) {
  DLTensor* const tensor = &a->tensor;
  dlpackgen_error_code error = DLPACKGEN_OK;
  if (dlpackgen_has_needless_id(tensor->device)) tensor->device.device_id = 0;
  if (tensor->ndim < 0 || tensor->ndim > DLPACKGEN_MAX_NDIM) error = DLPACKGEN_ERROR_NDIM;
  else if (tensor->ndim > 0 && !tensor->shape) error = DLPACKGEN_ERROR_SHAPE_NULL;
  else if (copy) error = dlpackgen_copy_metadata(tensor, scratch);
  if (error == DLPACKGEN_OK) error = dlpackgen_validate(tensor, a->flags, 0);
  return error == DLPACKGEN_OK ? 0 : dlpackgen_reject_error(tensor, error);
}

/* Imports an owned tensor through a table. */
static int dlpackgen_own_by_table(const DLPackExchangeAPI* api, PyObject* object, DLManagedTensorVersioned** out) {
  *out = NULL;
  if (api->managed_tensor_from_py_object_no_sync(object, out)) {
    *out = NULL;
    dlpackgen_failed(PyExc_BufferError, DLPACKGEN_TEXT_NO_TENSOR);
    return dlpackgen_not_exported(object);
  }
  if (PyErr_Occurred()) { /* a table may succeed and leave an exception */
    dlpackgen_delete_quietly(*out, NULL);
    *out = NULL;
    return dlpackgen_not_exported(object);
  }
  if (!*out) return dlpackgen_reject(DLPACKGEN_TEXT_NO_TENSOR);
  if ((*out)->version.major == DLPACK_MAJOR_VERSION) return 0;
  dlpackgen_delete(*out);
  *out = NULL;
  return dlpackgen_reject("its exchange table returned a tensor of an unsupported major version of DLPack");
}

/* A borrowed tensor has no flags. A tensor that is written to, or may be padded, is therefore
 * imported as owned, unless its library is known to have no such tensors. */
DLPACKGEN_FAST int dlpackgen_borrow_by_table(const DLPackExchangeAPI* api, int trusted, PyObject* object, int writable,
                                             DLTensor* out) {
  if (!api->dltensor_from_py_object_no_sync || (writable && !trusted)) return 0;
  if (api->dltensor_from_py_object_no_sync(object, out) == 0 && (trusted || !PyErr_Occurred()))
    return trusted || out->dtype.bits >= DLPACKGEN_PACKED_BELOW;
  PyErr_Clear(); /* a tensor that cannot be borrowed may still be exported */
  return 0;
}

DLPACKGEN_SLOW static int dlpackgen_read_owned(struct dlpackgen_argument* a, const DLPackExchangeAPI* api,
                                               PyObject* object) {
  if (dlpackgen_own_by_table(api, object, &a->private_.versioned)) return -1;
  a->private_.legacy = NULL;
  a->tensor = a->private_.versioned->dl_tensor;
  a->flags = a->private_.versioned->flags;
  return 1;
}

/* Returns 0 for a borrowed tensor, 1 for an owned one, or -1 with an exception. */
DLPACKGEN_FAST int dlpackgen_read_table(struct dlpackgen_argument* a, const DLPackExchangeAPI* api, int trusted,
                                        PyObject* object, int writable) {
  a->flags = 0;
  return dlpackgen_borrow_by_table(api, trusted, object, writable, &a->tensor) ? 0
                                                                               : dlpackgen_read_owned(a, api, object);
}

static int dlpackgen_read_capsule(struct dlpackgen_state* state, struct dlpackgen_argument* a, PyObject* object,
                                  PyObject* stream) {
  struct dlpackgen_received imported;
  if (dlpackgen_import_capsule(state, object, stream, &imported)) return -1;
  a->private_.versioned = imported.versioned;
  a->private_.legacy = imported.legacy;
  a->tensor = imported.versioned ? imported.versioned->dl_tensor : imported.legacy->dl_tensor;
  a->flags = imported.versioned ? imported.versioned->flags : (uint64_t)DLPACK_FLAG_BITMASK_READ_ONLY;
  return 0;
}

/* For longer than a call */

DLPACKGEN_SLOW static int dlpackgen_reject_misaligned(const DLTensor* tensor) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  dlpackgen_put_misaligned(&text, tensor);
  return dlpackgen_raise(DLPACKGEN_STATUS_BUFFER_ERROR, &text);
}

/* Rejects a tensor that cannot be used in place. Returns 0, or -1 with an exception. */
static int dlpackgen_check_use(const DLTensor* tensor, int writable) {
  if (dlpackgen_is_misaligned(tensor)) return dlpackgen_reject_misaligned(tensor);
  return writable && dlpackgen_has_overlap(tensor) ? dlpackgen_reject(DLPACKGEN_OVERLAPPING DLPACKGEN_TEXT_PASS_COPY)
                                                   : 0;
}

/* Imports an owned tensor through a native reader. Returns 0, -1 with an exception, or 1 if another
 * access method must be used. */
static int dlpackgen_import_natively(const struct dlpackgen_native_reader* reader, PyObject* object, int writable,
                                     DLManagedTensorVersioned** out) {
  int64_t scratch[DLPACKGEN_SCRATCH];
  DLTensor view;
  uint64_t flags = 0;
  PyObject* keep = NULL;
  const int failed = reader->retain ? reader->retain(object, writable, &view, scratch, &flags, &keep)
                                    : reader->borrow(object, writable, &view, scratch, &flags);
  *out = NULL;
  if (failed < 0) return dlpackgen_failed(PyExc_BufferError, DLPACKGEN_TEXT_UNREADABLE), dlpackgen_not_exported(object);
  if (failed) return 1;
  const dlpackgen_error_code error = dlpackgen_validate(&view, flags, 0);
  if (error != DLPACKGEN_OK) dlpackgen_reject_error(&view, error);
  else if (dlpackgen_check_use(&view, writable) == 0) *out = dlpackgen_from_owner(keep ? keep : object, &view, flags);
  Py_XDECREF(keep);
  return *out ? 0 : -1;
}

/* Validates an owned tensor and converts it to the newest struct; frees it on failure. */
static DLManagedTensorVersioned* dlpackgen_finish_import(struct dlpackgen_received imported, int writable) {
  DLManagedTensorVersioned* made = imported.versioned;
  const DLTensor* view = made ? &made->dl_tensor : &imported.legacy->dl_tensor;
  const uint64_t flags = made ? made->flags : (uint64_t)DLPACK_FLAG_BITMASK_READ_ONLY;
  const dlpackgen_error_code error = dlpackgen_validate(view, flags, DLPACKGEN_ACCEPT_NULL_STRIDES);
  if (error != DLPACKGEN_OK) made = NULL, dlpackgen_reject_error(view, error);
  else if (writable && flags & DLPACK_FLAG_BITMASK_READ_ONLY)
    made = NULL, dlpackgen_reject("it is read-only, or its producer cannot declare it writable");
  else if (!made || (view->ndim > 0 && !view->strides) || dlpackgen_has_needless_id(view->device))
    made = dlpackgen_modern(imported.versioned, imported.legacy);
  if (made && dlpackgen_check_use(&made->dl_tensor, writable)) {
    dlpackgen_delete_quietly(made, NULL);
    return NULL;
  }
  if (!made) dlpackgen_delete_quietly(imported.versioned, imported.legacy);
  return made;
}

static DLManagedTensorVersioned* dlpackgen_import(struct dlpackgen_state* state, PyObject* object, int writable) {
  const struct dlpackgen_access* access = dlpackgen_access_of(state, object);
  struct dlpackgen_received imported = {NULL, NULL};
  if (!access) return NULL;
  const struct dlpackgen_access how = *access; /* the following code may evict the original */
  const PyTypeObject* const type = Py_TYPE(object);
  if (how.reader) {
    DLManagedTensorVersioned* made;
    if (dlpackgen_import_natively(how.reader, object, writable, &made) <= 0) return made;
  }
  if (!(how.plain && how.plain(object)) && dlpackgen_query(state, object, how.rejecting, how.queries)) return NULL;
  const DLPackExchangeAPI* api = how.api;
  if (Py_TYPE(object) != type) {
    dlpackgen_reject(DLPACKGEN_TEXT_OTHER_TYPE);
    return NULL;
  }
  if (api ? dlpackgen_own_by_table(api, object, &imported.versioned)
          : dlpackgen_import_capsule(state, object, NULL, &imported))
    return NULL;
  DLManagedTensorVersioned* made = dlpackgen_finish_import(imported, writable);
  if (made && how.guard && how.guard(object, &made->dl_tensor)) {
    dlpackgen_delete_quietly(made, NULL);
    return NULL;
  }
  return made;
}

DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_from_py_object_no_sync(PyObject* module, PyObject* object,
                                                                                uint32_t flags) {
  int* const nested = dlpackgen_descend();
  if (!nested) return NULL;
  DLManagedTensorVersioned* made =
      dlpackgen_import(dlpackgen_state_of(module), object, (flags & DLPACKGEN_WRITABLE) != 0);
  dlpackgen_ascend(nested);
  return made;
}

#endif
