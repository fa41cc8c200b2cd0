/**
 * \file queries.hpp
 * Queries Python objects before their tensors are read, and converts the exceptions that they
 * raise. Any query may run Python code, so later code must not rely on earlier checks. All
 * functions need the GIL.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_QUERIES_HPP_
#define DLPACKGEN_V0_0_PYTORCH_QUERIES_HPP_

#include "exceptions.hpp"

#include <dlpackgen/codes.h>
#include <pybind11/pybind11.h>

#include <cstring>
#include <string>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

namespace py = pybind11;

inline PyObject* intern(const char* name) {
  PyObject* const made = PyUnicode_InternFromString(name);
  if (made == nullptr) throw py::error_already_set();
  return made;
}

// Created once and never released, because Python's caches do not contain newly created names.
struct Names {
  PyObject* table = intern(DLPACKGEN_ATTRIBUTE_EXCHANGE_API);
  PyObject* capsule = intern("__dlpack__");
  PyObject* device = intern("__dlpack_device__");
  PyObject* stream = intern("stream");
  PyObject* version = intern("max_version");
  PyObject* mask = intern("mask");
  PyObject* filled = intern("filled");
  PyObject* is_neg = intern("is_neg");
  PyObject* is_conj = intern("is_conj");
  PyObject* requires_grad = intern("requires_grad");
  PyObject* stop_gradient = intern("stop_gradient");
  PyObject* is_dense = intern("is_dense");
  PyObject* value = intern("value");
};

inline const Names& names() {
  static const Names all;
  return all;
}

// pybind11 ends the process if Python has no memory for a dict or a tuple.
inline py::object made(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

inline py::object optional(PyObject* object, PyObject* name) {
  PyObject* const found = PyObject_GetAttr(object, name);
  if (found == nullptr && !PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
  if (found == nullptr) PyErr_Clear();
  return py::reinterpret_steal<py::object>(found);
}

// Uses Python's cache of type attributes, which takes a few nanoseconds.
inline bool has(PyTypeObject* type, PyObject* name) noexcept { return _PyType_Lookup(type, name) != nullptr; }

inline bool is_true(const py::object& answer) {
  const int truth = PyObject_IsTrue(answer.ptr());
  if (truth < 0) throw py::error_already_set();
  return truth != 0;
}

inline bool ask(PyObject* object, PyObject* method) { return is_true(made(PyObject_CallMethodNoArgs(object, method))); }

// The last part of the name of a type, without running its metaclass.
inline const char* name_of(const PyTypeObject* type) noexcept {
  const char* const dot = std::strrchr(type->tp_name, '.');
  return dot == nullptr ? type->tp_name : dot + 1;
}

// Exhausted resources, and exceptions outside of Exception, such as KeyboardInterrupt, do not
// concern the tensor. Producers should raise BufferError themselves.
inline bool is_about_the_tensor(const py::error_already_set& error) {
  PyObject* const others[] = {PyExc_BufferError, PyExc_MemoryError, PyExc_RecursionError};
  for (PyObject* const other : others) {
    if (error.matches(other)) return false;
  }
  return error.matches(PyExc_Exception);
}

// A BufferError with the producer's exception as its cause, as the array API specifies
// (`__dlpack__`, "Raises"). The TypeError for a class instead of an object is not converted.
[[noreturn]] DLPACKGEN_PYTORCH_SLOW void throw_not_exported(PyObject* object, const py::error_already_set& error) {
  if (PyType_Check(object) != 0 || !is_about_the_tensor(error)) throw error;
  py::object text = py::reinterpret_steal<py::object>(PyObject_Str(error.value().ptr()));
  if (!text) {  // a __str__ that raises
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw py::error_already_set();
    PyErr_Clear();
    text = made(PyUnicode_FromString(name_of(Py_TYPE(error.value().ptr()))));
  }
  PyErr_Format(PyExc_BufferError, "%.200s was not exported: %U", name_of(Py_TYPE(object)), text.ptr());
  const py::error_already_set rejected;
  PyException_SetCause(rejected.value().ptr(), py::object(error.value()).release().ptr());
  throw rejected;
}

// Runs a function that calls a producer.
template <class Call>
auto queried(PyObject* object, Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const py::error_already_set& error) {
    throw_not_exported(object, error);
  }
}

// Returns an attribute of a module, if the module was imported.
inline py::object imported(const char* module, const char* name) {
  const py::object key = made(PyUnicode_FromString(module));
  const py::object found = py::reinterpret_steal<py::object>(PyImport_GetModule(key.ptr()));
  if (!found && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return found ? optional(found.ptr(), made(PyUnicode_FromString(name)).ptr()) : found;
}

inline bool paddle_records() {
  const py::object is_recording = imported("paddle", "is_grad_enabled");
  return !is_recording || is_true(is_recording());
}

// Paddle's own table does not report gradients, and crashes on sparse and on cleared tensors. This
// check comes last, so that no Python code runs between it and the table.
inline void reject_like_paddle(PyObject* object) {
  if (!is_true(made(PyObject_GetAttr(object, names().stop_gradient))) && paddle_records()) {
    throw BufferError(
        "its stop_gradient is False, but the result would not record gradients: pass detach(), or call this "
        "under paddle.no_grad()");
  }
  if (has(Py_TYPE(object), names().is_dense) && !ask(object, names().is_dense)) {
    throw BufferError(DLPACKGEN_TEXT_NOT_DENSE);
  }
}

template <class Torch>
void reject_like_torch(PyObject* object) {
  if (ask(object, names().is_neg)) throw BufferError(negated);
  if (ask(object, names().is_conj)) throw BufferError(conjugated);
  const py::object grad = optional(object, names().requires_grad);
  if (grad && is_true(grad) && Torch::records_gradients()) throw BufferError(recording);
}

// Rejects tensors whose memory does not contain their values, or that require gradients, by the
// rules of modules over dlpackgen_python: masked arrays, and objects like tensors of torch or
// Paddle.
template <class Torch>
void reject_what_memory_lacks(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  if (has(type, names().mask) && has(type, names().filled)) {
    throw BufferError(DLPACKGEN_TEXT_MASKED ": pass filled(...)");
  }
  const bool is_like_paddle = has(type, names().stop_gradient);
  if (has(type, names().is_neg) && has(type, names().is_conj)) reject_like_torch<Torch>(object);
  if (is_like_paddle) reject_like_paddle(object);
}

// Only the dispatcher can read a tensor whose type has its own __torch_dispatch__.
inline void reject_dispatch(PyTypeObject* type, PyObject* tensor) {
  static PyObject* const name = intern("__torch_dispatch__");
  if (_PyType_Lookup(type, name) == _PyType_Lookup(reinterpret_cast<PyTypeObject*>(tensor), name)) return;
  throw BufferError(std::string("it is a ") + name_of(type) +
                    ", a subclass of torch.Tensor that defines __torch_dispatch__: wrap in torch.ops");
}

}  // namespace detail
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_QUERIES_HPP_
