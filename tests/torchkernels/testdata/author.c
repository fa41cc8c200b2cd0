#include <kernels.h>
#include <math.h>
#include <string.h>

static double get(const DLTensor* t, int64_t i) {
  return t->dtype.bits == 32 ? ((const float*)t->data)[i] : ((const double*)t->data)[i];
}
static void put(DLTensor* t, int64_t i, double v) {
  if (t->dtype.bits == 32) ((float*)t->data)[i] = (float)v;
  else ((double*)t->data)[i] = v;
}
static int64_t size(const DLTensor* t) {
  int64_t n = 1;
  for (int i = 0; i < t->ndim; i++) n *= t->shape[i];
  return n;
}
static int rms(const DLTensor* x, const DLTensor* w, const DLTensor* b, double eps, DLTensor* y, DLTensor* rstd) {
  const int64_t n = x->shape[x->ndim - 1], rows = size(rstd);
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += get(x, r * n + i) * get(x, r * n + i);
    if (sum > 1e30) return 7;
    const double s = 1 / sqrt(sum / (double)n + eps);
    ((double*)rstd->data)[r] = s;
    for (int64_t i = 0; i < n; i++) put(y, r * n + i, get(x, r * n + i) * s * get(w, i) + (b ? get(b, i) : 0));
  }
  return 0;
}
#define RMS_NORM(T)                                                                                          \
  int rms_norm_##T(const DLTensor* x, const DLTensor* weight, const DLTensor* bias, double eps, DLTensor* y, \
                   DLTensor* rstd, void* stream) {                                                           \
    (void)stream;                                                                                            \
    return rms(x, weight, bias, eps, y, rstd);                                                               \
  }
RMS_NORM(float32)
RMS_NORM(float64)
static int back(const DLTensor* g, const DLTensor* x, const DLTensor* w, const DLTensor* rstd, DLTensor* dx,
                DLTensor* dw, DLTensor* db) {
  const int64_t n = x->shape[x->ndim - 1], rows = size(rstd);
  for (int64_t r = 0; r < rows; r++) {
    const double s = ((const double*)rstd->data)[r];
    double dot = 0;
    for (int64_t i = 0; i < n; i++) dot += get(g, r * n + i) * get(w, i) * get(x, r * n + i);
    for (int64_t i = 0; i < n; i++) {
      const int64_t at = r * n + i;
      put(dx, at, s * get(g, at) * get(w, i) - get(x, at) * s * s * s * dot / (double)n);
      put(dw, i, get(dw, i) + get(g, at) * get(x, at) * s);
      put(db, i, get(db, i) + get(g, at));
    }
  }
  return 0;
}
#define BACK(T)                                                                                            \
  int rms_norm_backward_##T(const DLTensor* g, const DLTensor* x, const DLTensor* w, const DLTensor* rstd, \
                            DLTensor* dx, DLTensor* dw, DLTensor* db, void* stream) {                      \
    (void)stream;                                                                                          \
    return back(g, x, w, rstd, dx, dw, db);                                                                \
  }
BACK(float32)
BACK(float64)
int axpy_float32(float a, const DLTensor* x, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < size(x); i++) ((float*)y->data)[i] += a * ((const float*)x->data)[i];
  return 0;
}
int axpy_int32(int32_t a, const DLTensor* x, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < size(x); i++) ((int32_t*)y->data)[i] += a * ((const int32_t*)x->data)[i];
  return 0;
}
/* One for each dtype of kinds.txt. */
#define KINDS(T, C) \
  int kinds_##T(const DLTensor* x, C a, void* stream) { return (void)x, (void)a, (void)stream, 0; }
KINDS(float64, double)
KINDS(int64, int64_t)
KINDS(uint64, uint64_t)
KINDS(float32, float)
KINDS(int32, int32_t)
KINDS(uint32, uint32_t)
KINDS(float16, float)
KINDS(int16, int16_t)
KINDS(uint16, uint16_t)
KINDS(bfloat16, float)
KINDS(int8, int8_t)
KINDS(uint8, uint8_t)
KINDS(bool, bool)

int words(const DLTensor* x, const int64_t* sizes, int64_t nsizes, const double* scales, int64_t nscales,
          const char* mode, int8_t tiny, const int64_t* maybe, bool exact, const float* half, DLTensor* y, DLTensor* z,
          void* stream) {
  (void)stream;
  (void)sizes;
  memset(y->data, 0, (size_t)size(y) * 4);
  memset(z->data, 0, (size_t)size(z) * 8);
  float* at = (float*)y->data;
  at[0] = (float)nsizes;
  at[1] = (float)(scales ? nscales : -1);
  at[2] = (float)strlen(mode);
  at[3] = tiny;
  at[4] = (float)(maybe ? *maybe : -1);
  at[5] = exact;
  at[6] = half ? *half : -1;
  at[7] = ((const float*)x->data)[1];
  return 0;
}
static int scaled(const DLTensor* x, const DLTensor* by, double factor, const int64_t* powers, int64_t count,
                  const char* mode, DLTensor* y) {
  double all = strcmp(mode, "none") == 0 ? 1 : factor;
  for (int64_t i = 0; i < count; i++) all *= (double)powers[i];
  for (int64_t i = 0; i < size(x); i++)
    ((double*)y->data)[i] = ((const double*)x->data)[i] * ((const double*)by->data)[i] * all;
  return 0;
}
int scale(const DLTensor* x, const DLTensor* by, double factor, const int64_t* powers, int64_t count, const char* mode,
          DLTensor* y, void* stream) {
  (void)stream;
  return scaled(x, by, factor, powers, count, mode, y);
}
int scale_backward(const DLTensor* grad, const DLTensor* by, double factor, const int64_t* powers, int64_t count,
                   const char* mode, DLTensor* dx, void* stream) {
  (void)stream;
  return scaled(grad, by, factor, powers, count, mode, dx);
}

int names(const DLTensor* made, const DLTensor* numbers, const DLTensor* name, const DLTensor* handle, int64_t K,
          DLTensor* result, DLTensor* saved, void* stream) {
  (void)name;
  (void)handle;
  (void)K;
  memcpy(result->data, made->data, (size_t)size(made) * 8);
  memcpy(saved->data, numbers->data, (size_t)size(numbers) * 8);
  return stream != NULL;
}
int names_backward(const DLTensor* gradients, const DLTensor* numbers, const DLTensor* saved, const DLTensor* handle,
                   DLTensor* back, void* stream) {
  (void)handle;
  memcpy(back->data, gradients->data, (size_t)size(gradients) * 8);
  return stream != NULL || size(numbers) != size(saved);
}

int pad(const DLTensor* x, const double* by, int64_t parts, DLTensor* y, DLTensor* z, void* stream) {
  (void)x;
  (void)parts;
  for (int64_t i = 0; i < size(y); i++) put(y, i, by ? *by : -1);
  memset(z->data, 0, (size_t)size(z) * 4);
  return stream != NULL;
}

int blend(const DLTensor* x, const DLTensor* y, const DLTensor* w, DLTensor* z, void* stream) {
  for (int64_t i = 0; i < size(z); i++) put(z, i, get(x, i) - get(y, i) * get(w, i % size(w)));
  return stream != NULL;
}

int alone(const DLTensor* x, DLTensor* y, void* stream) {
  for (int64_t i = 0; i < size(x); i++) put(y, i, get(x, i));
  return stream != NULL;
}

int cube(const DLTensor* x, DLTensor* y, void* stream) {
  for (int64_t i = 0; i < size(x); i++) put(y, i, get(x, i) * get(x, i) * get(x, i));
  return stream != NULL;
}

int cube_backward(const DLTensor* grad, const DLTensor* x, DLTensor* grad_x, void* stream) {
  for (int64_t i = 0; i < size(x); i++) put(grad_x, i, 3 * get(x, i) * get(x, i) * get(grad, i));
  return stream != NULL;
}

int cube_second(const DLTensor* second, const DLTensor* grad, const DLTensor* x, DLTensor* grad_grad, DLTensor* grad_x,
                void* stream) {
  for (int64_t i = 0; i < size(x); i++) {
    put(grad_grad, i, 3 * get(x, i) * get(x, i) * get(second, i));
    put(grad_x, i, 6 * get(x, i) * get(grad, i) * get(second, i));
  }
  return stream != NULL;
}
