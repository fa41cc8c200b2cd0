//go:build ignore && cgo && !nodevice && sycl

// The backend over SYCL as one translation unit, for any compiler of C++17: it has no kernels. It
// links SYCL's library, and does not use it before the first call.
#define USM_HANDLES DLPACKGEN_USM_SYCL
#define USM_UNKNOWN_CODE DLPACKGEN_BACKEND_CONTEXT_MISMATCH

#include "device_warnings.h"

#include "sycl_copy.hpp"
#include "usm_table.h"
