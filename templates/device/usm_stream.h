
/* Streams: their numbers, and their devices. Part of the backend's file. */
#ifndef DLPACKGEN_USM_STREAM_H_
#define DLPACKGEN_USM_STREAM_H_

#include "device_stream.h"
#include "usm_pointer.h"

/* No object has a lower address: smaller values are stream numbers of other backends. */
enum { USM_LOWEST_HANDLE = 4096 };

/* Checks a handle that is not NULL, of an existing device. */
static int usm_check_handle(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error);

static int usm_check_device(const char* what, DLDevice device, dlpackgen_backend_error* error) {
  const int code = device_check_type(what, device, error);
  return code ? code : usm_check_id(what, device.device_id, error);
}

static int usm_check_stream(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  if (!stream) return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, DEVICE_TEXT_NO_STREAM, what);
  const int code = usm_check_device(what, stream->device, error);
  if (code || stream->flags & DLPACKGEN_STREAM_NO_SYNC || !stream->handle) return code;
  if ((uintptr_t)stream->handle < USM_LOWEST_HANDLE)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM, "%s: the stream %p is not an object in memory", what,
                       stream->handle);
  return usm_check_handle(what, stream, error);
}

/* Like usm_check_stream, for functions that need a stream for work. */
static int usm_check_ordered(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  const int code = usm_check_stream(what, stream, error);
  return code ? code : device_check_ordered(what, stream, error);
}

static void usm_fill_stream(dlpackgen_stream* stream, void* handle, DLDevice device, int unordered) {
  memset(stream, 0, sizeof *stream);
  stream->handle = handle;
  stream->device = device;
  stream->flags = unordered ? DLPACKGEN_STREAM_NO_SYNC : 0;
}

static int usm_stream_from_dlpack(DLDevice device, const int64_t* number, dlpackgen_stream* stream,
                                  dlpackgen_backend_error* error) {
  int code = usm_ready(error);
  if (!code) code = usm_check_device("stream_from_dlpack", device, error);
  if (!code) code = device_check_place("stream_from_dlpack", stream, error);
  if (code) return code;
  if (number && *number != -1 && (*number < USM_LOWEST_HANDLE || (uint64_t)*number > UINTPTR_MAX))
    return device_reject_number(*number, "a stream is None, -1, or a handle", error);
  const int handle = number && *number != -1;
  usm_fill_stream(stream, handle ? (void*)(uintptr_t)*number : NULL, device, number && *number == -1);
  return DLPACKGEN_BACKEND_OK;
}

static int usm_current_stream(const dlpackgen_stream_source* source, DLDevice device, dlpackgen_stream* stream,
                              dlpackgen_backend_error* error) {
  void* handle = NULL;
  int code = usm_ready(error);
  if (!code) code = usm_check_device("current_work_stream", device, error);
  if (!code) code = device_check_place("current_work_stream", stream, error);
  if (!code) code = device_current(source, device, &handle, error);
  if (!code) usm_fill_stream(stream, handle, device, 0);
  return code;
}

#endif /* DLPACKGEN_USM_STREAM_H_ */
