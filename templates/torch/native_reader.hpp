/**
 * \file native_reader.hpp
 * With this reader, modules over dlpackgen_python read a torch.Tensor without the stable shim.
 * install() sets it on the type, where the modules look it up.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_NATIVE_READER_HPP_
#define DLPACKGEN_V0_0_PYTORCH_NATIVE_READER_HPP_

#include "table.hpp"

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// Returns 0 if the tensor was read, with shape and strides in numbers, which has room for 64 of
// each; 1 if another access method must read it and report errors. Sets no exception.
[[gnu::flatten]] inline int read_quickly(void* object, int writable, DLTensor* out, std::int64_t* numbers) noexcept {
  PyObject* const found = static_cast<PyObject*>(object);
  if (!THPVariable_CheckExact(found)) return 1;
  c10::TensorImpl& impl = *THPVariable_Unpack(found).unsafeGetTensorImpl();
  try {
    if (impl.autograd_meta() != nullptr && impl.requires_grad()) return 1;
    return !(writable != 0 ? read_plain<Access::write>(impl, *out, Copied{numbers})
                           : read_plain<Access::read>(impl, *out, Copied{numbers}));
  } catch (...) {
    return 1;
  }
}

}  // namespace detail
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_NATIVE_READER_HPP_
