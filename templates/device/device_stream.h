
/* Checks and conversions that all backends with streams share. Part of the backend's file. */
#ifndef DLPACKGEN_DEVICE_STREAM_H_
#define DLPACKGEN_DEVICE_STREAM_H_

#include "device_error.h"

/* Checks a device type with its own streams. */
static int device_check_type(const char* what, DLDevice device, dlpackgen_backend_error* error) {
  if ((int)device.device_type == BACKEND_device) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE, "%s: device type %d; the streams of %s have type %d",
                     what, (int)device.device_type, BACKEND_TITLE, BACKEND_device);
}

/* Checks a stream for work. */
static int device_check_ordered(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  if (!(stream->flags & DLPACKGEN_STREAM_NO_SYNC)) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM, "%s: a stream is required; -1 means no stream", what);
}

/* Checks that the output parameter for a stream is present. */
static int device_check_place(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  if (stream) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, DEVICE_TEXT_NO_STREAM_OUTPUT, what);
}

static int device_reject_number(int64_t number, const char* accepted, dlpackgen_backend_error* error) {
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM,
                     "stream_from_dlpack: the number %lld is not a stream of %s; %s", (long long)number, BACKEND_TITLE,
                     accepted);
}

/* Returns a source's handle for a device; NULL is the default stream. */
static int device_current(const dlpackgen_stream_source* source, DLDevice device, void** handle,
                          dlpackgen_backend_error* error) {
  *handle = NULL;
  if (source && source->current) {
    const int failed = source->current(source->state, device, handle);
    if (failed)
      return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM,
                         "current_work_stream: the program's callback returned the error %d", failed);
  } else if (source && source->handles && (size_t)device.device_id < source->count) {
    *handle = source->handles[device.device_id];
  }
  return DLPACKGEN_BACKEND_OK;
}

#endif /* DLPACKGEN_DEVICE_STREAM_H_ */
