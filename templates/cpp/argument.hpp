/**
 * \file argument.hpp
 * Tensors as arguments of C++ functions: the requirements of a parameter's type, and the conversion
 * from a view. python.hpp uses it to check and convert the arguments of bound functions.
 */
#ifndef DLPACKGEN_V0_0_ARGUMENT_HPP_
#define DLPACKGEN_V0_0_ARGUMENT_HPP_

#include "array_view.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** The requirements of a parameter on a tensor. */
struct Requirements {
  DLDataType dtype{0, 0, 0};         ///< The data type; any if bits is 0.
  std::int32_t ndim = -1;            ///< The number of dimensions; any if negative.
  bool writable = false;             ///< The function writes to the elements.
  bool contiguous = false;           ///< The tensor is C-contiguous.
  std::int64_t shape[2] = {-1, -1};  ///< The extents of up to two dimensions; any if negative.
  bool optional = false;             ///< None is accepted instead of a tensor.
};

/**
 * A specialisation has `static constexpr Requirements requirements` and `static Result<A>
 * from(const TensorView&)`. Types without a specialisation are not tensors. Specialise Argument for
 * your own view types to use them in bound functions.
 */
template <class A, class Enable = void>
struct Argument {};

/** Any tensor, read only. */
template <>
struct Argument<TensorView> {
  static constexpr Requirements requirements{};
  static Result<TensorView> from(const TensorView& view) noexcept { return view; }
};

template <class T, std::size_t N>
struct Argument<ArrayView<T, N>> {
  static constexpr Requirements requirements{
      dtype_of<T>, static_cast<std::int32_t>(N), !std::is_const<T>::value, false, {-1, -1}};
  static Result<ArrayView<T, N>> from(const TensorView& view) noexcept { return array_of<T, N>(view); }
};

template <class T>
struct Argument<FlatView<T>> {
  static constexpr Requirements requirements{dtype_of<T>, -1, !std::is_const<T>::value, true, {-1, -1}};
  static Result<FlatView<T>> from(const TensorView& view) noexcept { return flat_of<T>(view); }
};

namespace detail {

template <class A, class Enable = void>
inline constexpr bool is_argument = false;
template <class A>
inline constexpr bool is_argument<A, std::void_t<decltype(Argument<A>::requirements)>> = true;

// The requirements of a type that also accepts None.
constexpr Requirements or_none(Requirements needs) noexcept {
  needs.optional = true;
  return needs;
}

// The result of Argument<A>::from(), from which an A is constructed.
template <class A>
using Converted = std::decay_t<decltype(*Argument<A>::from(any<const TensorView&>()))>;

}  // namespace detail

/** A tensor, or None as an empty optional. */
template <class A>
struct Argument<std::optional<A>, std::enable_if_t<detail::is_argument<A>>> {
  static constexpr Requirements requirements = detail::or_none(Argument<A>::requirements);
  static Result<std::optional<detail::Converted<A>>> from(const TensorView& view) noexcept {
    auto made = Argument<A>::from(view);
    if (!made) return made.error();
    return std::optional<detail::Converted<A>>(*static_cast<decltype(made)&&>(made));
  }
};

template <class A>
inline constexpr bool assigns_elements<std::optional<A>> = assigns_elements<A>;

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ARGUMENT_HPP_
