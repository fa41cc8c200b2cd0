/* Reads the parts of the call frames that XLA passes to a handler. A handler has a line for each
 * part, with all information from the description. Part of kernels_jax.c. */
#ifndef DLPACKGEN_JAX_HANDLER_H_
#define DLPACKGEN_JAX_HANDLER_H_

#include "parameters.h"
#include "xla_ffi_abi.h"

/* A call that is being read. Its address is passed only to inlined functions, so it stays in
 * registers. */
struct dlpackgen_jax_call {
  const struct dlpackgen_xla_ffi_frame* frame;
  const char* kernel;
  DLDevice device;
  void* error; /* of XLA, after a failure */
};

/* A tensor over a buffer, with room for its strides. */
struct dlpackgen_jax_tensor {
  DLTensor tensor;
  int64_t strides[DLPACKGEN_JAX_NDIM];
};

/* Errors */

/* The code of an error for a status. */
static int32_t dlpackgen_jax_code(int status) {
  switch (status) {
    case DLPACKGEN_STATUS_TYPE_ERROR:
    case DLPACKGEN_STATUS_VALUE_ERROR:
    case DLPACKGEN_STATUS_BUFFER_ERROR: return DLPACKGEN_XLA_FFI_INVALID_ARGUMENT;
    case DLPACKGEN_STATUS_INDEX_ERROR: return DLPACKGEN_XLA_FFI_OUT_OF_RANGE;
    case DLPACKGEN_STATUS_MEMORY_ERROR: return DLPACKGEN_XLA_FFI_RESOURCE_EXHAUSTED;
    case DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR: return DLPACKGEN_XLA_FFI_UNIMPLEMENTED;
    default: return DLPACKGEN_XLA_FFI_INTERNAL;
  }
}

/* The result of a handler: NULL for success. XLA copies the text. */
DLPACKGEN_PART inline void* dlpackgen_jax_reply(const struct dlpackgen_xla_ffi_frame* frame, int status,
                                                const char* text) {
  if (!DLPACKGEN_RARE(status)) return NULL;
  struct dlpackgen_xla_ffi_error_request error = {
      .struct_size = 28, .message = text, .errc = dlpackgen_jax_code(status)};
  return frame->api->create_error(&error);
}

/* The error of a call that kernels_jax.py does not make. */
DLPACKGEN_SLOW static void* dlpackgen_jax_unexpected(const struct dlpackgen_xla_ffi_frame* frame, const char* kernel,
                                                     const char* what) {
  char text[4096];
  struct dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  dlpackgen_put(&message, kernel);
  dlpackgen_put(&message, "(): XLA's call has ");
  dlpackgen_put(&message, what);
  dlpackgen_put(&message, ": it was compiled for a different version of the library");
  return dlpackgen_jax_reply(frame, DLPACKGEN_STATUS_VALUE_ERROR, text);
}

DLPACKGEN_FAST int dlpackgen_jax_foreign(struct dlpackgen_jax_call* call, const char* what) {
  call->error = dlpackgen_jax_unexpected(call->frame, call->kernel, what);
  return DLPACKGEN_STATUS_VALUE_ERROR;
}

/* Buffers */

/* Sets strides for contiguous elements, from the last dimension to the first or the other way
 * round. */
DLPACKGEN_FAST void dlpackgen_jax_stride(struct dlpackgen_jax_tensor* to, int32_t ndim, int is_column_major) {
  int64_t elements = 1;
  for (int32_t i = 0; i < ndim; i++) {
    const int32_t at = is_column_major ? i : ndim - 1 - i;
    to->strides[at] = elements;
    elements *= to->tensor.shape[at];
  }
}

DLPACKGEN_PART inline void dlpackgen_jax_stride_any(struct dlpackgen_jax_tensor* to, int is_column_major) {
  dlpackgen_jax_stride(to, to->tensor.ndim, is_column_major);
}

/* The same without a loop, for the rank of the description; -1 is any rank. */
DLPACKGEN_FAST void dlpackgen_jax_arrange(struct dlpackgen_jax_tensor* to, int32_t rank, int is_column_major) {
  if (DLPACKGEN_RARE(rank < 0 || to->tensor.ndim != rank)) dlpackgen_jax_stride_any(to, is_column_major);
  else dlpackgen_jax_stride(to, rank, is_column_major);
}

/* XLA never passes a negative extent, or more elements than the memory has bytes. */
DLPACKGEN_PART inline int dlpackgen_jax_borrow(struct dlpackgen_jax_call* call, const void* from,
                                               struct dlpackgen_jax_tensor* to) {
  const struct dlpackgen_xla_ffi_buffer* const buffer = (const struct dlpackgen_xla_ffi_buffer*)from;
  const size_t known = sizeof dlpackgen_jax_dtypes / sizeof *dlpackgen_jax_dtypes;
  if (DLPACKGEN_RARE((uint64_t)buffer->rank > DLPACKGEN_JAX_NDIM))
    return dlpackgen_jax_foreign(call, "too large a rank");
  if (DLPACKGEN_RARE((size_t)buffer->dtype >= known || !dlpackgen_jax_dtypes[buffer->dtype].bits))
    return dlpackgen_jax_foreign(call, "a dtype without a DLPack equivalent");
  to->tensor.dtype = dlpackgen_jax_dtypes[buffer->dtype];
  to->tensor.data = buffer->data;
  to->tensor.device = call->device;
  to->tensor.ndim = (int32_t)buffer->rank;
  to->tensor.shape = buffer->dims;
  to->tensor.strides = to->strides;
  to->tensor.byte_offset = 0;
  return DLPACKGEN_STATUS_OK;
}

DLPACKGEN_PART inline int dlpackgen_jax_argument(struct dlpackgen_jax_call* call, int64_t i, int32_t rank,
                                                 int is_column_major, struct dlpackgen_jax_tensor* to) {
  const struct dlpackgen_xla_ffi_arguments* const all = &call->frame->args;
  if (DLPACKGEN_RARE(i >= all->size || all->types[i] != DLPACKGEN_XLA_FFI_BUFFER_ARGUMENT))
    return dlpackgen_jax_foreign(call, "too few arguments");
  const int status = dlpackgen_jax_borrow(call, all->args[i], to);
  if (!status) dlpackgen_jax_arrange(to, rank, is_column_major);
  return status;
}

/* Returns a result, or NULL. */
DLPACKGEN_PART inline const void* dlpackgen_jax_result_of(const struct dlpackgen_jax_call* call, int64_t i) {
  const struct dlpackgen_xla_ffi_results* const all = &call->frame->rets;
  return i < all->size && all->types[i] == DLPACKGEN_XLA_FFI_BUFFER_RESULT ? all->rets[i] : NULL;
}

DLPACKGEN_PART inline int dlpackgen_jax_result(struct dlpackgen_jax_call* call, int64_t i, int32_t rank,
                                               struct dlpackgen_jax_tensor* to) {
  const void* const from = dlpackgen_jax_result_of(call, i);
  if (DLPACKGEN_RARE(!from)) return dlpackgen_jax_foreign(call, "too few results");
  const int status = dlpackgen_jax_borrow(call, from, to);
  if (!status) dlpackgen_jax_arrange(to, rank, 0);
  return status;
}

/* A written argument is also a result, in the same memory: XLA copies it if the old value is still
 * needed. Memory without elements has no address. */
DLPACKGEN_PART inline int dlpackgen_jax_written(struct dlpackgen_jax_call* call, int64_t i, const DLTensor* argument) {
  const struct dlpackgen_xla_ffi_buffer* const again =
      (const struct dlpackgen_xla_ffi_buffer*)dlpackgen_jax_result_of(call, i);
  if (DLPACKGEN_RARE(!again)) return dlpackgen_jax_foreign(call, "too few results");
  if (again->data == argument->data) return DLPACKGEN_STATUS_OK;
  for (int32_t d = 0; d < argument->ndim; d++)
    if (argument->shape[d] == 0) return DLPACKGEN_STATUS_OK;
  return dlpackgen_jax_foreign(call, "a result that does not alias its argument");
}

/* Attributes, which XLA sorts by name */

DLPACKGEN_PART inline const void* dlpackgen_jax_attribute(const struct dlpackgen_jax_call* call, int64_t i,
                                                          int32_t type) {
  const struct dlpackgen_xla_ffi_attributes* const all = &call->frame->attrs;
  return all->types[i] == type ? all->attrs[i] : NULL;
}

/* Returns the value of a scalar of a dtype, or NULL. */
DLPACKGEN_PART inline const void* dlpackgen_jax_scalar(const struct dlpackgen_jax_call* call, int64_t i,
                                                       int32_t dtype) {
  const struct dlpackgen_xla_ffi_scalar* const scalar =
      (const struct dlpackgen_xla_ffi_scalar*)dlpackgen_jax_attribute(call, i, DLPACKGEN_XLA_FFI_SCALAR_ATTRIBUTE);
  return scalar && scalar->dtype == dtype ? scalar->value : NULL;
}

DLPACKGEN_PART inline int dlpackgen_jax_read_scalar(const struct dlpackgen_jax_call* call, int64_t i, int kind,
                                                    struct dlpackgen_traced_value* to) {
  const void* from = NULL;
  if (kind == DLPACKGEN_JAX_TRUTH) {
    from = dlpackgen_jax_scalar(call, i, DLPACKGEN_XLA_FFI_DTYPE_PRED);
    if (from) to->integer = *(const bool*)from;
    return from != NULL;
  }
  if (kind != DLPACKGEN_JAX_REAL) from = dlpackgen_jax_scalar(call, i, DLPACKGEN_XLA_FFI_DTYPE_S64);
  if (from) {
    to->integer = *(const int64_t*)from;
    to->real = 0;
    return 1;
  }
  if (kind != DLPACKGEN_JAX_INTEGER) from = dlpackgen_jax_scalar(call, i, DLPACKGEN_XLA_FFI_DTYPE_F64);
  to->integer = 0;
  if (from) to->real = *(const double*)from;
  return from != NULL;
}

/* A text is terminated by NUL, and contains no other NUL. */
DLPACKGEN_PART inline int dlpackgen_jax_read_text(const struct dlpackgen_jax_call* call, int64_t i,
                                                  struct dlpackgen_traced_value* to) {
  const struct dlpackgen_xla_ffi_text* const text =
      (const struct dlpackgen_xla_ffi_text*)dlpackgen_jax_attribute(call, i, DLPACKGEN_XLA_FFI_STRING_ATTRIBUTE);
  if (!text || !text->len || memchr(text->ptr, 0, text->len) != text->ptr + text->len - 1) return 0;
  to->items = (void*)(uintptr_t)text->ptr;
  return 1;
}

DLPACKGEN_PART inline int dlpackgen_jax_read_list(const struct dlpackgen_jax_call* call, int64_t i, int32_t dtype,
                                                  struct dlpackgen_traced_value* to) {
  static int64_t none; /* an empty list differs from a missing list */
  const struct dlpackgen_xla_ffi_array* const array =
      (const struct dlpackgen_xla_ffi_array*)dlpackgen_jax_attribute(call, i, DLPACKGEN_XLA_FFI_ARRAY_ATTRIBUTE);
  if (!array || (array->size && array->dtype != dtype)) return 0;
  to->items = array->size ? array->data : (void*)&none;
  to->count = (int64_t)array->size;
  return 1;
}

/* Reads the attribute at a place. */
DLPACKGEN_PART inline int dlpackgen_jax_read(struct dlpackgen_jax_call* call, int64_t at, int kind,
                                             struct dlpackgen_traced_value* to) {
  int is_read = 0;
  switch (kind) {
    case DLPACKGEN_JAX_TEXT: is_read = dlpackgen_jax_read_text(call, at, to); break;
    case DLPACKGEN_JAX_INTEGERS: is_read = dlpackgen_jax_read_list(call, at, DLPACKGEN_XLA_FFI_DTYPE_S64, to); break;
    case DLPACKGEN_JAX_REALS: is_read = dlpackgen_jax_read_list(call, at, DLPACKGEN_XLA_FFI_DTYPE_F64, to); break;
    default: is_read = dlpackgen_jax_read_scalar(call, at, kind, to); break;
  }
  return is_read ? DLPACKGEN_STATUS_OK : dlpackgen_jax_foreign(call, "attributes of unexpected types");
}

#define DLPACKGEN_JAX_DTYPE(code, bits) ((DLDataType){code, bits, 1})

/* The error of an integer that its dtype cannot represent. */
DLPACKGEN_SLOW static void* dlpackgen_jax_out_of_range(const struct dlpackgen_xla_ffi_frame* frame,
                                                       const struct dlpackgen_site* at, DLDataType dtype,
                                                       int64_t number) {
  char text[4096];
  struct dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  dlpackgen_put_site(&message, at);
  dlpackgen_put_out_of_range(&message, dtype);
  dlpackgen_put_integer(&message, number);
  return dlpackgen_jax_reply(frame, DLPACKGEN_STATUS_VALUE_ERROR, text);
}

/* Compares an integer with the range of its dtype. */
DLPACKGEN_PART inline int dlpackgen_jax_fits(struct dlpackgen_jax_call* call, const struct dlpackgen_site* at,
                                             DLDataType dtype, int64_t number) {
  if (!DLPACKGEN_RARE(!dlpackgen_represents_integer(dtype, number))) return DLPACKGEN_STATUS_OK;
  call->error = dlpackgen_jax_out_of_range(call->frame, at, dtype, number);
  return DLPACKGEN_STATUS_VALUE_ERROR;
}

/* Frames */

DLPACKGEN_PART inline int dlpackgen_jax_begin(struct dlpackgen_jax_call* call, int64_t attributes) {
  if (!DLPACKGEN_RARE(call->frame->attrs.size != attributes)) return DLPACKGEN_STATUS_OK;
  return dlpackgen_jax_foreign(call, "an unexpected number of attributes");
}

/* Reads the mask of arguments that are not None. Required arguments are always read. */
DLPACKGEN_PART inline int dlpackgen_jax_mask(struct dlpackgen_jax_call* call, int64_t* mask) {
  const int64_t* const found = (const int64_t*)dlpackgen_jax_scalar(call, 0, DLPACKGEN_XLA_FFI_DTYPE_S64);
  if (DLPACKGEN_RARE(!found)) return dlpackgen_jax_foreign(call, "attributes of unexpected types");
  *mask = *found;
  return DLPACKGEN_STATUS_OK;
}

/* Compares the numbers of arguments and results. Kernels without optional arguments do so first: a
 * compiler then drops the comparisons for each of them. */
DLPACKGEN_PART inline int dlpackgen_jax_counts(struct dlpackgen_jax_call* call, int64_t arguments, int64_t results) {
  const int64_t passed = call->frame->args.size, made = call->frame->rets.size;
  if (DLPACKGEN_RARE(passed != arguments))
    return dlpackgen_jax_foreign(call, passed < arguments ? "too few arguments" : DLPACKGEN_TEXT_TOO_MANY_ARGUMENTS);
  if (DLPACKGEN_RARE(made != results))
    return dlpackgen_jax_foreign(call, made < results ? "too few results" : "too many results");
  return DLPACKGEN_STATUS_OK;
}

/* Queries of XLA and their answers */

/* Returns 1 if the call only queries the version of the protocol, and sets the version; else 0. */
DLPACKGEN_PART inline int dlpackgen_jax_describe(const struct dlpackgen_xla_ffi_frame* frame, uint32_t traits) {
  for (const struct dlpackgen_xla_ffi_extension* e = frame->extension_start; e; e = e->next) {
    if (e->type != DLPACKGEN_XLA_FFI_EXTENSION_METADATA) continue;
    struct dlpackgen_xla_ffi_metadata* const to = ((const struct dlpackgen_xla_ffi_metadata_extension*)e)->metadata;
    to->api_version.major_version = 0;
    to->api_version.minor_version = 1;
    to->traits = traits;
    return 1;
  }
  return 0;
}

/* Sets the stream and the number of a device that is not the host. Returns NULL, or XLA's error. */
DLPACKGEN_PART inline void* dlpackgen_jax_place(struct dlpackgen_jax_call* call, void** stream) {
  const struct dlpackgen_xla_ffi_api* const api = call->frame->api;
  struct dlpackgen_xla_ffi_stream_request current = {.struct_size = 32, .ctx = call->frame->ctx};
  void* error = api->get_stream(&current);
  *stream = current.stream;
  if (error || api->struct_size < sizeof *api) return error; /* before jaxlib 0.6 */
  struct dlpackgen_xla_ffi_ordinal_request ordinal = {.struct_size = 28, .ctx = call->frame->ctx};
  error = api->get_ordinal(&ordinal);
  call->device.device_id = ordinal.device_ordinal;
  return error;
}

#endif /* DLPACKGEN_JAX_HANDLER_H_ */
