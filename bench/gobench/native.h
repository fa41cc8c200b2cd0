/* The minimal implementations: the necessary work of a call, written by hand for one case, without
 * checks that this case does not need. Also the consumers and producers in C with which both sides
 * are measured. */
#ifndef GOBENCH_NATIVE_H
#define GOBENCH_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "dlpack.h"

/* Two rows of three float32, whose deleter does nothing. */
typedef struct tensor {
  DLManagedTensorVersioned managed;
  int64_t dims[4];
  float data[6];
} tensor;
tensor* tensors_new(size_t count);

/* A buffer that lends its only tensor, or slots for further tensors. */
typedef struct bare_buffer {
  DLManagedTensorVersioned managed;
  uint64_t shares;
  DLTensor tensor; /* from which managed is restored each time */
  int64_t dims[16];
  float data[6];
} bare_buffer;
bare_buffer* bare_buffers_new(size_t count);
void bare_release_buffer(DLManagedTensorVersioned* self);

/* A slot of a list, the simplest form to which deleters on any thread can return slots. */
typedef struct bare_slot {
  DLManagedTensorVersioned managed;
  uint32_t number, next;
  bare_buffer* owner;
  int64_t dims[16];
} bare_slot;

typedef struct bare_list {
  _Alignas(64) uint64_t head; /* a slot's number, and a count of changes in the higher bits */
  uint64_t padding[7];        /* slots have separate cache lines */
  bare_slot slots[];
} bare_list;
bare_list* bare_list_new(uint32_t count);
void bare_release(DLManagedTensorVersioned* self);
void bare_release_shared(DLManagedTensorVersioned* self);

/* Calls the deleters of count tensors, whose addresses are in the array. */
static inline void delete_all(const uintptr_t* all, size_t count) {
  for (size_t i = 0; i < count; i++) {
    DLManagedTensorVersioned* managed = (DLManagedTensorVersioned*)all[i];
    if (managed->deleter) managed->deleter(managed);
  }
}

/* The same on a thread that Go did not create; returns the nanoseconds. */
int64_t delete_all_on_thread(const uintptr_t* all, size_t count);

static inline int crossing(void) { return 0; }

static inline void delete_one(uintptr_t address) {
  DLManagedTensorVersioned* managed = (DLManagedTensorVersioned*)address;
  if (managed->deleter) managed->deleter(managed);
}

/* An exchange table in C for tensors of a GPU, which need not exist. Its objects are
 * bare_objects. */
typedef struct bare_object {
  int64_t references;
  DLTensor tensor;
  int64_t dims[4];
} bare_object;
bare_object* bare_objects_new(size_t count, int32_t device);
const DLPackExchangeAPI* bare_table(void);

/* Three views with their shapes and strides, and the stream. */
typedef struct bare_views {
  DLTensor tensors[3];
  int64_t dims[3][4];
  void* stream;
} bare_views;
int bare_borrow(uintptr_t table, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t views);

/* The calls of consumers in C, n times. */
void call_view(const DLPackExchangeAPI* table, uintptr_t object, size_t n);
void call_managed(const DLPackExchangeAPI* table, uintptr_t object, size_t n);
void call_stream(const DLPackExchangeAPI* table, size_t n);

/* Returns whether a tensor is valid; accepts only contiguous ones. */
int bare_import(uintptr_t managed);

#endif
