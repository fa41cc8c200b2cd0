#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <vector>

#include "compute.h"

namespace nb = nanobind;
using namespace nb::literals;

template <typename T>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <typename T>
using InOut = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

template <typename T>
void axpy(T a, In<T> x, InOut<T> y) {
  if (x.ndim() != y.ndim() || !std::equal(x.shape_ptr(), x.shape_ptr() + x.ndim(), y.shape_ptr())) {
    throw nb::value_error("axpy(): x and y must have the same shape");
  }
  if (x.data() < y.data() + y.size() && y.data() < x.data() + x.size()) {
    throw nb::value_error("axpy(): y is written, and must not overlap x");
  }
  nb::gil_scoped_release released;
  compute_axpy<T>(a, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
}

template <typename T>
nb::ndarray<nb::numpy, T> softmax(In<T> x) {
  if (x.ndim() == 0 || x.shape(x.ndim() - 1) == 0) {
    throw nb::value_error("softmax(): the last dimension of x must have an element");
  }
  std::vector<std::size_t> shape(x.ndim());
  for (std::size_t d = 0; d < shape.size(); d++) shape[d] = x.shape(d);
  T* made = new T[x.size()];
  nb::capsule owner(made, [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
  {
    nb::gil_scoped_release released;
    compute_softmax<T>(x.data(), made, static_cast<std::int64_t>(x.size()), static_cast<std::int64_t>(shape.back()));
  }
  return nb::ndarray<nb::numpy, T>(made, shape.size(), shape.data(), owner);
}

template <typename T>
void define(nb::module_& m) {
  m.def("axpy", &axpy<T>, "a"_a, "x"_a.noconvert(), "y"_a.noconvert(), "Adds a * x to y, in place.");
  m.def("softmax", &softmax<T>, "x"_a.noconvert(), "The softmax of each row of x.");
}

NB_MODULE(by_nanobind, m) {
  define<float>(m);
  define<double>(m);
}
