// A simulated CUDA backend, whose streams are numbers or exceptions.
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <new>
#include <stdexcept>

namespace {

int fault = 0;
std::int64_t working_on = 0;

void fail() {
  switch (fault) {
    case 0: return;
    case 1: TORCH_CHECK(false, "mine");
    case 2: TORCH_CHECK_WITH(OutOfMemoryError, false, "mine");
    case 3: throw std::bad_alloc();
    case 4: throw std::runtime_error("mine");
    default: throw 7;
  }
}

struct Guard final : public c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::Device getDevice() const override { return c10::Device(c10::DeviceType::CUDA, 0); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const override {
    fail();
    return c10::Stream(c10::Stream::UNSAFE, device, working_on != 0 ? working_on : 40 + device.index());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(stream.id()));
  }
  c10::DeviceIndex deviceCount() const noexcept override { return 2; }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void put_the_back_end() {
  static const Guard guard;
  c10::impl::device_guard_impl_registry[static_cast<std::size_t>(c10::DeviceType::CUDA)].store(&guard);
}

// Makes a handle the stream of every device; 0 restores the usual ones.
extern "C" __attribute__((visibility("default"))) void work_on(std::int64_t handle) { working_on = handle; }

extern "C" __attribute__((visibility("default"))) void fail_with(int which) { fault = which; }
