
/* Streams: their numbers, their devices, and their ordering. Part of the backend's C file. */
#ifndef DLPACKGEN_VENDOR_STREAM_H_
#define DLPACKGEN_VENDOR_STREAM_H_

#include "device_stream.h"
#include "numbers_read.h"
#include "vendor_load.h"

/* Checks a device of a supported type. */
static int vendor_check_place(const char* what, DLDevice device, dlpackgen_backend_error* error) {
  const struct vendor_type* found = NULL;
  for (size_t i = 0; i < sizeof vendor_types / sizeof *vendor_types; i++)
    if (vendor_types[i].type == (int)device.device_type) found = &vendor_types[i];
  if (!found)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE, "%s: device type %d is not one of %s", what,
                       (int)device.device_type, BACKEND_TITLE);
  if (found->zero && device.device_id)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE, "%s: device type %d has only the id 0, not %d", what,
                       found->type, (int)device.device_id);
  if (device.device_id >= 0 && device.device_id < vendor.info.devices) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE, DEVICE_TEXT_NO_DEVICE, what, (int)device.device_id,
                     (int)vendor.info.devices);
}

/* Checks a device with its own streams. */
static int vendor_check_device(const char* what, DLDevice device, dlpackgen_backend_error* error) {
  const int code = device_check_type(what, device, error);
  return code ? code : vendor_check_place(what, device, error);
}

/* Returns a stream's handle; for NULL, the default stream's handle from the description. */
static void* vendor_handle(void* handle) { return handle ? handle : (void*)DRIVER_DEFAULT_STREAM; }

/* Returns whether a handle is a number that is the same on every device. */
static int vendor_special(const void* handle) {
  int special = (uintptr_t)handle == DRIVER_DEFAULT_STREAM;
  for (size_t i = 0; i < sizeof driver_numbers / sizeof *driver_numbers; i++)
    special |= !driver_numbers[i].rejected && driver_numbers[i].handle == (uintptr_t)handle;
  return special;
}

/* Checks that a handle is a stream of its device, or of any device if the ordinal is -1, as far as
 * the driver reports it. */
static int vendor_check_handle(const char* what, void* handle, int32_t ordinal, dlpackgen_backend_error* error) {
  int32_t owner = ordinal;
  if (vendor_special(vendor_handle(handle))) return DLPACKGEN_BACKEND_OK;
  if (!VENDOR_STREAMS)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM, "%s: the stream %p; %s has only the default one", what,
                       handle, BACKEND_TITLE);
  const int code = vendor.impl->owner ? vendor.impl->owner(&vendor.driver, handle, &owner, error) : 0;
  if (code || owner == ordinal || ordinal < 0) return code;
  return device_fail(error, DLPACKGEN_BACKEND_STREAM_DEVICE_MISMATCH, DEVICE_TEXT_STREAM_DEVICE, what, "stream", handle,
                     (int)owner, (int)ordinal);
}

static int vendor_check(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  if (!stream) return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, DEVICE_TEXT_NO_STREAM, what);
  const int code = vendor_check_device(what, stream->device, error);
  if (code || stream->flags & DLPACKGEN_STREAM_NO_SYNC) return code;
  return vendor_check_handle(what, stream->handle, stream->device.device_id, error);
}

/* Like vendor_check, for functions that need a stream for work. */
static int vendor_check_ordered(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  const int code = vendor_check(what, stream, error);
  return code ? code : device_check_ordered(what, stream, error);
}

static int vendor_stream_from_dlpack(DLDevice device, const int64_t* number, dlpackgen_stream* stream,
                                     dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  int code = vendor_ready(&error, &buffer);
  if (!code) code = vendor_check_device("stream_from_dlpack", device, error);
  if (!code) code = device_check_place("stream_from_dlpack", stream, error);
  if (code) return code;
  *stream = (dlpackgen_stream){(void*)DRIVER_DEFAULT_STREAM, device, 0, 0};
  if (!number || numbers_read(*number, VENDOR_STREAMS, stream)) return DLPACKGEN_BACKEND_OK;
  return device_reject_number(
      *number, VENDOR_STREAMS ? DEVICE_TEXT_STREAM_NUMBERS : "it has none, so only None and -1 are accepted", error);
}

static int vendor_current_stream(const dlpackgen_stream_source* source, DLDevice device, dlpackgen_stream* stream,
                                 dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  void* handle = NULL;
  int code = vendor_ready(&error, &buffer);
  if (!code) code = vendor_check_device("current_work_stream", device, error);
  if (!code) code = device_check_place("current_work_stream", stream, error);
  if (!code) code = device_current(source, device, &handle, error);
  if (!code) *stream = (dlpackgen_stream){vendor_handle(handle), device, 0, 0};
  return code;
}

/* A stream in the form for the vendor's part. */
static dlpackgen_stream vendor_handle_of(const dlpackgen_stream* stream) {
  const dlpackgen_stream passed = {vendor_handle(stream->handle), stream->device, 0, 0};
  return passed;
}

static int vendor_stream_wait(const dlpackgen_stream* consumer, const dlpackgen_stream* producer,
                              dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  void* mark = NULL;
  int code = vendor_ready(&error, &buffer);
  if (!code) code = vendor_check(DEVICE_TEXT_CONSUMER, consumer, error);
  if (!code) code = vendor_check(DEVICE_TEXT_PRODUCER, producer, error);
  if (code || consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC) return code;
  const dlpackgen_stream waits = vendor_handle_of(consumer), works = vendor_handle_of(producer);
  if (waits.device.device_id == works.device.device_id && waits.handle == works.handle) return DLPACKGEN_BACKEND_OK;
  code = vendor.impl->mark(&vendor.driver, &works, &mark, error);
  if (code) return code;
  code = vendor.impl->wait(&vendor.driver, &waits, mark, error);
  vendor.impl->delete_mark(&vendor.driver, mark);
  return code;
}

static int vendor_stream_synchronize(const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  int code = vendor_ready(&error, &buffer);
  if (!code) code = vendor_check_ordered("stream_synchronize", stream, error);
  if (code) return code;
  const dlpackgen_stream passed = vendor_handle_of(stream);
  return vendor.impl->synchronize(&vendor.driver, &passed, error);
}

#endif /* DLPACKGEN_VENDOR_STREAM_H_ */
