
/* The source or destination of a copy, compared with the driver's information about its memory.
 * Part of the backend's file. */
#ifndef DLPACKGEN_DEVICE_SIDE_H_
#define DLPACKGEN_DEVICE_SIDE_H_

#include "device_error.h"

/* Compares the declared device of a tensor with the device of its memory. They differ, for example,
 * after the memory was freed. Pinned and managed memory may be declared as host memory. */
static inline int device_check_declared(const char* what, const DLTensor* t, const dlpackgen_pointer_attributes* info,
                                        dlpackgen_backend_error* error) {
  const int declared = (int)t->device.device_type, found = (int)info->device.device_type;
  const int pinned = declared == kDLCPU && found >= 0 && (found == BACKEND_host || found == BACKEND_managed);
  const int other = found == BACKEND_device && t->device.device_id != info->device.device_id;
  if ((declared == found || pinned) && !other) return DLPACKGEN_BACKEND_OK;
  return device_fail(
      error, DLPACKGEN_BACKEND_MEMORY_MISMATCH,
      "%s: its declared device (%d, %d) does not match the driver's (%d, %d) for memory %p; it may have been freed",
      what, declared, (int)t->device.device_id, found, (int)info->device.device_id,
      (const void*)((const char*)t->data + t->byte_offset));
}

/* Returns whether a range extends beyond the end of its memory. A size of 0 means that the driver
 * does not report it. */
static inline int device_ends(const void* start, size_t bytes, const void* base, size_t size) {
  return size && (size_t)((const char*)start - (const char*)base) + bytes > size;
}

static inline int device_too_short(const char* what, const void* start, size_t bytes, size_t size,
                                   dlpackgen_backend_error* error) {
  return device_fail(error, DLPACKGEN_BACKEND_MEMORY_MISMATCH,
                     "%s has %llu bytes at %p, beyond the end of its memory of %llu bytes", what,
                     (unsigned long long)bytes, start, (unsigned long long)size);
}

#endif /* DLPACKGEN_DEVICE_SIDE_H_ */
