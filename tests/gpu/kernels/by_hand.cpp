// The least operator of three tensors that one writes by hand: it checks nothing, and serves tensors
// of the CPU and of CUDA alike.
#include <torch/library.h>

static void none(const at::Tensor&, const at::Tensor&, const at::Tensor&) {}

TORCH_LIBRARY(bare, library) {
  library.def("none(Tensor a, Tensor b, Tensor c) -> ()");
  library.impl("none", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(none)));
  library.impl("none", torch::dispatch(c10::DispatchKey::CUDA, TORCH_FN(none)));
}
