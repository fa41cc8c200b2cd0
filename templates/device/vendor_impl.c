//go:build ignore && cgo && !nodevice

/* The vendor's part of the backend. dlpackgen created this starter file once; it is yours to edit,
 * and no later run changes it. vendor_impl.h specifies each function, and conformance/conformance.c
 * tests them. */
#include "vendor_impl.h"

static int start(const struct driver* driver, dlpackgen_driver_info* info, dlpackgen_backend_error* error) {
  (void)driver, (void)info;
  return vendor_unwritten("start", error);
}

static int pointer(const struct driver* driver, const void* address, dlpackgen_pointer_attributes* info,
                   dlpackgen_backend_error* error) {
  (void)driver, (void)address, (void)info;
  return vendor_unwritten("pointer", error);
}

static int allocate(const struct driver* driver, const struct vendor_allocation* allocation, size_t bytes, void** data,
                    dlpackgen_backend_error* error) {
  (void)driver, (void)allocation, (void)bytes, (void)data;
  return vendor_unwritten("allocate", error);
}

static int deallocate(const struct driver* driver, const struct vendor_allocation* allocation, void* data,
                      dlpackgen_backend_error* error) {
  (void)driver, (void)allocation, (void)data;
  return vendor_unwritten("deallocate", error);
}

static int mark(const struct driver* driver, const dlpackgen_stream* stream, void** fresh,
                dlpackgen_backend_error* error) {
  (void)driver, (void)stream, (void)fresh;
  return vendor_unwritten("mark", error);
}

static int wait(const struct driver* driver, const dlpackgen_stream* stream, void* awaited,
                dlpackgen_backend_error* error) {
  (void)driver, (void)stream, (void)awaited;
  return vendor_unwritten("wait", error);
}

static void delete_mark(const struct driver* driver, void* old) { (void)driver, (void)old; }

static int copy(const struct driver* driver, const dlpackgen_stream* stream, void* to, const void* from, size_t bytes,
                dlpackgen_backend_error* error) {
  (void)driver, (void)stream, (void)to, (void)from, (void)bytes;
  return vendor_unwritten("copy", error);
}

static int synchronize(const struct driver* driver, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  (void)driver, (void)stream;
  return vendor_unwritten("synchronize", error);
}

const struct vendor_impl* BACKEND_IMPL(void) {
  /* The fifth function, `owner`, is NULL if the driver does not report the device of a stream. */
  static const struct vendor_impl impl = {start, pointer, allocate,    deallocate, NULL,
                                          mark,  wait,    delete_mark, copy,       synchronize};
  return &impl;
}
