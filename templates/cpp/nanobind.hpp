/**
 * \file nanobind.hpp
 * Binds functions over tensors in nanobind modules. It needs nanobind and dlpackgen_python.h.
 */
#ifndef DLPACKGEN_V0_0_NANOBIND_HPP_
#define DLPACKGEN_V0_0_NANOBIND_HPP_

#include "bound.hpp"

#include <nanobind/nanobind.h>

#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

template <>
struct LibraryOf<nanobind::module_> {
  static constexpr bool is_class = false;
  using Handle = nanobind::handle;
  using Object = nanobind::object;
  static Object steal(PyObject* made) { return nanobind::steal(made); }
  [[noreturn]] static void throw_set() { throw nanobind::python_error(); }
  static auto argument(const char* name) { return nanobind::arg(name); }
  static auto argument_or_none(const char* name) { return nanobind::arg(name).none(); }
  template <class Annotation>
  static const char* name_of(const Annotation& annotation) noexcept {
    return annotation.name_;
  }

  template <class... Guards>
  static std::true_type is_guard(const nanobind::call_guard<Guards...>*);
  static std::false_type is_guard(const void*);
};
template <class... T>
struct LibraryOf<nanobind::class_<T...>> : LibraryOf<nanobind::module_> {
  static constexpr bool is_class = true;
};

}  // namespace detail

}  // namespace v0_0
}  // namespace dlpackgen

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif  // DLPACKGEN_V0_0_NANOBIND_HPP_
