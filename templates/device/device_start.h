
/* Starts the driver once, and defines the check at the beginning of every call. Part of the
 * backend's C file. */
#ifndef DLPACKGEN_DEVICE_START_H_
#define DLPACKGEN_DEVICE_START_H_

#include "device_library.h"

#include <stdatomic.h>

enum device_phase { DEVICE_NEW, DEVICE_READY, DEVICE_FAILED, DEVICE_FORKED, DEVICE_ENDED };

static struct {
  atomic_int phase;
  dlpackgen_backend_error first; /* why the phase is DEVICE_FAILED */
} device_state;

/* Loads the driver and starts it; each runtime has its own function. */
static int device_load(dlpackgen_backend_error* error);

/* Opens the library; `what` is its name in errors. */
static int device_open_driver(const char* what, void** library, dlpackgen_backend_error* error) {
  char why[320] = "no library is known for this system";
  *library = device_open_one(driver_libraries, why, sizeof why);
  if (*library) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_DRIVER_NOT_FOUND,
                     "%s is not installed, or not in the library path: %s; install %s", what, why, BACKEND_PACKAGE);
}

/* Finds a function by its plain name. */
static inline void* device_find(void* library, const struct driver_function* f) {
  return device_symbol(library, f->plain);
}

/* Fills the table of functions; returns the first missing required function, or NULL. */
static const struct driver_function* device_resolve(void* library, struct driver* table,
                                                    void* (*find)(void*, const struct driver_function*)) {
  for (size_t i = 0; i < sizeof driver_functions / sizeof *driver_functions; i++) {
    const struct driver_function* f = &driver_functions[i];
    void* found = find(library, f);
    if (!found && !f->optional) return f;
    memcpy((char*)table + f->offset, &found, sizeof found);
  }
  return NULL;
}

static inline int device_is_ready(void) {
  return atomic_load_explicit(&device_state.phase, memory_order_acquire) == DEVICE_READY;
}

/* Marks a driver that stopped working; a driver that never started keeps its first error. */
static void device_close(enum device_phase why) {
  if (device_is_ready()) atomic_store(&device_state.phase, why);
}

/* Runs in a child of fork, which has neither the driver's threads nor its access to the devices. */
static void device_child(void) { device_close(DEVICE_FORKED); }

static void device_start(void) {
  const int code = device_load(&device_state.first);
  if (!code) device_at_fork(device_child);
  atomic_store_explicit(&device_state.phase, code ? DEVICE_FAILED : DEVICE_READY, memory_order_release);
}

/* Starts the driver once; later calls return the first error. */
static int device_slowly_ready(const char* title, dlpackgen_backend_error* error) {
  device_once(device_start);
  switch (atomic_load_explicit(&device_state.phase, memory_order_acquire)) {
    case DEVICE_READY: return DLPACKGEN_BACKEND_OK;
    case DEVICE_FORKED: return device_forked(title, error);
    case DEVICE_ENDED: return device_ended(title, error);
    default: return device_repeat(&device_state.first, error);
  }
}

/* `title` is the driver's name in errors. */
static inline int device_ready(const char* title, dlpackgen_backend_error* error) {
  return device_is_ready() ? DLPACKGEN_BACKEND_OK : device_slowly_ready(title, error);
}

#endif /* DLPACKGEN_DEVICE_START_H_ */
