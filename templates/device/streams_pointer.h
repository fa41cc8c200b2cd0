
/* Determines the owner of the memory at an address. Part of the backend's C file. */
#ifndef DLPACKGEN_STREAMS_POINTER_H_
#define DLPACKGEN_STREAMS_POINTER_H_

#include "streams_context.h"

/* Checks device memory. Plain memory, which has a context, always exists; memory of a graph and a
 * reserved range have no context. A newer driver may not know such an address, which then counts as
 * host memory (docs/records/gpu.md). */
static int streams_check_memory(const void* pointer, const struct streams_attributes* a,
                                dlpackgen_backend_error* error) {
  if (a->ordinal < 0 || a->ordinal >= streams.count)
    return device_fail(error, DLPACKGEN_BACKEND_DRIVER_ERROR,
                       DEVICE_TEXT_POINTER ": the driver reports device %d of %d", pointer, a->ordinal, streams.count);
  if (!a->mapped && !a->context)
    return device_fail(
        error, DLPACKGEN_BACKEND_NOT_MAPPED,
        DEVICE_TEXT_POINTER ": there is no memory at the address: it is only reserved, or a graph's %s", pointer,
        "own, which has memory while the graph runs; export memory that was allocated outside of captures");
  return streams_check_context(pointer, a, error);
}

/* Reads the attributes in the order that distinguishes the kinds: managed memory is also reported
 * as device or host memory. */
static int streams_classify(const void* pointer, const struct streams_attributes* a, dlpackgen_pointer_attributes* info,
                            dlpackgen_backend_error* error) {
  device_return_attributes((DLDevice){kDLCPU, 0}, -1, NULL, 0, info);
  if (!a->type && !a->managed) return DLPACKGEN_BACKEND_OK;
  info->ordinal = a->ordinal;
  info->base = (const void*)(uintptr_t)a->start;
  info->bytes = a->size;
  int code = DLPACKGEN_BACKEND_OK;
  if (a->managed) {
    const int typed = BACKEND_managed >= 0; /* else it counts as memory of the device, which can read it */
    info->device.device_type = (DLDeviceType)(typed ? BACKEND_managed : BACKEND_device);
    info->device.device_id = typed ? 0 : a->ordinal;
  } else if (a->type == DRIVER_memory_host) {
    info->device.device_type = (DLDeviceType)BACKEND_host;
  } else if (a->type == DRIVER_memory_device) {
    info->device.device_type = (DLDeviceType)BACKEND_device;
    info->device.device_id = a->ordinal;
    code = streams_check_memory(pointer, a, error);
  } else {
    code = device_fail(error, DLPACKGEN_BACKEND_NOT_LINEAR,
                       DEVICE_TEXT_POINTER ": a texture array or other memory of type %u, not linear memory", pointer,
                       a->type);
  }
  return code;
}

static int streams_pointer_attributes(const void* pointer, dlpackgen_pointer_attributes* info,
                                      dlpackgen_backend_error* error) {
  struct streams_attributes a;
  int code = streams_ready(error);
  if (!code) code = device_check_pointer(pointer, info, error);
  if (code) return code;
  const driver_result result = streams_query(pointer, &a);
  if (result) code = streams_query_again(pointer, &a, result, error);
  return code ? code : streams_classify(pointer, &a, info, error);
}

#endif /* DLPACKGEN_STREAMS_POINTER_H_ */
