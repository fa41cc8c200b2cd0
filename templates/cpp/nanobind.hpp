/**
 * \file nanobind.hpp
 * Binds functions over tensors in modules of nanobind. It needs nanobind and dlpackgen_python.h.
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

// What defining a function needs of nanobind.
struct Nanobind {
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

}  // namespace detail

/**
 * Defines a function of a module, with a name for each argument:
 *
 *     dlpackgen::def(m, "add", &add, "x[n]", "y[n]");
 *
 * An argument is a tensor where its type has a dlpackgen::Argument, as TensorView, ArrayView and
 * MapOf have. Extents may have names, each of which stands for one number in a call. A result is an
 * object of the library of the first tensor where the function returns a Managed or a matrix of
 * Eigen's, or a Result of one; an Error is raised. What follows the names is nanobind's, such as a
 * docstring. An argument that is no tensor may have nanobind::arg("k") = 1 in the place of its
 * name.
 */
template <class Function, class... More>
void def(nanobind::module_& module, const char* name, Function&& function, const More&... more) {
  detail::define<detail::Nanobind>(module, name, static_cast<Function&&>(function), more...);
}

}  // namespace v0_0
}  // namespace dlpackgen

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif  // DLPACKGEN_V0_0_NANOBIND_HPP_
