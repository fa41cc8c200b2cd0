
/* Loads the library, its functions and the vendor's part, and starts the driver, once. Part of the
 * backend's C file. */
#ifndef DLPACKGEN_VENDOR_LOAD_H_
#define DLPACKGEN_VENDOR_LOAD_H_

#include "device_allocation.h"
#include "device_start.h"
#include "vendor_impl.h"
#include "vendor_rules.h"

#include <stdlib.h>

static struct {
  struct driver driver;
  const struct vendor_impl* impl;
  dlpackgen_driver_info info;
} vendor = {.info = DLPACKGEN_DRIVER_INFO_INIT};

static int vendor_resolve(void* library, dlpackgen_backend_error* error) {
  const struct driver_function* missing = device_resolve(library, &vendor.driver, device_find);
  if (!missing) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_DRIVER_TOO_OLD, "the driver has no %s; update %s", missing->plain,
                     BACKEND_PACKAGE);
}

static int vendor_start(dlpackgen_backend_error* error) {
  vendor.impl = BACKEND_IMPL();
  const int code = vendor.impl->start(&vendor.driver, &vendor.info, error);
  if (code && error->code != code) /* which would be repeated as success */
    return device_fail(error, code, "the vendor's part failed to start without an error message");
  if (code) return code;
  if (vendor.info.version < DRIVER_OLDEST)
    return device_fail(error, DLPACKGEN_BACKEND_DRIVER_TOO_OLD,
                       "the driver has version %lld, but %d or newer is required; update %s",
                       (long long)vendor.info.version, DRIVER_OLDEST, BACKEND_PACKAGE);
  if (vendor.info.devices < 1) return device_fail(error, DLPACKGEN_BACKEND_NO_DEVICE, "the driver has no device");
  return DLPACKGEN_BACKEND_OK;
}

static int device_load(dlpackgen_backend_error* error) {
  void* library = NULL;
  int code = device_open_driver("the driver", &library, error);
  if (!code) code = vendor_resolve(library, error);
  return code ? code : vendor_start(error);
}

/* Also provides an error for the vendor's part if the caller passes none. */
static inline int vendor_ready(dlpackgen_backend_error** error, dlpackgen_backend_error* buffer) {
  if (!*error) *error = buffer;
  return device_ready(BACKEND_TITLE, *error);
}

static int vendor_probe(dlpackgen_driver_info* info, dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  const int code = vendor_ready(&error, &buffer);
  return code ? code : device_return_info(vendor.info.version, vendor.info.devices, info, error);
}

static int vendor_device_count(int32_t* count, dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  const int code = vendor_ready(&error, &buffer);
  return code ? code : device_return_count(vendor.info.devices, count, error);
}

/* The driver may not know an address in host memory. The vendor's part fills a struct of this
 * version; the caller's may be of an older one. */
static int vendor_pointer_attributes(const void* pointer, dlpackgen_pointer_attributes* info,
                                     dlpackgen_backend_error* error) {
  dlpackgen_backend_error buffer;
  int code = vendor_ready(&error, &buffer);
  if (!code) code = device_check_pointer(pointer, info, error);
  if (code) return code;
  dlpackgen_pointer_attributes found = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  code = vendor.impl->pointer(&vendor.driver, pointer, &found, error);
  if (!code) device_return_attributes(found.device, found.ordinal, found.base, found.bytes, info);
  return code;
}

#endif /* DLPACKGEN_VENDOR_LOAD_H_ */
