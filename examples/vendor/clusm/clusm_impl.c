//go:build cgo && !nodevice

/* The part of the backend that its vendor writes: OpenCL's unified shared memory. All
 * devices of one platform are in one context, so that each reaches events of the others;
 * a queue of somebody else's must be in it too: clusm_context() gives it. */
#include "clusm_state.h"
#include "vendor_impl.h"

#include <stdlib.h>

void* clusm_context(void);

struct clusm_state clusm;

void* clusm_context(void) { return clusm.context; }

static int has_usm(const struct driver* d, driver_device device) {
  size_t size = 0;
  if (d->device_info(device, DRIVER_device_extensions, 0, NULL, &size) || !size) return 0;
  char* text = calloc(1, size + 1);
  const int found = text && !d->device_info(device, DRIVER_device_extensions, size, text, NULL) &&
                    strstr(text, "cl_intel_unified_shared_memory");
  free(text);
  return found;
}

static int find_usm(const struct driver* d, driver_platform platform) {
  static const char* const names[] = {"clDeviceMemAllocINTEL", "clSharedMemAllocINTEL", "clMemFreeINTEL",
                                      "clGetMemAllocInfoINTEL", "clEnqueueMemcpyINTEL"};
  void* found[5];
  int all = 1;
  for (int i = 0; i < 5; i++) {
    found[i] = d->extension(platform, names[i]);
    all = all && found[i];
  }
  memcpy(&clusm.usm, found, sizeof clusm.usm);
  return all;
}

/* Takes the first platform that has a device with USM, and those of its devices. */
static int choose(const struct driver* d, dlpackgen_backend_error* error) {
  driver_platform platforms[MAX_PLATFORMS];
  unsigned count = 0;
  const driver_result result = d->platforms(MAX_PLATFORMS, platforms, &count);
  if (result) return vendor_fail(error, result, "OpenCL does not start");
  for (unsigned i = 0; i < count && i < MAX_PLATFORMS && !clusm.count; i++) {
    driver_device devices[MAX_DEVICES];
    unsigned there = 0;
    if (d->devices(platforms[i], UINT32_MAX, MAX_DEVICES, devices, &there) || !find_usm(d, platforms[i])) continue;
    for (unsigned k = 0; k < there && k < MAX_DEVICES; k++)
      if (has_usm(d, devices[k])) clusm.devices[clusm.count++] = devices[k];
  }
  if (clusm.count) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_NO_DEVICE, "no device of %u platforms has %s; install %s", count,
                     "cl_intel_unified_shared_memory", BACKEND_PACKAGE);
}

static int start(const struct driver* d, dlpackgen_driver_info* info, dlpackgen_backend_error* error) {
  const int code = choose(d, error);
  driver_result result = 0;
  if (code) return code;
  clusm.driver = d;
  clusm.context = d->context(NULL, clusm.count, clusm.devices, NULL, NULL, &result);
  for (unsigned i = 0; i < clusm.count && !result; i++)
    clusm.queues[i] = d->queue(clusm.context, clusm.devices[i], NULL, &result);
  info->devices = (int32_t)clusm.count;
  return result ? vendor_fail(error, result, "a context of %u devices", clusm.count) : DLPACKGEN_BACKEND_OK;
}

/* Gives the number of a device, or -1. */
static int32_t number(driver_device device) {
  for (unsigned i = 0; i < clusm.count; i++)
    if (clusm.devices[i] == device) return (int32_t)i;
  return -1;
}

static int pointer(const struct driver* d, const void* address, dlpackgen_pointer_attributes* info,
                   dlpackgen_backend_error* error) {
  unsigned type = 0;
  driver_device device = NULL;
  (void)d;
  driver_result result = clusm.usm.info(clusm.context, address, DRIVER_alloc_type, sizeof type, &type, NULL);
  if (!result && type != DRIVER_type_device && type != DRIVER_type_shared) return DLPACKGEN_BACKEND_OK;
  if (!result) result = clusm.usm.info(clusm.context, address, DRIVER_alloc_device, sizeof device, &device, NULL);
  if (!result) result = clusm.usm.info(clusm.context, address, DRIVER_alloc_base, sizeof info->base, &info->base, NULL);
  if (!result)
    result = clusm.usm.info(clusm.context, address, DRIVER_alloc_size, sizeof info->bytes, &info->bytes, NULL);
  if (result) return vendor_fail(error, result, "pointer_attributes of %p", address);
  info->ordinal = number(device);
  info->device.device_type = (DLDeviceType)(type == DRIVER_type_device ? BACKEND_device : BACKEND_managed);
  info->device.device_id = type == DRIVER_type_device ? info->ordinal : 0;
  return DLPACKGEN_BACKEND_OK;
}

static driver_queue queue_of(const dlpackgen_stream* stream) {
  return stream->handle ? (driver_queue)stream->handle : clusm.queues[stream->device.device_id];
}

/* Waits for what a queue has so far, by an event: clMemBlockingFreeINTEL, and clFinish on
 * several threads at once, crash PoCL 7.1 where work is pending. */
static driver_result drain(const struct driver* d, driver_queue queue) {
  driver_event event = NULL;
  driver_result result = d->marker(queue, 0, NULL, &event);
  if (result) return result;
  result = d->flush(queue);
  if (!result) result = d->event_wait(1, &event);
  (void)d->event_release(event);
  return result;
}

/* The queue of the request is held until the memory is given back, and waited for then. */
static int allocate(const struct driver* d, const struct vendor_allocation* r, size_t bytes, void** data,
                    dlpackgen_backend_error* error) {
  driver_result result = 0;
  driver_device device = clusm.devices[r->device.device_id];
  if ((int)r->device.device_type == BACKEND_device)
    *data = clusm.usm.on_device(clusm.context, device, NULL, bytes, 256, &result);
  else *data = clusm.usm.shared(clusm.context, device, NULL, bytes, 256, &result);
  if (!*data) return vendor_fail(error, result, "allocate: %llu bytes", (unsigned long long)bytes);
  if (r->stream) (void)d->queue_retain(r->stream);
  return DLPACKGEN_BACKEND_OK;
}

static int deallocate(const struct driver* d, const struct vendor_allocation* r, void* data,
                      dlpackgen_backend_error* error) {
  const driver_queue queue = r->stream ? (driver_queue)r->stream : clusm.queues[r->device.device_id];
  const driver_result waited = drain(d, queue);
  if (r->stream) (void)d->queue_release(queue);
  const driver_result result = clusm.usm.free(clusm.context, data);
  return waited || result ? vendor_fail(error, waited ? waited : result, "deallocate: %p", data) : DLPACKGEN_BACKEND_OK;
}

/* A stream does its work in order. A queue that may run commands in any order is no stream:
 * a copy on it would wait for nothing, and nothing for the copy. */
static int owner(const struct driver* d, void* stream, int32_t* ordinal, dlpackgen_backend_error* error) {
  driver_context context = NULL;
  driver_device device = NULL;
  uint64_t properties = 0;
  driver_result result = d->queue_info(stream, DRIVER_queue_context, sizeof context, &context, NULL);
  if (!result) result = d->queue_info(stream, DRIVER_queue_device, sizeof device, &device, NULL);
  if (!result) result = d->queue_info(stream, DRIVER_queue_properties, sizeof properties, &properties, NULL);
  if (result) return vendor_fail(error, result, "the queue %p", stream);
  if (properties & DRIVER_out_of_order)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM, "the queue %p runs out of order; %s", stream,
                       "create it without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
  *ordinal = number(device);
  if (context == clusm.context) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM, "the queue %p is of another context; %s", stream,
                     "create it in that of clusm_context()");
}

/* Queues do nothing before they are flushed; who waits may do so in another one. */
static int mark(const struct driver* d, const dlpackgen_stream* stream, void** fresh, dlpackgen_backend_error* error) {
  driver_event event = NULL;
  driver_result result = d->marker(queue_of(stream), 0, NULL, &event);
  if (!result) result = d->flush(queue_of(stream));
  if (result && event) (void)d->event_release(event);
  *fresh = event;
  return result ? vendor_fail(error, result, "a marker in the queue %p", stream->handle) : DLPACKGEN_BACKEND_OK;
}

static int wait(const struct driver* d, const dlpackgen_stream* stream, void* awaited, dlpackgen_backend_error* error) {
  const driver_event event = awaited;
  const driver_result result = stream ? d->barrier(queue_of(stream), 1, &event, NULL) : d->event_wait(1, &event);
  return result ? vendor_fail(error, result, "waiting for a marker") : DLPACKGEN_BACKEND_OK;
}

static void delete_mark(const struct driver* d, void* old) { (void)d->event_release(old); }

static int copy(const struct driver* d, const dlpackgen_stream* stream, void* to, const void* from, size_t bytes,
                dlpackgen_backend_error* error) {
  driver_result result = clusm.usm.copy(queue_of(stream), 0, to, from, bytes, 0, NULL, NULL);
  if (!result) result = d->flush(queue_of(stream));
  return result ? vendor_fail(error, result, "copy of %llu bytes", (unsigned long long)bytes) : DLPACKGEN_BACKEND_OK;
}

static int synchronize(const struct driver* d, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  const driver_result result = drain(d, queue_of(stream));
  return result ? vendor_fail(error, result, "stream_synchronize: the queue %p", stream->handle) : DLPACKGEN_BACKEND_OK;
}

const struct vendor_impl* BACKEND_IMPL(void) {
  static const struct vendor_impl impl = {start, pointer, allocate,    deallocate, owner,
                                          mark,  wait,    delete_mark, copy,       synchronize};
  return &impl;
}
