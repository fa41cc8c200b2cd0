/**
 * \file dlpack_util.h
 * What every producer and consumer needs: the size of a tensor, its strides,
 * the memory that it touches, whether it may be trusted, and the search for an
 * exchange table.
 *
 * C99 and C++11. Nothing here allocates, calls a library, keeps state or writes
 * to a tensor, so any thread may call it at any time. Sizes are in bytes unless
 * they are said to be in elements, and none is over 63 bits: each function
 * reports DLPACK_ERROR_TOO_LARGE instead of wrapping around.
 */
#ifndef DLPACK_DLPACK_UTIL_H_
#define DLPACK_DLPACK_UTIL_H_

#include <dlpack/dlpack.h>

/* Every dlpack.h has the same guard, so another copy may have come first. */
#ifndef DLPACK_MAJOR_VERSION
#if DLPACK_VERSION == 80
#error "dlpack_util.h needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.8"
#elif DLPACK_VERSION == 70
#error "dlpack_util.h needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.7"
#elif DLPACK_VERSION == 60
#error "dlpack_util.h needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.6"
#else
#error "dlpack_util.h needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.5 or older"
#endif
#elif DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 0
#error "dlpack_util.h needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 1.0"
#elif DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 1
#error "dlpack_util.h needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 1.1"
#elif DLPACK_MAJOR_VERSION != 1
#error "dlpack_util.h needs DLPack 1; the <dlpack/dlpack.h> that was included first has another major version"
#endif

#include <dlpack/dlpack_codes.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The most dimensions that dlpack_validate() accepts; NumPy's limit. It bounds
 * what is read through shape and strides when ndim is garbage.
 */
#ifndef DLPACK_MAX_NDIM
#define DLPACK_MAX_NDIM 64
#endif

/** The most tables that dlpack_find_exchange_api() visits: a chain may be a ring. */
#ifndef DLPACK_MAX_EXCHANGE_APIS
#define DLPACK_MAX_EXCHANGE_APIS 64
#endif

/* Options of dlpack_validate(): what a consumer accepts beyond the rules. */

/** NULL strides, which mean compact and row-major and were legal before 1.2. */
#define DLPACK_ACCEPT_NULL_STRIDES 1U
/** A device type that this release does not name. Its data counts as a handle. */
#define DLPACK_ACCEPT_UNKNOWN_DEVICE 2U
/** A type code that this release does not name. Its size follows from bits and lanes. */
#define DLPACK_ACCEPT_UNKNOWN_CODE 4U

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
static inline const char *dlpack_error_text(dlpack_error error) {
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
#define DLPACK_UTIL_CAST(type, value) static_cast<type>(value)
#define DLPACK_UTIL_ADDRESS(pointer) reinterpret_cast<uintptr_t>(pointer)
#define DLPACK_UTIL_TABLE(header) reinterpret_cast<const DLPackExchangeAPI *>(header)
#else
#define DLPACK_UTIL_CAST(type, value) ((type)(value))
#define DLPACK_UTIL_ADDRESS(pointer) ((uintptr_t)(pointer))
#define DLPACK_UTIL_TABLE(header) ((const DLPackExchangeAPI *)(const void *)(header))
#endif

/* The largest number of 63 bits. */
#define DLPACK_UTIL_MOST (DLPACK_UTIL_CAST(uint64_t, -1) >> 1)

/* The names that end in an underscore are this file's own. */

/* 1 when the product fits in 63 bits; else *product is not touched. */
static inline int dlpack_multiply_(uint64_t a, uint64_t b, uint64_t *product) {
  if (b != 0 && a > DLPACK_UTIL_MOST / b) return 0;
  *product = a * b;
  return 1;
}

/* 1 when the sum fits in 63 bits; a has at most 63. */
static inline int dlpack_add_(uint64_t a, uint64_t b, uint64_t *sum) {
  if (b > DLPACK_UTIL_MOST - a) return 0;
  *sum = a + b;
  return 1;
}

/* The distance of a stride without its sign; INT64_MIN has one too. */
static inline uint64_t dlpack_magnitude_(int64_t stride) {
  return stride < 0 ? 0U - DLPACK_UTIL_CAST(uint64_t, stride) : DLPACK_UTIL_CAST(uint64_t, stride);
}

/**
 * Returns the bits from one element to the next, which decide the size of every tensor.
 *
 * \param flags  DLManagedTensorVersioned.flags; 0 for a DLManagedTensor.
 *
 * Elements whose lanes are narrower than a byte are packed unless flags has
 * DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED. All others are rounded up to whole bytes.
 */
static inline uint64_t dlpack_element_bits(DLDataType dtype, uint64_t flags) {
  const uint64_t bits = DLPACK_UTIL_CAST(uint64_t, dtype.bits) * dtype.lanes;
  if (dtype.bits < 8 && (flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) == 0) return bits;
  return (bits + 7) / 8 * 8;
}

/**
 * Returns the alignment of an element in bytes: the size of one lane, or of one part of a
 * complex number. It is 1 for lanes of no size that C has a type for (2, 4, 8 or 16 bytes).
 * It is the same on every target, including those whose ABI asks for less, such as i386.
 */
static inline int dlpack_alignment(DLDataType dtype) {
  /* 18 is kDLBcomplex, which older releases do not name. Codes never change their meaning. */
  const int parts = dtype.code == kDLComplex || dtype.code == 18 ? 2 : 1;
  switch (2 / parts * dtype.bits) {
    case 32: return 2;
    case 64: return 4;
    case 128: return 8;
    case 256: return 16;
    default: return 1;
  }
}

/* Bytes that hold so many elements, the last byte perhaps in part; 1 when they fit in 63 bits. */
static inline int dlpack_bytes_of_(uint64_t count, uint64_t element_bits, uint64_t *bytes) {
  uint64_t whole = 0;
  const uint64_t rest = (count % 8 * element_bits + 7) / 8;
  return dlpack_multiply_(count / 8, element_bits, &whole) && dlpack_add_(whole, rest, bytes);
}

/**
 * Counts the elements of a shape of ndim extents. 1 for a scalar, 0 as soon as
 * one extent is 0, however large the others.
 */
static inline dlpack_error dlpack_count(int32_t ndim, const int64_t *shape, int64_t *count) {
  uint64_t product = 1;
  int overflow = 0, empty = 0;
  int32_t i;
  if (ndim < 0) return DLPACK_ERROR_NDIM;
  if (ndim > 0 && !shape) return DLPACK_ERROR_SHAPE_NULL;
  for (i = 0; i < ndim; ++i) {
    if (shape[i] < 0) return DLPACK_ERROR_EXTENT;
    if (shape[i] == 0) empty = 1;
    if (!dlpack_multiply_(product, DLPACK_UTIL_CAST(uint64_t, shape[i]), &product)) overflow = 1;
  }
  if (overflow && !empty) return DLPACK_ERROR_TOO_LARGE;
  *count = empty ? 0 : DLPACK_UTIL_CAST(int64_t, product);
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
static inline dlpack_error dlpack_nbytes(const DLTensor *tensor, uint64_t flags, int64_t *bytes) {
  int64_t count = 0;
  uint64_t total = 0;
  const dlpack_error error = dlpack_count(tensor->ndim, tensor->shape, &count);
  if (error != DLPACK_OK) return error;
  if (!dlpack_bytes_of_(DLPACK_UTIL_CAST(uint64_t, count), dlpack_element_bits(tensor->dtype, flags), &total))
    return DLPACK_ERROR_TOO_LARGE;
  *bytes = DLPACK_UTIL_CAST(int64_t, total);
  return DLPACK_OK;
}

/**
 * Writes the ndim strides, in elements, of a compact row-major array of that
 * shape. An extent of 0 counts as 1, as in NumPy and PyTorch.
 */
static inline dlpack_error dlpack_compact_strides(int32_t ndim, const int64_t *shape, int64_t *strides) {
  uint64_t stride = 1;
  int32_t i;
  if (ndim < 0) return DLPACK_ERROR_NDIM;
  if (ndim > 0 && !shape) return DLPACK_ERROR_SHAPE_NULL;
  if (ndim > 0 && !strides) return DLPACK_ERROR_STRIDES_NULL;
  for (i = ndim; i-- > 0;) {
    if (shape[i] < 0) return DLPACK_ERROR_EXTENT;
    strides[i] = DLPACK_UTIL_CAST(int64_t, stride);
    if (shape[i] > 1 && !dlpack_multiply_(stride, DLPACK_UTIL_CAST(uint64_t, shape[i]), &stride))
      return DLPACK_ERROR_TOO_LARGE;
  }
  return DLPACK_OK;
}

/**
 * 1 when the elements lie one after the other in row-major order, else 0.
 * NULL strides do. The strides of extents below 2, and all strides of an empty
 * tensor, are not looked at. The shape must be valid.
 */
static inline int dlpack_is_row_major(const DLTensor *tensor) {
  uint64_t expected = 1;
  int64_t count = 0;
  int32_t i;
  if (dlpack_count(tensor->ndim, tensor->shape, &count) != DLPACK_OK) return 0;
  if (!tensor->strides || count == 0) return 1;
  for (i = tensor->ndim; i-- > 0;) {
    if (tensor->shape[i] == 1) continue;
    if (tensor->strides[i] != DLPACK_UTIL_CAST(int64_t, expected)) return 0;
    expected *= DLPACK_UTIL_CAST(uint64_t, tensor->shape[i]);
  }
  return 1;
}

/**
 * 1 when the elements fill one block of memory, each in a place of its own and
 * without a gap, else 0: row-major, column-major, any other order of the
 * dimensions, or reversed ones. Such a tensor may be copied as one block of
 * dlpack_nbytes() bytes from the low end of dlpack_span(). The shape must be valid.
 */
static inline int dlpack_is_dense(const DLTensor *tensor) {
  uint64_t expected = 1;
  int64_t count = 0;
  int32_t i;
  if (dlpack_count(tensor->ndim, tensor->shape, &count) != DLPACK_OK) return 0;
  if (!tensor->strides || count == 0) return 1;
  /* The dimension with the smallest stride steps over one element, the next
   * over all of that one, and so on: each round finds the next one. */
  while (expected < DLPACK_UTIL_CAST(uint64_t, count)) {
    const uint64_t before = expected;
    for (i = 0; i < tensor->ndim && expected == before; ++i) {
      if (dlpack_magnitude_(tensor->strides[i]) == expected) expected *= DLPACK_UTIL_CAST(uint64_t, tensor->shape[i]);
    }
    if (expected == before) return 0;
  }
  return 1;
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
static inline dlpack_error dlpack_span(const DLTensor *tensor, uint64_t flags, int64_t *low, int64_t *high) {
  const uint64_t element_bits = dlpack_element_bits(tensor->dtype, flags);
  uint64_t below = 0, above = 0, reach = 0;
  int64_t count = 0;
  int32_t i;
  const dlpack_error error = dlpack_count(tensor->ndim, tensor->shape, &count);
  if (error != DLPACK_OK) return error;
  *low = *high = 0;
  if (count == 0) return DLPACK_OK;
  if (!tensor->strides) above = DLPACK_UTIL_CAST(uint64_t, count) - 1;
  for (i = 0; i < tensor->ndim && tensor->strides; ++i) {
    uint64_t *side = tensor->strides[i] < 0 ? &below : &above;
    if (!dlpack_multiply_(DLPACK_UTIL_CAST(uint64_t, tensor->shape[i]) - 1, dlpack_magnitude_(tensor->strides[i]), &reach) ||
        !dlpack_add_(*side, reach, side))
      return DLPACK_ERROR_TOO_LARGE;
  }
  if (!dlpack_bytes_of_(below, element_bits, &below) || !dlpack_bytes_of_(above + 1, element_bits, &above))
    return DLPACK_ERROR_TOO_LARGE;
  *low = -DLPACK_UTIL_CAST(int64_t, below);
  *high = DLPACK_UTIL_CAST(int64_t, above);
  return DLPACK_OK;
}

/* ndim, shape and strides. */
static inline dlpack_error dlpack_check_shape_(const DLTensor *tensor, unsigned int options) {
  int64_t count = 0;
  if (tensor->ndim < 0 || tensor->ndim > DLPACK_MAX_NDIM) return DLPACK_ERROR_NDIM;
  if (tensor->ndim > 0 && tensor->shape && !tensor->strides && (options & DLPACK_ACCEPT_NULL_STRIDES) == 0)
    return DLPACK_ERROR_STRIDES_NULL;
  return dlpack_count(tensor->ndim, tensor->shape, &count);
}

/* The width that a type code demands; 0 when it leaves the choice. */
static inline int dlpack_bits_of_code_(uint8_t code) {
  switch (code) {
    case kDLBool:
    case kDLFloat8_e3m4:
    case kDLFloat8_e4m3:
    case kDLFloat8_e4m3b11fnuz:
    case kDLFloat8_e4m3fn:
    case kDLFloat8_e4m3fnuz:
    case kDLFloat8_e5m2:
    case kDLFloat8_e5m2fnuz:
    case kDLFloat8_e8m0fnu: return 8;
    case kDLFloat6_e2m3fn:
    case kDLFloat6_e3m2fn: return 6;
    case kDLFloat4_e2m1fn: return 4;
    default: return 0;
  }
}

static inline dlpack_error dlpack_check_dtype_(DLDataType dtype, unsigned int options) {
  const int demanded = dlpack_bits_of_code_(dtype.code);
  if (!dlpack_type_code_name(dtype.code) && (options & DLPACK_ACCEPT_UNKNOWN_CODE) == 0) return DLPACK_ERROR_CODE;
  if (dtype.bits == 0 || (demanded != 0 && dtype.bits != demanded)) return DLPACK_ERROR_BITS;
  return dtype.lanes == 0 ? DLPACK_ERROR_LANES : DLPACK_OK;
}

/* data, byte_offset and everything that the strides reach. */
static inline dlpack_error dlpack_check_memory_(const DLTensor *tensor, uint64_t flags) {
  int64_t low = 0, high = 0;
  uint64_t end = 0;
  const int32_t device_type = DLPACK_UTIL_CAST(int32_t, tensor->device.device_type);
  const dlpack_error error = dlpack_span(tensor, flags, &low, &high);
  if (error != DLPACK_OK) return error;
  if (high == 0) return DLPACK_OK; /* no elements, so nothing is reached */
  if (!tensor->data) return DLPACK_ERROR_DATA_NULL;
  if (!dlpack_add_(DLPACK_UTIL_CAST(uint64_t, high), tensor->byte_offset, &end)) return DLPACK_ERROR_OUT_OF_RANGE;
  if (!dlpack_device_has_addresses(device_type)) /* what lies before a handle cannot be named */
    return tensor->byte_offset < dlpack_magnitude_(low) ? DLPACK_ERROR_OUT_OF_RANGE : DLPACK_OK;
  if (end > DLPACK_UTIL_CAST(uintptr_t, -1) - DLPACK_UTIL_ADDRESS(tensor->data)) return DLPACK_ERROR_OUT_OF_RANGE;
  if (DLPACK_UTIL_ADDRESS(tensor->data) + tensor->byte_offset < dlpack_magnitude_(low)) return DLPACK_ERROR_OUT_OF_RANGE;
  return DLPACK_OK;
}

/**
 * Tells whether a tensor from an untrusted producer obeys the rules of DLPack,
 * so that loops over its shape and strides neither overflow nor leave the
 * address space. It reads the struct, shape and strides, never the data. What
 * it cannot know: whether these pointers are valid, and how large the buffer is.
 *
 * \param flags    DLManagedTensorVersioned.flags; 0 for a DLManagedTensor.
 * \param options  0, or a sum of the DLPACK_ACCEPT_ bits. The tensor of a
 *                 DLManagedTensor carries no version, so its consumers should
 *                 pass DLPACK_ACCEPT_NULL_STRIDES.
 * \return the first fault found.
 */
static inline dlpack_error dlpack_validate(const DLTensor *tensor, uint64_t flags, unsigned int options) {
  dlpack_error error = DLPACK_OK;
  if (!tensor) return DLPACK_ERROR_NULL;
  error = dlpack_check_shape_(tensor, options);
  if (error == DLPACK_OK) error = dlpack_check_dtype_(tensor->dtype, options);
  if (error != DLPACK_OK) return error;
  if (!dlpack_device_type_name(DLPACK_UTIL_CAST(int32_t, tensor->device.device_type)) &&
      (options & DLPACK_ACCEPT_UNKNOWN_DEVICE) == 0)
    return DLPACK_ERROR_DEVICE;
  return dlpack_check_memory_(tensor, flags);
}

/**
 * Does the same for a versioned tensor: its version and flags are taken into
 * account, and NULL strides are accepted from a producer older than 1.2.
 */
static inline dlpack_error dlpack_validate_versioned(const DLManagedTensorVersioned *managed, unsigned int options) {
  if (!managed) return DLPACK_ERROR_NULL;
  if (managed->version.major != DLPACK_MAJOR_VERSION) return DLPACK_ERROR_VERSION;
  if (managed->version.minor < 2) options |= DLPACK_ACCEPT_NULL_STRIDES;
  return dlpack_validate(&managed->dl_tensor, managed->flags, options);
}

/**
 * Finds the exchange table of this header's major version, starting from the
 * newest one, which is what a Python type offers, and walking prev_api over at
 * most DLPACK_MAX_EXCHANGE_APIS tables.
 *
 * \param api  receives the table, which lives as long as the process; NULL
 *             when the result is not DLPACK_OK.
 *
 * All functions of the table are there but perhaps dltensor_from_py_object_no_sync.
 */
static inline dlpack_error dlpack_find_exchange_api(const DLPackExchangeAPIHeader *newest, const DLPackExchangeAPI **api) {
  const DLPackExchangeAPIHeader *header = newest;
  int visited;
  *api = DLPACK_CODES_NULL;
  if (!newest) return DLPACK_ERROR_NULL;
  for (visited = 0; header && visited < DLPACK_MAX_EXCHANGE_APIS; ++visited) {
    if (header->version.major == DLPACK_MAJOR_VERSION) {
      const DLPackExchangeAPI *found = DLPACK_UTIL_TABLE(header);
      if (!found->managed_tensor_allocator || !found->managed_tensor_from_py_object_no_sync ||
          !found->managed_tensor_to_py_object_no_sync || !found->current_work_stream)
        return DLPACK_ERROR_EXCHANGE_SLOT;
      *api = found;
      return DLPACK_OK;
    }
    header = header->prev_api;
  }
  return DLPACK_ERROR_NO_EXCHANGE_API;
}

#undef DLPACK_UTIL_CAST
#undef DLPACK_UTIL_ADDRESS
#undef DLPACK_UTIL_TABLE
#undef DLPACK_UTIL_MOST

#endif /* DLPACK_DLPACK_UTIL_H_ */
