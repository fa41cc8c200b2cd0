/**
 * \file read.hpp
 * Reads an at::Tensor into a DLTensor through its TensorImpl, without a new reference. Tensors that
 * a DLTensor cannot represent are rejected: negated or conjugated values, and tensors that have
 * elements but no or too little memory.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_READ_HPP_
#define DLPACKGEN_V0_0_PYTORCH_READ_HPP_

#include "aten_dlpack.hpp"
#include "device_type.hpp"
#include "dtype.hpp"
#include "errors.hpp"
#include "strides.hpp"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <dlpackgen/rules.h>
#include <torch/csrc/api/include/torch/version.h>

#include <cstdint>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {

/**
 * The purpose of the access to a tensor's memory. For writing, copy-on-write memory is separated
 * first; for reading, it is not.
 */
enum class Access { write, read };

namespace detail {

// A tensor is plain strided memory if it has these keys, and no keys except those that every tensor
// of its device may have. This is a list of permitted keys, so tensors with an unknown key are left
// to ATen.
constexpr c10::DispatchKeySet plain_cpu(c10::DispatchKey::CPU);
constexpr c10::DispatchKeySet plain_cuda(c10::DispatchKey::CUDA);
constexpr c10::DispatchKeySet usual_cpu({c10::DispatchKey::AutogradCPU, c10::DispatchKey::AutocastCPU,
                                         c10::DispatchKey::ADInplaceOrView});
constexpr c10::DispatchKeySet usual_cuda({c10::DispatchKey::AutogradCUDA, c10::DispatchKey::AutocastCUDA,
                                          c10::DispatchKey::ADInplaceOrView});

// torch for ROCm names its devices CUDA.
DLPACKGEN_PYTORCH_SLOW DLDeviceType gpu() {
  static const DLDeviceType type = device_type_of(c10::DeviceType::CUDA);
  return type;
}

DLPACKGEN_PYTORCH_SLOW bool read_gpu(const c10::TensorImpl& impl, c10::DispatchKeySet keys, DLDevice& out) {
  if (keys - usual_cuda != plain_cuda) return false;
  out.device_type = gpu();
  out.device_id = impl.device().index();
  return true;
}

DLPACKGEN_PYTORCH_FAST bool read_device(const c10::TensorImpl& impl, c10::DispatchKeySet keys, DLDevice& out) {
  out.device_type = kDLCPU;
  out.device_id = 0;
  return keys - usual_cpu == plain_cpu || read_gpu(impl, keys, out);
}

// The values of a tensor, read before a DLTensor is written, so the compiler does not reload them
// after a store.
struct Shape {
  c10::IntArrayRef sizes;
  c10::IntArrayRef strides;
  std::size_t elements;
  std::size_t covered;  // the number of elements from the first to the last, for a non-empty tensor
};

// The tensor's own shape and strides.
struct InPlace {
  DLPACKGEN_PYTORCH_FAST bool operator()(const c10::TensorImpl& impl, Shape& out) const {
    out = Shape{impl.sizes(), impl.strides(), static_cast<std::size_t>(impl.numel()), 0};
    out.covered = out.elements;
    if (impl.is_contiguous()) return true;
    std::int64_t covered = 1;
    for (std::size_t i = 0; i < out.sizes.size(); ++i) covered += (out.sizes[i] - 1) * out.strides[i];
    out.covered = static_cast<std::size_t>(covered);
    return true;
  }
};

// Copies of them, made before they are checked, because other threads may resize the tensor, with
// or without the GIL. Returns false for too many numbers, and for negative numbers, which only
// occur while a tensor is resized.
struct Copied {
  static constexpr std::size_t most = DLPACKGEN_MAX_NDIM;  // sizes, and as many strides
  std::int64_t* numbers;

  DLPACKGEN_PYTORCH_FAST bool operator()(const c10::TensorImpl& impl, Shape& out) const {
    const c10::IntArrayRef sizes = impl.sizes();
    const c10::IntArrayRef strides = impl.strides();
    const std::size_t count = sizes.size();
    std::uint64_t elements = 1, covered = 1, signs = 0;
    if (count > most) return false;
    for (std::size_t i = 0; i < count; ++i) {
      const auto size = static_cast<std::uint64_t>(sizes.data()[i]);
      const auto stride = static_cast<std::uint64_t>(strides.data()[i]);
      numbers[i] = static_cast<std::int64_t>(size);
      numbers[most + i] = static_cast<std::int64_t>(stride);
      elements *= size;
      covered += (size - 1) * stride;
      signs |= size | stride;
    }
    out.sizes = c10::IntArrayRef(numbers, count);
    out.strides = c10::IntArrayRef(numbers + most, count);
    out.elements = static_cast<std::size_t>(elements);
    out.covered = static_cast<std::size_t>(covered);
    return signs >> 63 == 0;
  }
};

// A storage can be shrunk without changing the shape of its tensors.
DLPACKGEN_PYTORCH_FAST bool lies_in(const c10::Storage& storage, std::size_t offset, std::size_t covered,
                                    std::size_t size) {
  return (offset + covered) * size <= storage.nbytes();
}

// The first element of a non-empty tensor; nullptr if there is no memory, or less than the tensor
// needs.
template <Access access>
DLPACKGEN_PYTORCH_FAST void* data_of(const c10::TensorImpl& impl, const Shape& shape, std::size_t size) {
  const c10::Storage& storage = impl.unsafe_storage();  // none if storage() would throw
  const void* begin = nullptr;
  if (!storage) return nullptr;
  if constexpr (access == Access::write) {
    begin = storage.mutable_data();
  } else {
    begin = storage.data();
  }
  const std::size_t offset = static_cast<std::size_t>(impl.storage_offset());
  if (begin == nullptr || !lies_in(storage, offset, shape.covered, size)) return nullptr;
  return static_cast<char*>(const_cast<void*>(begin)) + offset * size;
}

/*
 * Reads most tensors; false has no meaning for the others. shape and strides point to the tensor's
 * own numbers, unless they are copied. The caller handles the keys in ignored.
 */
template <Access access, class Numbers = InPlace>
DLPACKGEN_PYTORCH_FAST bool read_plain(const c10::TensorImpl& impl, DLTensor& out, Numbers numbers = {},
                                       c10::DispatchKeySet ignored = {}) {
  DLDevice device;
  if (!read_device(impl, impl.key_set() - ignored, device)) return false;
  const DLDataType dtype = dtype_of(c10::typeMetaToScalarType(impl.dtype()));
  if (dtype.lanes == 0) return false;
  Shape shape;
  if (!numbers(impl, shape)) return false;
  void* data = nullptr;
  if (shape.elements != 0) {
    data = data_of<access>(impl, shape, bytes_of(dtype));
    if (data == nullptr) return false;
  }
  out.data = data;
  out.device = device;
  out.ndim = static_cast<std::int32_t>(shape.sizes.size());
  out.dtype = dtype;
  out.shape = const_cast<std::int64_t*>(shape.sizes.data());
  out.strides = const_cast<std::int64_t*>(shape.strides.data());
  out.byte_offset = 0;
  return true;
}

// PyTorch's own exports do not check these bits. x.conj().imag has the negative bit, and is real.
inline void reject_bits(const c10::TensorImpl& impl) {
  if (impl.key_set().has(c10::DispatchKey::Negative)) {
    throw BufferError(negated);
  }
  if (impl.key_set().has(c10::DispatchKey::Conjugate)) {
    throw BufferError(conjugated);
  }
  if (impl.key_set().has(c10::DispatchKey::ZeroTensor)) {
    throw BufferError("it is a zero tensor without memory: pass clone()");
  }
}

inline void reject_without_memory(const DLTensor& tensor) {
  if (tensor.data != nullptr) return;
  for (std::int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return;
  }
  throw BufferError(without_memory);
}

// The extent of the exported numbers, which may be copies of the tensor's.
inline void reject_outside(const c10::TensorImpl& impl, const DLTensor& tensor) {
  const std::int64_t elements = impl.has_storage() ? covered(tensor) : 0;
  if (elements == 0) return;
  const std::size_t offset = static_cast<std::size_t>(impl.storage_offset());
  if (lies_in(impl.storage(), offset, static_cast<std::size_t>(elements), impl.itemsize())) return;
  throw BufferError(beyond_storage);
}

inline void borrow_by_aten([[maybe_unused]] const at::Tensor& tensor, [[maybe_unused]] Access access,
                           [[maybe_unused]] DLTensor& out) {
#if TORCH_VERSION_MINOR >= 14
  at::toDLPackNonOwning(tensor, &out, access == Access::read);
#elif TORCH_VERSION_MINOR >= 10
  at::toDLPackNonOwning(tensor, &out);
#else
  throw BufferError(
      "torch before 2.10 exports only plain tensors: on the CPU or CUDA, of a common type, within their storage");
#endif
}

// PyTorch itself reads tensors that are not plain, or throws.
DLPACKGEN_PYTORCH_SLOW void read_other(const at::Tensor& tensor, Access access, DLTensor& out) {
  if (!tensor.defined()) throw BufferError(undefined);
  reject_bits(*tensor.unsafeGetTensorImpl());
  borrow_by_aten(tensor, access, out);
  reject_without_memory(out);
  reject_outside(*tensor.unsafeGetTensorImpl(), out);
}

}  // namespace detail

/**
 * Sets out to a view of the tensor, which is valid as long as the tensor exists and is not resized.
 * Shape and strides (in elements) belong to the tensor, so other threads can change them at any
 * time. May be called without the GIL.
 *
 * \throws BufferError, or c10::Error for what ATen rejects (sparse, nested and wrapped tensors).
 */
template <Access access = Access::write>
DLPACKGEN_PYTORCH_FAST void borrow(const at::Tensor& tensor, DLTensor& out) {
  if (!detail::read_plain<access>(*tensor.unsafeGetTensorImpl(), out)) detail::read_other(tensor, access, out);
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_READ_HPP_
