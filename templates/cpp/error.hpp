/**
 * \file error.hpp
 * Errors are values. The core does not throw and works with -fno-exceptions; exceptions.hpp
 * converts errors to exceptions.
 */
#ifndef DLPACKGEN_V0_0_ERROR_HPP_
#define DLPACKGEN_V0_0_ERROR_HPP_

#include "base.hpp"

#include <dlpackgen/rules.h>

#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/**
 * The reason for a rejection. The numbers never change their meaning. A code that dlpackgen/rules.h
 * also has is the same number there, with the same description.
 */
enum class ErrorCode : std::int32_t {
  ok = 0,
  null = 1,                ///< The tensor or table is NULL.
  version = 2,             ///< Another major version: only the deleter was called, nothing else read.
  ndim = 3,                ///< ndim is negative or exceeds max_ndim.
  shape_null = 4,          ///< shape is NULL and ndim is not 0.
  extent = 5,              ///< An extent is negative.
  strides_null = 6,        ///< strides is NULL and ndim is not 0.
  code = 7,                ///< The type code is unknown.
  bits = 8,                ///< bits is 0, or does not match the type code.
  lanes = 9,               ///< lanes is 0.
  device = 10,             ///< The device type is unknown.
  too_large = 11,          ///< A count of elements or bytes needs more than 63 bits.
  data_null = 12,          ///< data is NULL, but the tensor has elements.
  out_of_range = 13,       ///< Elements lie before the buffer or beyond the address space.
  no_exchange_api = 14,    ///< The chain has no table of this major version.
  exchange_slot = 15,      ///< A required function of the table is NULL.
  dtype_mismatch = 16,     ///< The elements do not have the requested type.
  ndim_mismatch = 17,      ///< The tensor does not have the requested number of dimensions.
  read_only = 18,          ///< The tensor must not be written to.
  misaligned = 19,         ///< The first element is not aligned for its type.
  not_host_readable = 20,  ///< The host cannot read the memory of the device.
  not_contiguous = 21,     ///< The tensor is not C-contiguous.
  packed = 22,             ///< Elements share bytes, so they have no addresses.
  no_memory = 23,          ///< An allocation failed.
  strides = 24,            ///< The strides do not match the required layout.
  too_small = 25,          ///< The owner has fewer bytes than the elements need.
  callee_failed = 26,      ///< A called function failed and has reported the reason.
  no_result = 27,          ///< A called function reported success without a valid result.
  data_in_owner = 28,      ///< The data is inside the owner, which is moved.
  flags = 29,              ///< The unversioned struct, or a borrowed tensor, cannot store the flags.
  device_mismatch = 30,    ///< The tensor is on a different device of the same type.
  overlap = 31,            ///< Elements to be written may share memory.
  layout = 32,             ///< The owner's elements are not in row-major order, and no strides were set.
  no_shape = 33,           ///< No shape was set, and the owner has no number of elements.
  extent_mismatch = 34     ///< A dimension does not have the requested extent.
};

namespace detail {

// Texts for exceptions that are converted to errors.
inline constexpr const char out_of_memory[] = "out of memory";
inline constexpr const char unnamed_exception[] = "an exception without a message";

}  // namespace detail

/** The description of a code: one line in lower case, without a full stop. Never NULL; must not be
 * freed. */
constexpr const char* error_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::ok:
    case ErrorCode::null:
    case ErrorCode::version:
    case ErrorCode::ndim:
    case ErrorCode::shape_null:
    case ErrorCode::extent:
    case ErrorCode::strides_null:
    case ErrorCode::code:
    case ErrorCode::bits:
    case ErrorCode::lanes:
    case ErrorCode::device:
    case ErrorCode::too_large:
    case ErrorCode::data_null:
    case ErrorCode::out_of_range:
    case ErrorCode::no_exchange_api:
    case ErrorCode::exchange_slot: return dlpackgen_error_string(static_cast<dlpackgen_error_code>(code));
    case ErrorCode::dtype_mismatch: return "the elements have a different type";
    case ErrorCode::ndim_mismatch: return "the tensor has a different number of dimensions";
    case ErrorCode::read_only: return "the tensor is read-only";
    case ErrorCode::misaligned: return "the first element is not aligned to its type";
    case ErrorCode::not_host_readable: return "the host cannot read the memory of the device";
    case ErrorCode::not_contiguous: return "the tensor is not C-contiguous";
    case ErrorCode::packed: return "packed elements have no addresses";
    case ErrorCode::no_memory: return detail::out_of_memory;
    case ErrorCode::strides: return "the strides do not match the required layout";
    case ErrorCode::too_small: return "the owner has fewer bytes than the elements need";
    case ErrorCode::callee_failed: return "the callee failed and has reported the reason";
    case ErrorCode::no_result: return "the callee reported success without a valid result";
    case ErrorCode::data_in_owner: return "the data is inside the owner, which is moved";
    case ErrorCode::flags: return "the struct cannot store the tensor's flags";
    case ErrorCode::device_mismatch: return "the tensor is on a different device of the same type";
    case ErrorCode::overlap: return "elements to be written may share memory";
    case ErrorCode::layout: return "the owner's elements are not in row-major order: set the strides";
    case ErrorCode::no_shape: return "no shape was set, and the owner has no number of elements";
    case ErrorCode::extent_mismatch: return "a dimension has a different extent";
  }
  return "unknown error";
}

/**
 * The class of the exception that Python raises for an argument with this error, as
 * dlpackgen_python does: "ValueError".
 */
constexpr const char* class_name(ErrorCode code) noexcept {
  if (code == ErrorCode::dtype_mismatch) return "TypeError";
  if (code == ErrorCode::no_memory) return "MemoryError";
  if (code == ErrorCode::callee_failed) return "RuntimeError";
  const bool differs = code == ErrorCode::ndim_mismatch || code == ErrorCode::extent_mismatch ||
                       code == ErrorCode::not_contiguous || code == ErrorCode::strides ||
                       code == ErrorCode::device_mismatch || code == ErrorCode::not_host_readable;
  return differs ? "ValueError" : "BufferError";
}

/** A code with the details of the mismatch; message.hpp formats it as a message. */
struct Error {
  ErrorCode code = ErrorCode::ok;
  std::int32_t where = -1;    ///< The dimension, or -1.
  std::int64_t expected = 0;  ///< The expected number; a data type as by as_number().
  std::int64_t got = 0;       ///< The actual number.

  constexpr Error() noexcept = default;
  // NOLINTNEXTLINE: a code is an error without details
  constexpr Error(ErrorCode c, std::int64_t wanted = 0, std::int64_t came = 0, std::int32_t dimension = -1) noexcept
      : code(c), where(dimension), expected(wanted), got(came) {}

  /** True when there is an error. */
  constexpr explicit operator bool() const noexcept { return code != ErrorCode::ok; }
  /** The description of the code. */
  constexpr const char* text() const noexcept { return v0_0::error_string(code); }
};

/** Whether an assignment to a T assigns the elements that it refers to, like an Eigen::Map. */
template <class T>
inline constexpr bool assigns_elements = false;

namespace detail {

// A base that forbids assignment, because replacing a result would write to the elements of its
// value.
template <bool allowed>
struct Assignable {};
template <>
struct Assignable<false> {
  constexpr Assignable() noexcept = default;
  constexpr Assignable(const Assignable&) noexcept = default;
  Assignable& operator=(const Assignable&) = delete;
};

}  // namespace detail

/**
 * A value or an error, like std::expected in C++23. The value of a failed result is T{}, which is
 * safe to read. E converts to true if there is an error.
 */
template <class T, class E = Error>
class [[nodiscard]] Result : private detail::Assignable<!assigns_elements<T>> {
  static_assert(std::is_nothrow_default_constructible<T>::value && std::is_nothrow_move_constructible<T>::value,
                "a result is made, and moved, without exceptions");

 public:
  // NOLINTNEXTLINE: functions return a value or an error as it is
  constexpr Result(T value) noexcept : value_(static_cast<T&&>(value)) {}
  // NOLINTNEXTLINE
  constexpr Result(E error) noexcept : error_(static_cast<E&&>(error)) {}
  // NOLINTNEXTLINE
  constexpr Result(ErrorCode code) noexcept : error_(code) {}

  /** True when there is a value. */
  constexpr explicit operator bool() const noexcept { return !error_; }
  /** The error; ErrorCode::ok if there is a value. */
  constexpr const E& error() const noexcept { return error_; }
  /** The code of the error. */
  constexpr ErrorCode code() const noexcept { return error_.code; }
  /** The description of the error. */
  constexpr const char* text() const noexcept { return error_.text(); }

  constexpr T& operator*() & noexcept { return value_; }
  constexpr const T& operator*() const& noexcept { return value_; }
  constexpr T operator*() && noexcept { return static_cast<T&&>(value_); }  // for (auto x : *f()) outlives f()
  constexpr T* operator->() & noexcept { return &value_; }
  constexpr const T* operator->() const& noexcept { return &value_; }
  /**
   * Not available for a temporary result whose value owns memory, because f()->view() would dangle.
   */
  template <class U = T, std::enable_if_t<std::is_trivially_copyable<U>::value, int> = 0>
  constexpr const U* operator->() const&& noexcept {
    return &value_;
  }
  template <class U = T, std::enable_if_t<!std::is_trivially_copyable<U>::value, int> = 0>
  const U* operator->() const&& = delete;

 private:
  T value_{};
  E error_{};
};

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ERROR_HPP_
