/**
 * \file table.hpp
 * The exchange table of torch.Tensor, to set on the type for consumers, or to register in a module.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_TABLE_HPP_
#define DLPACKGEN_V0_0_PYTORCH_TABLE_HPP_

#include "import.hpp"
#include "object_owned.hpp"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/python_variable.h>

#include <cstdint>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

template <Access access>
int table_borrow(void* object, DLTensor* out) noexcept {
  try {
    borrow<access>(tensor_in(object), *out);
    return 0;
  } catch (...) {
    return report_to_python();
  }
}

using Own = DLManagedTensorVersioned* (*)(PyObject* object);

template <Access access>
DLManagedTensorVersioned* own_memory(PyObject* object) {
  return own<access>(tensor_in(object));
}

template <Own own_it>
int table_own(void* object, DLManagedTensorVersioned** out) noexcept {
  try {
    *out = nullptr;
    *out = own_it(static_cast<PyObject*>(object));
    return 0;
  } catch (...) {
    return report_to_python();
  }
}

inline void keep_managed(void*) {}

// If this fails, the caller still owns the tensor, as in PyTorch. Therefore, the storage gets a
// deleter only when nothing can fail any more.
inline PyObject* move_to_python(DLManagedTensorVersioned& managed, const Source& source) {
  at::Tensor made = wrap(managed.dl_tensor, source, &managed, keep_managed);
  c10::StorageImpl* const storage = made.storage().unsafeGetStorageImpl();
  PyObject* const object = THPVariable_Wrap(std::move(made));
  if (object == nullptr) throw python_error();
  constexpr auto deleter = delete_managed<DLManagedTensorVersioned>;
  static_cast<void>(storage->mutable_data_ptr().compare_exchange_deleter(
      keep_managed, source.device.is_cpu() ? deleter : delete_after_work<deleter>));
  return object;
}

// Read-only memory is copied, because a torch.Tensor is always writable.
inline PyObject* copy_to_python(DLManagedTensorVersioned* managed, const Source& source) {
  PyObject* const object = THPVariable_Wrap(copy_on_host(managed->dl_tensor, source));
  if (object == nullptr) throw python_error();
  delete_managed<DLManagedTensorVersioned>(managed);
  return object;
}

inline int table_to_object(DLManagedTensorVersioned* tensor, void** out) noexcept {
  try {
    *out = nullptr;
    if (tensor == nullptr) throw Exception(Error(ErrorCode::null));
    throw_if_error(dlpackgen::v0_0::detail::check_managed(*tensor, Accept::nothing));
    reject_padded(*tensor);
    const Source source = source_of(tensor->dl_tensor);
    *out = is_read_only(*tensor) ? copy_to_python(tensor, source) : move_to_python(*tensor, source);
    return 0;
  } catch (...) {
    return report_to_python();
  }
}

inline at::Tensor allocate(const DLTensor& prototype) {
  throw_if_error(dlpackgen::v0_0::detail::check_shape(prototype, Accept::null_strides));
  const std::optional<at::ScalarType> scalar = scalar_of(prototype.dtype);
  if (!scalar) throw BufferError("a dtype without an ATen equivalent");
  const c10::IntArrayRef sizes(prototype.shape, static_cast<std::size_t>(prototype.ndim));
  const BelowModes below;
  return at::empty(sizes, at::TensorOptions(device_of(prototype.device)).dtype(*scalar));
}

// Also called without the GIL; the error callback may be NULL.
inline int table_allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                          void (*set_error)(void*, const char*, const char*)) noexcept {
  try {
    *out = nullptr;
    *out = own(allocate(*prototype));
    return 0;
  } catch (...) {
    if (set_error != nullptr) report(context, set_error);
    return -1;
  }
}

inline int table_stream(DLDeviceType type, std::int32_t id, void** out) noexcept {
  try {
    *out = nullptr;
    *out = current_stream(DLDevice{type, id});
    return 0;
  } catch (...) {
    return report_to_python();
  }
}

template <Access access, Own own_it>
inline constexpr DLPackExchangeAPI exchange_table{DLPackExchangeAPIHeader{abi_version, nullptr},
                                                  table_allocate,
                                                  table_own<own_it>,
                                                  table_to_object,
                                                  table_borrow<access>,
                                                  table_stream};

}  // namespace detail

/**
 * The table, which exists until the process ends. With Access::read, exports are read-only: managed
 * tensors have the flag, and copy-on-write memory stays shared. A borrowed tensor has no flags:
 * only code that does not write may borrow through that table.
 *
 * Functions with an object need the GIL and a torch.Tensor; after -1, a Python exception is set.
 * The allocator does not need the GIL.
 */
template <Access access = Access::write>
const DLPackExchangeAPI* exchange_api() noexcept {
  return &detail::exchange_table<access, detail::own_memory<access>>;
}

/**
 * The same, but its managed tensors retain the object, like own_object(): faster, and valid as long
 * as the object keeps its memory. Their deleters acquire the GIL. install() does not use this
 * table.
 */
inline const DLPackExchangeAPI* exchange_api_object_owned() noexcept {
  return &detail::exchange_table<Access::write, own_object>;
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_TABLE_HPP_
