
/* Fills errors. Part of the backend's C file. */
#ifndef DLPACKGEN_DEVICE_ERROR_H_
#define DLPACKGEN_DEVICE_ERROR_H_

#include "device_driver.h"
#include "device_texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if defined(__GNUC__)
#define DEVICE_FORMAT(text, first) __attribute__((format(printf, text, first)))
#else
#define DEVICE_FORMAT(text, first)
#endif

DEVICE_FORMAT(4, 0)
static int device_vfail(dlpackgen_backend_error* error, int code, int32_t native, const char* format, va_list values) {
  if (error) {
    const size_t head = sizeof(BACKEND_NAME ": ") - 1;
    error->code = code;
    error->driver_code = native;
    memcpy(error->text, BACKEND_NAME ": ", head);
    vsnprintf(error->text + head, sizeof error->text - head, format, values);
  }
  return code;
}

/* Fills an error for a code and returns the code. */
DEVICE_FORMAT(3, 4)
static int device_fail(dlpackgen_backend_error* error, int code, const char* format, ...) {
  va_list values;
  va_start(values, format);
  device_vfail(error, code, 0, format, values);
  va_end(values);
  return code;
}

/* Appends to a text as much as fits. */
static void device_add(dlpackgen_backend_error* error, const char* text) {
  const size_t length = strlen(error->text);
  snprintf(error->text + length, sizeof error->text - length, "%s", text);
}

static inline int device_forked(const char* title, dlpackgen_backend_error* error) {
  return device_fail(error, DLPACKGEN_BACKEND_FORKED,
                     "%s was started before this process was forked, and works only in the parent; "
                     "start processes with spawn, or before the first use of a device",
                     title);
}

static inline int device_ended(const char* title, dlpackgen_backend_error* error) {
  return device_fail(error, DLPACKGEN_BACKEND_SHUTTING_DOWN, "the process is exiting, and %s has shut down", title);
}

/* Returns a permanent error again. */
static inline int device_repeat(const dlpackgen_backend_error* first, dlpackgen_backend_error* error) {
  if (error) *error = *first;
  return first->code;
}

#endif /* DLPACKGEN_DEVICE_ERROR_H_ */
