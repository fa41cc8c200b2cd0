/* A driver of a fictitious vendor: two devices with malloc'd memory and immediate work. It tracks
 * its objects, logs each call, and fails on request. LESS omits a function; VERSION is its version;
 * QUIET disables the log. */
#include "../../../internal/testkit/testdata/notes.h"

#include <stdint.h>
#include <stdlib.h>

#ifndef VERSION
#define VERSION 70
#endif

enum { RANGES = 256, OK = 0, NO_MEMORY = -2, NO_STREAM = -3 };

typedef struct stream {
  int device;
} stream;
typedef struct event {
  int live;
} event;

static struct range {
  char* start;
  size_t size;
  int device, shared;
} ranges[RANGES];
static int count = 2, alive;

#define NOTE(...)                            \
  do {                                       \
    const int code = (int)note(__VA_ARGS__); \
    if (code) return code;                   \
  } while (0)

/* Settings of the tests. */
void standin_devices(int n) { count = n; }
int standin_alive(void) { return __atomic_load_n(&alive, __ATOMIC_RELAXED); }
int standin_depth(void) { return 0; }
void* standin_stream(int device, int unused) {
  stream* s = calloc(1, sizeof *s);
  (void)unused;
  s->device = device;
  return s;
}
void standin_close(void* s) { free(s); }

/* The driver's functions. */
int acmeInit(int* v, int* n) {
  NOTE("acmeInit", "");
  *v = VERSION, *n = count;
  return OK;
}
int acmeAlloc(void** out, size_t size, int device, int shared) {
  NOTE("acmeAlloc", "%zu,%d,%d", size, device, shared);
  if (size > (1ull << 40)) return NO_MEMORY;
  char* p = calloc(1, size);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < RANGES; i++) {
    if (ranges[i].start) continue;
    ranges[i] = (struct range){p, size, device, shared};
    __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
    break;
  }
  pthread_mutex_unlock(&lock);
  *out = p;
  return OK;
}
int acmeFree(void* p) {
  int found = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < RANGES; i++) {
    if (ranges[i].start != p) continue;
    ranges[i].start = NULL;
    found = 1;
  }
  pthread_mutex_unlock(&lock);
  free(p);
  __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
  NOTE("acmeFree", "");
  return found ? OK : NO_STREAM;
}
int acmeWho(const void* p, int* device, int* shared, void** base, size_t* size) {
  NOTE("acmeWho", "");
  *device = -1;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < RANGES; i++) {
    const struct range* r = &ranges[i];
    if (!r->start || (const char*)p < r->start || (const char*)p >= r->start + r->size) continue;
    *device = r->device, *shared = r->shared, *base = r->start, *size = r->size;
  }
  pthread_mutex_unlock(&lock);
  return OK;
}
static int named(const stream* s) { return s ? s->device : -1; }
int acmeStreamDevice(stream* s, int* device) {
  NOTE("acmeStreamDevice", "%d", named(s));
  *device = s->device;
  return OK;
}
int acmeRecord(stream* s, int device, event** e) {
  NOTE("acmeRecord", "%d,%d", named(s), device);
  *e = calloc(1, sizeof **e);
  (*e)->live = 1;
  __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
  return OK;
}
int acmeWait(stream* s, int device, event* e) {
  NOTE("acmeWait", "%d,%d", named(s), device);
  return e->live ? OK : NO_STREAM;
}
int acmeJoin(event* e) {
  NOTE("acmeJoin", "");
  return e->live ? OK : NO_STREAM;
}
void acmeDrop(event* e) {
  (void)note("acmeDrop", "");
  free(e);
  __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
}
int acmeCopy(void* to, const void* from, size_t size, stream* s, int device) {
  NOTE("acmeCopy", "%zu,%d,%d", size, named(s), device);
  memcpy(to, from, size);
  return OK;
}
#ifndef LESS
int acmeFinish(stream* s, int device) {
  NOTE("acmeFinish", "%d,%d", named(s), device);
  return OK;
}
#endif
