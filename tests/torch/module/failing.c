/* An allocator that fails on request, preloaded into Python: the n-th allocation of a thread from
 * fail_at() on fails. It counts unreleased blocks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void* (*real_malloc)(size_t);
static void* (*real_calloc)(size_t, size_t);
static void* (*real_realloc)(void*, size_t);
static int (*real_posix_memalign)(void**, size_t, size_t);
static void* (*real_aligned_alloc)(size_t, size_t);
static void (*real_free)(void*);

static __thread int countdown __attribute__((tls_model("initial-exec")));
static __thread int failed __attribute__((tls_model("initial-exec")));
static atomic_long live;

/* Allocations of dlsym() itself, before the real allocator is known. */
static char early[1 << 16];
static size_t used;

static int is_early(const void* p) { return (const char*)p >= early && (const char*)p < early + sizeof early; }

static void* take_early(size_t size) {
  void* const room = early + used;
  used += (size + 15) / 16 * 16;
  if (used > sizeof early) abort();
  return room;
}

static void find(void) {
  *(void**)&real_calloc = dlsym(RTLD_NEXT, "calloc");
  *(void**)&real_realloc = dlsym(RTLD_NEXT, "realloc");
  *(void**)&real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
  *(void**)&real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
  *(void**)&real_free = dlsym(RTLD_NEXT, "free");
  *(void**)&real_malloc = dlsym(RTLD_NEXT, "malloc");
}

static int fails(void) {
  if (countdown == 0 || --countdown != 0) return 0;
  failed = 1;
  errno = ENOMEM;
  return 1;
}

static void* counted(void* p) {
  if (p) atomic_fetch_add(&live, 1);
  return p;
}

void* malloc(size_t size) {
  static int finding;
  if (!real_malloc) {
    if (finding) return take_early(size);
    finding = 1;
    find();
  }
  return fails() ? NULL : counted(real_malloc(size));
}

void* calloc(size_t count, size_t size) {
  if (!real_calloc) return take_early(count * size);
  return fails() ? NULL : counted(real_calloc(count, size));
}

void* realloc(void* p, size_t size) {
  if (!p || is_early(p)) {
    void* const made = malloc(size);
    if (p && made) memcpy(made, p, size);
    return made;
  }
  return fails() ? NULL : real_realloc(p, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  if (fails()) return ENOMEM;
  const int result = real_posix_memalign(out, alignment, size);
  if (result == 0) atomic_fetch_add(&live, 1);
  return result;
}

void* aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : counted(real_aligned_alloc(alignment, size));
}
void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

void free(void* p) {
  if (!p || is_early(p)) return;
  atomic_fetch_sub(&live, 1);
  real_free(p);
}

long blocks(void) { return atomic_load(&live); }
int has_failed(void) { return failed; }

static int deleted;

/* A deleter that needs no memory. */
void count_deleter(void* managed) {
  (void)managed;
  deleted++;
}

int deleters(void) {
  const int before = deleted;
  deleted = 0;
  return before;
}

/* Calls f(a, b), a table's or a Python function, with the n-th allocation failing. */
intptr_t call_failing(intptr_t (*f)(void*, void*), void* a, void* b, int n) {
  failed = 0;
  countdown = n;
  const intptr_t result = f(a, b);
  countdown = 0;
  return result;
}

/* The same for the function that creates new tensors. */
int allocate_failing(int (*f)(void*, void*, void*, void*), void* a, void* b, void* set_error, int n) {
  failed = 0;
  countdown = n;
  const int result = f(a, b, NULL, set_error);
  countdown = 0;
  return result;
}

void* what_is_there;

/* A table's function that returns an existing tensor. */
int give_what_is_there(void* object, void** out) {
  (void)object;
  *out = what_is_there;
  what_is_there = NULL;
  return 0;
}
