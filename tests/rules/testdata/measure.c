#include "measure.h"

#include <dlpackgen/tensor.h>

void measure(const DLManagedTensorVersioned* m, measured* found) {
  const DLTensor* t = &m->dl_tensor;
  *found = (measured){0};
  found->fault = (int)dlpackgen_validate_versioned(m, DLPACKGEN_ACCEPT_UNKNOWN_DEVICE | DLPACKGEN_ACCEPT_UNKNOWN_CODE);
  found->strict = (int)dlpackgen_validate(t, m->flags, DLPACKGEN_ACCEPT_NULL_STRIDES);
  if (found->fault) return;
  found->alignment = dlpackgen_alignment(t->dtype);
  found->row_major = dlpackgen_is_contiguous(t);
  found->overlap = dlpackgen_may_overlap(t);
  dlpackgen_size(t->ndim, t->shape, &found->count);
  if (dlpackgen_nbytes(t, m->flags, &found->bytes) != DLPACKGEN_OK) found->bytes = -1;
  dlpackgen_byte_range(t, m->flags, &found->low, &found->high);
}
