// The minimal hand-written operators with three tensors, which do not read them. Each name is as
// long as the compared kernel's, because torch.ops looks up names by their text at each call, and
// allocates memory for long ones.
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
