/* A stand-in for libze_loader.so.1: it tracks contexts, command lists, events and memory, logs each
 * call, and fails on request. It has two drivers with GPUs, of two cards with two tiles each and of
 * one card, and a third with a processor of another kind. Memory is malloc'd, copies are immediate,
 * and memory of one context is unknown to others, as Level Zero documents. Variants, by macro:
 * START: the result of zeInit; VERSION: of the drivers; NOCONTEXT: without a default context;
 * NOGPU: without GPUs; OLD: the number of the driver that is too old; BROKEN: of one that does not
 * list its devices; MUTE: of one that does not report its version; LOST: of a card that does not
 * report its properties; QUIET: no log. */
#include "levelzero_types.h"

static int ended;
#define OUT __attribute__((visibility("default")))
#define NOTES_FIRST(name) \
  if (ended) fprintf(stderr, "%s after the end\n", name)
#include "../../../internal/testkit/testdata/notes.h"

#include <stdlib.h>

#ifndef VERSION
#define VERSION 65551
#endif
#ifndef START
#define START 0
#endif
#ifndef OLD
#define OLD 2
#endif
#ifndef BROKEN
#define BROKEN -1
#endif
#ifndef MUTE
#define MUTE -1
#endif
#ifndef LOST
#define LOST -1
#endif

typedef unsigned int result;
enum { INVALID = 0x78000004, TOO_LARGE = 0x78000009, NOT_READY = 1 };

struct _ze_driver_handle_t {
  int first, count;
};
struct _ze_device_handle_t {
  int driver, card, tile, gpu;
};
struct _ze_context_handle_t {
  int driver;
};
struct _ze_command_list_handle_t {
  driver_context context;
  driver_device device;
  int immediate, held;
  unsigned flags;
  char name[8];
  driver_event signals[64];
  int queued;
};
struct _ze_event_pool_handle_t {
  int count;
};
struct _ze_event_handle_t {
  int signalled;
  char name[8];
  driver_pool pool;
};

static struct _ze_driver_handle_t drivers[3] = {{0, 2}, {2, 1}, {3, 1}};
static struct _ze_device_handle_t devices[4][3] = {{{0, 0, -1, 1}, {0, 0, 0, 1}, {0, 0, 1, 1}},
                                                   {{0, 1, -1, 1}, {0, 1, 0, 1}, {0, 1, 1, 1}},
                                                   {{1, 2, -1, 1}},
                                                   {{2, 3, -1, 0}}};
static struct _ze_context_handle_t defaults[3] = {{0}, {1}, {2}};
static struct range {
  char* start;
  size_t size;
  int kind;
  driver_context context;
  driver_device device;
} ranges[256];
static int alive_memory, lists, events, hold_all;

#define NOTE(...)                            \
  do {                                       \
    const result noted_ = note(__VA_ARGS__); \
    if (noted_) return noted_;               \
  } while (0)

/* Settings of the tests. */
OUT int standin_alive(void) { return __atomic_load_n(&alive_memory, __ATOMIC_RELAXED); }
static void work(driver_list list) {
  for (int i = 0; i < list->queued; i++) list->signals[i]->signalled = 1;
  list->queued = 0;
}
/* A held list does no work until it is released. */
OUT void standin_hold(const char* handle, int on) {
  driver_list list = (driver_list)(uintptr_t)handle;
  list->held = on;
  if (!on) work(list);
}
OUT void standin_hold_all(int on) { hold_all = on; }

static char* tile(driver_device d) {
#ifdef QUIET
  return (void)d, "";
#else
  static char text[4][16];
  static unsigned turn;
  char* out = text[__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % 4];
  snprintf(out, 16, d->tile < 0 ? "%d" : "%d.%d", d->card, d->tile);
  return out;
#endif
}
static struct range* find(driver_context context, const char* p) {
  for (int i = 0; i < 256; i++)
    if (ranges[i].start && ranges[i].context == context && p >= ranges[i].start && p < ranges[i].start + ranges[i].size)
      return &ranges[i];
  return NULL;
}
static result add(driver_context context, size_t size, int kind, driver_device device, void** out) {
  if (!size || size > 1ul << 32) return TOO_LARGE;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 256; i++) {
    if (ranges[i].start) continue;
    ranges[i] = (struct range){malloc(size), size, kind, context, device};
    *out = ranges[i].start;
    alive_memory++;
    pthread_mutex_unlock(&lock);
    return 0;
  }
  pthread_mutex_unlock(&lock);
  return 0x70000003;
}

OUT result zeInit(unsigned flags) {
  NOTE("zeInit", "%u", flags);
  return START;
}
OUT result zeDriverGet(uint32_t* count, driver_driver* out) {
  NOTE("zeDriverGet", "");
  for (uint32_t i = 0; i < 3 && i < *count; i++) out[i] = &drivers[i];
  *count = 3;
  return 0;
}
OUT result zeDriverGetApiVersion(driver_driver d, unsigned* version) {
  NOTE("zeDriverGetApiVersion", "%d", (int)(d - drivers));
  if (d - drivers == MUTE) return 0x70000001;
  *version = d == &drivers[OLD] ? 65540 : VERSION;
  return 0;
}
OUT driver_context zeDriverGetDefaultContext(driver_driver d) {
  note("zeDriverGetDefaultContext", "%d", (int)(d - drivers));
#ifdef NOCONTEXT
  return NULL;
#endif
  return &defaults[d - drivers];
}
OUT result zeDeviceGet(driver_driver d, uint32_t* count, driver_device* out) {
  NOTE("zeDeviceGet", "%d", (int)(d - drivers));
  if (d - drivers == BROKEN) return 0x70000001;
  for (int i = 0; i < d->count; i++) out[i] = &devices[d->first + i][0];
  *count = (uint32_t)d->count;
  return 0;
}
OUT result zeDeviceGetSubDevices(driver_device d, uint32_t* count, driver_device* out) {
  NOTE("zeDeviceGetSubDevices", "%s", tile(d));
  *count = d->tile < 0 && d->card < 2 ? 2 : 0;
  for (uint32_t i = 0; i < *count; i++) out[i] = &devices[d->card][i + 1];
  return 0;
}
OUT result zeDeviceGetRootDevice(driver_device d, driver_device* out) {
  *out = d->tile < 0 ? NULL : &devices[d->card][0];
  return 0;
}
OUT result zeDeviceGetProperties(driver_device d, driver_properties* properties) {
  struct levelzero_properties* p = (void*)properties;
  NOTE("zeDeviceGetProperties", "%s", tile(d));
  if (p->type != 3 || p->next) return INVALID;
  if (d->card == LOST) return 0x70000001;
#ifdef NOGPU
  p->kind = 5;
#else
  p->kind = d->gpu ? 1 : 5;
#endif
  return 0;
}
/* Card 0 can access card 1; there is no other peer access. */
OUT result zeDeviceCanAccessPeer(driver_device d, driver_device peer, uint8_t* can) {
  NOTE("zeDeviceCanAccessPeer", "%s,%s", tile(d), tile(peer));
  *can = d->card == 0 && peer->card == 1;
  return 0;
}
OUT result zeContextCreate(driver_driver d, const void* desc, driver_context* out) {
  (void)desc;
  *out = calloc(1, sizeof **out);
  (*out)->driver = (int)(d - drivers);
  return 0;
}
OUT result zeMemAllocDevice(driver_context c, const driver_memory_desc* desc, size_t size, size_t alignment,
                            driver_device d, void** out) {
  const struct levelzero_memory_desc* wanted = (const void*)desc;
  NOTE("zeMemAllocDevice", "%zu,%zu,%s", size, alignment, tile(d));
  if (wanted->type != 0x15 || wanted->next || c->driver != d->driver) return INVALID;
  return add(c, size, 2, d, out);
}
OUT result zeMemAllocShared(driver_context c, const void* device, const void* host, size_t size, size_t alignment,
                            driver_device d, void** out) {
  (void)device, (void)host, (void)alignment;
  return add(c, size, 3, d, out);
}
OUT result zeMemAllocHost(driver_context c, const void* host, size_t size, size_t alignment, void** out) {
  (void)host, (void)alignment;
  return add(c, size, 1, NULL, out);
}
static result give_back(driver_context c, char* p) {
  pthread_mutex_lock(&lock);
  struct range* r = find(c, p);
  const int ours = r && r->start == p;
  if (ours) free(r->start), r->start = NULL, alive_memory--;
  pthread_mutex_unlock(&lock);
  return ours ? 0 : INVALID;
}
OUT result zeMemFree(driver_context c, void* p) { return give_back(c, p); }
OUT result zeMemFreeExt(driver_context c, const driver_free_desc* desc, void* p) {
  const struct levelzero_free_desc* how = (const void*)desc;
  NOTE("zeMemFreeExt", "%u", how->policy);
  return how->type != 0x1000a || how->next ? INVALID : give_back(c, p);
}
OUT result zeMemGetAllocProperties(driver_context c, const void* p, driver_allocation* properties,
                                   driver_device* device) {
  struct levelzero_allocation* out = (void*)properties;
  NOTE("zeMemGetAllocProperties", "%d", c->driver);
  if (out->type != 0x17 || out->next) return INVALID;
  pthread_mutex_lock(&lock);
  const struct range* r = find(c, p);
  out->kind = r ? r->kind : 0;
  *device = r ? r->device : NULL;
  pthread_mutex_unlock(&lock);
  return 0;
}
OUT result zeMemGetAddressRange(driver_context c, const void* p, void** base, size_t* size) {
  NOTE("zeMemGetAddressRange", "%d", c->driver);
  pthread_mutex_lock(&lock);
  const struct range* r = find(c, p);
  if (r) *base = r->start, *size = r->size;
  pthread_mutex_unlock(&lock);
  return r ? 0 : INVALID;
}
static driver_list fresh(driver_context c, driver_device d, int immediate, unsigned flags) {
  driver_list list = calloc(1, sizeof *list);
  list->context = c, list->device = d, list->immediate = immediate, list->flags = flags, list->held = hold_all;
  pthread_mutex_lock(&lock);
  snprintf(list->name, sizeof list->name, "l%d", lists++);
  pthread_mutex_unlock(&lock);
  return list;
}
OUT result zeCommandListCreate(driver_context c, driver_device d, const void* desc, driver_list* out) {
  (void)desc;
  *out = fresh(c, d, 0, 0);
  return 0;
}
OUT result zeCommandListCreateImmediate(driver_context c, driver_device d, const driver_list_desc* desc,
                                        driver_list* out) {
  const struct levelzero_list_desc* wanted = (const void*)desc;
  NOTE("zeCommandListCreateImmediate", "%s,%u,%d", tile(d), wanted->flags, wanted->mode);
  if (wanted->type != 0xe || wanted->next || wanted->ordinal) return INVALID;
  *out = fresh(c, d, 1, wanted->flags);
  return 0;
}
OUT result zeCommandListDestroy(driver_list list) {
  NOTE("zeCommandListDestroy", "%s", list->name);
  free(list);
  return 0;
}
OUT result zeCommandListHostSynchronize(driver_list list, uint64_t timeout) {
  NOTE("zeCommandListHostSynchronize", "%s%s", list->name, timeout == UINT64_MAX ? "" : ",short");
  work(list);
  return 0;
}
OUT result zeCommandListGetDeviceHandle(driver_list list, driver_device* out) {
  NOTE("zeCommandListGetDeviceHandle", "%s", list->name);
  *out = list->device;
  return 0;
}
OUT result zeCommandListGetContextHandle(driver_list list, driver_context* out) {
  NOTE("zeCommandListGetContextHandle", "%s", list->name);
  *out = list->context;
  return 0;
}
OUT result zeCommandListIsImmediate(driver_list list, uint8_t* out) {
  NOTE("zeCommandListIsImmediate", "%s", list->name);
  *out = (uint8_t)list->immediate;
  return 0;
}
OUT result zeCommandListImmediateGetFlags(driver_list list, unsigned* out) {
  NOTE("zeCommandListImmediateGetFlags", "%s", list->name);
  *out = list->flags;
  return 0;
}
OUT result zeCommandListAppendMemoryCopy(driver_list list, void* to, const void* from, size_t size, driver_event signal,
                                         uint32_t count, driver_event* waits) {
  NOTE("zeCommandListAppendMemoryCopy", "%s,%zu", list->name, size);
  if (signal || count || waits) return INVALID;
  memmove(to, from, size);
  return 0;
}
/* No event is signalled twice: a second wait would not wait. */
OUT result zeCommandListAppendBarrier(driver_list list, driver_event signal, uint32_t count, driver_event* waits) {
  NOTE("zeCommandListAppendBarrier", "%s,%s,%s", list->name, signal ? signal->name : "-",
       count == 1 ? waits[0]->name
       : count    ? "many"
                  : "-");
  if (signal && signal->signalled) fprintf(stderr, "an event is to be signalled twice\n");
  if (!signal) return 0;
  if (list->held && list->queued < 64) list->signals[list->queued++] = signal;
  else signal->signalled = 1;
  return 0;
}
OUT result zeEventPoolCreate(driver_context c, const driver_pool_desc* desc, uint32_t count, driver_device* on,
                             driver_pool* out) {
  const struct levelzero_pool_desc* wanted = (const void*)desc;
  NOTE("zeEventPoolCreate", "%d,%u,%u", c->driver, wanted->flags, wanted->count);
  if (wanted->type != 0x10 || wanted->next || count || on) return INVALID;
  *out = calloc(1, sizeof **out);
  return 0;
}
OUT result zeEventPoolDestroy(driver_pool pool) {
  NOTE("zeEventPoolDestroy", "%d", pool->count);
  free(pool);
  return 0;
}
OUT result zeEventCreate(driver_pool pool, const driver_event_desc* desc, driver_event* out) {
  const struct levelzero_event_desc* wanted = (const void*)desc;
  NOTE("zeEventCreate", "%u,%u,%u", wanted->index, wanted->signal, wanted->wait);
  if (wanted->type != 0x11 || wanted->next || wanted->index != (unsigned)pool->count++) return INVALID;
  *out = calloc(1, sizeof **out);
  (*out)->pool = pool;
  snprintf((*out)->name, sizeof(*out)->name, "e%d", __atomic_fetch_add(&events, 1, __ATOMIC_RELAXED));
  return 0;
}
OUT result zeEventDestroy(driver_event event) {
  NOTE("zeEventDestroy", "%s", event->name);
  event->pool->count--;
  free(event);
  return 0;
}
OUT result zeEventQueryStatus(driver_event event) {
  NOTE("zeEventQueryStatus", "%s", event->name);
  return event->signalled ? 0 : NOT_READY;
}
OUT result zeEventHostSynchronize(driver_event event, uint64_t timeout) {
  NOTE("zeEventHostSynchronize", "%s%s", event->name, timeout == UINT64_MAX ? "" : ",short");
  if (!event->signalled) note("waited", "");
  event->signalled = 1;
  return 0;
}
OUT result zeEventHostReset(driver_event event) {
  NOTE("zeEventHostReset", "%s", event->name);
  event->signalled = 0;
  return 0;
}

/* The driver's shutdown, like a C++ library's: it runs before earlier registered exit handlers. */
static void end(void) { ended = 1; }
__attribute__((constructor)) static void begin(void) { atexit(end); }
