/**
 * \file self_test.hpp
 * Reads tensors in two ways: through the compiled headers of torch, and through functions of the
 * loaded torch.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_SELF_TEST_HPP_
#define DLPACKGEN_V0_0_PYTORCH_SELF_TEST_HPP_

#include "import.hpp"
#include "read.hpp"

#include <ATen/ops/_efficientzerotensor.h>
#include <ATen/ops/_neg_view.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

inline at::Tensor empty_on(std::vector<std::int64_t> sizes, at::ScalarType scalar, at::DeviceType device = at::kCPU) {
  return at::empty(sizes, at::TensorOptions(device).dtype(scalar));
}

// The tensors differ in every property that is read.
inline std::vector<at::Tensor> plain_tensors() {
  at::Tensor resized = empty_on({9, 2}, at::kShort);
  resized.storage().unsafeGetStorageImpl()->set_nbytes(resized.storage().nbytes() - 4);
  return {
      empty_on({5, 7, 1, 2, 3}, at::kDouble),
      empty_on({300}, at::kComplexFloat).slice(0, 200, 277),
      empty_on({11}, at::kFloat).requires_grad_(),
      empty_on({}, at::kBool),
      empty_on({0, 3}, at::kLong),
      empty_on({4, 6}, at::kByte).t(),
      empty_on({1, 5}, at::kBFloat16).expand({4, 5}),
      empty_on({1, 2, 1, 2, 1, 2, 3}, at::kInt),
      resized.slice(0, 1, 4),
  };
}

// Tensors that must be distinguished from plain ones.
inline std::vector<at::Tensor> other_tensors() {
  return {
      at::_neg_view(empty_on({3}, at::kFloat)),
      empty_on({3}, at::kComplexFloat).conj(),
      at::_efficientzerotensor({3}, at::TensorOptions(at::kCPU).dtype(at::kFloat)),
      empty_on({3}, at::kFloat, at::kMeta),
  };
}

// Compares addresses before their contents.
inline bool has_same_numbers(const c10::TensorImpl& impl, AtenTensorHandle handle) {
  std::int64_t dim = 0, offset = 0;
  std::int64_t* sizes = nullptr;
  std::int64_t* strides = nullptr;
  return aoti_torch_get_dim(handle, &dim) == 0 && dim == impl.dim() && aoti_torch_get_sizes(handle, &sizes) == 0 &&
         sizes == impl.sizes().data() && aoti_torch_get_strides(handle, &strides) == 0 &&
         strides == impl.strides().data() && aoti_torch_get_storage_offset(handle, &offset) == 0 &&
         offset == impl.storage_offset();
}

inline bool has_same_memory(const c10::TensorImpl& impl, AtenTensorHandle handle) {
  std::int64_t bytes = 0;
  return &impl.storage() == &impl.unsafe_storage() && aoti_torch_get_storage_size(handle, &bytes) == 0 &&
         bytes == static_cast<std::int64_t>(impl.unsafe_storage().nbytes());
}

inline bool is_read_alike(at::Tensor& tensor) {
  const auto handle = reinterpret_cast<AtenTensorHandle>(&tensor);
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  void* data = nullptr;
  std::int32_t scalar = -1;
  DLTensor view;
  if (!has_same_numbers(impl, handle) || !has_same_memory(impl, handle) || !read_plain<Access::read>(impl, view)) {
    return false;
  }
  return aoti_torch_get_data_ptr(handle, &data) == 0 && (view.data == data || impl.numel() == 0) &&
         aoti_torch_get_dtype(handle, &scalar) == 0 && scalar_of(view.dtype) == static_cast<at::ScalarType>(scalar) &&
         view.device.device_type == kDLCPU;
}

// The Python object of a tensor contains it at the offset in these headers.
inline bool is_wrapped_alike(const at::Tensor& tensor) {
  PyObject* const object = THPVariable_Wrap(tensor);
  if (object == nullptr) throw python_error();
  const bool alike = THPVariable_Unpack(object).unsafeGetTensorImpl() == tensor.unsafeGetTensorImpl();
  Py_DECREF(object);
  return alike;
}

}  // namespace detail

/**
 * Returns whether the compiled headers and the loaded torch read tensors identically. Needs the
 * GIL.
 *
 * \throws the exceptions of torch.
 */
inline bool reads_alike() {
  const detail::BelowModes below;
  for (at::Tensor& tensor : detail::plain_tensors()) {
    if (!detail::is_read_alike(tensor) || !detail::is_wrapped_alike(tensor)) return false;
  }
  for (const at::Tensor& tensor : detail::other_tensors()) {
    DLTensor view;
    if (detail::read_plain<Access::read>(*tensor.unsafeGetTensorImpl(), view)) return false;
  }
  return true;
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_SELF_TEST_HPP_
