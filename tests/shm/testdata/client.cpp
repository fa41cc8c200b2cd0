// The backend in C++, with the owners and exceptions that all backends share.
#include "dlpackgen_backend.hpp"
#include "dlpackgen_shm.h"

#include <cstdio>

int main() {
  const dlpackgen::backend_v1::backend shm(dlpackgen_shm()->device);
  const auto tensor = shm.allocate({kDLCPU, 0}, {kDLFloat, 32, 1}, {3});
  try {
    shm.allocate({kDLCPU, 1}, {kDLFloat, 32, 1}, {3});
  } catch (const dlpackgen::backend_v1::error& e) {
    std::printf("allocated %d, then %s\n", static_cast<int>(shm.pointer_attributes(tensor->dl_tensor.data).bytes),
                e.what());
  }
}
