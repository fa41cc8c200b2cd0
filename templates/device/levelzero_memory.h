
/* Allocates tensors, and frees their memory when no work uses it any more. Part of the backend's C
 * file. */
#ifndef DLPACKGEN_LEVELZERO_MEMORY_H_
#define DLPACKGEN_LEVELZERO_MEMORY_H_

#include "levelzero_order.h"

/* Work for which a deleter must wait: an event on a list. */
struct levelzero_keep {
  driver_list list;
  struct levelzero_platform* platform;
  struct levelzero_slot* slot;
  struct levelzero_keep* next;
};

/* A tensor of this backend and its extents, in one block of host memory. */
struct levelzero_block {
  DLManagedTensorVersioned tensor;
  struct levelzero_platform* platform;
  atomic_flag busy; /* guards keeps */
  struct levelzero_keep* keeps;
  int64_t extents[];
};

/* Waits for the events of keep_until. */
static driver_result levelzero_await_work(struct levelzero_block* block) {
  driver_result result = 0;
  while (block->keeps) {
    struct levelzero_keep* keep = block->keeps;
    const driver_result finished = levelzero.driver.event_synchronize(keep->slot->waited, UINT64_MAX);
    if (finished) result = finished;
    levelzero_put(keep->platform, keep->slot, 0);
    block->keeps = keep->next;
    free(keep);
  }
  return result;
}

/* Frees the host's part. Remaining events belong to a driver that has shut down. */
static void levelzero_drop(struct levelzero_block* block) {
  while (block->keeps) {
    struct levelzero_keep* keep = block->keeps;
    block->keeps = keep->next;
    free(keep);
  }
  free(block);
}

/* Frees a tensor; the driver waits for queued work on it. If the driver has shut down, the memory
 * no longer exists. If work on the memory failed, the memory is leaked. */
static int levelzero_release(struct levelzero_block* block, dlpackgen_backend_error* error) {
  const struct levelzero_free_desc desc = {DRIVER_struct_free, NULL, DRIVER_free_blocking};
  void* data = block->tensor.dl_tensor.data;
  driver_result result = 0;
  if (data && device_is_ready()) {
    result = levelzero_await_work(block);
    if (!result) result = levelzero.driver.memory_free(block->platform->context, (const void*)&desc, data);
  }
  levelzero_drop(block);
  return result ? levelzero_fail(error, result, "deallocate: %p", data) : DLPACKGEN_BACKEND_OK;
}

static void levelzero_delete(DLManagedTensorVersioned* tensor) {
  if (tensor) (void)levelzero_release((struct levelzero_block*)tensor, NULL);
}

static int usm_free(DLManagedTensorVersioned* tensor, dlpackgen_backend_error* error) {
  const int code = tensor ? device_check_ours("deallocate", tensor, levelzero_delete, error) : DLPACKGEN_BACKEND_OK;
  return code || !tensor ? code : levelzero_release((struct levelzero_block*)tensor, error);
}

/* Replaces the recorded event of a list, with the lock held, and returns the previous event. */
static struct levelzero_keep* levelzero_note(struct levelzero_block* block, struct levelzero_keep* fresh) {
  struct levelzero_keep** at = &block->keeps;
  while (*at && (*at)->list != fresh->list) at = &(*at)->next;
  struct levelzero_keep* old = *at;
  fresh->next = old ? old->next : NULL;
  *at = fresh;
  return old;
}

/* Appends an event, whose signal permits the reuse of its slot. If two threads do this
 * concurrently, the later event must remain, so the lock is held meanwhile. */
static int levelzero_keep(struct levelzero_block* block, const struct levelzero_stream* stream,
                          dlpackgen_backend_error* error) {
  struct levelzero_platform* platform = levelzero_platform_of(stream->root);
  struct levelzero_slot* slot = NULL;
  struct levelzero_keep *fresh = calloc(1, sizeof *fresh), *old = NULL;
  if (!fresh) return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, "keep_until: out of host memory");
  const int code = levelzero_reserve(platform, "keep_until", &slot, error);
  if (code) {
    free(fresh);
    return code;
  }
  *fresh = (struct levelzero_keep){stream->list, platform, slot, NULL};
  levelzero_lock(&block->busy);
  const driver_result result = levelzero_barrier(stream, slot->waited, NULL);
  if (!result) old = levelzero_note(block, fresh);
  levelzero_unlock(&block->busy);
  if (result) old = fresh;
  if (old) levelzero_put(old->platform, old->slot, !result);
  free(old);
  return result ? levelzero_fail(error, result, "keep_until: a barrier on the stream %p", (void*)stream->list)
                : DLPACKGEN_BACKEND_OK;
}

static int usm_keep_until(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream,
                          dlpackgen_backend_error* error) {
  struct levelzero_stream open;
  int code = usm_ready(error);
  if (!code) code = device_check_ours("keep_until", tensor, levelzero_delete, error);
  if (!code) code = usm_check_ordered("keep_until", stream, error);
  if (code || !tensor->dl_tensor.data) return code;
  code = levelzero_open_stream(stream, &open, error);
  return code ? code : levelzero_keep((struct levelzero_block*)tensor, &open, error);
}

/* Checks the allocation, and the stream that uses the memory first. */
static int levelzero_check_allocation(const dlpackgen_allocation* r, dlpackgen_backend_error* error) {
  if ((int)r->device.device_type != BACKEND_device)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE, DEVICE_TEXT_ALLOCATE_TYPE,
                       (int)r->device.device_type, BACKEND_TITLE, BACKEND_device);
  const dlpackgen_stream first = {r->stream, r->device, 0, 0};
  return usm_check_stream("allocate", &first, error);
}

static int levelzero_fill(const dlpackgen_allocation* r, struct levelzero_block* block, size_t bytes,
                          dlpackgen_backend_error* error) {
  const struct levelzero_memory_desc desc = {DRIVER_struct_memory, NULL, 0, 0};
  const int32_t root = levelzero_root_of(r->device.device_id);
  block->platform = levelzero_platform_of(root);
  if (!bytes) return DLPACKGEN_BACKEND_OK;
  const driver_result result =
      levelzero.driver.memory_alloc(block->platform->context, (const void*)&desc, bytes, DLPACKGEN_DATA_ALIGNMENT,
                                    levelzero.roots[root].device, &block->tensor.dl_tensor.data);
  return result ? levelzero_fail(error, result, "allocate: %llu bytes on device %d", (unsigned long long)bytes,
                                 (int)r->device.device_id)
                : DLPACKGEN_BACKEND_OK;
}

static int usm_alloc(const dlpackgen_allocation* r, DLManagedTensorVersioned** tensor, dlpackgen_backend_error* error) {
  size_t bytes = 0;
  int code = usm_ready(error);
  if (!code) code = device_check_alloc(r, tensor, error);
  if (!code) code = levelzero_check_allocation(r, error);
  if (!code) code = device_check_size(r, &bytes, error);
  if (code) return code;
  struct levelzero_block* block = device_new_block("allocate", r, sizeof *block, error);
  if (!block) return DLPACKGEN_BACKEND_OUT_OF_MEMORY;
  atomic_flag_clear(&block->busy);
  device_describe(&block->tensor, r, block->extents, levelzero_delete);
  code = levelzero_fill(r, block, bytes, error);
  if (code) free(block);
  else *tensor = &block->tensor;
  return code;
}

#endif /* DLPACKGEN_LEVELZERO_MEMORY_H_ */
