/**
 * \file errors.hpp
 * The boundary between C++ code, which throws, and the functions of an exchange table, from which
 * no exception may escape, because it would end the process.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_ERRORS_HPP_
#define DLPACKGEN_V0_0_PYTORCH_ERRORS_HPP_

#include "exceptions.hpp"

#include <torch/csrc/Exceptions.h>
#include <dlpackgen/exceptions.hpp>

#include <exception>
#include <new>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {

namespace detail {

using SetError = void (*)(void* context, const char* kind, const char* message);

// Reports the exception that is being handled, with the name of a Python exception.
DLPACKGEN_PYTORCH_SLOW void report(void* context, SetError set) noexcept {
  try {
    throw;
  } catch (const BufferError& e) {
    set(context, "BufferError", e.what());
  } catch (const TypeError& e) {
    set(context, "TypeError", e.what());
  } catch (const Exception& e) {  // rejected by the validator
    set(context, e.code() == ErrorCode::no_memory ? "MemoryError" : "BufferError", e.what());
  } catch (const c10::OutOfMemoryError& e) {
    set(context, "MemoryError", e.what_without_backtrace());
  } catch (const c10::Error& e) {  // rejected by ATen
    set(context, "BufferError", e.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    set(context, "MemoryError", dlpackgen::detail::out_of_memory);
  } catch (const std::exception& e) {
    set(context, "RuntimeError", e.what());
  } catch (...) {
    set(context, "RuntimeError", dlpackgen::detail::unnamed_exception);
  }
}

inline void set_python_error(void*, const char* kind, const char* message) noexcept {
  PyObject* const type = kind[0] == 'B'   ? PyExc_BufferError
                         : kind[0] == 'M' ? PyExc_MemoryError
                         : kind[0] == 'T' ? PyExc_TypeError
                                          : PyExc_RuntimeError;
  PyErr_SetString(type, message);
}

// The same for functions that are called with the GIL: sets a Python exception, or restores one
// that ATen has caught.
DLPACKGEN_PYTORCH_SLOW int report_to_python() noexcept {
  if (PyErr_Occurred() != nullptr) return -1;
  try {
    throw;
  } catch (python_error& e) {
    e.restore();
  } catch (pybind11::error_already_set& e) {
    e.restore();
  } catch (const pybind11::builtin_exception& e) {
    e.set_error();
  } catch (...) {
    report(nullptr, set_python_error);
  }
  return -1;
}

}  // namespace detail
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_ERRORS_HPP_
