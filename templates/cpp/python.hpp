/**
 * \file python.hpp
 * Tensors of Python objects in C++, for extension modules with other bindings. It needs
 * dlpackgen_python.h of target python, and has the same rules and messages. nanobind.hpp and
 * pybind11.hpp bind whole functions.
 *
 * Unless documented otherwise, functions need the GIL. After ErrorCode::callee_failed, and if a
 * returned PyObject* is nullptr, a Python exception is set.
 */
#ifndef DLPACKGEN_V0_0_PYTHON_HPP_
#define DLPACKGEN_V0_0_PYTHON_HPP_

#include <dlpackgen/message.h>
#include <dlpackgen_python.h>

#include "managed.hpp"
#include "message.hpp"

#ifdef __cpp_exceptions
#include "exceptions.hpp"

#include <exception>
#endif

#include <atomic>
#include <cstdint>
#include <cstring>

// Two modules in one process have separate states.
#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** The purpose of a tensor. */
enum class Access { read, write };

namespace detail {

// A module of the base that is not imported, with the state that the base keeps per module.
inline PyObject* make_home() noexcept {
  static dlpackgen_module home;
  PyObject* const definition = dlpackgen_module_init(&home, "dlpackgen", nullptr, nullptr, nullptr);
  PyObject* const machinery = PyImport_ImportModule("importlib.machinery");
  PyObject* const spec =
      machinery == nullptr ? nullptr : PyObject_CallMethod(machinery, "ModuleSpec", "sO", "dlpackgen", Py_None);
  Py_XDECREF(machinery);
  PyObject* made = nullptr;
  if (spec != nullptr && definition != nullptr)
    made = PyModule_FromDefAndSpec(reinterpret_cast<PyModuleDef*>(definition), spec);
  Py_XDECREF(spec);
  if (made == nullptr || PyModule_ExecDef(made, reinterpret_cast<PyModuleDef*>(definition)) == 0) return made;
  Py_DECREF(made);
  return nullptr;
}

// The module, which exists until the process ends. Its creation runs Python code, and therefore
// possibly other threads. With a local static variable, these could deadlock.
inline PyObject* home() noexcept {
  static std::atomic<PyObject*> known{nullptr};
  PyObject* found = known.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  PyObject* const made = make_home();
  if (made == nullptr || known.compare_exchange_strong(found, made)) return made;
  Py_DECREF(made);
  return found;
}

// A built-in exception, by name.
inline PyObject* class_of(const char* name) noexcept {
#define DLPACKGEN_STATUS(status, exception, number) \
  if (std::strcmp(name, #exception) == 0) return PyExc_##exception;
  DLPACKGEN_STATUSES(DLPACKGEN_STATUS)
#undef DLPACKGEN_STATUS
  return std::strcmp(name, "OverflowError") == 0 ? PyExc_OverflowError : PyExc_RuntimeError;
}

// Sets an exception, unless the exception of the error is already set. Returns nullptr.
inline PyObject* raise(ErrorCode code, const char* class_name, const char* text) noexcept {
  if (code != ErrorCode::callee_failed || PyErr_Occurred() == nullptr) PyErr_SetString(class_of(class_name), text);
  return nullptr;
}

}  // namespace detail

/** Sets the Python exception for an error, with its Message. Returns nullptr. */
inline PyObject* raise(const Error& error) noexcept {
  return detail::raise(error.code, class_name(error.code), Message(error).c_str());
}

/**
 * Returns the tensor of an object of any library that exports DLPack. The tensor retains the
 * memory, and may be deleted on any thread. No stream is synchronized. For writing, the tensor must
 * be declared writable: arrays of JAX and read-only arrays raise BufferError.
 */
inline Result<Managed> from_object(PyObject* object, Access access = Access::read) noexcept {
  PyObject* const home = detail::home();
  if (home == nullptr) return ErrorCode::callee_failed;
  const std::uint32_t flags = access == Access::write ? static_cast<std::uint32_t>(DLPACKGEN_WRITABLE) : 0;
  DLManagedTensorVersioned* const tensor = dlpackgen_from_py_object_no_sync(home, object, flags);
  if (tensor == nullptr) return ErrorCode::callee_failed;
  return Managed::from_raw_unchecked(tensor);
}

/**
 * Returns an object with the tensor, which every library's from_dlpack() accepts, as a new
 * reference. The tensor is consumed, also after an error.
 */
inline PyObject* to_object(Managed&& tensor) noexcept {
  PyObject* const home = detail::home();
  if (!tensor) return raise(ErrorCode::null);
  if (home != nullptr) return dlpackgen_export_object(home, tensor.release());
  tensor.reset();
  return nullptr;
}

/** The same, as an object of the library of `like`: a NumPy array if `like` is one. */
inline PyObject* to_object(Managed&& tensor, PyObject* like) noexcept {
  static const dlpackgen_parameter parameter = [] {
    dlpackgen_parameter p{};
    p.name = "like";
    p.optional = 1;
    return p;
  }();
  static const dlpackgen_function function{"to_object", &parameter, 1, 0, {}};
  Managed owned = static_cast<Managed&&>(tensor);
  PyObject* const home = detail::home();
  PyObject* left_out = nullptr;
  DLPACKGEN_CALL_OF(call, 1);
  if (!owned) return raise(ErrorCode::null);
  if (home == nullptr || dlpackgen_call_begin(&call, home, &function, &left_out, 1, nullptr) != 0) return nullptr;
  call.arguments[0].object = like;  // only the library is used; the tensor is not read
  PyObject* const made = dlpackgen_to_py_object(&call, 0, owned.release());
  dlpackgen_call_end(&call);
  return made;
}

/**
 * Returns a capsule, as a new reference, for __dlpack__ of your own type. Pass its keywords, a dict
 * or nullptr: `max_version` selects "dltensor" or "dltensor_versioned", and `copy`, `dl_device` and
 * `stream` are applied. The tensor is consumed.
 */
inline PyObject* to_capsule(Managed&& tensor, PyObject* keywords = nullptr) noexcept {
  PyObject* const object = to_object(static_cast<Managed&&>(tensor));
  PyObject* const method = object == nullptr ? nullptr : PyObject_GetAttrString(object, "__dlpack__");
  PyObject* const nothing = method == nullptr ? nullptr : PyTuple_New(0);
  PyObject* const capsule = nothing == nullptr ? nullptr : PyObject_Call(method, nothing, keywords);
  Py_XDECREF(nothing);
  Py_XDECREF(method);
  Py_XDECREF(object);
  return capsule;
}

#ifdef __cpp_exceptions

/** Sets the Python exception for an exception of these headers. Returns nullptr. */
inline PyObject* raise(const Raised& thrown) noexcept {
  const auto* const error = dynamic_cast<const Exception*>(&thrown);
  return detail::raise(error == nullptr ? ErrorCode::ok : error->code(), thrown.class_name(), thrown.what());
}

/**
 * Sets Python exceptions for the exceptions of these headers, in functions that are bound without
 * def(). Register it with nanobind or pybind11:
 * register_exception_translator(dlpackgen::exception_translator).
 */
struct ExceptionTranslator {
  using OfNanobind = void (*)(const std::exception_ptr&, void*);
  using OfPybind11 = void (*)(std::exception_ptr);

  operator OfNanobind() const noexcept {  // NOLINT: an argument is written as it is
    return [](const std::exception_ptr& thrown, void*) { translate(thrown); };
  }
  operator OfPybind11() const noexcept {  // NOLINT
    return [](std::exception_ptr thrown) {
      if (thrown) translate(thrown);
    };
  }

 private:
  static void translate(const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Raised& e) {
      raise(e);
    }
  }
};
inline constexpr ExceptionTranslator exception_translator{};
#endif

}  // namespace v0_0
}  // namespace dlpackgen

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif  // DLPACKGEN_V0_0_PYTHON_HPP_
