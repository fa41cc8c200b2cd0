// The least operators of three tensors that one writes by hand: they look at nothing.
#include <torch/library.h>

static void bare_read(const at::Tensor&, const at::Tensor&, const at::Tensor&) {}
static void bare_write(const at::Tensor&, const at::Tensor&, at::Tensor&) {}

TORCH_LIBRARY(bare, library) {
  library.def("read(Tensor a, Tensor b, Tensor c) -> ()");
  library.def("write(Tensor a, Tensor b, Tensor(a!) c) -> ()");
}

TORCH_LIBRARY_IMPL(bare, CPU, library) {
  library.impl("read", TORCH_FN(bare_read));
  library.impl("write", TORCH_FN(bare_write));
}
