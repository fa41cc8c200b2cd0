/* A tensor on an OpenCL device, filled on the backend's queue and read on one of this
 * program's own, after it. Prints what arrived. */
#include "clusm/dlpackgen_clusm.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void* clusm_context(void);

static dlpackgen_backend_error error;

static void must(int code) {
  if (!code) return;
  fprintf(stderr, "%s\n", error.text);
  exit(1);
}

/* A queue of the first device, as a program with kernels has one, in order or not. */
static void* own_queue(uint64_t out_of_order) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW), *devices[64] = {NULL};
  if (!library) exit(2);
  int (*info)(void*, unsigned, size_t, void*, size_t*) = NULL;
  void* (*create)(void*, void*, const uint64_t*, int*) = NULL;
  *(void**)&info = dlsym(library, "clGetContextInfo");
  *(void**)&create = dlsym(library, "clCreateCommandQueueWithProperties");
  const unsigned context_devices = 0x1081;
  const uint64_t properties[] = {0x1093, out_of_order, 0}; /* CL_QUEUE_PROPERTIES */
  if (info(clusm_context(), context_devices, sizeof devices, devices, NULL)) exit(2);
  return create(clusm_context(), devices[0], properties, NULL);
}

int main(void) {
  const dlpackgen_backend* cl = dlpackgen_clusm();
  const DLDevice device = {(DLDeviceType)cl->device_type, 0};
  int64_t shape[] = {2, 3};
  int32_t out[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
  const DLDataType int32 = {kDLInt, 32, 1};
  const dlpackgen_allocation request = {sizeof request, device, int32, 2, shape, NULL, 0};
  DLTensor here = {out, {kDLCPU, 0}, 2, int32, shape, NULL, 0}, there = here;
  dlpackgen_stream first, own;
  DLManagedTensorVersioned* tensor = NULL;
  there.data = back;

  must(cl->allocate(&request, &tensor, &error));
  must(cl->stream_from_dlpack(device, NULL, &first, &error));
  const int64_t number = (int64_t)(intptr_t)own_queue(0); /* what __dlpack__(stream=...) takes */
  must(cl->stream_from_dlpack(device, &number, &own, &error));
  const dlpackgen_stream loose = {own_queue(1), device, 0, 0};
  if (loose.handle && cl->stream_synchronize(&loose, &error) != DLPACKGEN_BACKEND_INVALID_STREAM) {
    fprintf(stderr, "a queue out of order was taken for a stream\n");
    return 1;
  }
  must(cl->copy(&tensor->dl_tensor, &here, &first, &error));
  must(cl->stream_wait(&own, &first, &error));
  must(cl->copy(&there, &tensor->dl_tensor, &own, &error));
  must(cl->keep_until(tensor, &own, &error));
  tensor->deleter(tensor);
  for (int i = 0; i < 6; i++) printf("%" PRId32 "%c", back[i], i < 5 ? ' ' : '\n');
  return 0;
}
