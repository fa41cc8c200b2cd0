/**
 * \file stable_import.hpp
 * The same as import.hpp, with the stable ABI of LibTorch: converts a managed tensor of any
 * producer to a torch::stable::Tensor, without copying. Its deleter is always called exactly once.
 * That ABI supports deleters since torch 2.11, and reports stream handles and the reasons of
 * failures since 2.13.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_STABLE_IMPORT_HPP_
#define DLPACKGEN_V0_0_PYTORCH_STABLE_IMPORT_HPP_

#ifndef TORCH_TARGET_VERSION
#error "define TORCH_TARGET_VERSION, such as 0x020D000000000000 for torch 2.13 and newer"
#endif

#include "checked.hpp"

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/stableivalue_conversions.h>
#include <torch/csrc/stable/tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#if TORCH_FEATURE_VERSION < TORCH_VERSION_2_13_0
#error "the consumer needs TORCH_TARGET_VERSION 2.13 or newer, whose ABI has all that it calls"
#endif

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace stable {

using torch::stable::Tensor;

namespace detail {

using pytorch::detail::Elements;
using pytorch::detail::Extents;
using pytorch::detail::is_on_host;

inline std::string last_error() {
  const char* const reason = torch_exception_get_what_without_backtrace();
  return reason != nullptr ? reason : "torch failed without an error message";
}

// torch's macro prints the exceptions that it throws.
inline void check_shim(AOTITorchError failed) {
  if (failed != TORCH_SUCCESS) throw BufferError(last_error());
}

struct Source {
  void* data;
  std::size_t size;  // of an element, in bytes
  std::int32_t dtype;
  std::int32_t device_type;
  std::int32_t device_index;

  bool is_cpu() const { return device_type == aoti_torch_device_type_cpu(); }
};

// The host has no stream. On other devices, this determines whether torch supports the device.
inline void* current_stream(DLDevice device) {
  if (is_on_host(device)) return nullptr;
  if (device.device_type != kDLCUDA) throw BufferError(pytorch::detail::unsupported_device);
  StreamHandle stream = nullptr;
  void* handle = nullptr;
  AOTITorchError failed = aoti_torch_get_current_stream(device.device_id, &stream);
  if (failed == TORCH_SUCCESS) {
    failed = torch_stream_native_handle(stream, &handle);
    static_cast<void>(aoti_torch_delete_stream(stream));
  }
  if (failed != TORCH_SUCCESS) throw BufferError("this torch does not support its device: " + last_error());
  return handle;
}

inline std::int32_t dtype_number(c10::ScalarType scalar) {
  return torch::stable::detail::to<std::int32_t>(torch::stable::detail::from(scalar));
}

inline Source source_of(const DLTensor& tensor) {
  static_cast<void>(current_stream(tensor.device));
  const bool on_host = is_on_host(tensor.device);
  const Elements elements = pytorch::detail::elements_of(tensor, on_host);
  return Source{elements.data, pytorch::detail::bytes_of(tensor.dtype), dtype_number(elements.scalar),
                on_host ? aoti_torch_device_type_cpu() : aoti_torch_device_type_cuda(),
                on_host ? -1 : tensor.device.device_id};
}

// The tensor that is being created on this thread. The ABI does not specify whether it calls the
// deleter if the creation fails, so the deleter does nothing until then.
inline thread_local const void* being_made = nullptr;

template <void (*deleter)(void*)>
void delete_made(void*, void* context) {
  if (context != being_made) deleter(context);
}

// Torch calls no deleter for data that is NULL, which tensors without elements may have.
inline void* data_of(const Source& source) {
  static char nothing;
  return source.data != nullptr ? source.data : &nothing;
}

inline AOTITorchError make(const DLTensor& tensor, const Source& source, void (*deleter)(void*, void*), void* context,
                           AtenTensorHandle* made) {
  const Extents extents = pytorch::detail::extents_of(tensor);
  return torch_from_blob(data_of(source), tensor.ndim, tensor.shape, extents.strides.data(), /*storage_offset=*/0,
                         source.dtype, source.device_type, source.device_index, made, aoti_torch_layout_strided(),
                         /*opaque_metadata=*/nullptr, /*opaque_metadata_size=*/0, deleter, context);
}

// Owns context from the beginning, also when it throws.
template <void (*deleter)(void*)>
Tensor wrap(const DLTensor& tensor, const Source& source, void* context) {
  AtenTensorHandle made = nullptr;
  being_made = context;
  const AOTITorchError failed = make(tensor, source, delete_made<deleter>, context, &made);
  being_made = nullptr;
  if (failed == TORCH_SUCCESS) return Tensor(made);
  const BufferError error(last_error());
  deleter(context);
  throw error;
}

// The elements in row-major order, contiguously.
inline char* copy_elements(const DLTensor& tensor, const Extents& extents, std::size_t size, const char* from, char* to,
                           std::int32_t dimension) {
  if (dimension == tensor.ndim) {
    std::memcpy(to, from, size);
    return to + size;
  }
  const std::int64_t step = extents.strides[static_cast<std::size_t>(dimension)] * static_cast<std::int64_t>(size);
  for (std::int64_t i = 0; i < tensor.shape[dimension]; ++i) {
    to = copy_elements(tensor, extents, size, from + i * step, to, dimension + 1);
  }
  return to;
}

// Without an operator, to which the caller's modes would apply.
inline Tensor copy_on_host(const DLTensor& tensor, const Source& source) {
  if (!source.is_cpu()) throw BufferError(pytorch::detail::not_copied);
  DLTensor dense = tensor;
  dense.strides = nullptr;
  const Extents extents = pytorch::detail::extents_of(dense);
  AtenTensorHandle made = nullptr;
  void* buffer = nullptr;
  check_shim(aoti_torch_empty_strided(tensor.ndim, tensor.shape, extents.strides.data(), source.dtype,
                                      source.device_type, source.device_index, &made));
  Tensor copy(made);
  check_shim(aoti_torch_get_data_ptr(made, &buffer));
  copy_elements(tensor, pytorch::detail::extents_of(tensor), source.size, static_cast<const char*>(source.data),
                static_cast<char*>(buffer), 0);
  return copy;
}

struct Shim {
  using Tensor = stable::Tensor;
  using Source = detail::Source;

  static Source source_of(const DLTensor& tensor) { return detail::source_of(tensor); }
  static Tensor copy_on_host(const DLTensor& tensor, const Source& source) {
    return detail::copy_on_host(tensor, source);
  }
  static void* current_stream(DLDevice device) { return detail::current_stream(device); }
  static bool records_gradients() { return aoti_torch_grad_mode_is_enabled(); }

  template <void (*deleter)(void*)>
  static Tensor wrap(const DLTensor& tensor, const Source& source, void* context) {
    return detail::wrap<deleter>(tensor, source, context);
  }
};

}  // namespace detail

/**
 * Takes ownership of a tensor like pytorch::from_raw(), with the same checks. Supports only the
 * CPU and CUDA, because this ABI does not distinguish CUDA and ROCm. No stream is synchronized. May
 * be called without the GIL, if the deleter may.
 *
 * \throws BufferError or Exception; the deleter has been called then.
 */
inline Tensor from_raw(DLManagedTensorVersioned* managed, ReadOnly read_only = ReadOnly::raise) {
  return pytorch::detail::import_checked<detail::Shim>(pytorch::detail::received(managed), read_only);
}

/** The same for the struct without a version. */
inline Tensor from_raw(DLManagedTensor* managed, ReadOnly read_only = ReadOnly::raise) {
  return pytorch::detail::import_checked<detail::Shim>(pytorch::detail::received(managed), read_only);
}

}  // namespace stable
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_STABLE_IMPORT_HPP_
