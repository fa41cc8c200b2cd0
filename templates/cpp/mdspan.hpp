/**
 * \file mdspan.hpp
 * The elements of a tensor as a std::mdspan, if the standard library has it (C++23); otherwise, see
 * array_view.hpp.
 */
#ifndef DLPACKGEN_V0_0_MDSPAN_HPP_
#define DLPACKGEN_V0_0_MDSPAN_HPP_

#include "array_view.hpp"

#if __has_include(<mdspan>) && (__cplusplus > 202002L || (defined(_MSVC_LANG) && _MSVC_LANG > 202002L))
#include <array>
#include <mdspan>
#endif

#ifdef __cpp_lib_mdspan

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

/* std::layout_stride requires elements that do not overlap: positive strides and, in some order of
   the dimensions, each stride exceeds the extent covered by the previous ones. */
template <std::size_t N>
constexpr bool is_layout_stride(const std::array<std::int64_t, N>& shape,
                                const std::array<std::int64_t, N>& strides) noexcept {
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = 0; j < N; ++j) {
      if (strides[i] <= 0) return false;
      if (i != j && strides[i] >= strides[j] && strides[i] / shape[j] < strides[j] && shape[i] > 1) return false;
    }
  }
  return true;
}

}  // namespace detail

/** A tensor of N dimensions. */
template <class T, std::size_t N>
using StridedSpan = std::mdspan<T, std::dextents<std::int64_t, N>, std::layout_stride>;

/**
 * Returns the elements as a std::mdspan.
 *
 * \return an error of array_of(), or ErrorCode::strides for strides that std::layout_stride does
 * not allow: negative or zero strides, and elements that overlap.
 */
template <class T, std::size_t N>
Result<StridedSpan<T, N>> mdspan_of(const TensorView& view) noexcept {
  static_assert(N > 0, "a std::mdspan of rank 0 has no default: use array_of<T, 0>");
  const Result<ArrayView<T, N>> array = array_of<T, N>(view);
  if (!array) return array.error();
  std::array<std::int64_t, N> shape{};
  std::array<std::int64_t, N> strides{};
  std::int64_t compact = 1;
  for (std::size_t i = N; i-- > 0;) {
    shape[i] = array->extent(i);
    const bool counts = !view.is_empty() && shape[i] > 1;  // other strides have no meaning
    strides[i] = counts ? array->stride(i) : compact;
    if (counts && strides[i] <= 0) return ErrorCode::strides;
    if (counts) compact = strides[i] > INT64_MAX / shape[i] ? INT64_MAX : strides[i] * shape[i];
  }
  if (!view.is_empty() && !detail::is_layout_stride(shape, strides)) return ErrorCode::strides;
  return StridedSpan<T, N>(array->data(), {std::dextents<std::int64_t, N>(shape), strides});
}

}  // namespace v0_0
}  // namespace dlpackgen

#endif
#endif  // DLPACKGEN_V0_0_MDSPAN_HPP_
