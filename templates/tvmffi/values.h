/* Reads values of tvm-ffi: tensors, scalars, texts and lists. All are borrowed for the call. */
#ifndef DLPACKGEN_TVMFFI_VALUES_H_
#define DLPACKGEN_TVMFFI_VALUES_H_

#include <stdlib.h>
#include <string.h>
#include "scalar.h"
#include "symbols.h"

/* A value and its contents. An object whose ownership the caller transfers has the same form. */
static struct dlpackgen_tvm_ffi_any dlpackgen_tvmffi_value(const struct dlpackgen_tvm_ffi_any* from) {
  struct dlpackgen_tvm_ffi_any value = *from;
  if (value.type_index == DLPACKGEN_TVM_FFI_RVALUE) {
    value.v_obj = *(struct dlpackgen_tvm_ffi_object**)from->v_ptr;
    value.type_index = value.v_obj ? value.v_obj->type_index : DLPACKGEN_TVM_FFI_NONE;
  }
  return value;
}

/* Returns whether a value is None. */
DLPACKGEN_TVMFFI_UNUSED static int dlpackgen_tvmffi_is_none(const struct dlpackgen_tvm_ffi_any* from) {
  return from && from->type_index == DLPACKGEN_TVM_FFI_NONE;
}

/* The data after the header of an object. */
static void* dlpackgen_tvmffi_content(const struct dlpackgen_tvm_ffi_any* value) {
  return (char*)value->v_ptr + sizeof(struct dlpackgen_tvm_ffi_object);
}

/* The Python name of a value's type. */
static const char* dlpackgen_tvmffi_type(const struct dlpackgen_tvm_ffi_any* value) {
  switch (value->type_index) {
    case DLPACKGEN_TVM_FFI_NONE: return "None";
    case DLPACKGEN_TVM_FFI_INT:
    case DLPACKGEN_TVM_FFI_BIG_INT: return "int";
    case DLPACKGEN_TVM_FFI_BOOL: return "bool";
    case DLPACKGEN_TVM_FFI_FLOAT: return "float";
    case DLPACKGEN_TVM_FFI_DATA_TYPE: return "dtype";
    case DLPACKGEN_TVM_FFI_DEVICE: return "Device";
    case DLPACKGEN_TVM_FFI_DLTENSOR:
    case DLPACKGEN_TVM_FFI_TENSOR: return "Tensor";
    case DLPACKGEN_TVM_FFI_RAW_STR:
    case DLPACKGEN_TVM_FFI_SMALL_STR:
    case DLPACKGEN_TVM_FFI_STR: return "str";
    case DLPACKGEN_TVM_FFI_BYTE_ARRAY:
    case DLPACKGEN_TVM_FFI_SMALL_BYTES:
    case DLPACKGEN_TVM_FFI_BYTES: return "bytes";
    case DLPACKGEN_TVM_FFI_FUNCTION: return "Function";
    case DLPACKGEN_TVM_FFI_SHAPE: return "Shape";
    case DLPACKGEN_TVM_FFI_ARRAY:
    case DLPACKGEN_TVM_FFI_LIST: return "list";
    case DLPACKGEN_TVM_FFI_MAP:
    case DLPACKGEN_TVM_FFI_DICT: return "dict";
    case DLPACKGEN_TVM_FFI_MODULE: return "Module";
  }
  return "object";
}

/* Tensors */

/* Storage for the strides of a tensor without strides: hosts other than Python omit them for
 * C-contiguous tensors. */
struct dlpackgen_tvmffi_strided {
  DLTensor tensor;
  int64_t strides[DLPACKGEN_MAX_NDIM];
};

DLPACKGEN_SLOW static DLTensor* dlpackgen_tvmffi_add_strides(const DLTensor* from,
                                                             struct dlpackgen_tvmffi_strided* strided) {
  if (from->ndim < 0 || from->ndim > DLPACKGEN_MAX_NDIM || !from->shape) return (DLTensor*)(uintptr_t)from;
  strided->tensor = *from;
  strided->tensor.strides = strided->strides;
  memset(strided->strides, 0, sizeof strided->strides); /* any strides, if the product of extents is too large */
  (void)dlpackgen_compact_strides(from->ndim, from->shape, strided->strides);
  return &strided->tensor;
}

DLPACKGEN_SLOW static int dlpackgen_tvmffi_no_tensor(const struct dlpackgen_site* at,
                                                     const struct dlpackgen_tvm_ffi_any* value,
                                                     struct dlpackgen_message* message) {
  return dlpackgen_bad_type(at, "a tensor", dlpackgen_tvmffi_type(value), message);
}

/* Reads any value except a plain tensor with strides. */
DLPACKGEN_SLOW static int dlpackgen_tvmffi_read_other(const struct dlpackgen_site* at,
                                                      const struct dlpackgen_tvm_ffi_any* from, int optional,
                                                      struct dlpackgen_tvmffi_strided* strided, DLTensor** tensor,
                                                      struct dlpackgen_message* message) {
  const struct dlpackgen_tvm_ffi_any value = dlpackgen_tvmffi_value(from);
  DLTensor* found = NULL;
  if (value.type_index == DLPACKGEN_TVM_FFI_TENSOR) found = (DLTensor*)dlpackgen_tvmffi_content(&value);
  else if (value.type_index == DLPACKGEN_TVM_FFI_DLTENSOR) found = (DLTensor*)value.v_ptr;
  else if (value.type_index == DLPACKGEN_TVM_FFI_NONE && optional) return DLPACKGEN_STATUS_OK;
  if (!found) return dlpackgen_tvmffi_no_tensor(at, &value, message);
  if (!found->strides && found->ndim != 0) found = dlpackgen_tvmffi_add_strides(found, strided);
  *tensor = found;
  return DLPACKGEN_STATUS_OK;
}

/* Returns the tensor of an argument in its usual forms, with or without strides, or NULL. */
DLPACKGEN_FAST DLTensor* dlpackgen_tvmffi_plain_tensor(const struct dlpackgen_tvm_ffi_any* from) {
  if (from->type_index == DLPACKGEN_TVM_FFI_TENSOR) return (DLTensor*)dlpackgen_tvmffi_content(from);
  return DLPACKGEN_RARE(from->type_index != DLPACKGEN_TVM_FFI_DLTENSOR) ? NULL : (DLTensor*)from->v_ptr;
}

/* Reads a tensor. The result is NULL if the value is None and this is allowed. */
DLPACKGEN_FAST int dlpackgen_tvmffi_read_tensor(const struct dlpackgen_site* at,
                                                const struct dlpackgen_tvm_ffi_any* from, int optional,
                                                struct dlpackgen_tvmffi_strided* strided, DLTensor** tensor,
                                                struct dlpackgen_message* message) {
  DLTensor* other = NULL;
  *tensor = dlpackgen_tvmffi_plain_tensor(from);
  if (!DLPACKGEN_RARE(!*tensor || !(*tensor)->strides)) return DLPACKGEN_STATUS_OK;
  const int status = dlpackgen_tvmffi_read_other(at, from, optional, strided, &other, message);
  *tensor = other;
  return status;
}

/* Scalars */

static struct dlpackgen_scalar_argument dlpackgen_tvmffi_big_int(const struct dlpackgen_tvm_ffi_any* value) {
  struct dlpackgen_scalar_argument big = {DLPACKGEN_SCALAR_HUGE, 0, 0, "int", NULL, 0};
  size_t count;
  memcpy(&count, dlpackgen_tvmffi_content(value), sizeof count);
  const int64_t* const words = (const int64_t*)((char*)dlpackgen_tvmffi_content(value) + sizeof count);
  big.words = words, big.count = count;
  for (size_t i = count; i-- > 0;)
    big.real = big.real * 18446744073709551616.0 + (i + 1 < count ? (double)(uint64_t)words[i] : (double)words[i]);
  if (count != 2 || words[1] != 0) return big;
  big.kind = DLPACKGEN_SCALAR_NATURAL;
  big.integer = words[0];
  return big;
}

DLPACKGEN_TVMFFI_UNUSED static struct dlpackgen_scalar_argument dlpackgen_tvmffi_scalar(
    const struct dlpackgen_tvm_ffi_any* from) {
  const struct dlpackgen_tvm_ffi_any value = dlpackgen_tvmffi_value(from);
  struct dlpackgen_scalar_argument scalar = {DLPACKGEN_SCALAR_OTHER, 0, 0, dlpackgen_tvmffi_type(&value), NULL, 0};
  switch (value.type_index) {
    case DLPACKGEN_TVM_FFI_BIG_INT: return dlpackgen_tvmffi_big_int(&value);
    case DLPACKGEN_TVM_FFI_FLOAT:
      scalar.kind = DLPACKGEN_SCALAR_REAL;
      scalar.real = value.v_float64;
      break;
    case DLPACKGEN_TVM_FFI_INT:
    case DLPACKGEN_TVM_FFI_BOOL:
      scalar.kind = value.type_index == DLPACKGEN_TVM_FFI_INT ? DLPACKGEN_SCALAR_INTEGER : DLPACKGEN_SCALAR_TRUTH;
      scalar.integer = value.v_int64;
      scalar.real = (double)value.v_int64;
      break;
  }
  return scalar;
}

/* Texts */

/* Reads a text, which is terminated by NUL and contains no other NUL. A short text is stored in the
 * argument. */
DLPACKGEN_TVMFFI_UNUSED static int dlpackgen_tvmffi_read_text(const struct dlpackgen_site* at,
                                                              const struct dlpackgen_tvm_ffi_any* from,
                                                              const char** text, struct dlpackgen_message* message) {
  const struct dlpackgen_tvm_ffi_any value = dlpackgen_tvmffi_value(from);
  const struct dlpackgen_tvm_ffi_byte_array* bytes;
  size_t size;
  switch (value.type_index) {
    case DLPACKGEN_TVM_FFI_RAW_STR: *text = value.v_c_str; return DLPACKGEN_STATUS_OK;
    case DLPACKGEN_TVM_FFI_SMALL_STR: *text = from->v_bytes, size = value.small_str_len; break;
    case DLPACKGEN_TVM_FFI_STR:
      bytes = (const struct dlpackgen_tvm_ffi_byte_array*)dlpackgen_tvmffi_content(&value);
      *text = bytes->data, size = bytes->size;
      break;
    default: return dlpackgen_bad_type(at, "str", dlpackgen_tvmffi_type(&value), message);
  }
  if (!memchr(*text, 0, size)) return DLPACKGEN_STATUS_OK;
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, DLPACKGEN_TEXT_NUL);
}

/* Lists */

/* Numbers of 8 bytes. Short lists need no allocation. */
struct dlpackgen_tvmffi_list {
  union {
    int64_t integers[16];
    double reals[16];
  } few;
  void* items; /* NULL if there is no list */
  int64_t count;
};

DLPACKGEN_TVMFFI_UNUSED static void dlpackgen_tvmffi_drop_list(struct dlpackgen_tvmffi_list* list) {
  if (list->items != &list->few) free(list->items);
}

static int dlpackgen_tvmffi_make_room(const struct dlpackgen_site* at, int64_t count,
                                      struct dlpackgen_tvmffi_list* list, struct dlpackgen_message* message) {
  list->count = count;
  list->items = &list->few;
  if (count <= (int64_t)(sizeof list->few / sizeof(int64_t))) return DLPACKGEN_STATUS_OK;
  list->items = malloc((size_t)count * sizeof(int64_t));
  if (list->items) return DLPACKGEN_STATUS_OK;
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_MEMORY_ERROR, "no memory for the list");
}

static int dlpackgen_tvmffi_read_item(const struct dlpackgen_site* at, const struct dlpackgen_tvm_ffi_any* from,
                                      int is_real, struct dlpackgen_tvmffi_list* list, int64_t i,
                                      struct dlpackgen_message* message) {
  const struct dlpackgen_scalar_argument scalar = dlpackgen_tvmffi_scalar(from);
  if (is_real) return dlpackgen_scalar_real(at, &scalar, "float", (double*)list->items + i, message);
  if (scalar.kind == DLPACKGEN_SCALAR_INTEGER) {
    ((int64_t*)list->items)[i] = scalar.integer;
    return DLPACKGEN_STATUS_OK;
  }
  if (scalar.kind == DLPACKGEN_SCALAR_NATURAL || scalar.kind == DLPACKGEN_SCALAR_HUGE)
    return dlpackgen_not_represented(at, "int64", &scalar, message);
  return dlpackgen_bad_type(at, "int", scalar.name, message);
}

/* Reads a list, a tuple or a shape. The items of an Array or a List are consecutive. */
DLPACKGEN_TVMFFI_UNUSED static int dlpackgen_tvmffi_read_list(const struct dlpackgen_site* at,
                                                              const struct dlpackgen_tvm_ffi_any* from, int are_real,
                                                              struct dlpackgen_tvmffi_list* list,
                                                              struct dlpackgen_message* message) {
  const struct dlpackgen_tvm_ffi_any value = dlpackgen_tvmffi_value(from);
  const int is_shape = value.type_index == DLPACKGEN_TVM_FFI_SHAPE;
  if (!is_shape && value.type_index != DLPACKGEN_TVM_FFI_ARRAY && value.type_index != DLPACKGEN_TVM_FFI_LIST)
    return dlpackgen_bad_type(at, are_real ? DLPACKGEN_TEXT_FLOATS : DLPACKGEN_TEXT_INTS, dlpackgen_tvmffi_type(&value),
                              message);
  const struct dlpackgen_tvm_ffi_seq_cell* const cell =
      (const struct dlpackgen_tvm_ffi_seq_cell*)dlpackgen_tvmffi_content(&value);
  const struct dlpackgen_tvm_ffi_shape_cell* const shape =
      (const struct dlpackgen_tvm_ffi_shape_cell*)dlpackgen_tvmffi_content(&value);
  const int64_t count = is_shape ? (int64_t)shape->size : cell->size;
  int status = dlpackgen_tvmffi_make_room(at, count, list, message);
  for (int64_t i = 0; i < count && !status; i++) {
    struct dlpackgen_tvm_ffi_any item;
    memset(&item, 0, sizeof item);
    item.type_index = DLPACKGEN_TVM_FFI_INT;
    if (is_shape) item.v_int64 = shape->data[i];
    else item = ((const struct dlpackgen_tvm_ffi_any*)cell->data)[i];
    message->item = i + 1;
    status = dlpackgen_tvmffi_read_item(at, &item, are_real, list, i, message);
  }
  message->item = 0;
  return status;
}

#endif /* DLPACKGEN_TVMFFI_VALUES_H_ */
