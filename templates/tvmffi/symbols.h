/* Looks up the functions of libtvm_ffi when they are needed. Nothing is linked, and libtvm_ffi may
 * be loaded after this library; a weak reference would then stay NULL. */
#ifndef DLPACKGEN_TVMFFI_SYMBOLS_H_
#define DLPACKGEN_TVMFFI_SYMBOLS_H_

#include <string.h>
#include "tvm_ffi_abi.h"

#if defined(_WIN32) /* untested */
#include <windows.h>

static void* dlpackgen_tvmffi_symbol(const char* name) {
  HMODULE const library = GetModuleHandleA("tvm_ffi.dll");
  return library ? (void*)(uintptr_t)GetProcAddress(library, name) : NULL;
}
#else
#include <dlfcn.h>

/* The library's name. On macOS, it is the name in other libraries' load commands, because dyld
 * compares it with the names of loaded libraries. */
static const char* const dlpackgen_tvmffi_libraries[] = {
#if defined(__APPLE__) /* untested */
    "libtvm_ffi.dylib",
    "@rpath/libtvm_ffi.dylib",
#else
    "libtvm_ffi.so",
#endif
};

static void* dlpackgen_tvmffi_symbol(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  for (size_t i = 0; !found && i < sizeof dlpackgen_tvmffi_libraries / sizeof *dlpackgen_tvmffi_libraries; i++) {
    void* const library = dlopen(dlpackgen_tvmffi_libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    found = dlsym(library, name);
    dlclose(library);
  }
  return found;
}
#endif

/* Each function is looked up until it is found. Concurrent threads store the same address. */
#if defined(__GNUC__)
#define DLPACKGEN_TVMFFI_LOAD(place) __atomic_load_n(place, __ATOMIC_RELAXED)
#define DLPACKGEN_TVMFFI_STORE(place, value) __atomic_store_n(place, value, __ATOMIC_RELAXED)
#else
#define DLPACKGEN_TVMFFI_LOAD(place) (*(void* volatile*)(place))
#define DLPACKGEN_TVMFFI_STORE(place, value) ((void)(*(void* volatile*)(place) = (value)))
#endif

static void* dlpackgen_tvmffi_found(void** place, const char* name) {
  void* found = DLPACKGEN_TVMFFI_LOAD(place);
  if (found) return found;
  found = dlpackgen_tvmffi_symbol(name);
  if (found) DLPACKGEN_TVMFFI_STORE(place, found);
  return found;
}

/* Defines NAME(), which returns a function of libtvm_ffi, or NULL. */
#if defined(__GNUC__)
#define DLPACKGEN_TVMFFI_UNUSED __attribute__((unused))
#else
#define DLPACKGEN_TVMFFI_UNUSED
#endif
#define DLPACKGEN_TVMFFI_FUNCTION(name, symbol)                                           \
  DLPACKGEN_TVMFFI_UNUSED static dlpackgen_tvm_ffi_##name dlpackgen_tvmffi_##name(void) { \
    static void* place;                                                                   \
    void* const found = dlpackgen_tvmffi_found(&place, symbol);                           \
    dlpackgen_tvm_ffi_##name function;                                                    \
    memcpy(&function, &found, sizeof function);                                           \
    return function;                                                                      \
  }

DLPACKGEN_TVMFFI_FUNCTION(set_error, "TVMFFIErrorSetRaisedFromCStr")
DLPACKGEN_TVMFFI_FUNCTION(make_str, "TVMFFIStringFromByteArray")
DLPACKGEN_TVMFFI_FUNCTION(make_big_int, "TVMFFIBigIntFromByteArray")
DLPACKGEN_TVMFFI_FUNCTION(release, "TVMFFIObjectDecRef")
DLPACKGEN_TVMFFI_FUNCTION(get_stream, "TVMFFIEnvGetStream")
DLPACKGEN_TVMFFI_FUNCTION(get_allocator, "TVMFFIEnvGetDLPackManagedTensorAllocator")
DLPACKGEN_TVMFFI_FUNCTION(make_tensor, "TVMFFIEnvTensorAlloc")
DLPACKGEN_TVMFFI_FUNCTION(get_global, "TVMFFIFunctionGetGlobal")
DLPACKGEN_TVMFFI_FUNCTION(call, "TVMFFIFunctionCall")

#endif /* DLPACKGEN_TVMFFI_SYMBOLS_H_ */
