
/* Checks devices. Part of the backend's C file. */
#ifndef DLPACKGEN_STREAMS_CONTEXT_H_
#define DLPACKGEN_STREAMS_CONTEXT_H_

#include "device_stream.h"
#include "streams_current.h"

static int streams_check_id(const char* what, int32_t id, dlpackgen_backend_error* error) {
  if (id >= 0 && id < streams.count) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE, DEVICE_TEXT_NO_DEVICE, what, (int)id, streams.count);
}

/* Checks a device with its own streams. */
static int streams_check_device(const char* what, DLDevice device, dlpackgen_backend_error* error) {
  const int code = device_check_type(what, device, error);
  return code ? code : streams_check_id(what, device.device_id, error);
}

#endif /* DLPACKGEN_STREAMS_CONTEXT_H_ */
