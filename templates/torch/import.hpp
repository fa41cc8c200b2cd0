/**
 * \file import.hpp
 * Converts a managed tensor of any producer to an at::Tensor, without copying. In every case, its
 * deleter is called exactly once: by the tensor's storage, or at once if the tensor is rejected.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_IMPORT_HPP_
#define DLPACKGEN_V0_0_PYTORCH_IMPORT_HPP_

#include "checked.hpp"
#include "device.hpp"
#include "owned.hpp"
#include "stream.hpp"

#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {

namespace detail {

struct Source {
  void* data;
  at::ScalarType scalar;
  at::Device device;
};

inline Source source_of(const DLTensor& tensor) {
  const at::Device device = device_of(tensor.device);
  const Elements elements = elements_of(tensor, device.is_cpu());
  check_owner(tensor, elements);
  return Source{elements.data, elements.scalar, device};
}

// Takes ownership of context at once, also if it throws. Does the same as at::from_blob(), without
// its queries.
inline at::Tensor wrap(const DLTensor& tensor, const Source& source, void* context, c10::DeleterFnPtr deleter) {
  c10::DataPtr data(source.data, context, deleter, source.device);
  const Extents extents = extents_of(tensor);
  const std::size_t size = extents.covered * c10::elementSize(source.scalar);
  c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), size, std::move(data),
                                                             /*allocator=*/nullptr, /*resizable=*/false));
  const c10::DispatchKeySet keys = source.device.is_cpu() ? plain_cpu : plain_cuda;
  at::Tensor made =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, c10::scalarTypeToTypeMeta(source.scalar));
  made.unsafeGetTensorImpl()->set_sizes_and_strides(
      c10::IntArrayRef(tensor.shape, static_cast<std::size_t>(tensor.ndim)),
      c10::IntArrayRef(extents.strides.data(), static_cast<std::size_t>(tensor.ndim)));
  return made;
}

// The caller's modes do not apply to tensors that are created meanwhile: modes of Python, functorch
// and fake tensors would wrap them, or raise.
class BelowModes {
  static constexpr c10::DispatchKeySet below{c10::DispatchKey::CPU, c10::DispatchKey::CUDA,
                                             c10::DispatchKey::BackendSelect};
  const c10::impl::ForceDispatchKeyGuard guard_{c10::DispatchKeySet(c10::DispatchKey::BackendSelect),
                                                c10::DispatchKeySet(c10::DispatchKeySet::FULL) - below};
};

inline at::Tensor copy_on_host(const DLTensor& tensor, const Source& source) {
  if (!source.device.is_cpu()) throw BufferError(not_copied);
  const BelowModes below;
  return wrap(tensor, source, nullptr, [](void*) {}).clone();
}

// Deleters are distinguished by type, because compilers that check for undefined behaviour cannot
// compare addresses of functions at compile time.
template <void (*deleter)(void*)>
inline constexpr bool deletes_versioned = false;
template <>
inline constexpr bool deletes_versioned<delete_managed<DLManagedTensorVersioned>> = true;

struct Aten {
  using Tensor = at::Tensor;
  using Source = detail::Source;

  static Source source_of(const DLTensor& tensor) { return detail::source_of(tensor); }
  static Tensor copy_on_host(const DLTensor& tensor, const Source& source) {
    return detail::copy_on_host(tensor, source);
  }
  static void* current_stream(DLDevice device) { return pytorch::current_stream(device); }
  static bool records_gradients() { return at::GradMode::is_enabled(); }

  template <void (*deleter)(void*)>
  static Tensor wrap(const DLTensor& tensor, const Source& source, void* context) {
    if constexpr (deletes_versioned<deleter>) {
      if (!source.device.is_cpu()) return detail::wrap(tensor, source, context, delete_after_work<deleter>);
    }
    return detail::wrap(tensor, source, context, deleter);
  }
};

}  // namespace detail

/**
 * Takes ownership of a tensor. Checks version, flags, dtype, shape, strides (in elements; negative
 * ones are rejected), alignment and device. No stream is synchronized. May be called without the
 * GIL, if the deleter may.
 *
 * \throws BufferError, Exception, or c10::Error; the deleter has been called then.
 */
inline at::Tensor from_raw(DLManagedTensorVersioned* managed, ReadOnly read_only = ReadOnly::raise) {
  return detail::import_checked<detail::Aten>(detail::received(managed), read_only);
}

/** The same for the struct without a version. */
inline at::Tensor from_raw(DLManagedTensor* managed, ReadOnly read_only = ReadOnly::raise) {
  return detail::import_checked<detail::Aten>(detail::received(managed), read_only);
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_IMPORT_HPP_
