/* The kernels. They check nothing, because the description specifies their arguments. */
#include <kernels.h>
#include <math.h>

static int64_t size_of(const DLTensor* x) {
  int64_t size = 1;
  for (int32_t d = 0; d < x->ndim; d++) size *= x->shape[d];
  return size;
}

#define DATA(type, x) ((type*)((char*)(x)->data + (x)->byte_offset))

#define AXPY(name, type)                                                         \
  int name(type a, const DLTensor* x, DLTensor* y, void* stream) {               \
    const int64_t size = size_of(x);                                             \
    (void)stream;                                                                \
    for (int64_t i = 0; i < size; i++) DATA(type, y)[i] += a * DATA(type, x)[i]; \
    return 0;                                                                    \
  }

#define SOFTMAX(name, type, exponential)                                          \
  int name(const DLTensor* x, DLTensor* y, void* stream) {                        \
    const int64_t size = size_of(x), n = x->shape[x->ndim - 1];                   \
    (void)stream;                                                                 \
    for (int64_t row = 0; row < size; row += n) {                                 \
      const type* from = DATA(type, x) + row;                                     \
      type *to = DATA(type, y) + row, most = from[0], sum = 0;                    \
      for (int64_t i = 1; i < n; i++) most = from[i] > most ? from[i] : most;     \
      for (int64_t i = 0; i < n; i++) sum += to[i] = exponential(from[i] - most); \
      for (int64_t i = 0; i < n; i++) to[i] /= sum;                               \
    }                                                                             \
    return 0;                                                                     \
  }

AXPY(axpy_float32, float)
AXPY(axpy_float64, double)
SOFTMAX(softmax_float32, float, expf)
SOFTMAX(softmax_float64, double, exp)
