//go:build ignore && cgo && !nodevice

/* The backend as one translation unit, whose only exported symbol is the function at its end. It
 * links only libdl, and opens the driver at the first call that needs it. */
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
      streams_stream_synchronize,
  };
  return &table;
}
