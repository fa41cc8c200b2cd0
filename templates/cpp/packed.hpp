/**
 * \file packed.hpp
 * Elements narrower than a byte that share bytes, the first in the lowest bits.
 */
#ifndef DLPACKGEN_V0_0_PACKED_HPP_
#define DLPACKGEN_V0_0_PACKED_HPP_

#include "tensor_view.hpp"

#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/**
 * A view of all elements of a packed tensor in row-major order. T is a type of storage.hpp, const
 * if the tensor is only read. Two threads must not write to elements of the same byte at once.
 */
template <class T>
class PackedView {
 public:
  using value_type = std::remove_const_t<T>;
  using Bytes = std::conditional_t<std::is_const<T>::value, const std::uint8_t, std::uint8_t>;

  constexpr PackedView() noexcept = default;
  constexpr PackedView(Bytes* data, std::int64_t size) noexcept : data_(data), size_(size) {}
  /** Converts a writable view to a read-only view. */
  template <class U, class = std::enable_if_t<detail::only_adds_const<U, T>>>
  constexpr PackedView(const PackedView<U>& other) noexcept : data_(other.data()), size_(other.size()) {}  // NOLINT

  /** The first byte, whose lowest bits are the first element. */
  constexpr Bytes* data() const noexcept { return data_; }
  /** The number of elements. */
  constexpr std::int64_t size() const noexcept { return size_; }

  /** An element, by its index in row-major order. */
  constexpr value_type operator[](std::int64_t index) const noexcept {
    std::uint32_t bits = 0;
    for (int i = 0; i < width; ++i) bits |= bit(index, i) << i;
    return value_type{static_cast<std::uint8_t>(bits)};
  }

  /** Writes an element, without changing its neighbours. */
  constexpr void set(std::int64_t index, value_type value) const noexcept {
    static_assert(!std::is_const<T>::value, "the tensor is only to be read");
    for (int i = 0; i < width; ++i) {
      const std::int64_t at = index * width + i;
      const auto mask = static_cast<std::uint8_t>(1U << (at % 8));
      const bool one = ((value.bits >> i) & 1U) != 0;
      data_[at / 8] = static_cast<std::uint8_t>(one ? data_[at / 8] | mask : data_[at / 8] & ~mask);
    }
  }

 private:
  static constexpr int width = dtype_of<T>.bits;
  static_assert(width < DLPACKGEN_PACKED_BELOW, "wider elements are not packed");

  constexpr std::uint32_t bit(std::int64_t index, int i) const noexcept {
    const std::int64_t at = index * width + i;
    return (static_cast<std::uint32_t>(data_[at / 8]) >> (at % 8)) & 1U;
  }

  Bytes* data_ = nullptr;
  std::int64_t size_ = 0;
};

/**
 * Returns the elements of a packed tensor in host memory.
 *
 * \return ErrorCode::dtype_mismatch, ErrorCode::read_only, ErrorCode::not_host_readable,
 * ErrorCode::not_contiguous, or ErrorCode::packed if they are padded instead of packed; use
 * array_of() for these.
 */
template <class T>
Result<PackedView<T>> packed_of(const TensorView& view) noexcept {
  if (!same_dtype(view.dtype(), dtype_of<T>))
    return Error(ErrorCode::dtype_mismatch, as_number(dtype_of<T>), as_number(view.dtype()));
  if (view.is_padded()) return ErrorCode::packed;
  if (!std::is_const<T>::value && view.is_read_only()) return ErrorCode::read_only;
  if (!view.is_on_host()) return Error(ErrorCode::not_host_readable, 0, view.device().device_type);
  if (!view.is_contiguous()) return ErrorCode::not_contiguous;
  using Bytes = typename PackedView<T>::Bytes;
  return PackedView<T>(static_cast<Bytes*>(const_cast<void*>(view.data())), view.size());
}

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PACKED_HPP_
