
/* A producer and a consumer in C, independent of the Go bindings. Not part of the package's
 * interface. */
#ifndef dlp_00000000_FOREIGN_H
#define dlp_00000000_FOREIGN_H

#include "dlpack.h"

/* Hidden, so that two shared libraries with this package in one process each call their own
 * functions. ELF would merge symbols of the same name. */
#ifdef _WIN32
#define dlp_00000000_LOCAL
#else
#define dlp_00000000_LOCAL __attribute__((visibility("hidden")))
#endif

enum {
  dlp_00000000_FOREIGN_NDIM = 80, /* more than any consumer accepts */
  dlp_00000000_FOREIGN_BYTES = 512
};

/* A tensor of which tests may damage every field. Its deleters only count, so a second call is
 * detected and does not crash. */
typedef struct dlp_00000000_foreign {
  DLManagedTensorVersioned versioned;
  DLManagedTensor legacy;
  int64_t shape[dlp_00000000_FOREIGN_NDIM];
  int64_t strides[dlp_00000000_FOREIGN_NDIM];
  uint64_t data[dlp_00000000_FOREIGN_BYTES / 8];
  int32_t deleted;        /* by atomic operations */
  int32_t deleted_legacy; /* by atomic operations */
} dlp_00000000_foreign;

/* Creates both structs: two rows of three float32 in order, owned by the foreign. NULL if memory is
 * exhausted. Release it with free(). */
dlp_00000000_LOCAL dlp_00000000_foreign* dlp_00000000_foreign_new(void);

/* The fields of a tensor as C reads them. */
typedef struct dlp_00000000_sight {
  uint64_t major, minor, manager_ctx, deleter, flags;
  uint64_t data, byte_offset, shape, strides;
  int64_t device_type, device_id, ndim, code, bits, lanes;
} dlp_00000000_sight;

dlp_00000000_LOCAL dlp_00000000_sight dlp_00000000_see(uintptr_t tensor);
dlp_00000000_LOCAL dlp_00000000_sight dlp_00000000_see_legacy(uintptr_t tensor);

/* Deletes tensors on 1 to 64 threads that Go did not create. Every address with the lowest bit set
 * is a legacy tensor. */
dlp_00000000_LOCAL void dlp_00000000_delete_on_threads(const uintptr_t* tensors, size_t count, int threads);

#endif
