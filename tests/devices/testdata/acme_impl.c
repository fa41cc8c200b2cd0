/* The vendor-written part of acme's backend. */
#include "vendor_impl.h"

static int start(const struct driver* driver, dlpackgen_driver_info* info, dlpackgen_backend_error* error) {
  int version = 0, devices = 0;
  const driver_result result = driver->init(&version, &devices);
  info->version = version, info->devices = devices;
  return result ? vendor_fail(error, result, "the driver does not start") : DLPACKGEN_BACKEND_OK;
}

static int pointer(const struct driver* driver, const void* address, dlpackgen_pointer_attributes* info,
                   dlpackgen_backend_error* error) {
  int device = -1, shared = 0;
  void* base = NULL;
  size_t size = 0;
  const driver_result result = driver->who(address, &device, &shared, &base, &size);
  if (result) return vendor_fail(error, result, "pointer_attributes of %p", address);
  if (device < 0) return DLPACKGEN_BACKEND_OK;
  const DLDevice place = {(DLDeviceType)(shared ? BACKEND_managed : BACKEND_device), shared ? 0 : device};
  info->device = place, info->ordinal = device, info->base = base, info->bytes = size;
  return DLPACKGEN_BACKEND_OK;
}

static int allocate(const struct driver* driver, const struct vendor_allocation* r, size_t bytes, void** data,
                    dlpackgen_backend_error* error) {
  const driver_result result =
      driver->alloc(data, bytes, r->device.device_id, (int)r->device.device_type == BACKEND_managed);
  return result ? vendor_fail(error, result, "allocate: %zu bytes", bytes) : DLPACKGEN_BACKEND_OK;
}

static int deallocate(const struct driver* driver, const struct vendor_allocation* r, void* data,
                      dlpackgen_backend_error* error) {
  (void)r;
  const driver_result result = driver->release(data);
  return result ? vendor_fail(error, result, "deallocate: %p", data) : DLPACKGEN_BACKEND_OK;
}

static int owner(const struct driver* driver, void* stream, int32_t* ordinal, dlpackgen_backend_error* error) {
  int device = 0;
  const driver_result result = driver->stream_device(stream, &device);
  *ordinal = device;
  return result ? vendor_fail(error, result, "the stream %p", stream) : DLPACKGEN_BACKEND_OK;
}

static int mark(const struct driver* driver, const dlpackgen_stream* s, void** fresh, dlpackgen_backend_error* error) {
  driver_event event = NULL;
  const driver_result result = driver->record(s->handle, s->device.device_id, &event);
  *fresh = event;
  return result ? vendor_fail(error, result, "an event") : DLPACKGEN_BACKEND_OK;
}

static int wait(const struct driver* driver, const dlpackgen_stream* s, void* event, dlpackgen_backend_error* error) {
  const driver_result result = s ? driver->wait(s->handle, s->device.device_id, event) : driver->join(event);
  return result ? vendor_fail(error, result, "waiting") : DLPACKGEN_BACKEND_OK;
}

static void delete_mark(const struct driver* driver, void* event) { (void)driver->drop(event); }

static int copy(const struct driver* driver, const dlpackgen_stream* s, void* to, const void* from, size_t bytes,
                dlpackgen_backend_error* error) {
  const driver_result result = driver->copy(to, from, bytes, s->handle, s->device.device_id);
  return result ? vendor_fail(error, result, "copy of %zu bytes", bytes) : DLPACKGEN_BACKEND_OK;
}

static int synchronize(const struct driver* driver, const dlpackgen_stream* s, dlpackgen_backend_error* error) {
  const driver_result result = driver->finish(s->handle, s->device.device_id);
  return result ? vendor_fail(error, result, "stream_synchronize") : DLPACKGEN_BACKEND_OK;
}

const struct vendor_impl* BACKEND_IMPL(void) {
  static const struct vendor_impl impl = {start, pointer, allocate,    deallocate, owner,
                                          mark,  wait,    delete_mark, copy,       synchronize};
  return &impl;
}
