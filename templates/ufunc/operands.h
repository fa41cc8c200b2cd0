/* Converts NumPy's operands to tensors of a kernel: shapes, strides, copies. Part of
 * kernels_ufunc.c. */
#ifndef DLPACKGEN_UFUNC_OPERANDS_H_
#define DLPACKGEN_UFUNC_OPERANDS_H_

#include <dlpackgen/checker.h>
#include <kernels.h>
#include <string.h>
#include "block.h"

/* Not every kernel uses all functions. */
#if defined(__GNUC__)
#define DLPACKGEN_UFUNC __attribute__((unused)) static
#else
#define DLPACKGEN_UFUNC static
#endif

/* The maximum rank of an operand: the maximum of a tensor, plus the dimension of the loop. */
#define DLPACKGEN_UFUNC_NDIM (sizeof((struct dlpackgen_result*)0)->shape / sizeof(int64_t) + 1)

enum dlpackgen_ufunc_layout {
  DLPACKGEN_UFUNC_CONTIGUOUS,
  DLPACKGEN_UFUNC_STRIDED,
  DLPACKGEN_UFUNC_INNER,
  DLPACKGEN_UFUNC_ANY_ORDER,
  DLPACKGEN_UFUNC_COLUMN_MAJOR,
};

/* An operand, from the description. */
struct dlpackgen_ufunc_operand {
  struct dlpackgen_site site;
  enum dlpackgen_ufunc_layout layout;
  bool is_leading; /* it begins with `...` */
  bool is_written;
  uintptr_t align; /* of its first element, if stricter than its dtype; else 0 */
  int32_t ndim;    /* of its core */
  const int* dims; /* the index of each core dimension among the sizes of a loop */
};

/* An operand in a loop. */
struct dlpackgen_ufunc_tensor {
  DLTensor tensor; /* of one call */
  int64_t shape[DLPACKGEN_UFUNC_NDIM], strides[DLPACKGEN_UFUNC_NDIM];
  char* passed;         /* NumPy's memory for the call */
  const intptr_t* core; /* NumPy's strides of that memory, in bytes */
  void* block;          /* memory for a copy; NULL: the kernel accepts it in place */
  bool is_shared;       /* an output that overlaps an input */
};

DLPACKGEN_UFUNC int64_t dlpackgen_ufunc_item(const DLTensor* tensor) {
  return (int64_t)tensor->dtype.bits * tensor->dtype.lanes / 8;
}

DLPACKGEN_UFUNC void dlpackgen_ufunc_reverse(int32_t ndim, int64_t* items) {
  for (int32_t i = 0; i < ndim / 2; i++) {
    const int64_t item = items[i];
    items[i] = items[ndim - 1 - i];
    items[ndim - 1 - i] = item;
  }
}

/* Returns whether the kernel accepts a tensor with these strides. */
DLPACKGEN_UFUNC bool dlpackgen_ufunc_fits(enum dlpackgen_ufunc_layout layout, const DLTensor* tensor) {
  switch (layout) {
    case DLPACKGEN_UFUNC_STRIDED: return true;
    case DLPACKGEN_UFUNC_INNER: return dlpackgen_is_inner_contiguous(tensor);
    case DLPACKGEN_UFUNC_ANY_ORDER: return dlpackgen_is_contiguous_any_order(tensor);
    case DLPACKGEN_UFUNC_COLUMN_MAJOR: return dlpackgen_is_f_contiguous(tensor);
    default: return dlpackgen_is_contiguous(tensor);
  }
}

/* Allocates memory for copies of an operand whose strides the kernel does not accept. */
DLPACKGEN_UFUNC int dlpackgen_ufunc_prepare_copy(const struct dlpackgen_ufunc_operand* operand,
                                                 struct dlpackgen_ufunc_tensor* made,
                                                 struct dlpackgen_message* message) {
  DLTensor* const tensor = &made->tensor;
  const bool is_turned = operand->layout == DLPACKGEN_UFUNC_COLUMN_MAJOR;
  if (is_turned) dlpackgen_ufunc_reverse(tensor->ndim, tensor->shape);
  (void)dlpackgen_compact_strides(tensor->ndim, tensor->shape, tensor->strides);
  if (is_turned) {
    dlpackgen_ufunc_reverse(tensor->ndim, tensor->shape);
    dlpackgen_ufunc_reverse(tensor->ndim, tensor->strides);
  }
  made->block = dlpackgen_allocate_block(tensor, &tensor->data);
  if (made->block) return DLPACKGEN_STATUS_OK;
  return dlpackgen_fail(message, &operand->site, DLPACKGEN_STATUS_MEMORY_ERROR, "no memory for a copy of it");
}

/* Describes an operand of a loop whose core has these strides, in bytes. */
DLPACKGEN_UFUNC int dlpackgen_ufunc_describe(const struct dlpackgen_ufunc_operand* operand, DLDataType dtype,
                                             char* passed, const intptr_t* sizes, intptr_t step, const intptr_t* core,
                                             struct dlpackgen_ufunc_tensor* made, struct dlpackgen_message* message) {
  DLTensor* const tensor = &made->tensor;
  memset(tensor, 0, sizeof *tensor);
  tensor->device.device_type = kDLCPU;
  tensor->dtype = dtype;
  tensor->ndim = operand->ndim;
  tensor->shape = made->shape;
  tensor->strides = made->strides;
  tensor->data = made->passed = passed;
  made->is_shared = false;
  made->core = core;
  const int64_t item = dlpackgen_ufunc_item(tensor);
  bool fits = !operand->align || ((uintptr_t)passed % operand->align == 0 && (uintptr_t)step % operand->align == 0);
  for (int32_t d = 0; d < operand->ndim; d++) {
    made->shape[d] = sizes[operand->dims[d]];
    made->strides[d] = core[d] / item;
    fits = fits && core[d] % item == 0;
  }
  if (fits && dlpackgen_ufunc_fits(operand->layout, tensor)) return DLPACKGEN_STATUS_OK;
  return dlpackgen_ufunc_prepare_copy(operand, made, message);
}

/* Copies the elements from dimension d on, from NumPy's memory to a copy or back. */
DLPACKGEN_UFUNC void dlpackgen_ufunc_copy(const struct dlpackgen_ufunc_tensor* made, int32_t d, char* passed,
                                          char* copy, bool is_back) {
  const size_t item = (size_t)dlpackgen_ufunc_item(&made->tensor);
  if (d == made->tensor.ndim) {
    memcpy(is_back ? passed : copy, is_back ? copy : passed, item);
    return;
  }
  for (int64_t i = 0; i < made->shape[d]; i++)
    dlpackgen_ufunc_copy(made, d + 1, passed + i * made->core[d], copy + i * made->strides[d] * (int64_t)item, is_back);
}

/* Adds the dimension of the loop to an operand; returns 0 if the kernel does not accept this. */
DLPACKGEN_UFUNC bool dlpackgen_ufunc_lead(const struct dlpackgen_ufunc_operand* operand, int64_t count, intptr_t step,
                                          struct dlpackgen_ufunc_tensor* made) {
  const int64_t item = dlpackgen_ufunc_item(&made->tensor);
  if (!operand->is_leading) return step == 0;
  if (step % item) return false;
  memmove(made->shape + 1, made->shape, (size_t)made->tensor.ndim * sizeof(int64_t));
  memmove(made->strides + 1, made->strides, (size_t)made->tensor.ndim * sizeof(int64_t));
  made->shape[0] = count;
  made->strides[0] = step / item;
  made->tensor.ndim++;
  return dlpackgen_ufunc_fits(operand->layout, &made->tensor);
}

DLPACKGEN_UFUNC void dlpackgen_ufunc_unlead(int32_t ndim, struct dlpackgen_ufunc_tensor* made) {
  if (made->tensor.ndim == ndim) return;
  memmove(made->shape, made->shape + 1, (size_t)ndim * sizeof(int64_t));
  memmove(made->strides, made->strides + 1, (size_t)ndim * sizeof(int64_t));
  made->tensor.ndim = ndim;
}

/* Allocates memory for a result that is not returned to callers. */
DLPACKGEN_UFUNC int dlpackgen_ufunc_save(const struct dlpackgen_site* at, const struct dlpackgen_result* wanted,
                                         struct dlpackgen_ufunc_tensor* made, struct dlpackgen_message* message) {
  memset(&made->tensor, 0, sizeof made->tensor);
  made->tensor.device.device_type = kDLCPU;
  made->tensor.dtype = wanted->dtype;
  made->tensor.ndim = wanted->ndim;
  made->tensor.shape = made->shape;
  made->tensor.strides = made->strides;
  memcpy(made->shape, wanted->shape, (size_t)wanted->ndim * sizeof(int64_t));
  (void)dlpackgen_compact_strides(wanted->ndim, made->shape, made->strides);
  made->block = dlpackgen_allocate_block(&made->tensor, &made->tensor.data);
  if (made->block) return DLPACKGEN_STATUS_OK;
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_MEMORY_ERROR, DLPACKGEN_TEXT_NO_MEMORY);
}

/* Reads a scalar whose dtype depends on the loop. */
DLPACKGEN_UFUNC struct dlpackgen_number dlpackgen_ufunc_number(const DLTensor* scalar) {
  struct dlpackgen_number made = {0, 0};
  const void* const data = scalar->data;
  switch (DLPACKGEN_DTYPE(scalar->dtype.code, scalar->dtype.bits, 1)) {
    case DLPACKGEN_DTYPE(kDLBool, 8, 1): made.integer = *(const uint8_t*)data; break;
    case DLPACKGEN_DTYPE(kDLInt, 8, 1): made.integer = *(const int8_t*)data; break;
    case DLPACKGEN_DTYPE(kDLUInt, 8, 1): made.integer = *(const uint8_t*)data; break;
    case DLPACKGEN_DTYPE(kDLInt, 16, 1): made.integer = *(const int16_t*)data; break;
    case DLPACKGEN_DTYPE(kDLUInt, 16, 1): made.integer = *(const uint16_t*)data; break;
    case DLPACKGEN_DTYPE(kDLInt, 32, 1): made.integer = *(const int32_t*)data; break;
    case DLPACKGEN_DTYPE(kDLUInt, 32, 1): made.integer = *(const uint32_t*)data; break;
    case DLPACKGEN_DTYPE(kDLInt, 64, 1): made.integer = *(const int64_t*)data; break;
    case DLPACKGEN_DTYPE(kDLUInt, 64, 1): made.integer = (int64_t)*(const uint64_t*)data; break;
    case DLPACKGEN_DTYPE(kDLFloat, 32, 1): made.real = *(const float*)data; break;
    default: made.real = *(const double*)data; break;
  }
  return made;
}

#endif /* DLPACKGEN_UFUNC_OPERANDS_H_ */
