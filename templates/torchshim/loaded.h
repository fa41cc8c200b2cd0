/*
 * Looks up functions by name in the torch that the program has loaded. Used by the native reader
 * for torch and by operators in plain C.
 */
#ifndef DLPACKGEN_TORCHSHIM_LOADED_H_
#define DLPACKGEN_TORCHSHIM_LOADED_H_

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef _WIN32
#include <dlfcn.h>
#endif

/* A dtype of torch has a number below this one. */
#define DLPACKGEN_TORCH_DTYPES 128

/* A dtype by its name in torch. A pointer to the name would need a relocation for each row. */
struct dlpackgen_loaded_dtype {
  char name[28];
  DLDataType dtype;
};

#ifdef _WIN32 /* if C++ uses other names for the functions */
static void* dlpackgen_loaded_open(const char* file) {
  (void)file;
  return NULL;
}
static void* dlpackgen_loaded_symbol(void* library, const char* name) {
  (void)library;
  (void)name;
  return NULL;
}
#else
/* Returns a library that is already loaded; it stays loaded until the process ends. */
static void* dlpackgen_loaded_open(const char* file) { return dlopen(file, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL); }
static void* dlpackgen_loaded_symbol(void* library, const char* name) { return dlsym(library, name); }
#endif

/* Stores the address of a function by copying it, because C has no conversion from data pointers to
 * function pointers. */
static bool dlpackgen_loaded_find(void* library, const char* name, void* function) {
  void* const address = dlpackgen_loaded_symbol(library, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

/* Looks up functions, and stores their addresses one after another. Each name ends with a zero
 * byte, the list with an empty name. A question mark precedes the name of a function that may be
 * missing. Returns NULL, or the name of another function that is missing. */
static const char* dlpackgen_loaded_link(void* library, const char* names, void* functions) {
  char* slot = (char*)functions;
  for (const char* name = names; *name; name += strlen(name) + 1) {
    const bool is_optional = *name == '?';
    if (!dlpackgen_loaded_find(library, name + is_optional, slot) && !is_optional) return name;
    slot += sizeof(void*);
  }
  return NULL;
}

/* Stores dtypes under the numbers that functions of torch return. */
static void dlpackgen_loaded_store_dtypes(void* library, const struct dlpackgen_loaded_dtype* all, size_t count,
                                          DLDataType* dtypes) {
  static const char prefix[] = "aoti_torch_dtype_";
  char function[sizeof prefix + sizeof all->name];
  memcpy(function, prefix, sizeof prefix);
  for (size_t i = 0; i < count; i++) {
    int32_t (*number_of)(void) = NULL;
    memcpy(function + sizeof prefix - 1, all[i].name, sizeof all[i].name);
    if (!dlpackgen_loaded_find(library, function, &number_of)) continue;
    const int32_t number = number_of();
    if (number >= 0 && number < DLPACKGEN_TORCH_DTYPES) dtypes[number] = all[i].dtype;
  }
}

#endif /* DLPACKGEN_TORCHSHIM_LOADED_H_ */
