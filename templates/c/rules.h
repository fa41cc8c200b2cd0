/**
 * \file rules.h
 * The arithmetic of tensors: size, strides, layout and the accessed byte range. C++, PyTorch and
 * Python call these functions too. They are independent of the DLPack release, so the first copy of
 * this file that a source file includes works for all releases.
 *
 * C99 and C++11. The functions allocate no memory, call no library, keep no state and do not write
 * to tensors, so any thread may call them at any time. Sizes are in bytes unless documented as
 * numbers of elements. Sizes above 63 bits are reported as DLPACKGEN_ERROR_TOO_LARGE instead of
 * wrapping around.
 */
#ifndef DLPACKGEN_RULES_H_
#define DLPACKGEN_RULES_H_

#include <dlpack/dlpack.h>
#include <dlpackgen/elements.h>
#include <stdint.h>

/** The reason for a rejection. The numbers never change their meaning. */
typedef enum dlpackgen_error_code {
  DLPACKGEN_OK = 0,
  DLPACKGEN_ERROR_NULL = 1,             /**< The tensor or table is NULL. */
  DLPACKGEN_ERROR_VERSION = 2,          /**< A different major version: call the deleter and read
                                         * nothing else. */
  DLPACKGEN_ERROR_NDIM = 3,             /**< ndim is negative or exceeds DLPACKGEN_MAX_NDIM. */
  DLPACKGEN_ERROR_SHAPE_NULL = 4,       /**< shape is NULL and ndim is not 0. */
  DLPACKGEN_ERROR_EXTENT = 5,           /**< An extent is negative. */
  DLPACKGEN_ERROR_STRIDES_NULL = 6,     /**< strides is NULL and ndim is not 0. */
  DLPACKGEN_ERROR_CODE = 7,             /**< The type code is unknown. */
  DLPACKGEN_ERROR_BITS = 8,             /**< bits is 0, or does not match the type code. */
  DLPACKGEN_ERROR_LANES = 9,            /**< lanes is 0. */
  DLPACKGEN_ERROR_DEVICE = 10,          /**< The device type is unknown. */
  DLPACKGEN_ERROR_TOO_LARGE = 11,       /**< A count of elements or bytes needs more than 63 bits. */
  DLPACKGEN_ERROR_DATA_NULL = 12,       /**< data is NULL, but the tensor has elements. */
  DLPACKGEN_ERROR_OUT_OF_RANGE = 13,    /**< Elements are before the buffer or beyond the address
                                         * space. */
  DLPACKGEN_ERROR_NO_EXCHANGE_API = 14, /**< The chain has no table of this major version. */
  DLPACKGEN_ERROR_EXCHANGE_SLOT = 15    /**< A required function of the table is NULL. */
} dlpackgen_error_code;

/** Returns a description of an error: one line in lower case, without a full stop. Never NULL; must
 * not be freed. */
DLPACKGEN_CONSTEXPR const char* dlpackgen_error_string(dlpackgen_error_code error) {
  switch (error) {
    case DLPACKGEN_OK: return "no error";
    case DLPACKGEN_ERROR_NULL: return "the pointer is NULL";
    case DLPACKGEN_ERROR_VERSION: return "unsupported DLPack major version";
    case DLPACKGEN_ERROR_NDIM: return "ndim is negative or too large";
    case DLPACKGEN_ERROR_SHAPE_NULL: return "shape is NULL though ndim is not 0";
    case DLPACKGEN_ERROR_EXTENT: return "an extent of shape is negative";
    case DLPACKGEN_ERROR_STRIDES_NULL: return "strides is NULL though ndim is not 0";
    case DLPACKGEN_ERROR_CODE: return "the type code of dtype is unknown";
    case DLPACKGEN_ERROR_BITS: return "dtype.bits is 0 or does not fit its type code";
    case DLPACKGEN_ERROR_LANES: return "dtype.lanes is 0";
    case DLPACKGEN_ERROR_DEVICE: return "the device type is unknown";
    case DLPACKGEN_ERROR_TOO_LARGE: return "the tensor has more elements or bytes than 63 bits can count";
    case DLPACKGEN_ERROR_DATA_NULL: return "data is NULL though the tensor has elements";
    case DLPACKGEN_ERROR_OUT_OF_RANGE: return "elements lie before the buffer or beyond the address space";
    case DLPACKGEN_ERROR_NO_EXCHANGE_API: return "no exchange table has the supported major version";
    case DLPACKGEN_ERROR_EXCHANGE_SLOT: return "a required function of the exchange table is NULL";
  }
  return "unknown error";
}

/* Casts without warnings in C and C++. */
#ifdef __cplusplus
#define DLPACKGEN_RULES_CAST(type, value) static_cast<type>(value)
#define DLPACKGEN_RULES_ADDRESS(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define DLPACKGEN_RULES_CAST(type, value) ((type)(value))
#define DLPACKGEN_RULES_ADDRESS(pointer) ((uintptr_t)(pointer))
#endif

/* The largest number of 63 bits. */
#define DLPACKGEN_RULES_MAX (DLPACKGEN_RULES_CAST(uint64_t, -1) >> 1)

/* Names that end in an underscore are internal to dlpackgen. */

/* The details of an error, for messages that contain more than its description. */
typedef struct dlpackgen_mismatch_ {
  int32_t dimension; /* or -1 */
  int64_t expected;
  int64_t got;
} dlpackgen_mismatch_;

DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_fail_(dlpackgen_mismatch_* mismatch, dlpackgen_error_code error,
                                                         int64_t expected, int64_t got, int32_t dimension) {
  mismatch->dimension = dimension;
  mismatch->expected = expected;
  mismatch->got = got;
  return error;
}

/* Returns 1 if the product fits in 63 bits; otherwise *product is unchanged. The product of two
 * 31-bit numbers always fits, which saves the division. */
DLPACKGEN_CONSTEXPR int dlpackgen_multiply_(uint64_t a, uint64_t b, uint64_t* product) {
  if (((a | b) >> 31) != 0 && b != 0 && a > DLPACKGEN_RULES_MAX / b) return 0;
  *product = a * b;
  return 1;
}

/* Returns 1 if the sum fits in 63 bits; a has at most 63 bits. */
DLPACKGEN_CONSTEXPR int dlpackgen_add_(uint64_t a, uint64_t b, uint64_t* sum) {
  if (b > DLPACKGEN_RULES_MAX - a) return 0;
  *sum = a + b;
  return 1;
}

/* The absolute value of a stride, also of INT64_MIN. */
DLPACKGEN_CONSTEXPR uint64_t dlpackgen_magnitude_(int64_t stride) {
  return stride < 0 ? 0U - DLPACKGEN_RULES_CAST(uint64_t, stride) : DLPACKGEN_RULES_CAST(uint64_t, stride);
}

/**
 * Returns the distance between consecutive elements in bits, which determines the size of every
 * tensor.
 *
 * \param flags  DLManagedTensorVersioned.flags; 0 for a DLManagedTensor.
 *
 * Elements whose lanes are narrower than a byte are packed unless flags has
 * DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED. All others are rounded up to whole bytes.
 */
DLPACKGEN_CONSTEXPR uint64_t dlpackgen_element_bits(DLDataType dtype, uint64_t flags) {
  const uint64_t bits = DLPACKGEN_RULES_CAST(uint64_t, dtype.bits) * dtype.lanes;
  if (dtype.bits < DLPACKGEN_PACKED_BELOW && (flags & DLPACKGEN_PADDED_FLAG) == 0) return bits;
  return (bits + 7) / 8 * 8;
}

/**
 * Returns the alignment of an element in bytes: the size of one lane, or of one part of a complex
 * number. The alignment is 1 for lanes of sizes that no C type has (other than 2, 4, 8 or 16
 * bytes). It is the same on every platform, including those whose ABI requires less, such as i386.
 */
DLPACKGEN_CONSTEXPR int dlpackgen_alignment(DLDataType dtype) {
  const int parts = dlpackgen_type_code_parts(dtype.code);
  return dtype.bits % parts == 0 ? dlpackgen_width_alignment(dtype.bits / parts) : 1;
}

/* Computes the number of bytes for the given number of elements, rounded up to whole bytes. Returns
 * 1 if it fits in 63 bits. */
DLPACKGEN_CONSTEXPR int dlpackgen_bytes_of_(uint64_t count, uint64_t element_bits, uint64_t* bytes) {
  uint64_t whole = 0;
  const uint64_t rest = (count % 8 * element_bits + 7) / 8;
  return dlpackgen_multiply_(count / 8, element_bits, &whole) && dlpackgen_add_(whole, rest, bytes);
}

/* dlpackgen_size(), with the details of an error. */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_size_(int32_t ndim, const int64_t* shape, int64_t* count,
                                                         dlpackgen_mismatch_* mismatch) {
  uint64_t product = 1;
  int fits = 1, empty = 0;
  int32_t i = 0;
  if (ndim < 0) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_NDIM, 0, ndim, -1);
  if (ndim > 0 && !shape) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_SHAPE_NULL, 0, ndim, -1);
  for (i = 0; i < ndim; ++i) {
    if (shape[i] < 0) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_EXTENT, 0, shape[i], i);
    if (shape[i] == 0) empty = 1;
    if (!dlpackgen_multiply_(product, DLPACKGEN_RULES_CAST(uint64_t, shape[i]), &product)) fits = 0;
  }
  if (!fits && !empty) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_TOO_LARGE, 0, 0, -1);
  *count = empty ? 0 : DLPACKGEN_RULES_CAST(int64_t, product);
  return DLPACKGEN_OK;
}

/**
 * Computes the number of elements of a shape with ndim extents: 1 for a scalar, and 0 if any extent
 * is 0, even if the other extents would overflow.
 */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_size(int32_t ndim, const int64_t* shape, int64_t* count) {
  dlpackgen_mismatch_ mismatch = {-1, 0, 0};
  return dlpackgen_size_(ndim, shape, count, &mismatch);
}

/* dlpackgen_nbytes(), with the details of an error. */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_nbytes_(const DLTensor* tensor, uint64_t flags, int64_t* bytes,
                                                           dlpackgen_mismatch_* mismatch) {
  int64_t count = 0;
  uint64_t total = 0;
  const dlpackgen_error_code error = dlpackgen_size_(tensor->ndim, tensor->shape, &count, mismatch);
  if (error != DLPACKGEN_OK) return error;
  if (!dlpackgen_bytes_of_(DLPACKGEN_RULES_CAST(uint64_t, count), dlpackgen_element_bits(tensor->dtype, flags), &total))
    return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_TOO_LARGE, 0, 0, -1);
  *bytes = DLPACKGEN_RULES_CAST(int64_t, total);
  return DLPACKGEN_OK;
}

/**
 * Computes the size in bytes of the tensor's elements, stored without gaps.
 *
 * \param flags  DLManagedTensorVersioned.flags; 0 for a DLManagedTensor.
 *
 * Elements narrower than a byte share bytes unless flags has
 * DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED: three float4 take 2 bytes packed
 * and 3 padded. All others are rounded up to whole bytes, lanes included.
 */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_nbytes(const DLTensor* tensor, uint64_t flags, int64_t* bytes) {
  dlpackgen_mismatch_ mismatch = {-1, 0, 0};
  return dlpackgen_nbytes_(tensor, flags, bytes, &mismatch);
}

/* Extends a stride of a compact tensor by the next dimension to the left; an extent of 0 counts as
 * 1. Returns 1 if it fits in 63 bits; otherwise *stride is unchanged. */
DLPACKGEN_CONSTEXPR int dlpackgen_extend_stride_(uint64_t* stride, int64_t extent) {
  return extent < 2 || dlpackgen_multiply_(*stride, DLPACKGEN_RULES_CAST(uint64_t, extent), stride);
}

/* dlpackgen_compact_strides(), with the details of an error. */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_compact_strides_(int32_t ndim, const int64_t* shape,
                                                                    int64_t* strides, dlpackgen_mismatch_* mismatch) {
  uint64_t stride = 1;
  int32_t i = 0;
  if (ndim < 0) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_NDIM, 0, ndim, -1);
  if (ndim > 0 && !shape) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_SHAPE_NULL, 0, ndim, -1);
  if (ndim > 0 && !strides) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_STRIDES_NULL, 0, ndim, -1);
  for (i = ndim; i-- > 0;) {
    if (shape[i] < 0) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_EXTENT, 0, shape[i], i);
    strides[i] = DLPACKGEN_RULES_CAST(int64_t, stride);
    if (!dlpackgen_extend_stride_(&stride, shape[i]))
      return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_TOO_LARGE, 0, 0, -1);
  }
  return DLPACKGEN_OK;
}

/**
 * Writes the ndim strides, in elements, of a compact row-major tensor with the given shape. An
 * extent of 0 counts as 1, as in NumPy and PyTorch.
 */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_compact_strides(int32_t ndim, const int64_t* shape,
                                                                   int64_t* strides) {
  dlpackgen_mismatch_ mismatch = {-1, 0, 0};
  return dlpackgen_compact_strides_(ndim, shape, strides, &mismatch);
}

/* Counts the elements of a tensor whose shape is valid, and returns 1 if it is C-contiguous, else
 * 0. */
DLPACKGEN_CONSTEXPR int dlpackgen_contiguous_suffix_(const DLTensor* tensor, int64_t* count) {
  uint64_t expected = 1;
  int fits = 1;
  int32_t i = 0;
  for (i = tensor->ndim; i-- > 0;) {
    if (tensor->strides) fits &= tensor->strides[i] == DLPACKGEN_RULES_CAST(int64_t, expected) || tensor->shape[i] == 1;
    expected *= DLPACKGEN_RULES_CAST(uint64_t, tensor->shape[i]);
  }
  *count = DLPACKGEN_RULES_CAST(int64_t, expected);
  return fits || expected == 0;
}

/**
 * Returns 1 if the tensor is C-contiguous, else 0. NULL strides are C-contiguous. The strides of
 * extents below 2, and all strides of an empty tensor, are not checked. The shape must be valid.
 */
DLPACKGEN_CONSTEXPR int dlpackgen_is_contiguous(const DLTensor* tensor) {
  int64_t count = 0;
  if (dlpackgen_size(tensor->ndim, tensor->shape, &count) != DLPACKGEN_OK) return 0;
  return count == 0 || dlpackgen_contiguous_suffix_(tensor, &count);
}

/**
 * Returns 1 if the tensor is F-contiguous, column-major without gaps, else 0, by the rules of
 * dlpackgen_is_contiguous(). The shape must be valid.
 */
DLPACKGEN_CONSTEXPR int dlpackgen_is_f_contiguous(const DLTensor* tensor) {
  int64_t count = 0, expected = 1;
  int32_t i = 0;
  if (dlpackgen_size(tensor->ndim, tensor->shape, &count) != DLPACKGEN_OK) return 0;
  for (i = 0; count != 0 && i < tensor->ndim; i++) {
    /* NULL strides mean row-major, which is column-major too if at most one extent exceeds 1. */
    if (tensor->shape[i] != 1 && (tensor->strides ? tensor->strides[i] : 1) != expected) return 0;
    expected *= tensor->shape[i];
  }
  return 1;
}

/**
 * Returns 1 if the last dimension is contiguous, else 0. Scalars, empty tensors and tensors with
 * one element are inner-contiguous. The shape must be valid.
 */
DLPACKGEN_CONSTEXPR int dlpackgen_is_inner_contiguous(const DLTensor* tensor) {
  const int32_t last = tensor->ndim - 1;
  int64_t count = 0;
  if (last < 0 || !tensor->strides || tensor->shape[last] < 2 || tensor->strides[last] == 1) return 1;
  return dlpackgen_size(tensor->ndim, tensor->shape, &count) == DLPACKGEN_OK && count == 0;
}

/**
 * Returns 1 if the elements fill one block of memory without gaps or overlaps, in any order of the
 * dimensions, possibly reversed; else 0. Such a tensor may be copied as one block of
 * dlpackgen_nbytes() bytes, starting at *low of dlpackgen_byte_range(). The shape must be valid.
 */
DLPACKGEN_CONSTEXPR int dlpackgen_is_contiguous_any_order(const DLTensor* tensor) {
  uint64_t expected = 1, before = 0;
  int64_t count = 0;
  int32_t i = 0;
  if (dlpackgen_size(tensor->ndim, tensor->shape, &count) != DLPACKGEN_OK) return 0;
  if (!tensor->strides) return 1;
  /* The dimension with the smallest stride must step over one element, the next dimension over all
   * elements of the first, and so on. Each round finds the next dimension. */
  while (expected < DLPACKGEN_RULES_CAST(uint64_t, count)) {
    before = expected;
    for (i = 0; i < tensor->ndim && expected == before; ++i) {
      if (dlpackgen_magnitude_(tensor->strides[i]) == expected)
        expected *= DLPACKGEN_RULES_CAST(uint64_t, tensor->shape[i]);
    }
    if (expected == before) return 0;
  }
  return 1;
}

/* Computes the distance, in elements, from the first element to the farthest elements on both
 * sides. The tensor must not be empty. */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_element_range_(const DLTensor* tensor, int64_t count,
                                                                  uint64_t* below, uint64_t* above,
                                                                  dlpackgen_mismatch_* mismatch) {
  uint64_t distance = 0;
  int32_t i = 0;
  *below = 0;
  *above = tensor->strides ? 0 : DLPACKGEN_RULES_CAST(uint64_t, count) - 1;
  for (i = 0; tensor->strides && i < tensor->ndim; ++i) {
    uint64_t* side = tensor->strides[i] < 0 ? below : above;
    const uint64_t steps = DLPACKGEN_RULES_CAST(uint64_t, tensor->shape[i]) - 1;
    if (!dlpackgen_multiply_(steps, dlpackgen_magnitude_(tensor->strides[i]), &distance) ||
        !dlpackgen_add_(*side, distance, side))
      return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_TOO_LARGE, 0, tensor->strides[i], i);
  }
  return DLPACKGEN_OK;
}

/* dlpackgen_byte_range(), with the details of an error. */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_byte_range_(const DLTensor* tensor, uint64_t flags, int64_t* low,
                                                               int64_t* high, dlpackgen_mismatch_* mismatch) {
  const uint64_t element_bits = dlpackgen_element_bits(tensor->dtype, flags);
  uint64_t below = 0, above = 0;
  int64_t count = 0;
  dlpackgen_error_code error = dlpackgen_size_(tensor->ndim, tensor->shape, &count, mismatch);
  if (error != DLPACKGEN_OK) return error;
  *low = *high = 0;
  if (count == 0) return DLPACKGEN_OK;
  error = dlpackgen_element_range_(tensor, count, &below, &above, mismatch);
  if (error != DLPACKGEN_OK) return error;
  if (!dlpackgen_bytes_of_(below, element_bits, &below) || !dlpackgen_bytes_of_(above + 1, element_bits, &above))
    return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_TOO_LARGE, 0, 0, -1);
  *low = -DLPACKGEN_RULES_CAST(int64_t, below);
  *high = DLPACKGEN_RULES_CAST(int64_t, above);
  return DLPACKGEN_OK;
}

/**
 * Computes the byte range of the elements, relative to the first element (data plus byte_offset):
 * from *low, which is negative for negative strides, up to but not including *high. Both are 0 for
 * an empty tensor.
 *
 * \param flags  as for dlpackgen_nbytes().
 *
 * A consumer that knows the size of the buffer must check that byte_offset + *low is not negative
 * and that byte_offset + *high does not exceed that size.
 */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_byte_range(const DLTensor* tensor, uint64_t flags, int64_t* low,
                                                              int64_t* high) {
  dlpackgen_mismatch_ mismatch = {-1, 0, 0};
  return dlpackgen_byte_range_(tensor, flags, low, high, &mismatch);
}

/* Returns the dimension with the next larger stride after the given dimension, or -1. For -1,
 * returns the dimension with the smallest stride. */
DLPACKGEN_CONSTEXPR int32_t dlpackgen_next_step_(const DLTensor* tensor, int32_t after) {
  const uint64_t last = after < 0 ? 0 : dlpackgen_magnitude_(tensor->strides[after]);
  int32_t next = -1, i = 0;
  for (i = 0; i < tensor->ndim; ++i) {
    const uint64_t step = dlpackgen_magnitude_(tensor->strides[i]);
    if (tensor->shape[i] < 2) continue;
    if (after >= 0 && (step < last || (step == last && i <= after))) continue;
    if (next < 0 || step < dlpackgen_magnitude_(tensor->strides[next])) next = i;
  }
  return next;
}

/**
 * Returns 1 if elements may share memory, else 0. From the smallest to the largest, each stride
 * must exceed the extent covered by the smaller ones. The result is also 1 for strides that cover
 * more than 64 bits, and for some strides that interleave without an overlap, which no library
 * uses. The result is 0 for an empty tensor. The extents must not be negative.
 */
DLPACKGEN_CONSTEXPR int dlpackgen_may_overlap(const DLTensor* tensor) {
  const uint64_t most = DLPACKGEN_RULES_CAST(uint64_t, -1); /* both distances together fit in 64 bits */
  uint64_t covered = 0;
  int64_t count = 0;
  int32_t i = -1;
  if (!tensor->strides || (dlpackgen_size(tensor->ndim, tensor->shape, &count) == DLPACKGEN_OK && count < 2)) return 0;
  while ((i = dlpackgen_next_step_(tensor, i)) >= 0) {
    const uint64_t step = dlpackgen_magnitude_(tensor->strides[i]);
    const uint64_t steps = DLPACKGEN_RULES_CAST(uint64_t, tensor->shape[i]) - 1;
    if (step <= covered) return 1;
    if (steps > (most - covered) / step) return 1;
    covered += steps * step;
  }
  return 0;
}

/* Validates ndim, shape and strides. null_strides: strides may be NULL. */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_check_shape_(const DLTensor* tensor, int32_t most, int null_strides,
                                                                dlpackgen_mismatch_* mismatch) {
  int64_t count = 0;
  if (tensor->ndim < 0 || tensor->ndim > most)
    return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_NDIM, most, tensor->ndim, -1);
  if (tensor->ndim > 0 && tensor->shape && !tensor->strides && !null_strides)
    return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_STRIDES_NULL, 0, tensor->ndim, -1);
  return dlpackgen_size_(tensor->ndim, tensor->shape, &count, mismatch);
}

/* Validates a dtype. known: the type code has a name, or need not have one. */
DLPACKGEN_CONSTEXPR dlpackgen_error_code dlpackgen_check_dtype_(DLDataType dtype, int known,
                                                                dlpackgen_mismatch_* mismatch) {
  const int demanded = dlpackgen_type_code_bits(dtype.code);
  if (!known) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_CODE, 0, dtype.code, -1);
  if (dtype.bits == 0 || (demanded != 0 && dtype.bits != demanded))
    return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_BITS, demanded, dtype.bits, -1);
  return dtype.lanes == 0 ? dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_LANES, 1, 0, -1) : DLPACKGEN_OK;
}

/* Validates data, byte_offset and the byte range of the elements. has_addresses: data is not a
 * handle. */
static inline dlpackgen_error_code dlpackgen_check_memory_(const DLTensor* tensor, uint64_t flags, int has_addresses,
                                                           dlpackgen_mismatch_* mismatch) {
  /* There are no addresses before a handle. */
  const uintptr_t base = has_addresses ? DLPACKGEN_RULES_ADDRESS(tensor->data) : 0;
  const uint64_t most = has_addresses ? DLPACKGEN_RULES_CAST(uintptr_t, -1) - base : DLPACKGEN_RULES_MAX;
  int64_t low = 0, high = 0;
  uint64_t end = 0;
  const dlpackgen_error_code error = dlpackgen_byte_range_(tensor, flags, &low, &high, mismatch);
  if (error != DLPACKGEN_OK) return error;
  if (high == 0) return DLPACKGEN_OK; /* no elements, so no memory is accessed */
  if (!tensor->data) return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_DATA_NULL, 0, 0, -1);
  if (!dlpackgen_add_(DLPACKGEN_RULES_CAST(uint64_t, high), tensor->byte_offset, &end) || end > most)
    return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_OUT_OF_RANGE, 0, high, -1);
  if (base + tensor->byte_offset < dlpackgen_magnitude_(low))
    return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_OUT_OF_RANGE, 0, low, -1);
  return DLPACKGEN_OK;
}

/* Further conditions for a valid tensor: the release of the consumer, and the exceptions that it
 * accepts. */
typedef struct dlpackgen_limits_ {
  int32_t max_ndim;
  int null_strides; /* strides may be NULL */
  int known_code;   /* the type code has a name, or need not have one */
  int known_device; /* the device type has a name, or need not have one */
  int has_addresses;
} dlpackgen_limits_;

/* Checks all rules of validation, in their order. */
static inline dlpackgen_error_code dlpackgen_check_tensor_(const DLTensor* tensor, uint64_t flags,
                                                           const dlpackgen_limits_* limits,
                                                           dlpackgen_mismatch_* mismatch) {
  dlpackgen_error_code error = dlpackgen_check_shape_(tensor, limits->max_ndim, limits->null_strides, mismatch);
  if (error != DLPACKGEN_OK) return error;
  error = dlpackgen_check_dtype_(tensor->dtype, limits->known_code, mismatch);
  if (error != DLPACKGEN_OK) return error;
  if (!limits->known_device)
    return dlpackgen_fail_(mismatch, DLPACKGEN_ERROR_DEVICE, 0,
                           DLPACKGEN_RULES_CAST(int32_t, tensor->device.device_type), -1);
  return dlpackgen_check_memory_(tensor, flags, limits->has_addresses, mismatch);
}

/* Usual tensors: a subset of the valid ones, which fast checks accept without the rules above if
 * dtype, device and ndim are valid. They are row-major and not empty, and their sizes and addresses
 * are far from all limits. A rule that such a tensor may violate needs a condition here. */

/* The product of both must fit in 64 bits, or a huge tensor would look empty. */
#define DLPACKGEN_USUAL_EXTENT (1U << 24)
#define DLPACKGEN_USUAL_SIZE (DLPACKGEN_RULES_CAST(uintptr_t, -1) >> 24)

/* Returns whether a dimension is usual, and updates the number of elements. */
DLPACKGEN_FAST int dlpackgen_dimension_fits_(uint64_t extent, int64_t stride, uint64_t* elements) {
  if (DLPACKGEN_RARE(extent - 1 >= DLPACKGEN_USUAL_EXTENT)) return 0;
  if (DLPACKGEN_RARE(stride != DLPACKGEN_RULES_CAST(int64_t, *elements)) && extent != 1) return 0;
  *elements *= extent;
  return *elements <= DLPACKGEN_USUAL_SIZE;
}

/* Returns whether all else is usual, and data and byte_offset are multiples of the alignment, a
 * power of two. Sums of numbers without the highest bits do not overflow; NULL has them here. */
DLPACKGEN_FAST int dlpackgen_memory_fits_(const DLTensor* tensor, uint64_t alignment) {
  const uint64_t data = DLPACKGEN_RULES_ADDRESS(tensor->data);
  const uint64_t usual = DLPACKGEN_RULES_CAST(uintptr_t, -1) >> 2;
  return (((data - alignment) | tensor->byte_offset) & (~usual | (alignment - 1))) == 0;
}

#include <dlpackgen/allocated.h>

#undef DLPACKGEN_RULES_CAST
#undef DLPACKGEN_RULES_ADDRESS
#undef DLPACKGEN_RULES_MAX

#endif /* DLPACKGEN_RULES_H_ */
