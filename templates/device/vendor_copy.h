
/* Copies between tensors. Part of the backend's C file. */
#ifndef DLPACKGEN_VENDOR_COPY_H_
#define DLPACKGEN_VENDOR_COPY_H_

#include "device_side.h"
#include "vendor_stream.h"

/* Queries the driver about a tensor's memory; `known` is set for memory of the backend, not for
 * host memory. */
static int vendor_read_side(const char* what, const DLTensor* t, size_t bytes, int* known,
                            dlpackgen_backend_error* error) {
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  const char* start = (const char*)t->data + t->byte_offset;
  int code = vendor_pointer_attributes(start, &info, error);
  if (!code) code = device_check_declared(what, t, &info, error);
  if (code) return code;
  *known = (int)info.device.device_type != kDLCPU;
  if (device_ends(start, bytes, info.base, info.bytes)) return device_too_short(what, start, bytes, info.bytes, error);
  return DLPACKGEN_BACKEND_OK;
}

/* Checks everything, and reports whether source or destination is host memory. */
static int vendor_check_copy(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream, size_t* bytes,
                             int* host, dlpackgen_backend_error* error) {
  int target = 0, source = 0;
  uint64_t count = 0;
  int code = device_check_copy(to, from, &count, error);
  if (!code) code = device_bytes("copy", to->dtype, count, bytes, error);
  if (!code) code = vendor_check_ordered("copy", stream, error);
  if (code || !*bytes) return code;
  code = vendor_read_side(DEVICE_TEXT_DESTINATION, to, *bytes, &target, error);
  if (!code) code = vendor_read_side(DEVICE_TEXT_SOURCE, from, *bytes, &source, error);
  if (!code && !target && !source)
    code = device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE, DEVICE_TEXT_COPY_ON_HOST, BACKEND_TITLE);
  *host = !target || !source;
  return code;
}

/* Host memory may be freed as soon as the call returns, so the call waits for its copy. */
static int vendor_copy(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream,
                       dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  size_t bytes = 0;
  int host = 0, code = vendor_ready(&error, &buffer);
  if (!code) code = vendor_check_copy(to, from, stream, &bytes, &host, error);
  if (code || !bytes) return code;
  const dlpackgen_stream passed = vendor_handle_of(stream);
  code = vendor.impl->copy(&vendor.driver, &passed, (char*)to->data + to->byte_offset,
                           (const char*)from->data + from->byte_offset, bytes, error);
  if (!code && host) code = vendor.impl->synchronize(&vendor.driver, &passed, error);
  return code;
}

#endif /* DLPACKGEN_VENDOR_COPY_H_ */
