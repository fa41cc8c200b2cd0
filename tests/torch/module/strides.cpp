// The rules of strides.hpp for strides that wrap around 64 bits, under UndefinedBehaviorSanitizer.
// Libraries other than torch permit such strides.
#include <dlpackgen_torch/strides.hpp>

#include <cstdio>

namespace pytorch = dlpackgen::pytorch::detail;

constexpr std::int64_t far = std::int64_t{1} << 62;

static DLTensor tensor(std::int64_t (&shape)[2], std::int64_t (&strides)[2]) {
  return DLTensor{nullptr, {kDLCPU, 0}, 2, {kDLInt, 8, 1}, shape, strides, 0};
}

static int fails(std::int64_t first, std::int64_t second, std::int64_t a, std::int64_t b, std::int64_t span,
                 bool overlaps) {
  std::int64_t shape[] = {first, second}, strides[] = {a, b};
  const DLTensor view = tensor(shape, strides);
  if (pytorch::covered(view) == span && (dlpackgen_may_overlap(&view) != 0) == overlaps) return 0;
  std::printf("(%lld, %lld)\n", static_cast<long long>(first), static_cast<long long>(second));
  return 1;
}

int main() {
  return fails(1, 2, 1, far, far + 1, false) + fails(2, 1, far, far, far + 1, false) + fails(0, 2, far, far, 0, false) +
         fails(2, 2, far, far, INT64_MIN + 1, true) + fails(3, 2, far, far, INT64_MIN + far + 1, true) +
         fails(5, 2, far, far, far + 1, true) + fails(2, 3, 3, 1, 6, false) + fails(2, 3, 2, 1, 5, true);
}
