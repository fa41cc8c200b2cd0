
/* Frees memory when no work uses it any more. Part of the backend's C file. */
#ifndef DLPACKGEN_STREAMS_RELEASE_H_
#define DLPACKGEN_STREAMS_RELEASE_H_

#include "device_allocation.h"
#include "streams_order.h"

/* Work for which a deleter must wait: an event on a stream. */
struct streams_keep {
  driver_stream stream;
  int32_t ordinal;
  int resets; /* of that device, when the event was created */
  driver_event event;
  atomic_int recorded; /* else it does not wait for the stream */
  struct streams_keep* next;
};

enum streams_kind { STREAMS_EMPTY, STREAMS_POOL, STREAMS_PLAIN, STREAMS_HOST };

/* A tensor of this backend and its extents, in one block of host memory. */
struct streams_block {
  DLManagedTensorVersioned tensor;
  enum streams_kind kind;
  int32_t ordinal;     /* in whose context it is freed */
  int resets;          /* of that device, when the memory was allocated */
  driver_stream first; /* of the allocation */
  atomic_flag busy;    /* guards keeps */
  struct streams_keep* keeps;
  struct streams_block* next; /* among those that are freed later */
  int64_t extents[];
};

/* The tensors that could not be freed when their deleters were called: during a capture, or on a
 * thread that must not call the driver. */
static _Atomic(struct streams_block*) streams_later;

static void streams_delete(DLManagedTensorVersioned* tensor);

/* Makes the backend's own stream wait for an event, and destroys the event. */
static int streams_settle_event(const struct streams_block* block, driver_stream own, driver_event event,
                                dlpackgen_backend_error* error) {
  const int code = streams_wait(block->ordinal, own, event, "free", error);
  (void)streams.driver.event_destroy(event);
  return code;
}

/* Waits for the stream of the allocation, unless keep_until named it. The per-thread default stream
 * may belong to another thread; the legacy default stream waits for all threads. Waiting for the
 * whole device is not permitted, because that invalidates a capture on any stream of the device
 * (docs/devices.md cites the vendor). */
static int streams_settle_first(const struct streams_block* block, driver_stream own, dlpackgen_backend_error* error) {
  driver_event event = NULL;
  driver_stream first = block->first;
  if (streams_special(first)) first = streams_handle(NULL);
  int code = streams_check_no_capture("deallocate", first, "and the memory is freed later", error);
  if (!code) code = streams_mark(first, &event, "free", error);
  return code ? code : streams_settle_event(block, own, event, error);
}

/* Returns whether the device was reset since then. */
static int streams_was_reset(int32_t ordinal, int resets) {
  streams_notice_reset(ordinal);
  return atomic_load(&streams.devices[ordinal].resets) != resets;
}

/* Makes the stream on which memory is freed wait for all work on the memory. The driver itself
 * waits for the device before it frees plain memory. */
static int streams_await_work(struct streams_block* block, driver_stream own, dlpackgen_backend_error* error) {
  int named = 0, code = DLPACKGEN_BACKEND_OK;
  for (const struct streams_keep* keep = block->keeps; keep; keep = keep->next)
    named |= atomic_load(&keep->recorded) && keep->stream == block->first && keep->ordinal == block->ordinal &&
             keep->resets == block->resets;
  if (!named && block->kind != STREAMS_PLAIN) code = streams_settle_first(block, own, error);
  while (!code && block->keeps) {
    struct streams_keep* keep = block->keeps;
    if (!streams_was_reset(keep->ordinal, keep->resets)) code = streams_settle_event(block, own, keep->event, error);
    block->keeps = keep->next;
    free(keep);
  }
  return code;
}

/* Returns the memory to the driver, in the context of its device. */
static int streams_deallocate(struct streams_block* block, dlpackgen_backend_error* error) {
  void* data = block->tensor.dl_tensor.data;
  driver_stream own = atomic_load(&streams.devices[block->ordinal].own);
  driver_result result = 0;
  const int code = streams_await_work(block, own, error);
  if (code) return code;
  switch (block->kind) {
    case STREAMS_POOL: result = streams.driver.pool_free((driver_address)(uintptr_t)data, own); break;
    case STREAMS_PLAIN: result = streams.driver.memory_free((driver_address)(uintptr_t)data); break;
    case STREAMS_HOST:
      result = streams.driver.stream_synchronize(own);
      if (!result) result = streams.driver.host_free(data);
      break;
    case STREAMS_EMPTY: break;
  }
  return result ? streams_fail(error, result, "deallocate: %p", data) : DLPACKGEN_BACKEND_OK;
}

/* Frees the host's part. Remaining events belong to a driver that has shut down. */
static void streams_drop(struct streams_block* block) {
  while (block->keeps) {
    struct streams_keep* keep = block->keeps;
    block->keeps = keep->next;
    free(keep);
  }
  free(block);
}

static void streams_put_off(struct streams_block* block) {
  block->next = atomic_load(&streams_later);
  while (!atomic_compare_exchange_weak(&streams_later, &block->next, block)) continue;
}

/* Frees a tensor. If a capture forbids this, a later call frees it. If the driver has shut down or
 * the device was reset, the memory no longer exists. If the driver rejects the call for another
 * reason, the memory is leaked. */
static int streams_release(struct streams_block* block, dlpackgen_backend_error* error) {
  dlpackgen_backend_error unread;
  int pushed = 0;
  if (!error) error = &unread;
  if (block->kind == STREAMS_EMPTY || !device_is_ready() || streams_was_reset(block->ordinal, block->resets)) {
    streams_drop(block);
    return DLPACKGEN_BACKEND_OK;
  }
  int code = streams_enter(block->ordinal, &pushed, error);
  if (!code) {
    const unsigned int mode = streams_relax();
    code = streams_deallocate(block, error);
    streams_restrict(mode);
    streams_leave(pushed);
  }
  if (code == DLPACKGEN_BACKEND_CAPTURING) {
    streams_put_off(block);
    return DLPACKGEN_BACKEND_OK;
  }
  streams_drop(block);
  return code == DLPACKGEN_BACKEND_SHUTTING_DOWN ? DLPACKGEN_BACKEND_OK : code;
}

/* Retries deferred frees. */
static void streams_retry(void) {
  if (!atomic_load_explicit(&streams_later, memory_order_relaxed)) return;
  struct streams_block* block = atomic_exchange(&streams_later, NULL);
  while (block) {
    struct streams_block* next = block->next;
    (void)streams_release(block, NULL);
    block = next;
  }
}

static atomic_int streams_helping;

/* The function of the backend's own thread, which frees tensors that deleters could not free. Later
 * deleters start another thread. */
static void streams_help(void) {
  streams_caller = 1;
  atomic_store(&streams_helping, 0);
  streams_retry();
}

/* Passes a tensor to a thread that may call the driver or, if none can be started, to the next
 * call. */
static void streams_hand_over(struct streams_block* block) {
  streams_put_off(block);
  if (!atomic_exchange(&streams_helping, 1) && !device_detach(streams_help)) atomic_store(&streams_helping, 0);
}

static void streams_delete(DLManagedTensorVersioned* tensor) {
  struct streams_block* block = (struct streams_block*)tensor;
  if (!block) return;
  if (!streams_caller && block->kind != STREAMS_EMPTY && device_is_ready()) {
    streams_hand_over(block);
    return;
  }
  if (streams_caller) streams_retry();
  (void)streams_release(block, NULL);
}

static int streams_free(DLManagedTensorVersioned* tensor, dlpackgen_backend_error* error) {
  const int code = tensor ? device_check_ours("deallocate", tensor, streams_delete, error) : DLPACKGEN_BACKEND_OK;
  if (code || !tensor) return code;
  streams_caller = 1;
  streams_retry();
  return streams_release((struct streams_block*)tensor, error);
}

/* Finds the event of a stream, or adds one to the list. */
static struct streams_keep* streams_kept(struct streams_block* block, driver_stream stream, int32_t ordinal) {
  struct streams_keep *keep, *fresh = calloc(1, sizeof *fresh);
  while (atomic_flag_test_and_set_explicit(&block->busy, memory_order_acquire)) continue;
  const int resets = atomic_load(&streams.devices[ordinal].resets);
  for (keep = block->keeps; keep; keep = keep->next)
    if (keep->stream == stream && keep->ordinal == ordinal && keep->resets == resets) break;
  if (!keep && fresh && !streams.driver.event_create(&fresh->event, DRIVER_event_no_timing)) {
    fresh->stream = stream, fresh->ordinal = ordinal, fresh->next = block->keeps;
    fresh->resets = resets;
    block->keeps = keep = fresh;
    fresh = NULL;
  }
  atomic_flag_clear_explicit(&block->busy, memory_order_release);
  free(fresh);
  return keep;
}

static int streams_keep_until(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream,
                              dlpackgen_backend_error* error) {
  struct streams_block* block = (struct streams_block*)tensor;
  int pushed, code = streams_called(error);
  if (!code) code = device_check_ours("keep_until", tensor, streams_delete, error);
  if (!code) code = streams_check_ordered("keep_until", stream, error);
  if (code || block->kind == STREAMS_EMPTY) return code;
  code = streams_enter(stream->device.device_id, &pushed, error);
  if (code) return code;
  driver_stream handle = streams_handle(stream->handle);
  code = streams_check_no_capture("keep_until", handle, DEVICE_TEXT_CAPTURED_KEEP, error);
  struct streams_keep* keep = code ? NULL : streams_kept(block, handle, stream->device.device_id);
  if (!code && !keep) code = device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, "keep_until: no memory for an event");
  const driver_result result = code ? 0 : streams.driver.event_record(keep->event, handle);
  if (!code && !result) atomic_store(&keep->recorded, 1);
  streams_leave(pushed);
  return result ? streams_fail(error, result, "keep_until: an event on the stream %p", stream->handle) : code;
}

#endif /* DLPACKGEN_STREAMS_RELEASE_H_ */
