/* The hooks of conformance.c over OpenCL: queues of the backend's context, and user events,
 * which the host completes, as the work that is held. */
#include "../clusm_state.h"
#include "conformance_hooks.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Finds a function that the backend itself has no use for. */
static void* cl_function(const char* name) {
  static void* library;
  if (!library) library = dlopen("libOpenCL.so.1", RTLD_NOW);
  void* found = library ? dlsym(library, name) : NULL;
  if (!found) abort();
  return found;
}

static int cl_open(int32_t device, void** stream) {
  int result = 0;
  *stream = clusm.driver->queue(clusm.context, clusm.devices[device], NULL, &result);
  return result;
}

static void cl_close(int32_t device, void* stream) {
  (void)device;
  (void)clusm.driver->queue_release(stream);
}

static int cl_hold(int32_t device, void* stream, void** gate) {
  driver_event (*create)(driver_context, int*) = NULL;
  const driver_queue queue = stream ? (driver_queue)stream : clusm.queues[device];
  int result = 0;
  *(void**)&create = cl_function("clCreateUserEvent");
  const driver_event event = create(clusm.context, &result);
  if (!result) result = clusm.driver->barrier(queue, 1, &event, NULL);
  if (!result) result = clusm.driver->flush(queue);
  *gate = event;
  return result;
}

static void cl_release(void* gate, int failed) {
  int (*set)(driver_event, int) = NULL;
  *(void**)&set = cl_function("clSetUserEventStatus");
  if (set(gate, failed ? -5 : 0) || clusm.driver->event_release(gate)) abort();
}

/* Allocations and queues retain their context, and events their queue. */
static int64_t cl_live(void) {
  int (*info)(driver_context, unsigned, size_t, void*, size_t*) = NULL;
  const unsigned reference_count = 0x1080;
  unsigned count = 0;
  *(void**)&info = cl_function("clGetContextInfo");
  if (info(clusm.context, reference_count, sizeof count, &count, NULL)) abort();
  return count;
}

/* A queue that may run its commands in any order. */
static int cl_disordered(int32_t device, void** stream) {
  const uint64_t properties[] = {DRIVER_queue_properties, DRIVER_out_of_order, 0};
  int result = 0;
  *stream = clusm.driver->queue(clusm.context, clusm.devices[device], properties, &result);
  return result;
}

/* A queue of another context. */
static int cl_foreign(int32_t device, int number, void** stream) {
  int (*release)(driver_context) = NULL;
  int result = 0;
  if (number == 1) return cl_disordered(device, stream);
  if (number > 1) return CONFORMANCE_NO_MORE;
  *(void**)&release = cl_function("clReleaseContext");
  const driver_context other = clusm.driver->context(NULL, 1, &clusm.devices[device], NULL, NULL, &result);
  if (!result) *stream = clusm.driver->queue(other, clusm.devices[device], NULL, &result);
  if (other) (void)release(other); /* the queue retains it */
  return result;
}

/* What the driver returns while it rejects. */
enum { REJECTED = -30 };

static void* DRIVER_CALL no_memory(driver_context c, driver_device d, const uint64_t* p, size_t n, unsigned a, int* e) {
  (void)c, (void)d, (void)p, (void)n, (void)a;
  *e = REJECTED;
  return NULL;
}

static int DRIVER_CALL no_info(driver_context c, const void* p, unsigned which, size_t n, void* value, size_t* size) {
  (void)c, (void)p, (void)which, (void)n, (void)value, (void)size;
  return REJECTED;
}

static int DRIVER_CALL no_copy(driver_queue q, unsigned wait, void* to, const void* from, size_t n, unsigned count,
                               const driver_event* waits, driver_event* event) {
  (void)q, (void)wait, (void)to, (void)from, (void)n, (void)count, (void)waits, (void)event;
  return REJECTED;
}

static int DRIVER_CALL no_queue_info(driver_queue q, unsigned which, size_t n, void* value, size_t* size) {
  (void)q, (void)which, (void)n, (void)value, (void)size;
  return REJECTED;
}

static int DRIVER_CALL no_event(driver_queue q, unsigned count, const driver_event* waits, driver_event* event) {
  (void)q, (void)count, (void)waits, (void)event;
  return REJECTED;
}

/* Puts failing functions in the place of the platform's. */
static int cl_reject(enum conformance_call call) {
  static struct driver driver;
  static struct usm usm;
  struct driver* used = (struct driver*)(uintptr_t)clusm.driver;
  if (!usm.copy) driver = *used, usm = clusm.usm;
  *used = driver, clusm.usm = usm;
  switch (call) {
    case CONFORMANCE_NOTHING: break;
    case CONFORMANCE_POINTER: clusm.usm.info = no_info; break;
    case CONFORMANCE_ALLOCATE: clusm.usm.on_device = no_memory; break;
    case CONFORMANCE_OWNER: used->queue_info = no_queue_info; break;
    case CONFORMANCE_MARK:
    case CONFORMANCE_SYNCHRONIZE: used->marker = no_event; break;
    case CONFORMANCE_WAIT: used->barrier = no_event; break;
    case CONFORMANCE_COPY: clusm.usm.copy = no_copy; break;
  }
  return 0;
}

static const struct conformance_hooks conformance_hooks = {
    cl_open, cl_close, cl_hold, cl_release, cl_live, cl_foreign, cl_reject, 1, 1, 0,
};
