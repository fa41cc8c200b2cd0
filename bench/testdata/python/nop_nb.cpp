// An empty kernel with the signature of nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using Vector = nb::ndarray<float, nb::ndim<1>, nb::c_contig>;

NB_MODULE(nop_nb, m) {
  m.def("nop", [](Vector, Vector, Vector) {});
}
