// An empty kernel as nanobind calls it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using Vector = nb::ndarray<float, nb::ndim<1>, nb::c_contig>;

NB_MODULE(nop_nb, m) {
  m.def("nop", [](Vector, Vector, Vector) {});
}
