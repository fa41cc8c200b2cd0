#include "measure.h"

#include <dlpackgen/tensor.h>

static int64_t strides_of(const DLTensor* t) {
  int64_t compact[DLPACKGEN_MAX_NDIM], hash = 0;
  const int64_t* strides = t->strides ? t->strides : compact;
  if (!t->strides && dlpackgen_compact_strides(t->ndim, t->shape, compact) != DLPACKGEN_OK) return 0;
  for (int32_t i = 0; i < t->ndim; i++) hash = hashed(hash, strides[i]);
  return hash;
}

void measure(const DLManagedTensorVersioned* m, measured* found) {
  const DLTensor* t = &m->dl_tensor;
  *found = (measured){0};
  found->fault = (int)dlpackgen_validate_versioned(m, DLPACKGEN_ACCEPT_UNKNOWN_DEVICE | DLPACKGEN_ACCEPT_UNKNOWN_CODE);
  found->strict = (int)dlpackgen_validate(t, m->flags, DLPACKGEN_ACCEPT_NULL_STRIDES);
  if (found->fault) return;
  found->alignment = dlpackgen_alignment(t->dtype);
  found->row_major = dlpackgen_is_contiguous(t);
  found->column_major = dlpackgen_is_f_contiguous(t);
  found->inner = dlpackgen_is_inner_contiguous(t);
  found->any_order = dlpackgen_is_contiguous_any_order(t);
  found->overlap = dlpackgen_may_overlap(t);
  dlpackgen_size(t->ndim, t->shape, &found->count);
  if (dlpackgen_nbytes(t, m->flags, &found->bytes) != DLPACKGEN_OK) found->bytes = -1;
  dlpackgen_byte_range(t, m->flags, &found->low, &found->high);
  found->strides = strides_of(t);
}

int64_t accepts(DLManagedTensorVersioned* made, const DLTensor* requested) {
  const int managed = dlpackgen_device_is_managed((int32_t)requested->device.device_type);
  dlpackgen_mismatch_ mismatch = {-1, 0, 0};
  return dlpackgen_validate_versioned(made, 0) == DLPACKGEN_OK &&
         dlpackgen_differs_(&made->dl_tensor, made->flags, requested, managed, &mismatch) == DLPACKGEN_DIFFERS_NOT_;
}
