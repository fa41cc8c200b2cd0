//go:build ignore && linux && cgo && !nodevice

/* The backend as one translation unit, whose only exported symbol is the function at its end. It
 * links only libc. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "device_warnings.h"

#include "shm_host.h"

const dlpackgen_shm_table* DLPACKGEN_SHM_ENTRY(void) {
  static const dlpackgen_backend device = {
      sizeof(dlpackgen_backend),
      DLPACKGEN_BACKEND_ABI_VERSION,
      kDLCPU,
      BACKEND_NAME,
      shm_probe,
      shm_device_count,
      shm_pointer_attributes,
      shm_alloc,
      shm_free,
      shm_current_stream,
      shm_stream_from_dlpack,
      shm_stream_wait,
      shm_keep_until,
      shm_copy,
      shm_stream_synchronize,
  };
  static const dlpackgen_shm_table table = {
      sizeof(dlpackgen_shm_table), DLPACKGEN_SHM_ABI_VERSION, 0, &device, shm_send, shm_receive,
  };
  return &table;
}
