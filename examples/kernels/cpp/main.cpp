// Calls the kernels from C++, and prints its line of the table.
#include <cstdio>
#include <cstring>
#include <kernels.hpp>
#include <vector>

using namespace dlpackgen;

// One number for a result: the sum of its elements, each times its place.
template <class T>
static double digest(const TensorView& y) {
  double sum = 0, place = 0;
  for (const T value : unwrap(flat_of<const T>(y))) sum += ++place * static_cast<double>(value);
  return sum;
}

int main() {
  float data[] = {0, 1, 2, 3, 3, 3, 1, -1};
  const std::int64_t shape[] = {2, 4}, strides[] = {4, 1};
  const ArrayView<float, 2> x(data, shape, strides);
  const std::vector<float> weight{1, 2, 0.5, 1};
  const std::vector<std::int64_t> idx{1, 0, 1}, bad{2};
  const Managed made[] = {unwrap(kernels::rms_norm_new(x, weight)), unwrap(kernels::softmax_new(x)),
                          unwrap(kernels::gather_new(x, idx)), unwrap(kernels::silu_and_mul_new(x))};
  const Managed length = unwrap(kernels::norm_new(x));
  const KernelError error = kernels::gather_new(x, bad).error();

  std::printf("%-14s%9.3f%9.3f%9.3f%13.3f%9.3f", "C++", digest<float>(made[0].view()), digest<float>(made[1].view()),
              digest<float>(made[2].view()), digest<float>(made[3].view()), digest<double>(length.view()));
  throw_if_error(kernels::scale(x, 3));
  double scaled = 0;
  for (int i = 0; i < 8; i++) scaled += (i + 1) * static_cast<double>(data[i]);
  std::printf("%9.3f  %s\n", scaled, error.class_name());
  return std::strcmp(error.text(), "gather(): argument 'idx' (2nd): an index is out of range") != 0;
}
