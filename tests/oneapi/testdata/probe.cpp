// The C++ wrapper over the oneAPI backend.
#include "dlpackgen_backend.hpp"
#include "dlpackgen_oneapi.h"
#include "dlpackgen_usm.h"

#include <cstdio>

int main() try {
  const dlpackgen::backend_v1::backend oneapi(dlpackgen_oneapi());
  std::printf("%s %d\n", oneapi.name(), oneapi.probe().devices);
  const auto tensor = oneapi.allocate({kDLOneAPI, 0}, {kDLFloat, 32, 1}, {3, 4});
  const DLDevice where = oneapi.pointer_attributes(tensor->dl_tensor.data).device;
  std::printf("%d %d\n", static_cast<int>(where.device_type), where.device_id);
  DLTensor wrong = tensor->dl_tensor;
  int somewhere = 0;
  wrong.data = &somewhere;
  dlpackgen_backend_error e;
  std::printf("%d\n", dlpackgen_usm()->check_tensor(&wrong, 0, nullptr, &e));
} catch (const dlpackgen::backend_v1::error& e) {
  std::printf("%d %s\n", e.code(), e.what());
}
