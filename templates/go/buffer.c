//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "buffer.h"

#include <stdlib.h>
#include <string.h>

typedef struct dlp_00000000_buffer buffer;

/* A freed buffer is pushed to a pool. Buffers are never removed singly, so a head that was read
 * before is still followed by the same buffers. Allocations remove all buffers at once, and keep
 * the rest in ready. */
static buffer *pools[dlp_00000000_POOLS], *ready[dlp_00000000_POOLS];

/* Headers are never freed; this list makes them reachable for leak checkers. */
struct header {
  buffer buffer;
  struct header* previous;
};
static struct header* headers;

static void put(buffer* b, uint32_t pool) {
  buffer* head = __atomic_load_n(&pools[pool], __ATOMIC_RELAXED);
  do b->next = head;
  while (!__atomic_compare_exchange_n(&pools[pool], &head, b, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static buffer* take(uint32_t pool) {
  if (!ready[pool]) ready[pool] = __atomic_exchange_n(&pools[pool], NULL, __ATOMIC_ACQUIRE);
  buffer* b = ready[pool];
  if (b) ready[pool] = b->next;
  return b;
}

static void strip(buffer* b) {
  free(b->block);
  b->block = NULL;
  put(b, 0);
}

static buffer* new_header(void) {
  struct header* made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->previous = headers;
  headers = made;
  return &made->buffer;
}

static buffer* new_block(size_t size) {
  const size_t slack = dlp_00000000_ALIGNMENT - 1;
  buffer* b = take(0);
  if (!b) b = new_header();
  if (!b) return NULL;
  b->block = calloc(1, size + slack);
  b->data = ((uintptr_t)b->block + slack) & ~(uintptr_t)slack;
  if (b->block) return b;
  put(b, 0);
  return NULL;
}

buffer* dlp_00000000_new_buffer(uint32_t pool, size_t size, size_t used, size_t dims) {
  buffer* b = pool ? take(pool) : NULL;
  if (b) memset((void*)b->data, 0, used);
  else if (!(b = new_block(size))) return NULL;
  if (dims > sizeof b->dims / sizeof *b->dims && !(b->more = calloc(dims, sizeof *b->more))) {
    strip(b);
    return NULL;
  }
  b->pool = pool;
  b->shares = dlp_00000000_HANDLE;
  return b;
}

void dlp_00000000_drop(buffer* b, uint64_t share) {
  if (__atomic_sub_fetch(&b->shares, share, __ATOMIC_ACQ_REL)) return;
  free(b->more);
  b->more = NULL;
  if (b->pool) put(b, b->pool);
  else strip(b);
}

uint64_t dlp_00000000_trim(void) {
  uint64_t exported = 0;
  for (uint32_t pool = 1; pool < dlp_00000000_POOLS; pool++)
    for (buffer* b; (b = take(pool));) strip(b);
  for (struct header* h = headers; h; h = h->previous)
    exported += __atomic_load_n(&h->buffer.exported, __ATOMIC_RELAXED);
  return exported;
}

void dlp_00000000_release_first(DLManagedTensorVersioned* self) {
  buffer* b = (buffer*)self;
  if (self->deleter == dlp_00000000_trap) {
    dlp_00000000_trap(self);
    return;
  }
  self->deleter = dlp_00000000_trap;
  __atomic_store_n(&b->exported, 0, __ATOMIC_RELAXED);
  dlp_00000000_drop(b, dlp_00000000_TENSOR);
}
