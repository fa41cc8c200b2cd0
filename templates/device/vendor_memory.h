
/* Allocates tensors, and frees their memory. Part of the backend's C file. */
#ifndef DLPACKGEN_VENDOR_MEMORY_H_
#define DLPACKGEN_VENDOR_MEMORY_H_

#include "vendor_stream.h"

/* Work for which a deleter must wait: a mark on a stream. */
struct vendor_keep {
  dlpackgen_stream stream;
  void* mark;
  struct vendor_keep* next;
};

/* A tensor of this backend and its extents, in one block of host memory. */
struct vendor_block {
  DLManagedTensorVersioned tensor;
  struct vendor_allocation allocation;
  atomic_flag busy; /* guards keeps */
  struct vendor_keep* keeps;
  int64_t extents[];
};

static void vendor_delete(DLManagedTensorVersioned* tensor);

/* Waits for the marks of keep_until. If a wait fails, the memory is still freed, and the first
 * error is returned. */
static int vendor_await_work(struct vendor_block* block, dlpackgen_backend_error* error) {
  dlpackgen_backend_error unread;
  int first = DLPACKGEN_BACKEND_OK;
  for (const struct vendor_keep* keep = block->keeps; keep; keep = keep->next) {
    const int code = vendor.impl->wait(&vendor.driver, NULL, keep->mark, first ? &unread : error);
    if (!first) first = code;
    vendor.impl->delete_mark(&vendor.driver, keep->mark);
  }
  return first;
}

/* Frees a tensor. In a child of fork, it frees only the host's part, because the marks and the
 * memory belong to the parent. If the driver has shut down, the memory no longer exists. */
static int vendor_release(struct vendor_block* block, dlpackgen_backend_error* error) {
  dlpackgen_backend_error unread;
  int code = DLPACKGEN_BACKEND_OK, passed = DLPACKGEN_BACKEND_OK;
  void* data = block->tensor.dl_tensor.data;
  if (data && device_is_ready()) {
    code = vendor_await_work(block, error);
    passed = vendor.impl->deallocate(&vendor.driver, &block->allocation, data, code ? &unread : error);
    if (!code) code = passed;
  }
  while (block->keeps) {
    struct vendor_keep* keep = block->keeps;
    block->keeps = keep->next;
    free(keep);
  }
  free(block);
  return code == DLPACKGEN_BACKEND_SHUTTING_DOWN ? DLPACKGEN_BACKEND_OK : code;
}

static void vendor_delete(DLManagedTensorVersioned* tensor) {
  dlpackgen_backend_error unread;
  if (tensor) (void)vendor_release((struct vendor_block*)tensor, &unread);
}

static int vendor_free(DLManagedTensorVersioned* tensor, dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  if (!error) error = &buffer;
  const int code = tensor ? device_check_ours("deallocate", tensor, vendor_delete, error) : DLPACKGEN_BACKEND_OK;
  return code || !tensor ? code : vendor_release((struct vendor_block*)tensor, error);
}

/* Creates a mark on a stream, which replaces an earlier mark of that stream in the list. Returns
 * the mark that is no longer needed. If two threads do this concurrently, the later mark must
 * remain, so the lock is held meanwhile. */
static int vendor_keep(struct vendor_block* block, struct vendor_keep* fresh, void** old,
                       dlpackgen_backend_error* error) {
  struct vendor_keep* keep = NULL;
  while (atomic_flag_test_and_set_explicit(&block->busy, memory_order_acquire)) continue;
  const int code = vendor.impl->mark(&vendor.driver, &fresh->stream, &fresh->mark, error);
  for (keep = code ? NULL : block->keeps; keep; keep = keep->next)
    if (keep->stream.handle == fresh->stream.handle && keep->stream.device.device_id == fresh->stream.device.device_id)
      break;
  if (keep) {
    *old = keep->mark;
    keep->mark = fresh->mark;
  } else if (!code) {
    fresh->next = block->keeps;
    block->keeps = fresh;
  }
  atomic_flag_clear_explicit(&block->busy, memory_order_release);
  if (keep || code) free(fresh);
  return code;
}

static int vendor_keep_until(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream,
                             dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  struct vendor_block* block = (struct vendor_block*)tensor;
  void* old = NULL;
  int code = vendor_ready(&error, &buffer);
  if (!code) code = device_check_ours("keep_until", tensor, vendor_delete, error);
  if (!code) code = vendor_check_ordered("keep_until", stream, error);
  if (code || !block->tensor.dl_tensor.data) return code;
  struct vendor_keep* fresh = calloc(1, sizeof *fresh);
  if (!fresh) return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, "keep_until: out of memory");
  fresh->stream = vendor_handle_of(stream);
  code = vendor_keep(block, fresh, &old, error);
  if (old) vendor.impl->delete_mark(&vendor.driver, old);
  return code;
}

static int vendor_check_allocation(const dlpackgen_allocation* r, size_t* bytes, dlpackgen_backend_error* error) {
  int code = vendor_check_place("allocate", r->device, error);
  if (!code) code = device_check_size(r, bytes, error);
  if (!code && r->flags & DLPACKGEN_BACKEND_PEER_ACCESS)
    code = device_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED,
                       "allocate: %s does not let other devices access its memory", BACKEND_TITLE);
  if (code || !*bytes) return code;
  const int32_t ordinal = (int)r->device.device_type == BACKEND_device ? r->device.device_id : -1;
  return vendor_check_handle("allocate", r->stream, ordinal, error);
}

static int vendor_alloc(const dlpackgen_allocation* r, DLManagedTensorVersioned** tensor,
                        dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  size_t bytes = 0;
  int code = vendor_ready(&error, &buffer);
  if (!code) code = device_check_alloc(r, tensor, error);
  if (!code) code = vendor_check_allocation(r, &bytes, error);
  if (code) return code;
  struct vendor_block* block = device_new_block("allocate", r, sizeof *block, error);
  if (!block) return DLPACKGEN_BACKEND_OUT_OF_MEMORY;
  atomic_flag_clear(&block->busy);
  device_describe(&block->tensor, r, block->extents, vendor_delete);
  block->allocation = (struct vendor_allocation){r->device, vendor_handle(r->stream)};
  if (bytes)
    code = vendor.impl->allocate(&vendor.driver, &block->allocation, bytes, &block->tensor.dl_tensor.data, error);
  if (code) {
    free(block);
    return code;
  }
  *tensor = &block->tensor;
  return DLPACKGEN_BACKEND_OK;
}

#endif /* DLPACKGEN_VENDOR_MEMORY_H_ */
