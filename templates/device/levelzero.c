//go:build ignore && cgo && !nodevice && !sycl

/* The backend over Level Zero as one translation unit. It links only libdl, and opens the driver at
 * the first call that needs it. */
#define USM_HANDLES DLPACKGEN_USM_LEVEL_ZERO
#define USM_UNKNOWN_CODE DLPACKGEN_BACKEND_MEMORY_MISMATCH

#include "device_warnings.h"

#include "levelzero_copy.h"
#include "usm_table.h"
