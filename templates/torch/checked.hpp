/**
 * \file checked.hpp
 * Validates a managed tensor of any producer before it is converted to a torch tensor, and manages
 * its ownership, for both ABIs of torch.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_CHECKED_HPP_
#define DLPACKGEN_V0_0_PYTORCH_CHECKED_HPP_

#include "dtype.hpp"
#include "exceptions.hpp"
#include "gil.hpp"

#include <dlpackgen/checker.h>
#include <pybind11/pybind11.h>
#include <dlpackgen/exceptions.hpp>
#include <dlpackgen/managed.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {

/**
 * The handling of read-only memory, which an at::Tensor cannot represent. The unversioned struct
 * has no flags, and counts as read-only.
 */
enum class ReadOnly {
  raise,
  copy,  ///< Copies it, only on the host: memory of devices may be freed before the copy is complete.
  allow  ///< Accepts it. The resulting tensor must not be written to.
};

namespace detail {

// The permitted uses of the memory in from_dlpack(). Without may_copy, the producer must not have
// copied it either.
struct How {
  ReadOnly read_only;
  bool may_copy = true;

  How(ReadOnly wanted, bool copies = true) : read_only(wanted), may_copy(copies) {}  // NOLINT: as it is written
};

inline std::string text_of(DLDevice device) {
  return "(" + std::to_string(device.device_type) + ", " + std::to_string(device.device_id) + ")";
}

// Host memory, pinned or not, which needs no stream order.
inline bool is_on_host(DLDevice device) noexcept { return is_host_memory(device.device_type); }

struct Elements {
  void* data;
  c10::ScalarType scalar;
};

inline bool is_empty(const DLTensor& tensor) {
  for (std::int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return true;
  }
  return false;
}

inline void reject_strides(const DLTensor& tensor) {
  for (std::int32_t i = 0; tensor.strides != nullptr && i < tensor.ndim; ++i) {
    if (tensor.strides[i] < 0 && tensor.shape[i] > 1) {
      throw BufferError("it has a negative stride, which ATen does not support: pass a copy");
    }
  }
}

inline void reject_misaligned(const DLTensor& tensor) {
  if (!dlpackgen_is_misaligned(&tensor)) return;
  char text[256];
  dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  dlpackgen_put_misaligned(&message, &tensor);
  throw BufferError(text);
}

// The tensor is validated, so the sum does not overflow. Offset, strides and alignment of a tensor
// without elements are not checked, because it has no addresses of elements.
inline Elements elements_of(const DLTensor& tensor, bool on_host) {
  const std::optional<c10::ScalarType> scalar = scalar_of(tensor.dtype);
  if (!scalar) throw BufferError("its dtype has no ATen equivalent");
  char* const begin = static_cast<char*>(tensor.data);
  if (is_empty(tensor)) return Elements{begin, *scalar};
  char* const data = begin + tensor.byte_offset;
  reject_strides(tensor);
  if (on_host) reject_misaligned(tensor);
  return Elements{data, *scalar};
}

// Strides in ATen's form, and the number of elements from the first to the last one in memory.
struct Extents {
  std::array<std::int64_t, max_ndim> strides;
  std::size_t covered = 1;
};

// The stride of a dimension whose own stride is ignored: that of a contiguous tensor, unless its
// value in bytes, which torch computes, exceeds 63 bits. torch's elements have at most 16 bytes.
inline std::int64_t outer_stride(std::int64_t stride, std::int64_t extent) {
  using v0_0::detail::unsign;
  std::uint64_t outer = 0;
  std::uint64_t bytes = 0;
  const bool fits =
      dlpackgen_multiply_(unsign(stride), unsign(extent), &outer) && dlpackgen_multiply_(outer, 16, &bytes);
  return fits ? static_cast<std::int64_t>(outer) : stride;
}

// Strides of dimensions with fewer than two elements, and all strides of a tensor without elements,
// are ignored: they may be negative or too large for ATen. The validator has checked that the other
// ones, none of which is negative, do not overflow the number of covered elements.
inline Extents extents_of(const DLTensor& tensor) {
  Extents found;
  const bool empty = is_empty(tensor);
  std::int64_t contiguous = 1;
  for (std::int32_t i = tensor.ndim; i-- > 0;) {
    const std::int64_t extent = tensor.shape[i];
    const bool is_ignored = tensor.strides == nullptr || extent < 2 || empty;
    const std::int64_t stride = is_ignored ? contiguous : tensor.strides[i];
    found.strides[static_cast<std::size_t>(i)] = stride;
    if (extent < 2) continue;
    contiguous = outer_stride(stride, extent);
    if (!empty) found.covered += static_cast<std::size_t>(extent - 1) * static_cast<std::size_t>(stride);
  }
  if (empty) found.covered = 0;
  return found;
}

// Foreign deleters may run Python code, which must not run with a current exception, and must not
// leave one.
template <class Struct>
void delete_managed(void* context) {
  std::optional<pybind11::error_scope> error;
  if (has_the_gil()) error.emplace();
  BasicManaged<Struct>::from_raw_unchecked(static_cast<Struct*>(context)).reset();
}

// Deletes a tensor as above, unless it was released.
template <class Struct>
struct Incoming {
  BasicManaged<Struct> owned;

  explicit Incoming(BasicManaged<Struct>&& incoming) noexcept : owned(static_cast<BasicManaged<Struct>&&>(incoming)) {}
  Incoming(Incoming&&) noexcept = default;
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;
  ~Incoming() {
    if (owned) delete_managed<Struct>(owned.release());
  }
};

inline bool is_read_only(const DLManagedTensor&) noexcept { return true; }
inline bool is_read_only(const DLManagedTensorVersioned& managed) noexcept {
  return (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
}

inline void reject_copied(const DLManagedTensor&) {}
inline void reject_copied(const DLManagedTensorVersioned& managed) {
  if ((managed.flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0) {
    throw BufferError("its producer copied it, which copy=False does not allow");
  }
}

inline void reject_padded(const DLManagedTensor&) {}
inline void reject_padded(const DLManagedTensorVersioned& managed) {
  if ((managed.flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0) {
    throw BufferError("its elements are padded to bytes, which ATen does not support");
  }
}

// Takes ownership of a tensor at once, then validates it. NULL strides are accepted from all
// producers, as in modules over dlpackgen_python, because many newer producers still export them.
template <class Struct>
Incoming<Struct> received(Struct* managed) {
  if (managed == nullptr) throw Exception(Error(ErrorCode::null));
  Incoming<Struct> incoming(BasicManaged<Struct>::from_raw_unchecked(managed));
  throw_if_error(v0_0::detail::check_managed(*managed, Accept::null_strides));
  reject_padded(*managed);
  return incoming;
}

// Torch creates the tensors, through ATen or through the stable ABI. Its wrap() takes ownership at
// once, also if it throws.
template <class Torch, class Struct>
typename Torch::Tensor import_checked(Incoming<Struct> incoming, const How& how) {
  const Struct& managed = *incoming.owned.get();
  if (!how.may_copy) reject_copied(managed);
  const typename Torch::Source source = Torch::source_of(managed.dl_tensor);
  if (!is_read_only(managed) || how.read_only == ReadOnly::allow) {
    const DLTensor& tensor = managed.dl_tensor;
    return Torch::template wrap<delete_managed<Struct>>(tensor, source, incoming.owned.release());
  }
  if (how.read_only == ReadOnly::raise) {
    throw BufferError(
        "it is read-only, or its producer cannot declare it writable, but a torch.Tensor is always "
        "writable");
  }
  return Torch::copy_on_host(managed.dl_tensor, source);
}

}  // namespace detail

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_CHECKED_HPP_
