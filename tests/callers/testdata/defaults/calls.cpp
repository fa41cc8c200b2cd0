// Prints the values that the kernels receive if C++ omits all arguments.
#include <cstdint>
#include <cstdio>
#include <dlpackgen/storage.hpp>
#include <kernels.hpp>

using namespace dlpackgen;

template <class T>
static void show(const char* name, const T& result) {
  if (!result) std::printf("%s", result.error().text());
  const auto values = array_of<const std::int64_t, 1>(result->view());
  std::printf("%s [", name);
  for (std::int64_t i = 0; i < values->extent(0); i++)
    std::printf("%s%lld", i ? " " : "", static_cast<long long>((*values)(i)));
  std::printf("]\n");
}

int main() {
  double one[] = {1};
  std::uint64_t whole[] = {1};
  const std::int64_t shape[] = {1}, one_each[] = {1};
  const ArrayView<double, 1> real(one, shape, one_each);
  const ArrayView<std::uint64_t, 1> x(whole, shape, one_each);
#if defined(EDGES)
  show("edges", kernels::edges_new(real));
  (void)x;
#else
  show("wide float64", kernels::wide_new(real));
  show("wide uint64", kernels::wide_new(x));
  show("huge", kernels::huge_new(real));
#endif
  return 0;
}
