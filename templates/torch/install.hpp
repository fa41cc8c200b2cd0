/**
 * \file install.hpp
 * Puts the exchange table onto torch.Tensor, and takes it off again. Both want the
 * GIL. Consumers such as tvm-ffi look at a type once: what they have seen they keep,
 * so the table lives as long as the process, and neither changes what they do with
 * a type that they know.
 */
#ifndef DLPACKGEN_V0_0_ATEN_INSTALL_HPP_
#define DLPACKGEN_V0_0_ATEN_INSTALL_HPP_

#include "adopted.hpp"

#include <pybind11/pybind11.h>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace aten DLPACKGEN_ATEN_HIDDEN {
namespace detail {

namespace py = pybind11;

inline constexpr const char* table_attribute = "__dlpack_c_exchange_api__";
inline constexpr const char* table_capsule = "dlpack_exchange_api";
inline constexpr const char* reader_attribute = "__dlpackgen_read__";
inline constexpr const char* reader_capsule = "dlpackgen_read_1";

// What was there before, or nullptr; a reference that outlives Python.
inline PyObject*& replaced() noexcept {
  static PyObject* before = nullptr;
  return before;
}

inline py::object capsule_of(const void* pointer, const char* name) {
  PyObject* const made = PyCapsule_New(const_cast<void*>(pointer), name, nullptr);
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

inline py::object reader() {
  int (*const function)(void*, int, DLTensor*) = read_quickly;
  return capsule_of(reinterpret_cast<const void*>(function), reader_capsule);
}

inline py::handle tensor_type() { return py::handle(THPVariableClass); }
inline py::handle parameter_type() { return py::handle(ParameterClass); }

inline bool is_ours(py::handle value) {
  return PyCapsule_IsValid(value.ptr(), table_capsule) != 0 &&
         PyCapsule_GetPointer(value.ptr(), table_capsule) == static_cast<const void*>(table());
}

}  // namespace detail

/** A capsule with the table, as types offer it; a new reference. */
template <Access access = Access::write>
PyObject* table_object() {
  return detail::capsule_of(table<access>(), detail::table_capsule).release().ptr();
}

/** Whether torch.Tensor offers this table. */
inline bool is_installed() {
  return detail::is_ours(pybind11::getattr(detail::tensor_type(), detail::table_attribute, pybind11::none()));
}

/**
 * Lets torch.Tensor offer this table; does nothing when it does already. What was
 * accepted before still is, tensors that require grad too, but for those that were
 * handed out with wrong values or with none: negated, conjugated, zero tensors, and
 * what has elements and no memory.
 */
inline void install() {
  namespace py = pybind11;
  if (is_installed()) return;
  py::object before = py::getattr(detail::tensor_type(), detail::table_attribute, py::object());
  py::setattr(detail::tensor_type(), detail::reader_attribute, detail::reader());
  py::setattr(detail::parameter_type(), detail::reader_attribute, detail::reader());
  py::setattr(detail::tensor_type(), detail::table_attribute, detail::capsule_of(table(), detail::table_capsule));
  Py_XSETREF(detail::replaced(), before.release().ptr());
}

/** Gives torch.Tensor back what it offered before; does nothing where it offers another table by now. */
inline void uninstall() {
  namespace py = pybind11;
  if (!is_installed()) return;
  py::delattr(detail::tensor_type(), detail::reader_attribute);
  py::delattr(detail::parameter_type(), detail::reader_attribute);
  if (detail::replaced() == nullptr) {
    py::delattr(detail::tensor_type(), detail::table_attribute);
  } else {
    py::setattr(detail::tensor_type(), detail::table_attribute, py::handle(detail::replaced()));
  }
}

}  // namespace aten
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_INSTALL_HPP_
