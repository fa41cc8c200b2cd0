#define _GNU_SOURCE
#include "foreign.h"

#include <dlpackgen/tensor.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void delete_versioned(DLManagedTensorVersioned* self) {
  __atomic_fetch_add(&((foreign*)self->manager_ctx)->deleted, 1, __ATOMIC_SEQ_CST);
}

static void delete_legacy(DLManagedTensor* self) {
  __atomic_fetch_add(&((foreign*)self->manager_ctx)->deleted, 1, __ATOMIC_SEQ_CST);
}

/* Two rows of three float32, in order. */
foreign* foreign_new(void) {
  foreign* f = calloc(1, sizeof *f);
  if (!f) return NULL;
  DLTensor tensor = {f->data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, f->shape, f->strides, 0};
  f->shape[0] = 2;
  f->shape[1] = 3;
  f->strides[0] = 3;
  f->strides[1] = 1;
  f->versioned.version.major = DLPACK_MAJOR_VERSION;
  f->versioned.version.minor = DLPACK_MINOR_VERSION;
  f->versioned.manager_ctx = f->legacy.manager_ctx = f;
  f->versioned.deleter = delete_versioned;
  f->legacy.deleter = delete_legacy;
  f->versioned.dl_tensor = f->legacy.dl_tensor = tensor;
  return f;
}

int foreign_deleted(foreign* f) { return __atomic_load_n(&f->deleted, __ATOMIC_SEQ_CST); }

enum { UNTRUSTED = DLPACKGEN_ACCEPT_UNKNOWN_DEVICE | DLPACKGEN_ACCEPT_UNKNOWN_CODE };

int foreign_fault(const foreign* f) { return (int)dlpackgen_validate_versioned(&f->versioned, UNTRUSTED); }

int foreign_fault_legacy(const foreign* f) {
  return (int)dlpackgen_validate(&f->legacy.dl_tensor, 0, UNTRUSTED | DLPACKGEN_ACCEPT_NULL_STRIDES);
}

static int other_deleted;

static void delete_other(DLManagedTensorVersioned* self) {
  (void)self;
  __atomic_fetch_add(&other_deleted, 1, __ATOMIC_SEQ_CST);
}

int foreign_of_major_deleted(void) { return __atomic_load_n(&other_deleted, __ATOMIC_SEQ_CST); }

DLManagedTensorVersioned* foreign_of_major(uint32_t major) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), readable = offsetof(DLManagedTensorVersioned, flags);
  char* pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE)) return NULL;
  DLManagedTensorVersioned* tensor = (DLManagedTensorVersioned*)(pages + page - readable);
  tensor->version.major = major;
  tensor->deleter = delete_other;
  return tensor;
}

void consume(DLManagedTensorVersioned* tensor) { tensor->deleter(tensor); }

void consume_legacy(DLManagedTensor* tensor) { tensor->deleter(tensor); }

void consume_by(uintptr_t deleter, void* tensor) { ((void (*)(void*))deleter)(tensor); }

typedef struct share {
  DLManagedTensorVersioned** tensors;
  size_t count;
  pthread_t thread;
} share;

static void* consume_share(void* argument) {
  share* s = argument;
  for (size_t i = 0; i < s->count; i++) consume(s->tensors[i]);
  return NULL;
}

void consume_on_threads(DLManagedTensorVersioned** tensors, size_t count, int threads) {
  share shares[64];
  int made = 0;
  if (threads > 64) threads = 64;
  for (size_t from = 0; made < threads; made++) {
    size_t upto = count * (size_t)(made + 1) / (size_t)threads;
    shares[made] = (share){tensors + from, upto - from, 0};
    from = upto;
    if (pthread_create(&shares[made].thread, NULL, consume_share, &shares[made])) abort();
  }
  for (int i = 0; i < made; i++) pthread_join(shares[i].thread, NULL);
}
