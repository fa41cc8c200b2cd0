// A producer that does not use the headers under test: it fills the structs of dlpack.h by hand,
// and counts the calls of its deleters.
#ifndef DLPACKGEN_TESTS_UNTRUSTED_HPP_
#define DLPACKGEN_TESTS_UNTRUSTED_HPP_

#include <dlpack/dlpack.h>

#include <cstdint>
#include <cstdlib>

namespace untrusted {

inline int deleted = 0;

alignas(16) inline float numbers[64];

template <class Struct>
void destroy(Struct* self) {
  ++deleted;
  std::free(self);
}

inline DLTensor tensor(std::int32_t ndim, std::int64_t* shape, std::int64_t* strides) {
  DLTensor t{};
  t.data = numbers;
  t.device = DLDevice{kDLCPU, 0};
  t.ndim = ndim;
  t.dtype = DLDataType{kDLFloat, 32, 1};
  t.shape = shape;
  t.strides = strides;
  return t;
}

template <class Struct>
Struct* bare(const DLTensor& t) {
  Struct* managed = static_cast<Struct*>(std::calloc(1, sizeof(Struct)));
  if (managed == nullptr) std::abort();
  managed->deleter = destroy<Struct>;
  managed->dl_tensor = t;
  return managed;
}

inline DLManagedTensor* legacy(const DLTensor& t) { return bare<DLManagedTensor>(t); }

inline DLManagedTensorVersioned* versioned(const DLTensor& t, std::uint32_t major = 1, std::uint32_t minor = 3,
                                           std::uint64_t flags = 0) {
  auto* managed = bare<DLManagedTensorVersioned>(t);
  managed->version = DLPackVersion{major, minor};
  managed->flags = flags;
  return managed;
}

}  // namespace untrusted

#endif  // DLPACKGEN_TESTS_UNTRUSTED_HPP_
