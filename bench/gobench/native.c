#include "native.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { NUMBER_BITS = 24 };

static void describe(DLTensor* t, void* data, int64_t* dims, int32_t device) {
  const DLTensor made = {data, {(DLDeviceType)device, 0}, 2, {kDLFloat, 32, 1}, dims, dims + 2, 0};
  *t = made;
  dims[0] = 2;
  dims[1] = dims[2] = 3;
  dims[3] = 1;
}

static void manage(DLManagedTensorVersioned* managed, void (*deleter)(DLManagedTensorVersioned*)) {
  managed->version.major = DLPACK_MAJOR_VERSION;
  managed->version.minor = DLPACK_MINOR_VERSION;
  managed->deleter = deleter;
}

static void keep(DLManagedTensorVersioned* self) { (void)self; }

tensor* tensors_new(size_t count) {
  tensor* made = calloc(count, sizeof *made);
  for (size_t i = 0; made && i < count; i++) {
    describe(&made[i].managed.dl_tensor, made[i].data, made[i].dims, kDLCPU);
    manage(&made[i].managed, keep);
  }
  return made;
}

/* Slots */

bare_list* bare_list_new(uint32_t count) {
  bare_list* made = aligned_alloc(64, (sizeof *made + count * sizeof *made->slots + 63) / 64 * 64);
  if (!made) return NULL;
  for (uint32_t i = 0; i < count; i++) {
    const bare_slot slot = {.number = i + 1, .next = i};
    made->slots[i] = slot;
    made->slots[i].managed.manager_ctx = made;
  }
  made->head = count;
  return made;
}

static void trap(DLManagedTensorVersioned* self) { (void)self; }

static void push(bare_slot* s) {
  uint64_t* list = &((bare_list*)s->managed.manager_ctx)->head;
  uint64_t head = __atomic_load_n(list, __ATOMIC_RELAXED), pushed;
  do {
    __atomic_store_n(&s->next, (uint32_t)(head & ((1u << NUMBER_BITS) - 1)), __ATOMIC_RELAXED);
    pushed = head >> NUMBER_BITS << NUMBER_BITS | s->number;
  } while (!__atomic_compare_exchange_n(list, &head, pushed, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void bare_release(DLManagedTensorVersioned* self) {
  self->deleter = trap;
  push((bare_slot*)self);
}

static void drop(bare_buffer* b) {
  if (!__atomic_sub_fetch(&b->shares, (uint64_t)1 << 32, __ATOMIC_ACQ_REL)) free(b);
}

void bare_release_shared(DLManagedTensorVersioned* self) {
  self->deleter = trap;
  drop(((bare_slot*)self)->owner);
  push((bare_slot*)self);
}

bare_buffer* bare_buffers_new(size_t count) {
  bare_buffer* made = calloc(count, sizeof *made);
  for (size_t i = 0; made && i < count; i++) {
    made[i].shares = 1;
    describe(&made[i].tensor, made[i].data, made[i].dims, kDLCPU);
  }
  return made;
}

void bare_release_buffer(DLManagedTensorVersioned* self) {
  self->deleter = trap;
  drop((bare_buffer*)self);
}

/* Threads */

typedef struct errand {
  const uintptr_t* all;
  size_t count;
  int64_t took;
} errand;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void* run(void* argument) {
  errand* e = argument;
  const int64_t start = now();
  delete_all(e->all, e->count);
  e->took = now() - start;
  return NULL;
}

int64_t delete_all_on_thread(const uintptr_t* all, size_t count) {
  errand e = {all, count, -1};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, &e)) return -1;
  pthread_join(thread, NULL);
  return e.took;
}

/* Tables */

bare_object* bare_objects_new(size_t count, int32_t device) {
  bare_object* made = calloc(count, sizeof *made);
  for (size_t i = 0; made && i < count; i++) {
    made[i].references = 1;
    describe(&made[i].tensor, made, made[i].dims, device);
  }
  return made;
}

static int view(void* object, DLTensor* out) {
  *out = ((bare_object*)object)->tensor;
  return 0;
}

static void delete_managed(DLManagedTensorVersioned* self) {
  bare_object* o = self->manager_ctx;
  if (__atomic_fetch_sub(&o->references, 1, __ATOMIC_ACQ_REL) == 1) free(o);
  free(self);
}

static int managed(void* object, DLManagedTensorVersioned** out) {
  bare_object* o = object;
  DLManagedTensorVersioned* made = malloc(sizeof *made);
  if (!made) return -1;
  __atomic_fetch_add(&o->references, 1, __ATOMIC_RELAXED);
  manage(made, delete_managed);
  made->manager_ctx = o;
  made->flags = 0;
  made->dl_tensor = o->tensor;
  *out = made;
  return 0;
}

static int stream(DLDeviceType type, int32_t id, void** out) {
  (void)id;
  if (type == kDLCPU) {
    *out = NULL;
    return 0;
  }
  if (type != kDLCUDA) return -1;
  *out = (void*)1;
  return 0;
}

static int wrap(DLManagedTensorVersioned* tensor, void** out) {
  (void)tensor, (void)out;
  return -1;
}

static int allocate(DLTensor* like, DLManagedTensorVersioned** out, void* ctx,
                    void (*SetError)(void*, const char*, const char*)) {
  (void)like, (void)out, (void)ctx, (void)SetError;
  return -1;
}

static const DLPackExchangeAPI table = {.header = {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, NULL},
                                        .managed_tensor_allocator = allocate,
                                        .managed_tensor_from_py_object_no_sync = managed,
                                        .managed_tensor_to_py_object_no_sync = wrap,
                                        .dltensor_from_py_object_no_sync = view,
                                        .current_work_stream = stream};

const DLPackExchangeAPI* bare_table(void) { return &table; }

int bare_borrow(uintptr_t from, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t views) {
  const DLPackExchangeAPI* api = (const DLPackExchangeAPI*)from;
  void* const objects[] = {(void*)a, (void*)b, (void*)c};
  bare_views* out = (bare_views*)views;
  for (int i = 0; i < 3; i++) {
    DLTensor* t = &out->tensors[i];
    if (api->dltensor_from_py_object_no_sync(objects[i], t)) return -1;
    if (t->ndim > 2) return -1;
    for (int32_t j = 0; j < t->ndim; j++) {
      out->dims[i][j] = t->shape[j];
      out->dims[i][2 + j] = t->strides[j];
    }
    t->shape = out->dims[i];
    t->strides = out->dims[i] + 2;
  }
  const DLDevice device = out->tensors[0].device;
  return api->current_work_stream(device.device_type, device.device_id, &out->stream);
}

void call_view(const DLPackExchangeAPI* api, uintptr_t object, size_t n) {
  DLTensor out;
  for (size_t i = 0; i < n; i++) api->dltensor_from_py_object_no_sync((void*)object, &out);
}

void call_managed(const DLPackExchangeAPI* api, uintptr_t object, size_t n) {
  DLManagedTensorVersioned* out;
  for (size_t i = 0; i < n; i++)
    if (!api->managed_tensor_from_py_object_no_sync((void*)object, &out)) out->deleter(out);
}

void call_stream(const DLPackExchangeAPI* api, size_t n) {
  void* out;
  for (size_t i = 0; i < n; i++) api->current_work_stream(kDLCPU, 0, &out);
}

int bare_import(uintptr_t address) {
  const DLManagedTensorVersioned* managed = (const DLManagedTensorVersioned*)address;
  const DLTensor* t = &managed->dl_tensor;
  uint64_t size = 1;
  if (managed->version.major != DLPACK_MAJOR_VERSION || (uint32_t)t->ndim > 64 || t->dtype.lanes != 1) return 0;
  if (!t->data || !t->shape || !t->strides || t->dtype.bits % 8 || !t->dtype.bits) return 0;
  for (int32_t i = t->ndim - 1; i >= 0; i--) {
    if (t->shape[i] <= 0 || t->strides[i] != (int64_t)size) return 0;
    if (__builtin_mul_overflow(size, (uint64_t)t->shape[i], &size)) return 0;
  }
  return !__builtin_mul_overflow(size, (uint64_t)t->dtype.bits / 8, &size) && size >> 61 == 0 &&
         t->byte_offset >> 61 == 0 && (uint64_t)(uintptr_t)t->data >> 61 == 0;
}
