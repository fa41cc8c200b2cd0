/*
 * Checks whether an argument meets the requirements of a parameter. The input is a DLTensor, the
 * output a status and a message. Code without a table calls the individual checks; for a table,
 * they are combined. Every host reports the same mistake with the same message.
 *
 * The functions allocate no memory, keep no state and are independent of hosts; any thread may call
 * them. Conditions are evaluated in every call, so they are short and separate from the code for
 * errors. C11 and C++17.
 *
 * The functions dlpackgen_check_... return DLPACKGEN_STATUS_OK, or another status and a message.
 * The tensors must be valid (dlpackgen_check_valid) and have strides.
 */
#ifndef DLPACKGEN_CHECK_H_
#define DLPACKGEN_CHECK_H_

#include <dlpackgen/message.h>
#include <dlpackgen/parameter.h>
#include <dlpackgen/tensor.h>

/* Properties of a tensor */

/** Compares the members one by one. Libraries write them separately, so reading them as one number
 * would stall until all writes are complete. */
DLPACKGEN_FAST uint32_t dlpackgen_dtype_of(const DLTensor* tensor) {
  return DLPACKGEN_DTYPE(tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes);
}

/** Returns whether two devices are equal, by the rule of dlpackgen_same_device_(). */
static inline int dlpackgen_same_device(DLDevice a, DLDevice b) {
  return dlpackgen_same_device_(a, b, dlpackgen_device_is_managed((int32_t)a.device_type));
}

/** Returns whether memory is host memory, pinned or not. Such memory has no streams, and producers
 * reject a stream for it (array API, `__dlpack__`, "stream"). Managed memory is not host memory,
 * because its device may be working on it. */
DLPACKGEN_FAST int dlpackgen_is_on_host(DLDevice device) {
  return dlpackgen_device_is_host((int32_t)device.device_type);
}

static inline int dlpackgen_is_empty(const DLTensor* tensor) {
  for (int32_t d = 0; d < tensor->ndim; d++)
    if (tensor->shape[d] == 0) return 1;
  return 0;
}

static inline int dlpackgen_has_shape(const DLTensor* tensor, const DLTensor* like) {
  if (tensor->ndim != like->ndim) return 0;
  for (int32_t d = 0; d < tensor->ndim; d++)
    if (tensor->shape[d] != like->shape[d]) return 0;
  return 1;
}

/** Returns the address of the first element; for a handle, only the byte offset. */
static inline uintptr_t dlpackgen_address(const DLTensor* tensor) {
  const int has_address = !dlpackgen_device_is_opaque((int32_t)tensor->device.device_type);
  return (has_address ? (uintptr_t)tensor->data : 0) + (uintptr_t)tensor->byte_offset;
}

DLPACKGEN_SLOW static int dlpackgen_is_between(const DLTensor* tensor) {
  return dlpackgen_address(tensor) % (uintptr_t)dlpackgen_alignment(tensor->dtype) != 0 && !dlpackgen_is_empty(tensor);
}

/** Returns whether elements are misaligned. No type needs an alignment above 16 bytes, which most
 * allocations have. */
DLPACKGEN_FAST int dlpackgen_is_misaligned(const DLTensor* tensor) {
  return DLPACKGEN_RARE(((uintptr_t)tensor->data | (uintptr_t)tensor->byte_offset) % 16 != 0) &&
         dlpackgen_is_between(tensor);
}

/* dlpackgen_is_placed() for memory without the alignment that is sufficient for every dtype. */
DLPACKGEN_SLOW static int dlpackgen_is_placed_apart(const DLTensor* tensor) {
  return dlpackgen_memory_fits_(tensor, 1) && !dlpackgen_is_between(tensor);
}

/* Returns whether the memory is usual (dlpackgen_memory_fits_()) and aligned. */
DLPACKGEN_FAST int dlpackgen_is_placed(const DLTensor* tensor) {
  return !DLPACKGEN_RARE(!dlpackgen_memory_fits_(tensor, 16)) || dlpackgen_is_placed_apart(tensor);
}

/* Not inlined, because most tensors are contiguous and need no search. */
DLPACKGEN_SLOW static int dlpackgen_has_overlap(const DLTensor* tensor) { return dlpackgen_may_overlap(tensor); }

/** Counts the elements and returns whether they are C-contiguous. Strides of extents below 2, and
 * all strides of an empty tensor, have no meaning. */
DLPACKGEN_FAST int dlpackgen_is_plainly_contiguous(const DLTensor* tensor, int64_t* elements) {
  return dlpackgen_contiguous_suffix_(tensor, elements);
}

/* Errors: each function writes the message and returns the status */

/* Begins a message for a status, and returns the status. */
static inline int dlpackgen_fail(struct dlpackgen_message* message, const struct dlpackgen_site* at,
                                 enum dlpackgen_status status, const char* text) {
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, text);
  return status;
}

/* Adds up to the given number of dtypes, terminated by 0: "float32, float64 or int32". */
static inline void dlpackgen_put_dtypes(struct dlpackgen_message* message, const uint32_t* dtypes, int most) {
  int count = 0;
  while (count < most && dtypes[count]) count++;
  for (int n = 0; n < count; n++) {
    dlpackgen_put_separator(message, n, count);
    dlpackgen_put_dtype(message, dtypes[n]);
  }
}

/* Adds up to the given number of device types, terminated by 0; the CPU if the list is empty. */
static inline void dlpackgen_put_devices(struct dlpackgen_message* message, const int32_t* devices, int most) {
  int count = 1;
  while (count < most && devices[count]) count++;
  for (int n = 0; n < count; n++) {
    const char* const name = dlpackgen_device_name(devices[0] ? devices[n] : (int32_t)kDLCPU);
    dlpackgen_put_separator(message, n, count);
    dlpackgen_put(message, name ? name : "a device of an unknown type");
  }
}

static inline int dlpackgen_fail_got(struct dlpackgen_message* message, int64_t got, int status) {
  dlpackgen_put(message, ", got ");
  dlpackgen_put_integer(message, got);
  return status;
}

DLPACKGEN_SLOW static int dlpackgen_bad_dtype(const struct dlpackgen_site* at, const DLTensor* tensor,
                                              const uint32_t* dtypes, int most, struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, "expected ");
  dlpackgen_put_dtypes(message, dtypes, most);
  dlpackgen_put(message, ", got ");
  dlpackgen_put_dtype(message, dlpackgen_dtype_of(tensor));
  return status;
}

DLPACKGEN_SLOW static int dlpackgen_other_dtype(const struct dlpackgen_site* at, const DLTensor* tensor,
                                                const struct dlpackgen_site* like, uint32_t expected,
                                                struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, "expected ");
  dlpackgen_put_dtype(message, expected);
  dlpackgen_put(message, ", the dtype of ");
  dlpackgen_put_argument(message, like);
  dlpackgen_put(message, ", got ");
  dlpackgen_put_dtype(message, dlpackgen_dtype_of(tensor));
  return status;
}

DLPACKGEN_SLOW static int dlpackgen_bad_rank(const struct dlpackgen_site* at, const DLTensor* tensor, int rank,
                                             int more, struct dlpackgen_message* message) {
  const int status =
      dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, more ? "expected at least " : "expected ");
  dlpackgen_put_integer(message, rank);
  dlpackgen_put(message, rank == 1 ? " dimension" : " dimensions");
  return dlpackgen_fail_got(message, tensor->ndim, status);
}

DLPACKGEN_SLOW static int dlpackgen_bad_extent(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                               int64_t expected, struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, "expected ");
  dlpackgen_put_integer(message, expected);
  dlpackgen_put(message, " in dimension ");
  dlpackgen_put_integer(message, dimension);
  return dlpackgen_fail_got(message, tensor->shape[dimension], status);
}

DLPACKGEN_SLOW static int dlpackgen_other_extent(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                                 const char* symbol, int64_t expected,
                                                 const struct dlpackgen_site* like, struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, "expected ");
  dlpackgen_put(message, symbol);
  dlpackgen_put(message, " = ");
  dlpackgen_put_integer(message, expected);
  dlpackgen_put(message, " in dimension ");
  dlpackgen_put_integer(message, dimension);
  dlpackgen_put(message, ", as in ");
  dlpackgen_put_argument(message, like);
  return dlpackgen_fail_got(message, tensor->shape[dimension], status);
}

DLPACKGEN_SLOW static int dlpackgen_other_shape(const struct dlpackgen_site* at, const DLTensor* tensor,
                                                const struct dlpackgen_site* like, const DLTensor* expected,
                                                struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, "expected shape ");
  dlpackgen_put_tuple(message, expected->shape, expected->ndim);
  dlpackgen_put(message, ", the shape of ");
  dlpackgen_put_argument(message, like);
  dlpackgen_put(message, ", got ");
  dlpackgen_put_tuple(message, tensor->shape, tensor->ndim);
  return status;
}

DLPACKGEN_SLOW static int dlpackgen_bad_layout(const struct dlpackgen_site* at, const DLTensor* tensor, int layout,
                                               struct dlpackgen_message* message) {
  static const char* const expected[] = {"", "a C-contiguous tensor",
                                         "a tensor that is contiguous in some order of its dimensions",
                                         "a contiguous last dimension"};
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, "expected ");
  dlpackgen_put(message, expected[layout]);
  dlpackgen_put(message, ", got ");
  dlpackgen_put_layout(message, tensor);
  return status;
}

/** Adds the message about elements that share memory, after the argument. */
#define DLPACKGEN_OVERLAPPING "its elements may overlap, but the parameter is writable"

DLPACKGEN_SLOW static int dlpackgen_overlapping(const struct dlpackgen_site* at, const DLTensor* tensor,
                                                struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_OVERLAPPING ", got ");
  dlpackgen_put_layout(message, tensor);
  dlpackgen_put(message, DLPACKGEN_TEXT_PASS_COPY);
  return status;
}

/** Adds the message about misaligned elements, after the argument. */
static inline void dlpackgen_put_misaligned(struct dlpackgen_message* message, const DLTensor* tensor) {
  dlpackgen_put(message, "its data at ");
  dlpackgen_put_address(message, dlpackgen_address(tensor));
  dlpackgen_put(message, " is not aligned to ");
  dlpackgen_put_integer(message, dlpackgen_alignment(tensor->dtype));
  dlpackgen_put(message, " bytes, as its elements require: pass a copy");
}

DLPACKGEN_SLOW static int dlpackgen_misaligned(const struct dlpackgen_site* at, const DLTensor* tensor,
                                               struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR, "");
  dlpackgen_put_misaligned(message, tensor);
  return status;
}

DLPACKGEN_SLOW static int dlpackgen_bad_device(const struct dlpackgen_site* at, DLDevice device, const int32_t* devices,
                                               int most, struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, "expected a tensor on ");
  dlpackgen_put_devices(message, devices, most);
  dlpackgen_put(message, ", got one on ");
  dlpackgen_put_device(message, device);
  return status;
}

/** Rejects a tensor on a different device than an earlier argument. Names of the host are used for
 * devices without a DLPack name. */
DLPACKGEN_SLOW static int dlpackgen_other_device_of(const struct dlpackgen_site* at, const char* device,
                                                    const struct dlpackgen_site* like, const char* expected,
                                                    struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, "expected a tensor on ");
  dlpackgen_put(message, expected);
  dlpackgen_put(message, ", as ");
  dlpackgen_put_argument(message, like);
  dlpackgen_put(message, " is, got one on ");
  dlpackgen_put(message, device);
  return status;
}

DLPACKGEN_SLOW static int dlpackgen_other_device(const struct dlpackgen_site* at, DLDevice device,
                                                 const struct dlpackgen_site* like, DLDevice expected,
                                                 struct dlpackgen_message* message) {
  char texts[2][64];
  struct dlpackgen_message got = dlpackgen_message_in(texts[0], 64), wanted = dlpackgen_message_in(texts[1], 64);
  dlpackgen_put_device(&got, device);
  dlpackgen_put_device(&wanted, expected);
  return dlpackgen_other_device_of(at, got.text, like, wanted.text, message);
}

/** Adds the message about a tensor without memory, after the argument. */
#define DLPACKGEN_WITHOUT_MEMORY "it has elements but no memory: its data is NULL"

/** Adds the message about a tensor with too many dimensions, after the argument. */
DLPACKGEN_SLOW static void dlpackgen_put_dimensions(struct dlpackgen_message* message, int64_t ndim) {
  dlpackgen_put(message, "it has ");
  dlpackgen_put_integer(message, ndim);
  dlpackgen_put(message, " dimensions; at most ");
  dlpackgen_put_integer(message, DLPACKGEN_MAX_NDIM);
  dlpackgen_put(message, " are supported");
}

/** Adds the result of the validator, after the argument. */
DLPACKGEN_SLOW static void dlpackgen_put_invalid(struct dlpackgen_message* message, const DLTensor* tensor,
                                                 dlpackgen_error_code error) {
  if (error == DLPACKGEN_ERROR_NDIM && tensor->ndim > DLPACKGEN_MAX_NDIM) {
    dlpackgen_put_dimensions(message, tensor->ndim);
  } else if (error == DLPACKGEN_ERROR_DATA_NULL) {
    dlpackgen_put(message, DLPACKGEN_WITHOUT_MEMORY);
  } else {
    dlpackgen_put(message, "its library returned an invalid DLPack tensor: ");
    dlpackgen_put(message, dlpackgen_error_string(error));
  }
}

DLPACKGEN_SLOW static int dlpackgen_invalid(const struct dlpackgen_site* at, const DLTensor* tensor,
                                            dlpackgen_error_code error, struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR, "");
  dlpackgen_put_invalid(message, tensor, error);
  return status;
}

DLPACKGEN_SLOW static int dlpackgen_read_only(const struct dlpackgen_site* at, struct dlpackgen_message* message) {
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_TEXT_READ_ONLY);
}

DLPACKGEN_SLOW static int dlpackgen_without_memory(const struct dlpackgen_site* at, struct dlpackgen_message* message) {
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_WITHOUT_MEMORY);
}

/** Rejects an argument of an unexpected type. Only the host can name the actual type. */
DLPACKGEN_SLOW static int dlpackgen_bad_type(const struct dlpackgen_site* at, const char* expected, const char* got,
                                             struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, "expected ");
  dlpackgen_put(message, expected);
  dlpackgen_put(message, ", got ");
  dlpackgen_put(message, got);
  return status;
}

/** The same for an enum dlpackgen_kind of a table. */
DLPACKGEN_SLOW static int dlpackgen_bad_kind(const struct dlpackgen_site* at, int kind, const char* got,
                                             struct dlpackgen_message* message) {
  static const char* const kinds[] = {"a tensor", "int", "float", "bool"};
  return dlpackgen_bad_type(at, kinds[kind], got, message);
}

/* The checks, which code without a table calls in this order */

/** Checks that a tensor obeys the rules of DLPack, which all other checks require. */
static inline int dlpackgen_check_valid(const struct dlpackgen_site* at, const DLTensor* tensor, uint64_t flags,
                                        struct dlpackgen_message* message) {
  const dlpackgen_error_code error = dlpackgen_validate(tensor, flags, 0);
  if (DLPACKGEN_RARE(error != DLPACKGEN_OK)) return dlpackgen_invalid(at, tensor, error, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks that a written argument is writable. */
static inline int dlpackgen_check_writable(const struct dlpackgen_site* at, uint64_t flags,
                                           struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0)) return dlpackgen_read_only(at, message);
  return DLPACKGEN_STATUS_OK;
}

/** Returns whether a dtype is in a list of at most the given length, which may be terminated by
 * 0. */
DLPACKGEN_FAST int dlpackgen_is_among(const uint32_t* dtypes, int most, uint32_t dtype) {
  if (dtypes[0] == dtype || dtypes[0] == 0) return 1;
  for (int i = 1; i < most && dtypes[i]; i++)
    if (dtypes[i] == dtype) return 1;
  return 0;
}

/** Checks that the dtype of a tensor is in a list of at most the given length; an empty list
 * accepts all. */
DLPACKGEN_FAST int dlpackgen_check_dtype(const struct dlpackgen_site* at, const DLTensor* tensor,
                                         const uint32_t* dtypes, int most, struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!dlpackgen_is_among(dtypes, most, dlpackgen_dtype_of(tensor))))
    return dlpackgen_bad_dtype(at, tensor, dtypes, most, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks that a tensor has the dtype of another argument. */
DLPACKGEN_FAST int dlpackgen_check_same_dtype(const struct dlpackgen_site* at, const DLTensor* tensor,
                                              const struct dlpackgen_site* like, const DLTensor* other,
                                              struct dlpackgen_message* message) {
  const uint32_t expected = dlpackgen_dtype_of(other);
  if (DLPACKGEN_RARE(dlpackgen_dtype_of(tensor) != expected))
    return dlpackgen_other_dtype(at, tensor, like, expected, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks the rank of a tensor; with more, the rank is a minimum. */
DLPACKGEN_FAST int dlpackgen_check_rank(const struct dlpackgen_site* at, const DLTensor* tensor, int rank, int more,
                                        struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(tensor->ndim != rank) && !(more && tensor->ndim > rank))
    return dlpackgen_bad_rank(at, tensor, rank, more, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks that a dimension has the given extent. */
DLPACKGEN_FAST int dlpackgen_check_extent(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                          int64_t expected, struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(tensor->shape[dimension] != expected))
    return dlpackgen_bad_extent(at, tensor, dimension, expected, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks that a dimension has the extent of a symbol, which another argument or the same one
 * determined. */
DLPACKGEN_FAST int dlpackgen_check_symbol(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                          const char* symbol, int64_t expected, const struct dlpackgen_site* like,
                                          struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(tensor->shape[dimension] != expected))
    return dlpackgen_other_extent(at, tensor, dimension, symbol, expected, like, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks that a tensor has the shape of another argument. */
static inline int dlpackgen_check_same_shape(const struct dlpackgen_site* at, const DLTensor* tensor,
                                             const struct dlpackgen_site* like, const DLTensor* other,
                                             struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!dlpackgen_has_shape(tensor, other)))
    return dlpackgen_other_shape(at, tensor, like, other, message);
  return DLPACKGEN_STATUS_OK;
}

/** Returns whether a tensor has the layout of an enum dlpackgen_layout. */
DLPACKGEN_FAST int dlpackgen_is_laid_out(int layout, const DLTensor* tensor, int row_major) {
  if (layout == DLPACKGEN_LAYOUT_ANY || row_major) return 1;
  return layout == DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER
             ? dlpackgen_is_contiguous_any_order(tensor)
             : layout == DLPACKGEN_LAYOUT_INNER_CONTIGUOUS && dlpackgen_is_inner_contiguous(tensor);
}

/** Checks that a tensor has the layout of an enum dlpackgen_layout. */
DLPACKGEN_FAST int dlpackgen_check_layout_of(const struct dlpackgen_site* at, const DLTensor* tensor, int layout,
                                             struct dlpackgen_message* message) {
  int64_t elements;
  if (DLPACKGEN_RARE(!dlpackgen_is_laid_out(layout, tensor, dlpackgen_is_plainly_contiguous(tensor, &elements))))
    return dlpackgen_bad_layout(at, tensor, layout, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks that elements of a written argument share no memory. */
DLPACKGEN_FAST int dlpackgen_check_overlap(const struct dlpackgen_site* at, const DLTensor* tensor,
                                           struct dlpackgen_message* message) {
  int64_t elements;
  if (DLPACKGEN_RARE(!dlpackgen_is_plainly_contiguous(tensor, &elements) && dlpackgen_has_overlap(tensor)))
    return dlpackgen_overlapping(at, tensor, message);
  return DLPACKGEN_STATUS_OK;
}

/** Returns whether a device type is in a list of at most the given length, which may be terminated
 * by 0; an empty list is the CPU. */
DLPACKGEN_FAST int dlpackgen_is_served(const int32_t* devices, int most, int32_t device_type) {
  if (devices[0] == device_type) return 1;
  if (devices[0] == 0) return device_type == kDLCPU;
  for (int i = 0; i < most && devices[i]; i++)
    if (devices[i] == device_type || devices[i] == DLPACKGEN_ANY_DEVICE) return 1;
  return 0;
}

/** Checks that the device type of a tensor is in a list of at most the given length. */
DLPACKGEN_FAST int dlpackgen_check_device(const struct dlpackgen_site* at, DLDevice device, const int32_t* devices,
                                          int most, struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!dlpackgen_is_served(devices, most, (int32_t)device.device_type)))
    return dlpackgen_bad_device(at, device, devices, most, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks that a tensor is on the device of another argument. */
DLPACKGEN_FAST int dlpackgen_check_same_device(const struct dlpackgen_site* at, DLDevice device,
                                               const struct dlpackgen_site* like, DLDevice expected,
                                               struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!dlpackgen_same_device(device, expected)))
    return dlpackgen_other_device(at, device, like, expected, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks that a tensor with elements has memory. */
DLPACKGEN_FAST int dlpackgen_check_memory(const struct dlpackgen_site* at, const DLTensor* tensor,
                                          struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!tensor->data) && !dlpackgen_is_empty(tensor)) return dlpackgen_without_memory(at, message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks that elements are aligned. */
DLPACKGEN_FAST int dlpackgen_check_alignment(const struct dlpackgen_site* at, const DLTensor* tensor,
                                             struct dlpackgen_message* message) {
  if (dlpackgen_is_misaligned(tensor)) return dlpackgen_misaligned(at, tensor, message);
  return DLPACKGEN_STATUS_OK;
}

#endif /* DLPACKGEN_CHECK_H_ */
