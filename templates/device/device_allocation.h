
/* Checks and initialization that all backends with allocations share. Part of the backend's C
 * file. */
#ifndef DLPACKGEN_DEVICE_ALLOCATION_H_
#define DLPACKGEN_DEVICE_ALLOCATION_H_

#include "device_tensor.h"

#include <stdlib.h>

/* Fills a tensor, except its data, as the allocation requests. The tensor has space for shape and
 * strides. */
static void device_describe(DLManagedTensorVersioned* tensor, const dlpackgen_allocation* r, int64_t* extents,
                            void (*deleter)(DLManagedTensorVersioned*)) {
  if (r->ndim) memcpy(extents, r->shape, (size_t)r->ndim * sizeof(int64_t));
  /* If strides overflow, the tensor is empty, and its strides have no meaning. */
  (void)dlpackgen_compact_strides(r->ndim, extents, extents + r->ndim);
  tensor->version.major = DLPACK_MAJOR_VERSION;
  tensor->version.minor = DLPACK_MINOR_VERSION;
  tensor->deleter = deleter;
  tensor->dl_tensor.device = r->device;
  tensor->dl_tensor.dtype = r->dtype;
  tensor->dl_tensor.ndim = r->ndim;
  tensor->dl_tensor.shape = r->ndim ? extents : NULL;
  tensor->dl_tensor.strides = r->ndim ? extents + r->ndim : NULL;
}

/* Checks that a caller's struct has all members of the first version. */
static inline int device_check_growable(const char* what, const char* type, size_t size, size_t first,
                                        dlpackgen_backend_error* error) {
  if (size >= first) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                     "%s: expected a size of at least %llu in the %s, got %llu; set it to sizeof(%s)", what,
                     (unsigned long long)first, type, (unsigned long long)size, type);
}

/* Checks a struct of the caller by the last member of its first version. */
#define DEVICE_CHECK_GROWABLE(what, type, object, member, error) \
  device_check_growable(what, #type, (object)->size, DLPACKGEN_BACKEND_END(type, member), error)

static inline int device_check_attributes(const char* what, const dlpackgen_pointer_attributes* info,
                                          dlpackgen_backend_error* error) {
  return DEVICE_CHECK_GROWABLE(what, dlpackgen_pointer_attributes, info, bytes, error);
}

/* Fills the caller's struct, which may be NULL, member by member: it may be of an older version. */
static inline int device_return_info(int64_t version, int32_t devices, dlpackgen_driver_info* info,
                                     dlpackgen_backend_error* error) {
  if (!info) return DLPACKGEN_BACKEND_OK;
  const int code = DEVICE_CHECK_GROWABLE("probe", dlpackgen_driver_info, info, reserved, error);
  if (code) return code;
  info->version = version, info->devices = devices, info->reserved = 0;
  return DLPACKGEN_BACKEND_OK;
}

/* The same for the attributes of an address. */
static inline void device_return_attributes(DLDevice device, int32_t ordinal, const void* base, size_t bytes,
                                            dlpackgen_pointer_attributes* info) {
  info->device = device, info->ordinal = ordinal, info->reserved = 0;
  info->base = base, info->bytes = bytes;
}

static inline int device_check_alloc(const dlpackgen_allocation* r, DLManagedTensorVersioned** tensor,
                                     dlpackgen_backend_error* error) {
  if (r && tensor) return DEVICE_CHECK_GROWABLE("allocate", dlpackgen_allocation, r, flags, error);
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "allocate: NULL instead of the %s",
                     r ? "tensor" : "allocation");
}

/* Checks the extents and the dtype of an allocation, and returns its size in bytes. */
static inline int device_check_size(const dlpackgen_allocation* r, size_t* bytes, dlpackgen_backend_error* error) {
  uint64_t count = 0;
  const dlpackgen_error_code rule = dlpackgen_validate_dtype(r->dtype);
  const int code = device_elements("allocate", r->ndim, r->shape, &count, error);
  if (code) return code;
  if (rule != DLPACKGEN_OK)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                       "allocate: a dtype of code %d, %d bits and %d lanes: %s", r->dtype.code, r->dtype.bits,
                       r->dtype.lanes, dlpackgen_error_string(rule));
  return device_bytes("allocate", r->dtype, count, bytes, error);
}

/* Returns the host's part of a tensor: a struct of that size that begins with the tensor and ends
 * with its extents. It is for free(). */
static inline void* device_new_block(const char* what, const dlpackgen_allocation* r, size_t size,
                                     dlpackgen_backend_error* error) {
  void* block = calloc(1, size + 2 * (size_t)r->ndim * sizeof(int64_t));
  if (!block)
    (void)device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, "%s: out of host memory for a tensor's extents", what);
  return block;
}

/* Recognizes tensors of the backend by their deleter. */
static inline int device_check_ours(const char* what, const DLManagedTensorVersioned* tensor,
                                    void (*deleter)(DLManagedTensorVersioned*), dlpackgen_backend_error* error) {
  if (tensor && tensor->deleter == deleter) return DLPACKGEN_BACKEND_OK;
  return device_fail(
      error, tensor ? DLPACKGEN_BACKEND_NOT_ALLOCATED_HERE : DLPACKGEN_BACKEND_INVALID_ARGUMENT, "%s: %s", what,
      tensor ? "the tensor was allocated by another library; call its own deleter" : DEVICE_TEXT_NO_TENSOR);
}

static inline int device_check_pointer(const void* pointer, const dlpackgen_pointer_attributes* info,
                                       dlpackgen_backend_error* error) {
  if (pointer && info) return device_check_attributes("pointer_attributes", info, error);
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "pointer_attributes: NULL instead of the %s",
                     pointer ? "attributes" : "address; the device of an empty tensor is the declared one");
}

static inline int device_return_count(int32_t found, int32_t* count, dlpackgen_backend_error* error) {
  if (!count) return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "device_count: NULL instead of the count");
  *count = found;
  return DLPACKGEN_BACKEND_OK;
}

/* Checks that two tensors are contiguous and have the same number of elements of the same dtype. */
static int device_check_copy(const DLTensor* to, const DLTensor* from, uint64_t* count,
                             dlpackgen_backend_error* error) {
  if (!to || !from) return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "copy: NULL instead of a tensor");
  uint64_t other = 0;
  int code = device_elements(DEVICE_TEXT_DESTINATION, to->ndim, to->shape, count, error);
  if (!code) code = device_elements(DEVICE_TEXT_SOURCE, from->ndim, from->shape, &other, error);
  if (code) return code;
  const int shapes =
      to->ndim == from->ndim && (to->ndim == 0 || !memcmp(to->shape, from->shape, (size_t)to->ndim * sizeof(int64_t)));
  if (!shapes || to->dtype.code != from->dtype.code || to->dtype.bits != from->dtype.bits ||
      to->dtype.lanes != from->dtype.lanes)
    return device_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED_LAYOUT, "copy: the %s of the two tensors differ",
                       shapes ? "dtypes" : "shapes");
  if (*count && (!to->data || !from->data))
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "copy: the %s has elements but no data",
                       to->data ? "source" : "destination");
  if (*count && (!dlpackgen_is_contiguous(to) || !dlpackgen_is_contiguous(from)))
    return device_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED_LAYOUT,
                       "copy: the %s is not C-contiguous; make a contiguous copy first",
                       dlpackgen_is_contiguous(to) ? "source" : "destination");
  return DLPACKGEN_BACKEND_OK;
}

#endif /* DLPACKGEN_DEVICE_ALLOCATION_H_ */
