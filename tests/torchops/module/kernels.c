/* The C functions of dlpackgen.yaml, over float32 unless documented otherwise. */
#include <kernels.h>

#include <stddef.h>
#include <string.h>

static int64_t elements(const DLTensor* x) {
  int64_t n = 1;
  for (int32_t i = 0; i < x->ndim; i++) n *= x->shape[i];
  return n;
}

/* Also float64, for gradcheck. */
static double get(const DLTensor* x, int64_t i) {
  return x->dtype.bits == 64 ? ((const double*)x->data)[i] : (double)((const float*)x->data)[i];
}

static void set(DLTensor* x, int64_t i, double value) {
  if (x->dtype.bits == 64) {
    ((double*)x->data)[i] = value;
  } else {
    ((float*)x->data)[i] = (float)value;
  }
}

int ops_square(const DLTensor* x, double scale, DLTensor* result, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < elements(x); i++) set(result, i, scale * get(x, i) * get(x, i));
  return 0;
}

int ops_square_backward(const DLTensor* grad, const DLTensor* x, double scale, DLTensor* result, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < elements(x); i++) set(result, i, 2 * scale * get(grad, i) * get(x, i));
  return 0;
}

int ops_square_boxed(const DLTensor* x, double scale, DLTensor* result, void* stream) {
  return ops_square(x, scale, result, stream);
}

int ops_square_boxed_backward(const DLTensor* grad, const DLTensor* x, double scale, DLTensor* result, void* stream) {
  return ops_square_backward(grad, x, scale, result, stream);
}

/* x * y * power and x + y, of equal shapes. */
int ops_mul(const DLTensor* x, int64_t power, const DLTensor* y, DLTensor* product, DLTensor* sum, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < elements(x); i++) {
    set(product, i, (double)power * get(x, i) * get(y, i));
    set(sum, i, get(x, i) + get(y, i));
  }
  return 0;
}

int ops_mul_backward(const DLTensor* g0, const DLTensor* g1, const DLTensor* x, int64_t power, const DLTensor* y,
                     DLTensor* result0, DLTensor* result1, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < elements(x); i++) {
    set(result0, i, (double)power * get(g0, i) * get(y, i) + get(g1, i));
    set(result1, i, (double)power * get(g0, i) * get(x, i) + get(g1, i));
  }
  return 0;
}

/* Writes x * a + n to the first result, out and w (0 if absent) to the second, and adds or
 * subtracts 1 for out. */
#define MIX(name)                                                                                                \
  int name(const DLTensor* x, double a, int64_t n, bool on, const DLTensor* w, DLTensor* out, DLTensor* result0, \
           DLTensor* y, void* stream) {                                                                          \
    (void)stream;                                                                                                \
    for (int64_t i = 0; i < elements(x); i++) {                                                                  \
      set(result0, i, get(x, i) * a + (double)n);                                                                \
      set(y, i, get(out, i) + (w != NULL ? get(w, i) : 0));                                                      \
      set(out, i, get(out, i) + (on ? 1 : -1));                                                                  \
    }                                                                                                            \
    return 0;                                                                                                    \
  }
MIX(mix_function)
MIX(mix_pointer)
MIX(mix_lambda)
MIX(mix_functor)
MIX(mix_boxed_function)
MIX(mix_boxed_functor)

/* The received value of each argument; -1 if absent. */
#define ALL_BOXED(T, number)                                                                                         \
  int ops_all_boxed_##T(const DLTensor* x, number by, const int64_t* sizes, int64_t nsizes, const char* mode,        \
                        const int64_t* more, int64_t nmore, const double* scales, int64_t nscales, const char* text, \
                        const int64_t* maybe, const float* half, DLTensor* y, void* stream) {                        \
    const int64_t seen[] = {elements(x),                                                                             \
                            (int64_t)by,                                                                             \
                            nsizes ? sizes[nsizes - 1] : 0,                                                          \
                            (int64_t)strlen(mode),                                                                   \
                            more ? nmore : -1,                                                                       \
                            scales ? (int64_t)scales[nscales - 1] : -1,                                              \
                            text ? (int64_t)strlen(text) : -1,                                                       \
                            maybe ? *maybe : -1,                                                                     \
                            half ? (int64_t)*half : -1};                                                             \
    (void)stream;                                                                                                    \
    memcpy(y->data, seen, sizeof seen);                                                                              \
    return 0;                                                                                                        \
  }
ALL_BOXED(float32, float)
ALL_BOXED(int32, int32_t)

/* With strides, over at most two dimensions. */
int ops_fill(DLTensor* out, double value, void* stream) {
  (void)stream;
  const int64_t rows = out->ndim == 2 ? out->shape[0] : 1, columns = out->ndim == 0 ? 1 : out->shape[out->ndim - 1];
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      const int64_t at =
          (out->ndim == 2 ? i * out->strides[0] : 0) + (out->ndim == 0 ? 0 : j * out->strides[out->ndim - 1]);
      ((float*)out->data)[at] = (float)value;
    }
  }
  return 0;
}

int ops_fail(const DLTensor* x, int64_t code, void* stream) {
  (void)x, (void)stream;
  return (int)code;
}

const char* ops_error(int code) { return code == 7 ? "seven is not to be had" : code == 8 ? "" : NULL; }

/* The arguments of look's last call, for the script. */
struct {
  DLTensor x, out;
  void* stream;
} ops_seen;

int ops_look(const DLTensor* x, DLTensor* out, void* stream) {
  ops_seen.x = *x;
  ops_seen.out = *out;
  ops_seen.stream = stream;
  return 0;
}

/* The sum of ten numbers in each element. */
/* Fails unless both are the same memory. */
int ops_same(const DLTensor* x, DLTensor* out, void* stream) {
  (void)stream;
  return x->data != out->data;
}

int ops_many(const DLTensor* x, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h,
             int64_t i, int64_t j, DLTensor* out, void* stream) {
  (void)x;
  (void)stream;
  for (int64_t n = 0; n < elements(out); n++) set(out, n, (double)(a + b + c + d + e + f + g + h + i + j));
  return 0;
}
