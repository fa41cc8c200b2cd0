/* Compares a backend with direct calls of the driver. `pairs N`: N rounds, in each of which both
 * query the same address many times, in turn. `load driver` and `load table`: the first call of a
 * process, from opening the library to the end of its start. Prints a line of nanoseconds for
 * each. */
#include "dlpackgen_cuda.h"

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

/* The backend's queries, made directly. */
static double driver(unsigned (*ask)(unsigned, unsigned*, void**, unsigned long long), void* address) {
  unsigned all[] = {2, 8, 13, 9, 1, 11, 12}, type = 0, managed = 0, mapped = 0;
  int ordinal = 0;
  void* context = NULL;
  unsigned long long start = 0;
  size_t size = 0;
  const double begin = now();
  for (int i = 0; i < CALLS; i++) {
    void* values[] = {&type, &managed, &mapped, &ordinal, &context, &start, &size};
    if (ask(7, all, values, (unsigned long long)(size_t)address) || type != 2)
      fail("the driver does not know its own memory");
  }
  return (now() - begin) / CALLS;
}

static double table(const dlpackgen_backend* device, void* address) {
  dlpackgen_pointer_attributes p = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  dlpackgen_backend_error e;
  const double begin = now();
  for (int i = 0; i < CALLS; i++)
    if (device->pointer_attributes(address, &p, &e) || p.device.device_type != kDLCUDA) fail(e.text);
  return (now() - begin) / CALLS;
}

static void pairs(int rounds) {
  const dlpackgen_backend* device = dlpackgen_cuda();
  DLManagedTensorVersioned* tensors[TENSORS];
  const int64_t shape[] = {64};
  const dlpackgen_allocation r = {sizeof r, {kDLCUDA, 0}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
  dlpackgen_backend_error e;
  for (int i = 0; i < TENSORS; i++)
    if (device->allocate(&r, &tensors[i], &e)) fail(e.text);
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *found = library ? dlsym(library, "cuPointerGetAttributes") : NULL;
  unsigned (*ask)(unsigned, unsigned*, void**, unsigned long long);
  memcpy(&ask, &found, sizeof ask);
  if (!found) fail("no cuPointerGetAttributes");
  void* address = tensors[TENSORS - 1]->dl_tensor.data;
  for (int i = -1; i < rounds; i++) { /* the first one fills caches */
    const double theirs = driver(ask, address), ours = table(device, address);
    if (i >= 0) printf("%.2f %.2f\n", theirs, ours);
  }
  for (int i = 0; i < TENSORS; i++) tensors[i]->deleter(tensors[i]);
}

static void load(const char* who) {
  const double begin = now();
  if (!strcmp(who, "table")) {
    (void)dlpackgen_cuda()->probe(NULL, NULL);
  } else {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *found = library ? dlsym(library, "cuInit") : NULL;
    unsigned (*init)(unsigned);
    memcpy(&init, &found, sizeof init);
    if (found) (void)init(0);
  }
  printf("%.0f\n", now() - begin);
}

int main(int argc, char** argv) {
  if (argc == 3 && !strcmp(argv[1], "pairs")) pairs((int)strtol(argv[2], NULL, 10));
  else if (argc == 3 && !strcmp(argv[1], "load")) load(argv[2]);
  else fail("pairs N, load driver or load table");
  return 0;
}
