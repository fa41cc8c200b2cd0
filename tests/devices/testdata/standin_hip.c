/* A stand-in for libamdhip64.so: HIP's functions over the objects of CUDA's stand-in. The log has
 * CUDA's names, so that one table of cases serves both; changes of the current device are not
 * logged. DRIVER is the version: before HIP 6, types of memory have other numbers. */
#define HIP
#define LOOKUP 0
#include "standin.c"

#include <stdbool.h>

#define HIP_6 (DRIVER >= 60000000)

result hipDriverGetVersion(int* v) { return cuDriverGetVersion(v); }
result hipInit(unsigned f) {
  (void)f;
  return 101; /* HIP 5's result without a device */
}
const char* hipGetErrorName(result r) {
  (void)r;
  return "hipErrorOfTomorrow";
}
const char* hipGetErrorString(result r) {
  (void)r;
  return "something new";
}
result hipGetDeviceCount(int* n) {
  NOTE("cuInit", "");
  NOTE("cuDeviceGetCount", "");
  *n = count;
  return count ? 0 : 100;
}
result hipDeviceGetAttribute(int* v, unsigned a, int d) { return cuDeviceGetAttribute(v, a, d); }
result hipGetDevice(int* d) {
  *d = current()->ordinal;
  return 0;
}
result hipSetDevice(int d) {
  if (d < 0 || d >= DEVICES) return 101;
  for (int i = 0; i < 8; i++)
    if (!strcmp(injected[i].name, "hipSetDevice")) return injected[i].code;
  stack[0] = &primaries[d], depth = d != 0;
  return 0;
}
result hipDevicePrimaryCtxGetState(int d, unsigned* f, int* a) { return cuDevicePrimaryCtxGetState(d, f, a); }

/* Always succeeds; booleans have one byte; sizes have 32 bits; arrays are not mapped memory. */
result hipDrvPointerGetAttributes(unsigned n, unsigned* which, void** values, void* p) {
  NOTE("cuPointerGetAttributes", "%u", n);
  pthread_mutex_lock(&lock);
  const struct range* r = find(p);
  pthread_mutex_unlock(&lock);
  for (unsigned i = 0; i < n; i++) switch (which[i]) {
      case 2: *(unsigned*)values[i] = !r ? 0 : r->type == 3 ? (HIP_6 ? 10 : 2) : HIP_6 ? r->type : r->type - 1; break;
      case 8: *(bool*)values[i] = r && r->managed; break;
      case 9: *(int*)values[i] = r ? r->ordinal : -2; break;
      case 12: *(uint32_t*)values[i] = r ? (uint32_t)r->size : 0; break;
      case 13: *(bool*)values[i] = r && r->mapped && r->type != 3; break;
      default: break;
    }
  return 0;
}
result hipMemGetAddressRange(void** base, size_t* size, void* p) {
  pthread_mutex_lock(&lock);
  const struct range* r = find(p);
  pthread_mutex_unlock(&lock);
  if (!r) return 17;
  *base = r->mapped == 3 ? NULL : r->start, *size = r->size; /* registered memory has no start */
  return 0;
}
#define GIVE(call)                \
  address a = 0;                  \
  active[current()->ordinal] = 1; \
  const result r = call;          \
  *p = (void*)(uintptr_t)a;       \
  return r
result hipMalloc(void** p, size_t n) { GIVE(cuMemAlloc_v2(&a, n)); }
result hipFree(void* p) { return cuMemFree_v2((address)(uintptr_t)p); }
result hipMallocAsync(void** p, size_t n, stream s) { GIVE(cuMemAllocAsync(&a, n, s)); }
result hipFreeAsync(void* p, stream s) { return cuMemFreeAsync((address)(uintptr_t)p, s); }
result hipDeviceGetDefaultMemPool(void** p, int d) { return cuDeviceGetDefaultMemPool(p, d); }
result hipMemPoolSetAccess(void* p, const int* a, size_t n) { return cuMemPoolSetAccess(p, a, n); }
result hipDeviceCanAccessPeer(int* can, int d, int peer) { return cuDeviceCanAccessPeer(can, d, peer); }
result hipMallocManaged(void** p, size_t n, unsigned f) { GIVE(cuMemAllocManaged(&a, n, f)); }
result hipHostMalloc(void** p, size_t n, unsigned f) { return cuMemHostAlloc(p, n, f); }
result hipHostFree(void* p) { return cuMemFreeHost(p); }
result hipMemcpyAsync(void* to, const void* from, size_t n, unsigned kind, stream s) {
  if (kind != 4) return 21;
  return cuMemcpyAsync((address)(uintptr_t)to, (address)(uintptr_t)from, n, s);
}
result hipMemcpyPeerAsync(void* to, int td, const void* from, int fd, size_t n, stream s) {
  return cuMemcpyPeerAsync((address)(uintptr_t)to, &primaries[td], (address)(uintptr_t)from, &primaries[fd], n, s);
}
result hipStreamCreateWithFlags(stream* s, unsigned f) {
  active[current()->ordinal] = 1;
  return cuStreamCreate(s, f);
}
result hipStreamDestroy(stream s) { return cuStreamDestroy_v2(s); }
result hipStreamSynchronize(stream s) { return cuStreamSynchronize(s); }
result hipStreamWaitEvent(stream s, event e, unsigned f) { return cuStreamWaitEvent(s, e, f); }
result hipStreamIsCapturing(stream s, unsigned* status) {
  NOTE("cuStreamIsCapturing", "%s", named(s));
  if (!s && default_captured) return 906;
  *status = (uintptr_t)s > 2 ? s->status : 0;
  return 0;
}
result hipStreamGetCaptureInfo(stream s, unsigned* status, unsigned long long* id) {
  uint64_t found = 0;
  const result r = cuStreamGetCaptureInfo(s, status, &found);
  *id = found;
  return r;
}
result hipThreadExchangeStreamCaptureMode(unsigned* m) { return cuThreadExchangeStreamCaptureMode(m); }
int hipGetStreamDeviceId(stream s) {
  if ((uintptr_t)s < 3) return current()->ordinal; /* the calling thread's own stream has a number too */
  if (note("cuStreamGetCtx", "%s", named(s)) || !s->live) return -1;
  return s->owner->ordinal;
}
result hipEventCreateWithFlags(event* e, unsigned f) { return cuEventCreate(e, f); }
result hipEventRecord(event e, stream s) { return cuEventRecord(e, s); }
result hipEventDestroy(event e) { return cuEventDestroy_v2(e); }
