/* The author's functions for dlpackgen.yaml. */
#include <kernels.h>
#include <string.h>

#define AFFINE(T, ctype)                                                                            \
  int affine_##T(const DLTensor* x, const DLTensor* weight, double by, DLTensor* y, void* stream) { \
    (void)stream;                                                                                   \
    const int64_t n = x->shape[x->ndim - 1];                                                        \
    int64_t all = 1;                                                                                \
    for (int32_t d = 0; d < x->ndim; d++) all *= x->shape[d];                                       \
    for (int64_t i = 0; i < all; i++) {                                                             \
      const ctype w = weight ? ((const ctype*)weight->data)[i % n] : 1;                             \
      ((ctype*)y->data)[i] = ((const ctype*)x->data)[i] * w * (ctype)by;                            \
    }                                                                                               \
    return 0;                                                                                       \
  }

AFFINE(float32, float)
AFFINE(float64, double)

int pool(const DLTensor* x, int64_t width, int64_t first, bool mean, DLTensor* y, int64_t* windows, double* share,
         bool* whole, void* stream) {
  (void)stream;
  if (mean) return width == 7 ? 5 : 3;
  *windows = y->shape[0];
  *share = (double)(*windows * width) / (double)x->shape[0];
  *whole = *windows * width == x->shape[0];
  for (int64_t i = 0; i < *windows; i++) {
    int64_t sum = 0;
    for (int64_t j = 0; j < width; j++) sum += ((const int64_t*)x->data)[first + i * width + j];
    ((int64_t*)y->data)[i] = sum;
  }
  return 0;
}

const char* pool_error(int status) { return status == 5 ? "a width of 7" : NULL; }

int pick(const DLTensor* x, const int64_t* at, int64_t count, const char* mode, const double* weights,
         int64_t weight_count, const double* limit, DLTensor* y, DLTensor* seen, void* stream) {
  (void)stream;
  float* const made = y->data;
  memset(seen->data, 0, (size_t)x->shape[0] * sizeof(double));
  for (int64_t i = 0; i < count; i++) {
    const double value = ((const float*)x->data)[at[i]] * (i < weight_count ? weights[i] : 1);
    made[i] = (float)(limit && value > *limit ? *limit : value);
    ((double*)seen->data)[at[i]] += 1;
    if (i && strcmp(mode, "sum") == 0) made[i] += made[i - 1];
  }
  return 0;
}

int pick_backward(const DLTensor* grad, const DLTensor* seen, DLTensor* x_grad, void* stream) {
  (void)grad, (void)stream;
  for (int64_t i = 0; i < seen->shape[0]; i++) ((float*)x_grad->data)[i] = (float)((const double*)seen->data)[i];
  return 0;
}
