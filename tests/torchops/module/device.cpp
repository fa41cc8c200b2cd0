// A backend over host memory, as PrivateUse1: devices 0 and 1, and a current stream on each, whose
// native handle is 0x5000 plus the device number.
#include <ATen/EmptyTensor.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Storage.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

namespace {

thread_local c10::Device current(c10::DeviceType::PrivateUse1, 0);
int64_t entered = 0;  // how often a device was made current

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }
  c10::Device exchangeDevice(c10::Device d) const override {
    const c10::Device before = current;
    setDevice(d);
    return before;
  }
  c10::Device getDevice() const override { return current; }
  void setDevice(c10::Device d) const override {
    current = d;
    ++entered;
  }
  void uncheckedSetDevice(c10::Device d) const noexcept override { current = d; }
  // The stream of the current device, as in backends that depend on it.
  c10::Stream getStream(c10::Device) const override {
    return c10::Stream(c10::Stream::UNSAFE, current, 0x5000 + current.index());
  }
  c10::Stream exchangeStream(c10::Stream s) const override { return s; }
  void* getStreamNativeHandle(const c10::Stream s) const override { return reinterpret_cast<void*>(s.id()); }
  c10::DeviceIndex deviceCount() const noexcept override { return 2; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

at::Tensor make(int64_t device, int64_t length) {
  const c10::Device where(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device));
  c10::DataPtr memory = c10::GetCPUAllocator()->allocate(static_cast<size_t>(length) * sizeof(float));
  void* const data = memory.get();
  c10::DataPtr moved(data, memory.release_context(), c10::GetCPUAllocator()->raw_deleter(), where);
  c10::Storage storage(c10::Storage::use_byte_size_t(), length * sizeof(float), std::move(moved), nullptr, false);
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), caffe2::TypeMeta::Make<float>());
  made.unsafeGetTensorImpl()->set_sizes_contiguous({length});
  return made;
}

}  // namespace

TORCH_LIBRARY(ops_host, library) {
  library.def("make(int device, int length) -> Tensor", make);
  library.def("current() -> int", [] { return static_cast<int64_t>(current.index()); });
  library.def("entered() -> int", [] { return entered; });
}
