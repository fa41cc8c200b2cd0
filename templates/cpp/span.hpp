/**
 * \file span.hpp
 * The elements of a tensor as a std::span from C++20 on, and as a FlatView in C++17.
 */
#ifndef DLPACKGEN_V0_0_SPAN_HPP_
#define DLPACKGEN_V0_0_SPAN_HPP_

#include "array_view.hpp"

#if __has_include(<span>) && (__cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L))
#include <span>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/**
 * Returns all elements of a C-contiguous tensor of any rank; else ErrorCode::not_contiguous.
 */
template <class T>
Result<std::span<T>> span_of(const TensorView& view) noexcept {
  const Result<FlatView<T>> all = flat_of<T>(view);
  if (!all) return all.error();
  return std::span<T>(all->data(), all->size());
}

}  // namespace v0_0
}  // namespace dlpackgen

#endif
#endif  // DLPACKGEN_V0_0_SPAN_HPP_
