/* Direct calls of Level Zero, through the driver that the backend has loaded. */
#define _GNU_SOURCE
#include "levelzero_types.h"
#include "made.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* find(const char* name) {
  void *library = dlopen("libze_loader.so.1", RTLD_NOW), *found = library ? dlsym(library, name) : NULL;
  if (!found) fprintf(stderr, "no %s\n", name), exit(3);
  return found;
}
#define CALL(type, name) ((driver_result(*) type)find(name))

static void must(driver_result result, const char* what) {
  if (result) fprintf(stderr, "%s: 0x%x\n", what, result), exit(3);
}

struct desc {
  int type;
  const void* next;
  uint32_t flags, more;
};

/* The nth GPU of all drivers, with its driver. */
static driver_device root(int n, driver_driver* driver) {
  driver_driver drivers[16];
  driver_device devices[64];
  uint32_t count = 16;
  must(CALL((unsigned), "zeInit")(0), "zeInit");
  must(CALL((uint32_t*, driver_driver*), "zeDriverGet")(&count, drivers), "zeDriverGet");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t there = 64;
    must(CALL((driver_driver, uint32_t*, driver_device*), "zeDeviceGet")(drivers[i], &there, devices), "zeDeviceGet");
    for (uint32_t k = 0; k < there; k++) {
      struct levelzero_properties p = {.type = DRIVER_struct_device};
      const driver_result lost =
          CALL((driver_device, struct levelzero_properties*), "zeDeviceGetProperties")(devices[k], &p);
      if ((!lost && p.kind != DRIVER_type_gpu) || n--) continue;
      must(lost, "properties");
      *driver = drivers[i];
      return devices[k];
    }
  }
  fprintf(stderr, "no such root device\n");
  exit(3);
}

void* made_root(int n) {
  driver_driver driver;
  return root(n, &driver);
}

static driver_device part_of(driver_device device, int part) {
  driver_device parts[64];
  uint32_t count = 64;
  if (part < 0) return device;
  if (part == 9) { /* the card of a tile */
    must(CALL((driver_device, driver_device*), "zeDeviceGetRootDevice")(device, parts), "root");
    return parts[0];
  }
  must(CALL((driver_device, uint32_t*, driver_device*), "zeDeviceGetSubDevices")(device, &count, parts), "parts");
  return parts[part];
}

static driver_context context(const char* kind, driver_driver driver) {
  static driver_context other;
  const struct desc desc = {0xd, NULL, 0, 0};
  if (strcmp(kind, "other")) return ((driver_context(*)(driver_driver))find("zeDriverGetDefaultContext"))(driver);
  if (!other)
    must(CALL((driver_driver, const void*, driver_context*), "zeContextCreate")(driver, &desc, &other), "context");
  return other;
}

void* made_memory(const char* kind, int device, int part) {
  const struct desc own = {0x15, NULL, 0, 0}, host = {0x16, NULL, 0, 0};
  driver_driver driver;
  driver_device d = part_of(root(device, &driver), part);
  driver_context c = context(kind, driver);
  void* p = NULL;
  if (!strcmp(kind, "unknown")) return calloc(1, 64);
  if (!strcmp(kind, "host"))
    must(CALL((driver_context, const void*, size_t, size_t, void**), "zeMemAllocHost")(c, &host, 64, 0, &p), "host");
  else if (!strcmp(kind, "shared"))
    must(CALL((driver_context, const void*, const void*, size_t, size_t, driver_device, void**), "zeMemAllocShared")(
             c, &own, &host, 64, 0, d, &p),
         "shared");
  else
    must(CALL((driver_context, const void*, size_t, size_t, driver_device, void**), "zeMemAllocDevice")(c, &own, 64, 0,
                                                                                                        d, &p),
         "device");
  return p;
}

void made_free(void* memory, int device) {
  driver_driver driver;
  root(device, &driver);
  must(CALL((driver_context, void*), "zeMemFree")(context("", driver), memory), "zeMemFree");
}

void* made_stream(const char* kind, int device, int part) {
  driver_driver driver;
  driver_device d = part_of(root(device, &driver), part);
  const struct levelzero_list_desc desc = {
      DRIVER_struct_queue, NULL, 0, 0, strcmp(kind, "loose") ? DRIVER_queue_in_order : 0, DRIVER_mode_asynchronous, 0};
  const struct desc recorded = {0xf, NULL, 0, 0};
  driver_context c = context(kind, driver);
  driver_list list = NULL;
  if (!strcmp(kind, "recorded"))
    must(
        CALL((driver_context, driver_device, const void*, driver_list*), "zeCommandListCreate")(c, d, &recorded, &list),
        "list");
  else
    must(CALL((driver_context, driver_device, const void*, driver_list*), "zeCommandListCreateImmediate")(c, d, &desc,
                                                                                                          &list),
         "list");
  return list;
}

/* Features of the stand-in only. */
int made_step(const char* name, const char* a, const char* b, const char* c) {
  static char notes[1 << 16];
  if (!strcmp(name, "inject"))
    ((void (*)(const char*, unsigned, int))find("standin_inject"))(a, (unsigned)strtoul(b, NULL, 0),
                                                                   (int)strtol(c, NULL, 10));
  else if (!strcmp(name, "handle")) ((void (*)(const char*, int))find("standin_hold"))(a, *b == 'h');
  else if (!strcmp(name, "holdown")) ((void (*)(int))find("standin_hold_all"))((int)strtol(a, NULL, 10));
  else if (!strcmp(name, "alive")) printf("alive %d\n", ((int (*)(void))find("standin_alive"))());
  else if (!strcmp(name, "log")) {
    ((void (*)(char*, size_t))find("standin_take"))(notes, sizeof notes);
    printf("log %s\n", notes);
  } else return 0;
  return 1;
}
