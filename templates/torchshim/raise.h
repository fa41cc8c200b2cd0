/*
 * Raises errors as C++ exceptions, which torch converts to Python exceptions. The shim itself
 * raises only c10::Error, a RuntimeError in Python. Other exceptions of c10's classes are created
 * through the C++ ABI of Unix (Itanium), with functions that libc10 and libstdc++ export; if one of
 * them is missing, the shim's own exception is raised. The exceptions pass through C frames:
 * compile with -fexceptions.
 */
#ifndef DLPACKGEN_TORCHSHIM_RAISE_H_
#define DLPACKGEN_TORCHSHIM_RAISE_H_

#include "library.h"

#if defined(__GNUC__) && !defined(__EXCEPTIONS)
#error "compile kernels_torch.c with -fexceptions: its errors pass through it as exceptions of C++"
#endif

struct dlpackgen_shim_raised {
  bool is_complete;
  struct {
    void *type, *table; /* the type_info and the table of virtual functions */
  } classes[16];        /* by status */
};
static struct dlpackgen_shim_raised dlpackgen_shim_raised;

/* A c10::Error is smaller. A larger future version would not be detected. */
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

static void dlpackgen_shim_find_classes(void* library) {
  for (size_t i = 0; i < sizeof dlpackgen_shim_classes / sizeof *dlpackgen_shim_classes; i++) {
    const int status = dlpackgen_shim_classes[i].status;
    dlpackgen_shim_raised.classes[status].type = dlpackgen_loaded_symbol(library, dlpackgen_shim_classes[i].type);
    dlpackgen_shim_raised.classes[status].table = dlpackgen_loaded_symbol(library, dlpackgen_shim_classes[i].table);
  }
}

/* A sanitizer has its own __cxa_throw, which precedes those of all libraries. */
static void dlpackgen_shim_prefer_sanitizer(struct dlpackgen_torch_cpp_functions* cpp) {
#ifdef RTLD_DEFAULT
  dlpackgen_torch_cpp_throw_exception first = NULL;
  if (dlpackgen_loaded_find(RTLD_DEFAULT, "__cxa_throw", &first)) cpp->throw_exception = first;
#else
  (void)cpp;
#endif
}

static void dlpackgen_shim_find_exceptions(void* library) {
  struct dlpackgen_torch_cpp_functions* const cpp = &dlpackgen_shim.cpp;
  dlpackgen_shim_find_classes(library);
  dlpackgen_shim_prefer_sanitizer(cpp);
  dlpackgen_shim_raised.is_complete =
      cpp->throw_exception && cpp->allocate_exception && cpp->operator_new && cpp->operator_delete && cpp->make_error;
}

/* The destructor of the exception, which is the first of its virtual functions. */
static void dlpackgen_shim_destroy(void* object) {
  void** const table = *(void***)object;
  void (*destroy)(void*);
  memcpy(&destroy, &table[0], sizeof destroy);
  destroy(object);
}

static void dlpackgen_shim_raise_class(int status, const char* message) {
  const struct dlpackgen_torch_cpp_functions* const cpp = &dlpackgen_shim.cpp;
  struct dlpackgen_torch_cpp_location here = {0};
  struct dlpackgen_torch_cpp_string text;
  void* const object = cpp->allocate_exception(DLPACKGEN_SHIM_ERROR_BYTES);
  void** const table = dlpackgen_shim_raised.classes[status].table;
  here.function = "dlpackgen", here.file = __FILE__, here.line = __LINE__;
  text.size = strlen(message);
  text.capacity = text.size < sizeof text.local ? sizeof text.local : text.size;
  text.data = cpp->operator_new(text.capacity + 1);
  memcpy(text.data, message, text.size + 1);
  cpp->make_error(object, here, &text);
  if (text.data != text.local) cpp->operator_delete(text.data);
  *(void***)object = table + 2; /* after the offset to the top and the type_info */
  cpp->throw_exception(object, dlpackgen_shim_raised.classes[status].type, dlpackgen_shim_destroy);
}

/* Raises the exception of a status. Does not return. */
static void dlpackgen_shim_raise(int status, const char* message) {
  const bool is_class = status > 0 && status < 16 && dlpackgen_shim_raised.classes[status].type &&
                        dlpackgen_shim_raised.classes[status].table;
  if (dlpackgen_shim_raised.is_complete && is_class) dlpackgen_shim_raise_class(status, message);
  dlpackgen_shim.call.check(false, "dlpackgen", __FILE__, __LINE__, message);
}

#endif /* DLPACKGEN_TORCHSHIM_RAISE_H_ */
