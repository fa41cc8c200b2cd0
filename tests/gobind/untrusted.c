#define _GNU_SOURCE
#include "untrusted.h"

#include <dlpackgen/tensor.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADD(counter) __atomic_fetch_add(&(counter), 1, __ATOMIC_SEQ_CST)

typedef void (*set_error)(void* error_ctx, const char* kind, const char* message);

static habits habit;
static int asked_for_stream, asked_to_explain;
static __thread const char* pending; /* like Python's error: one for each thread */

void set_habits(habits h) { habit = h; }
int untrusted_count(int* counter) { return __atomic_load_n(counter, __ATOMIC_SEQ_CST); }
int explain_calls(void) { return untrusted_count(&asked_to_explain); }
int stream_calls(void) { return untrusted_count(&asked_for_stream); }

untrusted* untrusted_new(void) {
  untrusted* s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->tensor = (DLTensor){s->data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, s->shape, s->strides, 0};
  s->shape[0] = 2;
  s->shape[1] = s->strides[0] = 3;
  s->strides[1] = 1;
  s->major = DLPACK_MAJOR_VERSION;
  s->minor = DLPACK_MINOR_VERSION;
  for (int i = 0; i < 6; i++) s->data[i] = (float)i;
  return s;
}

static int failing(int rc, const char* message) {
  pending = message;
  return rc;
}

static int borrow(void* object, DLTensor* out) {
  untrusted* s = object;
  ADD(s->borrowed);
  if (s->fails) return failing(s->fails, "no view today");
  if (!s->nothing) *out = s->tensor;
  return 0;
}

static void delete_owned(DLManagedTensorVersioned* self) {
  ADD(((untrusted*)self->manager_ctx)->deleted);
  free(self);
}

static int own(void* object, DLManagedTensorVersioned** out) {
  untrusted* s = object;
  ADD(s->owned);
  if (s->fails) return failing(s->fails, "no tensor today");
  if (s->nothing) return 0;
  *out = calloc(1, sizeof **out);
  if (!*out) return failing(-1, "no memory");
  **out = (DLManagedTensorVersioned){{s->major, s->minor}, s, delete_owned, s->flags, s->tensor};
  return 0;
}

static int wrap(DLManagedTensorVersioned* tensor, void** out) {
  switch (habit.wrap) {
    case GIVE_NOTHING: tensor->deleter(tensor); return 0;
    case FAIL_UNREPORTED: return failing(-1, "not wrapped, and left alone");
    case FAIL_AND_DELETE: tensor->deleter(tensor); return failing(-1, "not wrapped, but deleted");
  }
  *out = tensor;
  return 0;
}

static int current_stream(DLDeviceType type, int32_t id, void** out) {
  ADD(asked_for_stream);
  if (habit.stream) return failing(-1, "no stream today");
  *out = (void*)(uintptr_t)(type == kDLCPU ? 0 : 1000 * (int)type + id);
  return 0;
}

static void delete_allocated(DLManagedTensorVersioned* self) { free(self); }

/* Strides, data and all, in one block. */
static DLManagedTensorVersioned* allocated(const DLTensor* like) {
  typedef struct piece {
    DLManagedTensorVersioned managed;
    int64_t dims[2 * UNTRUSTED_NDIM];
    double data[512];
  } piece;
  piece* p = calloc(1, sizeof *p);
  if (!p) return NULL;
  int64_t next = 1;
  for (int32_t i = like->ndim - 1; i >= 0; i--) {
    p->dims[i] = like->shape[i];
    p->dims[like->ndim + i] = next;
    next *= like->shape[i];
  }
  p->managed = (DLManagedTensorVersioned){{1, 3}, NULL, delete_allocated, 0, *like};
  p->managed.dl_tensor.data = p->data;
  p->managed.dl_tensor.shape = p->dims;
  p->managed.dl_tensor.strides = p->dims + like->ndim;
  return &p->managed;
}

static int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx, set_error SetError) {
  switch (habit.allocate) {
    case FAIL_REPORTED_TWICE:
      SetError(error_ctx, "MemoryError", "the first reason");
      SetError(error_ctx, "RuntimeError", "the second");
      return -1;
    case FAIL_REPORTED_ONCE: SetError(error_ctx, "MemoryError", "the first reason"); return -1;
    case FAIL_REPORTED_NULL: SetError(error_ctx, NULL, NULL); return -1;
    case FAIL_UNREPORTED: return failing(-1, "left pending by the allocator");
    case GIVE_NOTHING: return 0;
    case TELL_AND_SUCCEED: SetError(error_ctx, "Warning", "never mind");
  }
  if (!(*out = allocated(prototype))) return failing(-1, "no memory");
  if (habit.allocate == LIE) (*out)->dl_tensor.shape[0]++;
  return 0;
}

DLPackExchangeAPI* strange_table(void) {
  typedef struct kept {
    DLPackExchangeAPI table;
    struct kept* previous;
  } kept;
  static kept* all; /* makes them reachable for leak checkers */
  kept* made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->previous = all;
  all = made;
  made->table = (DLPackExchangeAPI){
      {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, NULL}, allocate, own, wrap, borrow, current_stream};
  return &made->table;
}

DLPackExchangeAPIHeader* header_alone(uint32_t major) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE)) return NULL;
  DLPackExchangeAPIHeader* header = (DLPackExchangeAPIHeader*)(pages + page) - 1;
  header->version.major = major;
  return header;
}

int find_table(const DLPackExchangeAPIHeader* newest, const DLPackExchangeAPI** found) {
  return (int)dlpackgen_find_exchange_api(newest, found);
}

void explain_pending(void* error_ctx, set_error SetError) {
  ADD(asked_to_explain);
  if (habit.explain == FAIL_UNREPORTED) return;
  SetError(error_ctx, "BufferError", habit.explain == FAIL_REPORTED_NULL ? NULL : pending);
  if (habit.explain == FAIL_REPORTED_TWICE) SetError(error_ctx, "RuntimeError", "and again");
}

static void keep(reported* t, const char* kind, const char* message) {
  t->times++;
  snprintf(t->kind, sizeof t->kind, "%s", kind ? kind : "(null)");
  snprintf(t->message, sizeof t->message, "%s", message ? message : "(null)");
}

static __thread reported raised;

void raise_error(void* error_ctx, const char* kind, const char* message) {
  keep(&raised, error_ctx ? "a context where none was due" : kind, message);
}

reported take_raised(void) {
  reported t = raised;
  raised = (reported){0};
  return t;
}

int call_borrow(const DLPackExchangeAPI* api, uintptr_t object, DLTensor* out) {
  return api->dltensor_from_py_object_no_sync((void*)object, out);
}

int call_managed(const DLPackExchangeAPI* api, uintptr_t object, DLManagedTensorVersioned** out) {
  return api->managed_tensor_from_py_object_no_sync((void*)object, out);
}

int call_wrap(const DLPackExchangeAPI* api, DLManagedTensorVersioned* tensor, void** out) {
  return api->managed_tensor_to_py_object_no_sync(tensor, out);
}

int call_stream(const DLPackExchangeAPI* api, int32_t type, int32_t id, void** out) {
  return api->current_work_stream((DLDeviceType)type, id, out);
}

static void keep_reported(void* error_ctx, const char* kind, const char* message) { keep(error_ctx, kind, message); }

int call_allocate(const DLPackExchangeAPI* api, DLTensor* prototype, DLManagedTensorVersioned** out, reported* t) {
  return api->managed_tensor_allocator(prototype, out, t, keep_reported);
}

int call_allocate_silently(const DLPackExchangeAPI* api, DLTensor* prototype, DLManagedTensorVersioned** out) {
  return api->managed_tensor_allocator(prototype, out, NULL, NULL);
}

typedef struct worker {
  const DLPackExchangeAPI* api;
  uintptr_t object;
  int rounds, failures;
  pthread_t thread;
} worker;

static int round_of_calls(const DLPackExchangeAPI* api, uintptr_t object) {
  DLTensor view;
  DLManagedTensorVersioned *managed = NULL, *made = NULL;
  reported t = {0};
  void* stream;
  int failures = 0;
  if (call_borrow(api, object, &view) || call_stream(api, view.device.device_type, view.device.device_id, &stream))
    return 1;
  if (call_managed(api, object, &managed)) return 1;
  if (managed->dl_tensor.data != view.data) failures++;
  if (call_allocate(api, &view, &made, &t)) failures++;
  else made->deleter(made);
  managed->deleter(managed);
  return failures;
}

static void* work(void* argument) {
  worker* w = argument;
  for (int i = 0; i < w->rounds; i++) w->failures += round_of_calls(w->api, w->object);
  return NULL;
}

int call_on_threads(const DLPackExchangeAPI* api, uintptr_t object, int rounds, int threads) {
  worker workers[16];
  int failures = 0;
  if (threads > 16) threads = 16;
  for (int i = 0; i < threads; i++) {
    workers[i] = (worker){api, object, rounds, 0, 0};
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) abort();
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, NULL);
    failures += workers[i].failures;
  }
  return failures;
}
