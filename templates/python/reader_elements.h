/*
 * The common part of NumPy's fields and the buffer protocol: converts sizes in bytes to sizes in
 * elements.
 */
#ifndef DLPACKGEN_PYTHON_READER_ELEMENTS_H_
#define DLPACKGEN_PYTHON_READER_ELEMENTS_H_

#include <stdarg.h>
#include "errors.h"
#include "reader_numbers.h"

/* Sets a BufferError and returns -1. The format is as for PyErr_Format. */
DLPACKGEN_SLOW static int dlpackgen_reject(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyErr_FormatV(PyExc_BufferError, format, arguments);
  va_end(arguments);
  return -1;
}

/* Rejects a tensor with too many dimensions, which DLPack allows. */
DLPACKGEN_SLOW static int dlpackgen_reject_dimensions(long long ndim) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  dlpackgen_put_dimensions(&text, ndim);
  return dlpackgen_raise(DLPACKGEN_STATUS_BUFFER_ERROR, &text);
}

/* Whether the machine is little-endian. */
static inline int dlpackgen_little_endian(void) {
  const union {
    uint16_t word;
    unsigned char first;
  } order = {1};
  return order.first;
}

/* Copies shape and strides, which must not have too many dimensions. */
DLPACKGEN_FAST void dlpackgen_copy_numbers(DLTensor* tensor, int64_t* scratch) {
  for (int32_t i = 0; i < tensor->ndim; i++) {
    scratch[i] = tensor->shape[i];
    scratch[DLPACKGEN_MAX_NDIM + i] = tensor->strides[i];
  }
  tensor->shape = scratch;
  tensor->strides = scratch + DLPACKGEN_MAX_NDIM;
}

/* Copies the shape and strides of a borrowed tensor before they are checked. Returns 0 if the full
 * checks must be used. */
DLPACKGEN_FAST int dlpackgen_copies(DLTensor* tensor, int64_t* scratch) {
  if ((uint32_t)tensor->ndim > DLPACKGEN_MAX_NDIM || !tensor->shape || !tensor->strides) return 0;
  dlpackgen_copy_numbers(tensor, scratch);
  return 1;
}

/* Memory, as described by its library. */
struct dlpackgen_memory {
  char* data;
  int ndim;
  const Py_ssize_t *shape, *strides; /* strides in bytes */
  int read_only;
};

/* The tensor has an element at every index. */
static inline int dlpackgen_has_elements(const struct dlpackgen_memory* memory) {
  for (int i = 0; i < memory->ndim; i++)
    if (memory->shape[i] == 0) return 0;
  return 1;
}

DLPACKGEN_SLOW static int dlpackgen_reject_stride(const struct dlpackgen_memory* memory, int i, int size) {
  return dlpackgen_reject(
      "stride %zd of dimension %d is not a multiple of the %d bytes of an element, so DLPack, which counts strides in "
      "elements, cannot describe it: pass a copy",
      memory->strides[i], i, size);
}

/* Copies the shape, which other threads may change and whose numbers may be narrower, and converts
 * strides to elements. Strides of extents below 2, and of a tensor without elements, are never
 * used, so they may have any value. */
DLPACKGEN_FAST int dlpackgen_copy_shape(const struct dlpackgen_memory* memory, int shift, int64_t* scratch) {
  int64_t* const strides = scratch + DLPACKGEN_MAX_NDIM;
  const Py_ssize_t rest = ((Py_ssize_t)1 << shift) - 1;
  for (int i = 0; i < memory->ndim; i++) {
    const Py_ssize_t stride = memory->strides[i];
    scratch[i] = memory->shape[i];
    if ((stride & rest) != 0 && memory->shape[i] > 1 && dlpackgen_has_elements(memory))
      return dlpackgen_reject_stride(memory, i, 1 << shift);
    strides[i] = stride >> shift; /* every compiler that builds Python keeps the sign */
  }
  return 0;
}

DLPACKGEN_FAST int dlpackgen_describe(const struct dlpackgen_memory* memory, const struct dlpackgen_element* element,
                                      int writable, DLTensor* out, int64_t* scratch, uint64_t* flags) {
  if (memory->ndim > DLPACKGEN_MAX_NDIM || memory->ndim < 0) return dlpackgen_reject_dimensions(memory->ndim);
  if (writable && memory->read_only) return dlpackgen_reject(DLPACKGEN_TEXT_READ_ONLY);
  if (dlpackgen_copy_shape(memory, element->shift, scratch) < 0) return -1;
  out->data = memory->data;
  out->device.device_type = kDLCPU;
  out->device.device_id = 0;
  out->ndim = memory->ndim;
  out->dtype = element->dtype;
  out->shape = scratch;
  out->strides = scratch + DLPACKGEN_MAX_NDIM;
  out->byte_offset = 0;
  *flags = memory->read_only ? (uint64_t)DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return 0;
}

#endif /* DLPACKGEN_PYTHON_READER_ELEMENTS_H_ */
