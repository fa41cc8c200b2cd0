// Calls the functions with tvm-ffi's own C++, and with any values of a program. An error is written
// as "CLASS: SENTENCE".
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace ffi = tvm::ffi;

// A value of a call: its kind, by compiled.py's numbers, and its parts.
struct value {
  enum kinds : std::int32_t { none, boolean, integer, real, text, list, tensor } kind;
  std::int64_t number;  // the length of a list
  double fraction;
  const char* letters;
  const value* items;
  DLTensor* lent;
};

struct Host {
  void AllocData(DLTensor* tensor) { tensor->data = std::calloc(4096, 1); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

static int allocate(DLTensor* like, DLManagedTensorVersioned** out, void*, void (*)(void*, const char*, const char*)) {
  const ffi::Shape shape(like->shape, like->shape + like->ndim);
  *out = ffi::Tensor::FromNDAlloc(Host(), shape, like->dtype, like->device).ToDLPackVersioned();
  return 0;
}

static ffi::Any made_of(const value& from) {
  switch (from.kind) {
    case value::boolean: return from.number != 0;
    case value::integer: return from.number;
    case value::real: return from.fraction;
    case value::text: return ffi::String(from.letters);
    case value::list: {
      ffi::Array<ffi::Any> items;
      for (std::int64_t i = 0; i < from.number; i++) items.push_back(made_of(from.items[i]));
      return items;
    }
    default: return nullptr;
  }
}

static void keep(const ffi::Any& result, void* into, std::size_t bytes) {
  if (result == nullptr) return;
  const auto made = result.cast<ffi::Tensor>();
  if (ffi::GetDataSize(made) != bytes) TVM_FFI_THROW(RuntimeError) << "a result of another size";
  std::memcpy(into, made.data_ptr(), bytes);
}

extern "C" void call(const char* library, const char* name, const value* values, std::int32_t count, void* into,
                     std::size_t bytes, char* text, std::size_t size) {
  try {
    const ffi::Module module = ffi::Module::LoadFromFile(library);
    TVMFFIEnvSetDLPackManagedTensorAllocator(allocate, 0, nullptr);
    std::vector<ffi::Any> owned;
    for (std::int32_t i = 0; i < count; i++) owned.push_back(made_of(values[i]));
    std::vector<ffi::AnyView> given(owned.begin(), owned.end());
    for (std::int32_t i = 0; i < count; i++)
      if (values[i].kind == value::tensor) given[i] = values[i].lent;
    ffi::Any result;
    module->GetFunction(name).value().CallPacked(given.data(), count, &result);
    keep(result, into, bytes);
  } catch (const ffi::Error& error) {
    std::snprintf(text, size, "%s: %s", error.kind().c_str(), error.message().c_str());
  }
}
