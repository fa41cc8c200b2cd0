/*
 * Errors as exceptions of C++, which torch makes exceptions of Python of. The shim raises only
 * c10::Error, a RuntimeError in Python. So an exception of c10's class is made here by the ABI of
 * C++ on Unix (Itanium's), with functions that libc10 and libstdc++ export; where one of them is
 * missing, the shim's own is raised. They pass through frames of C: compile with -fexceptions.
 */
#ifndef DLPACKGEN_TORCHSHIM_RAISE_H_
#define DLPACKGEN_TORCHSHIM_RAISE_H_

#include "library.h"

#if defined(__GNUC__) && !defined(__EXCEPTIONS)
#error "compile kernels_torch.c with -fexceptions: its errors pass through it as exceptions of C++"
#endif

/* A std::string of libstdc++, which the name of the constructor below proves. */
struct dlpackgen_shim_string {
  char* data;
  size_t size;
  union {
    char local[16];
    size_t capacity;
  } room;
};

/* A c10::SourceLocation. */
struct dlpackgen_shim_location {
  const char *function, *file;
  uint32_t line;
};

struct dlpackgen_shim_raised {
  void* (*allocate)(size_t size);
  void (*raise)(void* object, void* type, void (*destroy)(void*));
  void* (*new_memory)(size_t size);
  void (*delete_memory)(void* memory);
  void (*construct)(void* object, struct dlpackgen_shim_location at, struct dlpackgen_shim_string* text);
  bool is_complete;
  struct {
    void *type, *table; /* the type_info and the table of virtual functions */
  } classes[16];        /* by status */
};
static struct dlpackgen_shim_raised dlpackgen_shim_raised;

/* A c10::Error has fewer bytes. Memory of a class that grows beyond them is not known of. */
#define DLPACKGEN_SHIM_ERROR_BYTES 1024

/* By status; the others are c10::Error itself. */
static const struct {
  int status;
  const char *type, *table;
} dlpackgen_shim_classes[] = {
    {DLPACKGEN_STATUS_TYPE_ERROR, "_ZTIN3c109TypeErrorE", "_ZTVN3c109TypeErrorE"},
    {DLPACKGEN_STATUS_VALUE_ERROR, "_ZTIN3c1010ValueErrorE", "_ZTVN3c1010ValueErrorE"},
    {DLPACKGEN_STATUS_BUFFER_ERROR, "_ZTIN3c1011BufferErrorE", "_ZTVN3c1011BufferErrorE"},
    {DLPACKGEN_STATUS_INDEX_ERROR, "_ZTIN3c1010IndexErrorE", "_ZTVN3c1010IndexErrorE"},
    {DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR, "_ZTIN3c1019NotImplementedErrorE", "_ZTVN3c1019NotImplementedErrorE"},
};

static void dlpackgen_shim_learn_classes(void* library) {
  for (size_t i = 0; i < sizeof dlpackgen_shim_classes / sizeof *dlpackgen_shim_classes; i++) {
    const int status = dlpackgen_shim_classes[i].status;
    dlpackgen_shim_raised.classes[status].type = dlpackgen_loaded_symbol(library, dlpackgen_shim_classes[i].type);
    dlpackgen_shim_raised.classes[status].table = dlpackgen_loaded_symbol(library, dlpackgen_shim_classes[i].table);
  }
}

/* A sanitizer has a __cxa_throw of its own, which stands in front of all libraries. */
static bool dlpackgen_shim_find_raise(void* library) {
#ifdef RTLD_DEFAULT
  if (dlpackgen_loaded_find(RTLD_DEFAULT, "__cxa_throw", &dlpackgen_shim_raised.raise)) return true;
#endif
  return dlpackgen_loaded_find(library, "__cxa_throw", &dlpackgen_shim_raised.raise);
}

static void dlpackgen_shim_learn_exceptions(void* library) {
  struct dlpackgen_shim_raised* const found = &dlpackgen_shim_raised;
  dlpackgen_shim_learn_classes(library);
  found->is_complete =
      dlpackgen_shim_find_raise(library) &&
      dlpackgen_loaded_find(library, "__cxa_allocate_exception", &found->allocate) &&
      dlpackgen_loaded_find(library, "_Znwm", &found->new_memory) &&
      dlpackgen_loaded_find(library, "_ZdlPv", &found->delete_memory) &&
      dlpackgen_loaded_find(library,
                            "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
                            &found->construct);
}

/* What a catcher ends an exception by: the first of its virtual functions. */
static void dlpackgen_shim_destroy(void* object) {
  void** const table = *(void***)object;
  void (*destroy)(void*);
  memcpy(&destroy, &table[0], sizeof destroy);
  destroy(object);
}

static void dlpackgen_shim_raise_class(int status, const char* message) {
  const struct dlpackgen_shim_location here = {"dlpackgen", __FILE__, __LINE__};
  struct dlpackgen_shim_string text;
  void* const object = dlpackgen_shim_raised.allocate(DLPACKGEN_SHIM_ERROR_BYTES);
  void** const table = dlpackgen_shim_raised.classes[status].table;
  text.size = strlen(message);
  text.room.capacity = text.size < 16 ? 16 : text.size;
  text.data = dlpackgen_shim_raised.new_memory(text.room.capacity + 1);
  memcpy(text.data, message, text.size + 1);
  dlpackgen_shim_raised.construct(object, here, &text);
  if (text.data != text.room.local) dlpackgen_shim_raised.delete_memory(text.data);
  *(void***)object = table + 2; /* behind the offset to the top and the type_info */
  dlpackgen_shim_raised.raise(object, dlpackgen_shim_raised.classes[status].type, dlpackgen_shim_destroy);
}

/* Raises what a status names. Does not return. */
static void dlpackgen_shim_raise(int status, const char* message) {
  const bool is_class = status > 0 && status < 16 && dlpackgen_shim_raised.classes[status].type &&
                        dlpackgen_shim_raised.classes[status].table;
  if (dlpackgen_shim_raised.is_complete && is_class) dlpackgen_shim_raise_class(status, message);
  dlpackgen_shim.call.check(false, "dlpackgen", __FILE__, __LINE__, message);
}

#endif /* DLPACKGEN_TORCHSHIM_RAISE_H_ */
