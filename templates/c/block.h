/* Host memory for the elements of a tensor. Part of callers that allocate results and copies. */
#ifndef DLPACKGEN_BLOCK_H_
#define DLPACKGEN_BLOCK_H_

#include <dlpackgen/tensor.h>
#include <stdlib.h>

/* Allocates memory for the elements of a C-contiguous tensor, with the alignment of allocated data.
 * Returns the block to free, or NULL. *data is the first element. */
static inline void* dlpackgen_allocate_block(const DLTensor* tensor, void** data) {
  const uintptr_t alignment = DLPACKGEN_DATA_ALIGNMENT;
  int64_t bytes = 0;
  if (dlpackgen_nbytes(tensor, 0, &bytes) != DLPACKGEN_OK || (uint64_t)bytes > SIZE_MAX - alignment) return NULL;
  void* const block = malloc((size_t)bytes + alignment);
  if (block) *data = (void*)(((uintptr_t)block + alignment - 1) / alignment * alignment);
  return block;
}

#endif /* DLPACKGEN_BLOCK_H_ */
