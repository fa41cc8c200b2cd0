//go:build ignore && cgo && !nodevice

/* The backend except for the vendor's part, which is a separate file. Its only exported symbol is
 * the function at its end. It links only libdl, and opens the library at the first call that needs
 * it. */
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
      vendor_stream_synchronize,
  };
  return &table;
}
