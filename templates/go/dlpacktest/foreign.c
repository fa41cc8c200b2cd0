//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "foreign.h"

#include <stdlib.h>

#ifdef _WIN32
#include <process.h>
#include <windows.h>
#else
#include <pthread.h>
#endif

typedef dlp_00000000_foreign foreign;
typedef dlp_00000000_sight sight;

static void count_versioned(DLManagedTensorVersioned* self) {
  __atomic_fetch_add(&((foreign*)self->manager_ctx)->deleted, 1, __ATOMIC_SEQ_CST);
}

static void count_legacy(DLManagedTensor* self) {
  __atomic_fetch_add(&((foreign*)self->manager_ctx)->deleted_legacy, 1, __ATOMIC_SEQ_CST);
}

foreign* dlp_00000000_foreign_new(void) {
  foreign* s = calloc(1, sizeof *s);
  if (!s) return NULL;
  DLTensor tensor = {s->data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, s->shape, s->strides, 0};
  s->shape[0] = 2;
  s->shape[1] = s->strides[0] = 3;
  s->strides[1] = 1;
  s->versioned.version.major = DLPACK_MAJOR_VERSION;
  s->versioned.version.minor = DLPACK_MINOR_VERSION;
  s->versioned.manager_ctx = s->legacy.manager_ctx = s;
  s->versioned.deleter = count_versioned;
  s->legacy.deleter = count_legacy;
  s->versioned.dl_tensor = s->legacy.dl_tensor = tensor;
  return s;
}

static sight see_tensor(const DLTensor* t) {
  sight s = {0};
  s.data = (uintptr_t)t->data;
  s.device_type = t->device.device_type;
  s.device_id = t->device.device_id;
  s.ndim = t->ndim;
  s.code = t->dtype.code;
  s.bits = t->dtype.bits;
  s.lanes = t->dtype.lanes;
  s.shape = (uintptr_t)t->shape;
  s.strides = (uintptr_t)t->strides;
  s.byte_offset = t->byte_offset;
  return s;
}

sight dlp_00000000_see(uintptr_t tensor) {
  const DLManagedTensorVersioned* managed = (const DLManagedTensorVersioned*)tensor;
  sight s = see_tensor(&managed->dl_tensor);
  s.major = managed->version.major;
  s.minor = managed->version.minor;
  s.manager_ctx = (uintptr_t)managed->manager_ctx;
  s.deleter = (uintptr_t)managed->deleter;
  s.flags = managed->flags;
  return s;
}

sight dlp_00000000_see_legacy(uintptr_t tensor) {
  const DLManagedTensor* managed = (const DLManagedTensor*)tensor;
  sight s = see_tensor(&managed->dl_tensor);
  s.manager_ctx = (uintptr_t)managed->manager_ctx;
  s.deleter = (uintptr_t)managed->deleter;
  return s;
}

enum { MAX_THREADS = 64 };

typedef struct share {
  const uintptr_t* tensors;
  size_t count;
} share;

static void delete_share(const share* s) {
  for (size_t i = 0; i < s->count; i++) {
    uintptr_t address = s->tensors[i] & ~(uintptr_t)1;
    if (s->tensors[i] & 1) {
      DLManagedTensor* tensor = (DLManagedTensor*)address;
      tensor->deleter(tensor);
    } else {
      DLManagedTensorVersioned* tensor = (DLManagedTensorVersioned*)address;
      tensor->deleter(tensor);
    }
  }
}

#ifdef _WIN32
typedef uintptr_t thread;

static unsigned __stdcall thread_main(void* argument) {
  delete_share(argument);
  return 0;
}

static int begin(thread* t, share* s) { return (*t = _beginthreadex(NULL, 0, thread_main, s, 0, NULL)) != 0; }

static void join(thread t) {
  WaitForSingleObject((HANDLE)t, INFINITE);
  CloseHandle((HANDLE)t);
}
#else
typedef pthread_t thread;

static void* thread_main(void* argument) {
  delete_share(argument);
  return NULL;
}

static int begin(thread* t, share* s) { return pthread_create(t, NULL, thread_main, s) == 0; }

static void join(thread t) { pthread_join(t, NULL); }
#endif

void dlp_00000000_delete_on_threads(const uintptr_t* tensors, size_t count, int threads) {
  share shares[MAX_THREADS];
  thread made[MAX_THREADS];
  size_t from = 0;
  for (int i = 0; i < threads; i++) {
    size_t upto = count * (size_t)(i + 1) / (size_t)threads;
    shares[i] = (share){tensors + from, upto - from};
    from = upto;
    if (!begin(&made[i], &shares[i])) abort();
  }
  for (int i = 0; i < threads; i++) join(made[i]);
}
