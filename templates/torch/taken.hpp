/**
 * \file taken.hpp
 * What is checked of a managed tensor of anybody's before it becomes a tensor of
 * torch, and who deletes it, whichever ABI of torch is used.
 */
#ifndef DLPACKGEN_V0_0_ATEN_TAKEN_HPP_
#define DLPACKGEN_V0_0_ATEN_TAKEN_HPP_

#include "dtype.hpp"
#include "gil.hpp"
#include "refused.hpp"

#include <pybind11/pybind11.h>
#include <dlpackgen/exceptions.hpp>
#include <dlpackgen/managed.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace aten DLPACKGEN_ATEN_HIDDEN {

/**
 * What becomes of memory that must not be written to, which an at::Tensor cannot
 * say. The unversioned struct has no flags, and counts as such memory.
 */
enum class ReadOnly {
  refuse,
  copy,  ///< Copies it, on the host alone: elsewhere it may be gone before the copy is done.
  trust  ///< Takes it as it is. Nobody may write to the tensor then.
};

namespace detail {

struct Elements {
  void* data;
  c10::ScalarType scalar;
};

inline void refuse_strides(const DLTensor& tensor) {
  for (std::int32_t i = 0; tensor.strides != nullptr && i < tensor.ndim; ++i) {
    if (tensor.strides[i] < 0 && tensor.shape[i] > 1) {
      throw Refused("it has a negative stride, which ATen has not: pass a copy");
    }
  }
}

inline void refuse_misaligned(const DLTensor& tensor, const void* data) {
  const std::size_t size = bytes_of(tensor.dtype);
  const std::size_t alignment = tensor.dtype.code == kDLComplex ? size / 2 : size;
  if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) {
    throw Refused("its elements do not lie where their type may stand: pass a copy");
  }
}

// The validator has passed it, so the sum does not overflow.
inline Elements elements_of(const DLTensor& tensor, bool on_host) {
  const std::optional<c10::ScalarType> scalar = scalar_of(tensor.dtype);
  if (!scalar) throw Refused("its elements are of a type that ATen has not");
  char* const begin = static_cast<char*>(tensor.data);
  char* const data = begin == nullptr ? nullptr : begin + tensor.byte_offset;
  refuse_strides(tensor);
  if (on_host) refuse_misaligned(tensor, data);
  return Elements{data, *scalar};
}

// Strides as ATen wants them, and how many elements lie from the first to the last.
struct Extents {
  std::array<std::int64_t, max_ndim> strides;
  std::size_t span = 1;
};

// Strides of dimensions with fewer than two elements mean nothing, and may be
// negative or too large for ATen. The validator has seen that the others do not
// overflow.
inline Extents extents_of(const DLTensor& tensor) {
  Extents found;
  std::int64_t dense = 1;
  bool empty = false;
  for (std::int32_t i = tensor.ndim; i-- > 0;) {
    const std::int64_t extent = tensor.shape[i];
    const std::int64_t stride = tensor.strides == nullptr || extent < 2 ? dense : tensor.strides[i];
    found.strides[static_cast<std::size_t>(i)] = stride;
    empty |= extent == 0;
    if (extent < 2 || empty) continue;
    dense = stride * extent;
    found.span += static_cast<std::size_t>((extent - 1) * stride);
  }
  if (empty) found.span = 0;
  return found;
}

// The deleters of others may run Python, which must not meet an error that is on its
// way, nor leave one where nobody looks.
template <class Struct>
void delete_managed(void* context) {
  std::optional<pybind11::error_scope> error;
  if (holds_the_gil()) error.emplace();
  BasicManaged<Struct>::trusted(static_cast<Struct*>(context)).reset();
}

// Deletes as above what is not released.
template <class Struct>
struct Taken {
  BasicManaged<Struct> owned;

  explicit Taken(BasicManaged<Struct>&& taken) noexcept : owned(static_cast<BasicManaged<Struct>&&>(taken)) {}
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    if (owned) delete_managed<Struct>(owned.release());
  }
};

inline bool is_read_only(const DLManagedTensor&) noexcept { return true; }
inline bool is_read_only(const DLManagedTensorVersioned& managed) noexcept {
  return (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
}

inline void refuse_padded(const DLManagedTensor&) {}
inline void refuse_padded(const DLManagedTensorVersioned& managed) {
  if ((managed.flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0) {
    throw Refused("its elements are padded to bytes, which ATen has no types for");
  }
}

// Torch is what makes the tensors: ATen itself, or its stable ABI. Its wrap() owns what
// it gets from the beginning, also when it throws.
template <class Torch, class Struct>
typename Torch::Tensor take(BasicManaged<Struct> owned, ReadOnly read_only) {
  Taken<Struct> taken(static_cast<BasicManaged<Struct>&&>(owned));
  Struct& managed = *taken.owned.get();
  refuse_padded(managed);
  const typename Torch::Source source = Torch::source_of(managed.dl_tensor);
  if (!is_read_only(managed) || read_only == ReadOnly::trust) {
    return Torch::template wrap<delete_managed<Struct>>(managed.dl_tensor, source, taken.owned.release());
  }
  if (read_only == ReadOnly::refuse) {
    throw Refused("it is read-only, or cannot say that it is not, and a torch.Tensor can always be written to");
  }
  return Torch::copy_on_host(managed.dl_tensor, source);
}

// Either struct, of whoever gives it up.
template <class Torch>
typename Torch::Tensor take(DLManagedTensorVersioned* managed, ReadOnly read_only) {
  return take<Torch>(unwrap(Managed::take(managed)), read_only);
}

template <class Torch>
typename Torch::Tensor take(DLManagedTensor* managed, ReadOnly read_only) {
  return take<Torch>(unwrap(ManagedLegacy::take(managed)), read_only);
}

}  // namespace detail

}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_TAKEN_HPP_
