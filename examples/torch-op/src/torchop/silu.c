/* SiLU and its gradient. */
#include <kernels.h>

#include <math.h>

static int64_t elements(const DLTensor* x) {
  int64_t n = 1;
  for (int32_t i = 0; i < x->ndim; i++) n *= x->shape[i];
  return n;
}

static double silu(double x) { return x / (1 + exp(-x)); }

static double slope(double x) {
  const double s = 1 / (1 + exp(-x));
  return s * (1 + x * (1 - s));
}

#define SILU(dtype, T)                                                                                           \
  int torchop_silu_##dtype(const DLTensor* x, DLTensor* y, void* stream) {                                       \
    (void)stream;                                                                                                \
    for (int64_t i = 0, n = elements(x); i < n; i++) ((T*)y->data)[i] = (T)silu((double)((const T*)x->data)[i]); \
    return 0;                                                                                                    \
  }                                                                                                              \
  int torchop_silu_backward_##dtype(const DLTensor* grad, const DLTensor* x, DLTensor* dx, void* stream) {       \
    (void)stream;                                                                                                \
    for (int64_t i = 0, n = elements(x); i < n; i++) {                                                           \
      ((T*)dx->data)[i] = ((const T*)grad->data)[i] * (T)slope((double)((const T*)x->data)[i]);                  \
    }                                                                                                            \
    return 0;                                                                                                    \
  }
SILU(float32, float)
SILU(float64, double)
