
/* The common part of this package's C files: the visibility of functions, and the deleter of
 * released tensors. Not part of the package's interface. */
#ifndef dlp_00000000_SHARED_H
#define dlp_00000000_SHARED_H

#include "dlpack.h"

/* Hidden, so that two shared libraries with this package in one process each keep their
 * own state. ELF would merge symbols of the same name. */
#ifdef _WIN32
#define dlp_00000000_LOCAL
#else
#define dlp_00000000_LOCAL __attribute__((visibility("hidden")))
#endif

/* More dimensions need a block of memory. */
enum { dlp_00000000_SLOT_NDIM = 8 };

/* Call the deleter of a tensor, unless it is NULL. Addresses are numbers: cgo would check a pointer
 * argument for Go memory behind it, which costs more than the rest of the call. */
static inline void dlp_00000000_delete(uintptr_t address) {
  DLManagedTensorVersioned* managed = (DLManagedTensorVersioned*)address;
  if (managed->deleter) managed->deleter(managed);
}

static inline void dlp_00000000_delete_legacy(uintptr_t address) {
  DLManagedTensor* managed = (DLManagedTensor*)address;
  if (managed->deleter) managed->deleter(managed);
}

/* Calls the deleters of tensors. If there are legacy tensors among them, the lowest bit of an
 * address marks a DLManagedTensor. */
dlp_00000000_LOCAL void dlp_00000000_delete_all(const uintptr_t* all, size_t count, int legacy);

/* The deleters of tensors that were released: each call is counted and does nothing else. */
dlp_00000000_LOCAL void dlp_00000000_trap(DLManagedTensorVersioned* self);
dlp_00000000_LOCAL void dlp_00000000_trap_legacy(DLManagedTensor* self);

/* Returns the number of these calls. */
dlp_00000000_LOCAL uint64_t dlp_00000000_trapped(void);

#endif
