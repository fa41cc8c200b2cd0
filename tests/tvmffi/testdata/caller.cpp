// Calls the kernels with tvm-ffi's own C++.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ffi = tvm::ffi;

static void demand(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}

struct Host {
  void AllocData(DLTensor* tensor) { tensor->data = std::calloc(1024, 1); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

static ffi::Tensor zeros(ffi::Shape shape, DLDevice device = {kDLCPU, 0}) {
  return ffi::Tensor::FromNDAlloc(Host(), shape, DLDataType{kDLFloat, 32, 1}, device);
}

// An allocator, in the form that array libraries register.
static int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void*,
                    void (*)(void*, const char*, const char*)) {
  ffi::Tensor made = zeros(ffi::Shape(prototype->shape, prototype->shape + prototype->ndim));
  *out = made.ToDLPackVersioned();
  return 0;
}

// Calls a kernel with host memory, for any declared device. The author's C does not read it, and
// fails with a status that shows whether it received a stream.
static void devices(const ffi::Module& library, DLDevice device, const char* status, int64_t n = 3) {
  try {
    library->GetFunction("devices").value()(zeros({n}, device), zeros({n}, device), zeros({n}));
    demand(false, "the kernel fails");
  } catch (const ffi::Error& error) {
    const std::string wanted = std::string("devices(): the kernel failed with status ") + status;
    demand(error.message() == wanted, error.message().c_str());
  }
}

// Kernels on a device receive the environment's stream for it; kernels on the CPU receive NULL.
static void streams(const ffi::Module& library) {
  int stream = 0;
  devices(library, {kDLCUDA, 0}, "42");
  TVMFFIEnvSetStream(kDLCUDA, 0, &stream, nullptr);
  TVMFFIEnvSetStream(kDLCPU, 0, &stream, nullptr);
  devices(library, {kDLCUDA, 0}, "41");
  devices(library, {kDLCUDA, 1}, "42");
  devices(library, {kDLCPU, 0}, "40");
  devices(library, {kDLCPU, 0}, "40", 0);  // tensors that need the full check
}

int main(int, char** arguments) {
  ffi::Module library = ffi::Module::LoadFromFile(arguments[1]);
  ffi::Function scale = library->GetFunction("scale").value();
  ffi::Tensor x = zeros({2, 3});
  float* elements = static_cast<float*>(x.data_ptr());
  for (int i = 0; i < 6; i++) elements[i] = static_cast<float>(i);
  scale(x, 3);
  demand(elements[5] == 15, "scale by 3");
  ffi::TensorView view = x;
  scale(view);
  demand(elements[5] == 30, "scale of a view by its default");
  try {
    scale(x, std::string("a"));
    demand(false, "a text is no number");
  } catch (const ffi::Error& error) {
    demand(error.kind() == "TypeError", "the kind");
    demand(error.message() == "scale(): argument 'by' (2nd): expected float32, got str", error.message().c_str());
  }
  ffi::Function copies = library->GetFunction("copies").value();
  ffi::Tensor out = zeros({2, 3});
  auto scalars = copies(x, 1, nullptr, out).cast<ffi::Array<ffi::Any>>();
  demand(scalars.size() == 3 && scalars[1].cast<double>() == -1, "scalars");
  demand(std::memcmp(out.data_ptr(), x.data_ptr(), 24) == 0, "written in place");
  ffi::Function pair = library->GetFunction("pair").value();
  TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 1, nullptr);
  auto both = pair(zeros({3})).cast<ffi::Array<ffi::Tensor>>();
  demand(both.size() == 2 && both[1].size(0) == 3, "allocated");
  ffi::Function sums = library->GetFunction("scalars").value();
  try {
    sums("median", ffi::Array<int64_t>{1, 3, 3});
    demand(false, "no such mode");
  } catch (const ffi::Error& error) {
    demand(error.kind() == "ValueError", "the kind");
  }
  streams(library);
  std::puts("called");
}
