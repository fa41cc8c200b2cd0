//go:build ignore && cgo && !nodevice

/* The backend but for the vendor's part, which is a separate file. All that
 * other files see of it is the function at its end; nothing is linked but libdl, and
 * nothing is opened before the first call that asks for something. */
#include "device_warnings.h"

#include "vendor_copy.h"
#include "vendor_memory.h"

const dlpackgen_backend* BACKEND_ENTRY(void) {
  static const dlpackgen_backend table = {
      sizeof(dlpackgen_backend),
      DLPACKGEN_BACKEND_ABI_VERSION,
      BACKEND_device,
      BACKEND_NAME,
      vendor_probe,
      vendor_device_count,
      vendor_pointer_attributes,
      vendor_alloc,
      vendor_free,
      vendor_current_stream,
      vendor_stream_from_dlpack,
      vendor_stream_wait,
      vendor_keep_until,
      vendor_copy,
      vendor_finish,
  };
  return &table;
}
