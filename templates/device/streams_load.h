
/* Loads the driver and starts it, once. Part of the backend's C file. */
#ifndef DLPACKGEN_STREAMS_LOAD_H_
#define DLPACKGEN_STREAMS_LOAD_H_

#include "device_allocation.h"
#include "device_result.h"
#include "device_start.h"
#include "streams_rules.h"

#include <stdlib.h>

/* The state of a device. Context and stream are created when they are first needed, and kept until
 * the device is reset. */
struct streams_device {
  atomic_uintptr_t primary;   /* a context, if the driver has contexts */
  atomic_ullong id;           /* the driver's number of that context, or 0 */
  atomic_int resets;          /* the number of resets of the device, each of which destroys earlier objects */
  _Atomic(driver_stream) own; /* on which memory is freed */
  atomic_int pools;           /* 0: unknown, 1: no pools, 2: pools */
};

static struct {
  struct driver driver;
  int version, count;
  struct streams_device* devices;
} streams;

/* The functions that differ between drivers; defined below. */
static void* streams_find(void* library, const struct driver_function* f);
static void streams_describe_error(driver_result result, const char** name, const char** text);
static driver_result streams_begin(void);

/* Reports a result of the driver, preceded by the operation. */
DEVICE_FORMAT(3, 4)
static int streams_fail(dlpackgen_backend_error* error, driver_result result, const char* format, ...) {
  dlpackgen_backend_error buffer;
  va_list values;
  if (!error) error = &buffer;
  va_start(values, format);
  device_vfail(error, DLPACKGEN_BACKEND_DRIVER_ERROR, (int32_t)result, format, values);
  va_end(values);
  const struct driver_error* known = device_known(result);
  const char *name = known ? known->name : NULL, *text = known ? known->text : NULL;
  if (known) error->code = known->code;
  else streams_describe_error(result, &name, &text);
  char number[16];
  snprintf(number, sizeof number, "%u", (unsigned)result);
  device_add_result(error, name ? name : "error", number, text);
  return error->code;
}

/* Queries the version, which is possible before everything else. A toolkit's stub fails here, as in
 * all functions, and writes nothing. */
static int streams_version(void* library, dlpackgen_backend_error* error) {
  void* found = device_symbol(library, driver_functions[0].plain);
  memcpy(&streams.driver.driver_version, &found, sizeof found);
  if (!found)
    return device_fail(error, DLPACKGEN_BACKEND_DRIVER_TOO_OLD,
                       "the library does not export %s: it is not the driver, or too old; install %s",
                       driver_functions[0].plain, BACKEND_PACKAGE);
  const driver_result result = streams.driver.driver_version(&streams.version);
  if (result) return streams_fail(error, result, "the driver does not report its version");
  if (streams.version < DRIVER_OLDEST)
    return device_fail(error, DLPACKGEN_BACKEND_DRIVER_TOO_OLD,
                       "the driver has version %d, but %d or newer is required; update %s", streams.version,
                       DRIVER_OLDEST, BACKEND_PACKAGE);
  return DLPACKGEN_BACKEND_OK;
}

static int streams_resolve(void* library, dlpackgen_backend_error* error) {
  const struct driver_function* missing = device_resolve(library, &streams.driver, streams_find);
  if (!missing) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_DRIVER_TOO_OLD,
                     "the driver of version %d lacks %s of version %d; update %s", streams.version, missing->symbol,
                     missing->since, BACKEND_PACKAGE);
}

static int streams_start(dlpackgen_backend_error* error) {
  driver_result result = streams_begin();
  if (!result) result = streams.driver.device_count(&streams.count);
  if (result) return streams_fail(error, result, "the driver of version %d does not start", streams.version);
  if (streams.count < 1)
    return device_fail(error, DLPACKGEN_BACKEND_NO_DEVICE, "the driver of version %d has no device", streams.version);
  streams.devices = calloc((size_t)streams.count, sizeof *streams.devices);
  if (!streams.devices) return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, DEVICE_TEXT_NO_START_MEMORY);
  return DLPACKGEN_BACKEND_OK;
}

static int device_load(dlpackgen_backend_error* error) {
  void* library = NULL;
  int code = device_open_driver("the driver", &library, error);
  if (!code) code = streams_version(library, error);
  if (!code) code = streams_resolve(library, error);
  return code ? code : streams_start(error);
}

static inline int streams_ready(dlpackgen_backend_error* error) { return device_ready(BACKEND_TITLE, error); }

/* Set on threads that have called a function of the backend other than a deleter. They may call the
 * driver. Threads that run the host functions of a stream must not (docs/devices.md cites the
 * vendors). */
static _Thread_local int streams_caller;

/* Like streams_ready, for functions that are slow enough to record their thread. */
static inline int streams_called(dlpackgen_backend_error* error) {
  streams_caller = 1;
  return streams_ready(error);
}

static int streams_probe(dlpackgen_driver_info* info, dlpackgen_backend_error* error) {
  const int code = streams_called(error);
  return code ? code : device_return_info(streams.version, streams.count, info, error);
}

static int streams_device_count(int32_t* count, dlpackgen_backend_error* error) {
  const int code = streams_ready(error);
  return code ? code : device_return_count(streams.count, count, error);
}

#endif /* DLPACKGEN_STREAMS_LOAD_H_ */
