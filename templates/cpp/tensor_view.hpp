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
 * A borrowed tensor: it frees nothing, and must not outlive the tensor that it
 * was made from, whose shape and strides it points to. The struct itself is
 * copied. Two threads may use one view, as far as the data allows.
 *
 * A view made by from_raw() was validated, so that loops over its shape and strides
 * stay within what the producer has named. An empty view has the shape [0].
 */
class TensorView {
 public:
  /** A view of nothing: one dimension of no bytes. */
  TensorView() noexcept {
    tensor_.shape = const_cast<std::int64_t*>(detail::no_extent);  // a shape is never written to
    tensor_.ndim = 1;
    tensor_.device = DLDevice{kDLCPU, 0};
    tensor_.dtype = dtypes::uint8;
  }

  /**
   * A view of a tensor from anywhere, after validate(). The struct has no flags,
   * so they are to be said: those of the managed tensor, flags::read_only where
   * nothing is known, or 0 for what may be written to.
   */
  static Result<TensorView> from_raw(const DLTensor* tensor, std::uint64_t set,
                                     Accept accept = Accept::nothing) noexcept {
    const Error error = validate(tensor, set, accept);
    if (error) return error;
    return from_raw_unchecked(*tensor, set);
  }

  /**
   * A view of a tensor that is known to obey the rules: nothing is looked at. Flags as for
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
    std::uint64_t stride = 1;  // unsigned, since an empty tensor may have extents of any product
    for (std::int32_t i = ndim(); --i > dimension;) stride *= detail::unsign(shape(i) > 1 ? shape(i) : 1);
    return static_cast<std::int64_t>(stride);
  }
  /** The number of elements. */
  std::int64_t size() const noexcept { return *v0_0::size(tensor_.ndim, tensor_.shape); }
  /** The bytes of the elements when they are stored without gaps. */
  std::int64_t nbytes() const noexcept { return *v0_0::nbytes(tensor_, flags_); }

  DLDataType dtype() const noexcept { return tensor_.dtype; }
  DLDevice device() const noexcept { return tensor_.device; }
  /** The flags of the managed tensor, all 64 bits of them. */
  std::uint64_t flags() const noexcept { return flags_; }
  /** Whether the data must not be written to. */
  bool is_read_only() const noexcept { return (flags_ & flags::read_only) != 0; }
  /** Whether the data was copied for this consumer alone. */
  bool is_copied() const noexcept { return (flags_ & flags::is_copied) != 0; }
  /** Whether elements narrower than a byte take one each. */
  bool is_padded() const noexcept { return (flags_ & flags::is_subbyte_type_padded) != 0; }
  /** Whether elements share bytes. */
  bool is_packed() const noexcept { return dlpackgen_element_bits(tensor_.dtype, flags_) % 8 != 0; }
  /** Whether the elements lie one after the other in row-major order. */
  bool is_contiguous() const noexcept { return v0_0::is_contiguous(tensor_); }
  /** Whether the host may read the data. */
  bool is_on_host() const noexcept { return is_host_readable(tensor_.device.device_type); }

  /**
   * The first element, byte_offset added; nullptr when there is no data, or data
   * is a handle and no address (see raw()).
   */
  const void* data() const noexcept { return address(); }
  /** The same, to be written to; nullptr also when the tensor is read-only. */
  void* writable_data() const noexcept { return is_read_only() ? nullptr : address(); }

  /**
   * The first element as a T, which is const unless it is to be written to. The
   * device is not looked at: the pointer may be one of a device.
   *
   * \return ErrorCode::dtype_mismatch, ErrorCode::read_only, ErrorCode::overlap where T is not
   * const and elements may share memory, ErrorCode::packed, ErrorCode::not_host_readable where data
   * is a handle, or ErrorCode::misaligned.
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
    // As a number, since the offset of an empty tensor may be any.
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
