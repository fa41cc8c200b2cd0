/**
 * \file install.hpp
 * Sets the exchange table on torch.Tensor, and removes it. Both functions need the GIL. Consumers
 * such as tvm-ffi cache the table per type. Therefore, the table exists until the process ends, and
 * neither function affects types that are already cached.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_INSTALL_HPP_
#define DLPACKGEN_V0_0_PYTORCH_INSTALL_HPP_

#include "native_reader.hpp"

#include <dlpackgen/codes.h>
#include <pybind11/pybind11.h>

#include <cstdlib>
#include <cstring>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

namespace py = pybind11;

inline constexpr const char* table_attribute = DLPACKGEN_ATTRIBUTE_EXCHANGE_API;
inline constexpr const char* table_capsule = DLPACKGEN_CAPSULE_EXCHANGE_API;
inline constexpr const char* reader_attribute = "__dlpackgen_read__";
inline constexpr const char* reader_capsule = "dlpackgen_read_2";

// The type's own previous table, or nullptr. These references are never released.
struct Replaced {
  PyObject* table;
  PyObject* tensor_reader;
  PyObject* parameter_reader;
};

inline Replaced& replaced() noexcept {
  static Replaced before{nullptr, nullptr, nullptr};
  return before;
}

inline py::object capsule_of(const void* pointer, const char* name) {
  PyObject* const made = PyCapsule_New(const_cast<void*>(pointer), name, nullptr);
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

inline const void* reader() noexcept {
  int (*const function)(void*, int, DLTensor*, std::int64_t*) = read_quickly;
  return reinterpret_cast<const void*>(function);
}

inline py::handle tensor_type() { return py::handle(THPVariableClass); }
inline py::handle parameter_type() { return py::handle(ParameterClass); }

inline bool is_of(py::handle value, const char* name, const void* pointer) {
  return PyCapsule_IsValid(value.ptr(), name) != 0 && PyCapsule_GetPointer(value.ptr(), name) == pointer;
}

// The type's own attribute, not an inherited one; nothing if there is none.
inline py::object own_attribute(py::handle type, const char* name) {
  return type.attr("__dict__").attr("get")(name, py::none());
}

inline void restore(py::handle type, const char* name, PyObject* before) {
  if (before == nullptr) return py::delattr(type, name);
  py::setattr(type, name, py::handle(before));
}

// Another copy of this package may have set its own table, before or since.
inline void put_reader(py::handle type, PyObject*& before) {
  py::object found = own_attribute(type, reader_attribute);
  if (is_of(found, reader_capsule, reader())) return;
  py::setattr(type, reader_attribute, capsule_of(reader(), reader_capsule));
  Py_XSETREF(before, found.is_none() ? nullptr : found.release().ptr());
}

inline void remove_reader(py::handle type, PyObject* before) {
  if (is_of(own_attribute(type, reader_attribute), reader_capsule, reader())) restore(type, reader_attribute, before);
}

}  // namespace detail

/** Returns a capsule with a table, in the form that types provide, as a new reference. */
inline PyObject* capsule_of(const DLPackExchangeAPI* table) {
  return detail::capsule_of(table, detail::table_capsule).release().ptr();
}

/** Whether torch.Tensor has this table. */
inline bool is_installed() {
  const pybind11::object found = detail::own_attribute(detail::tensor_type(), detail::table_attribute);
  return detail::is_of(found, detail::table_capsule, exchange_api());
}

// A program can turn off all native readers if a new release of a library breaks them. This is the
// rule of dlpackgen_native_readers_are_on.
inline bool native_readers_are_on() noexcept {
  const char* const off = std::getenv("DLPACKGEN_NO_NATIVE_READERS");
  return off == nullptr || *off == 0 || std::strcmp(off, "0") == 0;
}

/**
 * Sets this table on torch.Tensor. Does nothing if it is already set, or if
 * DLPACKGEN_NO_NATIVE_READERS is set in the environment. All tensors that were exported correctly
 * are still exported, including tensors that require grad. Tensors that were exported with wrong
 * values or without memory are rejected: negated, conjugated and zero tensors, and tensors that
 * have elements but no memory.
 */
inline void install() {
  namespace py = pybind11;
  if (is_installed() || !native_readers_are_on()) return;
  detail::Replaced& replaced = detail::replaced();
  py::object before = py::getattr(detail::tensor_type(), detail::table_attribute, py::object());
  detail::put_reader(detail::tensor_type(), replaced.tensor_reader);
  detail::put_reader(detail::parameter_type(), replaced.parameter_reader);
  py::setattr(detail::tensor_type(), detail::table_attribute,
              detail::capsule_of(exchange_api(), detail::table_capsule));
  Py_XSETREF(replaced.table, before.release().ptr());
}

/**
 * Restores the previous table of torch.Tensor, unless other code has changed it since.
 */
inline void uninstall() {
  const detail::Replaced& replaced = detail::replaced();
  detail::remove_reader(detail::tensor_type(), replaced.tensor_reader);
  detail::remove_reader(detail::parameter_type(), replaced.parameter_reader);
  if (is_installed()) detail::restore(detail::tensor_type(), detail::table_attribute, replaced.table);
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_INSTALL_HPP_
