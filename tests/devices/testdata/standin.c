/* A stand-in for libcuda.so.1: it tracks contexts, streams, events and memory, logs each call, and
 * fails on request. Device memory is malloc'd, and copies are immediate. Variants, by macro: LOOKUP
 * 2, 1, 0: the available lookup function; DRIVER: the version; MISSING: a symbol that no lookup
 * finds; STUB: every call returns 34; QUIET: no log. As NVIDIA documents, work that a capture
 * forbids breaks it, a host function may make no calls, and a reset destroys all objects of a
 * context but keeps its handle. */
#include "standin_books.h"

/* The driver's functions. */
#define NOTE(name, ...)                 \
  do {                                  \
    result r = note(name, __VA_ARGS__); \
    if (r) return r;                    \
  } while (0)
#ifdef HIP /* some device is always current */
static context current(void) { return depth ? stack[depth - 1] : &primaries[0]; }
#else
static context current(void) { return depth ? stack[depth - 1] : NULL; }
#endif
static const char* named(stream s) {
  static __thread char room[4][16];
  static __thread int turn;
  char* out = room[turn++ & 3];
#ifdef HIP /* its default stream is NULL, and is logged as CUDA's */
  const uintptr_t n = s ? (uintptr_t)s : 1;
#else
  const uintptr_t n = (uintptr_t)s;
#endif
  snprintf(out, 16, n < 3 ? "%d" : "s@%d", n < 3 ? (int)n : s->owner ? s->owner->ordinal : -1);
  return out;
}

result cuDriverGetVersion(int* v) {
  NOTE("cuDriverGetVersion", "");
  *v = DRIVER;
  return 0;
}
result cuInit(unsigned f) {
  NOTE("cuInit", "%u", f);
  initialized = 1;
  return count ? 0 : 100;
}
result cuGetErrorName(result r, const char** t) {
  (void)r;
  *t = "CUDA_ERROR_OF_TOMORROW";
  return 0;
}
result cuGetErrorString(result r, const char** t) {
  (void)r;
  *t = "something new";
  return 0;
}
result cuDeviceGetCount(int* n) {
  NOTE("cuDeviceGetCount", "");
  *n = count;
  return initialized ? 0 : 3;
}
result cuDeviceGetAttribute(int* v, unsigned a, int d) {
  NOTE("cuDeviceGetAttribute", "%u,%d", a, d);
  *v = 1;
  return 0;
}
result cuDevicePrimaryCtxRetain(context* c, int d) {
  NOTE("cuDevicePrimaryCtxRetain", "%d", d);
  active[d] = 1;
  *c = &primaries[d];
  return 0;
}
result cuDevicePrimaryCtxGetState(int d, unsigned* f, int* a) {
  if (in_host_function) return breaches++, 800;
  if (!active[d]) NOTE("cuDevicePrimaryCtxGetState", "%d", d); /* the usual result is not logged */
  *f = 0, *a = active[d];
  return 0;
}
result cuCtxGetId(context c, unsigned long long* id) {
  if (in_host_function) return breaches++, 800;
  *id = 1 + (unsigned long long)c->ordinal + 16 * (unsigned long long)epochs[c->ordinal];
  return dead(c);
}
/* For programs: the backend itself never resets. */
result cuDevicePrimaryCtxReset_v2(int d) {
  standin_reset(d, 0);
  return 0;
}
result cuCtxGetCurrent(context* c) {
  NOTE("cuCtxGetCurrent", "");
  *c = current();
  return 0;
}
result cuCtxPushCurrent_v2(context c) {
  NOTE("cuCtxPushCurrent", "%d%s", c->ordinal, c->primary ? "" : "!");
  stack[depth++] = c;
  return 0;
}
result cuCtxPopCurrent_v2(context* c) {
  NOTE("cuCtxPopCurrent", "");
  if (!depth) return 201;
  *c = stack[--depth];
  return 0;
}
result cuCtxGetDevice(int* d) {
  NOTE("cuCtxGetDevice", "");
  if (!depth) return 201;
  *d = current()->ordinal;
  return 0;
}
result cuCtxSynchronize(void) {
  NOTE("cuCtxSynchronize", "");
  return capturing || default_captured ? breaks(900) : 0;
}
result cuPointerGetAttributes(unsigned n, unsigned* which, void** values, address a) {
  NOTE("cuPointerGetAttributes", "%u", n);
  int any = 0;
  for (int i = 0; i < DEVICES; i++) any |= active[i];
  pthread_mutex_lock(&lock);
  const struct range* r = find((char*)(uintptr_t)a);
  pthread_mutex_unlock(&lock);
  if (!any || (needs_current && r && (!current() || current()->ordinal != r->ordinal))) return 201;
  for (unsigned i = 0; i < n; i++) switch (which[i]) {
      case 1: *(context*)values[i] = r ? r->owner : NULL; break;
      case 2: *(unsigned*)values[i] = r ? r->type : 0; break;
      case 8: *(unsigned*)values[i] = r ? r->managed : 0; break;
      case 9: *(int*)values[i] = r ? r->ordinal : -2; break;
      case 11: *(address*)values[i] = r ? (address)(uintptr_t)r->start : 0; break;
      case 12: *(size_t*)values[i] = r ? r->size : 0; break;
      case 13: *(unsigned*)values[i] = r ? r->mapped : 0; break;
      default: return 1;
    }
  return 0;
}
result cuMemAlloc(unsigned* p, unsigned n) {
  (void)p, (void)n;
  note("TRAP cuMemAlloc", "");
  return 1;
}
result cuMemAlloc_v2(address* p, size_t n) {
  NOTE("cuMemAlloc", "%zu", n);
  return give(p, n, 2, 0, current());
}
result cuMemFree_v2(address p) {
  NOTE("cuMemFree", "");
  return drop(p);
}
result cuMemAllocAsync(address* p, size_t n, stream s) {
  NOTE("cuMemAllocAsync", "%zu,%s", n, named(s));
  const result r = dead(current()) ? 709 : usable(s);
  return r ? r : give(p, n, 2, 0, NULL);
}
result cuMemFreeAsync(address p, stream s) {
  NOTE("cuMemFreeAsync", "%s", named(s));
  const result r = usable(s);
  return r ? r : drop(p);
}
result cuDeviceGetDefaultMemPool(void** p, int d) {
  NOTE("cuDeviceGetDefaultMemPool", "%d", d);
  *p = &primaries[d];
  return 0;
}
result cuMemPoolSetAccess(void* p, const int* a, size_t n) {
  NOTE("cuMemPoolSetAccess", "%d,%d,%d,%d", ((context)p)->ordinal, a[0], a[1], a[2]);
  return n == 1 ? 0 : 1;
}
result cuDeviceCanAccessPeer(int* can, int d, int peer) {
  NOTE("cuDeviceCanAccessPeer", "%d,%d", d, peer);
  *can = d != 2;
  return 0;
}
result cuMemAllocManaged(address* p, size_t n, unsigned f) {
  NOTE("cuMemAllocManaged", "%zu,%u", n, f);
  return give(p, n, 2, 1, current());
}
result cuMemHostAlloc(void** p, size_t n, unsigned f) {
  address a = 0;
  NOTE("cuMemHostAlloc", "%zu,%u", n, f);
  result r = give(&a, n, 1, 0, current());
  *p = (void*)(uintptr_t)a;
  return r;
}
result cuMemFreeHost(void* p) {
  NOTE("cuMemFreeHost", "");
  return drop((address)(uintptr_t)p);
}
result cuMemcpyAsync(address to, address from, size_t n, stream s) {
  NOTE("cuMemcpyAsync", "%zu,%s", n, named(s));
  const result r = usable(s);
  if (!r) memcpy((void*)(uintptr_t)to, (void*)(uintptr_t)from, n);
  return r;
}
result cuMemcpyPeerAsync(address to, context tc, address from, context fc, size_t n, stream s) {
  NOTE("cuMemcpyPeerAsync", "%d,%d,%zu,%s", tc->ordinal, fc->ordinal, n, named(s));
  memcpy((void*)(uintptr_t)to, (void*)(uintptr_t)from, n);
  return 0;
}
result cuStreamCreate(stream* s, unsigned f) {
  NOTE("cuStreamCreate", "%u", f);
  *s = calloc(1, sizeof **s);
  lose(*s);
  (*s)->owner = current(), (*s)->live = 1, (*s)->epoch = epochs[current()->ordinal], alive_streams++;
  return dead(current());
}
result cuStreamDestroy_v2(stream s) {
  NOTE("cuStreamDestroy", "");
  free(s);
  alive_streams--;
  return 0;
}
result cuStreamSynchronize(stream s) {
  NOTE("cuStreamSynchronize", "%s", named(s));
  return usable(s);
}
result cuStreamWaitEvent(stream s, event e, unsigned f) {
  NOTE("cuStreamWaitEvent", "%s,%u", named(s), f);
  const result r = usable(s);
  return r ? r : e->live ? stale(e->ordinal, e->epoch) : 400;
}
result cuStreamIsCapturing(stream s, unsigned* status) {
  NOTE("cuStreamIsCapturing", "%s", named(s));
  if ((uintptr_t)s == 1 && default_captured) return 906;
  *status = (uintptr_t)s > 2 ? s->status : 0;
  return 0;
}
result cuThreadExchangeStreamCaptureMode(unsigned* m) {
  const unsigned old = mode;
  mode = *m;
  *m = old;
  NOTE("cuThreadExchangeStreamCaptureMode", "%u", mode);
  return 0;
}
result cuStreamGetCaptureInfo(stream s, unsigned* status, uint64_t* id) {
  NOTE("cuStreamGetCaptureInfo", "%s", named(s));
  *status = s->status;
  *id = s->id;
  return 0;
}
result cuStreamGetCtx(stream s, context* c) {
  NOTE("cuStreamGetCtx", "%s", named(s));
  *c = s->owner;
  return s->live ? 0 : 400;
}
result cuEventCreate(event* e, unsigned f) {
  NOTE("cuEventCreate", "%u", f);
  *e = calloc(1, sizeof **e);
  lose(*e);
  (*e)->live = 1, (*e)->ordinal = current()->ordinal, (*e)->epoch = epochs[current()->ordinal];
  __atomic_add_fetch(&alive_events, 1, __ATOMIC_RELAXED); /* imposes no order, so that races remain visible */
  return 0;
}
result cuEventRecord(event e, stream s) {
  NOTE("cuEventRecord", "%s", named(s));
  const result r = usable(s);
  return r ? r : e->live ? 0 : 400;
}
result cuEventDestroy_v2(event e) {
  __atomic_sub_fetch(&alive_events, 1, __ATOMIC_RELAXED);
  free(e);
  NOTE("cuEventDestroy", "");
  return 0;
}

/* The lookup returns the entry point of the requested version. */
#if LOOKUP > 0
#define ROW(name, since, function) {name, since, (void (*)(void))function}
static const struct row {
  const char* name;
  int since;
  void (*function)(void);
} rows[] = {
    ROW("cuDriverGetVersion", 2020, cuDriverGetVersion),
    ROW("cuInit", 2000, cuInit),
    ROW("cuGetErrorName", 6000, cuGetErrorName),
    ROW("cuGetErrorString", 6000, cuGetErrorString),
    ROW("cuDeviceGetCount", 2000, cuDeviceGetCount),
    ROW("cuDeviceGetAttribute", 2000, cuDeviceGetAttribute),
    ROW("cuDevicePrimaryCtxRetain", 7000, cuDevicePrimaryCtxRetain),
    ROW("cuDevicePrimaryCtxGetState", 7000, cuDevicePrimaryCtxGetState),
    ROW("cuCtxGetCurrent", 4000, cuCtxGetCurrent),
    ROW("cuCtxPushCurrent", 4000, cuCtxPushCurrent_v2),
    ROW("cuCtxPopCurrent", 4000, cuCtxPopCurrent_v2),
    ROW("cuCtxGetDevice", 2000, cuCtxGetDevice),
    ROW("cuCtxSynchronize", 2000, cuCtxSynchronize),
    ROW("cuPointerGetAttributes", 7000, cuPointerGetAttributes),
    ROW("cuMemAlloc", 3020, cuMemAlloc_v2),
    ROW("cuMemAlloc", 2000, cuMemAlloc),
    ROW("cuMemFree", 3020, cuMemFree_v2),
    ROW("cuMemAllocAsync", 11020, cuMemAllocAsync),
    ROW("cuMemFreeAsync", 11020, cuMemFreeAsync),
    ROW("cuDeviceGetDefaultMemPool", 11020, cuDeviceGetDefaultMemPool),
    ROW("cuMemPoolSetAccess", 11020, cuMemPoolSetAccess),
    ROW("cuDeviceCanAccessPeer", 4000, cuDeviceCanAccessPeer),
    ROW("cuMemAllocManaged", 6000, cuMemAllocManaged),
    ROW("cuMemHostAlloc", 2020, cuMemHostAlloc),
    ROW("cuMemFreeHost", 2000, cuMemFreeHost),
    ROW("cuMemcpyAsync", 4000, cuMemcpyAsync),
    ROW("cuMemcpyPeerAsync", 4000, cuMemcpyPeerAsync),
    ROW("cuStreamCreate", 2000, cuStreamCreate),
    ROW("cuStreamDestroy", 4000, cuStreamDestroy_v2),
    ROW("cuStreamSynchronize", 2000, cuStreamSynchronize),
    ROW("cuStreamWaitEvent", 3020, cuStreamWaitEvent),
    ROW("cuStreamIsCapturing", 10000, cuStreamIsCapturing),
    ROW("cuStreamGetCaptureInfo", 10010, cuStreamGetCaptureInfo),
    ROW("cuThreadExchangeStreamCaptureMode", 10010, cuThreadExchangeStreamCaptureMode),
    ROW("cuStreamGetCtx", 9020, cuStreamGetCtx),
    ROW("cuCtxGetId", 12000, cuCtxGetId),
    ROW("cuEventCreate", 2000, cuEventCreate),
    ROW("cuEventRecord", 2000, cuEventRecord),
    ROW("cuEventDestroy", 4000, cuEventDestroy_v2),
};
static result lookup(const char* name, void** out, int version, uint64_t flags) {
  if (flags != 1) return 1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcmp(rows[i].name, name) || rows[i].since > version || rows[i].since > DRIVER || !strcmp(name, MISSING))
      continue;
    memcpy(out, &rows[i].function, sizeof *out);
    return 0;
  }
  return 500;
}
#endif
#if LOOKUP == 2
result cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t flags, unsigned* found) {
  NOTE("cuGetProcAddress_v2", "%s,%d", name, version);
  result r = lookup(name, out, version, flags);
  if (found) *found = r ? 1 : 0; /* NVIDIA's own run time queries without a version */
  return r;
}
#elif LOOKUP == 1
result cuGetProcAddress(const char* name, void** out, int version, uint64_t flags) {
  NOTE("cuGetProcAddress", "%s,%d", name, version);
  return lookup(name, out, version, flags);
}
#endif
