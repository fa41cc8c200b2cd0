
/* Computes sizes of tensors, by the common rules of all languages, with errors of a backend. Part
 * of the backend's C file. */
#ifndef DLPACKGEN_DEVICE_TENSOR_H_
#define DLPACKGEN_DEVICE_TENSOR_H_

#include "device_error.h"
#include "dlpackgen_tensor.h"

/* Reports the error of a shape. */
static int device_bad_shape(const char* what, dlpackgen_error_code rule, const dlpackgen_mismatch_* mismatch,
                            dlpackgen_backend_error* error) {
  if (rule == DLPACKGEN_ERROR_EXTENT)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "%s: dimension %d has the extent %lld", what,
                       (int)mismatch->dimension, (long long)mismatch->got);
  if (rule == DLPACKGEN_ERROR_TOO_LARGE)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                       "%s: the shape has more elements than 63 bits can count", what);
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                     "%s: %d dimensions%s; expected 0 to %d, with their extents", what, (int)mismatch->got,
                     rule == DLPACKGEN_ERROR_SHAPE_NULL ? " and no shape" : "", DLPACKGEN_MAX_NDIM);
}

/* Returns the number of elements of a shape. */
static int device_elements(const char* what, int32_t ndim, const int64_t* shape, uint64_t* count,
                           dlpackgen_backend_error* error) {
  dlpackgen_mismatch_ mismatch = {-1, 0, ndim};
  int64_t elements = 0;
  dlpackgen_error_code rule = DLPACKGEN_ERROR_NDIM;
  if (ndim <= DLPACKGEN_MAX_NDIM) rule = dlpackgen_size_(ndim, shape, &elements, &mismatch);
  *count = (uint64_t)elements;
  return rule == DLPACKGEN_OK ? DLPACKGEN_BACKEND_OK : device_bad_shape(what, rule, &mismatch, error);
}

/* Returns the size in bytes. A DLTensor has no flags, so narrow elements count as packed. */
static int device_bytes(const char* what, DLDataType dtype, uint64_t count, size_t* bytes,
                        dlpackgen_backend_error* error) {
  const uint64_t width = dlpackgen_element_bits(dtype, 0);
  uint64_t total = 0;
  if (width == 0)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "%s: the dtype has %d bits and %d lanes", what,
                       dtype.bits, dtype.lanes);
  if (!dlpackgen_bytes_of_(count, width, &total) || total > PTRDIFF_MAX)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                       "%s: %llu elements of %llu bits exceed the address space", what, (unsigned long long)count,
                       (unsigned long long)width);
  *bytes = (size_t)total;
  return DLPACKGEN_BACKEND_OK;
}

#endif /* DLPACKGEN_DEVICE_TENSOR_H_ */
