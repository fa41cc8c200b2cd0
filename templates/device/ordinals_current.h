
/* The part for runtimes without contexts: work is done on the current device, which is selected by
 * its number, and the thread's current device is restored. Part of the backend's C file. */
#ifndef DLPACKGEN_STREAMS_CURRENT_H_
#define DLPACKGEN_STREAMS_CURRENT_H_

#include "streams_load.h"

static void* streams_find(void* library, const struct driver_function* f) { return device_symbol(library, f->plain); }

static void streams_describe_error(driver_result result, const char** name, const char** text) {
  if (streams.driver.error_name) *name = streams.driver.error_name(result);
  if (streams.driver.error_text) *text = streams.driver.error_text(result);
}

/* The first call starts the runtime; the call that counts the devices reports why there are
 * none. */
static driver_result streams_begin(void) { return 0; }

/* Returns whether a device is active, because starting one takes hundreds of megabytes of its
 * memory. */
static int streams_active(int32_t ordinal) {
  unsigned int flags = 0;
  int active = 0;
  return !streams.driver.primary_state(ordinal, &flags, &active) && active;
}

/* The runtime does not report resets. */
static void streams_notice_reset(int32_t ordinal) { (void)ordinal; }

/* Makes a device current, if it is not; `pushed` records what streams_leave must undo: 0, or the
 * number of the previous device plus one. */
static int streams_enter(int32_t ordinal, int* pushed, dlpackgen_backend_error* error) {
  int current = 0;
  *pushed = 0;
  driver_result result = streams.driver.device_current(&current);
  if (!result && current == ordinal) return DLPACKGEN_BACKEND_OK;
  if (!result) result = streams.driver.device_use(ordinal);
  if (result) return streams_fail(error, result, "making device %d current", (int)ordinal);
  *pushed = current + 1;
  return DLPACKGEN_BACKEND_OK;
}

static void streams_leave(int pushed) {
  if (pushed) (void)streams.driver.device_use(pushed - 1);
}

/* Returns the device of a stream other than the default ones. */
static driver_result streams_device_of(driver_stream stream, int32_t expected, driver_device* device) {
  (void)expected;
  *device = streams.driver.stream_device(stream);
  return *device < 0 ? DRIVER_stream_unknown : 0;
}

/* The runtime's information about an address; all zero for an unknown one. */
struct streams_attributes {
  unsigned int type, managed, mapped; /* the type in the newest numbering */
  int ordinal;
  const void* context; /* always NULL */
  driver_address start;
  size_t size;
};

/* This query leaves no error on the thread for unknown memory. It then returns zeros, which in
 * older versions also mean host memory. Booleans fill only one byte. The size is queried
 * separately, because this query returns it in 32 bits. The start of memory that the host has
 * registered is unknown, so base and size are then 0. */
static driver_result streams_query(const void* pointer, struct streams_attributes* a) {
  unsigned int wanted[] = {DRIVER_attribute_memory_type, DRIVER_attribute_is_managed, DRIVER_attribute_mapped,
                           DRIVER_attribute_ordinal};
  void* values[] = {&a->type, &a->managed, &a->mapped, &a->ordinal};
  const driver_address address = (driver_address)(uintptr_t)pointer;
  memset(a, 0, sizeof *a);
  const driver_result result = streams.driver.pointer_attributes(4, wanted, values, address);
  const unsigned int type = a->type;
  a->type = 0;
  if (result) return result;
  if (type == DRIVER_memory_array_in(streams.version)) a->type = DRIVER_memory_array;
  if (!a->mapped) return 0;
  if (type == DRIVER_memory_host_in(streams.version)) a->type = DRIVER_memory_host;
  if (type == DRIVER_memory_device_in(streams.version)) a->type = DRIVER_memory_device;
  if (streams.driver.address_range(&a->start, &a->size, address) || !a->start) a->size = 0;
  return 0;
}

static int streams_query_again(const void* pointer, struct streams_attributes* a, driver_result result,
                               dlpackgen_backend_error* error) {
  (void)a;
  return streams_fail(error, result, DEVICE_TEXT_POINTER, pointer);
}

static int streams_check_context(const void* pointer, const struct streams_attributes* a,
                                 dlpackgen_backend_error* error) {
  (void)pointer, (void)a, (void)error;
  return DLPACKGEN_BACKEND_OK;
}

/* Queues a copy, with the device of the stream current. */
static driver_result streams_queue(void* to, const void* from, size_t bytes, driver_stream stream) {
  return streams.driver.copy(to, from, bytes, DRIVER_copy_default, stream);
}

/* Like streams_queue, between memory of two devices. */
static driver_result streams_queue_across(void* to, int32_t to_ordinal, const void* from, int32_t from_ordinal,
                                          size_t bytes, driver_stream stream) {
  return streams.driver.copy_peer(to, to_ordinal, from, from_ordinal, bytes, stream);
}

#endif /* DLPACKGEN_STREAMS_CURRENT_H_ */
