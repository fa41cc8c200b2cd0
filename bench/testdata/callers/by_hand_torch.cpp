// An operator with PyTorch's stable C++ ABI, without checks.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

static Tensor add(const Tensor& a, const Tensor& b) {
  Tensor c = torch::stable::empty_like(a);
  const float *x = a.const_data_ptr<float>(), *y = b.const_data_ptr<float>();
  float* z = c.mutable_data_ptr<float>();
  for (int64_t i = 0; i < a.numel(); i++) z[i] = x[i] + y[i];
  return c;
}

STABLE_TORCH_LIBRARY(by_hand, library) { library.def("add(Tensor a, Tensor b) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(by_hand, CPU, library) { library.impl("add", TORCH_BOX(&add)); }
