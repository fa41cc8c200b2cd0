// A producer and consumer made with nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace nb = nanobind;

namespace {

void gather(const nb::ndarray<nb::ro>& t, size_t dimension, const char* from, nb::list& out, size_t size) {
  if (dimension == t.ndim()) {
    out.append(nb::bytes(from, size));
    return;
  }
  for (size_t i = 0; i < t.shape(dimension); i++)
    gather(t, dimension + 1, from + static_cast<int64_t>(i) * t.stride(dimension) * static_cast<int64_t>(size), out,
           size);
}

nb::tuple read_all(nb::ndarray<nb::ro> t) {
  const size_t size = static_cast<size_t>(t.dtype().bits) * t.dtype().lanes / 8;
  if (t.dtype().bits * t.dtype().lanes % 8 != 0) throw nb::type_error("elements share bytes");
  nb::list shape, bytes;
  for (size_t i = 0; i < t.ndim(); i++) shape.append(t.shape(i));
  const auto address = reinterpret_cast<uintptr_t>(t.data());
  if (address != 0) gather(t, 0, static_cast<const char*>(t.data()), bytes, size);
  return nb::make_tuple(address, nb::tuple(shape), nb::make_tuple(t.dtype().code, t.dtype().bits, t.dtype().lanes),
                        nb::make_tuple(t.device_type(), t.device_id()), nb::bytes("").attr("join")(bytes));
}

nb::capsule nobody() {
  return nb::capsule("", [](void*) noexcept {});
}

// A tensor of any data type over a copy of the given bytes.
nb::ndarray<nb::array_api> make_any(nb::bytes memory, int code, int bits, int lanes, std::vector<size_t> shape,
                                    std::vector<int64_t> strides) {
  auto* const copy = new char[memory.size()];
  std::memcpy(copy, memory.c_str(), memory.size());
  const nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<char*>(p); });
  const nb::dlpack::dtype dtype{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
  return nb::ndarray<nb::array_api>(copy, shape.size(), shape.data(), owner, strides.data(), dtype);
}

double numbers[] = {1.5, -2.5, 3.5, 4.5, 5.5, 6.5};

}  // namespace

NB_MODULE(withnanobind, m) {
  m.def("read", &read_all);
  m.def("make_any", &make_any);
  m.def("make", [] { return nb::ndarray<nb::array_api, double>(numbers, {2, 3}, nobody()); });
  m.def("make_read_only", [] { return nb::ndarray<nb::array_api, const double>(numbers, {2, 3}, nobody()); });
  m.def("make_strided", [] { return nb::ndarray<nb::array_api, double>(numbers, {2, 2}, nobody(), {3, 2}); });
  m.def("f", [](nb::ndarray<float>, nb::ndarray<float>, nb::ndarray<float>) {});
}
