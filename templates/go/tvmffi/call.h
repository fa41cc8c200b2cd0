/* How the Go files call tvm-ffi: one crossing for each call. Not part of the package's
 * interface. */
#ifndef dlp_00000000_TVMFFI_CALL_H
#define dlp_00000000_TVMFFI_CALL_H

#include <stddef.h>
#include <stdint.h>
#include "tvm_ffi_abi.h"

#if defined(_WIN32)
#define dlp_00000000_TVMFFI_LOCAL
#else
#define dlp_00000000_TVMFFI_LOCAL __attribute__((visibility("hidden")))
#endif

/* A TVMFFIAny without pointers, because it is in Go memory. */
struct dlp_00000000_packed {
  int32_t index;
  uint32_t size; /* of a small text, else 0 */
  uint64_t bits;
};

/* A result. After a failure index is the status, which is negative, and bits the Error object or 0.
 * Two words are returned in registers. */
struct dlp_00000000_reply {
  uint64_t bits;
  int32_t index;
  uint32_t size;
};

typedef int (*dlp_00000000_safe_call)(void* self, const struct dlp_00000000_packed* args, int32_t count,
                                      struct dlp_00000000_packed* result);

/* Takes the error of this thread. */
dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_reply dlp_00000000_failed(int status);

/* Calls a function. Addresses are numbers: cgo would check pointer arguments for Go memory behind
 * them. */
static inline struct dlp_00000000_reply dlp_00000000_call(uintptr_t function, uintptr_t self,
                                                          const struct dlp_00000000_packed* args, int32_t count) {
  struct dlp_00000000_packed result = {0, 0, 0};
  const int status = ((dlp_00000000_safe_call)function)((void*)self, args, count, &result);
  if (__builtin_expect(status != 0, 0)) return dlp_00000000_failed(status);
  struct dlp_00000000_reply reply = {result.bits, result.index, result.size};
  return reply;
}

/* A Value of the Go package. Its pointer, which is not read, is a number: cgo would check it. */
struct dlp_00000000_value {
  int32_t index;
  uint32_t unused;
  uint64_t bits;
  uint64_t target;
};

enum {
  dlp_00000000_FEW = 6,                                         /* the arguments that a call packs on the stack */
  dlp_00000000_BITS = offsetof(struct dlp_00000000_value, bits) /* compared with Go */
};

/* Packs a value, and returns its kind. */
static inline uint32_t dlp_00000000_pack(struct dlp_00000000_packed* args, const struct dlp_00000000_value* values,
                                         int i) {
  const struct dlp_00000000_packed packed = {values[i].index, 0, values[i].bits};
  args[i] = packed;
  return (uint32_t)packed.index;
}

/* Calls with up to dlp_00000000_FEW arguments. Go's stack may move during the call, so that values
 * are read before it. If one needs a conversion, nothing is called, and the reply has index -1 and
 * a size. A loop would take 2 ns longer for three arguments. */
static inline struct dlp_00000000_reply dlp_00000000_call_few(uintptr_t function, uintptr_t self,
                                                              const struct dlp_00000000_value* values, int32_t count) {
  struct dlp_00000000_packed args[dlp_00000000_FEW];
  uint32_t kinds = 0;
  switch (count) {
    case 6: kinds |= dlp_00000000_pack(args, values, 5); /* fall through */
    case 5: kinds |= dlp_00000000_pack(args, values, 4); /* fall through */
    case 4: kinds |= dlp_00000000_pack(args, values, 3); /* fall through */
    case 3: kinds |= dlp_00000000_pack(args, values, 2); /* fall through */
    case 2: kinds |= dlp_00000000_pack(args, values, 1); /* fall through */
    case 1: kinds |= dlp_00000000_pack(args, values, 0); /* fall through */
    default: break;
  }
  /* All bits of the last plain kind are set, so it bounds all kinds at once. */
  if (__builtin_expect(kinds > DLPACKGEN_TVM_FFI_DLTENSOR, 0)) {
    const struct dlp_00000000_reply reply = {0, -1, 1};
    return reply;
  }
  return dlp_00000000_call(function, self, args, count);
}

static inline struct dlp_00000000_reply dlp_00000000_call_many(uintptr_t function, uintptr_t self,
                                                               const uint64_t* words, int32_t count) {
  return dlp_00000000_call(function, self, (const struct dlp_00000000_packed*)(const void*)words, count);
}

/* A handle, or the reason for a failure in text, which the caller frees. */
struct dlp_00000000_opened {
  uintptr_t handle;
  char* text;
};

dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_opened dlp_00000000_open_library(const char* path, int everywhere);
dlp_00000000_TVMFFI_LOCAL void dlp_00000000_close_library(uintptr_t handle);
dlp_00000000_TVMFFI_LOCAL uintptr_t dlp_00000000_symbol_in(uintptr_t handle, const char* name);

/* Returns whether libtvm_ffi is in the process. */
dlp_00000000_TVMFFI_LOCAL int dlp_00000000_has_runtime(void);

/* Functions of libtvm_ffi, which must be in the process. Results are objects with a reference for
 * the caller. */
dlp_00000000_TVMFFI_LOCAL void dlp_00000000_retain_object(uintptr_t object);
dlp_00000000_TVMFFI_LOCAL void dlp_00000000_release_object(uintptr_t object);
dlp_00000000_TVMFFI_LOCAL void dlp_00000000_raise(const char* kind, const char* message);
dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_reply dlp_00000000_text_of(const char* data, size_t size, int bytes);
dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_reply dlp_00000000_global(const char* name, size_t size);
dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_reply dlp_00000000_register(const char* name, size_t size,
                                                                          uintptr_t function, int replace);
dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_reply dlp_00000000_function_of(uintptr_t safe_call);
dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_reply dlp_00000000_function_of_go(uintptr_t handle);
dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_reply dlp_00000000_tensor_of(uintptr_t managed);
dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_reply dlp_00000000_managed_of(uintptr_t tensor);
dlp_00000000_TVMFFI_LOCAL struct dlp_00000000_reply dlp_00000000_allocate_by(uintptr_t allocator);

#endif
