#include "measure.h"

#include <dlpack/dlpack_util.h>

void measure(const DLManagedTensorVersioned *m, measured *found) {
	const DLTensor *t = &m->dl_tensor;
	*found = (measured){0};
	found->fault =
	    (int)dlpack_validate_versioned(m, DLPACK_ACCEPT_UNKNOWN_DEVICE | DLPACK_ACCEPT_UNKNOWN_CODE);
	if (found->fault) return;
	found->alignment = dlpack_alignment(t->dtype);
	found->row_major = dlpack_is_row_major(t);
	found->overlap = dlpack_may_overlap(t);
	dlpack_count(t->ndim, t->shape, &found->count);
	if (dlpack_nbytes(t, m->flags, &found->bytes) != DLPACK_OK) found->bytes = -1;
	dlpack_span(t, m->flags, &found->low, &found->high);
}
