/* The C functions of the kernel scale. The callers check the arguments against dlpackgen.yaml
 * before the call. */
#include "kernels.h"

static int64_t size_of(const DLTensor* tensor) {
  int64_t size = 1;
  for (int32_t i = 0; i < tensor->ndim; i++) size *= tensor->shape[i];
  return size;
}

/* The first element is byte_offset bytes after data. */
static void* first_of(const DLTensor* tensor) { return (char*)tensor->data + tensor->byte_offset; }

int scale_float32(const DLTensor* x, double factor, DLTensor* y, void* stream) {
  const float* from = first_of(x);
  float* to = first_of(y);
  (void)stream;
  for (int64_t i = size_of(x); i-- > 0;) to[i] = (float)(from[i] * factor);
  return 0;
}

int scale_float64(const DLTensor* x, double factor, DLTensor* y, void* stream) {
  const double* from = first_of(x);
  double* to = first_of(y);
  (void)stream;
  for (int64_t i = size_of(x); i-- > 0;) to[i] = from[i] * factor;
  return 0;
}
