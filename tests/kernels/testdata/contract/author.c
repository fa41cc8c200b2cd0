/* The functions of contract/kernels.yaml. */
#include <kernels.h>
#include <string.h>

#define DATA(type, x) ((type*)((char*)(x)->data + (x)->byte_offset))

static int64_t weighted(const DLTensor* idx) {
  int64_t sum = 0;
  for (int64_t i = 0; i < idx->shape[0]; i++)
    sum += (i + 1) * (idx->dtype.bits == 32 ? DATA(int32_t, idx)[i] : DATA(int64_t, idx)[i]);
  return sum;
}

#define MANY(name, type)                                                                                               \
  int name(DLTensor* y, const DLTensor* x, const DLTensor* w, const DLTensor* idx, const DLTensor* wide,               \
           const DLTensor* last, const DLTensor* like, const char* mode, const int64_t* sizes, int64_t count, type by, \
           int8_t tiny, const double* shift, DLTensor* total, int64_t* rows, void* stream) {                           \
    const int64_t m = y->shape[0], n = y->shape[1];                                                                    \
    (void)x, (void)w, (void)wide, (void)last, (void)like, (void)count, (void)stream;                                   \
    for (int64_t i = 0; i < m; i++) {                                                                                  \
      type sum = 0;                                                                                                    \
      for (int64_t j = 0; j < n; j++) sum += DATA(type, y)[i * n + j] *= by;                                           \
      DATA(type, total)[i] = sum + (type)(shift ? *shift : 0);                                                         \
    }                                                                                                                  \
    *rows = weighted(idx) + tiny + (mode[0] == 'm' ? 100 : 0) + sizes[0];                                              \
    return 0;                                                                                                          \
  }

MANY(many_float32, float)
MANY(many_float64, double)

int fails(const DLTensor* at, void* stream) {
  (void)stream;
  return DATA(int64_t, at)[0] > 2;
}

int fails_often(const DLTensor* at, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < at->shape[0]; i++)
    if (DATA(int64_t, at)[i] > 2) return 1;
  return 0;
}

/* Beyond the range of a double. */
static int64_t large_of(const DLTensor* x) { return (INT64_C(1) << 60) + x->shape[0]; }

#define COUNTED(name, type)                                                                    \
  int name(const DLTensor* x, DLTensor* y, type* sum, int64_t* large, void* stream) {          \
    (void)stream;                                                                              \
    *sum = 0;                                                                                  \
    for (int64_t i = 0; i < x->shape[0]; i++) *sum += DATA(type, y)[i] = 2 * DATA(type, x)[i]; \
    *large = large_of(x);                                                                      \
    return 0;                                                                                  \
  }

COUNTED(counted_float32, float)
COUNTED(counted_float64, double)

int alone(const DLTensor* x, float by, DLTensor* y, void* stream) {
  (void)stream;
  for (int i = 0; i < 3; i++) DATA(float, y)[i] = by + (x ? (float)x->shape[0] : 0);
  return 0;
}

int texts(const DLTensor* x, const char* s, const char* t, void* stream) {
  (void)x, (void)s, (void)t, (void)stream;
  return 0;
}

int deep(const DLTensor* x, DLTensor* y, void* stream) {
  (void)x;
  (void)y;
  (void)stream;
  return 0;
}

/* A bfloat16 is the upper half of a float. */
int halves_bfloat16(const DLTensor* x, float by, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < x->shape[0]; i++) {
    uint32_t bits = (uint32_t)DATA(uint16_t, x)[i] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    value *= by;
    memcpy(&bits, &value, sizeof bits);
    DATA(uint16_t, y)[i] = (uint16_t)(bits >> 16);
  }
  return 0;
}

/* Turns the signs. */
int eighths(const DLTensor* x, DLTensor* y, void* stream) {
  int64_t size = 1;
  (void)stream;
  for (int32_t d = 0; d < x->ndim; d++) size *= x->shape[d];
  for (int64_t i = 0; i < size; i++) DATA(uint8_t, y)[i] = DATA(uint8_t, x)[i] ^ 0x80;
  return 0;
}

int narrowed(const DLTensor* x, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < x->shape[0]; i++) DATA(uint16_t, y)[i] = (uint16_t)(DATA(uint32_t, x)[i] >> 16);
  return 0;
}
