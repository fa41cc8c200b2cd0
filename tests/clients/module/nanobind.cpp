// A producer and consumer made with nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>

namespace nb = nanobind;

namespace {

void gather(const nb::ndarray<nb::ro> &t, size_t dimension, const char *from, nb::list &out, size_t size) {
	if (dimension == t.ndim()) {
		out.append(nb::bytes(from, size));
		return;
	}
	for (size_t i = 0; i < t.shape(dimension); i++)
		gather(t, dimension + 1, from + static_cast<int64_t>(i) * t.stride(dimension) * static_cast<int64_t>(size), out, size);
}

nb::tuple read_all(nb::ndarray<nb::ro> t) {
	const size_t size = static_cast<size_t>(t.dtype().bits) * t.dtype().lanes / 8;
	if (t.dtype().bits * t.dtype().lanes % 8 != 0) throw nb::type_error("elements share bytes");
	nb::list shape, bytes;
	for (size_t i = 0; i < t.ndim(); i++) shape.append(t.shape(i));
	const auto address = reinterpret_cast<uintptr_t>(t.data());
	if (address != 0) gather(t, 0, static_cast<const char *>(t.data()), bytes, size);
	return nb::make_tuple(address, nb::tuple(shape), nb::bytes("").attr("join")(bytes));
}

nb::capsule nobody() { return nb::capsule("", [](void *) noexcept {}); }

double numbers[] = {1.5, -2.5, 3.5, 4.5, 5.5, 6.5};

}  // namespace

NB_MODULE(withnanobind, m) {
	m.def("read", &read_all);
	m.def("make", [] { return nb::ndarray<nb::array_api, double>(numbers, {2, 3}, nobody()); });
	m.def("make_read_only", [] { return nb::ndarray<nb::array_api, const double>(numbers, {2, 3}, nobody()); });
	m.def("make_strided", [] { return nb::ndarray<nb::array_api, double>(numbers, {2, 2}, nobody(), {3, 2}); });
	m.def("f", [](nb::ndarray<float>, nb::ndarray<float>, nb::ndarray<float>) {});
}
