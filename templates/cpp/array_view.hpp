/**
 * \file array_view.hpp
 * Access to the elements of a tensor in host memory by their indices. For views of the standard
 * library, see span.hpp and mdspan.hpp.
 */
#ifndef DLPACKGEN_V0_0_ARRAY_VIEW_HPP_
#define DLPACKGEN_V0_0_ARRAY_VIEW_HPP_

#include "tensor_view.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/**
 * A view of a tensor with N dimensions and elements of type T, which is const if they are only
 * read. The view has its own copy of the extents and strides, so it does not change when the tensor
 * is resized. The data must outlive the view.
 *
 * Only at() checks indices. Strides may be negative or zero.
 */
template <class T, std::size_t N>
class ArrayView {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  /** An empty view. */
  constexpr ArrayView() noexcept = default;
  constexpr ArrayView(T* data, const std::int64_t* shape, const std::int64_t* strides) noexcept : data_(data) {
    for (std::size_t i = 0; i < N; ++i) {
      shape_[i] = shape[i];
      strides_[i] = strides[i];
    }
  }
  /**
   * Converts a writable view to a read-only view: ArrayView<float, 2> to ArrayView<const float, 2>.
   */
  template <class U, class = std::enable_if_t<detail::only_adds_const<U, T>>>
  constexpr ArrayView(const ArrayView<U, N>& other) noexcept : data_(other.data()) {  // NOLINT: as T* converts
    for (std::size_t i = 0; i < N; ++i) {
      shape_[i] = other.extent(i);
      strides_[i] = other.stride(i);
    }
  }

  /** The number of dimensions. */
  static constexpr std::size_t rank() noexcept { return N; }
  /** The extent of a dimension. */
  constexpr std::int64_t extent(std::size_t dimension) const noexcept { return shape_[dimension]; }
  /** The stride of a dimension, in elements. */
  constexpr std::int64_t stride(std::size_t dimension) const noexcept { return strides_[dimension]; }
  /** All N extents, and all N strides, valid as long as the view. */
  constexpr const std::int64_t* shape() const noexcept { return shape_; }
  constexpr const std::int64_t* strides() const noexcept { return strides_; }
  /** The number of elements. */
  constexpr std::int64_t size() const noexcept {
    std::uint64_t product = data_ == nullptr ? 0 : 1;  // unsigned: it may wrap around only if an extent is 0
    for (std::size_t i = 0; i < N; ++i) product *= static_cast<std::uint64_t>(shape_[i]);
    return static_cast<std::int64_t>(product);
  }
  /** The element whose indices are all 0. */
  constexpr T* data() const noexcept { return data_; }

  /** An element: view(i, j) of a view of rank 2. */
  template <class... Indices>
  constexpr T& operator()(Indices... indices) const noexcept {
    static_assert(sizeof...(Indices) == N, "a view of rank N takes N indices");
    const std::int64_t index[N + 1] = {static_cast<std::int64_t>(indices)..., 0};
    return data_[offset(index)];
  }

  /** The element, with checked indices: nullptr if an index is out of range. */
  template <class... Indices>
  constexpr T* at(Indices... indices) const noexcept {
    static_assert(sizeof...(Indices) == N, "a view of rank N takes N indices");
    const std::int64_t index[N + 1] = {static_cast<std::int64_t>(indices)..., 0};
    for (std::size_t i = 0; i < N; ++i) {
      if (index[i] < 0 || index[i] >= shape_[i]) return nullptr;
    }
    return data_ == nullptr ? nullptr : data_ + offset(index);
  }

  /** The element of a view of rank 1, or the view of all elements with that first index. */
  constexpr decltype(auto) operator[](std::int64_t index) const noexcept {
    static_assert(N > 0, "a scalar has no index");
    if constexpr (N == 1) {
      return (data_[index * strides_[0]]);
    } else {
      return ArrayView<T, N - 1>(data_ == nullptr ? nullptr : data_ + index * strides_[0], &shape_[1], &strides_[1]);
    }
  }

 private:
  constexpr std::int64_t offset(const std::int64_t* index) const noexcept {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < N; ++i) sum += index[i] * strides_[i];
    return sum;
  }

  T* data_ = nullptr;
  std::int64_t shape_[N + 1] = {};  // one more, because C++ has no empty arrays
  std::int64_t strides_[N + 1] = {};
};

/** A view of contiguous elements; it converts to std::span. */
template <class T>
class FlatView {
 public:
  constexpr FlatView() noexcept = default;
  constexpr FlatView(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  /** Converts a writable view to a read-only view. */
  template <class U, class = std::enable_if_t<detail::only_adds_const<U, T>>>
  constexpr FlatView(const FlatView<U>& other) noexcept
      : data_(other.data()), size_(other.size()) {}  // NOLINT: as T* converts
  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

// The data of a tensor whose elements the host can read as T.
template <class T>
Result<T*> host_data(const TensorView& view) noexcept {
  const Result<T*> data = view.data_as<T>();
  if (data && !view.is_on_host()) return Error(ErrorCode::not_host_readable, 0, view.device().device_type);
  return data;
}

}  // namespace detail

/**
 * Returns the elements as an array: auto a = array_of<const float, 2>(view).
 *
 * \return ErrorCode::ndim_mismatch, ErrorCode::not_host_readable, or an error of
 * TensorView::data_as().
 */
template <class T, std::size_t N>
Result<ArrayView<T, N>> array_of(const TensorView& view) noexcept {
  if (view.ndim() != static_cast<std::int32_t>(N)) {
    return Error(ErrorCode::ndim_mismatch, static_cast<std::int64_t>(N), view.ndim());
  }
  const Result<T*> data = detail::host_data<T>(view);
  if (!data) return data.error();
  std::int64_t strides[N + 1] = {};
  // The strides of an empty tensor are not validated, but its rows can be accessed.
  const bool empty = view.is_empty();
  for (std::size_t i = 0; i < N; ++i) strides[i] = empty ? 0 : view.stride(static_cast<std::int32_t>(i));
  return ArrayView<T, N>(*data, view.raw().shape, strides);
}

/**
 * Returns all elements of a C-contiguous tensor of any rank; else ErrorCode::not_contiguous.
 */
template <class T>
Result<FlatView<T>> flat_of(const TensorView& view) noexcept {
  const Result<T*> data = detail::host_data<T>(view);
  if (!data) return data.error();
  if (!view.is_contiguous()) return ErrorCode::not_contiguous;
  return FlatView<T>(*data, static_cast<std::size_t>(view.size()));
}

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ARRAY_VIEW_HPP_
