
/* What the vendor's part of a backend does. The rest is here: it finds the library
 * and its functions, checks what callers pass, reads the numbers of streams, makes
 * tensors, remembers what their deleters wait for, and repeats the first error.
 *
 * Every function gives a code of dlpackgen_backend.h, 0 for success, and fills the
 * error, which is never NULL, by device_fail or vendor_fail. Any thread may call any
 * of them, several at a time, once `start` has succeeded; `driver` has the functions of
 * the library. None of them aborts. */
#ifndef DLPACKGEN_VENDOR_IMPL_H_
#define DLPACKGEN_VENDOR_IMPL_H_

#include "device_result.h"

/* What memory is for. */
struct vendor_request {
  DLDevice device; /* of a type that the backend serves, with an id that a device has */
  void* stream;    /* that uses the memory first; the default stream has the handle of None */
};

struct vendor_impl {
  /* Starts the driver, once in a process, and gives its version and how many devices
   * there are. It is not called where the library or a function is missing. */
  int (*start)(const struct driver* driver, dlpackgen_driver_info* facts, dlpackgen_backend_error* error);

  /* Finds whose memory an address is in, which may lie inside of an allocation. `info`
   * comes as for memory that the driver does not know, and stays so for that. */
  int (*pointer)(const struct driver* driver, const void* pointer, dlpackgen_pointer_attributes* info,
                 dlpackgen_backend_error* error);

  /* Takes memory, of more than 0 bytes, which the stream of the request may use at
   * once; for lack of it the code is DLPACKGEN_BACKEND_OUT_OF_MEMORY. */
  int (*take)(const struct driver* driver, const struct vendor_request* request, size_t bytes, void** data,
              dlpackgen_backend_error* error);

  /* Gives memory back, once: whatever the code, it is not called again. Work that is queued
   * on the stream of the request may still use it, and that stream may be gone: so wait
   * for the device, unless the driver does. It may be called at the end of a process. */
  int (*give)(const struct driver* driver, const struct vendor_request* request, void* data,
              dlpackgen_backend_error* error);

  /* Gives the device that a stream is of, which has none of the numbers in the
   * description. NULL where the driver does not tell: streams are then not checked. */
  int (*owner)(const struct driver* driver, void* stream, int32_t* ordinal, dlpackgen_backend_error* error);

  /* Gives something that is over when the stream has done what it has so far. It may
   * be waited for after the stream is gone. */
  int (*mark)(const struct driver* driver, const dlpackgen_stream* stream, void** mark, dlpackgen_backend_error* error);

  /* Makes a stream, or this thread where it is NULL, wait for a mark. */
  int (*wait)(const struct driver* driver, const dlpackgen_stream* stream, void* mark, dlpackgen_backend_error* error);

  /* Forgets a mark, which streams may still wait for. */
  void (*forget)(const struct driver* driver, void* mark);

  /* Queues a copy of more than 0 bytes; each end is memory of the backend or of the
   * host, one at least of the backend. */
  int (*copy)(const struct driver* driver, const dlpackgen_stream* stream, void* to, const void* from, size_t bytes,
              dlpackgen_backend_error* error);

  /* Waits until the work of a stream is done. */
  int (*finish)(const struct driver* driver, const dlpackgen_stream* stream, dlpackgen_backend_error* error);
};

/* The name of the function that gives the vendor's part, which follows the entry's. */
#define VENDOR_JOINED(entry, end) entry##end
#define VENDOR_JOIN(entry, end) VENDOR_JOINED(entry, end)
#define BACKEND_IMPL VENDOR_JOIN(BACKEND_ENTRY, _impl)

#if defined(__GNUC__) && !defined(_WIN32)
__attribute__((visibility("hidden")))
#endif
const struct vendor_impl*
BACKEND_IMPL(void);

/* Fills an error with a result of the driver, after what was being done: with its name,
 * its text and the code that the description gives it. */
DEVICE_FORMAT(3, 4)
static inline int vendor_fail(dlpackgen_backend_error* error, driver_result result, const char* format, ...) {
  char number[24];
  va_list values;
  va_start(values, format);
  device_vfail(error, DLPACKGEN_BACKEND_DRIVER_ERROR, (int32_t)result, format, values);
  va_end(values);
  const struct driver_error* known = device_known(result);
  if (known) error->code = known->code;
  snprintf(number, sizeof number, "%ld", (long)result);
  device_add_result(error, known ? known->name : "error", number, known ? known->text : NULL);
  return error->code;
}

/* The error of a function that is not implemented yet. */
static inline int vendor_unwritten(const char* function, dlpackgen_backend_error* error) {
  return device_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED, "%s: not written yet; its place is in %s_impl.c", function,
                     BACKEND_NAME);
}

#endif /* DLPACKGEN_VENDOR_IMPL_H_ */
