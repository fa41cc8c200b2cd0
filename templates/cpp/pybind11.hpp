/**
 * \file pybind11.hpp
 * Binds functions over tensors in pybind11 modules. It needs pybind11 and dlpackgen_python.h.
 */
#ifndef DLPACKGEN_V0_0_PYBIND11_HPP_
#define DLPACKGEN_V0_0_PYBIND11_HPP_

#include "bound.hpp"

#include <pybind11/pybind11.h>

#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

template <>
struct LibraryOf<pybind11::module_> {
  static constexpr bool is_class = false;
  using Handle = pybind11::handle;
  using Object = pybind11::object;
  static Object steal(PyObject* made) { return pybind11::reinterpret_steal<Object>(made); }
  [[noreturn]] static void throw_set() { throw pybind11::error_already_set(); }
  static auto argument(const char* name) { return pybind11::arg(name); }
  static auto argument_or_none(const char* name) { return pybind11::arg(name).none(); }
  static const char* name_of(const pybind11::arg& annotation) noexcept { return annotation.name; }

  template <class... Guards>
  static std::true_type is_guard(const pybind11::call_guard<Guards...>*);
  static std::false_type is_guard(const void*);
};
template <class... T>
struct LibraryOf<pybind11::class_<T...>> : LibraryOf<pybind11::module_> {
  static constexpr bool is_class = true;
};

}  // namespace detail

}  // namespace v0_0
}  // namespace dlpackgen

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif  // DLPACKGEN_V0_0_PYBIND11_HPP_
