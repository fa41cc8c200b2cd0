
/* The memory of exported tensors, which the Go and the C files of this package share. Not part of
 * the package's interface. */
#ifndef dlp_00000000_EXPORT_H
#define dlp_00000000_EXPORT_H

#include "buffer.h"

enum {
  dlp_00000000_LISTS = 32,      /* of free slots */
  dlp_00000000_NUMBER_BITS = 24 /* of a list's head; the others count its changes */
};

/* Additional data of few tensors. */
struct dlp_00000000_extra {
  uintptr_t hook;  /* a cgo.Handle of the release hook, or 0 */
  int64_t dims[1]; /* as many as requested */
};

/* A slot is one exported tensor. Slots are never freed, so a deleter that is called twice finds a
 * trap and not other memory. Deleters push slots, and Go pops them. A list's head contains a count
 * of its changes and the number of the top slot, so that a concurrent pop does not mistake the same
 * number for the same state. */
struct dlp_00000000_slot {
  union {
    DLManagedTensorVersioned versioned;
    DLManagedTensor legacy;
  } managed;
  uint32_t next;                            /* number of the slot below; 0 for none */
  uint32_t number;                          /* on its list, from 1 */
  uint64_t* list;                           /* the head of the list it returns to */
  struct dlp_00000000_slot* origin;         /* itself; in a copy, the original slot */
  uintptr_t pinned;                         /* the object that Go's half retains, also while the slot is free */
  struct dlp_00000000_buffer* owner;        /* the owner of the memory, or NULL */
  struct dlp_00000000_extra* extra;         /* or NULL */
  int64_t dims[2 * dlp_00000000_SLOT_NDIM]; /* shape, then strides */
};

/* The heads of the lists, each on a separate cache line. */
dlp_00000000_LOCAL uint64_t* dlp_00000000_list(int number);

/* Creates count zeroed slots, numbered from first, for a list, without adding them; NULL if memory
 * is exhausted. Calls must not overlap. */
dlp_00000000_LOCAL struct dlp_00000000_slot* dlp_00000000_new_slots(uint64_t* list, uint32_t first, uint32_t count);

/* Creates a copy of a slot that its deleter frees, for tools that detect uses of freed memory; NULL
 * if memory is exhausted. */
dlp_00000000_LOCAL struct dlp_00000000_slot* dlp_00000000_new_slot(struct dlp_00000000_slot* origin);

/* Allocates the dims; NULL if memory is exhausted. */
dlp_00000000_LOCAL struct dlp_00000000_extra* dlp_00000000_new_extra(size_t dims);

/* The deleters of tensors with only a slot, and of tensors with an owner, an extra or a copied
 * slot. Any thread may call them at any time. They need no lock and do not wait for Go's scheduler
 * or collector, unless the tensor has a hook. */
dlp_00000000_LOCAL void dlp_00000000_release(DLManagedTensorVersioned* self);
dlp_00000000_LOCAL void dlp_00000000_release_legacy(DLManagedTensor* self);
dlp_00000000_LOCAL void dlp_00000000_release_all(DLManagedTensorVersioned* self);
dlp_00000000_LOCAL void dlp_00000000_release_all_legacy(DLManagedTensor* self);

/* In Go: calls a hook, and deletes its handle. */
dlp_00000000_LOCAL void dlp_00000000_call_hook(uintptr_t hook);

#endif
