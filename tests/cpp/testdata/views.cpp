// Elements: arrays, spans, packed ones, and their types.
#include <dlpackgen/all.hpp>

#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "untrusted.hpp"

using dlpackgen::array_of;
using dlpackgen::as_number;
using dlpackgen::Builder;
using dlpackgen::dtype_of;
using dlpackgen::ErrorCode;
using dlpackgen::flat_of;
using dlpackgen::Managed;
using dlpackgen::packed_of;
using dlpackgen::same_dtype;
using dlpackgen::TensorView;
namespace dtypes = dlpackgen::dtypes;

static std::int64_t shape[] = {2, 3};

static TensorView view(const std::int64_t* strides, std::uint64_t offset = 0, std::uint64_t set = 0) {
  static DLTensor t;
  t = untrusted::tensor(2, shape, const_cast<std::int64_t*>(strides));
  t.byte_offset = offset;
  return *TensorView::from_raw(&t, set, dlpackgen::Accept::null_strides);
}

// Strides and byte_offset are applied, with either sign.
static void arrays() {
  for (int i = 0; i < 64; ++i) untrusted::numbers[i] = static_cast<float>(i);
  const std::int64_t plain[] = {3, 1}, turned[] = {1, 2}, back[] = {-3, -1}, still[] = {0, 0};
  const auto a = array_of<float, 2>(view(plain, 8));
  CHECK(a && (*a)(0, 0) == 2 && (*a)(1, 2) == 7 && a->size() == 6 && a->extent(1) == 3 && a->stride(0) == 3);
  CHECK((*array_of<float, 2>(view(turned)))(1, 2) == 5);
  CHECK((*array_of<float, 2>(view(nullptr)))(1, 2) == 5);
  const auto reversed = *array_of<const float, 2>(view(back, 20));
  CHECK(reversed(0, 0) == 5 && reversed(1, 2) == 0 && reversed[1][2] == 0 && reversed[0].size() == 3);
  CHECK((*array_of<const float, 2>(view(still, 4)))(1, 2) == 1);
  CHECK((array_of<float, 2>(view(still, 4)).code() == ErrorCode::overlap &&
         flat_of<float>(view(still)).code() == ErrorCode::overlap));
  CHECK(a->at(1, 2) == &(*a)(1, 2) && a->at(2, 0) == nullptr && a->at(-1, 0) == nullptr && a->at(0, 3) == nullptr);
  (*a)(1, 1) = 50;
  CHECK(untrusted::numbers[6] == 50);
  static_assert(std::is_same<decltype(reversed(0, 0)), const float&>::value, "what is read only stays so");
  const dlpackgen::ArrayView<float, 2> none;
  CHECK(none.size() == 0 && none.at(0, 0) == nullptr);
}

template <class From, class To>
static constexpr bool converts = std::is_convertible<From, To>::value;
template <class From, class To>
static constexpr bool safely = converts<From, To> && std::is_nothrow_constructible<To, From>::value;

// Writable views convert to read-only ones, never the reverse.
static void to_const() {
  using dlpackgen::ArrayView;
  using dlpackgen::FlatView;
  using dlpackgen::int4;
  using dlpackgen::PackedView;
  static_assert(safely<ArrayView<float, 2>, ArrayView<const float, 2>> &&
                safely<FlatView<float>, FlatView<const float>>);
  static_assert(safely<PackedView<int4>, PackedView<const int4>>);
  static_assert(!converts<ArrayView<const float, 2>, ArrayView<float, 2>> &&
                !converts<FlatView<const float>, FlatView<float>>);
  static_assert(!converts<PackedView<const int4>, PackedView<int4>>);
  static_assert(!converts<ArrayView<float, 2>, ArrayView<const float, 3>> &&
                !converts<FlatView<float>, FlatView<const double>>);
  static_assert(!std::is_constructible<ArrayView<float, 2>, ArrayView<const float, 2>>::value &&
                !std::is_constructible<FlatView<float>, FlatView<const float>>::value);
  static_assert(std::is_trivially_copyable<ArrayView<const float, 2>>::value);
  const std::int64_t back[] = {-3, -1};
  const ArrayView<float, 2> from = *array_of<float, 2>(view(back, 20));
  const ArrayView<const float, 2> to = from;
  CHECK(to.at(1, 0) == from.at(1, 0) && to.extent(1) == 3 && to.stride(0) == -3 && to.data() == from.data());
  const ArrayView<const float, 0> scalar = ArrayView<float, 0>(untrusted::numbers, nullptr, nullptr);
  CHECK(scalar.data() == untrusted::numbers && scalar.size() == 1);
  const FlatView<const float> all = FlatView<float>(untrusted::numbers, 7);
  CHECK(all.data() == untrusted::numbers && all.size() == 7);
  std::uint8_t bytes[] = {0x21};
  const PackedView<const int4> two = PackedView<int4>(bytes, 2);
  CHECK(two.size() == 2 && two.data() == bytes && two[1].bits == 2);
}

static void rejected() {
  const std::int64_t plain[] = {3, 1};
  CHECK((array_of<float, 3>(view(plain)).code() == ErrorCode::ndim_mismatch));
  CHECK((array_of<float, 3>(view(plain)).error().expected == 3 && array_of<float, 3>(view(plain)).error().got == 2));
  CHECK((array_of<int, 2>(view(plain)).code() == ErrorCode::dtype_mismatch));
  CHECK((array_of<float, 2>(view(plain, 0, dlpackgen::flags::read_only)).code() == ErrorCode::read_only));
  CHECK((array_of<const float, 2>(view(plain, 0, dlpackgen::flags::read_only))));
  CHECK((array_of<float, 2>(view(plain, 2)).code() == ErrorCode::misaligned));
  DLTensor device = view(plain).raw();
  device.device.device_type = kDLCUDA;
  CHECK((array_of<float, 2>(*TensorView::from_raw(&device, 0)).code() == ErrorCode::not_host_readable));
  device.device.device_type = kDLCUDAHost;  // pinned memory is read like any other
  CHECK((array_of<float, 2>(*TensorView::from_raw(&device, 0))));
}

static void flat() {
  const std::int64_t plain[] = {3, 1}, turned[] = {1, 2};
  CHECK(flat_of<float>(view(plain)) && flat_of<float>(view(plain))->size() == 6);
  CHECK(flat_of<float>(view(turned)).code() == ErrorCode::not_contiguous);
  float sum = 0;
  for (const float x : *flat_of<const float>(view(plain))) sum += x;
  CHECK(sum == 15);
#if __cplusplus >= 202002L
  CHECK(dlpackgen::span_of<float>(view(plain))->size() == 6);
  CHECK(dlpackgen::span_of<float>(view(turned)).code() == ErrorCode::not_contiguous);
  const auto all = *flat_of<const float>(view(plain));
  CHECK(std::span<const float>(all).data() == untrusted::numbers);
#endif
}

#ifdef __cpp_lib_mdspan
static void standard_views() {
  const std::int64_t plain[] = {3, 1}, turned[] = {1, 2}, back[] = {-3, -1}, still[] = {0, 0}, crossed[] = {2, 1};
  const auto a = *dlpackgen::mdspan_of<float, 2>(view(plain, 8));
  CHECK(a[0, 0] == 2 && a[1, 2] == 7 && a.extent(1) == 3);
  const auto b = *dlpackgen::mdspan_of<const float, 2>(view(turned));
  CHECK(b[1, 2] == 5);
  for (const auto* strides : {back, still, crossed}) {
    CHECK((dlpackgen::mdspan_of<const float, 2>(view(strides, 20)).code() == ErrorCode::strides));
  }
  shape[0] = 1;  // the stride of a single row has no meaning
  const std::int64_t odd[] = {-99, 1};
  CHECK((dlpackgen::mdspan_of<float, 2>(view(odd))));
  shape[0] = 0;
  CHECK((dlpackgen::mdspan_of<float, 2>(view(back))));
  shape[0] = 2;
}
#endif

// float4: two per byte, or one.
static void packed() {
  using dlpackgen::float4_e2m1fn;
  std::uint8_t bytes[] = {0x21, 0x43, 0xF5};
  const auto five = Builder(bytes, dtypes::float4_e2m1fn).shape({5}).build();
  const auto codes = *packed_of<float4_e2m1fn>(five->view());
  for (int i = 0; i < 5; ++i) CHECK(codes[i].bits == i + 1);
  codes.set(1, float4_e2m1fn{9});
  CHECK(bytes[0] == 0x91 && bytes[1] == 0x43);
  CHECK((array_of<float4_e2m1fn, 1>(five->view()).code() == ErrorCode::packed));
  const auto padded = Builder(bytes, dtypes::float4_e2m1fn).shape({3}).padded().read_only().build();
  CHECK((*array_of<const float4_e2m1fn, 1>(padded->view()))(1).bits == 0x43);
  CHECK(packed_of<const float4_e2m1fn>(padded->view()).code() == ErrorCode::packed);
  CHECK(packed_of<dlpackgen::float6_e2m3fn>(five->view()).code() == ErrorCode::dtype_mismatch);
  std::uint8_t sixes[] = {0x81, 0x30, 0x10};  // 1, 2, 3, 4
  const auto four = Builder(sixes, dtypes::float6_e2m3fn).shape({4}).read_only().build();
  const auto read = *packed_of<const dlpackgen::float6_e2m3fn>(four->view());
  for (int i = 0; i < 4; ++i) CHECK(read[i].bits == i + 1);
  CHECK(packed_of<dlpackgen::float6_e2m3fn>(four->view()).code() == ErrorCode::read_only);
}

struct Mine {  // not a complex number
  using value_type = double;
  double real() const { return 0; }
  double imag() const { return 0; }
  double third;
};

template <class T>
struct Thrice {  // nor is this
  using value_type = T;
  T real() const { return first; }
  T imag() const { return second; }
  T first, second, third;
};

static void types() {
  static_assert(same_dtype(dtype_of<std::complex<float>>, dtypes::complex64));
  static_assert(same_dtype(dtype_of<const std::complex<double>>, dtypes::complex128));
  static_assert(!dlpackgen::is_element<std::complex<long double>> && !dlpackgen::is_element<std::complex<int>>);
  CHECK(!dlpackgen::is_element<Thrice<float>>);
  static_assert(!dlpackgen::is_element<Mine> && !dlpackgen::is_element<std::vector<float>>);
  static_assert(same_dtype(dtype_of<dlpackgen::float16>, dtypes::float16) && sizeof(dlpackgen::float16) == 2);
  static_assert(same_dtype(dtype_of<dlpackgen::bfloat16>, dtypes::bfloat16));
  static_assert(same_dtype(dtype_of<dlpackgen::float8_e4m3b11fnuz>, dtypes::float8_e4m3b11fnuz));
  static_assert(same_dtype(dtype_of<dlpackgen::complex32>, dtypes::complex32) && alignof(dlpackgen::complex32) == 2);
  static_assert(same_dtype(dtype_of<dlpackgen::int4>, dtypes::int4) && dlpackgen::int4{1} != dlpackgen::int4{2});
  std::vector<std::complex<float>> numbers{{1, 2}, {3, 4}};
  const auto made = Builder().build(std::move(numbers));
  CHECK((array_of<std::complex<float>, 1>(made->view())->at(1)->imag() == 4));
#ifdef __STDCPP_FLOAT16_T__
  static_assert(same_dtype(dtype_of<std::float16_t>, dtypes::float16));
#endif
#ifdef __STDCPP_BFLOAT16_T__
  static_assert(same_dtype(dtype_of<std::bfloat16_t>, dtypes::bfloat16));
#endif
#ifdef __STDCPP_FLOAT32_T__
  static_assert(same_dtype(dtype_of<std::float32_t>, dtypes::float32) &&
                same_dtype(dtype_of<std::float64_t>, dtypes::float64));
#endif
}

static bool says(const dlpackgen::Error& error, const char* text) {
  return std::strcmp(dlpackgen::Message(error).c_str(), text) == 0;
}

static void messages() {
  using dlpackgen::Error;
  const std::int64_t plain[] = {3, 1};
  CHECK(
      says(array_of<long, 2>(view(plain)).error(), "the elements have a different type: expected int64, got float32"));
  CHECK(says(Error(ErrorCode::dtype_mismatch, as_number(dtypes::bool_), as_number(DLDataType{kDLFloat, 32, 4})),
             "the elements have a different type: expected bool, got code 2 with 32 bits and 4 lanes"));
  CHECK(says(array_of<float, 1>(view(plain)).error(),
             "the tensor has a different number of dimensions: expected 1, got 2"));
  CHECK(says(Error(ErrorCode::extent, 0, INT64_MIN, 1),
             "an extent of shape is negative: got -9223372036854775808, in dimension 1"));
  CHECK(says(Error(ErrorCode::extent, 0, -3), "an extent of shape is negative: got -3"));
  CHECK(says(ErrorCode::no_memory, "out of memory"));
#ifdef __cpp_exceptions
  try {
    dlpackgen::unwrap(Managed::from_raw(nullptr));
    CHECK(false);
  } catch (const dlpackgen::Exception& e) {
    CHECK(e.code() == ErrorCode::null && std::strcmp(e.what(), "the pointer is NULL") == 0);
  }
  CHECK(dlpackgen::unwrap(array_of<float, 2>(view(plain))).size() == 6);
#endif
}

int main() {
  arrays();
  to_const();
  rejected();
  flat();
#ifdef __cpp_lib_mdspan
  standard_views();
#endif
  packed();
  types();
  messages();
  return testing::report();
}
