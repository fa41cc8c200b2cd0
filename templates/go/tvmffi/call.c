//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "call.h"
#include <stdlib.h>
#include <string.h>
#include "symbols.h"

#if defined(_WIN32)
#include <stdio.h>
#else
#include <signal.h>
#endif

DLPACKGEN_TVMFFI_FUNCTION(move_error, "TVMFFIErrorMoveFromRaised")
DLPACKGEN_TVMFFI_FUNCTION(retain, "TVMFFIObjectIncRef")
DLPACKGEN_TVMFFI_FUNCTION(make_bytes, "TVMFFIBytesFromByteArray")
DLPACKGEN_TVMFFI_FUNCTION(make_function, "TVMFFIFunctionCreate")
DLPACKGEN_TVMFFI_FUNCTION(set_global, "TVMFFIFunctionSetGlobal")
DLPACKGEN_TVMFFI_FUNCTION(set_allocator, "TVMFFIEnvSetDLPackManagedTensorAllocator")
DLPACKGEN_TVMFFI_FUNCTION(from_dlpack, "TVMFFITensorFromDLPackVersioned")
DLPACKGEN_TVMFFI_FUNCTION(to_dlpack, "TVMFFITensorToDLPackVersioned")

_Static_assert(sizeof(struct dlp_00000000_packed) == sizeof(struct dlpackgen_tvm_ffi_any), "an any");
_Static_assert(offsetof(struct dlp_00000000_packed, bits) == offsetof(struct dlpackgen_tvm_ffi_any, v_int64),
               "the value of an any");

#if defined(_WIN32)                     /* untested */
enum { DLPACKGEN_TVMFFI_PATH = 32768 }; /* the longest one */

/* A path is made absolute, with backslashes: LOAD_WITH_ALTERED_SEARCH_PATH requires that, and finds
 * dependencies in the library's folder. A bare name is searched for in the standard order: the
 * program's folder, the system's, the current one, PATH. */
static HMODULE dlpackgen_tvmffi_open(const char* path, wchar_t* wide, wchar_t* whole) {
  if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, DLPACKGEN_TVMFFI_PATH)) return NULL;
  if (!strpbrk(path, "/\\:")) return LoadLibraryExW(wide, NULL, 0);
  const DWORD length = GetFullPathNameW(wide, DLPACKGEN_TVMFFI_PATH, whole, NULL);
  if (length >= DLPACKGEN_TVMFFI_PATH) SetLastError(ERROR_FILENAME_EXCED_RANGE); /* which sets no error */
  if (length == 0 || length >= DLPACKGEN_TVMFFI_PATH) return NULL;
  return LoadLibraryExW(whole, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}

struct dlp_00000000_opened dlp_00000000_open_library(const char* path, int everywhere) {
  struct dlp_00000000_opened opened = {0, NULL};
  wchar_t* const buffer = malloc(2 * DLPACKGEN_TVMFFI_PATH * sizeof *buffer);
  (void)everywhere;
  opened.handle = buffer ? (uintptr_t)dlpackgen_tvmffi_open(path, buffer, buffer + DLPACKGEN_TVMFFI_PATH) : 0;
  const unsigned long error = buffer ? GetLastError() : ERROR_NOT_ENOUGH_MEMORY;
  free(buffer);
  if (!opened.handle && (opened.text = malloc(64)))
    snprintf(opened.text, 64, "LoadLibrary failed with error %lu", error);
  return opened;
}

void dlp_00000000_close_library(uintptr_t handle) { FreeLibrary((HMODULE)handle); }

uintptr_t dlp_00000000_symbol_in(uintptr_t handle, const char* name) {
  return (uintptr_t)GetProcAddress((HMODULE)handle, name);
}
#else
/* Opens a library. libtvm_ffi then replaces Go's handler of SIGSEGV by one that ends the process,
 * so that a nil pointer is no panic. A handler without SA_ONSTACK must not run in a program in Go;
 * Go's is restored. */
static void* dlpackgen_tvmffi_open(const char* path, int flags) {
  struct sigaction before, after;
  const int known = sigaction(SIGSEGV, NULL, &before) == 0;
  void* const handle = dlopen(path, flags);
  if (known && before.sa_flags & SA_ONSTACK && sigaction(SIGSEGV, NULL, &after) == 0 && !(after.sa_flags & SA_ONSTACK))
    (void)sigaction(SIGSEGV, &before, NULL);
  return handle;
}

/* The text of dlerror is this thread's. */
struct dlp_00000000_opened dlp_00000000_open_library(const char* path, int everywhere) {
  struct dlp_00000000_opened opened = {0, NULL};
  opened.handle = (uintptr_t)dlpackgen_tvmffi_open(path, RTLD_NOW | (everywhere ? RTLD_GLOBAL : RTLD_LOCAL));
  if (opened.handle) return opened;
  const char* text = dlerror();
  opened.text = strdup(text ? text : "dlopen failed");
  return opened;
}

void dlp_00000000_close_library(uintptr_t handle) { dlclose((void*)handle); }

uintptr_t dlp_00000000_symbol_in(uintptr_t handle, const char* name) { return (uintptr_t)dlsym((void*)handle, name); }
#endif

int dlp_00000000_has_runtime(void) { return dlpackgen_tvmffi_move_error() != NULL; }

/* -1 means that the error is set. No other status may be mistaken for a result. */
struct dlp_00000000_reply dlp_00000000_failed(int status) {
  struct dlp_00000000_reply reply = {0, status < 0 ? status : -1, 0};
  const dlpackgen_tvm_ffi_move_error move = reply.index == -1 ? dlpackgen_tvmffi_move_error() : NULL;
  void* error = NULL;
  if (move) move(&error);
  reply.bits = (uintptr_t)error;
  return reply;
}

/* Returns the object of a function of libtvm_ffi, or its error. */
static struct dlp_00000000_reply made(int status, void* object) {
  struct dlp_00000000_reply reply = {(uintptr_t)object, 0, 0};
  if (status) return dlp_00000000_failed(status);
  if (object) reply.index = ((struct dlpackgen_tvm_ffi_object*)object)->type_index;
  return reply;
}

static struct dlpackgen_tvm_ffi_byte_array array_of(const char* data, size_t size) {
  struct dlpackgen_tvm_ffi_byte_array array;
  array.data = data;
  array.size = size;
  return array;
}

void dlp_00000000_retain_object(uintptr_t object) { dlpackgen_tvmffi_retain()((void*)object); }

/* Without libtvm_ffi, an object of another library leaks. */
void dlp_00000000_release_object(uintptr_t object) {
  const dlpackgen_tvm_ffi_release release = dlpackgen_tvmffi_release();
  if (release) release((void*)object);
}

void dlp_00000000_raise(const char* kind, const char* message) { dlpackgen_tvmffi_set_error()(kind, message); }

struct dlp_00000000_reply dlp_00000000_text_of(const char* data, size_t size, int bytes) {
  struct dlpackgen_tvm_ffi_byte_array array = array_of(data, size);
  struct dlpackgen_tvm_ffi_any any;
  memset(&any, 0, sizeof any);
  struct dlp_00000000_reply reply =
      made((bytes ? dlpackgen_tvmffi_make_bytes() : dlpackgen_tvmffi_make_str())(&array, &any), NULL);
  if (reply.index < 0) return reply;
  reply.index = any.type_index;
  reply.size = any.small_str_len;
  reply.bits = (uint64_t)any.v_int64;
  return reply;
}

struct dlp_00000000_reply dlp_00000000_global(const char* name, size_t size) {
  struct dlpackgen_tvm_ffi_byte_array array = array_of(name, size);
  void* function = NULL;
  const int status = dlpackgen_tvmffi_get_global()(&array, &function);
  return made(status, function);
}

struct dlp_00000000_reply dlp_00000000_register(const char* name, size_t size, uintptr_t function, int replace) {
  struct dlpackgen_tvm_ffi_byte_array array = array_of(name, size);
  return made(dlpackgen_tvmffi_set_global()(&array, (void*)function, replace), NULL);
}

struct dlp_00000000_reply dlp_00000000_function_of(uintptr_t safe_call) {
  void* function = NULL;
  const int status = dlpackgen_tvmffi_make_function()(
      NULL, (int (*)(void*, const struct dlpackgen_tvm_ffi_any*, int32_t, struct dlpackgen_tvm_ffi_any*))safe_call,
      NULL, &function);
  return made(status, function);
}

/* In Go. */
extern int dlp_00000000_tvmffi_called(uintptr_t handle, uintptr_t args, int32_t count, uintptr_t result);
extern void dlp_00000000_tvmffi_deleted(uintptr_t handle);

static int called(void* self, const struct dlpackgen_tvm_ffi_any* args, int32_t count,
                  struct dlpackgen_tvm_ffi_any* result) {
  return dlp_00000000_tvmffi_called((uintptr_t)self, (uintptr_t)args, count, (uintptr_t)result);
}

static void deleted(void* self) { dlp_00000000_tvmffi_deleted((uintptr_t)self); }

struct dlp_00000000_reply dlp_00000000_function_of_go(uintptr_t handle) {
  void* function = NULL;
  const int status = dlpackgen_tvmffi_make_function()((void*)handle, called, deleted, &function);
  return made(status, function);
}

struct dlp_00000000_reply dlp_00000000_tensor_of(uintptr_t managed) {
  void* tensor = NULL;
  const int status = dlpackgen_tvmffi_from_dlpack()((DLManagedTensorVersioned*)managed, 0, 0, &tensor);
  return made(status, tensor);
}

/* The tensor's address is in bits. */
struct dlp_00000000_reply dlp_00000000_managed_of(uintptr_t tensor) {
  DLManagedTensorVersioned* managed = NULL;
  struct dlp_00000000_reply reply = made(dlpackgen_tvmffi_to_dlpack()((void*)tensor, &managed), NULL);
  if (reply.index >= 0) reply.bits = (uintptr_t)managed;
  return reply;
}

struct dlp_00000000_reply dlp_00000000_allocate_by(uintptr_t allocator) {
  return made(dlpackgen_tvmffi_set_allocator()((void*)allocator, 1, NULL), NULL);
}
