/*
 * Looks up functions by name in the torch that the program has loaded. Used by the native reader
 * for torch and by operators in plain C.
 */
#ifndef DLPACKGEN_TORCHSHIM_LOADED_H_
#define DLPACKGEN_TORCHSHIM_LOADED_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef _WIN32
#include <dlfcn.h>
#endif

/* A dtype of torch has a number below this one. */
#define DLPACKGEN_TORCH_DTYPES 128

/* A function, and the position of its address in a struct of functions. */
struct dlpackgen_loaded_name {
  const char* name;
  size_t slot;
  bool is_optional;
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

/* Looks up all functions. Returns NULL, or the name of a missing required function. */
static const char* dlpackgen_loaded_link(void* library, const struct dlpackgen_loaded_name* names, size_t count,
                                         void* functions) {
  for (size_t i = 0; i < count; i++) {
    if (!dlpackgen_loaded_find(library, names[i].name, (char*)functions + names[i].slot) && !names[i].is_optional)
      return names[i].name;
  }
  return NULL;
}

/* Stores a dtype under torch's number, which a function returns. */
static void dlpackgen_loaded_store_dtype(void* library, const char* function, DLDataType dtype, DLDataType* dtypes) {
  int32_t (*number_of)(void) = NULL;
  if (!dlpackgen_loaded_find(library, function, &number_of)) return;
  const int32_t number = number_of();
  if (number >= 0 && number < DLPACKGEN_TORCH_DTYPES) dtypes[number] = dtype;
}

#endif /* DLPACKGEN_TORCHSHIM_LOADED_H_ */
