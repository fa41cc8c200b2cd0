
/* Looks up the names of driver results. Part of the backend's C file. */
#ifndef DLPACKGEN_DEVICE_RESULT_H_
#define DLPACKGEN_DEVICE_RESULT_H_

#include "device_error.h"

/* Returns the description's entry for a result, or NULL. */
static inline const struct driver_error* device_known(driver_result result) {
  for (size_t i = 0; i < sizeof driver_errors / sizeof *driver_errors; i++)
    if (driver_errors[i].value == result) return &driver_errors[i];
  return NULL;
}

/* Adds a result to an error: its name, its number in the driver's notation, and its meaning, which
 * may be NULL. */
static inline void device_add_result(dlpackgen_backend_error* error, const char* name, const char* number,
                                     const char* text) {
  device_add(error, ": ");
  device_add(error, name);
  device_add(error, " (");
  device_add(error, number);
  device_add(error, text ? "): " : ")");
  device_add(error, text ? text : "");
}

#endif /* DLPACKGEN_DEVICE_RESULT_H_ */
