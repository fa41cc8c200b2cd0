/* The functions of contract/kernels.yaml. */
#include <kernels.h>

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

/* Beyond what a double holds. */
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

int deep(const DLTensor* x, DLTensor* y, void* stream) {
  (void)x;
  (void)y;
  (void)stream;
  return 0;
}
