// Hand-written operators with three tensors, without checks, for CPU and CUDA tensors: a minimal
// one, and one that makes the device current and queries its stream.
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/library.h>

static void none(const at::Tensor&, const at::Tensor&, const at::Tensor&) {}

static void* volatile last_stream;

static void placed(const at::Tensor& a, const at::Tensor&, const at::Tensor&) {
  const c10::OptionalDeviceGuard guard(a.device());
  const c10::impl::VirtualGuardImpl backend(a.device().type());
  if (!a.device().is_cpu()) last_stream = backend.getStream(a.device()).native_handle();
}

TORCH_LIBRARY(bare, library) {
  library.def("none(Tensor a, Tensor b, Tensor c) -> ()");
  library.def("placed(Tensor a, Tensor b, Tensor c) -> ()");
  for (const auto key : {c10::DispatchKey::CPU, c10::DispatchKey::CUDA}) {
    library.impl("none", torch::dispatch(key, TORCH_FN(none)));
    library.impl("placed", torch::dispatch(key, TORCH_FN(placed)));
  }
}
