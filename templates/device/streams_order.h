
/* Streams: their numbers, their devices, and their ordering. Part of the backend's C file. */
#ifndef DLPACKGEN_STREAMS_ORDER_H_
#define DLPACKGEN_STREAMS_ORDER_H_

#include "numbers_read.h"
#include "streams_context.h"

#include <limits.h>

/* Returns the driver's handle: the default stream has a handle with the same meaning in every
 * program, unlike NULL. */
static driver_stream streams_handle(void* handle) {
  return (driver_stream)(handle ? (uintptr_t)handle : DRIVER_DEFAULT_STREAM);
}

/* Returns whether a handle is a number that is the same on every device, not an address. This
 * includes numbers that DLPack rejects, for which the driver may have a stream. */
static int streams_special(driver_stream stream) {
  int special = 0;
  for (size_t i = 0; i < sizeof driver_numbers / sizeof *driver_numbers; i++)
    special |= (uintptr_t)driver_numbers[i].number == (uintptr_t)stream ||
               (!driver_numbers[i].rejected && driver_numbers[i].handle == (uintptr_t)stream);
  return special;
}

/* Checks that a stream belongs to its device. The default streams belong to all devices. */
static int streams_check(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  if (!stream) return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, DEVICE_TEXT_NO_STREAM, what);
  int code = streams_check_device(what, stream->device, error);
  driver_stream handle = streams_handle(stream->handle);
  if (code || stream->flags & DLPACKGEN_STREAM_NO_SYNC || streams_special(handle)) return code;
  driver_device device = -1;
  const driver_result result = streams_device_of(handle, stream->device.device_id, &device);
  if (result) return streams_fail(error, result, DEVICE_TEXT_STREAM, what, stream->handle);
  if (device != stream->device.device_id)
    return device_fail(error, DLPACKGEN_BACKEND_STREAM_DEVICE_MISMATCH, DEVICE_TEXT_STREAM_DEVICE, what, "stream",
                       stream->handle, (int)device, (int)stream->device.device_id);
  return DLPACKGEN_BACKEND_OK;
}

/* Like streams_check, for functions that need a stream for work. */
static int streams_check_ordered(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  const int code = streams_check(what, stream, error);
  return code ? code : device_check_ordered(what, stream, error);
}

static int streams_stream_from_dlpack(DLDevice device, const int64_t* number, dlpackgen_stream* stream,
                                      dlpackgen_backend_error* error) {
  int code = streams_ready(error);
  if (!code) code = streams_check_device("stream_from_dlpack", device, error);
  if (!code) code = device_check_place("stream_from_dlpack", stream, error);
  if (code) return code;
  *stream = (dlpackgen_stream){(void*)DRIVER_DEFAULT_STREAM, device, 0, 0};
  if (!number || numbers_read(*number, 1, stream)) return DLPACKGEN_BACKEND_OK;
  return device_reject_number(*number, DEVICE_TEXT_STREAM_NUMBERS, error);
}

static int streams_current_stream(const dlpackgen_stream_source* source, DLDevice device, dlpackgen_stream* stream,
                                  dlpackgen_backend_error* error) {
  void* handle = NULL;
  int code = streams_ready(error);
  if (!code) code = streams_check_device("current_work_stream", device, error);
  if (!code) code = device_check_place("current_work_stream", stream, error);
  if (!code) code = device_current(source, device, &handle, error);
  if (!code) *stream = (dlpackgen_stream){(void*)streams_handle(handle), device, 0, 0};
  return code;
}

/* Whether a stream is captured into a graph, and into which. */
struct streams_capture {
  unsigned int status;
  driver_capture_id id;
};

/* Queries with the device of the stream current, to which default streams refer. The query
 * invalidates no capture, even if it fails because another stream is captured. */
static int streams_capture(const char* what, driver_stream stream, struct streams_capture* capture,
                           dlpackgen_backend_error* error) {
  *capture = (struct streams_capture){DRIVER_capture_none, 0};
  driver_result result = streams.driver.stream_capture(stream, &capture->status);
  if (!result && capture->status == DRIVER_capture_active)
    result = streams.driver.stream_capture_id(stream, &capture->status, &capture->id);
  if (result) return streams_fail(error, result, DEVICE_TEXT_STREAM, what, (void*)stream);
  if (capture->status == DRIVER_capture_none || capture->status == DRIVER_capture_active) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_CAPTURING,
                     "%s: the capture of the stream %p was invalidated by an earlier call", what, (void*)stream);
}

/* Rejects a stream that is captured. */
static int streams_check_no_capture(const char* what, driver_stream stream, const char* why,
                                    dlpackgen_backend_error* error) {
  struct streams_capture capture;
  const int code = streams_capture(what, stream, &capture, error);
  if (code || capture.status == DRIVER_capture_none) return code;
  return device_fail(error, DLPACKGEN_BACKEND_CAPTURING, "%s: the stream %p is captured into a graph, %s", what,
                     (void*)stream, why);
}

/* Permits this thread to make calls that a capture on another thread forbids, and that would
 * invalidate it. Returns the state that streams_restrict restores. */
static unsigned int streams_relax(void) {
  unsigned int mode = DRIVER_capture_relaxed;
  return streams.driver.capture_mode(&mode) ? UINT_MAX : mode;
}

static void streams_restrict(unsigned int mode) {
  if (mode != UINT_MAX) (void)streams.driver.capture_mode(&mode);
}

/* Rejects two streams if one would join the capture of the other, or invalidate it. */
static int streams_check_captures(const struct streams_capture* consumer, const struct streams_capture* producer,
                                  dlpackgen_backend_error* error) {
  if (consumer->status == producer->status && consumer->id == producer->id) return DLPACKGEN_BACKEND_OK;
  const char* which = consumer->status == producer->status ? "the two streams are captured into two graphs"
                      : consumer->status == DRIVER_capture_none
                          ? "the producer's stream is captured, but the consumer's is not"
                          : "the consumer's stream is captured, but the producer's is not";
  return device_fail(error, DLPACKGEN_BACKEND_CAPTURING,
                     "stream_wait: %s; order them in the graph, and pass -1 as the stream", which);
}

/* Makes a stream wait for an event of the same or another device. */
static int streams_wait(int32_t ordinal, driver_stream stream, driver_event event, const char* what,
                        dlpackgen_backend_error* error) {
  int pushed;
  const int code = streams_enter(ordinal, &pushed, error);
  if (code) return code;
  const driver_result result = streams.driver.stream_wait(stream, event, 0);
  streams_leave(pushed);
  return result ? streams_fail(error, result, "%s: waiting on the stream %p", what, (void*)stream)
                : DLPACKGEN_BACKEND_OK;
}

/* Creates an event, in the current context, for the work that is queued on a stream. */
static int streams_mark(driver_stream stream, driver_event* event, const char* what, dlpackgen_backend_error* error) {
  driver_result result = streams.driver.event_create(event, DRIVER_event_no_timing);
  if (result) return streams_fail(error, result, DEVICE_TEXT_EVENT, what);
  result = streams.driver.event_record(*event, stream);
  if (!result) return DLPACKGEN_BACKEND_OK;
  (void)streams.driver.event_destroy(*event);
  return streams_fail(error, result, "%s: an event on the stream %p", what, (void*)stream);
}

/* Orders two streams with the producer's device current, to which the event belongs. The event may
 * be destroyed at once: the driver keeps it until it is reached. */
static int streams_order_here(const dlpackgen_stream* consumer, const dlpackgen_stream* producer,
                              const struct streams_capture* waits, dlpackgen_backend_error* error) {
  struct streams_capture works;
  driver_event event = NULL;
  int code = streams_capture("stream_wait", streams_handle(producer->handle), &works, error);
  if (!code) code = streams_check_captures(waits, &works, error);
  if (!code) code = streams_mark(streams_handle(producer->handle), &event, "stream_wait", error);
  if (code) return code;
  code = streams_wait(consumer->device.device_id, streams_handle(consumer->handle), event, "stream_wait", error);
  (void)streams.driver.event_destroy(event);
  return code;
}

static int streams_stream_wait(const dlpackgen_stream* consumer, const dlpackgen_stream* producer,
                               dlpackgen_backend_error* error) {
  struct streams_capture waits;
  int pushed, code = streams_called(error);
  if (!code) code = streams_check(DEVICE_TEXT_CONSUMER, consumer, error);
  if (!code) code = streams_check(DEVICE_TEXT_PRODUCER, producer, error);
  if (code || consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC) return code;
  if (consumer->device.device_id == producer->device.device_id &&
      streams_handle(consumer->handle) == streams_handle(producer->handle))
    return DLPACKGEN_BACKEND_OK;
  code = streams_enter(consumer->device.device_id, &pushed, error);
  if (code) return code;
  code = streams_capture("stream_wait", streams_handle(consumer->handle), &waits, error);
  streams_leave(pushed);
  if (!code) code = streams_enter(producer->device.device_id, &pushed, error);
  if (code) return code;
  code = streams_order_here(consumer, producer, &waits, error);
  streams_leave(pushed);
  return code;
}

static int streams_stream_synchronize(const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  int pushed, code = streams_called(error);
  if (!code) code = streams_check_ordered("stream_synchronize", stream, error);
  if (!code) code = streams_enter(stream->device.device_id, &pushed, error);
  if (code) return code;
  driver_stream handle = streams_handle(stream->handle);
  code = streams_check_no_capture("stream_synchronize", handle, DEVICE_TEXT_CAPTURED_SYNC, error);
  const driver_result result = code ? 0 : streams.driver.stream_synchronize(handle);
  streams_leave(pushed);
  return result ? streams_fail(error, result, DEVICE_TEXT_STREAM, "stream_synchronize", stream->handle) : code;
}

#endif /* DLPACKGEN_STREAMS_ORDER_H_ */
