
/* The interface of the vendor's part of a backend. The generated part loads the library and its
 * functions, checks arguments, converts stream numbers, creates tensors, records the work that
 * their deleters wait for, and repeats the first error.
 *
 * Every function returns a code of dlpackgen_backend.h, 0 for success, and fills the error, which
 * is never NULL, with device_fail or vendor_fail. After `start` has succeeded, any thread may call
 * any function, and several threads at once. `driver` has the functions of the library. A function
 * must not abort. */
#ifndef DLPACKGEN_VENDOR_IMPL_H_
#define DLPACKGEN_VENDOR_IMPL_H_

#include "device_result.h"

/* The device and the first stream of an allocation. */
struct vendor_allocation {
  DLDevice device; /* a supported device type, with the id of an existing device */
  void* stream;    /* the stream that uses the memory first; the default stream has the handle of
                    * None */
};

struct vendor_impl {
  /* Starts the driver, once per process, and returns its version and the number of devices. Not
   * called if the library or a function is missing. */
  int (*start)(const struct driver* driver, dlpackgen_driver_info* info, dlpackgen_backend_error* error);

  /* Determines the owner of the memory at an address, which may be inside an allocation. `info` is
   * initialized for memory that the driver does not know; leave it unchanged for such memory. */
  int (*pointer)(const struct driver* driver, const void* pointer, dlpackgen_pointer_attributes* info,
                 dlpackgen_backend_error* error);

  /* Allocates more than 0 bytes, which the stream of the allocation may use at once. For lack of
   * memory, returns DLPACKGEN_BACKEND_OUT_OF_MEMORY. */
  int (*allocate)(const struct driver* driver, const struct vendor_allocation* allocation, size_t bytes, void** data,
                  dlpackgen_backend_error* error);

  /* Frees memory. It is called once, whatever it returns. Work that is queued on the stream of the
   * allocation may still use the memory, and that stream may be destroyed: wait for the device,
   * unless the driver does. May be called at process exit. */
  int (*deallocate)(const struct driver* driver, const struct vendor_allocation* allocation, void* data,
                    dlpackgen_backend_error* error);

  /* Returns the device of a stream, which is not one of the numbers in the description. NULL if the
   * driver does not report it: streams are then not checked. */
  int (*owner)(const struct driver* driver, void* stream, int32_t* ordinal, dlpackgen_backend_error* error);

  /* Creates a mark, which is reached when the work that is now queued on the stream has finished.
   * Other streams may wait for the mark after the stream is destroyed. */
  int (*mark)(const struct driver* driver, const dlpackgen_stream* stream, void** mark, dlpackgen_backend_error* error);

  /* Makes a stream, or this thread if the stream is NULL, wait for a mark. */
  int (*wait)(const struct driver* driver, const dlpackgen_stream* stream, void* mark, dlpackgen_backend_error* error);

  /* Frees a mark, for which streams may still wait. */
  void (*delete_mark)(const struct driver* driver, void* mark);

  /* Queues a copy of more than 0 bytes. Source and destination are memory of the backend or of the
   * host, at least one of the backend. */
  int (*copy)(const struct driver* driver, const dlpackgen_stream* stream, void* to, const void* from, size_t bytes,
              dlpackgen_backend_error* error);

  /* Waits until the work on a stream is done. */
  int (*synchronize)(const struct driver* driver, const dlpackgen_stream* stream, dlpackgen_backend_error* error);
};

/* The name of the function that returns the vendor's part, derived from the name of the entry
 * point. */
#define VENDOR_JOINED(entry, end) entry##end
#define VENDOR_JOIN(entry, end) VENDOR_JOINED(entry, end)
#define BACKEND_IMPL VENDOR_JOIN(BACKEND_ENTRY, _impl)

#if defined(__GNUC__) && !defined(_WIN32)
__attribute__((visibility("hidden")))
#endif
const struct vendor_impl*
BACKEND_IMPL(void);

/* Fills an error with a result of the driver: the name, text and code from the description,
 * preceded by the failed operation. */
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

/* Returns the error of a function that is not implemented yet. */
static inline int vendor_unwritten(const char* function, dlpackgen_backend_error* error) {
  return device_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED, "%s: not implemented; implement it in %s_impl.c", function,
                     BACKEND_NAME);
}

#endif /* DLPACKGEN_VENDOR_IMPL_H_ */
