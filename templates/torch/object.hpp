/**
 * \file object.hpp
 * Converts any Python object that implements DLPack to an at::Tensor, through the exchange table of
 * its type or the capsule of __dlpack__. All functions need the GIL.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_OBJECT_HPP_
#define DLPACKGEN_V0_0_PYTORCH_OBJECT_HPP_

#include "foreign.hpp"
#include "table.hpp"

#include <ATen/core/grad_mode.h>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// Bits that an alias keeps: DLPack cannot express them, but a torch.Tensor can.
inline constexpr c10::DispatchKeySet kept_bits({c10::DispatchKey::Negative, c10::DispatchKey::Conjugate});

inline void reject_recorded(const at::Tensor& tensor) {
  if (at::GradMode::is_enabled() && tensor.requires_grad()) throw BufferError(recording);
}

// Throws for a tensor that the table does not export.
inline void reject_unreadable(const at::Tensor& tensor, c10::DispatchKeySet keeps) {
  DLTensor view;
  if (read_plain<Access::read>(*tensor.unsafeGetTensorImpl(), view, InPlace(), keeps)) return;
  if (tensor.key_set().has_any(keeps))
    throw BufferError("its storage was resized, or it is a wrapper of another tensor");
  read_other(tensor, Access::read, view);
  if (dtype_of(tensor.scalar_type()).lanes == 0) throw BufferError(unnamed);
}

// Created without the dispatcher, so the caller's modes do not apply. Both share one version
// counter.
inline at::Tensor alias_of(const at::Tensor& tensor) {
  reject_recorded(tensor);
  reject_unreadable(tensor, kept_bits);
  const BelowModes below;
  return at::Tensor(tensor.tensor_data());
}

inline void reject_derived(PyTypeObject* type, const at::Tensor& tensor) {
  reject_dispatch(type, THPVariableClass);
  reject_recorded(tensor);
  reject_unreadable(tensor, c10::DispatchKeySet());
}

// Its __dlpack__ may run any code, including code that frees the memory that torch then exports.
inline at::Tensor from_derived(PyObject* object, const How& how) {
  const Typed typed(object);
  reject_derived(Py_TYPE(object), THPVariable_Unpack(object));
  at::Tensor made = from_export<Aten>(typed, how);
  typed.require_same_type();
  reject_unreadable(THPVariable_Unpack(object), c10::DispatchKeySet());
  return made;
}

}  // namespace detail

/**
 * Consumes a capsule of either name, and returns its tensor.
 *
 * \throws as from_raw(), or python_error for any other object.
 */
inline at::Tensor from_capsule(PyObject* capsule, ReadOnly read_only = ReadOnly::raise) {
  return detail::from_capsule<detail::Aten>(capsule, read_only);
}

/**
 * Returns a tensor that shares the memory of an object of any library, by the rules of modules over
 * dlpackgen_python. For a torch.Tensor, the result is an alias with the same conjugate and negative
 * bits. An object of a derived type is read through its __dlpack__, which includes its changes.
 *
 * \throws as from_raw(), or python_error for exceptions of its library.
 */
inline at::Tensor from_object(PyObject* object, const detail::How& how = ReadOnly::raise) {
  if (THPVariable_CheckExact(object)) return detail::alias_of(THPVariable_Unpack(object));
  if (!detail::derives_from_tensor(object)) return detail::from_foreign<detail::Aten>(object, how);
  return detail::from_derived(object, how);
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_OBJECT_HPP_
