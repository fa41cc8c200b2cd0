/**
 * \file object_owned.hpp
 * Managed tensors that retain a Python object instead of the storage of its tensor. They are
 * faster, because no atomic reference count changes. However, the object does not retain its
 * memory: `t.data = other`, `t.set_()` and `t.resize_()` free the exported memory. Use them only
 * for exports during which this cannot happen, such as those of a call. They are used only on
 * explicit request.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_OBJECT_OWNED_HPP_
#define DLPACKGEN_V0_0_PYTORCH_OBJECT_OWNED_HPP_

#include "gil.hpp"
#include "owned.hpp"

#include <torch/csrc/autograd/python_variable.h>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// Checks the real type instead of isinstance(), which trusts __class__.
DLPACKGEN_PYTORCH_SLOW bool derives_from_tensor(PyObject* object) {
  return PyType_IsSubtype(Py_TYPE(object), reinterpret_cast<PyTypeObject*>(THPVariableClass)) != 0;
}

DLPACKGEN_PYTORCH_SLOW void reject_object(PyObject* object) {
  if (object == nullptr || !derives_from_tensor(object)) throw TypeError("expected a torch.Tensor");
}

// Without an additional owner, so neither reference counts nor the GIL are needed.
DLPACKGEN_PYTORCH_FAST const at::Tensor& tensor_in(void* object) {
  PyObject* const found = static_cast<PyObject*>(object);
  if (found == nullptr || !THPVariable_CheckExact(found)) reject_object(found);
  return THPVariable_Unpack(found);
}

// Without a destructor, through which the unwinding at Python's shutdown could not pass.
using ObjectOwner = Export<PyObject*>;

// Python ends threads that wait for the GIL by unwinding them. This function, and the functions
// that it calls until it has the GIL, must not be noexcept.
DLPACKGEN_PYTORCH_SLOW void delete_from_afar(ObjectOwner* owner) {
  if (Py_IsInitialized() == 0) return;  // a leak, from the beginning of Python's shutdown
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(owner->kept);
  PyGILState_Release(state);
  drop(owner);
}

inline void delete_object_owner(DLManagedTensorVersioned* self) {
  ObjectOwner* const owner = static_cast<ObjectOwner*>(self->manager_ctx);
  if (!has_the_gil()) return delete_from_afar(owner);
  Py_DECREF(owner->kept);
  drop(owner);
}

// The reference is taken last, when nothing can fail.
inline DLManagedTensorVersioned* retain_object(PyObject* object, const DLTensor& view) {
  DLManagedTensorVersioned* const made =
      fill<Access::write>(make_export<PyObject*>([object] { return object; }), view, delete_object_owner);
  Py_INCREF(object);
  return made;
}

}  // namespace detail

/**
 * Returns a managed tensor with the memory of the tensor in a Python object. The caller must call
 * its deleter, on any thread. The deleter acquires the GIL if needed, and leaks the tensor after
 * Python has shut down. This function needs the GIL. The managed tensor has its own shape and
 * strides (in elements).
 *
 * The tensor is valid until the object's memory is replaced or resized (see object_owned.hpp).
 * Tensors that ATen itself must export retain the memory, as with own().
 *
 * \throws as own(), TypeError for another object.
 */
inline DLManagedTensorVersioned* own_object(PyObject* object) {
  DLTensor view;
  const at::Tensor& tensor = detail::tensor_in(object);
  if (!detail::read_plain<Access::write>(*tensor.unsafeGetTensorImpl(), view)) {
    return detail::own_other(tensor, Access::write);
  }
  return detail::retain_object(object, view);
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_OBJECT_OWNED_HPP_
