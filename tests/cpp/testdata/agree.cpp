// The validators of C++ and C have the same result for every tensor, and the same codes and texts.
#include <dlpackgen/tensor.h>
#include <dlpackgen/core.hpp>

#include <cstring>
#include <random>

#include "check.hpp"

static std::mt19937_64 random_bits(20261121);

template <class T, std::size_t N>
static T pick(const T (&choices)[N]) {
  return choices[random_bits() % N];
}

static std::int64_t extents[6];
static std::int64_t strides[6];
static char memory[64];

static DLTensor any_tensor() {
  const std::int64_t lengths[] = {0, 1, 2, 3, 7, -1, INT64_MAX, INT64_MIN, 1LL << 31, 1LL << 32, 5, 5, 5, 5};
  const std::int64_t steps[] = {0, 1, -1, 2, 3, -7, INT64_MAX, INT64_MIN, 1LL << 40, -(1LL << 40), 1, 1, 1};
  const std::int32_t ranks[] = {0, 1, 2, 3, 6, -1, 65, INT32_MAX, INT32_MIN, 2, 2, 3};
  const std::uint8_t bits[] = {0, 1, 4, 6, 8, 16, 32, 64, 255, 8, 4};
  const std::uint16_t lanes[] = {1, 1, 1, 1, 2, 0, 65535};
  const std::uint64_t offsets[] = {0, 0, 0, 1, 16, 1ULL << 63, UINT64_MAX, 1ULL << 62};
  void* const places[] = {memory, memory, memory, nullptr, reinterpret_cast<void*>(UINTPTR_MAX)};
  for (auto& extent : extents) extent = pick(lengths);
  for (auto& stride : strides) stride = pick(steps);
  DLTensor t{};
  t.data = pick(places);
  t.device.device_type = static_cast<DLDeviceType>(random_bits() % 24);
  t.ndim = pick(ranks);
  if (t.ndim > 6 && t.ndim < 65) t.ndim = 6;
  t.dtype = DLDataType{static_cast<std::uint8_t>(random_bits() % 21), pick(bits), pick(lanes)};
  t.shape = random_bits() % 20 == 0 ? nullptr : extents;
  t.strides = random_bits() % 5 == 0 ? nullptr : strides;
  t.byte_offset = pick(offsets);
  return t;
}

static bool same_code(dlpackgen::ErrorCode ours, dlpackgen_error_code theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}

static void compare(const DLTensor& t) {
  const std::uint64_t set = random_bits() % 8;
  const auto accept = static_cast<std::uint32_t>(random_bits() % 8);
  const dlpackgen_error_code verdict = dlpackgen_validate(&t, set, accept);
  CHECK(same_code(dlpackgen::validate(&t, set, static_cast<dlpackgen::Accept>(accept)).code, verdict));
  if (t.ndim > 6) return;
  std::int64_t number = 0, low = 0, high = 0, ours[6], theirs[6];
  dlpackgen_error_code said = dlpackgen_nbytes(&t, set, &number);
  CHECK(same_code(dlpackgen::nbytes(t, set).code(), said) &&
        (said != DLPACKGEN_OK || *dlpackgen::nbytes(t, set) == number));
  said = dlpackgen_byte_range(&t, set, &low, &high);
  const auto reach = dlpackgen::byte_range(t, set);
  CHECK(same_code(reach.code(), said) && (said != DLPACKGEN_OK || (reach->low == low && reach->high == high)));
  said = dlpackgen_compact_strides(t.ndim, t.shape, theirs);
  CHECK(same_code(dlpackgen::compact_strides(t.ndim, t.shape, ours).code, said));
  if (said == DLPACKGEN_OK && t.ndim > 0) CHECK(std::memcmp(ours, theirs, 8 * static_cast<std::size_t>(t.ndim)) == 0);
  if (verdict == DLPACKGEN_OK) CHECK(dlpackgen::is_contiguous(t) == (dlpackgen_is_contiguous(&t) != 0));
}

int main() {
  int seen[16] = {};
  for (int i = 0; i < 300000; ++i) {
    const DLTensor t = any_tensor();
    const dlpackgen_error_code verdict = dlpackgen_validate(&t, 0, 0);
    ++seen[verdict];
    compare(t);
  }
  for (int code : {0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}) CHECK(seen[code] > 0);
  for (int i = 0; i <= 15; ++i) {
    CHECK(std::strcmp(dlpackgen_error_string(static_cast<dlpackgen_error_code>(i)),
                      dlpackgen::error_string(static_cast<dlpackgen::ErrorCode>(i))) == 0);
  }
  for (int i = -3; i < 40; ++i) {
    const char* ours = dlpackgen::device_type_name(i);
    const char* theirs = dlpackgen_device_type_name(i);
    CHECK((ours == nullptr) == (theirs == nullptr) && (ours == nullptr || std::strcmp(ours, theirs) == 0));
    CHECK(dlpackgen::is_host_readable(i) == (dlpackgen_device_is_host_readable(i) != 0));
    CHECK(dlpackgen::is_opaque(i) == (dlpackgen_device_is_opaque(i) != 0));
  }
  return testing::report();
}
