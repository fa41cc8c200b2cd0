/**
 * \file validate.hpp
 * The size of a tensor, the memory that it touches, and whether it may be
 * trusted. Nothing here allocates, keeps state or writes to a tensor, so any
 * thread may call it at any time. It answers as dlpack_util.h does in C.
 *
 * Sizes are in bytes unless they are said to be in elements, and none is over 63
 * bits: Code::too_large is reported instead of wrapping around.
 */
#ifndef DLPACKGEN_V0_0_VALIDATE_HPP_
#define DLPACKGEN_V0_0_VALIDATE_HPP_

#include "error.hpp"
#include "release.hpp"

#include <cstddef>
#include <cstdint>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** The most dimensions that are accepted; NumPy's limit. It bounds what is read when ndim is garbage. */
inline constexpr std::int32_t max_ndim = 64;

/** What a consumer accepts beyond the rules; a sum of them is one too. */
enum class Accept : std::uint32_t {
  nothing = 0,
  null_strides = 1,    ///< NULL strides, which mean compact and row-major and were legal before 1.2.
  unknown_device = 2,  ///< A device type that this release does not name. Its data counts as a handle.
  unknown_code = 4     ///< A type code that this release does not name. Its size follows from bits and lanes.
};

/** Both. */
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

// True when the product fits in 63 bits; else it is not touched. Two numbers of 31
// bits always fit, which saves the division.
constexpr bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& product) noexcept {
  if (((a | b) >> 31) != 0 && b != 0 && a > most / b) return false;
  product = a * b;
  return true;
}

// True when the sum fits in 63 bits; a has at most 63.
constexpr bool add(std::uint64_t a, std::uint64_t b, std::uint64_t& sum) noexcept {
  if (b > most - a) return false;
  sum = a + b;
  return true;
}

// The distance of a stride without its sign; INT64_MIN has one too.
constexpr std::uint64_t magnitude(std::int64_t stride) noexcept {
  return stride < 0 ? 0U - unsign(stride) : unsign(stride);
}

// Bits from one element to the next.
constexpr std::uint64_t element_bits(DLDataType dtype, std::uint64_t set) noexcept {
  const std::uint64_t bits = std::uint64_t{dtype.bits} * dtype.lanes;
  if (dtype.bits < 8 && (set & flags::is_subbyte_type_padded) == 0) return bits;
  return (bits + 7) / 8 * 8;
}

// Bytes that hold so many elements, the last byte perhaps in part.
constexpr bool bytes_of(std::uint64_t count, std::uint64_t bits, std::uint64_t& bytes) noexcept {
  std::uint64_t whole = 0;
  return multiply(count / 8, bits, whole) && add(whole, (count % 8 * bits + 7) / 8, bytes);
}

}  // namespace detail

/**
 * The alignment of an element in bytes: the size of one lane, or of one part of a complex
 * number. It is 1 for lanes of no size that C++ has a type for (2, 4, 8 or 16 bytes). It is
 * the same on every target, including those whose ABI asks for less, such as i386.
 */
constexpr std::uint64_t alignment(DLDataType dtype) noexcept {
  // 18 is kDLBcomplex, which older releases do not name. Codes never change their meaning.
  const int parts = dtype.code == kDLComplex || dtype.code == 18 ? 2 : 1;
  switch (2 / parts * dtype.bits) {
    case 32: return 2;
    case 64: return 4;
    case 128: return 8;
    case 256: return 16;
    default: return 1;
  }
}

/** How many elements a shape of ndim extents has: 1 for a scalar, 0 as soon as one extent is 0. */
constexpr Result<std::int64_t> count(std::int32_t ndim, const std::int64_t* shape) noexcept {
  if (ndim < 0) return Error(Code::ndim, 0, ndim);
  if (ndim > 0 && shape == nullptr) return Error(Code::shape_null, 0, ndim);
  std::uint64_t product = 1;
  bool fits = true;
  bool empty = false;
  for (std::int32_t i = 0; i < ndim; ++i) {
    if (shape[i] < 0) return Error(Code::extent, 0, shape[i], i);
    empty = empty || shape[i] == 0;
    fits = detail::multiply(product, detail::unsign(shape[i]), product) && fits;
  }
  if (empty) return std::int64_t{0};
  if (!fits) return Code::too_large;
  return static_cast<std::int64_t>(product);
}

/**
 * The bytes of the tensor's elements when they are stored without gaps.
 *
 * Elements narrower than a byte share bytes unless the flags of the managed
 * tensor say that they are padded: three float4 take 2 bytes packed and 3
 * padded. All others are rounded up to whole bytes, lanes included.
 */
constexpr Result<std::int64_t> nbytes(const DLTensor& tensor, std::uint64_t set = 0) noexcept {
  const Result<std::int64_t> elements = count(tensor.ndim, tensor.shape);
  if (!elements) return elements.error();
  std::uint64_t total = 0;
  if (!detail::bytes_of(detail::unsign(*elements), detail::element_bits(tensor.dtype, set), total)) {
    return Code::too_large;
  }
  return static_cast<std::int64_t>(total);
}

/** Writes the ndim strides of a compact row-major array; an extent of 0 counts as 1, as in NumPy and PyTorch. */
constexpr Error compact_strides(std::int32_t ndim, const std::int64_t* shape, std::int64_t* strides) noexcept {
  if (ndim < 0) return Error(Code::ndim, 0, ndim);
  if (ndim > 0 && shape == nullptr) return Code::shape_null;
  if (ndim > 0 && strides == nullptr) return Code::strides_null;
  std::uint64_t stride = 1;
  for (std::int32_t i = ndim; i-- > 0;) {
    if (shape[i] < 0) return Error(Code::extent, 0, shape[i], i);
    strides[i] = static_cast<std::int64_t>(stride);
    if (shape[i] > 1 && !detail::multiply(stride, detail::unsign(shape[i]), stride)) return Code::too_large;
  }
  return Error();
}

/**
 * Whether the elements lie one after the other in row-major order. NULL strides
 * do; strides of extents below 2, and of empty tensors, mean nothing.
 */
constexpr bool is_row_major(const DLTensor& tensor) noexcept {
  const Result<std::int64_t> elements = count(tensor.ndim, tensor.shape);
  if (!elements) return false;
  if (tensor.strides == nullptr || *elements == 0) return true;
  std::uint64_t expected = 1;
  for (std::int32_t i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] == 1) continue;
    if (tensor.strides[i] != static_cast<std::int64_t>(expected)) return false;
    expected *= detail::unsign(tensor.shape[i]);
  }
  return true;
}

/** The bytes that elements touch, counted from the first one: from low, at most 0, up to but not including high. */
struct Reach {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/** What the tensor touches; all 0 for an empty one. */
constexpr Result<Reach> reach(const DLTensor& tensor, std::uint64_t set = 0) noexcept {
  const Result<std::int64_t> elements = count(tensor.ndim, tensor.shape);
  if (!elements) return elements.error();
  if (*elements == 0) return Reach{};
  std::uint64_t below = 0;
  std::uint64_t above = tensor.strides == nullptr ? detail::unsign(*elements) - 1 : 0;
  for (std::int32_t i = 0; i < tensor.ndim && tensor.strides != nullptr; ++i) {
    std::uint64_t& side = tensor.strides[i] < 0 ? below : above;
    std::uint64_t far = 0;
    if (!detail::multiply(detail::unsign(tensor.shape[i]) - 1, detail::magnitude(tensor.strides[i]), far) ||
        !detail::add(side, far, side)) {
      return Error(Code::too_large, 0, tensor.strides[i], i);
    }
  }
  const std::uint64_t bits = detail::element_bits(tensor.dtype, set);
  if (!detail::bytes_of(below, bits, below) || !detail::bytes_of(above + 1, bits, above)) return Code::too_large;
  return Reach{-static_cast<std::int64_t>(below), static_cast<std::int64_t>(above)};
}

namespace detail {

// The dimension with the smallest step after another's, or -1; after -1, the smallest of all.
constexpr std::int32_t next_step(const DLTensor& tensor, std::int32_t after) noexcept {
  std::int32_t next = -1;
  for (std::int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 2) continue;
    const std::uint64_t step = magnitude(tensor.strides[i]);
    const std::uint64_t last = after < 0 ? 0 : magnitude(tensor.strides[after]);
    if (after >= 0 && (step < last || (step == last && i <= after))) continue;
    if (next < 0 || step < magnitude(tensor.strides[next])) next = i;
  }
  return next;
}

}  // namespace detail

/**
 * Whether two elements of a valid tensor may share memory: from the smallest stride to the largest, each
 * must exceed the extent covered by the smaller ones. It also reports some strides that interleave
 * without a collision, which no library makes. False for an empty tensor.
 */
constexpr bool may_overlap(const DLTensor& tensor) noexcept {
  const Result<std::int64_t> elements = count(tensor.ndim, tensor.shape);
  if (tensor.strides == nullptr || !elements || *elements < 2) return false;
  std::uint64_t covered = 0;
  for (std::int32_t i = -1; (i = detail::next_step(tensor, i)) >= 0;) {
    const std::uint64_t step = detail::magnitude(tensor.strides[i]);
    if (step <= covered) return true;
    covered += (detail::unsign(tensor.shape[i]) - 1) * step;
  }
  return false;
}

namespace detail {

inline Error check_shape(const DLTensor& tensor, Accept accept) noexcept {
  if (tensor.ndim < 0 || tensor.ndim > max_ndim) return Error(Code::ndim, max_ndim, tensor.ndim);
  if (tensor.ndim > 0 && tensor.shape != nullptr && tensor.strides == nullptr &&
      !allows(accept, Accept::null_strides)) {
    return Error(Code::strides_null, 0, tensor.ndim);
  }
  return count(tensor.ndim, tensor.shape).error();
}

// The width that a type code demands; 0 when it leaves the choice.
constexpr int bits_of_code(std::uint8_t code) noexcept {
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

constexpr Error check_dtype(DLDataType dtype, Accept accept) noexcept {
  const int demanded = bits_of_code(dtype.code);
  if (type_code_name(dtype.code) == nullptr && !allows(accept, Accept::unknown_code)) {
    return Error(Code::code, 0, dtype.code);
  }
  if (dtype.bits == 0 || (demanded != 0 && dtype.bits != demanded)) return Error(Code::bits, demanded, dtype.bits);
  return dtype.lanes == 0 ? Error(Code::lanes, 1, 0) : Error();
}

// data, byte_offset and everything that the strides reach.
inline Error check_memory(const DLTensor& tensor, std::uint64_t set) noexcept {
  const Result<Reach> touched = reach(tensor, set);
  if (!touched) return touched.error();
  if (touched->high == 0) return Error();  // no elements, so nothing is reached
  if (tensor.data == nullptr) return Code::data_null;
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  const std::uint64_t before = magnitude(touched->low);
  std::uint64_t end = 0;
  if (!add(unsign(touched->high), tensor.byte_offset, end)) return Error(Code::out_of_range, 0, touched->high);
  if (!has_addresses(tensor.device.device_type)) {  // what lies before a handle cannot be named
    return tensor.byte_offset < before ? Error(Code::out_of_range, 0, touched->low) : Error();
  }
  if (end > UINTPTR_MAX - address) return Error(Code::out_of_range, 0, touched->high);
  if (address + tensor.byte_offset < before) return Error(Code::out_of_range, 0, touched->low);
  return Error();
}

}  // namespace detail

/**
 * Tells whether a tensor from an untrusted producer obeys the rules of DLPack,
 * so that loops over its shape and strides neither overflow nor leave the
 * address space. It reads the struct, shape and strides, never the data. What it
 * cannot know: whether these pointers are valid, and how large the buffer is.
 *
 * \param set     DLManagedTensorVersioned.flags; 0 for a DLManagedTensor.
 * \param accept  What to accept beyond the rules of 1.2, as in C. A tensor out of an unversioned struct or
 *                of a producer before 1.2 needs Accept::null_strides, which Managed::take() adds itself.
 * \return the first fault found.
 */
inline Error validate(const DLTensor* tensor, std::uint64_t set = 0, Accept accept = Accept::nothing) noexcept {
  if (tensor == nullptr) return Code::null;
  Error error = detail::check_shape(*tensor, accept);
  if (!error) error = detail::check_dtype(tensor->dtype, accept);
  if (error) return error;
  if (device_type_name(tensor->device.device_type) == nullptr && !detail::allows(accept, Accept::unknown_device)) {
    return Error(Code::device, 0, tensor->device.device_type);
  }
  return detail::check_memory(*tensor, set);
}

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_VALIDATE_HPP_
