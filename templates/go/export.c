//go:build dlpackgen_template && cgo && !(386 || arm || mips || mipsle || wasm)

#include "export.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct dlp_00000000_slot slot;

/* Deleters push one slot, Go takes the whole list. Nobody pops a single slot,
 * so a head that was seen before still has the same slots under it. */
static _Atomic(slot *) released;

static _Atomic uint64_t trapped;

/* Slabs are never freed; this list is what keeps leak checkers from counting
 * them, since all other pointers to them stand in Go's memory. */
struct slab {
	struct slab *previous;
	slot slots[dlp_00000000_SLAB_SLOTS];
};
static struct slab *slabs;

slot *dlp_00000000_new_slab(void) {
	struct slab *made = calloc(1, sizeof *made);
	if (!made) return NULL;
	made->previous = slabs;
	slabs = made;
	return made->slots;
}

slot *dlp_00000000_take_released(void) {
	return atomic_exchange_explicit(&released, NULL, memory_order_acquire);
}

uint64_t dlp_00000000_trapped(void) {
	return atomic_load_explicit(&trapped, memory_order_relaxed);
}

static void push(slot *s) {
	slot *head = atomic_load_explicit(&released, memory_order_relaxed);
	do s->next = head;
	while (!atomic_compare_exchange_weak_explicit(&released, &head, s, memory_order_release, memory_order_relaxed));
}

static void trap(DLManagedTensorVersioned *self) {
	(void)self;
	atomic_fetch_add_explicit(&trapped, 1, memory_order_relaxed);
}

static void trap_legacy(DLManagedTensor *self) {
	(void)self;
	atomic_fetch_add_explicit(&trapped, 1, memory_order_relaxed);
}

void dlp_00000000_release(DLManagedTensorVersioned *self) {
	self->deleter = trap;
	push((slot *)self);
}

void dlp_00000000_release_legacy(DLManagedTensor *self) {
	self->deleter = trap_legacy;
	push((slot *)self);
}
