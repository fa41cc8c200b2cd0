/* The author's functions for dlpackgen.yaml. */
#include <kernels.h>
#include <math.h>
#include <string.h>

static int64_t size_of(const DLTensor* tensor) {
  int64_t all = 1;
  for (int32_t d = 0; d < tensor->ndim; d++) all *= tensor->shape[d];
  return all;
}

#define RMS_NORM(T, ctype)                                                                                       \
  int rms_norm_##T(const DLTensor* x, const DLTensor* weight, const DLTensor* bias, double eps, DLTensor* y,     \
                   DLTensor* rstd, void* stream) {                                                               \
    (void)stream;                                                                                                \
    const int64_t n = x->shape[x->ndim - 1];                                                                     \
    const ctype* row = x->data;                                                                                  \
    ctype* to = y->data;                                                                                         \
    for (int64_t i = 0; i < size_of(rstd); i++, row += n, to += n) {                                             \
      double squares = 0;                                                                                        \
      for (int64_t j = 0; j < n; j++) squares += (double)row[j] * (double)row[j];                                \
      if (squares > 1e6) return 7;                                                                               \
      const double scale = 1 / sqrt(squares / (double)n + eps);                                                  \
      ((double*)rstd->data)[i] = scale;                                                                          \
      for (int64_t j = 0; j < n; j++) to[j] = (ctype)((double)row[j] * scale) * ((ctype*)weight->data)[j];       \
      if (bias) return 8;                                                                                        \
    }                                                                                                            \
    return 0;                                                                                                    \
  }                                                                                                              \
  int rms_norm_backward_##T(const DLTensor* dy, const DLTensor* x, const DLTensor* weight, const DLTensor* rstd, \
                            DLTensor* dx, void* stream) {                                                        \
    (void)x, (void)weight, (void)stream;                                                                         \
    const int64_t n = dy->shape[dy->ndim - 1];                                                                   \
    for (int64_t i = 0; i < size_of(dy); i++)                                                                    \
      ((ctype*)dx->data)[i] = (ctype)((double)((ctype*)dy->data)[i] * ((double*)rstd->data)[i / n]);             \
    return 0;                                                                                                    \
  }

RMS_NORM(float64, double)
RMS_NORM(float32, float)
RMS_NORM(bfloat16, uint16_t)

#define AXPY(T, ctype)                                                                             \
  int axpy_##T(ctype a, const DLTensor* x, const DLTensor* y, DLTensor* z, void* stream) {         \
    (void)stream;                                                                                  \
    for (int64_t i = 0; i < size_of(z); i++)                                                       \
      ((ctype*)z->data)[i] = (ctype)(a * ((const ctype*)x->data)[i] + ((const ctype*)y->data)[i]); \
    return 0;                                                                                      \
  }

AXPY(float64, double)
AXPY(int64, int64_t)
AXPY(int8, int8_t)
AXPY(uint64, uint64_t)
AXPY(bool, bool)

int plus(const DLTensor* x, const DLTensor* y, DLTensor* z, void* stream) {
  (void)stream;
  memset(z->data, 0, (size_t)size_of(z) * sizeof(int64_t)); /* written memory may overlap nothing */
  for (int64_t i = 0; i < size_of(z); i++)
    ((int64_t*)z->data)[i] = ((const int64_t*)x->data)[i] + ((const int64_t*)y->data)[i];
  return 0;
}

int runs(const DLTensor* x, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < size_of(y); i++) ((int64_t*)y->data)[i] = size_of(x);
  return 0;
}

int matmul(const DLTensor* a, const DLTensor* b, DLTensor* c, void* stream) {
  (void)stream;
  const int64_t m = c->shape[0], n = c->shape[1], k = a->shape[1];
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t l = 0; l < k; l++) sum += ((double*)a->data)[i * k + l] * ((double*)b->data)[l * n + j];
      ((double*)c->data)[i * n + j] = sum;
    }
  }
  return 0;
}

int gather(const DLTensor* table, const DLTensor* idx, DLTensor* y, void* stream) {
  (void)stream;
  const int64_t n = table->shape[1];
  for (int64_t i = 0; i < size_of(idx); i++) {
    const int64_t at = ((const int64_t*)idx->data)[i];
    if (at < 0 || at >= table->shape[0]) return 1;
    memcpy((float*)y->data + i * n, (const float*)table->data + at * n, (size_t)n * sizeof(float));
  }
  return 0;
}

int layouts(const DLTensor* a, const DLTensor* b, const DLTensor* c, const DLTensor* d, const DLTensor* e,
            DLTensor* strides, DLTensor* sums, void* stream) {
  const DLTensor* const all[] = {a, b, c, d, e};
  (void)stream;
  for (int i = 0; i < 5; i++) {
    double sum = 0;
    const DLTensor* const t = all[i];
    for (int64_t j = 0; j < t->shape[0]; j++)
      for (int64_t k = 0; k < t->shape[1]; k++)
        sum +=
            (double)((const float*)t->data)[j * t->strides[0] + k * t->strides[1]] * (double)(1 + j * t->shape[1] + k);
    ((double*)sums->data)[i] = sum;
    ((int64_t*)strides->data)[2 * i] = t->strides[0];
    ((int64_t*)strides->data)[2 * i + 1] = t->strides[1];
  }
  return 0;
}

int aligned(const DLTensor* x, DLTensor* y, int64_t* misplaced, void* stream) {
  (void)stream;
  memcpy(y->data, x->data, (size_t)size_of(x) * sizeof(float));
  *misplaced = (int64_t)((uintptr_t)x->data % 64 + (uintptr_t)y->data % 128);
  return 0;
}

int stats(const DLTensor* x, double scale, int64_t shift, bool negate, uint8_t tiny, const int64_t* also,
          const char* word, double* mean, int64_t* count, bool* whole, int16_t* least, void* stream) {
  (void)stream;
  double sum = 0;
  if (tiny == 99) return 5;
  if (tiny == 98) return 6;
  for (int64_t i = 0; i < x->shape[0]; i++) sum += ((const double*)x->data)[i];
  *mean = (sum * scale + (double)shift) * (negate ? -1 : 1);
  *count = x->shape[0] + *also;
  *whole = sum == floor(sum);
  *least = (int16_t)(tiny - 300 * (int)strlen(word));
  return 0;
}

const char* stats_error(int status) { return status == 6 ? "no UTF-8: \xff" : "a tiny of 99"; }

int twice(const DLTensor* x, const DLTensor* y, const DLTensor* z, DLTensor* sum, void* stream) {
  (void)z, (void)stream;
  const double *a = x->data, *b = y->data;
  for (int64_t i = 0; i < x->shape[0]; i++) ((double*)sum->data)[i] = a[i] + b[2 * i] + b[2 * i + 1];
  return 0;
}

int calls(const DLTensor* x, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < size_of(y); i++) ((int64_t*)y->data)[i] = size_of(x);
  return 0;
}

int sizes(const DLTensor* x, const DLTensor* y, DLTensor* bytes, void* stream) {
  (void)stream;
  ((int64_t*)bytes->data)[0] = x->dtype.bits / 8;
  ((int64_t*)bytes->data)[1] = y->dtype.bits / 8;
  return 0;
}

int fill(double value, const DLTensor* x, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < x->shape[0]; i++) ((double*)y->data)[i] = value + ((const double*)x->data)[i];
  return 0;
}

int turns(const DLTensor* x, int64_t* most, void* stream) {
  static volatile int64_t inside;
  (void)x, (void)stream;
  *most = 0;
  for (int i = 0; i < 1000; i++) {
    const int64_t now = inside + 1;
    inside = now;
    if (now > *most) *most = now;
    for (volatile int j = 0; j < 20; j++) continue;
    inside = inside - 1;
  }
  return 0;
}

int each(const DLTensor* x, int64_t dimension, DLTensor* y, void* stream) {
  return dimension ? 1 : calls(x, y, stream);
}

int conjugate(const DLTensor* z, DLTensor* w, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < z->shape[0]; i++) {
    const float* const at = (const float*)z->data + 2 * i * z->strides[0];
    ((float*)w->data)[2 * i] = at[0];
    ((float*)w->data)[2 * i + 1] = -at[1];
  }
  return 0;
}
