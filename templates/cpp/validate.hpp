/**
 * \file validate.hpp
 * The size and the byte range of a tensor, and its validation, implemented by the C functions of
 * dlpackgen/rules.h. The functions allocate no memory, keep no state and do not write to tensors,
 * so any thread may call them at any time.
 *
 * Sizes are in bytes unless documented as numbers of elements. Sizes above 63 bits are reported as
 * ErrorCode::too_large instead of wrapping around.
 */
#ifndef DLPACKGEN_V0_0_VALIDATE_HPP_
#define DLPACKGEN_V0_0_VALIDATE_HPP_

#include "dtype.hpp"
#include "error.hpp"

#include <dlpackgen/rules.h>

#include <cstdint>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/**
 * The maximum number of dimensions, which is NumPy's limit. It bounds the reads if ndim is invalid.
 */
inline constexpr std::int32_t max_ndim = DLPACKGEN_MAX_NDIM;

/** Exceptions from the rules that a consumer accepts; they can be combined. */
enum class Accept : std::uint32_t {
  nothing = 0,
  null_strides = 1,    ///< NULL strides, which mean compact and row-major and were legal before 1.2.
  unknown_device = 2,  ///< A device type that this release does not name. Its data counts as a handle.
  unknown_code = 4     ///< A type code that this release does not name. Its size follows from bits and lanes.
};

/** Combines both. */
constexpr Accept operator|(Accept a, Accept b) noexcept {
  return static_cast<Accept>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

namespace detail {

constexpr bool allows(Accept all, Accept one) noexcept {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

// The largest number of 63 bits.
inline constexpr std::uint64_t most = UINT64_MAX >> 1;

constexpr std::uint64_t unsign(std::int64_t n) noexcept { return static_cast<std::uint64_t>(n); }

// The result of a C function, which must be called before the mismatch is read.
constexpr Error error_of(dlpackgen_error_code error, const dlpackgen_mismatch_& mismatch) noexcept {
  return Error(static_cast<ErrorCode>(error), mismatch.expected, mismatch.got, mismatch.dimension);
}

}  // namespace detail

/**
 * The alignment of an element in bytes: the size of one lane, or of one part of a complex number.
 * The alignment is 1 for lanes of sizes that no C++ type has (other than 2, 4, 8 or 16 bytes). It
 * is the same on every platform, including those whose ABI requires less, such as i386.
 */
constexpr std::uint64_t alignment(DLDataType dtype) noexcept {
  return static_cast<std::uint64_t>(dlpackgen_alignment(dtype));
}

/** The number of elements of a shape with ndim extents: 1 for a scalar, and 0 if any extent is
 * 0. */
constexpr Result<std::int64_t> size(std::int32_t ndim, const std::int64_t* shape) noexcept {
  dlpackgen_mismatch_ mismatch{-1, 0, 0};
  std::int64_t elements = 0;
  const dlpackgen_error_code error = dlpackgen_size_(ndim, shape, &elements, &mismatch);
  if (error != DLPACKGEN_OK) return detail::error_of(error, mismatch);
  return elements;
}

/**
 * The size in bytes of the tensor's elements, stored without gaps.
 *
 * Elements narrower than a byte share bytes, unless the flags of the managed tensor declare them as
 * padded: three float4 take 2 bytes packed and 3 bytes padded. All others are rounded up to whole
 * bytes, lanes included.
 */
constexpr Result<std::int64_t> nbytes(const DLTensor& tensor, std::uint64_t set = 0) noexcept {
  dlpackgen_mismatch_ mismatch{-1, 0, 0};
  std::int64_t bytes = 0;
  const dlpackgen_error_code error = dlpackgen_nbytes_(&tensor, set, &bytes, &mismatch);
  if (error != DLPACKGEN_OK) return detail::error_of(error, mismatch);
  return bytes;
}

/**
 * Writes the ndim strides of a compact row-major tensor; an extent of 0 counts as 1, as in NumPy
 * and PyTorch.
 */
constexpr Error compact_strides(std::int32_t ndim, const std::int64_t* shape, std::int64_t* strides) noexcept {
  dlpackgen_mismatch_ mismatch{-1, 0, 0};
  return detail::error_of(dlpackgen_compact_strides_(ndim, shape, strides, &mismatch), mismatch);
}

/**
 * Whether a tensor is C-contiguous. NULL strides are; strides of extents below 2, and of empty
 * tensors, are not checked.
 */
constexpr bool is_contiguous(const DLTensor& tensor) noexcept { return dlpackgen_is_contiguous(&tensor) != 0; }

/**
 * A byte range of elements, relative to the first element: from low, at most 0, up to but not
 * including high.
 */
struct ByteRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/** The byte range of a tensor; all 0 for an empty tensor. */
constexpr Result<ByteRange> byte_range(const DLTensor& tensor, std::uint64_t set = 0) noexcept {
  dlpackgen_mismatch_ mismatch{-1, 0, 0};
  ByteRange found;
  const dlpackgen_error_code error = dlpackgen_byte_range_(&tensor, set, &found.low, &found.high, &mismatch);
  if (error != DLPACKGEN_OK) return detail::error_of(error, mismatch);
  return found;
}

/**
 * Whether elements of a valid tensor may share memory: from the smallest to the largest, each
 * stride must exceed the extent covered by the smaller ones. The result is also true for some
 * strides that interleave without an overlap, which no library uses. False for an empty tensor.
 */
constexpr bool may_overlap(const DLTensor& tensor) noexcept { return dlpackgen_may_overlap(&tensor) != 0; }

namespace detail {

inline Error check_shape(const DLTensor& tensor, Accept accept) noexcept {
  dlpackgen_mismatch_ mismatch{-1, 0, 0};
  return error_of(dlpackgen_check_shape_(&tensor, max_ndim, allows(accept, Accept::null_strides), &mismatch), mismatch);
}

constexpr bool is_known(std::uint8_t code, Accept accept) noexcept {
  return type_code_name(code) != nullptr || allows(accept, Accept::unknown_code);
}

constexpr Error check_dtype(DLDataType dtype, Accept accept) noexcept {
  dlpackgen_mismatch_ mismatch{-1, 0, 0};
  return error_of(dlpackgen_check_dtype_(dtype, is_known(dtype.code, accept), &mismatch), mismatch);
}

}  // namespace detail

/**
 * Validates a tensor from an untrusted producer against the rules of DLPack. Loops over the shape
 * and strides of a valid tensor neither overflow nor leave the address space. The function reads
 * the struct, shape and strides, but not the data. It cannot determine whether pointers are valid
 * or how large the buffer is.
 *
 * \param set     DLManagedTensorVersioned.flags; 0 for a DLManagedTensor.
 * \param accept Accepted exceptions from the rules of 1.2, as in C. By default, NULL strides are
 *                rejected. A tensor from an unversioned struct or from a producer before 1.2 needs
 *                Accept::null_strides, which Managed::from_raw() adds itself.
 * \return the first mismatch found.
 */
inline Error validate(const DLTensor* tensor, std::uint64_t set = 0, Accept accept = Accept::nothing) noexcept {
  if (tensor == nullptr) return ErrorCode::null;
  const std::int32_t device = tensor->device.device_type;
  dlpackgen_mismatch_ mismatch{-1, 0, 0};
  dlpackgen_limits_ limits{max_ndim, 0, 0, 0, 0};
  limits.null_strides = detail::allows(accept, Accept::null_strides);
  limits.known_code = detail::is_known(tensor->dtype.code, accept);
  limits.known_device = device_type_name(device) != nullptr || detail::allows(accept, Accept::unknown_device);
  limits.has_addresses = !is_opaque(device);
  return detail::error_of(dlpackgen_check_tensor_(tensor, set, &limits, &mismatch), mismatch);
}

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_VALIDATE_HPP_
