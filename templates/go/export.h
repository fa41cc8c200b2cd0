/* How export.go and export.c share the memory of exported tensors. Not part of
 * the package's interface. */
#ifndef dlp_00000000_EXPORT_H
#define dlp_00000000_EXPORT_H

#include "dlpack.h"

/* Hidden, so that two shared libraries with this package in one process keep
 * each to its own state. ELF would merge them by name. */
#ifdef _WIN32
#define dlp_00000000_LOCAL
#else
#define dlp_00000000_LOCAL __attribute__((visibility("hidden")))
#endif

enum {
	dlp_00000000_SLOT_NDIM = 8, /* more dimensions take a block of their own */
	dlp_00000000_SLAB_SLOTS = 64
};

/* A slot is one exported tensor. Slots are never freed, so that a deleter called
 * twice finds a trap and not somebody else's memory. */
struct dlp_00000000_slot {
	union {
		DLManagedTensorVersioned versioned;
		DLManagedTensor legacy;
	} managed;
	int64_t dims[2 * dlp_00000000_SLOT_NDIM]; /* shape, then strides */
	struct dlp_00000000_slot *next;           /* released before this one */
	uint64_t index;                           /* of Go's half */
	uint64_t padding[4];                      /* to whole cache lines */
};

/* Makes SLAB_SLOTS zeroed slots, side by side; NULL when memory is out. Calls
 * must not overlap. */
dlp_00000000_LOCAL struct dlp_00000000_slot *dlp_00000000_new_slab(void);

/* Takes all released slots at once, the newest first. */
dlp_00000000_LOCAL struct dlp_00000000_slot *dlp_00000000_take_released(void);

/* Counts the calls of a deleter on a tensor that was already released. */
dlp_00000000_LOCAL uint64_t dlp_00000000_trapped(void);

/* The deleters. They only put the slot on a list, in C, so any thread may call
 * them at any time: no lock, no wait for Go's scheduler or collector. */
dlp_00000000_LOCAL void dlp_00000000_release(DLManagedTensorVersioned *self);
dlp_00000000_LOCAL void dlp_00000000_release_legacy(DLManagedTensor *self);

#endif
