/* The kernels. They check nothing: the description says what may come. One function serves all
 * dtypes of a kernel, by get() and set(). */
#include <kernels.h>
#include <math.h>
#include <string.h>

static int64_t size_of(const DLTensor* x) {
  int64_t size = 1;
  for (int32_t d = 0; d < x->ndim; d++) size *= x->shape[d];
  return size;
}

static int64_t columns_of(const DLTensor* x) { return x->shape[x->ndim - 1]; }

static void* data_of(const DLTensor* x) { return (char*)x->data + x->byte_offset; }

/* An element of float32, bfloat16 (the upper half of a float32) or float16. */
static float get(const DLTensor* x, int64_t i) {
  if (x->dtype.bits == 32) return ((float*)data_of(x))[i];
  if (x->dtype.code == kDLFloat) return (float)((_Float16*)data_of(x))[i];
  const uint32_t bits = (uint32_t)((uint16_t*)data_of(x))[i] << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void set(DLTensor* y, int64_t i, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (y->dtype.bits == 32) ((float*)data_of(y))[i] = value;
  else if (y->dtype.code == kDLFloat) ((_Float16*)data_of(y))[i] = (_Float16)value;
  else ((uint16_t*)data_of(y))[i] = (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16); /* to the nearest */
}

int rms_norm(const DLTensor* x, const DLTensor* weight, double eps, DLTensor* y, DLTensor* rstd, void* stream) {
  const int64_t n = columns_of(x), rows = size_of(rstd);
  (void)stream;
  for (int64_t row = 0; row < rows; row++) {
    double squares = 0;
    for (int64_t i = 0; i < n; i++) squares += pow(get(x, row * n + i), 2);
    const float scale = (float)(1 / sqrt(squares / (double)n + eps));
    for (int64_t i = 0; i < n; i++) set(y, row * n + i, get(x, row * n + i) * scale * get(weight, i));
    set(rstd, row, scale);
  }
  return 0;
}

int rms_norm_backward(const DLTensor* grad, const DLTensor* x, const DLTensor* weight, const DLTensor* rstd,
                      DLTensor* dx, DLTensor* dweight, void* stream) {
  const int64_t n = columns_of(weight), rows = size_of(rstd);
  (void)stream;
  for (int64_t row = 0; row < rows; row++) {
    const float scale = get(rstd, row);
    float dot = 0;
    for (int64_t i = 0; i < n; i++) dot += get(grad, row * n + i) * get(weight, i) * get(x, row * n + i);
    for (int64_t i = 0; i < n; i++) {
      const float of_x = get(x, row * n + i) * scale * scale * dot / (float)n;
      set(dx, row * n + i, scale * (get(grad, row * n + i) * get(weight, i) - of_x));
    }
  }
  for (int64_t i = 0; i < n; i++) {
    float sum = 0;
    for (int64_t row = 0; row < rows; row++) sum += get(grad, row * n + i) * get(x, row * n + i) * get(rstd, row);
    set(dweight, i, sum);
  }
  return 0;
}

int softmax(const DLTensor* x, DLTensor* y, void* stream) {
  const int64_t n = columns_of(x), size = size_of(x);
  (void)stream;
  for (int64_t row = 0; row < size; row += n) {
    float most = get(x, row), sum = 0;
    for (int64_t i = 1; i < n; i++) most = fmaxf(most, get(x, row + i));
    for (int64_t i = 0; i < n; i++) sum += expf(get(x, row + i) - most);
    for (int64_t i = 0; i < n; i++) set(y, row + i, expf(get(x, row + i) - most) / sum);
  }
  return 0;
}

int gather(const DLTensor* table, const DLTensor* idx, DLTensor* y, void* stream) {
  const int64_t rows = table->shape[0], count = size_of(idx), *at = (const int64_t*)data_of(idx);
  const size_t bytes = (size_t)table->shape[1] * sizeof(float);
  (void)stream;
  for (int64_t i = 0; i < count; i++)
    if (at[i] < 0 || at[i] >= rows) return 1;
  for (int64_t i = 0; i < count; i++)
    if (bytes) memcpy((char*)data_of(y) + (size_t)i * bytes, (char*)data_of(table) + (size_t)at[i] * bytes, bytes);
  return 0;
}

int silu_and_mul(const DLTensor* x, DLTensor* y, void* stream) {
  const int64_t n = columns_of(y), size = size_of(y);
  (void)stream;
  for (int64_t i = 0; i < size; i++) {
    const int64_t first = i / n * 2 * n + i % n;
    const float gate = get(x, first);
    set(y, i, gate / (1 + expf(-gate)) * get(x, first + n));
  }
  return 0;
}

int norm(const DLTensor* x, DLTensor* length, void* stream) {
  const int64_t size = size_of(x);
  double squares = 0;
  (void)stream;
  for (int64_t i = 0; i < size; i++) squares += pow(get(x, i), 2);
  *(double*)data_of(length) = sqrt(squares);
  return 0;
}

int scale(DLTensor* x, double by, void* stream) {
  const int64_t size = size_of(x);
  (void)stream;
  for (int64_t i = 0; i < size; i++) set(x, i, (float)(get(x, i) * by));
  return 0;
}
