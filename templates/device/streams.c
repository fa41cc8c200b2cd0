//go:build ignore && cgo && !nodevice

/* The backend as one translation unit: all that other files see of it is the
 * function at its end. Nothing is linked but libdl, and nothing is opened before
 * the first call that asks for something. */
#include "device_warnings.h"

#include "streams_copy.h"
#include "streams_memory.h"

const dlpackgen_backend* BACKEND_ENTRY(void) {
  static const dlpackgen_backend table = {
      sizeof(dlpackgen_backend),
      DLPACKGEN_BACKEND_ABI_VERSION,
      BACKEND_device,
      BACKEND_NAME,
      streams_probe,
      streams_device_count,
      streams_pointer_attributes,
      streams_alloc,
      streams_free,
      streams_current_stream,
      streams_stream_from_dlpack,
      streams_stream_wait,
      streams_keep_until,
      streams_copy,
      streams_finish,
  };
  return &table;
}
