
/* Streams, which are immediate command lists, and their ordering. Part of the backend's C file. */
#ifndef DLPACKGEN_LEVELZERO_ORDER_H_
#define DLPACKGEN_LEVELZERO_ORDER_H_

#include "levelzero_pointer.h"
#include "usm_stream.h"

/* Two events: one for the queued work of a list, the other for a completed wait of another list.
 * Neither is reused before the second one is signaled. Slots are created by the dozen, and kept. */
struct levelzero_slot {
  driver_event event, waited;
  struct levelzero_slot* next;
};

enum { LEVELZERO_SLOTS = 16 };

/* A list for appends. Only one thread at a time appends to the backend's own lists. */
struct levelzero_stream {
  driver_list list;
  int32_t root;
  int in_order;
  atomic_flag* busy;
};

static struct levelzero_platform* levelzero_platform_of(int32_t root) {
  return &levelzero.platforms[levelzero.roots[root].platform];
}

static int levelzero_make_event(driver_pool pool, uint32_t index, driver_event* event) {
  const struct levelzero_event_desc desc = {DRIVER_struct_event, NULL, index, DRIVER_scope_host, DRIVER_scope_device};
  return (int)levelzero.driver.event_create(pool, (const void*)&desc, event);
}

/* Destroys the events that were created. */
static void levelzero_unmake(struct levelzero_slot* slots, driver_pool pool) {
  for (int i = 0; i < LEVELZERO_SLOTS; i++) {
    if (slots[i].event) (void)levelzero.driver.event_destroy(slots[i].event);
    if (slots[i].waited) (void)levelzero.driver.event_destroy(slots[i].waited);
  }
  (void)levelzero.driver.pool_destroy(pool);
  free(slots);
}

/* Creates slots for a platform without free slots, with its lock held. */
static int levelzero_make_slots(struct levelzero_platform* platform, const char* what, dlpackgen_backend_error* error) {
  const struct levelzero_pool_desc desc = {DRIVER_struct_pool, NULL, DRIVER_pool_host_visible, 2 * LEVELZERO_SLOTS};
  driver_pool pool = NULL;
  struct levelzero_slot* slots = calloc(LEVELZERO_SLOTS, sizeof *slots);
  if (!slots) return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, "%s: out of host memory for events", what);
  driver_result result = levelzero.driver.pool_create(platform->context, (const void*)&desc, 0, NULL, &pool);
  if (result) {
    free(slots);
    return levelzero_fail(error, result, "%s: a pool of events", what);
  }
  for (uint32_t i = 0; !result && i < LEVELZERO_SLOTS; i++) {
    result = (driver_result)levelzero_make_event(pool, 2 * i, &slots[i].event);
    if (!result) result = (driver_result)levelzero_make_event(pool, 2 * i + 1, &slots[i].waited);
  }
  if (result) {
    levelzero_unmake(slots, pool);
    return levelzero_fail(error, result, DEVICE_TEXT_EVENT, what);
  }
  for (int i = 0; i < LEVELZERO_SLOTS; i++) slots[i].next = platform->free, platform->free = &slots[i];
  return DLPACKGEN_BACKEND_OK;
}

/* Resets the events of a slot for reuse, with the lock held. */
static void levelzero_recycle(struct levelzero_platform* platform, struct levelzero_slot* slot) {
  (void)levelzero.driver.event_reset(slot->event);
  (void)levelzero.driver.event_reset(slot->waited);
  slot->next = platform->free;
  platform->free = slot;
}

/* Returns a slot that is free, finished or new. */
static int levelzero_reserve(struct levelzero_platform* platform, const char* what, struct levelzero_slot** reserved,
                             dlpackgen_backend_error* error) {
  levelzero_lock(&platform->busy);
  for (struct levelzero_slot** at = &platform->used; !platform->free && *at;) {
    struct levelzero_slot* slot = *at;
    if (levelzero.driver.event_status(slot->waited)) {
      at = &slot->next;
      continue;
    }
    *at = slot->next;
    levelzero_recycle(platform, slot);
  }
  const int code = platform->free ? DLPACKGEN_BACKEND_OK : levelzero_make_slots(platform, what, error);
  if (!code) *reserved = platform->free, platform->free = platform->free->next;
  levelzero_unlock(&platform->busy);
  return code;
}

/* Adds a slot to the list of used or of free slots. */
static void levelzero_put(struct levelzero_platform* platform, struct levelzero_slot* slot, int used) {
  levelzero_lock(&platform->busy);
  if (used) slot->next = platform->used, platform->used = slot;
  else levelzero_recycle(platform, slot);
  levelzero_unlock(&platform->busy);
}

/* Determines the device of a list, and whether the list is immediate. */
static int usm_check_handle(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  driver_list list = stream->handle;
  driver_device device = NULL;
  driver_context context = NULL;
  uint8_t immediate = 0;
  driver_result result = levelzero.driver.list_immediate(list, &immediate);
  if (!result) result = levelzero.driver.list_device(list, &device);
  if (!result) result = levelzero.driver.list_context(list, &context);
  if (result) return levelzero_fail(error, result, DEVICE_TEXT_STREAM, what, stream->handle);
  if (!immediate)
    return device_fail(error, DLPACKGEN_BACKEND_CAPTURING,
                       "%s: the command list %p is not an immediate one, as required", what, stream->handle);
  const int32_t root = levelzero_root_above(device), wanted = levelzero_root_of(stream->device.device_id);
  if (root != wanted)
    return device_fail(error, DLPACKGEN_BACKEND_STREAM_DEVICE_MISMATCH,
                       "%s: the stream %p is of device %d of Level Zero; expected device %d, its number %d", what,
                       stream->handle, (int)root, (int)stream->device.device_id, (int)wanted);
  if (context != levelzero_platform_of(root)->context)
    return device_fail(
        error, DLPACKGEN_BACKEND_CONTEXT_MISMATCH,
        "%s: the stream %p belongs to a context that the program created, not to the driver's default one, %s", what,
        stream->handle, DEVICE_TEXT_DEFAULT_CONTEXT);
  return DLPACKGEN_BACKEND_OK;
}

/* Returns the backend's own list for a device, created when it is first needed. */
static int levelzero_own_list(int32_t root, driver_list* list, dlpackgen_backend_error* error) {
  const struct levelzero_list_desc desc = {DRIVER_struct_queue,      NULL, 0, 0, DRIVER_queue_in_order,
                                           DRIVER_mode_asynchronous, 0};
  _Atomic(driver_list)* own = &levelzero.roots[root].own;
  driver_list none = NULL;
  *list = atomic_load(own);
  if (*list) return DLPACKGEN_BACKEND_OK;
  const driver_result result = levelzero.driver.list_create(levelzero_platform_of(root)->context,
                                                            levelzero.roots[root].device, (const void*)&desc, list);
  if (result) return levelzero_fail(error, result, "a command list of device %d", (int)root);
  if (atomic_compare_exchange_strong(own, &none, *list)) return DLPACKGEN_BACKEND_OK;
  (void)levelzero.driver.list_destroy(*list);
  *list = none;
  return DLPACKGEN_BACKEND_OK;
}

/* Returns the list of a stream that was checked. */
static int levelzero_open_stream(const dlpackgen_stream* stream, struct levelzero_stream* open,
                                 dlpackgen_backend_error* error) {
  unsigned int flags = DRIVER_queue_in_order;
  open->root = levelzero_root_of(stream->device.device_id);
  open->list = stream->handle;
  open->busy = NULL;
  int code = DLPACKGEN_BACKEND_OK;
  if (!open->list) {
    code = levelzero_own_list(open->root, &open->list, error);
    open->busy = &levelzero.roots[open->root].busy;
  } else if (levelzero.driver.list_flags(open->list, &flags)) {
    flags = 0;
  }
  open->in_order = (flags & DRIVER_queue_in_order) != 0;
  return code;
}

/* Appends a barrier, which waits for an event and signals another; either may be NULL. Without
 * events, it separates earlier from later commands. */
static driver_result levelzero_barrier(const struct levelzero_stream* stream, driver_event signal, driver_event wait) {
  if (stream->busy) levelzero_lock(stream->busy);
  const driver_result result = levelzero.driver.barrier(stream->list, signal, wait ? 1 : 0, wait ? &wait : NULL);
  if (stream->busy) levelzero_unlock(stream->busy);
  return result;
}

/* Orders two lists by an event. If the second barrier fails, the first one still signals, at an
 * unknown time, so its slot is never reused. */
static int levelzero_order(const struct levelzero_stream* waits, const struct levelzero_stream* works,
                           dlpackgen_backend_error* error) {
  struct levelzero_platform* platform = levelzero_platform_of(works->root);
  struct levelzero_slot* slot = NULL;
  const int code = levelzero_reserve(platform, "stream_wait", &slot, error);
  if (code) return code;
  driver_result result = levelzero_barrier(works, slot->event, NULL);
  if (result) {
    levelzero_put(platform, slot, 0);
    return levelzero_fail(error, result, "stream_wait: a barrier on the producer's stream %p", (void*)works->list);
  }
  result = levelzero_barrier(waits, slot->waited, slot->event);
  levelzero_put(platform, slot, 1);
  return result
             ? levelzero_fail(error, result, "stream_wait: a barrier on the consumer's stream %p", (void*)waits->list)
             : DLPACKGEN_BACKEND_OK;
}

static int usm_stream_wait(const dlpackgen_stream* consumer, const dlpackgen_stream* producer,
                           dlpackgen_backend_error* error) {
  struct levelzero_stream waits, works;
  int code = usm_ready(error);
  if (!code) code = usm_check_stream(DEVICE_TEXT_CONSUMER, consumer, error);
  if (!code) code = usm_check_stream(DEVICE_TEXT_PRODUCER, producer, error);
  if (code || consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC) return code;
  code = levelzero_open_stream(consumer, &waits, error);
  if (!code) code = levelzero_open_stream(producer, &works, error);
  if (code) return code;
  if (waits.list == works.list) {
    const driver_result result = waits.in_order ? 0 : levelzero_barrier(&waits, NULL, NULL);
    return result ? levelzero_fail(error, result, "stream_wait: a barrier on the stream %p", (void*)waits.list)
                  : DLPACKGEN_BACKEND_OK;
  }
  if (levelzero_platform_of(waits.root) != levelzero_platform_of(works.root))
    return device_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED,
                       "stream_wait: devices %d and %d have two drivers, whose streams cannot wait for each other; "
                       "synchronize the producer's stream",
                       (int)consumer->device.device_id, (int)producer->device.device_id);
  return levelzero_order(&waits, &works, error);
}

static int usm_stream_synchronize(const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  struct levelzero_stream open;
  int code = usm_ready(error);
  if (!code) code = usm_check_ordered("stream_synchronize", stream, error);
  if (!code) code = levelzero_open_stream(stream, &open, error);
  if (code) return code;
  const driver_result result = levelzero.driver.list_synchronize(open.list, UINT64_MAX);
  return result ? levelzero_fail(error, result, DEVICE_TEXT_STREAM, "stream_synchronize", stream->handle)
                : DLPACKGEN_BACKEND_OK;
}

#endif /* DLPACKGEN_LEVELZERO_ORDER_H_ */
