//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "shared.h"

static uint64_t trapped;

uint64_t dlp_00000000_trapped(void) { return __atomic_load_n(&trapped, __ATOMIC_RELAXED); }

void dlp_00000000_trap(DLManagedTensorVersioned* self) {
  (void)self;
  __atomic_fetch_add(&trapped, 1, __ATOMIC_RELAXED);
}

void dlp_00000000_trap_legacy(DLManagedTensor* self) {
  (void)self;
  __atomic_fetch_add(&trapped, 1, __ATOMIC_RELAXED);
}

/* Most lists contain no legacy tensors, and have a separate loop. It is aligned, because it takes a
 * quarter longer at some addresses. */
__attribute__((aligned(64))) void dlp_00000000_delete_all(const uintptr_t* all, size_t count, int legacy) {
  if (!legacy) {
    for (size_t i = 0; i < count; i++) dlp_00000000_delete(all[i]);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (all[i] & 1) {
      dlp_00000000_delete_legacy(all[i] - 1);
    } else {
      dlp_00000000_delete(all[i]);
    }
  }
}
