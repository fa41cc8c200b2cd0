
/* Loads Level Zero, starts it once, and identifies its devices. Part of the backend's C file. */
#ifndef DLPACKGEN_LEVELZERO_LOAD_H_
#define DLPACKGEN_LEVELZERO_LOAD_H_

#include "device_result.h"
#include "device_start.h"
#include "levelzero_types.h"
#include "usm_pointer.h"

#include <stdlib.h>

/* A root device, as zeDeviceGet lists it: a card, or a tile if the device hierarchy is flat. */
struct levelzero_root {
  driver_device device;
  int32_t platform;
  int32_t listed;           /* its position if SYCL lists only Level Zero */
  atomic_int id;            /* SYCL's; -1 if unknown */
  _Atomic(driver_list) own; /* the default stream */
  atomic_flag busy;         /* guards appends to it */
};

/* A device or a part of one, and its root device. */
struct levelzero_known {
  driver_device device;
  int32_t root;
};

struct levelzero_slot;

/* A driver, whose default context all libraries share. */
struct levelzero_platform {
  driver_driver driver;
  driver_context context;
  int32_t first;    /* root */
  atomic_flag busy; /* guards the slots */
  struct levelzero_slot *free, *used;
};

static struct {
  struct driver driver;
  driver_context usual; /* of the first platform */
  unsigned int version;
  int32_t platform_count, root_count, known_count;
  int32_t listed; /* devices, including those of omitted drivers */
  struct levelzero_platform* platforms;
  struct levelzero_root* roots;
  struct levelzero_known* known;
  atomic_int numbered;
  const char* hierarchy;
} levelzero;

/* Reports a result of the driver, preceded by the operation. */
DEVICE_FORMAT(3, 4)
static int levelzero_fail(dlpackgen_backend_error* error, driver_result result, const char* format, ...) {
  dlpackgen_backend_error buffer;
  va_list values;
  if (!error) error = &buffer;
  va_start(values, format);
  device_vfail(error, DLPACKGEN_BACKEND_DRIVER_ERROR, (int32_t)result, format, values);
  va_end(values);
  const struct driver_error* known = device_known(result);
  if (known) error->code = known->code;
  char number[16];
  snprintf(number, sizeof number, "0x%x", (unsigned)result);
  device_add_result(error, known ? known->name : "an error", number,
                    known ? known->text : "Level Zero's documentation lists the number");
  return error->code;
}

static void levelzero_lock(atomic_flag* busy) {
  while (atomic_flag_test_and_set_explicit(busy, memory_order_acquire)) continue;
}

static void levelzero_unlock(atomic_flag* busy) { atomic_flag_clear_explicit(busy, memory_order_release); }

/* Starts the drivers that the loader finds. This precedes the lookup of functions: for an old
 * loader without a driver, the missing driver is the error to report. */
static int levelzero_start(void* library, dlpackgen_backend_error* error) {
  void* found = device_symbol(library, driver_functions[0].plain);
  memcpy(&levelzero.driver.init, &found, sizeof found);
  if (!found)
    return device_fail(error, DLPACKGEN_BACKEND_DRIVER_TOO_OLD,
                       "the library does not export %s: it is not the loader; install %s", driver_functions[0].plain,
                       BACKEND_PACKAGE);
  const driver_result result = levelzero.driver.init(0);
  return result ? levelzero_fail(error, result, "the loader was found, but no driver starts") : DLPACKGEN_BACKEND_OK;
}

static int levelzero_resolve(void* library, dlpackgen_backend_error* error) {
  const struct driver_function* missing = device_resolve(library, &levelzero.driver, device_find);
  if (!missing) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_DRIVER_TOO_OLD,
                     "the loader lacks %s, of version %d.%d of Level Zero; update %s", missing->symbol,
                     missing->since >> 16, missing->since & 0xffff, BACKEND_PACKAGE);
}

/* Grows an array by one. */
static void* levelzero_grown(void* array, int32_t count, size_t size) {
  return realloc(array, ((size_t)count + 1) * size);
}

static int levelzero_no_memory(dlpackgen_backend_error* error) {
  return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, DEVICE_TEXT_NO_START_MEMORY);
}

/* Records a device and its parts, recursively. */
static int levelzero_know(driver_device device, int32_t root, dlpackgen_backend_error* error) {
  driver_device parts[64];
  uint32_t count = sizeof parts / sizeof *parts;
  struct levelzero_known* known = levelzero_grown(levelzero.known, levelzero.known_count, sizeof *known);
  if (!known) return levelzero_no_memory(error);
  levelzero.known = known;
  known[levelzero.known_count++] = (struct levelzero_known){device, root};
  if (levelzero.driver.device_children(device, &count, parts)) return DLPACKGEN_BACKEND_OK; /* it cannot be divided */
  int code = DLPACKGEN_BACKEND_OK;
  for (uint32_t i = 0; !code && i < count; i++) code = levelzero_know(parts[i], root, error);
  return code;
}

/* Adds a device if it is a GPU. A device that does not report its properties counts as a GPU, so
 * the positions of all later devices are unchanged. */
static int levelzero_add_root(driver_device device, int32_t platform, dlpackgen_backend_error* error) {
  struct levelzero_properties properties = {.type = DRIVER_struct_device};
  const driver_result result = levelzero.driver.device_properties(device, (void*)&properties);
  if (!result && properties.kind != DRIVER_type_gpu) return DLPACKGEN_BACKEND_OK;
  const int32_t listed = levelzero.listed++;
  if (result) return levelzero_fail(error, result, "the properties of a device");
  struct levelzero_root* roots = levelzero_grown(levelzero.roots, levelzero.root_count, sizeof *roots);
  if (!roots) return levelzero_no_memory(error);
  levelzero.roots = roots;
  struct levelzero_root* root = &roots[levelzero.root_count];
  memset(root, 0, sizeof *root);
  root->device = device, root->platform = platform, root->listed = listed;
  atomic_init(&root->id, -1);
  atomic_flag_clear(&root->busy);
  return levelzero_know(device, levelzero.root_count++, error);
}

/* Returns the version and the default context of a driver that serves GPUs. */
static int levelzero_default(driver_driver driver, unsigned int* version, driver_context* context,
                             dlpackgen_backend_error* error) {
  const driver_result result = levelzero.driver.driver_version(driver, version);
  if (result) return levelzero_fail(error, result, "the version of a driver");
  if (*version < DRIVER_OLDEST)
    return device_fail(error, DLPACKGEN_BACKEND_DRIVER_TOO_OLD,
                       "the driver supports version %u.%u of Level Zero, but %d.%d or newer is required; update %s",
                       *version >> 16, *version & 0xffff, DRIVER_OLDEST >> 16, DRIVER_OLDEST & 0xffff, BACKEND_PACKAGE);
  *context = levelzero.driver.default_context(driver);
  if (*context) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_UNAVAILABLE,
                     "the driver has no default context, in which libraries share memory");
}

/* Adds the devices of a driver, also those after one that fails; returns the first error. */
static int levelzero_add_roots(driver_driver driver, dlpackgen_backend_error* error) {
  driver_device devices[64];
  dlpackgen_backend_error unread;
  uint32_t count = sizeof devices / sizeof *devices;
  const driver_result result = levelzero.driver.device_get(driver, &count, devices);
  if (result) return levelzero_fail(error, result, "the devices of a driver");
  int failed = DLPACKGEN_BACKEND_OK;
  for (uint32_t i = 0; i < count; i++) {
    const int code = levelzero_add_root(devices[i], levelzero.platform_count, failed ? &unread : error);
    if (!failed) failed = code;
  }
  return failed;
}

/* Adds a driver with its working devices, unless none is a GPU. */
static int levelzero_add_platform(driver_driver driver, dlpackgen_backend_error* error) {
  driver_context context = NULL;
  unsigned int version = 0;
  struct levelzero_platform* platforms =
      levelzero_grown(levelzero.platforms, levelzero.platform_count, sizeof *platforms);
  if (!platforms) return levelzero_no_memory(error);
  levelzero.platforms = platforms;
  const int32_t first = levelzero.root_count;
  int code = levelzero_add_roots(driver, error);
  if (levelzero.root_count == first) return code;
  code = levelzero_default(driver, &version, &context, error);
  if (code) return code;
  platforms[levelzero.platform_count++] =
      (struct levelzero_platform){driver, context, first, ATOMIC_FLAG_INIT, NULL, NULL};
  levelzero.version = version;
  return DLPACKGEN_BACKEND_OK;
}

/* Omits drivers that fail if another driver works; otherwise, the first error is reported. SYCL
 * lists the omitted devices too, so they keep their positions. */
static int levelzero_enumerate(dlpackgen_backend_error* error) {
  driver_driver drivers[16];
  uint32_t count = sizeof drivers / sizeof *drivers;
  dlpackgen_backend_error unread;
  int first = DLPACKGEN_BACKEND_OK;
  const driver_result result = levelzero.driver.driver_get(&count, drivers);
  if (result) return levelzero_fail(error, result, "the drivers");
  for (uint32_t i = 0; i < count; i++) {
    const int32_t roots = levelzero.root_count, known = levelzero.known_count;
    const int code = levelzero_add_platform(drivers[i], first ? &unread : error);
    if (code) levelzero.root_count = roots, levelzero.known_count = known;
    if (!first) first = code;
  }
  if (levelzero.root_count) return DLPACKGEN_BACKEND_OK;
  if (first) return first;
  return device_fail(error, DLPACKGEN_BACKEND_NO_DEVICE,
                     "Level Zero has started but found no GPU: none is installed, or ZE_AFFINITY_MASK hides it");
}

/* Assigns the ids that devices have if only SYCL lists them. */
static void levelzero_number_alone(void) {
  for (int32_t i = 0; i < levelzero.root_count; i++) atomic_store(&levelzero.roots[i].id, levelzero.roots[i].listed);
  atomic_store(&levelzero.numbered, 1);
}

/* Reads the environment variables. */
static void levelzero_environment(void) {
  const char *selector = getenv("ONEAPI_DEVICE_SELECTOR"), *hierarchy = getenv("ZE_FLAT_DEVICE_HIERARCHY");
  if (selector && (!strcmp(selector, "level_zero:*") || !strcmp(selector, "level_zero:gpu"))) levelzero_number_alone();
  levelzero.hierarchy = hierarchy && *hierarchy && strlen(hierarchy) < 16 ? hierarchy : "unset";
}

/* Runs before the driver shuts down. Memory of tensors that are deleted later is kept until the
 * process ends. */
static void levelzero_end(void) { device_close(DEVICE_ENDED); }

static int device_load(dlpackgen_backend_error* error) {
  void* library = NULL;
  int code = device_open_driver("the loader of Level Zero", &library, error);
  if (!code) code = levelzero_start(library, error);
  if (!code) code = levelzero_resolve(library, error);
  if (!code) code = levelzero_enumerate(error);
  if (code) return code;
  levelzero.usual = levelzero.platforms->context;
  levelzero_environment();
  (void)atexit(levelzero_end);
  return DLPACKGEN_BACKEND_OK;
}

static inline int usm_ready(dlpackgen_backend_error* error) { return device_ready("Level Zero", error); }

static int usm_probe(dlpackgen_driver_info* info, dlpackgen_backend_error* error) {
  const int code = usm_ready(error);
  return code ? code : device_return_info(levelzero.version, levelzero.root_count, info, error);
}

static int usm_device_count(int32_t* count, dlpackgen_backend_error* error) {
  const int code = usm_ready(error);
  return code ? code : device_return_count(levelzero.root_count, count, error);
}

#endif /* DLPACKGEN_LEVELZERO_LOAD_H_ */
