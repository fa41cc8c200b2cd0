//go:build ignore && cgo && !nodevice && !sycl

/* The backend over Level Zero as one translation unit. Nothing is linked but libdl,
 * and nothing is opened before the first call that asks for something. */
#define USM_HANDLES DLPACKGEN_USM_LEVEL_ZERO
#define USM_UNKNOWN_CODE DLPACKGEN_BACKEND_MEMORY_MISMATCH

#include "device_warnings.h"

#include "levelzero_copy.h"
#include "usm_table.h"
