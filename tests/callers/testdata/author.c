/* The kernels of the library that all hosts call. */
#include <kernels.h>
#include <math.h>

static int64_t size_of(const DLTensor* x) {
  int64_t size = 1;
  for (int32_t d = 0; d < x->ndim; d++) size *= x->shape[d];
  return size;
}

#define DATA(type, x) ((type*)((char*)(x)->data + (x)->byte_offset))

#define RMS_NORM(name, type)                                                                            \
  int name(const DLTensor* x, const DLTensor* weight, double eps, DLTensor* y, void* stream) {          \
    const int64_t size = size_of(x), n = x->shape[x->ndim - 1];                                         \
    (void)stream;                                                                                       \
    for (int64_t row = 0; row < size; row += n) {                                                       \
      const type* from = DATA(type, x) + row;                                                           \
      double sum = 0;                                                                                   \
      for (int64_t i = 0; i < n; i++) sum += (double)from[i] * from[i];                                 \
      const type scale = (type)(1 / sqrt(sum / (double)n + eps));                                       \
      for (int64_t i = 0; i < n; i++) DATA(type, y)[row + i] = from[i] * scale * DATA(type, weight)[i]; \
    }                                                                                                   \
    return 0;                                                                                           \
  }

#define SOFTMAX(name, type)                                                     \
  int name(const DLTensor* x, DLTensor* y, void* stream) {                      \
    const int64_t size = size_of(x), n = x->shape[x->ndim - 1];                 \
    (void)stream;                                                               \
    for (int64_t row = 0; row < size; row += n) {                               \
      const type* from = DATA(type, x) + row;                                   \
      type *to = DATA(type, y) + row, most = from[0], sum = 0;                  \
      for (int64_t i = 1; i < n; i++) most = from[i] > most ? from[i] : most;   \
      for (int64_t i = 0; i < n; i++) sum += to[i] = (type)exp(from[i] - most); \
      for (int64_t i = 0; i < n; i++) to[i] /= sum;                             \
    }                                                                           \
    return 0;                                                                   \
  }

RMS_NORM(rms_norm_float32, float)
RMS_NORM(rms_norm_float64, double)
SOFTMAX(softmax_float32, float)
SOFTMAX(softmax_float64, double)
