// The least operators of three tensors that one writes by hand: they look at nothing.
// Each has a name as long as that of the kernel beside it, since torch.ops looks names
// up by their text at each call, and takes memory for long ones.
#include <torch/library.h>

static void bare_read(const at::Tensor&, const at::Tensor&, const at::Tensor&) {}
static void bare_write(const at::Tensor&, const at::Tensor&, at::Tensor&) {}

static constexpr const char* forms[] = {"function", "pointer", "lambda", "functor", "boxed_function", "boxed_functor"};

TORCH_LIBRARY(by_hand, library) {
  for (const std::string form : forms) {
    library.def(("read_" + form + "(Tensor a, Tensor b, Tensor c) -> ()").c_str());
    library.def(("write_" + form + "(Tensor a, Tensor b, Tensor(a!) c) -> ()").c_str());
  }
}

TORCH_LIBRARY_IMPL(by_hand, CPU, library) {
  for (const std::string form : forms) {
    library.impl(("read_" + form).c_str(), TORCH_FN(bare_read));
    library.impl(("write_" + form).c_str(), TORCH_FN(bare_write));
  }
}
