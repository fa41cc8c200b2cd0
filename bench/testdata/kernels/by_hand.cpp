// The minimal hand-written operator with three tensors, without checks. Its name is as long as
// described::nop, because torch.ops looks up names by their text at each call.
#include <torch/library.h>

static void nop(const at::Tensor&, const at::Tensor&, const at::Tensor&) {}

TORCH_LIBRARY(undescrib, library) { library.def("nop(Tensor a, Tensor b, Tensor c) -> ()"); }
TORCH_LIBRARY_IMPL(undescrib, CPU, library) { library.impl("nop", TORCH_FN(nop)); }
