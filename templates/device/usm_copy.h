
/* Copies between tensors. Part of the backend's file. */
#ifndef DLPACKGEN_USM_COPY_H_
#define DLPACKGEN_USM_COPY_H_

#include "device_side.h"
#include "usm_stream.h"

/* The source or destination of a copy. */
struct usm_side {
  char* start; /* the first element */
  struct usm_memory memory;
};

/* Queues a copy on a stream, and waits for it on request. */
static int usm_move(const struct usm_side* to, const struct usm_side* from, size_t bytes,
                    const dlpackgen_stream* stream, int waits, dlpackgen_backend_error* error);

/* Queries the driver about a tensor's memory. Its declared device may be wrong, for example after
 * the memory was freed. */
static int usm_read_side(const char* what, const DLTensor* t, size_t bytes, int all_kinds, struct usm_side* side,
                         dlpackgen_backend_error* error) {
  int code = DLPACKGEN_BACKEND_OK;
  side->start = (char*)t->data + t->byte_offset;
  if ((int)t->device.device_type == BACKEND_device) code = usm_check_owner(what, t, all_kinds, &side->memory, error);
  else if (t->device.device_type != kDLCPU)
    code = device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE,
                       "%s declares device type %d; %s copies between %d and %d", what, (int)t->device.device_type,
                       BACKEND_TITLE, BACKEND_device, (int)kDLCPU);
  else code = usm_query_memory(what, side->start, 0, &side->memory, error);
  if (code) return code;
  const struct usm_memory* m = &side->memory;
  if (t->device.device_type == kDLCPU && m->kind == USM_DEVICE)
    return device_fail(error, DLPACKGEN_BACKEND_MEMORY_MISMATCH,
                       "%s declares %p as host memory, but it is memory of device %d", what, (void*)side->start,
                       (int)m->id);
  if (device_ends(side->start, bytes, m->base, m->size))
    return device_too_short(what, side->start, bytes, m->size, error);
  return DLPACKGEN_BACKEND_OK;
}

static int usm_copy_kinds(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream, int all_kinds,
                          dlpackgen_backend_error* error) {
  struct usm_side target, source;
  uint64_t count = 0;
  size_t bytes = 0;
  int code = usm_ready(error);
  if (!code) code = device_check_copy(to, from, &count, error);
  if (!code) code = device_bytes("copy", to->dtype, count, &bytes, error);
  if (!code) code = usm_check_ordered("copy", stream, error);
  if (code || !bytes) return code;
  code = usm_read_side(DEVICE_TEXT_DESTINATION, to, bytes, all_kinds, &target, error);
  if (!code) code = usm_read_side(DEVICE_TEXT_SOURCE, from, bytes, all_kinds, &source, error);
  if (code) return code;
  if (to->device.device_type == kDLCPU && from->device.device_type == kDLCPU)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE, DEVICE_TEXT_COPY_ON_HOST, BACKEND_TITLE);
  const int waits = target.memory.kind == USM_UNKNOWN || source.memory.kind == USM_UNKNOWN;
  return usm_move(&target, &source, bytes, stream, waits, error);
}

static int usm_copy(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream,
                    dlpackgen_backend_error* error) {
  return usm_copy_kinds(to, from, stream, 0, error);
}

static int usm_copy_all(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream,
                        dlpackgen_backend_error* error) {
  return usm_copy_kinds(to, from, stream, 1, error);
}

#endif /* DLPACKGEN_USM_COPY_H_ */
