// Uses a backend through dlpackgen_backend.hpp, together with the owner of target cpp.
#include "dlpackgen_backend.hpp"
#include "dlpackgen_cuda.h"

#include <dlpackgen/core.hpp>

#include <cstdio>

int main() {
  namespace dev = dlpackgen::backend_v1;
  try {
    const dev::backend cuda(dlpackgen_cuda());
    const DLDataType f32{kDLFloat, 32, 1};
    std::printf("%s %d\n", cuda.name(), cuda.probe().devices);
    dev::tensor a = cuda.allocate({kDLCUDA, 1}, f32, {3, 4}), b = cuda.allocate({kDLCUDA, 1}, f32, {3, 4});
    std::printf("%d %d\n", (int)cuda.pointer_attributes(a->dl_tensor.data).device.device_type,
                cuda.pointer_attributes(a->dl_tensor.data).ordinal);
    const int64_t two = 2, zero = 0;
    const auto side = cuda.stream_from_dlpack(1, &two), usual = cuda.stream(1);
    cuda.copy(a->dl_tensor, b->dl_tensor, side);
    cuda.stream_wait(usual, side);
    cuda.keep_until(a, side);
    cuda.stream_synchronize(usual);
    std::printf("%p\n", cuda.current_work_stream({nullptr, nullptr, nullptr, 0}, 1).handle);
    DLManagedTensorVersioned* given = b.release();  // to the caller of the deleter
    given->deleter(given);
    try {
      cuda.stream_from_dlpack(1, &zero);
    } catch (const dev::error& e) {
      std::printf("%d %d %s\n", e.code(), e.driver_code(), e.what());
    }
    dlpackgen_backend other = *dlpackgen_cuda();
    other.abi_version = 2;
    dev::backend wrong(&other);
  } catch (const std::invalid_argument& e) {
    std::printf("%s\n", e.what());
  }
  return 0;
}
