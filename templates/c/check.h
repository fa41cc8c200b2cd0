/*
 * Whether an argument is what a parameter demands: a DLTensor in, a status and a
 * sentence out. In parts, which code without a table calls one by one, and as a whole
 * by the table of a function. The same mistake gets the same sentence in every host.
 *
 * Nothing here allocates, keeps state or knows a host; any thread may call it. The
 * tests are short and their failures stand apart, since the tests run in every call.
 * C11 and C++17.
 *
 * A part that is named dlpackgen_check_... gives DLPACKGEN_STATUS_OK, or another
 * status and a message. The tensors are valid (dlpackgen_check_valid), with strides.
 */
#ifndef DLPACKGEN_CHECK_H_
#define DLPACKGEN_CHECK_H_

#include <dlpackgen/message.h>
#include <dlpackgen/parameter.h>
#include <dlpackgen/tensor.h>

/* Facts of a tensor */

/** By its parts: libraries write them one by one, and to read them as one number then
 * waits until all are in the cache. */
DLPACKGEN_FAST uint32_t dlpackgen_dtype_of(const DLTensor* tensor) {
  return DLPACKGEN_DTYPE(tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes);
}

/** Producers disagree on the id of managed memory, which every device reaches: DLPack has
 * 0 for it, CuPy the device that it was allocated on. */
static inline int dlpackgen_same_device(DLDevice a, DLDevice b) {
  const int numbered = !dlpackgen_device_is_managed((int32_t)a.device_type);
  return a.device_type == b.device_type && (!numbered || a.device_id == b.device_id);
}

/** Tells whether memory is the host's, pinned or not: nothing is ordered by a stream
 * there, and producers reject one (array API, `__dlpack__`, "stream"). Managed memory is
 * none of these, since its device may be at work on it. */
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

/** The address of the first element; of what is behind a handle, its offset alone. */
static inline uintptr_t dlpackgen_address(const DLTensor* tensor) {
  const int has_address = !dlpackgen_device_is_opaque((int32_t)tensor->device.device_type);
  return (has_address ? (uintptr_t)tensor->data : 0) + (uintptr_t)tensor->byte_offset;
}

DLPACKGEN_SLOW static int dlpackgen_lies_between(const DLTensor* tensor) {
  return dlpackgen_address(tensor) % (uintptr_t)dlpackgen_alignment(tensor->dtype) != 0 && !dlpackgen_is_empty(tensor);
}

/** Tells whether elements are not where their type may be. No type needs more than 16
 * bytes, which most allocations are aligned to. */
DLPACKGEN_FAST int dlpackgen_is_misaligned(const DLTensor* tensor) {
  return DLPACKGEN_RARE(((uintptr_t)tensor->data | (uintptr_t)tensor->byte_offset) % 16 != 0) &&
         dlpackgen_lies_between(tensor);
}

/* Out of line: most tensors are contiguous, and need no search. */
DLPACKGEN_SLOW static int dlpackgen_has_overlap(const DLTensor* tensor) { return dlpackgen_may_overlap(tensor); }

/** Counts the elements and tells whether they lie row-major. Strides of extents
 * below 2, and all of an empty tensor, mean nothing. */
DLPACKGEN_FAST int dlpackgen_is_plainly_contiguous(const DLTensor* tensor, int64_t* elements) {
  return dlpackgen_contiguous_suffix_(tensor, elements);
}

/* The failures: each writes the sentence and gives the status */

/* Begins a sentence of a kind, and gives its status. */
static inline int dlpackgen_fail(struct dlpackgen_message* message, const struct dlpackgen_site* at,
                                 enum dlpackgen_status status, const char* text) {
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, text);
  return status;
}

/* Adds types of elements, up to a 0 or to so many: "float32, float64 or int32". */
static inline void dlpackgen_put_dtypes(struct dlpackgen_message* message, const uint32_t* dtypes, int most) {
  int count = 0;
  while (count < most && dtypes[count]) count++;
  for (int n = 0; n < count; n++) {
    dlpackgen_put_separator(message, n, count);
    dlpackgen_put_dtype(message, dtypes[n]);
  }
}

/* Adds types of devices, up to a 0 or to so many; the CPU, where the list is empty. */
static inline void dlpackgen_put_devices(struct dlpackgen_message* message, const int32_t* devices, int most) {
  int count = 1;
  while (count < most && devices[count]) count++;
  for (int n = 0; n < count; n++) {
    const char* const name = dlpackgen_device_name(devices[0] ? devices[n] : (int32_t)kDLCPU);
    dlpackgen_put_separator(message, n, count);
    dlpackgen_put(message, name ? name : "a device of another kind");
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
  dlpackgen_put(message, ", that of ");
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

/** The message about elements that share memory, after the argument. */
#define DLPACKGEN_OVERLAPPING "its elements may overlap, but the parameter is writable"

DLPACKGEN_SLOW static int dlpackgen_overlapping(const struct dlpackgen_site* at, const DLTensor* tensor,
                                                struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_OVERLAPPING ", got ");
  dlpackgen_put_layout(message, tensor);
  dlpackgen_put(message, ": pass a contiguous copy");
  return status;
}

/** Says that elements are where their type may not be, after the argument. */
static inline void dlpackgen_put_misaligned(struct dlpackgen_message* message, const DLTensor* tensor) {
  dlpackgen_put(message, "its data at ");
  dlpackgen_put_address(message, dlpackgen_address(tensor));
  dlpackgen_put(message, " is not aligned to ");
  dlpackgen_put_integer(message, dlpackgen_alignment(tensor->dtype));
  dlpackgen_put(message, " bytes, which its elements need: make a copy");
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

/** Rejects a tensor on another device than an argument before it, by names of the host's
 * own where DLPack has none. */
DLPACKGEN_SLOW static int dlpackgen_other_place(const struct dlpackgen_site* at, const char* device,
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
  return dlpackgen_other_place(at, got.text, like, wanted.text, message);
}

/** The message about a tensor without memory, after the argument. */
#define DLPACKGEN_WITHOUT_MEMORY "it has elements but no memory: its data is NULL"

/** Says that a tensor has more dimensions than there is room for, after the argument. */
DLPACKGEN_SLOW static void dlpackgen_put_dimensions(struct dlpackgen_message* message, int64_t ndim) {
  dlpackgen_put(message, "its ");
  dlpackgen_put_integer(message, ndim);
  dlpackgen_put(message, " dimensions are more than the ");
  dlpackgen_put_integer(message, DLPACKGEN_MAX_NDIM);
  dlpackgen_put(message, " that are served");
}

/** Says what the validator found, after the argument. */
DLPACKGEN_SLOW static void dlpackgen_put_invalid(struct dlpackgen_message* message, const DLTensor* tensor,
                                                 dlpackgen_error_code error) {
  if (error == DLPACKGEN_ERROR_NDIM && tensor->ndim > DLPACKGEN_MAX_NDIM) {
    dlpackgen_put_dimensions(message, tensor->ndim);
  } else if (error == DLPACKGEN_ERROR_DATA_NULL) {
    dlpackgen_put(message, DLPACKGEN_WITHOUT_MEMORY);
  } else {
    dlpackgen_put(message, "its library gave a tensor that breaks the rules of DLPack: ");
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
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_SAYS_READ_ONLY);
}

DLPACKGEN_SLOW static int dlpackgen_without_memory(const struct dlpackgen_site* at, struct dlpackgen_message* message) {
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR, DLPACKGEN_WITHOUT_MEMORY);
}

/** Rejects what is of another type than expected. Only the host can name the type that it got. */
DLPACKGEN_SLOW static int dlpackgen_bad_type(const struct dlpackgen_site* at, const char* expected, const char* got,
                                             struct dlpackgen_message* message) {
  const int status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, "expected ");
  dlpackgen_put(message, expected);
  dlpackgen_put(message, ", got ");
  dlpackgen_put(message, got);
  return status;
}

/** The same for a kind of a table, an enum dlpackgen_kind. */
DLPACKGEN_SLOW static int dlpackgen_bad_kind(const struct dlpackgen_site* at, int kind, const char* got,
                                             struct dlpackgen_message* message) {
  static const char* const kinds[] = {"a tensor", "int", "float", "bool"};
  return dlpackgen_bad_type(at, kinds[kind], got, message);
}

/* The parts, which code without a table calls in this order */

/** That a tensor obeys the rules of DLPack, so that all others may look at it. */
static inline int dlpackgen_check_valid(const struct dlpackgen_site* at, const DLTensor* tensor, uint64_t flags,
                                        struct dlpackgen_message* message) {
  const dlpackgen_error_code error = dlpackgen_validate(tensor, flags, 0);
  if (DLPACKGEN_RARE(error != DLPACKGEN_OK)) return dlpackgen_invalid(at, tensor, error, message);
  return DLPACKGEN_STATUS_OK;
}

/** That what is written to may be. */
static inline int dlpackgen_check_writable(const struct dlpackgen_site* at, uint64_t flags,
                                           struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0)) return dlpackgen_read_only(at, message);
  return DLPACKGEN_STATUS_OK;
}

/** Tells whether a type of elements is one of at most so many, which may end with a 0. */
DLPACKGEN_FAST int dlpackgen_is_among(const uint32_t* dtypes, int most, uint32_t dtype) {
  if (dtypes[0] == dtype || dtypes[0] == 0) return 1;
  for (int i = 1; i < most && dtypes[i]; i++)
    if (dtypes[i] == dtype) return 1;
  return 0;
}

/** That a tensor has one of at most so many types of elements; none at all is any. */
DLPACKGEN_FAST int dlpackgen_check_dtype(const struct dlpackgen_site* at, const DLTensor* tensor,
                                         const uint32_t* dtypes, int most, struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!dlpackgen_is_among(dtypes, most, dlpackgen_dtype_of(tensor))))
    return dlpackgen_bad_dtype(at, tensor, dtypes, most, message);
  return DLPACKGEN_STATUS_OK;
}

/** That a tensor has the type of elements of another argument. */
DLPACKGEN_FAST int dlpackgen_check_same_dtype(const struct dlpackgen_site* at, const DLTensor* tensor,
                                              const struct dlpackgen_site* like, const DLTensor* other,
                                              struct dlpackgen_message* message) {
  const uint32_t expected = dlpackgen_dtype_of(other);
  if (DLPACKGEN_RARE(dlpackgen_dtype_of(tensor) != expected))
    return dlpackgen_other_dtype(at, tensor, like, expected, message);
  return DLPACKGEN_STATUS_OK;
}

/** That a tensor has so many dimensions; with more, as many at least. */
DLPACKGEN_FAST int dlpackgen_check_rank(const struct dlpackgen_site* at, const DLTensor* tensor, int rank, int more,
                                        struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(tensor->ndim != rank) && !(more && tensor->ndim > rank))
    return dlpackgen_bad_rank(at, tensor, rank, more, message);
  return DLPACKGEN_STATUS_OK;
}

/** That a dimension has an extent. */
DLPACKGEN_FAST int dlpackgen_check_extent(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                          int64_t expected, struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(tensor->shape[dimension] != expected))
    return dlpackgen_bad_extent(at, tensor, dimension, expected, message);
  return DLPACKGEN_STATUS_OK;
}

/** That a dimension has the extent that a symbol was bound to by another argument, or by the
 * same one. */
DLPACKGEN_FAST int dlpackgen_check_symbol(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                          const char* symbol, int64_t expected, const struct dlpackgen_site* like,
                                          struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(tensor->shape[dimension] != expected))
    return dlpackgen_other_extent(at, tensor, dimension, symbol, expected, like, message);
  return DLPACKGEN_STATUS_OK;
}

/** That a tensor has the shape of another argument. */
static inline int dlpackgen_check_same_shape(const struct dlpackgen_site* at, const DLTensor* tensor,
                                             const struct dlpackgen_site* like, const DLTensor* other,
                                             struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!dlpackgen_has_shape(tensor, other)))
    return dlpackgen_other_shape(at, tensor, like, other, message);
  return DLPACKGEN_STATUS_OK;
}

/** Tells whether elements lie as an enum dlpackgen_layout demands. */
DLPACKGEN_FAST int dlpackgen_lies_well(int layout, const DLTensor* tensor, int row_major) {
  if (layout == DLPACKGEN_LAYOUT_ANY || row_major) return 1;
  return layout == DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER
             ? dlpackgen_is_contiguous_any_order(tensor)
             : layout == DLPACKGEN_LAYOUT_INNER_CONTIGUOUS && dlpackgen_is_inner_contiguous(tensor);
}

/** That elements lie as an enum dlpackgen_layout demands. */
DLPACKGEN_FAST int dlpackgen_check_density(const struct dlpackgen_site* at, const DLTensor* tensor, int layout,
                                           struct dlpackgen_message* message) {
  int64_t elements;
  if (DLPACKGEN_RARE(!dlpackgen_lies_well(layout, tensor, dlpackgen_is_plainly_contiguous(tensor, &elements))))
    return dlpackgen_bad_layout(at, tensor, layout, message);
  return DLPACKGEN_STATUS_OK;
}

/** That what is written to has a place for each element. */
DLPACKGEN_FAST int dlpackgen_check_overlap(const struct dlpackgen_site* at, const DLTensor* tensor,
                                           struct dlpackgen_message* message) {
  int64_t elements;
  if (DLPACKGEN_RARE(!dlpackgen_is_plainly_contiguous(tensor, &elements) && dlpackgen_has_overlap(tensor)))
    return dlpackgen_overlapping(at, tensor, message);
  return DLPACKGEN_STATUS_OK;
}

/** Tells whether a device type is one of at most so many, which may end with a 0; none at
 * all is the CPU. */
DLPACKGEN_FAST int dlpackgen_is_served(const int32_t* devices, int most, int32_t device_type) {
  if (devices[0] == device_type) return 1;
  if (devices[0] == 0) return device_type == kDLCPU;
  for (int i = 0; i < most && devices[i]; i++)
    if (devices[i] == device_type || devices[i] == DLPACKGEN_ANY_DEVICE) return 1;
  return 0;
}

/** That a tensor is on a device of one of at most so many types. */
DLPACKGEN_FAST int dlpackgen_check_device(const struct dlpackgen_site* at, DLDevice device, const int32_t* devices,
                                          int most, struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!dlpackgen_is_served(devices, most, (int32_t)device.device_type)))
    return dlpackgen_bad_device(at, device, devices, most, message);
  return DLPACKGEN_STATUS_OK;
}

/** That a tensor is on the device of another argument. */
DLPACKGEN_FAST int dlpackgen_check_same_device(const struct dlpackgen_site* at, DLDevice device,
                                               const struct dlpackgen_site* like, DLDevice expected,
                                               struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!dlpackgen_same_device(device, expected)))
    return dlpackgen_other_device(at, device, like, expected, message);
  return DLPACKGEN_STATUS_OK;
}

/** That elements have memory. */
DLPACKGEN_FAST int dlpackgen_check_memory(const struct dlpackgen_site* at, const DLTensor* tensor,
                                          struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!tensor->data) && !dlpackgen_is_empty(tensor)) return dlpackgen_without_memory(at, message);
  return DLPACKGEN_STATUS_OK;
}

/** That elements are where their type may be. */
DLPACKGEN_FAST int dlpackgen_check_alignment(const struct dlpackgen_site* at, const DLTensor* tensor,
                                             struct dlpackgen_message* message) {
  if (dlpackgen_is_misaligned(tensor)) return dlpackgen_misaligned(at, tensor, message);
  return DLPACKGEN_STATUS_OK;
}

#endif /* DLPACKGEN_CHECK_H_ */
