// The core: errors, validation, data types, views and owners. Also built with -fno-exceptions
// -fno-rtti.
#include <dlpackgen/core.hpp>

#include <initializer_list>

#include "check.hpp"
#include "untrusted.hpp"

using dlpackgen::Accept;
using dlpackgen::ErrorCode;
using dlpackgen::Managed;
using dlpackgen::ManagedLegacy;
using dlpackgen::TensorView;

static std::int64_t shape23[] = {2, 3};
static std::int64_t strides23[] = {3, 1};

static void results() {
  const dlpackgen::Result<int> good(7);
  CHECK(good && *good == 7 && good.code() == ErrorCode::ok && !good.error());
  const dlpackgen::Result<int> bad(dlpackgen::Error(ErrorCode::extent, 0, -4, 2));
  CHECK(!bad && *bad == 0 && bad.code() == ErrorCode::extent && bad.error().where == 2 && bad.error().got == -4);
  for (int i = 0; i <= 34; ++i) CHECK(dlpackgen::error_string(static_cast<ErrorCode>(i))[0] != '\0');
  CHECK(dlpackgen::error_string(static_cast<ErrorCode>(35)) == dlpackgen::error_string(static_cast<ErrorCode>(-1)));
}

// The deleter is called once, by the last owner.
static void owners() {
  untrusted::deleted = 0;
  const DLTensor t = untrusted::tensor(2, shape23, strides23);
  {
    Managed a = *Managed::from_raw(untrusted::versioned(t));
    CHECK(a && a.get() != nullptr);
    Managed b = static_cast<Managed&&>(a);
    CHECK(!a && b && untrusted::deleted == 0);  // NOLINT: what is left after a move is part of the contract
    Managed& self = b;
    b = static_cast<Managed&&>(self);
    CHECK(b && untrusted::deleted == 0);
    Managed c;
    c = static_cast<Managed&&>(b);
    c = *Managed::from_raw(untrusted::versioned(t));
    CHECK(c && untrusted::deleted == 1);
    DLManagedTensorVersioned* raw = c.release();
    CHECK(!c && untrusted::deleted == 1);
    raw->deleter(raw);
  }
  CHECK(untrusted::deleted == 2);
  {
    ManagedLegacy old = *ManagedLegacy::from_raw(untrusted::legacy(t));
    CHECK(old.view().size() == 6);
    old.reset();
    CHECK(!old && untrusted::deleted == 3 && old.view().size() == 0 && old.view().ndim() == 1);
  }
  CHECK(untrusted::deleted == 3);
  CHECK(Managed::from_raw(nullptr).code() == ErrorCode::null);
}

// A producer may omit the deleter.
static void no_deleter() {
  DLManagedTensorVersioned managed{};
  managed.version = DLPackVersion{1, 3};
  managed.dl_tensor = untrusted::tensor(2, shape23, strides23);
  Managed owned = *Managed::from_raw(&managed);
  CHECK(owned);
}

// For another major version, only the deleter may be used: the rest is poisoned.
static void other_major() {
  untrusted::deleted = 0;
  DLTensor poison = untrusted::tensor(-7, reinterpret_cast<std::int64_t*>(1), reinterpret_cast<std::int64_t*>(1));
  for (std::uint32_t major : {0U, 2U, UINT32_MAX}) {
    const auto rejected = Managed::from_raw(untrusted::versioned(poison, major, 0));
    CHECK(rejected.code() == ErrorCode::version && rejected.error().expected == 1 && rejected.error().got == major);
  }
  CHECK(untrusted::deleted == 3);
  CHECK(Managed::from_raw(untrusted::versioned(untrusted::tensor(2, shape23, strides23), 1, 999)));
}

// 1.2 forbade NULL strides, so only older producers may have them.
static void null_strides() {
  const DLTensor t = untrusted::tensor(2, shape23, nullptr);
  CHECK(Managed::from_raw(untrusted::versioned(t, 1, 1)));
  CHECK(Managed::from_raw(untrusted::versioned(t, 1, 2)).code() == ErrorCode::strides_null);
  CHECK(Managed::from_raw(untrusted::versioned(t, 1, 2), Accept::null_strides));
  const auto old = ManagedLegacy::from_raw(untrusted::legacy(t));
  CHECK(old && old->view().stride(0) == 3 && old->view().stride(1) == 1);
  CHECK(TensorView::from_raw(&t, 0, Accept::null_strides) &&
        TensorView::from_raw(&t, 0).code() == ErrorCode::strides_null);
}

// The unversioned struct has no read-only flag, so only a caller with more information may write to
// it.
static void legacy_is_read_only() {
  const DLTensor t = untrusted::tensor(2, shape23, strides23);
  const ManagedLegacy old = *ManagedLegacy::from_raw(untrusted::legacy(t));
  CHECK(old.flags() == dlpackgen::flags::read_only && old.view().is_read_only() &&
        old.view().writable_data() == nullptr);
  CHECK(old.view().data_as<float>().code() == ErrorCode::read_only && old.view().data_as<const float>());
  CHECK(!old.writable_view().is_read_only() && *old.writable_view().data_as<float>() == untrusted::numbers);
  const ManagedLegacy none;
  CHECK(none.flags() == 0 && none.writable_view().size() == 0);
}

static void flags_are_kept() {
  namespace flags = dlpackgen::flags;
  const DLTensor t = untrusted::tensor(2, shape23, strides23);
  const std::uint64_t all = flags::read_only | flags::is_copied | flags::is_subbyte_type_padded | (1ULL << 40);
  const Managed owned = *Managed::from_raw(untrusted::versioned(t, 1, 3, all));
  const TensorView view = owned.view();
  CHECK(view.flags() == all && view.is_read_only() && view.is_copied() && view.is_padded());
  CHECK(view.writable_data() == nullptr && view.data() == untrusted::numbers);
  CHECK(view.data_as<float>().code() == ErrorCode::read_only && *view.data_as<const float>() == untrusted::numbers);
  const TensorView plain = *TensorView::from_raw(&t, 0);
  CHECK(!plain.is_read_only() && !plain.is_copied() && !plain.is_padded() &&
        plain.writable_data() == untrusted::numbers);
}

static void offsets_count() {
  DLTensor t = untrusted::tensor(2, shape23, strides23);
  t.byte_offset = 8;
  const TensorView view = *TensorView::from_raw(&t, 0);
  CHECK(view.data() == untrusted::numbers + 2 && *view.data_as<float>() == untrusted::numbers + 2);
  t.byte_offset = 6;
  CHECK(TensorView::from_raw(&t, 0)->data_as<float>().code() == ErrorCode::misaligned);
  CHECK(TensorView::from_raw(&t, 0)->data_as<double>().code() == ErrorCode::dtype_mismatch);
  t.device.device_type = kDLMetal;  // its data is a handle
  CHECK(TensorView::from_raw(&t, 0)->data() == nullptr &&
        TensorView::from_raw(&t, 0)->data_as<float>().code() == ErrorCode::not_host_readable);
  CHECK(!TensorView::from_raw(&t, 0)->is_on_host());
  t.device.device_type = kDLCUDA;  // an address, but not in host memory
  CHECK(TensorView::from_raw(&t, 0)->data() != nullptr && !TensorView::from_raw(&t, 0)->is_on_host());
}

// 0-d, empty, size-1, negative, zero, huge: common mistakes of libraries.
static void layouts() {
  DLTensor scalar = untrusted::tensor(0, nullptr, nullptr);
  CHECK(TensorView::from_raw(&scalar, 0)->size() == 1 && TensorView::from_raw(&scalar, 0)->nbytes() == 4);
  std::int64_t empty[] = {3, 0, INT64_MAX};
  std::int64_t wild[] = {INT64_MIN, 7, INT64_MAX};
  DLTensor none = untrusted::tensor(3, empty, wild);
  none.data = nullptr;
  CHECK(TensorView::from_raw(&none, 0) && TensorView::from_raw(&none, 0)->size() == 0 &&
        TensorView::from_raw(&none, 0)->is_contiguous());
  CHECK(TensorView::from_raw(&none, 0)->data_as<float>() &&
        *TensorView::from_raw(&none, 0)->data_as<float>() == nullptr);
  std::int64_t ones[] = {1, 5, 1};
  std::int64_t odd[] = {-99, 1, INT64_MIN};
  DLTensor single = untrusted::tensor(3, ones, odd);
  CHECK(TensorView::from_raw(&single, 0) && TensorView::from_raw(&single, 0)->is_contiguous());
  std::int64_t back[] = {-3, -1};
  DLTensor reversed = untrusted::tensor(2, shape23, back);
  reversed.byte_offset = 20;
  CHECK(TensorView::from_raw(&reversed, 0) && !TensorView::from_raw(&reversed, 0)->is_contiguous());
  CHECK(dlpackgen::byte_range(reversed)->low == -20 && dlpackgen::byte_range(reversed)->high == 4);
  std::int64_t still[] = {0, 0};
  DLTensor broadcast = untrusted::tensor(2, shape23, still);
  CHECK(TensorView::from_raw(&broadcast, 0) && dlpackgen::byte_range(broadcast)->high == 4);
}

// Elements that share memory may be read, but not written.
static void overlapping() {
  std::int64_t shape[] = {2, 3};
  const auto writes = [&shape](std::int64_t a, std::int64_t b) {
    std::int64_t strides[] = {a, b};
    DLTensor t = untrusted::tensor(2, shape, strides);
    t.byte_offset = 40;
    const auto view = TensorView::from_raw(&t, 0);
    CHECK(view && view->data_as<const float>());
    return view->data_as<float>().code();
  };
  CHECK(writes(3, 1) == ErrorCode::ok && writes(1, 2) == ErrorCode::ok && writes(-3, 1) == ErrorCode::ok &&
        writes(4, -1) == ErrorCode::ok);
  CHECK(writes(0, 1) == ErrorCode::overlap && writes(0, 0) == ErrorCode::overlap && writes(1, 0) == ErrorCode::overlap);
  CHECK(writes(2, 1) == ErrorCode::overlap && writes(1, 1) == ErrorCode::overlap &&
        writes(-1, 1) == ErrorCode::overlap);
  std::int64_t huge[] = {1, 2};
  std::int64_t far[] = {INT64_MIN, INT64_MAX};
  CHECK(!dlpackgen::may_overlap(untrusted::tensor(2, huge, far)));
  std::int64_t none[] = {0, 2};
  std::int64_t still[] = {0, 0};
  CHECK(!dlpackgen::may_overlap(untrusted::tensor(2, none, still)) &&
        dlpackgen::may_overlap(untrusted::tensor(2, shape, still)));
  CHECK(!dlpackgen::may_overlap(untrusted::tensor(2, shape, nullptr)));
}

static ErrorCode of(const DLTensor& t, Accept accept = Accept::null_strides) {
  return TensorView::from_raw(&t, 0, accept).code();
}

static void hostile() {
  CHECK(TensorView::from_raw(nullptr, 0).code() == ErrorCode::null);
  std::int64_t shape[65];
  for (auto& extent : shape) extent = 1;
  CHECK(of(untrusted::tensor(64, shape, shape)) == ErrorCode::ok);
  CHECK(of(untrusted::tensor(65, shape, shape)) == ErrorCode::ndim);
  CHECK(of(untrusted::tensor(-1, shape, shape)) == ErrorCode::ndim);
  CHECK(of(untrusted::tensor(INT32_MAX, nullptr, nullptr)) == ErrorCode::ndim);
  CHECK(of(untrusted::tensor(1, nullptr, nullptr)) == ErrorCode::shape_null);
  std::int64_t negative[] = {2, -3};
  DLTensor t = untrusted::tensor(2, negative, strides23);
  const auto fault = TensorView::from_raw(&t, 0);
  CHECK(fault.code() == ErrorCode::extent && fault.error().where == 1 && fault.error().got == -3);
  std::int64_t huge[] = {INT64_MAX, INT64_MAX};
  CHECK(of(untrusted::tensor(2, huge, nullptr)) == ErrorCode::too_large);
  std::int64_t still[] = {0, 0};
  CHECK(of(untrusted::tensor(2, huge, still)) == ErrorCode::too_large);
  std::int64_t wide[] = {1LL << 40, 1LL << 40};
  CHECK(of(untrusted::tensor(2, wide, still)) == ErrorCode::too_large);
  std::int64_t vast[] = {INT64_MAX, INT64_MAX, 0};
  CHECK(of(untrusted::tensor(3, vast, nullptr)) == ErrorCode::ok);
  std::int64_t far[] = {INT64_MIN, INT64_MAX};
  CHECK(of(untrusted::tensor(2, shape23, far)) == ErrorCode::too_large);
  std::int64_t beyond[] = {INT64_MAX / 64, 1};
  CHECK(of(untrusted::tensor(2, shape23, beyond)) == ErrorCode::ok);
  beyond[0] = -(INT64_MAX / 64);
  CHECK(of(untrusted::tensor(2, shape23, beyond)) == ErrorCode::out_of_range);
  t = untrusted::tensor(2, shape23, strides23);
  t.data = nullptr;
  CHECK(of(t) == ErrorCode::data_null);
  t.data = reinterpret_cast<void*>(UINTPTR_MAX - 22);
  CHECK(of(t) == ErrorCode::out_of_range);
  t = untrusted::tensor(2, shape23, strides23);
  t.byte_offset = UINT64_MAX;
  CHECK(of(t) == ErrorCode::out_of_range);
  t = untrusted::tensor(2, shape23, strides23);
  t.device.device_type = static_cast<DLDeviceType>(99);
  CHECK(of(t) == ErrorCode::device && of(t, Accept::unknown_device) == ErrorCode::ok);
  t = untrusted::tensor(2, shape23, strides23);
  t.dtype.code = 250;
  CHECK(of(t) == ErrorCode::code && of(t, Accept::unknown_code) == ErrorCode::ok);
  t.dtype = DLDataType{kDLFloat, 0, 1};
  CHECK(of(t) == ErrorCode::bits);
  t.dtype = DLDataType{kDLFloat, 32, 0};
  CHECK(of(t) == ErrorCode::lanes);
  for (int code = kDLBool; code <= kDLFloat4_e2m1fn; ++code) {  // types with a required width
    t.dtype = DLDataType{static_cast<std::uint8_t>(code), 16, 1};
    CHECK(of(t) == ErrorCode::bits);
  }
}

static void data_types() {
  namespace dtypes = dlpackgen::dtypes;
  using dlpackgen::dtype_of;
  using dlpackgen::same_dtype;
  static_assert(same_dtype(dtype_of<float>, dtypes::float32) && same_dtype(dtype_of<const double>, dtypes::float64));
  static_assert(same_dtype(dtype_of<bool>, dtypes::bool_) && same_dtype(dtype_of<unsigned char>, dtypes::uint8));
  static_assert(same_dtype(dtype_of<signed char>, dtypes::int8) && same_dtype(dtype_of<short>, dtypes::int16));
  static_assert(same_dtype(dtype_of<unsigned long long>, dtypes::uint64) &&
                same_dtype(dtype_of<std::int32_t>, dtypes::int32));
  static_assert(dlpackgen::is_element<long> && dlpackgen::is_element<char> && !dlpackgen::is_element<long double>);
  static_assert(!dlpackgen::is_element<wchar_t> && !dlpackgen::is_element<char16_t> && !dlpackgen::is_element<void*>);
  static_assert(!same_dtype(dtypes::float32, DLDataType{kDLFloat, 32, 2}) &&
                !same_dtype(dtypes::float16, dtypes::bfloat16));
  static_assert(dlpackgen::as_number({kDLFloat, 32, 4}) == (kDLFloat | 32 << 8 | 4 << 16),
                "as DLPACKGEN_DTYPE of C has it");
  CHECK(dlpackgen::dtype_name(dtypes::float4_e2m1fn)[0] == 'f');
  CHECK(dlpackgen::dtype_name(DLDataType{kDLFloat, 32, 4}) == nullptr);
}

// Three float4 take two bytes packed and three padded; lanes count.
static void narrow() {
  std::int64_t three[] = {3};
  DLTensor t = untrusted::tensor(1, three, three);
  t.dtype = dlpackgen::dtypes::float4_e2m1fn;
  CHECK(TensorView::from_raw_unchecked(t, 0).nbytes() == 2 && TensorView::from_raw_unchecked(t, 0).is_packed());
  CHECK(TensorView::from_raw_unchecked(t, dlpackgen::flags::is_subbyte_type_padded).nbytes() == 3);
  CHECK(!TensorView::from_raw_unchecked(t, dlpackgen::flags::is_subbyte_type_padded).is_packed());
  t.dtype.lanes = 2;  // like PyTorch's float4_e2m1fn_x2
  CHECK(TensorView::from_raw_unchecked(t, 0).nbytes() == 3 && !TensorView::from_raw_unchecked(t, 0).is_packed());
}

// An extent of 0 counts as 1, and a negative one is an error in every combination.
static void compact() {
  std::int64_t strides[3] = {-7, -7, -7};
  const std::int64_t empty[] = {2, 0, 5}, negative[] = {2, -1, 5}, large[] = {2, INT64_MAX, 5};
  CHECK(!dlpackgen::compact_strides(3, empty, strides) && strides[0] == 5 && strides[1] == 5 && strides[2] == 1);
  const dlpackgen::Error wrong = dlpackgen::compact_strides(3, negative, strides);
  CHECK(wrong.code == ErrorCode::extent && wrong.got == -1 && wrong.where == 1);
  CHECK(dlpackgen::compact_strides(3, large, strides).code == ErrorCode::too_large);
  CHECK(dlpackgen::compact_strides(1, nullptr, strides).code == ErrorCode::shape_null);
  CHECK(dlpackgen::compact_strides(1, empty, nullptr).code == ErrorCode::strides_null);
}

int main() {
  results();
  owners();
  no_deleter();
  other_major();
  null_strides();
  legacy_is_read_only();
  flags_are_kept();
  offsets_count();
  layouts();
  overlapping();
  compact();
  hostile();
  data_types();
  narrow();
  return testing::report();
}
