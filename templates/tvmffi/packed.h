/* Functions for TVM before 0.20 (TVMBackendPackedCFunc), which call the functions for tvm-ffi.
 * Arguments are tensors, scalars and texts, results are scalars. */
#ifndef DLPACKGEN_TVMFFI_PACKED_H_
#define DLPACKGEN_TVMFFI_PACKED_H_

#include "results.h"

/* TVMValue of tvm/runtime/c_runtime_api.h. */
union dlpackgen_packed_value {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
  const char* v_str;
};

/* TVMArgTypeCode of the same. */
enum {
  DLPACKGEN_PACKED_INT = 0,
  DLPACKGEN_PACKED_FLOAT = 2,
  DLPACKGEN_PACKED_NULL = 4,
  DLPACKGEN_PACKED_DLTENSOR = 7,
  DLPACKGEN_PACKED_STR = 11,
  DLPACKGEN_PACKED_NDARRAY = 13,
  DLPACKGEN_PACKED_BOOL = 15
};

/* The arguments and results of any kernel. */
enum { DLPACKGEN_PACKED_MOST = 64 };

/* TVM sets it when it loads the library. */
DLPACKGEN_TVMFFI_EXPORT extern void (*__TVMAPISetLastError)(const char*);
void (*__TVMAPISetLastError)(const char*) = 0;

static struct dlpackgen_tvm_ffi_any dlpackgen_packed_argument(const union dlpackgen_packed_value* from, int code) {
  struct dlpackgen_tvm_ffi_any value = dlpackgen_tvmffi_of_int(from->v_int64);
  switch (code) {
    case DLPACKGEN_PACKED_INT: break;
    case DLPACKGEN_PACKED_FLOAT: value.type_index = DLPACKGEN_TVM_FFI_FLOAT; break;
    case DLPACKGEN_PACKED_BOOL: value.type_index = DLPACKGEN_TVM_FFI_BOOL; break;
    case DLPACKGEN_PACKED_NULL: value.type_index = DLPACKGEN_TVM_FFI_NONE; break;
    case DLPACKGEN_PACKED_STR: value.type_index = DLPACKGEN_TVM_FFI_RAW_STR; break;
    case DLPACKGEN_PACKED_DLTENSOR:
    case DLPACKGEN_PACKED_NDARRAY: value.type_index = DLPACKGEN_TVM_FFI_DLTENSOR; break;
    default: value.type_index = DLPACKGEN_TVM_FFI_OPAQUE_POINTER; break;
  }
  return value;
}

static int dlpackgen_packed_fail(int status, const char* sentence) {
  char text[DLPACKGEN_TVMFFI_SENTENCE + 64];
  struct dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  void (*set)(const char*) = __TVMAPISetLastError;
  if (!set) {
    void* const found = dlpackgen_tvmffi_symbol("TVMAPISetLastError");
    memcpy(&set, &found, sizeof set);
  }
  dlpackgen_put(&message, dlpackgen_tvmffi_class(status));
  dlpackgen_put(&message, ": ");
  dlpackgen_put(&message, sentence);
  if (set) set(text);
  return -1;
}

/* Returns a scalar; 0 if a value is not a scalar. */
static int dlpackgen_packed_return(const struct dlpackgen_tvm_ffi_any* value, union dlpackgen_packed_value* result,
                                   int* code) {
  switch (value->type_index) {
    case DLPACKGEN_TVM_FFI_NONE: *code = DLPACKGEN_PACKED_NULL; break;
    case DLPACKGEN_TVM_FFI_INT:
    case DLPACKGEN_TVM_FFI_BOOL: *code = DLPACKGEN_PACKED_INT; break;
    case DLPACKGEN_TVM_FFI_FLOAT: *code = DLPACKGEN_PACKED_FLOAT; break;
    default: return 0;
  }
  result->v_int64 = value->v_int64;
  return 1;
}

static int dlpackgen_packed_call(int (*kernel)(const struct dlpackgen_tvm_ffi_any*, int32_t,
                                               struct dlpackgen_tvm_ffi_any*, struct dlpackgen_message*),
                                 const union dlpackgen_packed_value* args, const int* codes, int count,
                                 union dlpackgen_packed_value* result, int* code) {
  struct dlpackgen_tvm_ffi_any values[DLPACKGEN_PACKED_MOST], made = dlpackgen_tvmffi_of_int(0);
  char text[DLPACKGEN_TVMFFI_SENTENCE];
  struct dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  if (count > DLPACKGEN_PACKED_MOST)
    return dlpackgen_packed_fail(DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_TOO_MANY_ARGUMENTS);
  for (int i = 0; i < count; i++) values[i] = dlpackgen_packed_argument(&args[i], codes[i]);
  made.type_index = DLPACKGEN_TVM_FFI_NONE;
  const int status = kernel(values, count, &made, &message);
  if (status) return dlpackgen_packed_fail(status, text);
  if (dlpackgen_packed_return(&made, result, code)) return 0;
  dlpackgen_tvmffi_drop(&made, 1);
  return dlpackgen_packed_fail(DLPACKGEN_STATUS_RUNTIME_ERROR, "only scalars can be returned: pass memory for tensors");
}

#endif /* DLPACKGEN_TVMFFI_PACKED_H_ */
