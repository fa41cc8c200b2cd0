/* Compares the oneAPI backend with direct calls of Level Zero. `pairs N`: N rounds, in each of
 * which both query the owner and the bounds of an address many times, in turn. `load driver` and
 * `load table`: the first call of a process, from opening the library to the end of the driver's
 * start. Prints a line of nanoseconds for each. */
#include "dlpackgen_oneapi.h"
#include "dlpackgen_usm.h"
#include "levelzero_types.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TENSORS = 100, CALLS = 2000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void fail(const char* text) {
  fprintf(stderr, "%s\n", text);
  exit(1);
}

static struct driver level_zero;

static void* find(void* library, const char* name) {
  void* found = library ? dlsym(library, name) : NULL;
  if (!found) fail(name);
  return found;
}

/* The backend's queries, made directly. */
static double driver(driver_context context, const void* address) {
  const double begin = now();
  for (int i = 0; i < CALLS; i++) {
    struct levelzero_allocation a = {.type = DRIVER_struct_allocation};
    driver_device owner = NULL;
    void* base = NULL;
    size_t size = 0;
    if (level_zero.memory_properties(context, address, (void*)&a, &owner) || a.kind != DRIVER_memory_device ||
        level_zero.memory_range(context, address, &base, &size))
      fail("the driver does not know its own memory");
  }
  return (now() - begin) / CALLS;
}

static double table(const dlpackgen_backend* device, const void* address) {
  dlpackgen_pointer_attributes p = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  dlpackgen_backend_error e;
  const double begin = now();
  for (int i = 0; i < CALLS; i++)
    if (device->pointer_attributes(address, &p, &e) || p.device.device_type != kDLOneAPI) fail(e.text);
  return (now() - begin) / CALLS;
}

static void pairs(int rounds) {
  const dlpackgen_backend* device = dlpackgen_oneapi();
  DLManagedTensorVersioned* tensors[TENSORS];
  const int64_t shape[] = {64};
  const dlpackgen_allocation r = {sizeof r, {kDLOneAPI, 0}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
  dlpackgen_backend_error e;
  if (dlpackgen_usm()->set_device_ids(NULL, 0, &e)) fail(e.text);
  for (int i = 0; i < TENSORS; i++)
    if (device->allocate(&r, &tensors[i], &e)) fail(e.text);
  void* library = dlopen("libze_loader.so.1", RTLD_NOW);
  driver_driver drivers[8];
  uint32_t count = 8;
  *(void**)&level_zero.memory_properties = find(library, "zeMemGetAllocProperties");
  *(void**)&level_zero.memory_range = find(library, "zeMemGetAddressRange");
  *(void**)&level_zero.driver_get = find(library, "zeDriverGet");
  *(void**)&level_zero.default_context = find(library, "zeDriverGetDefaultContext");
  if (level_zero.driver_get(&count, drivers)) fail("zeDriverGet");
  driver_context context = level_zero.default_context(drivers[0]);
  void* address = tensors[TENSORS - 1]->dl_tensor.data;
  for (int i = -1; i < rounds; i++) { /* the first one fills caches */
    const double theirs = driver(context, address), ours = table(device, address);
    if (i >= 0) printf("%.2f %.2f\n", theirs, ours);
  }
  for (int i = 0; i < TENSORS; i++) tensors[i]->deleter(tensors[i]);
}

static void load(const char* who) {
  const double begin = now();
  if (!strcmp(who, "table")) {
    (void)dlpackgen_oneapi()->probe(NULL, NULL);
  } else {
    *(void**)&level_zero.init = find(dlopen("libze_loader.so.1", RTLD_NOW), "zeInit");
    (void)level_zero.init(0);
  }
  printf("%.0f\n", now() - begin);
}

int main(int argc, char** argv) {
  if (argc == 3 && !strcmp(argv[1], "pairs")) pairs((int)strtol(argv[2], NULL, 10));
  else if (argc == 3 && !strcmp(argv[1], "load")) load(argv[2]);
  else fail("pairs N, load driver or load table");
  return 0;
}
