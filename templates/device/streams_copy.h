
/* Copies between tensors. Part of the backend's C file. */
#ifndef DLPACKGEN_STREAMS_COPY_H_
#define DLPACKGEN_STREAMS_COPY_H_

#include "device_allocation.h"
#include "device_side.h"
#include "streams_order.h"
#include "streams_pointer.h"

/* The source or destination of a copy, from the driver. */
struct streams_side {
  const char* start; /* the first element */
  int device;        /* whether it is device memory, not host or managed memory */
  int pageable;      /* host memory that the driver does not know */
  int32_t ordinal;
};

/* Returns whether memory continues after the end of an allocation: addresses may be mapped to
 * several allocations, as in growing pools, and the driver reports one at a time. */
static int streams_goes_on(const char* last, const dlpackgen_pointer_attributes* info) {
  dlpackgen_pointer_attributes there = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  if (streams_pointer_attributes(last, &there, NULL)) return 0;
  return there.device.device_type == info->device.device_type && there.ordinal == info->ordinal;
}

/* Queries the driver about a tensor's memory. */
static int streams_read_side(const char* what, const DLTensor* t, size_t bytes, struct streams_side* side,
                             dlpackgen_backend_error* error) {
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  side->start = (const char*)t->data + t->byte_offset;
  int code = streams_pointer_attributes(side->start, &info, error);
  if (!code) code = device_check_declared(what, t, &info, error);
  if (code) return code;
  if (device_ends(side->start, bytes, info.base, info.bytes) && !streams_goes_on(side->start + bytes - 1, &info))
    return device_too_short(what, side->start, bytes, info.bytes, error);
  const int found = (int)info.device.device_type;
  side->device = found == BACKEND_device, side->pageable = found == kDLCPU, side->ordinal = info.ordinal;
  return DLPACKGEN_BACKEND_OK;
}

/* Queues the copy, with the device of the stream current. */
static driver_result streams_queue_copy(const struct streams_side* to, const struct streams_side* from, size_t bytes,
                                        driver_stream stream) {
  if (to->device && from->device && to->ordinal != from->ordinal)
    return streams_queue_across((void*)(uintptr_t)to->start, to->ordinal, from->start, from->ordinal, bytes, stream);
  return streams_queue((void*)(uintptr_t)to->start, from->start, bytes, stream);
}

/* Memory that the driver does not know may be freed or moved as soon as the call returns, so the
 * call waits for its copy. The legacy default stream must not be used while a blocking stream is
 * captured, because that invalidates the capture (docs/devices.md cites the vendor). */
static int streams_copy_here(const struct streams_side* to, const struct streams_side* from, size_t bytes,
                             driver_stream stream, dlpackgen_backend_error* error) {
  const int waits = to->pageable || from->pageable;
  int code = DLPACKGEN_BACKEND_OK;
  if (waits || (uintptr_t)stream == DRIVER_DEFAULT_STREAM)
    code = streams_check_no_capture("copy", stream,
                                    "and memory that is not pinned would be read at each launch; pin it", error);
  if (code) return code;
  driver_result result = streams_queue_copy(to, from, bytes, stream);
  if (!result && waits) result = streams.driver.stream_synchronize(stream);
  return result ? streams_fail(error, result, DEVICE_TEXT_COPY, (unsigned long long)bytes) : DLPACKGEN_BACKEND_OK;
}

static int streams_copy(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream,
                        dlpackgen_backend_error* error) {
  struct streams_side target, source;
  uint64_t count = 0;
  size_t bytes = 0;
  int pushed, code = streams_called(error);
  if (!code) code = device_check_copy(to, from, &count, error);
  if (!code) code = device_bytes("copy", to->dtype, count, &bytes, error);
  if (!code) code = streams_check_ordered("copy", stream, error);
  if (code || !bytes) return code;
  code = streams_read_side(DEVICE_TEXT_DESTINATION, to, bytes, &target, error);
  if (!code) code = streams_read_side(DEVICE_TEXT_SOURCE, from, bytes, &source, error);
  if (!code && target.pageable && source.pageable)
    code = device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE, DEVICE_TEXT_COPY_ON_HOST, BACKEND_TITLE);
  if (!code) code = streams_enter(stream->device.device_id, &pushed, error);
  if (code) return code;
  code = streams_copy_here(&target, &source, bytes, streams_handle(stream->handle), error);
  streams_leave(pushed);
  return code;
}

#endif /* DLPACKGEN_STREAMS_COPY_H_ */
