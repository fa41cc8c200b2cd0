/* Checks of described kernels that <dlpackgen/checker.h> does not have: expressions, groups of
 * dimensions, lists, and comparisons between tensors. */
#ifndef DLPACKGEN_KERNELS_KERNEL_CHECKS_H_
#define DLPACKGEN_KERNELS_KERNEL_CHECKS_H_

#include <dlpackgen/checker.h>
#include <string.h>
#include "arithmetic.h"
#include "encoding.h"

/* The dimensions of a "...". */
struct dlpackgen_group {
  const int64_t* extents;
  int32_t count;
  int bound; /* the argument that determined them, from 1; 0: none yet */
};

/* Begins a message about a result: "f(): result 'y': ". */
DLPACKGEN_PART inline void dlpackgen_put_result(struct dlpackgen_message* message, const char* function,
                                                const char* result) {
  dlpackgen_put(message, function);
  dlpackgen_put(message, "(): result '");
  dlpackgen_put(message, result);
  dlpackgen_put(message, "': ");
}

/* Reports an expression without a value. */
DLPACKGEN_PART inline void dlpackgen_put_bad(struct dlpackgen_message* message, const char* expression, int bad) {
  dlpackgen_put(message, expression);
  dlpackgen_put(message, bad == DLPACKGEN_OVERFLOWS ? " does not fit in 64 bits" : " divides by zero");
}

/* Returns the number of elements of a valid tensor, which always fits. */
DLPACKGEN_PART int64_t dlpackgen_elements_of(const DLTensor* tensor) {
  int64_t count = 0;
  (void)dlpackgen_size(tensor->ndim, tensor->shape, &count);
  return count;
}

/* Checks that a required argument is present. */
DLPACKGEN_PART int dlpackgen_check_there(const struct dlpackgen_site* at, int there,
                                         struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(!there)) return dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_MISSING);
  return DLPACKGEN_STATUS_OK;
}

/* Checks that a list has the given, or a minimum, number of items. */
DLPACKGEN_PART int dlpackgen_check_items(const struct dlpackgen_site* at, int64_t count, int64_t wanted, int more,
                                         struct dlpackgen_message* message) {
  if (count == wanted || (more && count > wanted)) return DLPACKGEN_STATUS_OK;
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, more ? "expected at least " : "expected ");
  dlpackgen_put_integer(message, wanted);
  dlpackgen_put(message, wanted == 1 ? " item" : " items");
  return dlpackgen_fail_got(message, count, DLPACKGEN_STATUS_VALUE_ERROR);
}

/* Returns the index of a dtype in a list, or -1. */
DLPACKGEN_PART int dlpackgen_place_of(const uint32_t* dtypes, int count, uint32_t dtype) {
  for (int i = 0; i < count; i++)
    if (dtypes[i] == dtype) return i;
  return -1;
}

/* Checks that an extent equals a symbol, which the first present argument sets. */
DLPACKGEN_PART int dlpackgen_bind_extent(const struct dlpackgen_site* sites, int which, const DLTensor* tensor,
                                         int dimension, const char* symbol, int64_t* value, int* bound,
                                         struct dlpackgen_message* message) {
  if (*bound)
    return dlpackgen_check_symbol(&sites[which], tensor, dimension, symbol, *value, &sites[*bound - 1], message);
  *value = tensor->shape[dimension];
  *bound = which + 1;
  return DLPACKGEN_STATUS_OK;
}

/* Reports the possible extents for an expression that is solved for its symbol. */
DLPACKGEN_SLOW static int dlpackgen_unsolvable(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                               const char* expression, const char* wanted, int64_t number,
                                               struct dlpackgen_message* message) {
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, wanted);
  dlpackgen_put_integer(message, number);
  dlpackgen_put(message, " in dimension ");
  dlpackgen_put_integer(message, dimension);
  dlpackgen_put(message, ", which is ");
  dlpackgen_put(message, expression);
  return dlpackgen_fail_got(message, tensor->shape[dimension], DLPACKGEN_STATUS_VALUE_ERROR);
}

/* Sets the symbol of an extent of the form symbol + number. */
DLPACKGEN_PART int dlpackgen_solve_sum(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                       const char* expression, int64_t number, int64_t* value,
                                       struct dlpackgen_message* message) {
  const int64_t extent = tensor->shape[dimension];
  if (DLPACKGEN_RARE(extent < number))
    return dlpackgen_unsolvable(at, tensor, dimension, expression, "expected at least ", number, message);
  if (DLPACKGEN_RARE(number < 0 && extent > INT64_MAX + number))
    return dlpackgen_unsolvable(at, tensor, dimension, expression, "expected at most ", INT64_MAX + number, message);
  *value = extent - number;
  return DLPACKGEN_STATUS_OK;
}

/* Sets the symbol of an extent of the form number * symbol. */
DLPACKGEN_PART int dlpackgen_solve_product(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                           const char* expression, int64_t number, int64_t* value,
                                           struct dlpackgen_message* message) {
  const int64_t extent = tensor->shape[dimension];
  if (DLPACKGEN_RARE(extent % number != 0))
    return dlpackgen_unsolvable(at, tensor, dimension, expression, "expected a multiple of ", number, message);
  *value = extent / number;
  return DLPACKGEN_STATUS_OK;
}

DLPACKGEN_SLOW static int dlpackgen_other_computed(const struct dlpackgen_site* at, const DLTensor* tensor,
                                                   int dimension, const char* expression, int64_t expected, int bad,
                                                   struct dlpackgen_message* message) {
  dlpackgen_put_site(message, at);
  if (bad) {
    dlpackgen_put_bad(message, expression, bad);
    return DLPACKGEN_STATUS_VALUE_ERROR;
  }
  dlpackgen_put(message, "expected ");
  dlpackgen_put(message, expression);
  dlpackgen_put(message, " = ");
  dlpackgen_put_integer(message, expected);
  dlpackgen_put(message, " in dimension ");
  dlpackgen_put_integer(message, dimension);
  return dlpackgen_fail_got(message, tensor->shape[dimension], DLPACKGEN_STATUS_VALUE_ERROR);
}

/* Checks that an extent equals the value of an expression. */
DLPACKGEN_PART int dlpackgen_check_computed(const struct dlpackgen_site* at, const DLTensor* tensor, int dimension,
                                            const char* expression, int64_t expected, int bad,
                                            struct dlpackgen_message* message) {
  if (DLPACKGEN_RARE(bad || tensor->shape[dimension] != expected))
    return dlpackgen_other_computed(at, tensor, dimension, expression, expected, bad, message);
  return DLPACKGEN_STATUS_OK;
}

DLPACKGEN_SLOW static int dlpackgen_other_group(const struct dlpackgen_site* at, const char* name,
                                                const struct dlpackgen_group* group, const struct dlpackgen_site* like,
                                                const int64_t* extents, int32_t count,
                                                struct dlpackgen_message* message) {
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, "expected ...");
  dlpackgen_put(message, name);
  dlpackgen_put(message, " = ");
  dlpackgen_put_tuple(message, group->extents, group->count);
  dlpackgen_put(message, ", as in ");
  dlpackgen_put_argument(message, like);
  dlpackgen_put(message, ", got ");
  dlpackgen_put_tuple(message, extents, count);
  return DLPACKGEN_STATUS_VALUE_ERROR;
}

/* Returns the extents from a dimension on. The shape of a scalar may be NULL, to which C does not
 * even permit adding 0. */
DLPACKGEN_FAST const int64_t* dlpackgen_extents_from(const DLTensor* tensor, int first) {
  return first ? tensor->shape + first : tensor->shape;
}

/* Sets the dimensions of a "...", or returns whether they are equal. */
DLPACKGEN_PART inline int dlpackgen_fits_group(const DLTensor* tensor, int which, int first, int32_t rank,
                                               struct dlpackgen_group* group) {
  if (group->bound) {
    if (group->count != tensor->ndim - rank) return 0;
    for (int32_t d = 0; d < group->count; d++)
      if (group->extents[d] != tensor->shape[first + d]) return 0;
    return 1;
  }
  group->extents = dlpackgen_extents_from(tensor, first);
  group->count = tensor->ndim - rank;
  group->bound = which + 1;
  return 1;
}

/* Checks that dimensions of a tensor equal those of a "...", which the first argument sets. */
DLPACKGEN_PART int dlpackgen_bind_group(const struct dlpackgen_site* sites, int which, const DLTensor* tensor,
                                        int first, int32_t rank, const char* name, struct dlpackgen_group* group,
                                        struct dlpackgen_message* message) {
  if (!DLPACKGEN_RARE(!dlpackgen_fits_group(tensor, which, first, rank, group))) return DLPACKGEN_STATUS_OK;
  return dlpackgen_other_group(&sites[which], name, group, &sites[group->bound - 1],
                               dlpackgen_extents_from(tensor, first), tensor->ndim - rank, message);
}

/* Checks that elements narrower than a byte are packed: kernels read a tensor without its flags. */
DLPACKGEN_PART int dlpackgen_check_packed(const struct dlpackgen_site* at, const DLTensor* tensor, uint64_t flags,
                                          struct dlpackgen_message* message) {
  if (!DLPACKGEN_RARE(dlpackgen_element_bits(tensor->dtype, flags) != dlpackgen_element_bits(tensor->dtype, 0)))
    return DLPACKGEN_STATUS_OK;
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_BUFFER_ERROR,
                        "its elements are padded to bytes, but kernels read packed elements");
}

/* Checks that a tensor is column-major without gaps. */
DLPACKGEN_PART int dlpackgen_check_column_major(const struct dlpackgen_site* at, const DLTensor* tensor,
                                                struct dlpackgen_message* message) {
  if (!DLPACKGEN_RARE(!dlpackgen_is_f_contiguous(tensor))) return DLPACKGEN_STATUS_OK;
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, "expected a column-major tensor, got ");
  dlpackgen_put_layout(message, tensor);
  return DLPACKGEN_STATUS_VALUE_ERROR;
}

/* Checks that the first element is aligned to the given number of bytes. */
DLPACKGEN_PART int dlpackgen_check_aligned(const struct dlpackgen_site* at, const DLTensor* tensor, int64_t bytes,
                                           struct dlpackgen_message* message) {
  if (dlpackgen_address(tensor) % (uintptr_t)bytes == 0 || dlpackgen_is_empty(tensor)) return DLPACKGEN_STATUS_OK;
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, "expected data aligned to ");
  dlpackgen_put_integer(message, bytes);
  dlpackgen_put(message, " bytes, got ");
  dlpackgen_put_address(message, dlpackgen_address(tensor));
  return DLPACKGEN_STATUS_BUFFER_ERROR;
}

/* The fast check, which most calls pass. After 0, the checks above must run. */

/* Host memory. */
DLPACKGEN_FAST DLDevice dlpackgen_host(void) {
  const DLDevice host = {kDLCPU, 0};
  return host;
}

/* Uses the device of a tensor as the device of the call. Returns 1, or 0 if the device is not
 * listed, has no addresses, or has memory that does not belong to one device. */
DLPACKGEN_PART inline int dlpackgen_finds_place(const DLTensor* tensor, const int32_t* devices, int count,
                                                DLDevice* place) {
  const int32_t type = tensor ? (int32_t)tensor->device.device_type : 0;
  int i = 0;
  while (i < count && devices[i] != type) i++;
  if (DLPACKGEN_RARE(i == count)) return 0;
  *place = type == kDLCPU ? dlpackgen_host() : tensor->device;
  return type == kDLCPU ||
         !(dlpackgen_device_is_opaque(type) || dlpackgen_device_is_managed(type) || dlpackgen_device_is_host(type));
}

/* Returns whether a tensor is on a device, and has the shape and the strides of a rank. */
DLPACKGEN_FAST int dlpackgen_has_dimensions(const DLTensor* tensor, DLDevice place, int32_t rank, int more) {
  if (DLPACKGEN_RARE(!tensor) || tensor->device.device_type != place.device_type) return 0;
  if (place.device_type != kDLCPU && DLPACKGEN_RARE(tensor->device.device_id != place.device_id)) return 0;
  if (DLPACKGEN_RARE(tensor->ndim != rank) && !(more && tensor->ndim > rank && tensor->ndim <= DLPACKGEN_MAX_NDIM))
    return 0;
  return !DLPACKGEN_RARE(!tensor->shape || !tensor->strides) || tensor->ndim == 0;
}

/* Returns whether such a tensor, whose elements have whole bytes, is usual
 * (dlpackgen_memory_fits_()), aligned, and writable if required. */
DLPACKGEN_FAST int dlpackgen_is_block(const DLTensor* tensor, uint64_t flags, int writable, int32_t rank, int more,
                                      uint64_t* bytes) {
  uint64_t elements = 1;
  for (int32_t d = more ? tensor->ndim : rank; d-- > 0;) {
    if (DLPACKGEN_RARE(!dlpackgen_dimension_fits_((uint64_t)tensor->shape[d], tensor->strides[d], &elements))) return 0;
  }
  if (writable && DLPACKGEN_RARE((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0)) return 0;
  /* From the number that is compared with the kernel's dtypes, so that compilers know the bits. */
  *bytes = elements * (uint64_t)((dlpackgen_dtype_of(tensor) >> 8 & 0xFF) >> 3);
  return dlpackgen_is_placed(tensor);
}

/* Returns whether a tensor has the dimensions and is such a block. */
DLPACKGEN_FAST int dlpackgen_is_usual(const DLTensor* tensor, DLDevice place, uint64_t flags, int writable,
                                      int32_t rank, int more, uint64_t* bytes) {
  return dlpackgen_has_dimensions(tensor, place, rank, more) &&
         dlpackgen_is_block(tensor, flags, writable, rank, more, bytes);
}

/* Returns whether two blocks of such tensors overlap. */
DLPACKGEN_PART inline int dlpackgen_blocks_meet(const DLTensor* a, uint64_t a_bytes, const DLTensor* b,
                                                uint64_t b_bytes) {
  const uint64_t x = (uint64_t)((uintptr_t)a->data + (uintptr_t)a->byte_offset);
  const uint64_t y = (uint64_t)((uintptr_t)b->data + (uintptr_t)b->byte_offset);
  return x < y + b_bytes && y < x + a_bytes;
}

/* Returns whether a tensor is such a block, and computes its size in bytes. */
DLPACKGEN_PART inline int dlpackgen_is_any_block(const DLTensor* tensor, uint64_t* bytes) {
  return tensor->dtype.bits % 8 == 0 && tensor->dtype.lanes == 1 &&
         dlpackgen_is_usual(tensor, dlpackgen_host(), 0, 0, tensor->ndim, 0, bytes);
}

/* The full check */

/* Returns whether the byte ranges of two valid tensors overlap. Memory of different handles does
 * not overlap. */
DLPACKGEN_PART inline int dlpackgen_meet(const DLTensor* a, const DLTensor* b) {
  int64_t low[2], high[2];
  uint64_t bytes[2];
  if (dlpackgen_is_any_block(a, &bytes[0]) && dlpackgen_is_any_block(b, &bytes[1]))
    return dlpackgen_blocks_meet(a, bytes[0], b, bytes[1]);
  if (!dlpackgen_same_device(a->device, b->device)) return 0;
  if (dlpackgen_device_is_opaque((int32_t)a->device.device_type) && a->data != b->data) return 0;
  if (dlpackgen_byte_range(a, 0, &low[0], &high[0]) || dlpackgen_byte_range(b, 0, &low[1], &high[1])) return 0;
  if (low[0] == high[0] || low[1] == high[1]) return 0;
  const uintptr_t x = dlpackgen_address(a), y = dlpackgen_address(b);
  return x + (uintptr_t)low[0] < y + (uintptr_t)high[1] && y + (uintptr_t)low[1] < x + (uintptr_t)high[0];
}

/* Checks that a written tensor shares no memory with another one. */
DLPACKGEN_PART int dlpackgen_check_apart(const struct dlpackgen_site* at, const DLTensor* written,
                                         const struct dlpackgen_site* like, const DLTensor* other,
                                         struct dlpackgen_message* message) {
  if (!DLPACKGEN_RARE(dlpackgen_meet(written, other))) return DLPACKGEN_STATUS_OK;
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, "it is writable, but overlaps ");
  dlpackgen_put_argument(message, like);
  return DLPACKGEN_STATUS_BUFFER_ERROR;
}

/* Checks that all tensors are on one device, and returns it as the device of the call. The first
 * tensor outside host memory determines it. */
DLPACKGEN_PART int dlpackgen_check_one_device(const struct dlpackgen_site* sites, const int* which,
                                              const DLTensor* const* tensors, int count, DLDevice* device,
                                              struct dlpackgen_message* message) {
  int first = -1, status = DLPACKGEN_STATUS_OK;
  for (int i = count; i-- > 0;)
    if (tensors[i]) *device = tensors[i]->device;
  for (int i = count; i-- > 0;)
    if (tensors[i] && !dlpackgen_is_on_host(tensors[i]->device)) first = i;
  if (first < 0) return status;
  *device = tensors[first]->device;
  for (int i = 0; i < count && !status; i++)
    if (tensors[i])
      status =
          dlpackgen_check_same_device(&sites[which[i]], tensors[i]->device, &sites[which[first]], *device, message);
  return status;
}

/* Reports a false condition; the values of its names follow. */
DLPACKGEN_SLOW static int dlpackgen_unmet(struct dlpackgen_message* message, const char* function,
                                          const char* condition, int bad, int status) {
  dlpackgen_put(message, function);
  dlpackgen_put(message, "(): ");
  if (bad) {
    dlpackgen_put_bad(message, condition, bad);
    return status;
  }
  dlpackgen_put(message, "expected ");
  dlpackgen_put(message, condition);
  return status;
}

/* Adds the value of a name in a condition. */
DLPACKGEN_PART void dlpackgen_put_value(struct dlpackgen_message* message, int* first, const char* name,
                                        int64_t value) {
  dlpackgen_put(message, *first ? ", where " : ", ");
  *first = 0;
  dlpackgen_put(message, name);
  dlpackgen_put(message, " = ");
  dlpackgen_put_integer(message, value);
}

/* Adds a quoted text of a condition. */
DLPACKGEN_PART void dlpackgen_put_text(struct dlpackgen_message* message, int* first, const char* name,
                                       const char* value) {
  dlpackgen_put(message, *first ? ", where " : ", ");
  *first = 0;
  dlpackgen_put(message, name);
  dlpackgen_put(message, " = '");
  dlpackgen_put(message, value);
  dlpackgen_put(message, "'");
}

/* Adds the dtype of a variable. */
DLPACKGEN_PART void dlpackgen_put_variable(struct dlpackgen_message* message, int* first, const char* name,
                                           uint32_t dtype) {
  dlpackgen_put(message, *first ? ", where " : ", ");
  *first = 0;
  dlpackgen_put(message, name);
  dlpackgen_put(message, " = ");
  dlpackgen_put_dtype(message, dtype);
}

/* Checks that an extent of a result has a value. */
DLPACKGEN_PART int dlpackgen_check_made(const char* function, const char* result, const char* expression, int64_t value,
                                        int bad, struct dlpackgen_message* message) {
  if (!DLPACKGEN_RARE(bad || value < 0)) return DLPACKGEN_STATUS_OK;
  dlpackgen_put_result(message, function, result);
  if (bad) {
    dlpackgen_put_bad(message, expression, bad);
    return DLPACKGEN_STATUS_VALUE_ERROR;
  }
  dlpackgen_put(message, "expected an extent of 0 or more for ");
  dlpackgen_put(message, expression);
  return dlpackgen_fail_got(message, value, DLPACKGEN_STATUS_VALUE_ERROR);
}

/* Adds an extent to a shape. */
DLPACKGEN_PART void dlpackgen_add_extent(struct dlpackgen_result* made, int64_t extent) {
  if (made->ndim < DLPACKGEN_MAX_NDIM) made->shape[made->ndim] = extent;
  made->ndim++;
}

/* Adds the dimensions of a "..." to a shape. */
DLPACKGEN_PART void dlpackgen_add_group(struct dlpackgen_result* made, const struct dlpackgen_group* group) {
  for (int32_t d = 0; d < group->count; d++) dlpackgen_add_extent(made, group->extents[d]);
}

/* Checks that a result does not have too many dimensions. */
DLPACKGEN_PART int dlpackgen_check_room(const char* function, const char* result, const struct dlpackgen_result* made,
                                        struct dlpackgen_message* message) {
  if (!DLPACKGEN_RARE(made->ndim > DLPACKGEN_MAX_NDIM)) return DLPACKGEN_STATUS_OK;
  dlpackgen_put_result(message, function, result);
  dlpackgen_put_dimensions(message, made->ndim);
  return DLPACKGEN_STATUS_VALUE_ERROR;
}

/* Returns whether a tensor that passed the fast check has the dtype and the shape of a result. */
DLPACKGEN_FAST int dlpackgen_is_made(const DLTensor* tensor, const struct dlpackgen_result* made) {
  if (DLPACKGEN_RARE(tensor->ndim != made->ndim)) return 0;
  for (int32_t d = 0; d < tensor->ndim; d++)
    if (DLPACKGEN_RARE(tensor->shape[d] != made->shape[d])) return 0;
  return dlpackgen_dtype_of(tensor) == DLPACKGEN_DTYPE(made->dtype.code, made->dtype.bits, made->dtype.lanes);
}

/* Checks a tensor that a caller provides for a result. */
DLPACKGEN_PART int dlpackgen_check_present(const struct dlpackgen_site* at, const DLTensor* tensor, uint64_t flags,
                                           const struct dlpackgen_result* made, DLDevice device,
                                           struct dlpackgen_message* message) {
  const uint32_t dtype = DLPACKGEN_DTYPE(made->dtype.code, made->dtype.bits, made->dtype.lanes);
  const int32_t type = (int32_t)device.device_type;
  int status = dlpackgen_check_valid(at, tensor, flags, message);
  if (!status) status = dlpackgen_check_packed(at, tensor, flags, message);
  if (!status) status = dlpackgen_check_writable(at, flags, message);
  if (!status) status = dlpackgen_check_dtype(at, tensor, &dtype, 1, message);
  if (!status) status = dlpackgen_check_rank(at, tensor, made->ndim, 0, message);
  for (int32_t d = 0; !status && d < made->ndim; d++)
    status = dlpackgen_check_extent(at, tensor, d, made->shape[d], message);
  if (!status) status = dlpackgen_check_layout_of(at, tensor, DLPACKGEN_LAYOUT_C_CONTIGUOUS, message);
  if (!status) status = dlpackgen_check_device(at, tensor->device, &type, 1, message);
  if (!status && !dlpackgen_is_on_host(device) && !dlpackgen_same_device(tensor->device, device))
    status = dlpackgen_bad_device(at, tensor->device, &type, 1, message);
  if (!status) status = dlpackgen_check_memory(at, tensor, message);
  if (!status) status = dlpackgen_check_alignment(at, tensor, message);
  return status;
}

/* Fills a result with zeros, which the host must be able to access. */
DLPACKGEN_PART int dlpackgen_zero(const char* function, const char* result, DLTensor* tensor,
                                  struct dlpackgen_message* message) {
  int64_t bytes = 0;
  if (dlpackgen_nbytes(tensor, 0, &bytes) != DLPACKGEN_OK || bytes == 0) return DLPACKGEN_STATUS_OK;
  if (dlpackgen_device_is_host_readable((int32_t)tensor->device.device_type)) {
    memset((char*)tensor->data + tensor->byte_offset, 0, (size_t)bytes);
    return DLPACKGEN_STATUS_OK;
  }
  dlpackgen_put_result(message, function, result);
  dlpackgen_put(message, "only host memory can be zeroed");
  return DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR;
}

/* Begins the message about a failed function, and returns its status. */
DLPACKGEN_SLOW static int dlpackgen_failed(struct dlpackgen_message* message, const char* function,
                                           const struct dlpackgen_site* about, int status) {
  if (about) {
    dlpackgen_put_site(message, about);
    return status;
  }
  dlpackgen_put(message, function);
  dlpackgen_put(message, "(): ");
  return status;
}

/* Adds the text of a status, or its number if there is no text. */
DLPACKGEN_SLOW static void dlpackgen_put_status(struct dlpackgen_message* message, const char* text, int status) {
  if (text && *text) {
    dlpackgen_put_foreign(message, text);
    return;
  }
  dlpackgen_put(message, "the kernel failed with status ");
  dlpackgen_put_integer(message, status);
}

#endif /* DLPACKGEN_KERNELS_KERNEL_CHECKS_H_ */
