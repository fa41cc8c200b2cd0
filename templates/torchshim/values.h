/*
 * The arguments of a call: popped from a stack of the shim, with their ownership, or described by
 * Python, for a check without data.
 */
#ifndef DLPACKGEN_TORCHSHIM_VALUES_H_
#define DLPACKGEN_TORCHSHIM_VALUES_H_

#include "library.h"

#include <dlpackgen/scalar.h>

enum dlpackgen_shim_kind {
  DLPACKGEN_SHIM_TENSOR,
  DLPACKGEN_SHIM_INT,
  DLPACKGEN_SHIM_FLOAT,
  DLPACKGEN_SHIM_BOOL,
  DLPACKGEN_SHIM_STR,
  DLPACKGEN_SHIM_INTS,
  DLPACKGEN_SHIM_FLOATS,
  DLPACKGEN_SHIM_NUMBER /* on a stack, three values: its integer, its float, and its kind */
};

struct dlpackgen_shim_argument {
  const char* name;
  enum dlpackgen_shim_kind kind;
  bool optional, writes, copied;
};

/* An argument. Python's class Value has the same layout. */
struct dlpackgen_shim_value {
  int32_t present;
  int32_t kind; /* of a NUMBER: an enum dlpackgen_scalar_kind */
  DLTensor tensor;
  int64_t integer;
  double real;
  const char* text;
  const void* items;
  int64_t count;
  const char* dtype; /* of an outlined tensor, by its name in torch */
  union {
    bool as_bool;
    float as_float;
    double as_double;
    int8_t as_int8_t;
    int16_t as_int16_t;
    int32_t as_int32_t;
    int64_t as_int64_t;
    uint8_t as_uint8_t;
    uint16_t as_uint16_t;
    uint32_t as_uint32_t;
    uint64_t as_uint64_t;
  } buffer; /* of an optional number, whose address C receives */
};

/* The values that a call has popped from its stack. */
struct dlpackgen_shim_owned {
  void* handle; /* of a tensor, a list or a string; or NULL */
  void* copy;   /* of a tensor */
  void* memory; /* of a list */
};

static int dlpackgen_shim_fail(const struct dlpackgen_site* at, enum dlpackgen_status status, const char* text,
                               struct dlpackgen_message* message) {
  return dlpackgen_fail(message, at, status, text);
}

/* Taking */

static void dlpackgen_shim_delete_optional(dlpackgen_shim_cell* value) {
  if (dlpackgen_shim.call.delete_optional) {
    dlpackgen_shim.call.delete_optional(value);
  } else {
    dlpackgen_shim.cpp.operator_delete(value);
  }
}

/* Takes ownership of one value, which is then released even if it is invalid. */
static void dlpackgen_shim_own(const struct dlpackgen_shim_argument* argument, dlpackgen_shim_cell cell,
                               struct dlpackgen_shim_value* value, struct dlpackgen_shim_owned* owned) {
  value->present = 1;
  if (argument->optional) {
    dlpackgen_shim_cell* const inner = (dlpackgen_shim_cell*)(uintptr_t)cell;
    value->present = inner != NULL;
    if (!inner) return;
    cell = *inner;
    dlpackgen_shim_delete_optional(inner);
  }
  switch (argument->kind) {
    case DLPACKGEN_SHIM_INT:
    case DLPACKGEN_SHIM_NUMBER: memcpy(&value->integer, &cell, sizeof cell); break;
    case DLPACKGEN_SHIM_FLOAT: memcpy(&value->real, &cell, sizeof cell); break;
    case DLPACKGEN_SHIM_BOOL: value->integer = (cell & 0xff) != 0; break;
    default: owned->handle = (void*)(uintptr_t)cell; break;
  }
}

/* Takes ownership of all values of a call: a NUMBER is three values on the stack. */
static void dlpackgen_shim_own_all(const struct dlpackgen_shim_argument* arguments, int count,
                                   const dlpackgen_shim_cell* stack, struct dlpackgen_shim_value* values,
                                   struct dlpackgen_shim_owned* owned) {
  memset(owned, 0, sizeof *owned * (size_t)count);
  for (int i = 0; i < count; i++) {
    dlpackgen_shim_own(&arguments[i], *stack++, &values[i], &owned[i]);
    if (arguments[i].kind != DLPACKGEN_SHIM_NUMBER) continue;
    memcpy(&values[i].real, stack++, sizeof values[i].real);
    values[i].kind = (int32_t)*stack++;
  }
}

static void dlpackgen_shim_release(enum dlpackgen_shim_kind kind, const struct dlpackgen_shim_owned* owned) {
  free(owned->memory);
  if (owned->copy) dlpackgen_shim.call.delete_tensor(owned->copy);
  if (!owned->handle) return;
  switch (kind) {
    case DLPACKGEN_SHIM_TENSOR: dlpackgen_shim.call.delete_tensor(owned->handle); break;
    case DLPACKGEN_SHIM_STR: dlpackgen_shim.call.delete_string(owned->handle); break;
    default: dlpackgen_shim.call.delete_list(owned->handle); break;
  }
}

/* Tensors */

/* Whether the elements are inside the storage, which may have been shrunk. */
static bool dlpackgen_shim_is_in_storage(void* handle, const DLTensor* tensor) {
  int64_t bytes = 0, offset = 0, covered = 1;
  for (int32_t i = 0; i < tensor->ndim; i++) {
    if (tensor->shape[i] == 0) return true;
    covered += (tensor->shape[i] - 1) * tensor->strides[i];
  }
  if (dlpackgen_shim.call.get_storage_size(handle, &bytes) || dlpackgen_shim.call.get_storage_offset(handle, &offset))
    return false;
  return tensor->data && (offset + covered) * (int64_t)(tensor->dtype.bits * tensor->dtype.lanes / 8) <= bytes;
}

/* Reads a tensor except its data. */
static bool dlpackgen_shim_read(void* handle, DLTensor* tensor) {
  const struct dlpackgen_torch_shim_functions* const call = &dlpackgen_shim.call;
  int32_t dtype = -1, device = 0, index = 0;
  int64_t ndim = 0;
  memset(tensor, 0, sizeof *tensor);
  if (call->get_dim(handle, &ndim) || call->get_sizes(handle, &tensor->shape) ||
      call->get_strides(handle, &tensor->strides) || call->get_dtype(handle, &dtype) ||
      call->get_device_type(handle, &device) || call->get_device_index(handle, &index))
    return false;
  tensor->ndim = (int32_t)ndim;
  tensor->device.device_type = dlpackgen_shim_device_type(&dlpackgen_shim.devices, device);
  tensor->device.device_id = dlpackgen_device_id_is_zero((int32_t)tensor->device.device_type) ? 0 : index;
  if (dtype >= 0 && dtype < DLPACKGEN_TORCH_DTYPES) tensor->dtype = dlpackgen_shim.dtypes[dtype];
  return true;
}

static int dlpackgen_shim_borrow(const struct dlpackgen_site* at, void* handle, bool writes, DLTensor* tensor,
                                 struct dlpackgen_message* message) {
  const void* data = NULL;
  bool is_defined = false;
  if (dlpackgen_shim.call.is_defined(handle, &is_defined) || !is_defined)
    return dlpackgen_shim_fail(at, DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_NONE, message);
  if (!dlpackgen_shim_read(handle, tensor))
    return dlpackgen_shim_fail(at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_TEXT_NOT_BORROWED, message);
  if (tensor->dtype.lanes == 0)
    return dlpackgen_shim_fail(at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_TEXT_UNNAMED, message);
  if (writes ? dlpackgen_shim.call.get_mutable_data(handle, &tensor->data)
             : dlpackgen_shim.call.get_const_data(handle, &data))
    return dlpackgen_shim_fail(at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_TEXT_NOT_BORROWED, message);
  if (!writes) memcpy(&tensor->data, &data, sizeof data);
  if (dlpackgen_shim_is_in_storage(handle, tensor)) return DLPACKGEN_STATUS_OK;
  return dlpackgen_shim_fail(at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_TEXT_BEYOND_STORAGE, message);
}

/* Allocates a C-contiguous tensor on a device. */
static int dlpackgen_shim_allocate(DLDataType dtype, int32_t ndim, const int64_t* shape, int32_t device, int32_t index,
                                   void** handle) {
  int64_t strides[DLPACKGEN_MAX_NDIM + 1] = {0}; /* any strides, if the product of extents is too large */
  (void)dlpackgen_compact_strides(ndim, shape, strides);
  return dlpackgen_shim.call.empty_strided(ndim, shape, strides, dlpackgen_shim_number_of(dtype), device, index,
                                           handle);
}

/* Copies a tensor that is not C-contiguous, on any device, and borrows the copy. */
static int dlpackgen_shim_copy(const struct dlpackgen_site* at, struct dlpackgen_shim_owned* owned, DLTensor* tensor,
                               struct dlpackgen_message* message) {
  int32_t device = 0, index = 0;
  if (dlpackgen_is_contiguous(tensor)) return DLPACKGEN_STATUS_OK;
  if (dlpackgen_shim.call.get_device_type(owned->handle, &device) ||
      dlpackgen_shim.call.get_device_index(owned->handle, &index) ||
      dlpackgen_shim_allocate(tensor->dtype, tensor->ndim, tensor->shape, device, index, &owned->copy) ||
      dlpackgen_shim.call.copy(owned->copy, owned->handle, 0))
    return dlpackgen_shim_fail(at, DLPACKGEN_STATUS_MEMORY_ERROR, "it could not be copied", message);
  return dlpackgen_shim_borrow(at, owned->copy, false, tensor, message);
}

/* Lists and texts */

/* An empty list differs from a missing list, whose items are NULL. */
static const int64_t dlpackgen_shim_no_items = 0;

static int dlpackgen_shim_read_list(const struct dlpackgen_site* at, struct dlpackgen_shim_value* value,
                                    struct dlpackgen_shim_owned* owned, struct dlpackgen_message* message) {
  size_t size = 0;
  int failed = dlpackgen_shim.call.list_size(owned->handle, &size);
  dlpackgen_shim_cell* const items = size ? malloc(size * sizeof *items) : NULL;
  owned->memory = items;
  if (size && !items) failed = 1;
  for (size_t i = 0; !failed && i < size; i++) failed = dlpackgen_shim.call.list_item(owned->handle, i, &items[i]);
  value->items = items ? (const void*)items : &dlpackgen_shim_no_items;
  value->count = (int64_t)size;
  return failed ? dlpackgen_shim_fail(at, DLPACKGEN_STATUS_MEMORY_ERROR, "it could not be read", message)
                : DLPACKGEN_STATUS_OK;
}

static int dlpackgen_shim_read_text(const struct dlpackgen_site* at, struct dlpackgen_shim_value* value,
                                    const struct dlpackgen_shim_owned* owned, struct dlpackgen_message* message) {
  size_t length = 0;
  if (dlpackgen_shim.call.string_length(owned->handle, &length) ||
      dlpackgen_shim.call.string_data(owned->handle, &value->text))
    return dlpackgen_shim_fail(at, DLPACKGEN_STATUS_MEMORY_ERROR, "it could not be read", message);
  if (strlen(value->text) == length) return DLPACKGEN_STATUS_OK;
  return dlpackgen_shim_fail(at, DLPACKGEN_STATUS_VALUE_ERROR, DLPACKGEN_TEXT_NUL, message);
}

/* Reads the values that were taken over. */
static int dlpackgen_shim_read_value(const struct dlpackgen_shim_argument* argument, const struct dlpackgen_site* at,
                                     struct dlpackgen_shim_value* value, struct dlpackgen_shim_owned* owned,
                                     struct dlpackgen_message* message) {
  int status = DLPACKGEN_STATUS_OK;
  if (!value->present) return status;
  switch (argument->kind) {
    case DLPACKGEN_SHIM_TENSOR:
      status = dlpackgen_shim_borrow(at, owned->handle, argument->writes, &value->tensor, message);
      if (!status && argument->copied) status = dlpackgen_shim_copy(at, owned, &value->tensor, message);
      return status;
    case DLPACKGEN_SHIM_STR: return dlpackgen_shim_read_text(at, value, owned, message);
    case DLPACKGEN_SHIM_INTS:
    case DLPACKGEN_SHIM_FLOATS: return dlpackgen_shim_read_list(at, value, owned, message);
    default: return status;
  }
}

/* Numbers */

DLPACKGEN_SLOW static int dlpackgen_shim_out_of_range(const struct dlpackgen_site* at, DLDataType dtype,
                                                      const struct dlpackgen_shim_value* value,
                                                      enum dlpackgen_scalar_kind kind,
                                                      struct dlpackgen_message* message) {
  const int status = dlpackgen_shim_fail(at, DLPACKGEN_STATUS_VALUE_ERROR, "", message);
  dlpackgen_put_out_of_range(message, dtype);
  if (kind == DLPACKGEN_SCALAR_REAL) dlpackgen_put_real(message, value->real);
  else if (kind == DLPACKGEN_SCALAR_NATURAL) dlpackgen_put_digits(message, (uint64_t)value->integer, 10);
  else dlpackgen_put_integer(message, value->integer);
  return status;
}

/* Compares a float with the range of its dtype. */
DLPACKGEN_PART inline int dlpackgen_shim_fit_real(const struct dlpackgen_site* at, DLDataType dtype,
                                                  const struct dlpackgen_shim_value* value,
                                                  struct dlpackgen_message* message) {
  if (!value->present || dlpackgen_represents_real(dtype, value->real)) return DLPACKGEN_STATUS_OK;
  return dlpackgen_shim_out_of_range(at, dtype, value, DLPACKGEN_SCALAR_REAL, message);
}

/* Compares an integer with the range of its dtype. */
DLPACKGEN_PART inline int dlpackgen_shim_fit_integer(const struct dlpackgen_site* at, DLDataType dtype,
                                                     const struct dlpackgen_shim_value* value,
                                                     struct dlpackgen_message* message) {
  if (!value->present || dlpackgen_represents_integer(dtype, value->integer)) return DLPACKGEN_STATUS_OK;
  return dlpackgen_shim_out_of_range(at, dtype, value, DLPACKGEN_SCALAR_INTEGER, message);
}

/* Compares a scalar of a variable with the dtype that the call has. */
DLPACKGEN_PART inline int dlpackgen_shim_fit_number(const struct dlpackgen_site* at, DLDataType dtype,
                                                    const struct dlpackgen_shim_value* value,
                                                    struct dlpackgen_message* message) {
  const enum dlpackgen_scalar_kind kind = (enum dlpackgen_scalar_kind)value->kind;
  const char* const rejected = dlpackgen_rejected_type(dtype, kind);
  if (rejected) {
    const int status = dlpackgen_shim_fail(at, DLPACKGEN_STATUS_TYPE_ERROR, "expected ", message);
    dlpackgen_put_dtype(message, DLPACKGEN_DTYPE(dtype.code, dtype.bits, dtype.lanes));
    dlpackgen_put(message, ", got ");
    dlpackgen_put(message, rejected);
    return status;
  }
  if (dlpackgen_represents(dtype, kind, value->integer, value->real)) return DLPACKGEN_STATUS_OK;
  return dlpackgen_shim_out_of_range(at, dtype, value, kind, message);
}

#endif /* DLPACKGEN_TORCHSHIM_VALUES_H_ */
