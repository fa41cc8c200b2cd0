/* SiLU and its gradient, over float32 and float64. */
#include <dlpackgen_torch/kernels.h>

#include <math.h>

enum { wrong_type = 1, wrong_shape = 2 };

const char* torchop_error(int code) {
  return code == wrong_type ? "expected tensors of float32 or float64, all of the same"
                            : "expected tensors of one shape";
}

/* What keeps x and y from being worked on together, or 0. */
static int differ(const DLTensor* x, const DLTensor* y) {
  if (x->dtype.code != kDLFloat || x->dtype.bits < 32 || y->dtype.code != kDLFloat || x->dtype.bits != y->dtype.bits)
    return wrong_type;
  if (x->ndim != y->ndim) return wrong_shape;
  for (int32_t i = 0; i < x->ndim; i++) {
    if (x->shape[i] != y->shape[i]) return wrong_shape;
  }
  return 0;
}

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

int torchop_silu(const DLTensor* x, DLTensor* result0, void* stream) {
  (void)stream;
  const int wrong = differ(x, result0);
  if (wrong) return wrong;
  for (int64_t i = 0, n = elements(x); i < n; i++) {
    if (x->dtype.bits == 64) {
      ((double*)result0->data)[i] = silu(((const double*)x->data)[i]);
    } else {
      ((float*)result0->data)[i] = (float)silu((double)((const float*)x->data)[i]);
    }
  }
  return 0;
}

int torchop_silu_backward(const DLTensor* grad, const DLTensor* x, DLTensor* result0, void* stream) {
  (void)stream;
  const int wrong = differ(grad, x);
  if (wrong) return wrong;
  for (int64_t i = 0, n = elements(x); i < n; i++) {
    if (x->dtype.bits == 64) {
      ((double*)result0->data)[i] = ((const double*)grad->data)[i] * slope(((const double*)x->data)[i]);
    } else {
      ((float*)result0->data)[i] = ((const float*)grad->data)[i] * (float)slope((double)((const float*)x->data)[i]);
    }
  }
  return 0;
}
