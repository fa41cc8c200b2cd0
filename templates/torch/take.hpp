/**
 * \file take.hpp
 * An at::Tensor out of a managed tensor of anybody's, without copying. Whatever
 * happens, its deleter is called exactly once: by the tensor's storage, or at once
 * when the tensor is refused.
 */
#ifndef DLPACKGEN_V0_0_ATEN_TAKE_HPP_
#define DLPACKGEN_V0_0_ATEN_TAKE_HPP_

#include "owned.hpp"
#include "stream.hpp"

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <pybind11/pybind11.h>

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

struct Source {
  void* data;
  at::ScalarType scalar;
  at::Device device;
};

inline void refuse_layout(const DLTensor& tensor, const Source& source) {
  for (std::int32_t i = 0; tensor.strides != nullptr && i < tensor.ndim; ++i) {
    if (tensor.strides[i] < 0 && tensor.shape[i] > 1) {
      throw Refused("it has a negative stride, which ATen has not: pass a copy");
    }
  }
  const std::size_t size = c10::elementSize(source.scalar);
  const std::size_t alignment = c10::isComplexType(source.scalar) ? size / 2 : size;
  if (source.device.is_cpu() && reinterpret_cast<std::uintptr_t>(source.data) % alignment != 0) {
    throw Refused("its elements do not lie where their type may stand: pass a copy");
  }
}

// The validator has passed it, so the sum does not overflow.
inline Source source_of(const DLTensor& tensor) {
  const std::optional<at::ScalarType> scalar = scalar_of(tensor.dtype);
  if (!scalar) throw Refused("its elements are of a type that ATen has not");
  char* const data = static_cast<char*>(tensor.data);
  const Source source{data == nullptr ? nullptr : data + tensor.byte_offset, *scalar, device_of(tensor.device)};
  refuse_layout(tensor, source);
  return source;
}

// Strides as ATen wants them, and how many elements lie from the first to the last.
struct Extents {
  c10::SmallVector<std::int64_t, 8> strides;
  std::size_t span = 1;
};

// Strides of dimensions with fewer than two elements mean nothing, and may be
// negative or too large for ATen. The validator has seen that the others do not
// overflow.
inline Extents extents_of(const DLTensor& tensor) {
  Extents found;
  found.strides.resize(static_cast<std::size_t>(tensor.ndim));
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

// Owns context from the beginning, also when it throws. Made by hand, which is what
// at::from_blob() does after it has asked what we know.
inline at::Tensor wrap(const DLTensor& tensor, const Source& source, void* context, c10::DeleterFnPtr deleter) {
  c10::DataPtr data(source.data, context, deleter, source.device);
  const Extents extents = extents_of(tensor);
  const std::size_t size = extents.span * c10::elementSize(source.scalar);
  c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), size, std::move(data),
                                                             /*allocator=*/nullptr, /*resizable=*/false));
  const c10::DispatchKeySet keys = source.device.is_cpu() ? plain_cpu : plain_cuda;
  at::Tensor made =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, c10::scalarTypeToTypeMeta(source.scalar));
  made.unsafeGetTensorImpl()->set_sizes_and_strides(
      c10::IntArrayRef(tensor.shape, static_cast<std::size_t>(tensor.ndim)), c10::IntArrayRef(extents.strides));
  return made;
}

// A copy that no mode of the caller sees: those of Python, functorch and fake tensors
// would make something else of it, or raise.
inline at::Tensor copy_on_host(const DLTensor& tensor, const Source& source) {
  if (!source.device.is_cpu()) throw Refused("it is read-only, and is copied on the CPU alone");
  constexpr c10::DispatchKeySet below({c10::DispatchKey::CPU, c10::DispatchKey::BackendSelect});
  const c10::impl::ForceDispatchKeyGuard guard(c10::DispatchKeySet(c10::DispatchKey::BackendSelect),
                                               c10::DispatchKeySet(c10::DispatchKeySet::FULL) - below);
  return wrap(tensor, source, nullptr, [](void*) {}).clone();
}

inline bool holds_the_gil() noexcept {
  return Py_IsInitialized() != 0 && PyGILState_GetThisThreadState() != nullptr && PyGILState_Check() != 0;
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

template <class Struct>
at::Tensor take(BasicManaged<Struct> owned, ReadOnly read_only) {
  Taken<Struct> taken(static_cast<BasicManaged<Struct>&&>(owned));
  Struct& managed = *taken.owned.get();
  refuse_padded(managed);
  const Source source = source_of(managed.dl_tensor);
  if (!is_read_only(managed) || read_only == ReadOnly::trust) {
    return wrap(managed.dl_tensor, source, taken.owned.release(), delete_managed<Struct>);
  }
  if (read_only == ReadOnly::refuse) {
    throw Refused("it is read-only, or cannot say that it is not, and a torch.Tensor can always be written to");
  }
  return copy_on_host(managed.dl_tensor, source);
}

}  // namespace detail

/**
 * Takes a tensor over. What comes is checked: version, flags, type of elements,
 * shape (elements), strides (elements; negative ones are refused), alignment and
 * device. No stream is waited for. May be called without the GIL, if the deleter may.
 *
 * \throws Refused, Exception, or c10::Error; the deleter has been called then.
 */
inline at::Tensor take(DLManagedTensorVersioned* managed, ReadOnly read_only = ReadOnly::refuse) {
  return detail::take(unwrap(Managed::take(managed)), read_only);
}

/** The same for the struct without a version. */
inline at::Tensor take(DLManagedTensor* managed, ReadOnly read_only = ReadOnly::refuse) {
  return detail::take(unwrap(ManagedLegacy::take(managed)), read_only);
}

}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_TAKE_HPP_
