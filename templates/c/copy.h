/* Copies the elements of a tensor. Part of sources that copy to C-contiguous memory. */
#ifndef DLPACKGEN_COPY_H_
#define DLPACKGEN_COPY_H_

#include <string.h>

/* Returns the size of an element in bytes; 0 if the host cannot copy the elements one by one,
 * because they are packed or in other memory. flags are DLPack's. */
static inline size_t dlpackgen_item_of(const DLTensor* t, uint64_t flags) {
  const uint64_t bits = dlpackgen_element_bits(t->dtype, flags);
  if (!dlpackgen_device_is_host_readable((int32_t)t->device.device_type)) return 0;
  return bits % 8 == 0 ? (size_t)(bits / 8) : 0;
}

/* Copies the elements of the dimensions from a given one on, and returns the address after the
 * copied bytes. item is the size of an element in bytes. */
static inline char* dlpackgen_copy_along(int32_t dimension, const DLTensor* t, char* to, const char* from,
                                         size_t item) {
  if (dimension == t->ndim) {
    memcpy(to, from, item);
    return to + item;
  }
  for (int64_t i = 0; i < t->shape[dimension]; i++)
    to = dlpackgen_copy_along(dimension + 1, t, to, from + i * t->strides[dimension] * (int64_t)item, item);
  return to;
}

#endif /* DLPACKGEN_COPY_H_ */
