/**
 * \file dlpack_rules.h
 * The arithmetic of tensors: the size of one, its strides, its layout and the memory that
 * it touches. C++, PyTorch and Python call these functions, too. They depend on no release
 * of DLPack, so that whichever copy of this file a program includes first serves all.
 *
 * C99 and C++11. Nothing here allocates, calls a library, keeps state or writes
 * to a tensor, so any thread may call it at any time. Sizes are in bytes unless
 * they are said to be in elements, and none is over 63 bits: each function
 * reports DLPACK_ERROR_TOO_LARGE instead of wrapping around.
 */
#ifndef DLPACK_DLPACK_RULES_H_
#define DLPACK_DLPACK_RULES_H_

#include <dlpack/dlpack.h>
#include <dlpack/dlpack_elements.h>
#include <stdint.h>

/** Why something was refused. A number keeps its meaning for ever. */
typedef enum dlpack_error {
  DLPACK_OK = 0,
  DLPACK_ERROR_NULL = 1,              /**< There is no tensor or table at all. */
  DLPACK_ERROR_VERSION = 2,           /**< Another major version: call the deleter, read nothing else. */
  DLPACK_ERROR_NDIM = 3,              /**< ndim is negative or over DLPACK_MAX_NDIM. */
  DLPACK_ERROR_SHAPE_NULL = 4,        /**< shape is NULL and ndim is not 0. */
  DLPACK_ERROR_EXTENT = 5,            /**< An extent is negative. */
  DLPACK_ERROR_STRIDES_NULL = 6,      /**< strides is NULL and ndim is not 0. */
  DLPACK_ERROR_CODE = 7,              /**< The type code is unknown. */
  DLPACK_ERROR_BITS = 8,              /**< bits is 0, or not what the type code demands. */
  DLPACK_ERROR_LANES = 9,             /**< lanes is 0. */
  DLPACK_ERROR_DEVICE = 10,           /**< The device type is unknown. */
  DLPACK_ERROR_TOO_LARGE = 11,        /**< A count of elements or bytes needs more than 63 bits. */
  DLPACK_ERROR_DATA_NULL = 12,        /**< data is NULL and there are elements. */
  DLPACK_ERROR_OUT_OF_RANGE = 13,     /**< Elements lie before the buffer or beyond the address space. */
  DLPACK_ERROR_NO_EXCHANGE_API = 14,  /**< No table of this major version is in the chain. */
  DLPACK_ERROR_EXCHANGE_SLOT = 15     /**< A function that every table must have is NULL. */
} dlpack_error;

/** One line on an error: lower case, no full stop, never NULL, never to be freed. */
DLPACK_CONSTEXPR const char *dlpack_error_text(dlpack_error error) {
  switch (error) {
    case DLPACK_OK: return "no error";
    case DLPACK_ERROR_NULL: return "the pointer is NULL";
    case DLPACK_ERROR_VERSION: return "the major version of DLPack is not ours";
    case DLPACK_ERROR_NDIM: return "ndim is negative or too large";
    case DLPACK_ERROR_SHAPE_NULL: return "shape is NULL though ndim is not 0";
    case DLPACK_ERROR_EXTENT: return "an extent of shape is negative";
    case DLPACK_ERROR_STRIDES_NULL: return "strides is NULL though ndim is not 0";
    case DLPACK_ERROR_CODE: return "the type code of dtype is unknown";
    case DLPACK_ERROR_BITS: return "dtype.bits is 0 or does not fit its type code";
    case DLPACK_ERROR_LANES: return "dtype.lanes is 0";
    case DLPACK_ERROR_DEVICE: return "the device type is unknown";
    case DLPACK_ERROR_TOO_LARGE: return "the tensor has more elements or bytes than 63 bits can count";
    case DLPACK_ERROR_DATA_NULL: return "data is NULL though the tensor has elements";
    case DLPACK_ERROR_OUT_OF_RANGE: return "elements lie before the buffer or beyond the address space";
    case DLPACK_ERROR_NO_EXCHANGE_API: return "no exchange table has our major version";
    case DLPACK_ERROR_EXCHANGE_SLOT: return "a required function of the exchange table is NULL";
  }
  return "unknown error";
}

/* Casts that neither C nor C++ compilers complain about. */
#ifdef __cplusplus
#define DLPACK_RULES_CAST(type, value) static_cast<type>(value)
#define DLPACK_RULES_ADDRESS(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define DLPACK_RULES_CAST(type, value) ((type)(value))
#define DLPACK_RULES_ADDRESS(pointer) ((uintptr_t)(pointer))
#endif

/* The largest number of 63 bits. */
#define DLPACK_RULES_MOST (DLPACK_RULES_CAST(uint64_t, -1) >> 1)

/* The names that end in an underscore are for dlpackgen's own files. */

/* What an error is about, for those who say more of it than its line. */
typedef struct dlpack_fault_ {
  int32_t dimension; /* or -1 */
  int64_t expected;
  int64_t got;
} dlpack_fault_;

DLPACK_CONSTEXPR dlpack_error dlpack_fail_(
    dlpack_fault_ *fault, dlpack_error error, int64_t expected, int64_t got, int32_t dimension) {
  fault->dimension = dimension;
  fault->expected = expected;
  fault->got = got;
  return error;
}

/* 1 when the product fits in 63 bits; else *product is not touched. Two numbers of 31 bits
 * always fit, which saves the division. */
DLPACK_CONSTEXPR int dlpack_multiply_(uint64_t a, uint64_t b, uint64_t *product) {
  if (((a | b) >> 31) != 0 && b != 0 && a > DLPACK_RULES_MOST / b) return 0;
  *product = a * b;
  return 1;
}

/* 1 when the sum fits in 63 bits; a has at most 63. */
DLPACK_CONSTEXPR int dlpack_add_(uint64_t a, uint64_t b, uint64_t *sum) {
  if (b > DLPACK_RULES_MOST - a) return 0;
  *sum = a + b;
  return 1;
}

/* The distance of a stride without its sign; INT64_MIN has one too. */
DLPACK_CONSTEXPR uint64_t dlpack_magnitude_(int64_t stride) {
  return stride < 0 ? 0U - DLPACK_RULES_CAST(uint64_t, stride) : DLPACK_RULES_CAST(uint64_t, stride);
}

/**
 * Returns the bits from one element to the next, which decide the size of every tensor.
 *
 * \param flags  DLManagedTensorVersioned.flags; 0 for a DLManagedTensor.
 *
 * Elements whose lanes are narrower than a byte are packed unless flags has
 * DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED. All others are rounded up to whole bytes.
 */
DLPACK_CONSTEXPR uint64_t dlpack_element_bits(DLDataType dtype, uint64_t flags) {
  const uint64_t bits = DLPACK_RULES_CAST(uint64_t, dtype.bits) * dtype.lanes;
  if (dtype.bits < DLPACK_PACKED_BELOW && (flags & DLPACK_PADDED_FLAG) == 0) return bits;
  return (bits + 7) / 8 * 8;
}

/**
 * Returns the alignment of an element in bytes: the size of one lane, or of one part of a
 * complex number. It is 1 for lanes of no size that C has a type for (2, 4, 8 or 16 bytes).
 * It is the same on every target, including those whose ABI asks for less, such as i386.
 */
DLPACK_CONSTEXPR int dlpack_alignment(DLDataType dtype) {
  const int parts = dlpack_type_code_parts(dtype.code);
  return dtype.bits % parts == 0 ? dlpack_width_alignment(dtype.bits / parts) : 1;
}

/* Bytes that hold so many elements, the last byte perhaps in part; 1 when they fit in 63 bits. */
DLPACK_CONSTEXPR int dlpack_bytes_of_(uint64_t count, uint64_t element_bits, uint64_t *bytes) {
  uint64_t whole = 0;
  const uint64_t rest = (count % 8 * element_bits + 7) / 8;
  return dlpack_multiply_(count / 8, element_bits, &whole) && dlpack_add_(whole, rest, bytes);
}

/* dlpack_count(), and what it fails for. */
DLPACK_CONSTEXPR dlpack_error dlpack_count_(
    int32_t ndim, const int64_t *shape, int64_t *count, dlpack_fault_ *fault) {
  uint64_t product = 1;
  int fits = 1, empty = 0;
  int32_t i = 0;
  if (ndim < 0) return dlpack_fail_(fault, DLPACK_ERROR_NDIM, 0, ndim, -1);
  if (ndim > 0 && !shape) return dlpack_fail_(fault, DLPACK_ERROR_SHAPE_NULL, 0, ndim, -1);
  for (i = 0; i < ndim; ++i) {
    if (shape[i] < 0) return dlpack_fail_(fault, DLPACK_ERROR_EXTENT, 0, shape[i], i);
    if (shape[i] == 0) empty = 1;
    if (!dlpack_multiply_(product, DLPACK_RULES_CAST(uint64_t, shape[i]), &product)) fits = 0;
  }
  if (!fits && !empty) return dlpack_fail_(fault, DLPACK_ERROR_TOO_LARGE, 0, 0, -1);
  *count = empty ? 0 : DLPACK_RULES_CAST(int64_t, product);
  return DLPACK_OK;
}

/**
 * Counts the elements of a shape of ndim extents. 1 for a scalar, 0 as soon as
 * one extent is 0, however large the others.
 */
DLPACK_CONSTEXPR dlpack_error dlpack_count(int32_t ndim, const int64_t *shape, int64_t *count) {
  dlpack_fault_ fault = {-1, 0, 0};
  return dlpack_count_(ndim, shape, count, &fault);
}

/* dlpack_nbytes(), and what it fails for. */
DLPACK_CONSTEXPR dlpack_error dlpack_nbytes_(
    const DLTensor *tensor, uint64_t flags, int64_t *bytes, dlpack_fault_ *fault) {
  int64_t count = 0;
  uint64_t total = 0;
  const dlpack_error error = dlpack_count_(tensor->ndim, tensor->shape, &count, fault);
  if (error != DLPACK_OK) return error;
  if (!dlpack_bytes_of_(DLPACK_RULES_CAST(uint64_t, count), dlpack_element_bits(tensor->dtype, flags), &total))
    return dlpack_fail_(fault, DLPACK_ERROR_TOO_LARGE, 0, 0, -1);
  *bytes = DLPACK_RULES_CAST(int64_t, total);
  return DLPACK_OK;
}

/**
 * Gives the bytes of the tensor's elements when they are stored without gaps.
 *
 * \param flags  DLManagedTensorVersioned.flags; 0 for a DLManagedTensor.
 *
 * Elements narrower than a byte share bytes unless flags has
 * DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED: three float4 take 2 bytes packed
 * and 3 padded. All others are rounded up to whole bytes, lanes included.
 */
DLPACK_CONSTEXPR dlpack_error dlpack_nbytes(const DLTensor *tensor, uint64_t flags, int64_t *bytes) {
  dlpack_fault_ fault = {-1, 0, 0};
  return dlpack_nbytes_(tensor, flags, bytes, &fault);
}

/* dlpack_compact_strides(), and what it fails for. */
DLPACK_CONSTEXPR dlpack_error dlpack_compact_strides_(
    int32_t ndim, const int64_t *shape, int64_t *strides, dlpack_fault_ *fault) {
  uint64_t stride = 1;
  int32_t i = 0;
  if (ndim < 0) return dlpack_fail_(fault, DLPACK_ERROR_NDIM, 0, ndim, -1);
  if (ndim > 0 && !shape) return dlpack_fail_(fault, DLPACK_ERROR_SHAPE_NULL, 0, ndim, -1);
  if (ndim > 0 && !strides) return dlpack_fail_(fault, DLPACK_ERROR_STRIDES_NULL, 0, ndim, -1);
  for (i = ndim; i-- > 0;) {
    if (shape[i] < 0) return dlpack_fail_(fault, DLPACK_ERROR_EXTENT, 0, shape[i], i);
    strides[i] = DLPACK_RULES_CAST(int64_t, stride);
    if (shape[i] > 1 && !dlpack_multiply_(stride, DLPACK_RULES_CAST(uint64_t, shape[i]), &stride))
      return dlpack_fail_(fault, DLPACK_ERROR_TOO_LARGE, 0, 0, -1);
  }
  return DLPACK_OK;
}

/**
 * Writes the ndim strides, in elements, of a compact row-major array of that
 * shape. An extent of 0 counts as 1, as in NumPy and PyTorch.
 */
DLPACK_CONSTEXPR dlpack_error dlpack_compact_strides(int32_t ndim, const int64_t *shape, int64_t *strides) {
  dlpack_fault_ fault = {-1, 0, 0};
  return dlpack_compact_strides_(ndim, shape, strides, &fault);
}

/* Counts the elements of a tensor whose shape is valid, and tells whether they lie in
 * row-major order, one after the other: 1 or 0. */
DLPACK_CONSTEXPR int dlpack_row_major_count_(const DLTensor *tensor, int64_t *count) {
  uint64_t expected = 1;
  int fits = 1;
  int32_t i = 0;
  for (i = tensor->ndim; i-- > 0;) {
    if (tensor->strides) fits &= tensor->strides[i] == DLPACK_RULES_CAST(int64_t, expected) || tensor->shape[i] == 1;
    expected *= DLPACK_RULES_CAST(uint64_t, tensor->shape[i]);
  }
  *count = DLPACK_RULES_CAST(int64_t, expected);
  return fits || expected == 0;
}

/**
 * 1 when the elements lie one after the other in row-major order, else 0.
 * NULL strides do. The strides of extents below 2, and all strides of an empty
 * tensor, are not looked at. The shape must be valid.
 */
DLPACK_CONSTEXPR int dlpack_is_row_major(const DLTensor *tensor) {
  int64_t count = 0;
  if (dlpack_count(tensor->ndim, tensor->shape, &count) != DLPACK_OK) return 0;
  return count == 0 || dlpack_row_major_count_(tensor, &count);
}

/**
 * 1 when the elements of the last dimension lie one after the other, else 0: so do those of
 * a scalar, of an empty tensor and of one element. The shape must be valid.
 */
DLPACK_CONSTEXPR int dlpack_is_inner_contiguous(const DLTensor *tensor) {
  const int32_t last = tensor->ndim - 1;
  int64_t count = 0;
  if (last < 0 || !tensor->strides || tensor->shape[last] < 2 || tensor->strides[last] == 1) return 1;
  return dlpack_count(tensor->ndim, tensor->shape, &count) == DLPACK_OK && count == 0;
}

/**
 * 1 when the elements fill one block of memory, each in a place of its own and
 * without a gap, else 0: row-major, column-major, any other order of the
 * dimensions, or reversed ones. Such a tensor may be copied as one block of
 * dlpack_nbytes() bytes from the low end of dlpack_span(). The shape must be valid.
 */
DLPACK_CONSTEXPR int dlpack_is_dense(const DLTensor *tensor) {
  uint64_t expected = 1, before = 0;
  int64_t count = 0;
  int32_t i = 0;
  if (dlpack_count(tensor->ndim, tensor->shape, &count) != DLPACK_OK) return 0;
  if (!tensor->strides) return 1;
  /* The dimension with the smallest stride steps over one element, the next
   * over all of that one, and so on: each round finds the next one. */
  while (expected < DLPACK_RULES_CAST(uint64_t, count)) {
    before = expected;
    for (i = 0; i < tensor->ndim && expected == before; ++i) {
      if (dlpack_magnitude_(tensor->strides[i]) == expected) expected *= DLPACK_RULES_CAST(uint64_t, tensor->shape[i]);
    }
    if (expected == before) return 0;
  }
  return 1;
}

/* Counts the elements from the first one to the farthest on either side, of a tensor that
 * has some. */
DLPACK_CONSTEXPR dlpack_error dlpack_reach_(
    const DLTensor *tensor, int64_t count, uint64_t *below, uint64_t *above, dlpack_fault_ *fault) {
  uint64_t distance = 0;
  int32_t i = 0;
  *below = 0;
  *above = tensor->strides ? 0 : DLPACK_RULES_CAST(uint64_t, count) - 1;
  for (i = 0; tensor->strides && i < tensor->ndim; ++i) {
    uint64_t *side = tensor->strides[i] < 0 ? below : above;
    const uint64_t steps = DLPACK_RULES_CAST(uint64_t, tensor->shape[i]) - 1;
    if (!dlpack_multiply_(steps, dlpack_magnitude_(tensor->strides[i]), &distance) || !dlpack_add_(*side, distance, side))
      return dlpack_fail_(fault, DLPACK_ERROR_TOO_LARGE, 0, tensor->strides[i], i);
  }
  return DLPACK_OK;
}

/* dlpack_span(), and what it fails for. */
DLPACK_CONSTEXPR dlpack_error dlpack_span_(
    const DLTensor *tensor, uint64_t flags, int64_t *low, int64_t *high, dlpack_fault_ *fault) {
  const uint64_t element_bits = dlpack_element_bits(tensor->dtype, flags);
  uint64_t below = 0, above = 0;
  int64_t count = 0;
  dlpack_error error = dlpack_count_(tensor->ndim, tensor->shape, &count, fault);
  if (error != DLPACK_OK) return error;
  *low = *high = 0;
  if (count == 0) return DLPACK_OK;
  error = dlpack_reach_(tensor, count, &below, &above, fault);
  if (error != DLPACK_OK) return error;
  if (!dlpack_bytes_of_(below, element_bits, &below) || !dlpack_bytes_of_(above + 1, element_bits, &above))
    return dlpack_fail_(fault, DLPACK_ERROR_TOO_LARGE, 0, 0, -1);
  *low = -DLPACK_RULES_CAST(int64_t, below);
  *high = DLPACK_RULES_CAST(int64_t, above);
  return DLPACK_OK;
}

/**
 * Gives the bytes that the elements touch, counted from the first element (data
 * plus byte_offset): from *low, which negative strides put below 0, up to but
 * not including *high. Both are 0 for an empty tensor.
 *
 * \param flags  as for dlpack_nbytes().
 *
 * A consumer that knows its buffer must see to it that byte_offset + *low is
 * not negative and byte_offset + *high is not over the size of the buffer.
 */
DLPACK_CONSTEXPR dlpack_error dlpack_span(const DLTensor *tensor, uint64_t flags, int64_t *low, int64_t *high) {
  dlpack_fault_ fault = {-1, 0, 0};
  return dlpack_span_(tensor, flags, low, high, &fault);
}

/* The dimension with the smallest step after another's, or -1; after -1, the smallest of all. */
DLPACK_CONSTEXPR int32_t dlpack_next_step_(const DLTensor *tensor, int32_t after) {
  const uint64_t last = after < 0 ? 0 : dlpack_magnitude_(tensor->strides[after]);
  int32_t next = -1, i = 0;
  for (i = 0; i < tensor->ndim; ++i) {
    const uint64_t step = dlpack_magnitude_(tensor->strides[i]);
    if (tensor->shape[i] < 2) continue;
    if (after >= 0 && (step < last || (step == last && i <= after))) continue;
    if (next < 0 || step < dlpack_magnitude_(tensor->strides[next])) next = i;
  }
  return next;
}

/**
 * 1 when two elements may share memory, else 0: from the smallest stride to the largest,
 * each must exceed the extent covered by the smaller ones. Some strides that interleave
 * without a collision count, which no library makes, as do those that cover more than 64
 * bits. 0 for an empty tensor. The extents must not be negative.
 */
DLPACK_CONSTEXPR int dlpack_may_overlap(const DLTensor *tensor) {
  const uint64_t most = DLPACK_RULES_CAST(uint64_t, -1); /* what lies on both sides fits in 64 bits */
  uint64_t covered = 0;
  int64_t count = 0;
  int32_t i = -1;
  if (!tensor->strides || (dlpack_count(tensor->ndim, tensor->shape, &count) == DLPACK_OK && count < 2)) return 0;
  while ((i = dlpack_next_step_(tensor, i)) >= 0) {
    const uint64_t step = dlpack_magnitude_(tensor->strides[i]);
    const uint64_t steps = DLPACK_RULES_CAST(uint64_t, tensor->shape[i]) - 1;
    if (step <= covered) return 1;
    if (steps > (most - covered) / step) return 1;
    covered += steps * step;
  }
  return 0;
}

/* ndim, shape and strides. null_strides: they may be NULL. */
DLPACK_CONSTEXPR dlpack_error dlpack_check_shape_(
    const DLTensor *tensor, int32_t most, int null_strides, dlpack_fault_ *fault) {
  int64_t count = 0;
  if (tensor->ndim < 0 || tensor->ndim > most) return dlpack_fail_(fault, DLPACK_ERROR_NDIM, most, tensor->ndim, -1);
  if (tensor->ndim > 0 && tensor->shape && !tensor->strides && !null_strides)
    return dlpack_fail_(fault, DLPACK_ERROR_STRIDES_NULL, 0, tensor->ndim, -1);
  return dlpack_count_(tensor->ndim, tensor->shape, &count, fault);
}

/* A data type. known: its type code has a name, or need not have one. */
DLPACK_CONSTEXPR dlpack_error dlpack_check_dtype_(DLDataType dtype, int known, dlpack_fault_ *fault) {
  const int demanded = dlpack_type_code_bits(dtype.code);
  if (!known) return dlpack_fail_(fault, DLPACK_ERROR_CODE, 0, dtype.code, -1);
  if (dtype.bits == 0 || (demanded != 0 && dtype.bits != demanded))
    return dlpack_fail_(fault, DLPACK_ERROR_BITS, demanded, dtype.bits, -1);
  return dtype.lanes == 0 ? dlpack_fail_(fault, DLPACK_ERROR_LANES, 1, 0, -1) : DLPACK_OK;
}

/* data, byte_offset and everything that the strides reach. has_addresses: data is no handle. */
static inline dlpack_error dlpack_check_memory_(
    const DLTensor *tensor, uint64_t flags, int has_addresses, dlpack_fault_ *fault) {
  /* What lies before a handle cannot be named. */
  const uintptr_t base = has_addresses ? DLPACK_RULES_ADDRESS(tensor->data) : 0;
  const uint64_t most = has_addresses ? DLPACK_RULES_CAST(uintptr_t, -1) - base : DLPACK_RULES_MOST;
  int64_t low = 0, high = 0;
  uint64_t end = 0;
  const dlpack_error error = dlpack_span_(tensor, flags, &low, &high, fault);
  if (error != DLPACK_OK) return error;
  if (high == 0) return DLPACK_OK; /* no elements, so nothing is reached */
  if (!tensor->data) return dlpack_fail_(fault, DLPACK_ERROR_DATA_NULL, 0, 0, -1);
  if (!dlpack_add_(DLPACK_RULES_CAST(uint64_t, high), tensor->byte_offset, &end) || end > most)
    return dlpack_fail_(fault, DLPACK_ERROR_OUT_OF_RANGE, 0, high, -1);
  if (base + tensor->byte_offset < dlpack_magnitude_(low))
    return dlpack_fail_(fault, DLPACK_ERROR_OUT_OF_RANGE, 0, low, -1);
  return DLPACK_OK;
}

#undef DLPACK_RULES_CAST
#undef DLPACK_RULES_ADDRESS
#undef DLPACK_RULES_MOST

#endif /* DLPACK_DLPACK_RULES_H_ */
