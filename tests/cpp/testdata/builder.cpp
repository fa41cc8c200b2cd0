// Exports: every kind of owner, layouts, flags, and rejections.
#include <dlpackgen/builder.hpp>
#include <dlpackgen/storage.hpp>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "untrusted.hpp"

using dlpackgen::Builder;
using dlpackgen::ErrorCode;
using dlpackgen::Managed;
using dlpackgen::ManagedLegacy;
using dlpackgen::on_delete;
using dlpackgen::same_dtype;
namespace flags = dlpackgen::flags;

static int released = 0;

static void containers() {
  std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  const float* const data = numbers.data();
  const auto made = Builder().shape({2, 3}).build(std::move(numbers));
  CHECK(made && made->view().data() == data && made->view().ndim() == 2 && made->view().size() == 6);
  CHECK(made->view().stride(0) == 3 && made->view().stride(1) == 1 && made->flags() == 0);
  const DLManagedTensorVersioned* raw = made->get();
  CHECK(raw->version.major == 1 && raw->version.minor == dlpackgen::abi_version.minor &&
        raw->dl_tensor.strides != nullptr);
  const auto line = Builder().build(std::vector<std::int16_t>(5));
  CHECK(line && line->view().shape(0) == 5 && same_dtype(line->view().dtype(), dlpackgen::dtypes::int16));
  // The elements of an array move with it.
  const auto moved = Builder().build(std::array<int, 3>{7, 8, 9});
  CHECK(moved && static_cast<const int*>(moved->view().data())[2] == 9);
  const auto text = Builder().build(std::string("short"));
  CHECK(text && static_cast<const char*>(text->view().data())[0] == 's');
  const auto empty = Builder().build(std::vector<double>());
  CHECK(empty && empty->view().size() == 0 && empty->view().data() == nullptr && empty->get()->dl_tensor.shape[0] == 0);
  const auto offset = Builder(untrusted::numbers).shape({3, 0}).byte_offset(8).build();
  CHECK(offset && offset->get()->dl_tensor.data == nullptr && offset->get()->dl_tensor.byte_offset == 0);
  const auto other = Builder(untrusted::numbers).shape({2}).build(std::vector<float>(8));
  CHECK(other && other->view().data() == untrusted::numbers);
  const auto strided = Builder().shape({2, 2}).strides({-1, 2}).byte_offset(4).build(std::vector<float>(4));
  CHECK(strided && strided->view().stride(0) == -1 && strided->get()->dl_tensor.byte_offset == 4);
}

static void pointers() {
  released = 0;
  {
    auto shared = std::shared_ptr<float>(untrusted::numbers, [](float*) { ++released; });
    const auto first = Builder().shape({4}).build(std::shared_ptr<float>(shared));
    const auto second = Builder().shape({4, 2}).build_legacy(std::shared_ptr<float>(shared));
    shared.reset();
    CHECK(first && second && released == 0 && first->view().data() == untrusted::numbers);
  }
  CHECK(released == 1);
  struct Close {
    void operator()(double* p) const { ++released, delete[] p; }
  };
  {
    std::unique_ptr<double[], Close> unique(new double[6]);
    const double* const data = unique.get();
    const auto made = Builder().shape({3, 2}).build(std::move(unique));
    CHECK(made && made->view().data() == data && released == 1);
  }
  CHECK(released == 2);
  {
    const auto made = Builder().shape({2}).build(std::shared_ptr<const float>(std::make_shared<float>(1.0F)));
    CHECK(made && made->view().is_read_only());
    const auto whole = Builder(untrusted::numbers).shape({2, 2}).build(std::make_shared<std::string>("owner"));
    CHECK(whole && whole->view().data() == untrusted::numbers);
  }
  {
    const auto made = Builder(untrusted::numbers).shape({8}).build(on_delete([] { ++released; }));
    CHECK(made && released == 2);
  }
  CHECK(released == 3);
  CHECK(Builder(untrusted::numbers).shape({8}).build());
}

struct alignas(64) Wide {
  char bytes[64];
};

static void odd_owners() {
  const auto made = Builder(untrusted::numbers).shape({8}).build(Wide{});
  CHECK(made && reinterpret_cast<std::uintptr_t>(made->get()->manager_ctx) % 64 == 0);
  const auto of_bool = Builder().build(std::array<bool, 2>{true, false});
  CHECK(of_bool && same_dtype(of_bool->view().dtype(), dlpackgen::dtypes::bool_));
  const auto small = Builder().build(std::vector<dlpackgen::float8_e5m2>(3));
  CHECK(small && same_dtype(small->view().dtype(), dlpackgen::dtypes::float8_e5m2));
}

static void many_dimensions() {
  std::vector<std::int64_t> ones(64, 1);
  const auto most = Builder(untrusted::numbers).shape(ones).build();
  CHECK(most && most->view().ndim() == 64);
  const std::int64_t twelve[] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  const auto made = Builder(untrusted::numbers).shape(twelve).build();
  CHECK(made && made->view().ndim() == 12 && made->view().stride(1) == 32 && made->view().size() == 64);
  ones.push_back(1);
  CHECK(Builder(untrusted::numbers).shape(ones).build().code() == ErrorCode::ndim);
  const auto scalar = Builder(untrusted::numbers).shape({}).build();
  CHECK(scalar && scalar->view().size() == 1 && scalar->get()->dl_tensor.shape == nullptr);
}

// An unchecked view may have more dimensions than a builder supports.
static void too_many_dimensions() {
  std::int64_t ones[200];
  for (auto& one : ones) one = 1;
  for (const std::int32_t ndim : {65, 200, INT32_MAX, -1, INT32_MIN}) {
    const auto view = dlpackgen::TensorView::from_raw_unchecked(untrusted::tensor(ndim, ones, ones), 0);
    const auto made = Builder::from_view(view).build();
    CHECK(made.code() == ErrorCode::ndim && made.error().got == ndim);
  }
  const auto without = dlpackgen::TensorView::from_raw_unchecked(untrusted::tensor(2, nullptr, ones), 0);
  CHECK(Builder::from_view(without).build().code() == ErrorCode::shape_null);
  CHECK(Builder::from_view(dlpackgen::TensorView::from_raw_unchecked(untrusted::tensor(64, ones, nullptr), 0)).build());
}

// Elements are aligned for their type, or the export is rejected.
static void alignment() {
  namespace dtypes = dlpackgen::dtypes;
  const auto at = [](DLDataType dtype, std::uint64_t offset) {
    return Builder(untrusted::numbers, dtype).shape({2}).byte_offset(offset).build().code();
  };
  CHECK(at(dtypes::float32, 4) == ErrorCode::ok && at(dtypes::float32, 2) == ErrorCode::misaligned);
  CHECK(at(dtypes::int16, 2) == ErrorCode::ok && at(dtypes::int16, 3) == ErrorCode::misaligned);
  CHECK(at(dtypes::float64, 8) == ErrorCode::ok && at(dtypes::float64, 4) == ErrorCode::misaligned);
  CHECK(at(DLDataType{kDLFloat, 128, 1}, 16) == ErrorCode::ok &&
        at(DLDataType{kDLFloat, 128, 1}, 8) == ErrorCode::misaligned);
  CHECK(dlpackgen::alignment(DLDataType{18, 32, 1}) == 2);  // kDLBcomplex
  CHECK(at(dtypes::complex32, 2) == ErrorCode::ok && at(dtypes::complex32, 1) == ErrorCode::misaligned);
  CHECK(at(dtypes::complex64, 4) == ErrorCode::ok && at(dtypes::complex64, 2) == ErrorCode::misaligned);
  CHECK(at(dtypes::uint8, 3) == ErrorCode::ok && at(dtypes::float4_e2m1fn, 1) == ErrorCode::ok);
  CHECK(at(DLDataType{kDLFloat, 32, 4}, 4) == ErrorCode::ok &&
        at(DLDataType{kDLFloat, 32, 4}, 1) == ErrorCode::misaligned);
  char* const odd = reinterpret_cast<char*>(untrusted::numbers) + 1;
  const auto made = Builder(odd, dtypes::float32).shape({2}).build();
  CHECK(made.code() == ErrorCode::misaligned && made.error().expected == 4 && made.error().got == 1);
  CHECK(Builder(odd, dtypes::float32).shape({2}).byte_offset(3).build());
  CHECK(Builder(odd, dtypes::float32).shape({0}).build());  // no elements
  // A handle is not an address, but byte_offset is still a distance.
  const auto metal = [&](std::uint64_t offset) {
    return Builder(odd, dtypes::float32).device({kDLMetal, 0}).shape({2}).byte_offset(offset).build().code();
  };
  CHECK(metal(4) == ErrorCode::ok && metal(3) == ErrorCode::misaligned);
}

// Each object of a type narrower than a byte occupies a byte.
static void narrow_types() {
  using dlpackgen::float4_e2m1fn;
  const auto made = Builder().build(std::vector<float4_e2m1fn>(3));
  CHECK(made && made->view().is_padded() && made->view().nbytes() == 3 && made->view().data_as<const float4_e2m1fn>());
  float4_e2m1fn two[2] = {};
  const auto pair = Builder(two).shape({2}).build();
  CHECK(pair && pair->view().is_padded());
  CHECK(Builder(two).shape({2}).build_legacy().code() == ErrorCode::flags);
  const auto packed = Builder().dtype(dlpackgen::dtypes::float4_e2m1fn).shape({4}).build(std::vector<std::uint8_t>(2));
  CHECK(packed && packed->view().is_packed());
}

static void flags_survive() {
  const std::uint64_t all = flags::read_only | flags::is_copied | flags::is_subbyte_type_padded;
  const auto made = Builder(untrusted::numbers).shape({4}).read_only().copied().padded().build();
  CHECK(made && made->flags() == all && made->get()->flags == all);
  const float* const fixed = untrusted::numbers;
  const auto constant = Builder(fixed).shape({4}).build();
  CHECK(constant && constant->view().is_read_only());
  CHECK(Builder(fixed).shape({4}).build_legacy().code() == ErrorCode::flags);
  CHECK(Builder(untrusted::numbers).shape({4}).padded().build_legacy().code() == ErrorCode::flags);
  CHECK(Builder(untrusted::numbers).shape({4}).copied().build_legacy());
  // A re-exported tensor keeps its flags, including unknown ones.
  std::int64_t shape[] = {4};
  DLTensor t = untrusted::tensor(1, shape, nullptr);
  t.byte_offset = 8;
  Managed theirs = *Managed::from_raw(untrusted::versioned(t, 1, 1, all | (1ULL << 50)));
  const auto again = Builder::from_view(theirs.view()).build(std::move(theirs));
  CHECK(again && again->flags() == ((all & ~flags::is_copied) | (1ULL << 50)) && again->view().stride(0) == 1 &&
        !theirs);  // NOLINT
  CHECK(again->view().data() == untrusted::numbers + 2);
}

// A copy with two users no longer belongs to one of them.
static void copies_are_shared() {
  const auto owner = std::make_shared<Managed>(*Builder().copied().build(std::vector<float>(3)));
  CHECK(owner->view().is_copied());
  for (int i = 0; i < 2; ++i) {
    const auto made = Builder::from_view(owner->view()).build(std::shared_ptr<Managed>(owner));
    CHECK(made && made->flags() == 0);
  }
  const auto own = Builder::from_view(owner->view()).copied().build(std::shared_ptr<Managed>(owner));
  CHECK(own && own->view().is_copied());  // a caller with more information declares it
}

// A rejected or moved tensor does not become an empty tensor.
static void nothing_stays_nothing() {
  CHECK(dlpackgen::upgrade(ManagedLegacy()).code() == ErrorCode::null);
  CHECK(dlpackgen::upgrade_writable(ManagedLegacy()).code() == ErrorCode::null);
  CHECK(dlpackgen::downgrade(Managed()).code() == ErrorCode::null);
  auto bad = ManagedLegacy::from_raw(untrusted::legacy(untrusted::tensor(-1, nullptr, nullptr)));
  CHECK(!bad && dlpackgen::upgrade(std::move(*bad)).code() == ErrorCode::null);
  ManagedLegacy old = *Builder().build_legacy(std::vector<float>(3));
  CHECK(dlpackgen::upgrade(std::move(old)) && dlpackgen::upgrade(std::move(old)).code() == ErrorCode::null);  // NOLINT
}

// A container of some of the numbers, which is followed by others.
struct Some {
  float* data() { return untrusted::numbers; }
  std::size_t size() const { return 2; }
};

// Data that is passed in addition to the container may be inside it, and is then limited by it.
static void data_in_the_container() {
  std::vector<float> three(3);
  float* const data = three.data();
  const auto code = [&](float* from, std::int64_t extent, std::int64_t step) {
    return Builder(from).shape({extent}).strides({step}).build(std::vector<float>(three.begin(), three.end())).code();
  };
  CHECK(code(data, 3, 1) == ErrorCode::ok);  // of another container
  CHECK(Builder(untrusted::numbers + 2).shape({8}).build(Some()));
  const auto whole = Builder(data).shape({3000}).build(std::move(three));
  CHECK(whole.code() == ErrorCode::too_small && whole.error().expected == 12000 && whole.error().got == 12);
  CHECK(Builder(data + 1).shape({3}).build(std::move(three)).code() == ErrorCode::too_small);
  CHECK(Builder(data + 2).shape({4}).strides({-1}).build(std::move(three)).code() == ErrorCode::too_small);
  CHECK(Builder(data + 1).shape({1}).byte_offset(8).build(std::move(three)).code() == ErrorCode::too_small);
  CHECK(Builder(data + 2).shape({3}).strides({-1}).build(std::move(three)));
  three.assign(3, 0);
  CHECK(Builder(three.data() + 1).shape({2}).build(std::move(three)));
}

// A container of 2 x 3 numbers in unknown order.
struct Table {
  float* data() { return untrusted::numbers; }
  std::size_t size() const { return 6; }
  std::size_t rows() const { return 2; }
};

static void unknown_order() {
  CHECK(Builder().shape({2, 3}).build(Table()).code() == ErrorCode::layout);
  CHECK(Builder().build(Table()).code() == ErrorCode::layout);
  CHECK(Builder(untrusted::numbers).shape({2, 3}).build(Table()).code() == ErrorCode::layout);
  const auto made = Builder().shape({2, 3}).strides({1, 2}).build(Table());
  CHECK(made && made->view().stride(0) == 1 && made->view().stride(1) == 2);
  CHECK(Builder(untrusted::numbers + 8).shape({2, 3}).build(Table()));  // not the container's data
}

// Without a shape, the number of elements must come from a container.
static void no_shape() {
  CHECK(Builder(untrusted::numbers).build().code() == ErrorCode::no_shape);
  CHECK(Builder(untrusted::numbers).build(std::vector<float>(3)).code() == ErrorCode::no_shape);
  CHECK(Builder().build(std::make_unique<float>(1.0F)).code() == ErrorCode::no_shape);
  CHECK(Builder().shape({}).build(std::make_unique<float>(1.0F)));
}

static void between_structs() {
  untrusted::deleted = 0;
  std::int64_t shape[] = {4};
  std::int64_t strides[] = {2};
  {
    ManagedLegacy old = *ManagedLegacy::from_raw(untrusted::legacy(untrusted::tensor(1, shape, strides)));
    auto made = dlpackgen::upgrade_writable(std::move(old));
    CHECK(made && made->view().stride(0) == 2 && made->flags() == 0 && untrusted::deleted == 0);
    auto back = dlpackgen::downgrade(std::move(*made));
    CHECK(back && untrusted::deleted == 0);
  }
  CHECK(untrusted::deleted == 1);
  // Tensors without a read-only flag become read-only.
  const auto safe =
      dlpackgen::upgrade(*ManagedLegacy::from_raw(untrusted::legacy(untrusted::tensor(1, shape, strides))));
  CHECK(safe && safe->flags() == flags::read_only && safe->get()->flags == flags::read_only);
  Managed marked = *Managed::from_raw(untrusted::versioned(untrusted::tensor(1, shape, strides), 1, 3, 1ULL << 50));
  CHECK(dlpackgen::downgrade(std::move(marked)).code() == ErrorCode::flags && marked);  // NOLINT
  Managed own = *Managed::from_raw(untrusted::versioned(untrusted::tensor(1, shape, strides), 1, 3, flags::is_copied));
  CHECK(dlpackgen::downgrade(std::move(own)));
  Managed fixed =
      *Managed::from_raw(untrusted::versioned(untrusted::tensor(1, shape, strides), 1, 3, flags::read_only));
  CHECK(dlpackgen::downgrade(std::move(fixed)).code() == ErrorCode::flags && fixed);  // NOLINT: it stays after an error
}

static void rejected() {
  std::vector<float> six(6);
  const auto too_small = Builder().shape({7}).build(std::move(six));
  CHECK(too_small.code() == ErrorCode::too_small && too_small.error().expected == 28 && too_small.error().got == 24);
  CHECK(six.size() == 6);  // NOLINT: after an error it is still the caller's
  CHECK(Builder().shape({3}).strides({3}).build(std::move(six)).code() == ErrorCode::too_small);
  CHECK(Builder().shape({3}).byte_offset(16).build(std::move(six)).code() == ErrorCode::too_small);
  CHECK(Builder().shape({3}).strides({-1}).byte_offset(4).build(std::move(six)).code() == ErrorCode::too_small);
  CHECK(Builder().dtype(dlpackgen::dtypes::float64).build(std::move(six)).code() == ErrorCode::too_small);
  CHECK(Builder().shape({INT64_MAX}).strides({0}).build(std::move(six)));
  CHECK(Builder(untrusted::numbers).shape({2, -2}).build().code() == ErrorCode::extent);
  CHECK(Builder(untrusted::numbers).shape({INT64_MAX, INT64_MAX}).build().code() == ErrorCode::too_large);
  CHECK(Builder(untrusted::numbers).shape({2, 3}).strides({1}).build().code() == ErrorCode::strides);
  CHECK(Builder(untrusted::numbers, DLDataType{kDLFloat, 32, 0}).shape({2}).build().code() == ErrorCode::lanes);
  CHECK(Builder(static_cast<float*>(nullptr)).shape({2}).build().code() == ErrorCode::data_null);
  CHECK(Builder().shape({2}).build(on_delete([] {})).code() != ErrorCode::ok);
  CHECK(Builder(untrusted::numbers).shape({0, INT64_MAX, INT64_MAX}).build().code() == ErrorCode::too_large);
  std::array<float, 4> inside{};
  CHECK(Builder(inside.data()).shape({4}).build(std::move(inside)).code() == ErrorCode::data_in_owner);
  DLDevice unknown{static_cast<DLDeviceType>(77), 0};
  CHECK(Builder(untrusted::numbers).shape({2}).device(unknown).build().code() == ErrorCode::device);
  CHECK(Builder(untrusted::numbers).shape({2}).device(unknown).accept(dlpackgen::Accept::unknown_device).build());
  released = 0;
  {
    CHECK(!Builder(untrusted::numbers).shape({-1}).build(on_delete([] { ++released; })));
  }
  CHECK(released == 1);
}

int main() {
  containers();
  pointers();
  odd_owners();
  many_dimensions();
  too_many_dimensions();
  alignment();
  narrow_types();
  flags_survive();
  copies_are_shared();
  nothing_stays_nothing();
  data_in_the_container();
  unknown_order();
  no_shape();
  between_structs();
  rejected();
  return testing::report();
}
