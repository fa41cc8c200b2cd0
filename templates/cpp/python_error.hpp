/**
 * \file python_error.hpp
 * Sets Python exceptions by name, for ExchangeProducer. Include Python.h first.
 */
#ifndef DLPACKGEN_V0_0_PYTHON_ERROR_HPP_
#define DLPACKGEN_V0_0_PYTHON_ERROR_HPP_

#include "base.hpp"

#ifndef Py_PYTHON_H
#error "python_error.hpp needs Python.h to be included first"
#endif

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** A second base class for classes derived from ExchangeProducer. */
class PythonErrors {
 public:
  /** Sets a Python exception, with the GIL held; an existing exception is kept. */
  static void set_error(const char* kind, const char* text) noexcept {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(type(kind), text);
  }

 private:
  static PyObject* type(const char* kind) noexcept {
    switch (kind[0]) {
      case 'B': return PyExc_BufferError;
      case 'M': return PyExc_MemoryError;
      case 'T': return PyExc_TypeError;
      case 'V': return PyExc_ValueError;
      default: return PyExc_RuntimeError;
    }
  }
};

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTHON_ERROR_HPP_
