/* The objects of CUDA's stand-in: contexts, streams, events and memory; and the settings of
 * tests. */
static _Thread_local int in_host_function;
static int breaches, broken;
#ifdef STUB
#define NOTES_FIRST(name) return 34
#else
#define NOTES_FIRST(name) \
  if (in_host_function) return breaches++, 800
#endif
#include "../../../internal/testkit/testdata/notes.h"

#include <stdint.h>
#include <stdlib.h>

#ifndef LOOKUP
#define LOOKUP 2
#endif
#ifndef DRIVER
#define DRIVER 13000
#endif
#ifndef MISSING
#define MISSING ""
#endif

typedef unsigned int result;
typedef struct context {
  int ordinal, primary;
}* context;
typedef struct stream {
  context owner;
  unsigned status;
  uint64_t id;
  int live, epoch;
}* stream;
typedef struct event {
  int live, ordinal, epoch;
}* event;
typedef unsigned long long address;

enum { DEVICES = 3, RANGES = 256 };
static struct context primaries[DEVICES] = {{0, 1}, {1, 1}, {2, 1}}, foreigners[DEVICES] = {{0, 0}, {1, 0}, {2, 0}};
static _Atomic int active[DEVICES], epochs[DEVICES]; /* the number of resets of a device */
static int capturing;                                /* the number of streams */
static struct range {
  char* start;
  size_t size;
  unsigned type, managed, mapped;
  int ordinal;
  context owner;
} ranges[RANGES];
static _Atomic int alive_streams;
static int initialized, count = DEVICES, default_captured, alive_events, alive_memory, needs_current;
static __thread context stack[16];
static __thread int depth;
static __thread unsigned mode; /* of captures: global */

/* Settings of the tests. */
void standin_devices(int n) { count = n; }
void standin_needs_current(int on) { needs_current = on; }
void standin_default_captured(int on) { default_captured = on; }
int standin_alive(void) {
  pthread_mutex_lock(&lock);
  const int memory = alive_memory;
  pthread_mutex_unlock(&lock);
  return __atomic_load_n(&alive_events, __ATOMIC_RELAXED) + memory;
}
int standin_depth(void) { return depth + 100 * (int)mode; }
void* standin_stream(int ordinal, int foreign) {
  stream s = calloc(1, sizeof *s);
  s->owner = foreign ? &foreigners[ordinal] : &primaries[ordinal];
  s->live = 1, s->epoch = epochs[ordinal];
  if (!foreign) active[ordinal] = 1;
  return s;
}
void standin_capture(void* s, unsigned status, uint64_t id) {
  capturing += (status == 1) - (((stream)s)->status == 1);
  ((stream)s)->status = status, ((stream)s)->id = id;
}
int standin_broken(void) { return broken; }
int standin_breaches(void) { return breaches; }
/* Runs a host function like cuLaunchHostFunc: on a thread that may make no calls. */
static struct {
  void (*run)(void*);
  void* data;
} host_function;
static void* host_thread(void* nothing) {
  in_host_function = 1;
  host_function.run(host_function.data);
  return nothing;
}
void standin_host_function(void (*run)(void*), void* data) {
  pthread_t thread;
  host_function.run = run, host_function.data = data;
  if (!pthread_create(&thread, NULL, host_thread, NULL)) pthread_join(thread, NULL);
}
void standin_close(void* s) { free(s); }

static result add(char* start, size_t size, unsigned type, unsigned managed, unsigned mapped, int ordinal,
                  context owner) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < RANGES; i++) {
    if (ranges[i].start) continue;
    ranges[i] = (struct range){start, size, type, managed, mapped, ordinal, owner};
    pthread_mutex_unlock(&lock);
    return 0;
  }
  pthread_mutex_unlock(&lock);
  return 2;
}
static struct range* find(const char* p) {
  for (int i = 0; i < RANGES; i++)
    if (ranges[i].start && p >= ranges[i].start && p < ranges[i].start + ranges[i].size) return &ranges[i];
  return NULL;
}
/* Memory of each kind that the backend itself does not allocate. */
void* standin_make(const char* kind, int ordinal) {
  const int split = !strcmp(kind, "split"); /* 128 bytes, mapped from two allocations */
  char* p = calloc(1, split ? 128 : 64);
  const int foreign = !strcmp(kind, "foreign"), pooled = !strcmp(kind, "pooled"), array = !strcmp(kind, "array");
  const int bare = !strcmp(kind, "unmapped");
  const unsigned mapped = !bare && strcmp(kind, "plain"); /* irrelevant for plain memory */
  if (!foreign) active[ordinal] = 1;
  if (!strcmp(kind, "registered")) add(p, 64, 1, 0, 3, ordinal, &primaries[ordinal]);
  else if (!strcmp(kind, "pinned")) add(p, 64, 1, 0, 1, ordinal, &primaries[ordinal]);
  else if (!strcmp(kind, "managed")) add(p, 64, 2, 1, 1, ordinal, &primaries[ordinal]);
  else if (!strcmp(kind, "managedhost")) add(p, 64, 1, 1, 1, ordinal, &primaries[ordinal]);
  else if (split) add(p, 64, 2, 0, 1, ordinal, NULL), add(p + 64, 64, 2, 0, 1, ordinal, NULL);
  else if (strcmp(kind, "unknown"))
    add(p, 64, array ? 3 : 2, 0, mapped, ordinal,
        pooled || bare ? NULL
        : foreign      ? &foreigners[ordinal]
                       : &primaries[ordinal]);
  return p;
}
/* Objects that a reset destroys stay reachable here, because they are not leaks of the backend. */
static void* volatile lost[256];
static void lose(void* what) {
#ifdef QUIET
  (void)what, (void)lost;
#else
  static int count;
  lost[count++ % 256] = what;
#endif
}
/* The backend's memory is destroyed with its context. */
void standin_reset(int ordinal, int again) {
  for (int i = 0; i < RANGES; i++) {
    if (!ranges[i].start || ranges[i].ordinal != ordinal) continue;
    lose(ranges[i].start); /* instead of free(), so that the address is not reused */
    ranges[i].start = NULL;
    alive_memory--;
  }
  epochs[ordinal]++;
  active[ordinal] = again; /* by another user, meanwhile */
}
/* A call in a context that was reset and not retained since. */
static result dead(context c) { return c && c->primary && !active[c->ordinal] ? 709 : 0; }
static result stale(int ordinal, int epoch) {
  if (epoch == epochs[ordinal]) return 0;
  note("STALE", "%d", ordinal);
  return 400;
}
/* A call that a capture forbids breaks it. */
static result breaks(result r) { return broken++, r; }
static result legacy(stream s) {
#ifdef HIP
  return !s && default_captured ? breaks(906) : 0;
#else
  return (uintptr_t)s == 1 && default_captured ? breaks(906) : 0;
#endif
}
static result usable(stream s) {
  const result r = legacy(s);
  return r || (uintptr_t)s < 3 ? r : stale(s->owner->ordinal, s->epoch);
}
static result drop(address a) {
  pthread_mutex_lock(&lock);
  struct range* r = find((char*)(uintptr_t)a);
  if (r && r->start == (char*)(uintptr_t)a) {
    free(r->start);
    r->start = NULL;
    alive_memory--;
    r = (struct range*)1;
  }
  pthread_mutex_unlock(&lock);
  return r == (struct range*)1 ? 0 : 1;
}
static result give(address* out, size_t size, unsigned type, unsigned managed, context owner) {
  if (size > (1ull << 40)) return 2;
  char* p = calloc(1, size);
  const int ordinal = depth ? stack[depth - 1]->ordinal : 0;
  *out = (address)(uintptr_t)p;
  pthread_mutex_lock(&lock);
  alive_memory++;
  pthread_mutex_unlock(&lock);
  return add(p, size, type, managed, 1, ordinal, owner);
}
