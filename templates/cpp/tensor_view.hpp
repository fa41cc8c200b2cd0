/**
 * \file tensor_view.hpp
 * A borrowed tensor.
 */
#ifndef DLPACKGEN_V0_0_TENSOR_VIEW_HPP_
#define DLPACKGEN_V0_0_TENSOR_VIEW_HPP_

#include "dtype.hpp"
#include "validate.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {
inline constexpr std::int64_t no_extent[1] = {0};
}  // namespace detail

/**
 * A borrowed tensor. It frees nothing, and must not outlive the original tensor, whose shape and
 * strides it points to. The struct itself is copied. Several threads may use a view, if they access
 * the data safely.
 *
 * A view from from_raw() is validated: loops over its shape and strides stay within the byte range
 * that the producer declared. An empty view has the shape [0].
 */
class TensorView {
 public:
  /** An empty view, with the shape [0]. */
  TensorView() noexcept {
    tensor_.shape = const_cast<std::int64_t*>(detail::no_extent);  // a shape is never written to
    tensor_.ndim = 1;
    tensor_.device = DLDevice{kDLCPU, 0};
    tensor_.dtype = dtypes::uint8;
  }

  /**
   * Returns a view of a tensor from any producer, after validate(). The struct has no flags, so the
   * caller passes them: the flags of the managed tensor, flags::read_only if unknown, or 0 for
   * writable memory.
   */
  static Result<TensorView> from_raw(const DLTensor* tensor, std::uint64_t set,
                                     Accept accept = Accept::nothing) noexcept {
    const Error error = validate(tensor, set, accept);
    if (error) return error;
    return from_raw_unchecked(*tensor, set);
  }

  /**
   * Returns a view of a tensor that is known to be valid, without validation. Flags as for
   * from_raw().
   */
  static TensorView from_raw_unchecked(const DLTensor& tensor, std::uint64_t set) noexcept {
    return TensorView(tensor, set);
  }

  /** The number of dimensions; 0 for a scalar. */
  std::int32_t ndim() const noexcept { return tensor_.ndim; }
  /** The extent of a dimension from 0 up to ndim() - 1. */
  std::int64_t shape(std::int32_t dimension) const noexcept { return tensor_.shape[dimension]; }
  /** The stride of such a dimension, in elements. */
  std::int64_t stride(std::int32_t dimension) const noexcept {
    if (tensor_.strides != nullptr) return tensor_.strides[dimension];
    std::uint64_t stride = 1;  // too large a product belongs to an empty tensor, whose strides have no meaning
    for (std::int32_t i = ndim(); --i > dimension;) (void)dlpackgen_extend_stride_(&stride, shape(i));
    return static_cast<std::int64_t>(stride);
  }
  /** The number of elements. */
  std::int64_t size() const noexcept { return *v0_0::size(tensor_.ndim, tensor_.shape); }
  /** The size of the elements in bytes, stored without gaps. */
  std::int64_t nbytes() const noexcept { return *v0_0::nbytes(tensor_, flags_); }

  DLDataType dtype() const noexcept { return tensor_.dtype; }
  DLDevice device() const noexcept { return tensor_.device; }
  /** All 64 flag bits of the managed tensor. */
  std::uint64_t flags() const noexcept { return flags_; }
  /** Whether the data must not be written to. */
  bool is_read_only() const noexcept { return (flags_ & flags::read_only) != 0; }
  /** Whether the data was copied for this consumer alone. */
  bool is_copied() const noexcept { return (flags_ & flags::is_copied) != 0; }
  /** Whether elements narrower than a byte occupy one byte each. */
  bool is_padded() const noexcept { return (flags_ & flags::is_subbyte_type_padded) != 0; }
  /** Whether elements share bytes. */
  bool is_packed() const noexcept { return dlpackgen_element_bits(tensor_.dtype, flags_) % 8 != 0; }
  /** Whether the tensor is C-contiguous. */
  bool is_contiguous() const noexcept { return v0_0::is_contiguous(tensor_); }
  /** Whether the host may read the data. */
  bool is_on_host() const noexcept { return is_host_readable(tensor_.device.device_type); }

  /**
   * The address of the first element, including byte_offset; nullptr if there is no data, or if
   * data is a handle (see raw()).
   */
  const void* data() const noexcept { return address(); }
  /** The same for writing; nullptr also if the tensor is read-only. */
  void* writable_data() const noexcept { return is_read_only() ? nullptr : address(); }

  /**
   * The address of the first element as a T, which is const unless elements are written. The device
   * is not checked: the pointer may refer to device memory.
   *
   * \return ErrorCode::dtype_mismatch, ErrorCode::read_only, ErrorCode::overlap if T is not const
   * and elements may share memory, ErrorCode::packed, ErrorCode::not_host_readable if data is a
   * handle, or ErrorCode::misaligned.
   */
  template <class T>
  Result<T*> data_as() const noexcept {
    static_assert(is_element<T>, "no data type is known for this C++ type: specialise dlpackgen::ElementType");
    const Error error = check_element(dtype_of<T>, !std::is_const<T>::value, alignof(T));
    if (error) return error;
    return static_cast<T*>(address());
  }

  /** The struct, for functions in C. */
  const DLTensor& raw() const noexcept { return tensor_; }

  /** Whether there are no elements. */
  bool is_empty() const noexcept {
    for (std::int32_t i = 0; i < ndim(); ++i) {
      if (shape(i) == 0) return true;
    }
    return false;
  }

 private:
  TensorView(const DLTensor& tensor, std::uint64_t set) noexcept : tensor_(tensor), flags_(set) {}

  void* address() const noexcept {
    if (tensor_.data == nullptr || is_opaque(tensor_.device.device_type)) return nullptr;
    // Computed as a number, because an empty tensor may have any offset.
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(tensor_.data) +
                                   static_cast<std::uintptr_t>(tensor_.byte_offset));
  }

  Error check_element(DLDataType wanted, bool write, std::size_t align) const noexcept {
    if (!same_dtype(tensor_.dtype, wanted))
      return Error(ErrorCode::dtype_mismatch, as_number(wanted), as_number(tensor_.dtype));
    if (write && is_read_only()) return ErrorCode::read_only;
    if (write && may_overlap(tensor_)) return ErrorCode::overlap;
    if (is_packed()) return ErrorCode::packed;
    if (is_opaque(tensor_.device.device_type))
      return Error(ErrorCode::not_host_readable, 0, tensor_.device.device_type);
    const auto misfit = reinterpret_cast<std::uintptr_t>(address()) & (align - 1);  // a power of 2
    if (misfit != 0) {
      return Error(ErrorCode::misaligned, static_cast<std::int64_t>(align), static_cast<std::int64_t>(misfit));
    }
    return Error();
  }

  DLTensor tensor_{};
  std::uint64_t flags_ = 0;
};

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_TENSOR_VIEW_HPP_
