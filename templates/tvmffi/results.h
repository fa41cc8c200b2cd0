/* The results of a call: memory for tensors, values, and errors. */
#ifndef DLPACKGEN_TVMFFI_RESULTS_H_
#define DLPACKGEN_TVMFFI_RESULTS_H_

#include <kernels.h>
#include "block.h"
#include "copy.h"
#include "values.h"

/* The size of a message: sufficient for the shape and strides of a tensor with the maximum rank. */
enum { DLPACKGEN_TVMFFI_SENTENCE = 4096 };

/* The status of a call whose error is stored in libtvm_ffi. */
enum { DLPACKGEN_TVMFFI_RAISED = 65 };

/* Arguments */

DLPACKGEN_TVMFFI_UNUSED DLPACKGEN_SLOW static int dlpackgen_tvmffi_too_many(const char* function, int arguments,
                                                                            int results, int32_t count,
                                                                            struct dlpackgen_message* message) {
  dlpackgen_put(message, function);
  dlpackgen_put(message, "() takes ");
  dlpackgen_put_integer(message, arguments);
  dlpackgen_put(message, arguments == 1 ? " argument" : " arguments");
  if (results) {
    dlpackgen_put(message, ", or ");
    dlpackgen_put_integer(message, arguments + results);
    dlpackgen_put(message, results == 1 ? " with memory for its result" : " with memory for its results");
  }
  dlpackgen_put(message, ", got ");
  dlpackgen_put_integer(message, count);
  return DLPACKGEN_STATUS_TYPE_ERROR;
}

/* Checks the number of arguments: those of the kernel, or also memory for every result. Arguments
 * from `required` on may be omitted. */
static inline int dlpackgen_tvmffi_check_count(const struct dlpackgen_site* sites, const char* function, int required,
                                               int arguments, int results, int32_t count,
                                               struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(count > arguments && count != arguments + results))
    return dlpackgen_tvmffi_too_many(function, arguments, results, count, message);
  if (DLPACKGEN_RARE(count < required))
    return dlpackgen_fail(message, &sites[count > 0 ? count : 0], DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_MISSING);
  return DLPACKGEN_STATUS_OK;
}

/* Copies */

/* Host memory, aligned as DLPack recommends, and its allocation. */
struct dlpackgen_tvmffi_memory {
  void* block;
  struct dlpackgen_tvmffi_strided strided;
};

/* Allocates a C-contiguous tensor in host memory. */
DLPACKGEN_TVMFFI_UNUSED static DLTensor* dlpackgen_tvmffi_on_host(DLDataType dtype, int32_t ndim, const int64_t* shape,
                                                                  struct dlpackgen_tvmffi_memory* memory) {
  DLTensor made;
  memset(&made, 0, sizeof made);
  made.device.device_type = kDLCPU;
  made.dtype = dtype;
  made.ndim = ndim;
  made.shape = (int64_t*)(uintptr_t)shape;
  memory->block = dlpackgen_allocate_block(&made, &made.data);
  if (!memory->block) return NULL;
  return dlpackgen_tvmffi_add_strides(&made, &memory->strided);
}

/* Copies a tensor in host memory that is not C-contiguous. Other tensors are not copied; the check
 * reports them. */
DLPACKGEN_TVMFFI_UNUSED static int dlpackgen_tvmffi_make_contiguous(const struct dlpackgen_site* at, DLTensor** tensor,
                                                                    struct dlpackgen_tvmffi_memory* memory,
                                                                    struct dlpackgen_message* message) {
  const DLTensor* const from = *tensor;
  if (!from || dlpackgen_validate(from, 0, 0) != DLPACKGEN_OK || dlpackgen_is_contiguous(from)) return 0;
  const size_t item = dlpackgen_item_of(from, 0);
  if (item == 0) return 0;
  DLTensor* const copy = dlpackgen_tvmffi_on_host(from->dtype, from->ndim, from->shape, memory);
  if (!copy) return dlpackgen_fail(message, at, DLPACKGEN_STATUS_MEMORY_ERROR, DLPACKGEN_TEXT_NO_COPY);
  dlpackgen_copy_along(0, from, (char*)copy->data, (const char*)from->data + from->byte_offset, item);
  *tensor = copy;
  return DLPACKGEN_STATUS_OK;
}

/* Results */

DLPACKGEN_SLOW static int dlpackgen_tvmffi_no_result(const struct dlpackgen_site* at, const char* text, int status,
                                                     struct dlpackgen_message* message) {
  dlpackgen_put(message, at->function);
  dlpackgen_put(message, "(): result '");
  dlpackgen_put(message, at->argument);
  dlpackgen_put(message, "': ");
  dlpackgen_put(message, text);
  return status;
}

/* Allocates a result through the caller's library, which registers its allocator with tvm-ffi. The
 * caller owns the object. */
DLPACKGEN_TVMFFI_UNUSED static int dlpackgen_tvmffi_allocate(const struct dlpackgen_site* at,
                                                             const struct dlpackgen_result* wanted, DLDevice device,
                                                             struct dlpackgen_tvm_ffi_any* object, DLTensor** tensor,
                                                             struct dlpackgen_message* message) {
  const dlpackgen_tvm_ffi_get_allocator get = dlpackgen_tvmffi_get_allocator();
  const dlpackgen_tvm_ffi_make_tensor make = dlpackgen_tvmffi_make_tensor();
  DLTensor prototype;
  if (DLPACKGEN_RARE(!get || !make || !get()))
    return dlpackgen_tvmffi_no_result(at,
                                      "the caller's library has no allocator: pass memory for each result after the "
                                      "arguments",
                                      DLPACKGEN_STATUS_RUNTIME_ERROR, message);
  memset(&prototype, 0, sizeof prototype);
  prototype.device = device;
  prototype.ndim = wanted->ndim;
  prototype.dtype = wanted->dtype;
  prototype.shape = (int64_t*)(uintptr_t)wanted->shape;
  if (make(&prototype, &object->v_ptr)) return DLPACKGEN_TVMFFI_RAISED;
  object->type_index = DLPACKGEN_TVM_FFI_TENSOR;
  *tensor = (DLTensor*)dlpackgen_tvmffi_content(object);
  return DLPACKGEN_STATUS_OK;
}

/* Allocates a result that is not returned to callers: on the host, or like other results. */
DLPACKGEN_TVMFFI_UNUSED static int dlpackgen_tvmffi_make_saved(const struct dlpackgen_site* at,
                                                               const struct dlpackgen_result* wanted, DLDevice device,
                                                               struct dlpackgen_tvmffi_memory* memory,
                                                               struct dlpackgen_tvm_ffi_any* object, DLTensor** tensor,
                                                               struct dlpackgen_message* message) {
  if (device.device_type != kDLCPU) return dlpackgen_tvmffi_allocate(at, wanted, device, object, tensor, message);
  *tensor = dlpackgen_tvmffi_on_host(wanted->dtype, wanted->ndim, wanted->shape, memory);
  if (*tensor) return DLPACKGEN_STATUS_OK;
  return dlpackgen_tvmffi_no_result(at, "no memory", DLPACKGEN_STATUS_MEMORY_ERROR, message);
}

/* Releases objects that are not returned to the caller. */
DLPACKGEN_TVMFFI_UNUSED static void dlpackgen_tvmffi_drop(const struct dlpackgen_tvm_ffi_any* values, int count) {
  for (int i = 0; i < count; i++) {
    if (values[i].type_index < DLPACKGEN_TVM_FFI_OBJECT) continue;
    const dlpackgen_tvm_ffi_release release = dlpackgen_tvmffi_release();
    if (release) release(values[i].v_ptr);
  }
}

DLPACKGEN_TVMFFI_UNUSED static struct dlpackgen_tvm_ffi_any dlpackgen_tvmffi_of_int(int64_t number) {
  struct dlpackgen_tvm_ffi_any value;
  memset(&value, 0, sizeof value);
  value.type_index = DLPACKGEN_TVM_FFI_INT;
  value.v_int64 = number;
  return value;
}

DLPACKGEN_TVMFFI_UNUSED static struct dlpackgen_tvm_ffi_any dlpackgen_tvmffi_of_bool(bool truth) {
  struct dlpackgen_tvm_ffi_any value = dlpackgen_tvmffi_of_int(truth);
  value.type_index = DLPACKGEN_TVM_FFI_BOOL;
  return value;
}

DLPACKGEN_TVMFFI_UNUSED static struct dlpackgen_tvm_ffi_any dlpackgen_tvmffi_of_float(double number) {
  struct dlpackgen_tvm_ffi_any value = dlpackgen_tvmffi_of_int(0);
  value.type_index = DLPACKGEN_TVM_FFI_FLOAT;
  value.v_float64 = number;
  return value;
}

/* An integer above the range of int64 is an object or, if libtvm_ffi does not support it, a
 * float. */
DLPACKGEN_TVMFFI_UNUSED static struct dlpackgen_tvm_ffi_any dlpackgen_tvmffi_of_natural(uint64_t number) {
  const dlpackgen_tvm_ffi_make_big_int make = dlpackgen_tvmffi_make_big_int();
  const uint64_t words[2] = {number, 0};
  const struct dlpackgen_tvm_ffi_byte_array bytes = {(const char*)words, sizeof words};
  struct dlpackgen_tvm_ffi_any value = dlpackgen_tvmffi_of_int((int64_t)number);
  if (number <= INT64_MAX || (make && make(&bytes, &value) == 0)) return value;
  return dlpackgen_tvmffi_of_float((double)number);
}

/* Creates an Array of several values. */
static int dlpackgen_tvmffi_pack(const char* function, struct dlpackgen_tvm_ffi_any* values, int count,
                                 struct dlpackgen_tvm_ffi_any* result, struct dlpackgen_message* message) {
  static const struct dlpackgen_tvm_ffi_byte_array name = {"ffi.Array", 9};
  const dlpackgen_tvm_ffi_get_global get = dlpackgen_tvmffi_get_global();
  const dlpackgen_tvm_ffi_call call = dlpackgen_tvmffi_call();
  void* make = NULL;
  if (!get || !call || get(&name, &make) || !make) {
    dlpackgen_put(message, function);
    dlpackgen_put(message, "(): several results need the function ffi.Array of libtvm_ffi");
    return DLPACKGEN_STATUS_RUNTIME_ERROR;
  }
  const int failed = call(make, values, count, result);
  const dlpackgen_tvm_ffi_release release = dlpackgen_tvmffi_release();
  if (release) release(make);
  return failed ? DLPACKGEN_TVMFFI_RAISED : DLPACKGEN_STATUS_OK;
}

/* Returns a value, or several as an Array, in which results that were written in place are None. */
DLPACKGEN_TVMFFI_UNUSED static int dlpackgen_tvmffi_return(const char* function, struct dlpackgen_tvm_ffi_any* values,
                                                           int count, struct dlpackgen_tvm_ffi_any* result,
                                                           struct dlpackgen_message* message) {
  int made = 0;
  for (int i = 0; i < count; i++) {
    const struct dlpackgen_tvm_ffi_any value = values[i];
    values[i].type_index = DLPACKGEN_TVM_FFI_NONE;
    if (value.type_index != DLPACKGEN_TVM_FFI_NONE) values[made++] = value;
  }
  if (made > 1) return dlpackgen_tvmffi_pack(function, values, made, result, message);
  if (made) *result = values[0];
  values[0].type_index = DLPACKGEN_TVM_FFI_NONE;
  return DLPACKGEN_STATUS_OK;
}

/* The caller's stream on a device with streams. */
DLPACKGEN_TVMFFI_UNUSED static void* dlpackgen_tvmffi_stream(DLDevice device) {
  const dlpackgen_tvm_ffi_get_stream get = dlpackgen_tvmffi_get_stream();
  if (device.device_type == kDLCPU || !get) return NULL;
  return get((int32_t)device.device_type, device.device_id);
}

/* Errors */

/* The name of the Python exception for a status. */
static const char* dlpackgen_tvmffi_class(int status) {
  switch (status) {
    case DLPACKGEN_STATUS_OVERFLOW: return "OverflowError";
#define DLPACKGEN_TVMFFI_CLASS(name, exception, number) \
  case number: return #exception;
      DLPACKGEN_STATUSES(DLPACKGEN_TVMFFI_CLASS)
#undef DLPACKGEN_TVMFFI_CLASS
  }
  return "RuntimeError";
}

DLPACKGEN_TVMFFI_UNUSED DLPACKGEN_SLOW static int dlpackgen_tvmffi_fail(int status, const char* text) {
  const dlpackgen_tvm_ffi_set_error set = dlpackgen_tvmffi_set_error();
  if (status != DLPACKGEN_TVMFFI_RAISED && set) set(dlpackgen_tvmffi_class(status), text);
  return -1;
}

/* Returns a text. */
DLPACKGEN_TVMFFI_UNUSED static int dlpackgen_tvmffi_return_text(const char* text,
                                                                struct dlpackgen_tvm_ffi_any* result) {
  const dlpackgen_tvm_ffi_make_str make = dlpackgen_tvmffi_make_str();
  const struct dlpackgen_tvm_ffi_byte_array bytes = {text, strlen(text)};
  return make ? make(&bytes, result) : -1;
}

#if defined(_WIN32)
#define DLPACKGEN_TVMFFI_EXPORT __declspec(dllexport)
#else
#define DLPACKGEN_TVMFFI_EXPORT __attribute__((visibility("default")))
#endif

/* Defines a function that returns a text. */
#define DLPACKGEN_TVMFFI_TEXT(symbol, text)                                                                 \
  DLPACKGEN_TVMFFI_EXPORT int symbol(void* handle, const struct dlpackgen_tvm_ffi_any* args, int32_t count, \
                                     struct dlpackgen_tvm_ffi_any* result);                                 \
  int symbol(void* handle, const struct dlpackgen_tvm_ffi_any* args, int32_t count,                         \
             struct dlpackgen_tvm_ffi_any* result) {                                                        \
    (void)handle, (void)args, (void)count;                                                                  \
    return dlpackgen_tvmffi_return_text(text, result);                                                      \
  }

#endif /* DLPACKGEN_TVMFFI_RESULTS_H_ */
