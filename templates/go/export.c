//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "export.h"

#include <stdlib.h>

typedef struct dlp_00000000_slot slot;
typedef struct dlp_00000000_extra extra;

static const uint64_t number_mask = ((uint64_t)1 << dlp_00000000_NUMBER_BITS) - 1;

static struct {
  _Alignas(64) uint64_t head;
} lists[dlp_00000000_LISTS];

/* Slabs are never freed. This list makes them reachable for leak checkers, because all other
 * pointers to them are in Go memory. */
struct slab {
  struct slab* previous;
};
static struct slab* slabs;

uint64_t* dlp_00000000_list(int number) { return &lists[number].head; }

slot* dlp_00000000_new_slots(uint64_t* list, uint32_t first, uint32_t count) {
  const size_t line = 64;
  struct slab* made = calloc(1, count * sizeof(slot) + 2 * line);
  if (!made) return NULL;
  made->previous = slabs;
  slabs = made;
  slot* slots = (slot*)(((uintptr_t)made + 2 * line - 1) / line * line);
  for (uint32_t i = 0; i < count; i++) {
    slots[i].list = list;
    slots[i].number = first + i;
    slots[i].origin = &slots[i];
  }
  return slots;
}

slot* dlp_00000000_new_slot(slot* origin) {
  slot* fresh = calloc(1, sizeof *fresh);
  if (fresh) fresh->origin = origin;
  return fresh;
}

extra* dlp_00000000_new_extra(size_t dims) { return calloc(1, sizeof(extra) + dims * sizeof(int64_t)); }

static void push(slot* s) {
  uint64_t head = __atomic_load_n(s->list, __ATOMIC_RELAXED), pushed;
  do {
    __atomic_store_n(&s->next, (uint32_t)(head & number_mask), __ATOMIC_RELAXED);
    pushed = (head & ~number_mask) | s->number;
  } while (!__atomic_compare_exchange_n(s->list, &head, pushed, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* The trap does not detect callers that keep a deleter's address. */
void dlp_00000000_release(DLManagedTensorVersioned* self) {
  if (self->deleter == dlp_00000000_trap) {
    dlp_00000000_trap(self);
    return;
  }
  self->deleter = dlp_00000000_trap;
  push((slot*)self);
}

void dlp_00000000_release_legacy(DLManagedTensor* self) {
  if (self->deleter == dlp_00000000_trap_legacy) {
    dlp_00000000_trap_legacy(self);
    return;
  }
  self->deleter = dlp_00000000_trap_legacy;
  push((slot*)self);
}

/* The slot may be reused as soon as it is pushed, hence the order. */
static void recycle(slot* s) {
  slot* origin = s->origin;
  uintptr_t hook = 0;
  if (s->owner) dlp_00000000_drop(s->owner, dlp_00000000_TENSOR);
  if (s->extra) {
    hook = s->extra->hook;
    free(s->extra);
  }
  if (s != origin) free(s);
  push(origin);
  if (hook) dlp_00000000_call_hook(hook);
}

void dlp_00000000_release_all(DLManagedTensorVersioned* self) {
  if (self->deleter == dlp_00000000_trap) {
    dlp_00000000_trap(self);
    return;
  }
  self->deleter = dlp_00000000_trap;
  recycle((slot*)self);
}

void dlp_00000000_release_all_legacy(DLManagedTensor* self) {
  if (self->deleter == dlp_00000000_trap_legacy) {
    dlp_00000000_trap_legacy(self);
    return;
  }
  self->deleter = dlp_00000000_trap_legacy;
  recycle((slot*)self);
}
