/**
 * \file eigen.hpp
 * Converts between tensors and Eigen matrices and vectors, without a copy. It needs <Eigen/Core>.
 */
#ifndef DLPACKGEN_V0_0_EIGEN_HPP_
#define DLPACKGEN_V0_0_EIGEN_HPP_

#include "argument.hpp"
#include "array_view.hpp"
#include "builder.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <new>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

template <class T>
inline constexpr bool is_eigen = std::is_base_of<Eigen::PlainObjectBase<std::remove_const_t<T>>, T>::value;

// The matrix type of a map: T itself, or a matrix of any size if T is an element type.
template <class T, bool is_matrix = is_eigen<T>>
struct Shown {
  using Plain = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic>;
  static constexpr std::int32_t ndim = -1;  // 1, for a column, or 2
};
// is_eigen examines the bases of T, which only classes have.
template <class T>
struct Shown<T, true> {
  using Plain = std::remove_const_t<T>;
  static constexpr std::int32_t ndim = Plain::IsVectorAtCompileTime ? 1 : 2;
};

template <class T>
struct Mapping : Shown<T> {
  using Plain = typename Shown<T>::Plain;
  using Scalar = typename Plain::Scalar;
  using Element = std::conditional_t<std::is_const<T>::value, const Scalar, Scalar>;
  using Steps = std::conditional_t<Plain::IsVectorAtCompileTime, Eigen::InnerStride<>,
                                   Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
  using Map = Eigen::Map<std::conditional_t<std::is_const<T>::value, const Plain, Plain>, Eigen::Unaligned, Steps>;
  static constexpr std::int64_t rows = Plain::RowsAtCompileTime;
  static constexpr std::int64_t columns = Plain::ColsAtCompileTime;

  static Steps steps(std::int64_t row, std::int64_t column) noexcept {
    const auto by_row = static_cast<Eigen::Index>(row), by_column = static_cast<Eigen::Index>(column);
    if constexpr (Plain::IsVectorAtCompileTime) {
      return Steps(columns == 1 ? by_row : by_column);
    } else {
      return Plain::IsRowMajor ? Steps(by_row, by_column) : Steps(by_column, by_row);
    }
  }
};

// Eigen's temporaries have room for the maximum extent of a type.
inline Error check_extent(std::int64_t is, std::int64_t fixed, std::int64_t largest, std::int32_t dimension) noexcept {
  if (fixed != Eigen::Dynamic && is != fixed) return Error(ErrorCode::extent_mismatch, fixed, is, dimension);
  if (largest != Eigen::Dynamic && is > largest) return Error(ErrorCode::extent_mismatch, largest, is, dimension);
  return Error();
}

}  // namespace detail

/**
 * A map of a tensor's elements: an Eigen::Map with the strides of the tensor. T is the type of a
 * matrix or vector, or the type of an element, and const if the elements are only read. As in all
 * of Eigen, an assignment assigns elements.
 */
template <class T>
class MapOf : public detail::Mapping<T>::Map {
  using Mapping = detail::Mapping<T>;

 public:
  using Base = typename Mapping::Map;

  /** An empty map. If its extents are fixed, it must not be read. */
  MapOf() noexcept
      : MapOf(nullptr, Mapping::rows < 0 ? 0 : Mapping::rows, Mapping::columns < 0 ? 0 : Mapping::columns) {}
  MapOf(typename Mapping::Element* data, std::int64_t rows, std::int64_t columns, std::int64_t row_stride = 0,
        std::int64_t column_stride = 0) noexcept
      : Base(data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns),
             Mapping::steps(row_stride, column_stride)) {}
  MapOf(const MapOf& other) noexcept : Base(other) {}

  using Base::operator=;
  /** Assigns the elements. */
  MapOf& operator=(const MapOf& other) {
    Base::operator=(other);
    return *this;
  }
};

template <class T>
inline constexpr bool assigns_elements<MapOf<T>> = true;

/**
 * Returns a map of a tensor in host memory, without a copy: map_of<const Eigen::MatrixXf>(view). A
 * vector needs a tensor with one dimension, a matrix two; map_of<float>(view) accepts both, and
 * maps a single dimension to a column. Strides may be negative and, if the elements are const,
 * zero.
 *
 * \return ErrorCode::ndim_mismatch, ErrorCode::extent_mismatch if T has a fixed extent, or an error
 * of array_of().
 */
template <class T>
Result<MapOf<T>> map_of(const TensorView& view) noexcept {
  using Mapping = detail::Mapping<T>;
  using Plain = typename Mapping::Plain;
  std::int64_t shape[2] = {1, 1}, steps[2] = {0, 0};
  typename Mapping::Element* data = nullptr;
  const bool is_line = Mapping::ndim == 1 || (Mapping::ndim < 0 && view.ndim() == 1);
  const int across = is_line && Mapping::rows == 1 && Mapping::columns != 1 ? 1 : 0;
  if (is_line) {
    const auto line = array_of<typename Mapping::Element, 1>(view);
    if (!line) return line.error();
    data = line->data();
    shape[across] = line->extent(0);
    steps[across] = line->stride(0);
  } else {
    const auto matrix = array_of<typename Mapping::Element, 2>(view);
    if (!matrix) return matrix.error();
    data = matrix->data();
    for (std::size_t i = 0; i < 2; ++i) {
      shape[i] = matrix->extent(i);
      steps[i] = matrix->stride(i);
    }
  }
  Error error = detail::check_extent(shape[0], Mapping::rows, Plain::MaxRowsAtCompileTime, 0);
  if (!error) error = detail::check_extent(shape[1], Mapping::columns, Plain::MaxColsAtCompileTime, 1 - across);
  if (error) return error;
  return MapOf<T>(data, shape[0], shape[1], steps[0], steps[1]);
}

/** A map that owns its tensor, and frees it when the map is destroyed; see own_map_of(). */
template <class T>
class OwnedMap : public MapOf<T> {
 public:
  OwnedMap() noexcept = default;
  OwnedMap(Managed&& tensor, const MapOf<T>& map) noexcept : MapOf<T>(map), tensor_(static_cast<Managed&&>(tensor)) {}
  OwnedMap(OwnedMap&& other) noexcept : MapOf<T>(other), tensor_(static_cast<Managed&&>(other.tensor_)) {
    ::new (static_cast<void*>(static_cast<MapOf<T>*>(&other))) MapOf<T>();
  }

  using MapOf<T>::operator=;
  /** Assigns the elements. */
  OwnedMap& operator=(const OwnedMap& other) {
    MapOf<T>::operator=(other);
    return *this;
  }

  /** The tensor, still owned. */
  const Managed& tensor() const noexcept { return tensor_; }

 private:
  Managed tensor_;
};

template <class T>
inline constexpr bool assigns_elements<OwnedMap<T>> = true;

/** Like map_of(), but the map owns the tensor. After an error, the caller still owns it. */
template <class T>
Result<OwnedMap<T>> own_map_of(Managed&& tensor) noexcept {
  if (!tensor) return ErrorCode::null;
  const auto map = map_of<T>(tensor.view());
  if (!map) return map.error();
  return OwnedMap<T>(static_cast<Managed&&>(tensor), *map);
}

/**
 * Moves a matrix into a tensor, with its shape and order: managed_of(std::move(m)). An expression
 * is evaluated first.
 */
template <class Plain>
Result<Managed> managed_of(Eigen::PlainObjectBase<Plain>&& matrix) {
  return Builder().build(static_cast<Plain&&>(matrix.derived()));
}
template <class Expression>
Result<Managed> managed_of(const Eigen::EigenBase<Expression>& expression) {
  using Plain = typename Expression::PlainObject;
  return Builder().build(Plain(expression.derived()));
}
/** Deleted, because it would export a copy. Move the matrix, or pass Plain(matrix) to copy it. */
template <class Plain>
Result<Managed> managed_of(const Eigen::PlainObjectBase<Plain>& matrix) = delete;

template <class T>
struct Argument<MapOf<T>> {
  using Mapping = detail::Mapping<T>;
  static constexpr Requirements requirements{
      dtype_of<typename Mapping::Scalar>,
      Mapping::ndim,
      !std::is_const<T>::value,
      false,
      {Mapping::ndim == 1 && Mapping::columns != 1 ? Mapping::columns : Mapping::rows,
       Mapping::ndim == 1 ? -1 : Mapping::columns}};
  static Result<MapOf<T>> from(const TensorView& view) noexcept { return map_of<T>(view); }
};

namespace detail {

// The map for a Ref, with the strides of its type.
template <class T, class Steps>
class RefMap : public Eigen::Map<T, Eigen::Unaligned, Steps> {
  using Base = Eigen::Map<T, Eigen::Unaligned, Steps>;
  static constexpr auto inner = Steps::InnerStrideAtCompileTime;
  static constexpr auto outer = Steps::OuterStrideAtCompileTime;
  static_assert(inner == Eigen::Dynamic || inner == 0 || inner == 1, "other inner strides are for MapOf");
  static_assert(outer == Eigen::Dynamic || std::remove_const_t<T>::IsVectorAtCompileTime,
                "other outer strides are for MapOf");

 public:
  RefMap() noexcept : RefMap(MapOf<T>()) {}
  explicit RefMap(MapOf<T> map) noexcept
      : Base(map.data(), map.rows(), map.cols(), steps(map.outerStride(), map.innerStride())) {}
  RefMap(const RefMap& other) noexcept : Base(other) {}
  RefMap& operator=(const RefMap&) = delete;

  static bool fits(const MapOf<T>& map) noexcept {
    return inner == Eigen::Dynamic || map.innerStride() == 1 || map.innerSize() < 2 || map.size() == 0;
  }

 private:
  static Steps steps(Eigen::Index by_outer, Eigen::Index by_inner) noexcept {
    (void)by_outer, (void)by_inner;
    if constexpr (outer == Eigen::Dynamic && inner == Eigen::Dynamic) {
      return Steps(by_outer, by_inner);
    } else if constexpr (outer == Eigen::Dynamic) {
      return Steps(by_outer);
    } else if constexpr (inner == Eigen::Dynamic) {
      return Steps(by_inner);
    } else {
      return Steps();
    }
  }
};

}  // namespace detail

template <class T, class Steps>
inline constexpr bool assigns_elements<detail::RefMap<T, Steps>> = true;

/** Never copies: elements in an unsuitable layout are an error. */
template <class T, int options, class Steps>
struct Argument<Eigen::Ref<T, options, Steps>> {
  static constexpr Requirements requirements = Argument<MapOf<T>>::requirements;
  static Result<detail::RefMap<T, Steps>> from(const TensorView& view) noexcept {
    const auto map = map_of<T>(view);
    if (!map) return map.error();
    if (!detail::RefMap<T, Steps>::fits(*map)) return ErrorCode::strides;
    return detail::RefMap<T, Steps>(*map);
  }
};

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_EIGEN_HPP_
