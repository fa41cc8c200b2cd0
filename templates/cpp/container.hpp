/**
 * \file container.hpp
 * Derives the address, the number and the order of elements from the type of an owner. Part of
 * builder.hpp.
 */
#ifndef DLPACKGEN_V0_0_CONTAINER_HPP_
#define DLPACKGEN_V0_0_CONTAINER_HPP_

#include "dtype.hpp"
#include "validate.hpp"

#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace detail {

template <class Owner, class Enable = void>
struct Contents {  // an owner without known data
  static constexpr bool known = false;
};

template <class Owner>
using DataOf = std::remove_pointer_t<decltype(any<Owner>().data())>;
template <class Owner>
using TargetOf = std::remove_pointer_t<decltype(any<Owner>().get())>;

template <class Owner>
struct Contents<Owner, std::enable_if_t<is_element<DataOf<Owner>>>> {  // a container
  using Element = DataOf<Owner>;
  static constexpr bool known = true;
  static constexpr bool sized = true;
  static Element* data(Owner& owner) noexcept { return owner.data(); }
  static std::uint64_t size(const Owner& owner) noexcept { return owner.size(); }
};

template <class Owner>
struct Contents<Owner, std::enable_if_t<is_element<TargetOf<Owner>>>> {  // a smart pointer
  using Element = TargetOf<Owner>;
  static constexpr bool known = true;
  static constexpr bool sized = false;
  static Element* data(Owner& owner) noexcept { return owner.get(); }
};

template <class Owner, class Enable = void>
inline constexpr bool is_matrix = false;
// A matrix that reports its strides and their order, such as every Eigen matrix.
template <class Owner>
inline constexpr bool is_matrix<
    Owner, std::void_t<decltype(any<const Owner>().rows() + any<const Owner>().cols()), decltype(Owner::IsRowMajor),
                       decltype(any<const Owner>().innerStride() + any<const Owner>().outerStride()),
                       decltype(Owner::IsVectorAtCompileTime)>> = true;

template <class Owner, class Enable = void>
inline constexpr bool has_rows = false;
template <class Owner>
inline constexpr bool has_rows<Owner, std::void_t<decltype(any<const Owner>().rows())>> = true;
template <class Owner, class Enable = void>
inline constexpr bool has_dimensions = false;
template <class Owner>
inline constexpr bool has_dimensions<Owner, std::void_t<decltype(any<const Owner>().dimensions())>> = true;
template <class Owner, class Enable = void>
inline constexpr bool has_strides = false;
template <class Owner>
inline constexpr bool has_strides<Owner, std::void_t<decltype(any<const Owner>().strides())>> = true;

// A container with several dimensions in unknown order.
template <class Owner>
inline constexpr bool has_own_layout = has_rows<Owner> || has_dimensions<Owner> || has_strides<Owner>;

// A smart pointer to such a container.
template <class Owner, class Enable = void>
inline constexpr bool points_to_own_layout = false;
template <class Owner>
inline constexpr bool points_to_own_layout<Owner, std::enable_if_t<is_element<DataOf<TargetOf<Owner>>>>> =
    has_own_layout<TargetOf<Owner>>;

// A container of bits, such as std::vector<bool>: its elements have no addresses.
template <class Owner, class Enable = void>
inline constexpr bool holds_bits = false;
template <class Owner>
inline constexpr bool holds_bits<Owner, std::void_t<typename Owner::reference, decltype(any<Owner>().flip())>> =
    !std::is_same<typename Owner::reference, bool&>::value;

// The layout of a container.
struct Layout {
  std::int32_t ndim = 0;  // 0 if the container has no extents
  std::int64_t shape[2] = {};
  std::int64_t strides[2] = {};
  bool row_major = true;      // whether the elements are C-contiguous
  std::uint64_t covered = 0;  // elements from the first in memory to the last, including gaps
};

template <class Matrix>
Layout layout_of(const Matrix& matrix) noexcept {
  constexpr bool by_rows = Matrix::IsRowMajor;
  const std::int64_t rows = matrix.rows(), columns = matrix.cols();
  const std::int64_t inner = matrix.innerStride(), outer = matrix.outerStride();
  Layout l{2, {rows, columns}, {by_rows ? outer : inner, by_rows ? inner : outer}};
  l.row_major = (columns < 2 || l.strides[1] == 1) && (rows < 2 || l.strides[0] == columns);
  if (rows > 0 && columns > 0) {
    l.covered = unsign((rows - 1) * l.strides[0] + (columns - 1) * l.strides[1]) + 1;
  }
  if (Matrix::IsVectorAtCompileTime) {
    l.ndim = 1;
    l.shape[0] = rows * columns;
    l.strides[0] = inner;
  }
  return l;
}

// Whether the data belongs to a container whose elements may not be row-major.
template <class Container>
bool is_disordered(const Container* container, const void* data) noexcept {
  if (container == nullptr || container->data() != data) return false;
  if constexpr (is_matrix<Container>) {
    return !layout_of(*container).row_major;
  } else {
    return true;
  }
}

}  // namespace detail
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_CONTAINER_HPP_
