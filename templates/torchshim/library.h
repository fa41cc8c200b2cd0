/*
 * Looks up the functions of libtorch in the torch that the program has loaded, so one binary works
 * with many versions. PyTorch's C shim is stable. Exported C++ functions provide features that the
 * shim lacks.
 */
#ifndef DLPACKGEN_TORCHSHIM_LIBRARY_H_
#define DLPACKGEN_TORCHSHIM_LIBRARY_H_

#include <dlpackgen/checker.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "devices.h"
#include "loaded.h"
#include "torch_cpp_abi.h"
#include "torch_shim_abi.h"

/* A value on a stack of the shim: a number by its bits, or a handle. */
typedef uint64_t dlpackgen_shim_cell;
typedef void (*dlpackgen_shim_boxed)(dlpackgen_shim_cell* stack, uint64_t arguments, uint64_t results);

/* Properties of the torch in this process. Written once, before an operator is registered. */
struct dlpackgen_shim {
  struct dlpackgen_torch_shim_functions call;
  struct dlpackgen_torch_cpp_functions cpp;
  DLDataType dtypes[DLPACKGEN_TORCH_DTYPES]; /* by torch's number; lanes is 0 for others */
  struct dlpackgen_shim_devices devices;
};
static struct dlpackgen_shim dlpackgen_shim;

/* Looks up all functions. Returns NULL, or the symbol of a missing required function. */
static const char* dlpackgen_shim_link(void* library) {
  const char* const missing = dlpackgen_loaded_link(library, dlpackgen_torch_shim_names, &dlpackgen_shim.call);
  return missing ? missing : dlpackgen_loaded_link(library, dlpackgen_torch_cpp_names, &dlpackgen_shim.cpp);
}

/* Returns torch's number of a dtype, or -1. */
static int32_t dlpackgen_shim_number_of(DLDataType dtype) {
  for (int32_t i = 0; i < DLPACKGEN_TORCH_DTYPES; i++) {
    const DLDataType known = dlpackgen_shim.dtypes[i];
    if (known.lanes == dtype.lanes && known.bits == dtype.bits && known.code == dtype.code) return i;
  }
  return -1;
}

#endif /* DLPACKGEN_TORCHSHIM_LIBRARY_H_ */
