
/* The memory of buffers, which the Go and the C files of this package share. Not part of the
 * package's interface. */
#ifndef dlp_00000000_BUFFER_H
#define dlp_00000000_BUFFER_H

#include "dlpackgen_rules.h"
#include "shared.h"

enum {
  dlp_00000000_ALIGNMENT = DLPACKGEN_DATA_ALIGNMENT, /* of the data, in bytes */
  dlp_00000000_POOLS = 14 /* of blocks, from 256 bytes to 1 MiB in powers of two; pool 0 has only headers */
};

/* Shares in a buffer: the low half counts Go's, the high one tensors. */
#define dlp_00000000_HANDLE ((uint64_t)1)
#define dlp_00000000_TENSOR ((uint64_t)1 << 32)

/* A buffer is C memory that tensors share, and the first of these tensors. Buffers are never freed,
 * but their blocks are. */
struct dlp_00000000_buffer {
  DLManagedTensorVersioned managed; /* for the only consumer */
  uint64_t shares;
  void* block;                      /* the result of malloc */
  uintptr_t data;                   /* its first aligned byte */
  int64_t* more;                    /* dims that do not fit, or NULL */
  struct dlp_00000000_buffer* next; /* in a pool */
  uint32_t pool;                    /* to which it returns */
  uint32_t exported;                /* 1 while a consumer owns this tensor */
  int64_t dims[2 * dlp_00000000_SLOT_NDIM];
};

/* Returns a buffer with zeroed data and one share, from a pool or new. The blocks of a pool have
 * that size; those of pool 0 are freed with the buffer. If the dims do not fit, they are allocated.
 * Returns NULL if memory is exhausted. Calls must not overlap. */
dlp_00000000_LOCAL struct dlp_00000000_buffer* dlp_00000000_new_buffer(uint32_t pool, size_t size, size_t used,
                                                                       size_t dims);

/* Releases a share, on any thread. */
dlp_00000000_LOCAL void dlp_00000000_drop(struct dlp_00000000_buffer* b, uint64_t share);

/* Frees the blocks in pools, and counts the buffers' tensors that consumers own. Must not overlap
 * new_buffer. */
dlp_00000000_LOCAL uint64_t dlp_00000000_trim(void);

/* The deleter of the tensor in a buffer, like those of other tensors. */
dlp_00000000_LOCAL void dlp_00000000_release_first(DLManagedTensorVersioned* self);

#endif
