/* The kernels of tests/torchkernels, and more. */
#include "../../torchkernels/testdata/author.c"

int columns(const DLTensor* x, DLTensor* y, void* stream) {
  if (x->shape[0] * x->strides[0] != x->strides[1] * (x->shape[1] ? 1 : 0) && size(x)) return 1;
  for (int64_t i = 0; i < size(x); i++) ((float*)y->data)[i] += (float)i * ((const float*)x->data)[i];
  return stream != NULL;
}

int nibbles(const DLTensor* x, DLTensor* y, DLTensor* bytes, void* stream) {
  memcpy(y->data, x->data, (size_t)size(bytes));
  memcpy(bytes->data, x->data, (size_t)size(bytes));
  return stream != NULL || x->dtype.bits != 4 || y->dtype.bits != 4;
}

int update(const DLTensor* x, DLTensor* y, DLTensor* z, DLTensor* sum, void* stream) {
  const int64_t n = x->shape[x->ndim - 1];
  const float* from = (const float*)x->data;
  float *to = (float*)y->data, *also = z ? (float*)z->data : NULL, *sums = (float*)sum->data;
  for (int64_t i = 0; i < size(sum); i++) sums[i] = 0;
  for (int64_t i = 0; i < size(x); i++) {
    to[i] += from[i];
    if (also) also[i] += from[i];
    sums[i / n] += to[i];
  }
  return stream != NULL;
}

int64_t counted;
int count(const DLTensor* x, void* stream) {
  counted += 1 + 0 * size(x);
  return stream != NULL;
}

int placed(const DLTensor* x, DLTensor* y, void* stream) {
  memcpy(y->data, x->data, (size_t)size(x) * 4);
  return stream != NULL;
}
void* last_stream;
DLDevice last_device;
int placed_cuda(const DLTensor* x, DLTensor* y, void* stream) {
  last_stream = stream;
  last_device = y->device;
  return x->device.device_type != kDLCUDA;
}

#define FILLED(T, C)                                                                                            \
  int filled_##T(const DLTensor* like, C value, const uint64_t* also, DLTensor* y, DLTensor* z, void* stream) { \
    for (int64_t i = 0; i < size(like); i++) ((C*)y->data)[i] = value;                                          \
    *(uint64_t*)z->data = also ? *also : 7;                                                                     \
    return stream != NULL;                                                                                      \
  }
FILLED(uint64, uint64_t)
FILLED(int64, int64_t)
FILLED(int8, int8_t)
FILLED(bool, bool)
FILLED(float32, float)
FILLED(float64, double)

int ramp(int64_t n, DLTensor* y, void* stream) {
  for (int64_t i = 0; i < n; i++) ((float*)y->data)[i] = (float)i;
  return stream != NULL;
}

int strided(const DLTensor* x, const DLTensor* y, const DLTensor* z, DLTensor* strides, void* stream) {
  const DLTensor* const all[] = {x, y, z};
  for (int i = 0; i < 6; i++) ((int64_t*)strides->data)[i] = all[i / 2]->strides[i % 2];
  return stream != NULL;
}

int pair(const DLTensor* x, const DLTensor* y, DLTensor* sum, DLTensor* difference, DLTensor* places, void* stream) {
  for (int64_t i = 0; i < size(x); i++) {
    put(sum, i, get(x, i) + get(y, i));
    put(difference, i, get(x, i) - get(y, i));
    ((int32_t*)places->data)[i] = (int32_t)i;
  }
  return stream != NULL;
}
int pair_backward(const DLTensor* a, const DLTensor* b, const DLTensor* c, DLTensor* dx, DLTensor* dy, void* stream) {
  for (int64_t i = 0; i < size(a); i++) {
    put(dx, i, get(a, i) + get(b, i) + ((const int32_t*)c->data)[i]);
    put(dy, i, get(a, i) - get(b, i));
  }
  return stream != NULL;
}
