
/* The part for drivers with contexts: work is done in the primary context of a device, which all
 * libraries in the process share, and the thread's current context is restored. Part of the
 * backend's C file. */
#ifndef DLPACKGEN_STREAMS_CURRENT_H_
#define DLPACKGEN_STREAMS_CURRENT_H_

#include "streams_load.h"

/* Each function is looked up in the version of its row, through the driver's lookup function if
 * there is one, or else by the name of that version. */
static void* streams_find(void* library, const struct driver_function* f) {
  driver_lookup_0 newest;
  driver_lookup_1 older;
  void *found = NULL,
       *symbols[2] = {device_symbol(library, driver_lookups[0]), device_symbol(library, driver_lookups[1])};
  unsigned int how = 0;
  memcpy(&newest, &symbols[0], sizeof newest);
  memcpy(&older, &symbols[1], sizeof older);
  if (newest) return newest(f->symbol, &found, f->since, DRIVER_LOOKUP_FLAGS, &how) ? NULL : found;
  if (older) return older(f->symbol, &found, f->since, DRIVER_LOOKUP_FLAGS) ? NULL : found;
  return device_symbol(library, f->plain);
}

static void streams_describe_error(driver_result result, const char** name, const char** text) {
  if (streams.driver.error_name) (void)streams.driver.error_name(result, name);
  if (streams.driver.error_text) (void)streams.driver.error_text(result, text);
}

static driver_result streams_begin(void) { return streams.driver.init(0); }

/* Queries the driver for the id of a context, which is unique in the process; 0 if the driver is
 * older. */
static driver_result streams_context_id(driver_context context, unsigned long long* id) {
  *id = 0;
  return streams.driver.context_id ? streams.driver.context_id(context, id) : 0;
}

/* Returns whether the known context is the device's current one. A reset of the device destroys
 * everything in the context but keeps its handle, which cannot be used before it is retained again
 * (docs/devices.md cites the vendor). */
static int streams_is_current(int32_t ordinal, driver_context context) {
  unsigned long long id;
  unsigned int flags = 0;
  int active = 1;
  if (streams.driver.primary_state(ordinal, &flags, &active) || !active) return 0;
  return !streams_context_id(context, &id) && id == atomic_load(&streams.devices[ordinal].id);
}

/* Updates the state of a device: removes state that a reset has destroyed, and retains the context,
 * unless it is inactive and must not be started. The context is never released, because other
 * libraries may use it. Returns NULL if there is none. */
static driver_result streams_renew(int32_t ordinal, int starts, driver_context* context) {
  struct streams_device* device = &streams.devices[ordinal];
  unsigned long long id = 0;
  unsigned int flags = 0;
  int active = starts;
  driver_result result = 0;
  *context = (driver_context)atomic_load(&device->primary);
  if (*context && streams_is_current(ordinal, *context)) return 0;
  if (*context) {
    atomic_store(&device->own, NULL);
    atomic_fetch_add(&device->resets, 1);
    atomic_store(&device->primary, 0);
    *context = NULL;
  }
  if (!active) result = streams.driver.primary_state(ordinal, &flags, &active);
  if (result || !active) return result;
  result = streams.driver.primary_retain(context, ordinal);
  if (!result) result = streams_context_id(*context, &id);
  if (result) return result;
  atomic_store(&device->id, id);
  atomic_store_explicit(&device->primary, (uintptr_t)*context, memory_order_release);
  return 0;
}

/* Like streams_renew, but only if necessary, and by one thread at a time. */
static driver_result streams_known(int32_t ordinal, int starts, driver_context* context) {
  static atomic_flag busy = ATOMIC_FLAG_INIT;
  *context = (driver_context)atomic_load_explicit(&streams.devices[ordinal].primary, memory_order_acquire);
  if (*context && streams_is_current(ordinal, *context)) return 0;
  while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) continue;
  const driver_result result = streams_renew(ordinal, starts, context);
  atomic_flag_clear_explicit(&busy, memory_order_release);
  return result;
}

/* Returns the primary context of a device. */
static int streams_primary(int32_t ordinal, driver_context* context, dlpackgen_backend_error* error) {
  const driver_result result = streams_known(ordinal, 1, context);
  return result ? streams_fail(error, result, "the primary context of device %d", (int)ordinal) : DLPACKGEN_BACKEND_OK;
}

/* Returns the primary context of a device if it is active, or else NULL, because starting one takes
 * hundreds of megabytes of the device. */
static driver_context streams_active(int32_t ordinal) {
  driver_context context = NULL;
  return streams_known(ordinal, 0, &context) ? NULL : context;
}

/* Detects that a device was reset, without starting it again. */
static void streams_notice_reset(int32_t ordinal) { (void)streams_active(ordinal); }

/* Makes the primary context of a device current, if it is not; `pushed` records what streams_leave
 * must undo. */
static int streams_enter(int32_t ordinal, int* pushed, dlpackgen_backend_error* error) {
  driver_context wanted = NULL, current = NULL;
  *pushed = 0;
  const int code = streams_primary(ordinal, &wanted, error);
  if (code) return code;
  if (!streams.driver.context_current(&current) && current == wanted) return DLPACKGEN_BACKEND_OK;
  const driver_result result = streams.driver.context_push(wanted);
  if (result) return streams_fail(error, result, "the context of device %d", (int)ordinal);
  *pushed = 1;
  return DLPACKGEN_BACKEND_OK;
}

static void streams_leave(int pushed) {
  driver_context popped;
  if (pushed) (void)streams.driver.context_pop(&popped);
}

/* Returns the device of a stream that is not a default stream. Most streams belong to the primary
 * context of the expected device. */
static driver_result streams_device_of(driver_stream stream, int32_t expected, driver_device* device) {
  driver_context context = NULL;
  driver_result result = streams.driver.stream_context(stream, &context);
  *device = expected;
  if (!result && (uintptr_t)context == atomic_load(&streams.devices[expected].primary)) return 0;
  if (!result) result = streams.driver.context_push(context);
  if (result) return result;
  result = streams.driver.context_device(device);
  streams_leave(1);
  return result;
}

/* The driver's information about an address; all zero for an unknown one. */
struct streams_attributes {
  unsigned int type, managed, mapped;
  int ordinal;
  driver_context context;
  driver_address start;
  size_t size;
};

/* Queries everything in one call, for which an unknown address is not an error. */
static driver_result streams_query(const void* pointer, struct streams_attributes* a) {
  static const unsigned int all[] = {
      DRIVER_attribute_memory_type, DRIVER_attribute_is_managed,  DRIVER_attribute_mapped,     DRIVER_attribute_ordinal,
      DRIVER_attribute_context,     DRIVER_attribute_range_start, DRIVER_attribute_range_size,
  };
  void* values[] = {&a->type, &a->managed, &a->mapped, &a->ordinal, &a->context, &a->start, &a->size};
  unsigned int wanted[sizeof all / sizeof *all];
  memcpy(wanted, all, sizeof all);
  memset(a, 0, sizeof *a);
  return streams.driver.pointer_attributes(sizeof all / sizeof *all, wanted, values,
                                           (driver_address)(uintptr_t)pointer);
}

/* Queries again in each active context, because some drivers report memory only if its device is
 * current (cupy#3991). If no context is active, no memory belongs to the driver. */
static int streams_query_again(const void* pointer, struct streams_attributes* a, driver_result result,
                               dlpackgen_backend_error* error) {
  int queried = 0;
  for (int32_t ordinal = 0; ordinal < streams.count; ordinal++) {
    int pushed = 0;
    if (!streams_active(ordinal) || streams_enter(ordinal, &pushed, NULL)) continue;
    queried = 1;
    result = streams_query(pointer, a);
    streams_leave(pushed);
    if (!result) return DLPACKGEN_BACKEND_OK;
  }
  if (queried) return streams_fail(error, result, DEVICE_TEXT_POINTER, pointer);
  memset(a, 0, sizeof *a);
  return DLPACKGEN_BACKEND_OK;
}

/* Memory of pools has no context. */
static int streams_check_context(const void* pointer, const struct streams_attributes* a,
                                 dlpackgen_backend_error* error) {
  const uintptr_t context = (uintptr_t)a->context;
  if (!context || context == atomic_load_explicit(&streams.devices[a->ordinal].primary, memory_order_acquire) ||
      a->context == streams_active(a->ordinal))
    return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_CONTEXT_MISMATCH,
                     DEVICE_TEXT_POINTER
                     ": the memory belongs to a context that the program created on device %d, not to the primary "
                     "context, which libraries share; allocate it there",
                     pointer, a->ordinal);
}

/* Queues a copy, with the device of the stream current. */
static driver_result streams_queue(void* to, const void* from, size_t bytes, driver_stream stream) {
  return streams.driver.copy((driver_address)(uintptr_t)to, (driver_address)(uintptr_t)from, bytes, stream);
}

/* Like streams_queue, between memory of two devices. */
static driver_result streams_queue_across(void* to, int32_t to_ordinal, const void* from, int32_t from_ordinal,
                                          size_t bytes, driver_stream stream) {
  driver_context there, here;
  if (streams_primary(to_ordinal, &there, NULL) || streams_primary(from_ordinal, &here, NULL))
    return streams_queue(to, from, bytes, stream);
  return streams.driver.copy_peer((driver_address)(uintptr_t)to, there, (driver_address)(uintptr_t)from, here, bytes,
                                  stream);
}

#endif /* DLPACKGEN_STREAMS_CURRENT_H_ */
