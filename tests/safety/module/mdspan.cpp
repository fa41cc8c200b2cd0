// Strides up to the size of the address space, as std::mdspan: the tensor is valid, so nothing may
// overflow, and it must be returned.
#include <dlpackgen/mdspan.hpp>

static int give(std::int64_t rows, std::int64_t stride_of_rows, std::int64_t columns, std::int64_t stride) {
  static char data[1];
  std::int64_t shape[] = {rows, columns};
  std::int64_t strides[] = {stride_of_rows, stride};
  DLTensor tensor{};
  tensor.data = data;
  tensor.device = DLDevice{kDLCPU, 0};
  tensor.ndim = 2;
  tensor.dtype = dlpackgen::dtypes::int8;
  tensor.shape = shape;
  tensor.strides = strides;
  const auto view = dlpackgen::TensorView::from_raw(&tensor, 0);
  if (!view) return 1;
  const auto span = dlpackgen::mdspan_of<const std::int8_t, 2>(*view);
  return stride < 0 ? (span ? 1 : 0) : (span && span->extent(1) == columns ? 0 : 1);
}

int main() {
  const std::int64_t wide = INT64_C(1) << 62;
  return give(2, wide, 2, 1) + give(1, 1, 2, wide) + give(1, 7, 2, -4);
}
