/* What the validator leaves to those who use a tensor: that its elements lie where
 * their type may, and apart from each other. Part of exchange.c. */
#ifndef DLPACKGEN_PYTHON_MEMORY_H_
#define DLPACKGEN_PYTHON_MEMORY_H_

#include <dlpackgen_python/managed.h>

static int dlpackgen_is_empty(const DLTensor *tensor) {
	for (int32_t d = 0; d < tensor->ndim; d++)
		if (tensor->shape[d] == 0) return 1;
	return 0;
}

/* The address of the first element; of what is behind a handle, its offset alone. */
static uintptr_t dlpackgen_address(const DLTensor *tensor) {
	const int has_address = dlpack_device_has_addresses((int32_t)tensor->device.device_type);
	return (has_address ? (uintptr_t)tensor->data : 0) + (uintptr_t)tensor->byte_offset;
}

DLPACKGEN_SLOW static int dlpackgen_lies_between(const DLTensor *tensor) {
	return dlpackgen_address(tensor) % (uintptr_t)dlpack_alignment(tensor->dtype) != 0 && !dlpackgen_is_empty(tensor);
}

/* Tells whether elements are not where their type may be. No type needs more than 16
 * bytes, which most allocations are aligned to. */
DLPACKGEN_FAST int dlpackgen_is_misaligned(const DLTensor *tensor) {
	return DLPACKGEN_RARE(((uintptr_t)tensor->data | (uintptr_t)tensor->byte_offset) % 16 != 0) &&
	    dlpackgen_lies_between(tensor);
}

/* What is said of such a tensor, with its address and its alignment. */
#define DLPACKGEN_MISALIGNED "its data at %p is not aligned to %d bytes, which its elements need: make a copy"

static uint64_t dlpackgen_step(const DLTensor *tensor, int32_t dimension) {
	const uint64_t stride = (uint64_t)tensor->strides[dimension];
	return tensor->strides[dimension] < 0 ? 0 - stride : stride;
}

/* Gives the dimension of the smallest step that leads anywhere and is not in the set,
 * or -1. */
static int32_t dlpackgen_next_step(const DLTensor *tensor, uint64_t used) {
	int32_t next = -1;
	for (int32_t d = 0; d < tensor->ndim; d++)
		if (tensor->shape[d] > 1 && !(used >> d & 1) &&
		    (next < 0 || dlpackgen_step(tensor, d) < dlpackgen_step(tensor, next)))
			next = d;
	return next;
}

/* Tells whether two elements may lie in one place: from the smallest step to the
 * largest, each must lead beyond all that those before it reach. Some strides that
 * cross without a collision are counted in, as no library makes them. */
DLPACKGEN_SLOW static int dlpackgen_may_overlap(const DLTensor *tensor) {
	uint64_t reached = 0, used = 0;
	for (int32_t d; (d = dlpackgen_next_step(tensor, used)) >= 0; used |= UINT64_C(1) << d) {
		if (dlpackgen_step(tensor, d) <= reached) return !dlpackgen_is_empty(tensor);
		reached += (uint64_t)(tensor->shape[d] - 1) * dlpackgen_step(tensor, d);
	}
	return 0;
}

#define DLPACKGEN_OVERLAPPING "the function writes to it, and its strides may put several elements in one place"

#endif
