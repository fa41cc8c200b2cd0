/* The author's functions for kernels.yaml. */
#define _POSIX_C_SOURCE 200809L
#include <kernels.h>
#include <string.h>
#include <time.h>

static void rest(void) {
  const struct timespec moment = {0, 1000000};
  nanosleep(&moment, 0);
}

static double product(const DLTensor* x) {
  double all = 1;
  for (int32_t d = 0; d < x->ndim; d++) all *= (double)x->shape[d];
  return all;
}

static float* floats(const DLTensor* x) { return (float*)((char*)x->data + x->byte_offset); }

int scale_f(DLTensor* x, float by, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < x->shape[0]; i++)
    for (int64_t j = 0; j < x->shape[1]; j++) floats(x)[i * x->strides[0] + j * x->strides[1]] *= by;
  return 0;
}

int scale_d(DLTensor* x, double by, void* stream) {
  (void)x;
  (void)stream;
  return by == 0 ? 9 : 0;
}

int join(const DLTensor* bias, const DLTensor* x, const DLTensor* w, const DLTensor* idx, const int64_t* q, DLTensor* y,
         int64_t* rows, void* stream) {
  (void)w;
  (void)idx;
  (void)stream;
  floats(y)[0] = bias ? floats(bias)[0] : floats(x)[0];
  *rows = q ? *q : (int64_t)product(y);
  return 0;
}

int layouts(const DLTensor* rows, const DLTensor* block, const DLTensor* columns, const DLTensor* wide,
            const DLTensor* mask, void* stream) {
  (void)rows;
  (void)block;
  (void)columns;
  (void)wide;
  (void)stream;
  return mask ? 7 : 0;
}

int written(DLTensor* a, DLTensor* b, const DLTensor* c, DLTensor* d, void* stream) {
  (void)a;
  (void)b;
  (void)d;
  (void)stream;
  return c->shape[0] == 99;
}

int scalars_c(const char* mode, const int64_t* sizes, int64_t sizes_count, const double* weights, int64_t weights_count,
              bool flag, int8_t tiny, const double* limit, double* total, DLTensor* z, void* stream) {
  (void)z;
  (void)stream;
  *total = (double)sizes_count + (flag ? 100 : 0) + (limit ? *limit : 0) + (mode[0] == 'm' ? 1000 : 0);
  for (int64_t i = 0; i < weights_count; i++) *total += weights[i];
  return sizes[0] == 50 ? tiny : 0;
}

int groups(const DLTensor* x, const DLTensor* y, const DLTensor* z, const DLTensor* w, DLTensor* made, void* stream) {
  (void)x;
  (void)y;
  (void)z;
  (void)w;
  (void)stream;
  return made->ndim != 3;
}

int divide(int64_t a, int64_t b, int64_t q, int64_t r, void* stream) {
  (void)stream;
  return a != b * q + r;
}

int devices(const DLTensor* x, const DLTensor* y, const DLTensor* host, void* stream) {
  (void)x;
  (void)y;
  (void)host;
  return stream ? 39 : 40;
}

int devices_cuda(const DLTensor* x, const DLTensor* y, const DLTensor* host, void* stream) {
  (void)x;
  (void)y;
  (void)host;
  return stream ? 41 : 42;
}

/* Fails if another call runs concurrently. */
int alone(DLTensor* y, void* stream) {
  static int inside;
  const int others = __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
  (void)stream;
  rest();
  ((int64_t*)y->data)[2] = 5;
  __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
  return others;
}

/* Waits for a second caller, for any time if tries is negative. */
int meet(int64_t tries, void* stream) {
  static int inside;
  (void)stream;
  __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
  while (tries-- != 0 && __atomic_load_n(&inside, __ATOMIC_SEQ_CST) < 2) rest();
  return __atomic_load_n(&inside, __ATOMIC_SEQ_CST) < 2;
}

/* Like meet(), and leaves again. */
int meet_held(int64_t tries, void* stream) {
  static int inside;
  int others = __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
  (void)stream;
  while (tries-- > 0 && !others) {
    rest();
    others = __atomic_load_n(&inside, __ATOMIC_SEQ_CST) - 1;
  }
  __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
  return others == 0;
}

int held(const DLTensor* x, const DLTensor* y, float by, DLTensor* z, void* stream) {
  const int64_t n = x->shape[x->ndim - 1];
  (void)stream;
  for (int64_t i = 0; i < (int64_t)product(x); i++) floats(z)[i] = floats(x)[i] * by + (y ? floats(y)[i % n] : 0);
  return 0;
}

int copies(const DLTensor* x, uint64_t at, const float* half, DLTensor* y, uint64_t* most, double* half_of, bool* first,
           void* stream) {
  (void)stream;
  memcpy(floats(y), floats(x), (size_t)product(x) * sizeof(float));
  *most = at;
  *half_of = half ? (double)*half : -1;
  *first = at == 1;
  return 0;
}

int numbers_float16(const DLTensor* x, float a, const char* s, float* twice, int64_t* size, void* stream) {
  (void)x;
  (void)stream;
  *twice = 2 * a;
  *size = s ? (int64_t)strlen(s) : -1;
  return 0;
}

int numbers_int16(const DLTensor* x, int16_t a, const char* s, int16_t* twice, int64_t* size, void* stream) {
  (void)s;
  (void)stream;
  *twice = (int16_t)(2 * a);
  *size = x->shape[0];
  return 0;
}

int numbers_uint64(const DLTensor* x, uint64_t a, const char* s, uint64_t* twice, int64_t* size, void* stream) {
  (void)s;
  (void)stream;
  *twice = 2 * a;
  *size = x->shape[0];
  return 0;
}

int numbers_bool(const DLTensor* x, bool a, const char* s, bool* twice, int64_t* size, void* stream) {
  (void)s;
  (void)stream;
  *twice = !a;
  *size = x->shape[0];
  return 0;
}

/* One for each dtype of kinds.txt. */
#define KINDS(T, C) \
  int kinds_##T(const DLTensor* x, C a, void* stream) { return (void)x, (void)a, (void)stream, 0; }
KINDS(bool, bool)
KINDS(int8, int8_t)
KINDS(int16, int16_t)
KINDS(int32, int32_t)
KINDS(int64, int64_t)
KINDS(uint8, uint8_t)
KINDS(uint16, uint16_t)
KINDS(uint32, uint32_t)
KINDS(uint64, uint64_t)
KINDS(float16, float)
KINDS(bfloat16, float)
KINDS(float32, float)
KINDS(float64, double)

const char* kernel_error(int status) {
  return status == 2 ? "argument 'sum' has no room" : status == 4 ? "caf\xe9, \xe2\x82\xac\xff" : 0;
}

int usual(const DLTensor* x, const DLTensor* w, DLTensor* y, const DLTensor* bias, DLTensor* made, void* stream) {
  (void)x;
  (void)w;
  (void)y;
  (void)stream;
  return made->shape[made->ndim - 1] == 2 ? 0 : bias ? 1 : 2;
}

int pair(const DLTensor* x, DLTensor* one, DLTensor* two, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < x->shape[0]; i++) {
    floats(one)[i] = floats(x)[i];
    floats(two)[i] = 2 * floats(x)[i];
  }
  return 0;
}

/* The values of usual()'s arguments in C, for attacked.py. */
int said_of_usual(const DLTensor* x, const DLTensor* w, DLTensor* y, const DLTensor* bias, DLTensor* made,
                  struct dlpackgen_message* message) {
  return dlpackgen_call_kernel_usual(x, w, y, bias, made, NULL, message);
}

int on_device_cuda(const DLTensor* x, DLTensor* y, void* stream) {
  (void)x;
  (void)y;
  return stream ? 41 : 42;
}

int shortened(DLTensor* x, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < x->shape[0]; i++) ((float*)x->data)[i] += 1, ((uint16_t*)y->data)[i] = 0x3f80;
  return 0;
}

int shortest(const DLTensor* x, DLTensor* y, DLTensor* z, void* stream) {
  (void)x, (void)y, (void)z, (void)stream;
  return 0;
}

int packed(const DLTensor* x, int64_t* size, void* stream) {
  (void)stream;
  *size = x->shape[0];
  return 0;
}
