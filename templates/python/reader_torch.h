/*
 * Reads torch.Tensor and torch.nn.Parameter through libtorch's stable C shim, and through fields of
 * the objects whose offsets were verified.
 */
#ifndef DLPACKGEN_PYTHON_READER_TORCH_H_
#define DLPACKGEN_PYTHON_READER_TORCH_H_

#include "reader_torch_fields.h"

/* Looks up the table that dlpackgen_torch.install() has set on the type. */
static int dlpackgen_torch_find_reader(PyObject* type, struct dlpackgen_torch_known* found) {
  PyObject* capsule = PyObject_GetAttrString(type, "__dlpackgen_read__");
  void* address = NULL;
  if (capsule && PyCapsule_IsValid(capsule, "dlpackgen_read_2"))
    address = PyCapsule_GetPointer(capsule, "dlpackgen_read_2");
  memcpy(&found->read, &address, sizeof address);
  Py_XDECREF(capsule);
  if (!capsule && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
  return PyErr_Occurred() ? -1 : 0;
}

/* Looks up everything that the reader needs of torch. Returns 1, 0 if torch cannot be read in this
 * way, or -1 with an exception. */
static int dlpackgen_torch_learn(PyObject* type, PyObject* base, struct dlpackgen_torch_known* found) {
  void* library = dlpackgen_torch_find(base);
  if (!dlpackgen_torch_find_types(library, found) || !dlpackgen_torch_guess_handle(base, found) ||
      !dlpackgen_torch_link(library, &found->call))
    return PyErr_Occurred() ? -1 : 0;
  dlpackgen_torch_learn_dtypes(library, found->dtypes);
  found->cpu = found->call.device_cpu();
  found->cuda = found->call.device_cuda();
  found->strided = found->call.layout_strided();
  found->gpu = dlpackgen_torch_gpu(dlpackgen_torch_is_rocm());
  if (PyErr_Occurred() || dlpackgen_torch_find_reader(type, found)) return -1;
  return dlpackgen_torch_prove(base, found);
}

static int dlpackgen_torch_open(PyObject* type) {
  struct dlpackgen_torch_known found;
  PyObject* base = dlpackgen_torch_is_known() ? NULL : dlpackgen_torch_base(type);
  int learnt;
  if (!base) return PyErr_Occurred() ? -1 : dlpackgen_torch_is_known();
  memset(&found, 0, sizeof found);
  learnt = dlpackgen_torch_learn(type, base, &found);
  if (learnt > 0) dlpackgen_torch_publish(&found);
  return learnt;
}

/* Rejects values that differ from those in memory. Only complex numbers can have the conjugate bit,
 * but all can have the negative bit, such as x.conj().imag. */
DLPACKGEN_FAST int dlpackgen_torch_check_bits(void* handle, DLDataType dtype) {
  if (dlpackgen_torch.call.is_neg(handle)) return dlpackgen_reject(DLPACKGEN_TEXT_NEGATED);
  if (dtype.code != kDLComplex) return 0;
  return dlpackgen_torch.call.is_conj(handle) ? dlpackgen_reject(DLPACKGEN_TEXT_CONJUGATED) : 0;
}

/* Most tensors do not require grad, so this is checked before the mode. */
DLPACKGEN_FAST int dlpackgen_torch_check_grad(void* handle) {
  const struct dlpackgen_torch_functions* call = &dlpackgen_torch.call;
  void* impl = *(void**)handle;
  if (DLPACKGEN_TORCH_REJECTS_GRAD == DLPACKGEN_NEVER || !call->requires_grad(impl)) return 0;
  if (DLPACKGEN_TORCH_REJECTS_GRAD == DLPACKGEN_ALWAYS) return dlpackgen_reject(DLPACKGEN_TORCH_GRAD);
  return call->grad_mode() ? dlpackgen_reject(DLPACKGEN_TORCH_GRAD_ON) : 0;
}

/* Rejects tensors without strides. */
DLPACKGEN_FAST int dlpackgen_torch_check_layout(PyObject* object, void* handle) {
  int32_t layout = 0;
  if (dlpackgen_torch.call.get_layout(handle, &layout) == 0 && layout == dlpackgen_torch.strided) return 0;
  return dlpackgen_torch_reject_attribute(object, "layout", DLPACKGEN_TEXT_NO_STRIDES);
}

static int dlpackgen_torch_read_gpu(void* handle, DLTensor* out) {
  int32_t index = 0;
  if (dlpackgen_torch.call.get_device_index(handle, &index) != 0) return dlpackgen_reject(DLPACKGEN_TORCH_WRAPPED);
  out->device.device_type = dlpackgen_torch.gpu;
  out->device.device_id = index;
  return 0;
}

/* 1 for a device that other access methods support. They do not support meta. */
DLPACKGEN_FAST int dlpackgen_torch_read_device(PyObject* object, void* handle, DLTensor* out) {
  int32_t type = -1;
  if (dlpackgen_torch.call.get_device_type(handle, &type) != 0) return dlpackgen_reject(DLPACKGEN_TORCH_WRAPPED);
  out->device.device_type = kDLCPU;
  out->device.device_id = 0;
  if (type == dlpackgen_torch.cpu) return 0;
  if (type != dlpackgen_torch.cuda) return dlpackgen_torch_reject(object) < 0 ? -1 : 1;
  return dlpackgen_torch_read_gpu(handle, out);
}

DLPACKGEN_FAST int dlpackgen_torch_read_dtype(PyObject* object, void* handle, DLTensor* out) {
  int32_t number = -1;
  if (dlpackgen_torch.call.get_dtype(handle, &number) == 0 && number >= 0 && number < DLPACKGEN_TORCH_DTYPES) {
    out->dtype = dlpackgen_torch.dtypes[number];
    if (out->dtype.lanes != 0) return 0;
  }
  return dlpackgen_torch_reject_attribute(object, "dtype", "has no DLPack equivalent");
}

/* Wrappers of vmap, grad and jvp fail here, and so does a nested tensor. Shape and strides are
 * copied before they are checked: torch runs without the GIL, so another thread may resize the
 * tensor at any time. */
DLPACKGEN_FAST int dlpackgen_torch_read_shape(void* handle, DLTensor* out, int64_t* scratch) {
  const struct dlpackgen_torch_functions* call = &dlpackgen_torch.call;
  int64_t dim = 0;
  if (call->get_dim(handle, &dim) != 0 || call->get_sizes(handle, &out->shape) != 0 ||
      call->get_strides(handle, &out->strides) != 0)
    return dlpackgen_reject(DLPACKGEN_TORCH_WRAPPED);
  if ((uint64_t)dim > DLPACKGEN_MAX_NDIM) return dlpackgen_reject_dimensions(dim);
  out->ndim = (int32_t)dim;
  dlpackgen_copy_numbers(out, scratch);
  return 0;
}

/* Functionalized and zero tensors, and tensors whose storage was resized to 0, have elements but no
 * memory. */
DLPACKGEN_SLOW static int dlpackgen_torch_check_memory(const DLTensor* out) {
  for (int32_t i = 0; i < out->ndim; i++)
    if (out->shape[i] == 0) return 0;
  return dlpackgen_reject(DLPACKGEN_TEXT_NO_STORAGE);
}

/* Reading must not separate copy-on-write memory, but writing must. */
DLPACKGEN_FAST int dlpackgen_torch_read_data(void* handle, int writable, DLTensor* out) {
  const struct dlpackgen_torch_functions* call = &dlpackgen_torch.call;
  const void* data = NULL;
  int32_t result;
  if (writable || !call->get_const_data) {
    result = call->get_data(handle, &out->data);
  } else {
    result = call->get_const_data(handle, &data);
    out->data = (void*)data;
  }
  out->byte_offset = 0;
  if (result != 0) return dlpackgen_reject(DLPACKGEN_TORCH_WRAPPED);
  return out->data ? 0 : dlpackgen_torch_check_memory(out);
}

/* Computes the number of bytes that a tensor needs in its storage; 0 for an empty one. torch
 * tensors have no negative numbers, except while another thread resizes them. The validator rejects
 * values that overflow. */
DLPACKGEN_FAST uint64_t dlpackgen_torch_needs(const DLTensor* view, uint64_t offset) {
  uint64_t end = offset + 1;
  int64_t signs = 0;
  for (int32_t i = 0; i < view->ndim; i++) {
    if (view->shape[i] == 0) return 0;
    end += (uint64_t)(view->shape[i] - 1) * (uint64_t)view->strides[i];
    signs |= view->shape[i] | view->strides[i];
  }
  if (signs < 0) return UINT64_MAX;
  return end * (((uint64_t)view->dtype.bits * view->dtype.lanes + 7) / 8);
}

/* Rejects a tensor whose storage was resized to less than it needs, because torch does not change
 * its shape. plain is the result of dlpackgen_torch_plain(). */
DLPACKGEN_FAST int dlpackgen_torch_check_storage(void* handle, const uint64_t* plain, const DLTensor* view) {
  int64_t bytes = 0, offset = 0;
  uint64_t needs;
  if (plain) {
    const struct dlpackgen_torch_words* words = &dlpackgen_torch.words;
    const uint64_t* storage = (const uint64_t*)(uintptr_t)plain[words->storage];
    if (storage) bytes = (int64_t)storage[words->bytes];
    offset = (int64_t)plain[words->offset];
  } else if (dlpackgen_torch.call.get_storage_size(handle, &bytes) != 0 ||
             dlpackgen_torch.call.get_storage_offset(handle, &offset) != 0) {
    return dlpackgen_reject(DLPACKGEN_TORCH_WRAPPED);
  }
  needs = dlpackgen_torch_needs(view, (uint64_t)offset);
  return bytes >= 0 && needs <= (uint64_t)bytes ? 0 : dlpackgen_torch_reject_short(needs, (uint64_t)bytes);
}

/* Checks the keys of most tensors, which determine layout, device, and that no bit is set. Returns
 * 1 if another access method must be used. */
DLPACKGEN_FAST int dlpackgen_torch_read_kind(PyObject* object, void* handle, const uint64_t* plain, DLTensor* out) {
  int result = 0;
  if (!plain && dlpackgen_torch_check_layout(object, handle) < 0) return -1;
  out->device.device_type = kDLCPU;
  out->device.device_id = 0;
  if (!plain) result = dlpackgen_torch_read_device(object, handle, out);
  else if (dlpackgen_torch_is_on_gpu(plain)) result = dlpackgen_torch_read_gpu(handle, out);
  if (result != 0) return result;
  if (dlpackgen_torch_read_dtype(object, handle, out) < 0) return -1;
  return plain ? 0 : dlpackgen_torch_check_bits(handle, out->dtype);
}

static int dlpackgen_torch_read_by_shim(PyObject* object, int writable, DLTensor* out, int64_t* scratch) {
  void* handle = dlpackgen_torch_handle(object);
  const uint64_t* plain;
  int result;
  if (!handle) return dlpackgen_torch_reject(object) < 0 ? -1 : 1;
  plain = dlpackgen_torch_plain(handle);
  result = dlpackgen_torch_read_kind(object, handle, plain, out);
  if (result != 0) return result;
  if (dlpackgen_torch_check_grad(handle) < 0) return -1;
  if (dlpackgen_torch_read_shape(handle, out, scratch) < 0) return -1;
  if (dlpackgen_torch_read_data(handle, writable, out) < 0) return -1;
  return dlpackgen_torch_check_storage(handle, plain, out);
}

static int dlpackgen_torch_borrow(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags) {
  (void)flags;
  if (dlpackgen_torch.read && dlpackgen_torch.read(object, writable, out, scratch) == 0) return 0;
  return dlpackgen_torch_read_by_shim(object, writable, out, scratch);
}

#define DLPACKGEN_TORCH_NO_ALIAS                                                                                      \
  "its detach() did not return an alias, as under a TorchFunctionMode that overrides detach(): call this outside of " \
  "the mode"

/* Rejects objects that the shim cannot read: detach() of a tensor and of a parameter is a plain
 * torch.Tensor, the base class of Parameter. */
static int dlpackgen_torch_check_kind(PyObject* object, PyObject* alias) {
  PyTypeObject* const type = Py_TYPE(object);
  if (Py_TYPE(alias) == type || (void*)Py_TYPE(alias) == PyType_GetSlot(type, Py_tp_base)) return 0;
  return dlpackgen_reject(DLPACKGEN_TORCH_NO_ALIAS);
}

/* Rejects an alias that no longer matches the object. The alias shares the object's storage, so
 * separated memory also belongs to the object. */
static int dlpackgen_torch_check_alias(PyObject* object, const DLTensor* alias, uint64_t* flags) {
  int64_t numbers[DLPACKGEN_SCRATCH];
  DLTensor own;
  const int result = dlpackgen_torch_borrow(object, 0, &own, numbers, flags);
  int same = result == 0 && own.data == alias->data && own.ndim == alias->ndim &&
             own.device.device_type == alias->device.device_type && own.device.device_id == alias->device.device_id &&
             own.dtype.code == alias->dtype.code && own.dtype.bits == alias->dtype.bits;
  for (int32_t i = 0; same && i < own.ndim; i++)
    same = own.shape[i] == alias->shape[i] && own.strides[i] == alias->strides[i];
  if (result < 0) return -1;
  return same ? 0 : dlpackgen_reject(DLPACKGEN_TORCH_NO_ALIAS);
}

/* A retained tensor may be written to later, by any consumer, so copy-on-write memory is separated
 * now. A separate alias retains the memory, because `t.data = other`, as in module.half(), removes
 * it from the object. */
static int dlpackgen_torch_retain(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags,
                                  PyObject** keep) {
  int result = dlpackgen_torch_borrow(object, 0, out, scratch, flags);
  (void)writable;
  *keep = NULL;
  if (result != 0) return result;
  *keep = PyObject_CallMethod(object, "detach", NULL);
  result = *keep ? dlpackgen_torch_check_kind(object, *keep) : -1;
  if (result == 0) result = dlpackgen_torch_borrow(*keep, 1, out, scratch, flags);
  if (result == 0) result = dlpackgen_torch_check_alias(object, out, flags);
  if (result != 0) Py_CLEAR(*keep);
  return result;
}

/* Checks properties that PyTorch's own exchange table does not check. The table itself rejects
 * tensors without strides. The tensor has the copies of shape and strides that the call uses. */
static int dlpackgen_torch_guard(PyObject* object, const DLTensor* tensor) {
  void* handle = dlpackgen_torch_handle(object);
  const uint64_t* plain = handle ? dlpackgen_torch_plain(handle) : NULL;
  if (!handle) return dlpackgen_reject(DLPACKGEN_TORCH_WRAPPED);
  if (!plain && dlpackgen_torch_check_bits(handle, tensor->dtype) < 0) return -1;
  if (dlpackgen_torch_check_grad(handle) < 0) return -1;
  return dlpackgen_torch_check_storage(handle, plain, tensor);
}

/* Also torch.nn.Parameter, which torch reads like a torch.Tensor. */
static const struct dlpackgen_native_reader dlpackgen_reader_torch = {
    "torch",
    "Tensor",
    dlpackgen_torch_recognize,
    dlpackgen_torch_open,
    dlpackgen_torch_borrow,
    dlpackgen_torch_reject,
    NULL,
    dlpackgen_torch_retain,
    0,
    dlpackgen_torch_guard,
    NULL,
};

#endif /* DLPACKGEN_PYTHON_READER_TORCH_H_ */
