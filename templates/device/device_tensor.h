
/* Sizes of tensors, with every overflow noticed. Part of the back end's C file. */
#ifndef DLPACKGEN_DEVICE_TENSOR_H_
#define DLPACKGEN_DEVICE_TENSOR_H_

#include "device_error.h"
#include "dlpackgen_tensor.h"

enum { DEVICE_MAX_NDIM = 64 };

/* Gives the number of elements of a shape. */
static int device_elements(const char* what, int32_t ndim, const int64_t* shape, uint64_t* count,
                           dlpackgen_backend_error* error) {
  if (ndim < 0 || ndim > DEVICE_MAX_NDIM || (ndim > 0 && !shape))
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                       "%s: %d dimensions%s; 0 to %d were expected, with their extents", what, (int)ndim,
                       shape ? "" : " and no shape", DEVICE_MAX_NDIM);
  int empty = 0;
  for (int32_t i = 0; i < ndim; i++) {
    if (shape[i] < 0)
      return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "%s: dimension %d has the extent %lld", what,
                         (int)i, (long long)shape[i]);
    if (shape[i] == 0) empty = 1;
  }
  *count = empty ? 0 : 1;
  for (int32_t i = 0; i < ndim && !empty; i++) {
    if ((uint64_t)shape[i] > INT64_MAX / *count)
      return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                         "%s: the shape has more elements than 64 bits count", what);
    *count *= (uint64_t)shape[i];
  }
  return DLPACKGEN_BACKEND_OK;
}

/* Gives the size in bytes. A DLTensor has no flags, so narrow elements count as packed. */
static int device_bytes(const char* what, DLDataType dtype, uint64_t count, size_t* bytes,
                        dlpackgen_backend_error* error) {
  const uint64_t width = dlpackgen_element_bits(dtype, 0);
  if (width == 0)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "%s: the dtype has %d bits and %d lanes", what,
                       dtype.bits, dtype.lanes);
  if (count > (UINT64_MAX - 7) / width || (count * width + 7) / 8 > PTRDIFF_MAX)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                       "%s: %llu elements of %llu bits are more than can be addressed", what, (unsigned long long)count,
                       (unsigned long long)width);
  *bytes = (size_t)((count * width + 7) / 8);
  return DLPACKGEN_BACKEND_OK;
}

/* Writes the strides of a compact tensor, in elements. */
static void device_strides(int32_t ndim, const int64_t* shape, int64_t* strides) {
  int64_t step = 1;
  for (int32_t i = ndim; i-- > 0;) {
    strides[i] = step;
    step *= shape[i] > 1 ? shape[i] : 1;
  }
}

/* Tells whether a tensor with elements is compact; strides of single elements do
 * not matter. */
static int device_compact(const DLTensor* t) {
  int64_t step = 1;
  for (int32_t i = t->ndim; t->strides && i-- > 0;) {
    if (t->shape[i] != 1 && t->strides[i] != step) return 0;
    step *= t->shape[i];
  }
  return 1;
}

#endif /* DLPACKGEN_DEVICE_TENSOR_H_ */
