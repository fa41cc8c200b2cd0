/* Calls a backend with structs of every size, each in a block of memory that ends where the
 * struct does, and with bytes behind the members that nobody may touch. */
#include BACKEND_HEADER

#if defined(BACKEND_USM)
#include "dlpackgen_usm.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGER = 16, BEHIND = 0x5a };

static dlpackgen_backend_error error;
static DLManagedTensorVersioned* tensor;

static int probe(void* info) { return BACKEND_TABLE()->probe(info, &error); }

static int pointer_attributes(void* attributes) {
  return BACKEND_TABLE()->pointer_attributes(tensor->dl_tensor.data, attributes, &error);
}

#if defined(BACKEND_USM)
static int check_tensor(void* attributes) {
  return dlpackgen_usm()->check_tensor(&tensor->dl_tensor, 0, attributes, &error);
}
#endif

/* Writes a request into memory that may be smaller than it. */
static int alloc(void* request) {
  static const int64_t shape[] = {4};
  const dlpackgen_allocation r = {
      .device = {(DLDeviceType)BACKEND_TABLE()->device_type, 0}, .dtype = {kDLFloat, 32, 1}, .ndim = 1, .shape = shape};
  const size_t first = DLPACKGEN_BACKEND_END(dlpackgen_allocation, flags);
  size_t size;
  memcpy(&size, request, sizeof size);
  if (size >= first) memcpy((char*)request + sizeof size, (const char*)&r + sizeof size, first - sizeof size);
  DLManagedTensorVersioned* made = NULL;
  const int code = BACKEND_TABLE()->allocate(request, &made, &error);
  if (made && !tensor) tensor = made;
  else if (made) made->deleter(made);
  return code;
}

/* Tells how many bytes from one on are not as they were. */
static int touched(const char* bytes, size_t from, size_t to) {
  int count = 0;
  for (; from < to; from++) count += bytes[from] != BEHIND;
  return count;
}

static void call(const char* name, int (*run)(void*), size_t first, size_t size) {
  const size_t room = size > sizeof size ? size : sizeof size;
  char* object = malloc(room);
  if (!object) exit(2);
  memset(object, BEHIND, room);
  memcpy(object, &size, sizeof size);
  memset(&error, 0, sizeof error);
  const int code = run(object);
  const int changed = memcmp(object, &size, sizeof size) != 0;
  printf("%s %d %d %d %s\n", name, code, changed, touched(object, code ? sizeof size : first, room), error.text);
  free(object);
}

static void all_sizes(const char* name, int (*run)(void*), size_t first) {
  const size_t sizes[] = {first, 0, first - 1, first + LARGER, first + 4096};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) call(name, run, first, sizes[i]);
}

int main(void) {
  const size_t attributes = DLPACKGEN_BACKEND_END(dlpackgen_pointer_attributes, bytes);
#if defined(BACKEND_USM)
  dlpackgen_usm()->set_device_ids(NULL, 0, NULL);
#endif
  all_sizes("alloc", alloc, DLPACKGEN_BACKEND_END(dlpackgen_allocation, flags));
  all_sizes("probe", probe, DLPACKGEN_BACKEND_END(dlpackgen_driver_info, reserved));
  if (!tensor) return 3;
  all_sizes("pointer_attributes", pointer_attributes, attributes);
#if defined(BACKEND_USM)
  all_sizes("check_tensor", check_tensor, attributes);
#else
  (void)attributes;
#endif
  tensor->deleter(tensor);
  return 0;
}
