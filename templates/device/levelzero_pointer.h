
/* Determines the ids of devices, and the owner of the memory at an address. Part of the backend's C
 * file. */
#ifndef DLPACKGEN_LEVELZERO_POINTER_H_
#define DLPACKGEN_LEVELZERO_POINTER_H_

#include "levelzero_load.h"

static int levelzero_check_numbered(const char* what, dlpackgen_backend_error* error) {
  if (atomic_load_explicit(&levelzero.numbered, memory_order_acquire)) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_DEVICE_IDS_UNKNOWN,
                     "%s: the ids of devices are SYCL's, which Level Zero does not report; "
                     "set ONEAPI_DEVICE_SELECTOR=level_zero:*, pass the ids to dlpackgen_usm()->set_device_ids, "
                     "or compile the source for SYCL instead of the one for Level Zero",
                     what);
}

/* Returns the root with an id, or -1. */
static int32_t levelzero_root_of(int32_t id) {
  int32_t root = levelzero.root_count;
  while (root-- > 0 && atomic_load_explicit(&levelzero.roots[root].id, memory_order_relaxed) != id) continue;
  return id < 0 ? -1 : root;
}

static int usm_check_id(const char* what, int32_t id, dlpackgen_backend_error* error) {
  const int code = levelzero_check_numbered(what, error);
  if (code || levelzero_root_of(id) >= 0) return code;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE,
                     "%s: no device of Level Zero has the id %d; there are %d, and ZE_FLAT_DEVICE_HIERARCHY is %s",
                     what, (int)id, (int)levelzero.root_count, levelzero.hierarchy);
}

static int usm_id_of(int32_t ordinal, int32_t* id, dlpackgen_backend_error* error) {
  int code = usm_ready(error);
  if (!code && !id) code = device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, DEVICE_TEXT_NO_ID);
  if (!code) code = levelzero_check_numbered("id", error);
  if (code) return code;
  const int there = ordinal >= 0 && ordinal < levelzero.root_count;
  *id = there ? atomic_load(&levelzero.roots[ordinal].id) : -1;
  if (*id >= 0) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE, "id: %s %d; there are %d, counted from 0",
                     there ? "SYCL does not list device" : "there is no device", (int)ordinal,
                     (int)levelzero.root_count);
}

/* Returns the root of a device or of a part of one, or -1 if it is not listed, such as a card whose
 * tiles are listed. */
static int32_t levelzero_root_above(driver_device device) {
  for (int32_t i = 0; i < levelzero.known_count; i++)
    if (levelzero.known[i].device == device) return levelzero.known[i].root;
  return -1;
}

/* Checks a row of the program's numbering. */
static int levelzero_check_row(const dlpackgen_usm_id* row, int again, dlpackgen_backend_error* error) {
  int32_t root = levelzero.root_count;
  while (root-- > 0 && (void*)levelzero.roots[root].device != row->device) continue;
  if (root < 0 || row->id < 0)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE,
                       "set_device_ids: %p with the id %d; expected a root device and its position", row->device,
                       (int)row->id);
  if (again && atomic_load(&levelzero.roots[root].id) != row->id)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                       "set_device_ids: device %d has the id %d already, which tensors carry; number devices once",
                       (int)root, (int)atomic_load(&levelzero.roots[root].id));
  return DLPACKGEN_BACKEND_OK;
}

/* Checks that a row does not repeat the device or the id of a different earlier row, because
 * tensors of two devices with one id could not be distinguished. */
static int levelzero_check_unique(const dlpackgen_usm_id* ids, size_t at, dlpackgen_backend_error* error) {
  for (size_t i = 0; i < at; i++) {
    const int device = ids[i].device == ids[at].device, id = ids[i].id == ids[at].id;
    if (device == id) continue;
    return device_fail(
        error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
        id ? "set_device_ids: rows %llu and %llu give two devices the id %d; each needs its own"
           : "set_device_ids: rows %llu and %llu name one device, the second with the id %d; name it once",
        (unsigned long long)i, (unsigned long long)at, (int)ids[at].id);
  }
  return DLPACKGEN_BACKEND_OK;
}

/* Returns a row of a numbering; NULL is Level Zero's own. */
static dlpackgen_usm_id levelzero_row(const dlpackgen_usm_id* ids, size_t i) {
  if (ids) return ids[i];
  return (dlpackgen_usm_id){levelzero.roots[i].device, levelzero.roots[i].listed, 0};
}

static int usm_set_device_ids(const dlpackgen_usm_id* ids, size_t count, dlpackgen_backend_error* error) {
  static atomic_flag busy = ATOMIC_FLAG_INIT;
  int code = usm_ready(error);
  if (!code && !ids != !count)
    code = device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "set_device_ids: %s",
                       ids ? "no device has an id; pass NULL, in Go nil, if no other library of the program uses SYCL"
                           : "NULL instead of the ids");
  if (code) return code;
  const size_t rows = ids ? count : (size_t)levelzero.root_count;
  levelzero_lock(&busy);
  const int again = atomic_load(&levelzero.numbered);
  for (size_t i = 0; !code && i < rows; i++) {
    const dlpackgen_usm_id row = levelzero_row(ids, i);
    code = levelzero_check_row(&row, again, error);
    if (!code && ids) code = levelzero_check_unique(ids, i, error);
  }
  for (size_t i = 0; !code && !again && i < rows; i++) {
    const dlpackgen_usm_id row = levelzero_row(ids, i);
    atomic_store(&levelzero.roots[levelzero_root_above((driver_device)row.device)].id, row.id);
  }
  if (!code) atomic_store_explicit(&levelzero.numbered, 1, memory_order_release);
  levelzero_unlock(&busy);
  return code;
}

/* Determines the owner of an allocation. Host memory has none. */
static int levelzero_own(const char* what, const void* pointer, int32_t platform, driver_device owner,
                         struct usm_memory* memory, dlpackgen_backend_error* error) {
  const int32_t first = levelzero.platforms[platform].first;
  memory->ordinal = owner ? levelzero_root_above(owner) : -1;
  if (owner && memory->ordinal < 0)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE,
                       "%s %p: its device is not listed, because its tiles are; %s is %s", what, pointer,
                       "ZE_FLAT_DEVICE_HIERARCHY", levelzero.hierarchy);
  int code = levelzero_check_numbered(what, error);
  if (code) return code;
  memory->id = atomic_load(&levelzero.roots[owner ? memory->ordinal : first].id);
  if (memory->id >= 0) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE,
                     "%s %p: SYCL does not list its device, number %d of Level Zero", what, pointer,
                     (int)memory->ordinal);
}

static int levelzero_classify(const char* what, const void* pointer, int32_t platform, int type, driver_device owner,
                              struct usm_memory* memory, dlpackgen_backend_error* error) {
  void* base = NULL;
  memory->kind = type == DRIVER_memory_device ? USM_DEVICE : type == DRIVER_memory_shared ? USM_SHARED : USM_HOST;
  const driver_result result =
      levelzero.driver.memory_range(levelzero.platforms[platform].context, pointer, &base, &memory->size);
  if (result) return levelzero_fail(error, result, "%s %p", what, pointer);
  memory->base = base;
  return levelzero_own(what, pointer, platform, owner, memory, error);
}

/* Queries each driver. Intel's driver also reports memory of other contexts, with the same
 * attributes as memory of the default context. */
static int usm_query_memory(const char* what, const void* pointer, int32_t hint, struct usm_memory* memory,
                            dlpackgen_backend_error* error) {
  (void)hint;
  *memory = usm_unknown;
  for (int32_t platform = 0; platform < levelzero.platform_count; platform++) {
    struct levelzero_allocation found = {.type = DRIVER_struct_allocation};
    driver_device owner = NULL;
    const driver_result result =
        levelzero.driver.memory_properties(levelzero.platforms[platform].context, pointer, (void*)&found, &owner);
    if (result) return levelzero_fail(error, result, "%s %p", what, pointer);
    if (found.kind == DRIVER_memory_unknown) continue;
    return levelzero_classify(what, pointer, platform, found.kind, owner, memory, error);
  }
  return DLPACKGEN_BACKEND_OK;
}

/* A fast path, because it runs for each tensor: memory of a device of the first driver. All other
 * memory is queried again on the slow path. */
static inline int usm_query_device_memory(const void* pointer, dlpackgen_pointer_attributes* info) {
  struct levelzero_allocation found;
  driver_device owner = NULL;
  void* base;
  size_t bytes;
  if (!device_is_ready() || !info || !DLPACKGEN_BACKEND_HAS(dlpackgen_pointer_attributes, info, bytes)) return 0;
  driver_context context = levelzero.usual;
  found.type = DRIVER_struct_allocation, found.next = NULL, found.kind = DRIVER_memory_unknown;
  if (levelzero.driver.memory_properties(context, pointer, (void*)&found, &owner) ||
      found.kind != DRIVER_memory_device || levelzero.driver.memory_range(context, pointer, &base, &bytes))
    return 0;
  const int32_t root = levelzero_root_above(owner);
  const int32_t id = root < 0 ? -1 : atomic_load_explicit(&levelzero.roots[root].id, memory_order_acquire);
  device_return_attributes((DLDevice){(DLDeviceType)BACKEND_device, id}, root, base, bytes, info);
  return id >= 0;
}

#endif /* DLPACKGEN_LEVELZERO_POINTER_H_ */
