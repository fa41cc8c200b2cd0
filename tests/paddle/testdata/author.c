/* The kernels of more.yaml. */
#include <kernels.h>
#include <string.h>

static int64_t size(const DLTensor* t) {
  int64_t n = 1;
  for (int i = 0; i < t->ndim; i++) n *= t->shape[i];
  return n;
}

int copy(const DLTensor* x, DLTensor* y, void* stream) {
  (void)stream;
  memcpy(y->data, (const char*)x->data + x->byte_offset, (size_t)(size(x) * x->dtype.bits / 8));
  return 0;
}

int total(const DLTensor* x, double* sum, void* stream) {
  (void)stream;
  *sum = 0;
  for (int64_t i = 0; i < size(x); i++) *sum += ((const double*)x->data)[i];
  return 0;
}

int turned(const DLTensor* x, DLTensor* y, void* stream) {
  const int64_t m = x->shape[0], n = x->shape[1];
  (void)stream;
  for (int64_t i = 0; i < m * n; i++) ((float*)y->data)[i % n * m + i / n] = ((const float*)x->data)[i];
  return 0;
}

int fails(const DLTensor* x, int64_t status, DLTensor* y, void* stream) {
  (void)x, (void)y, (void)stream;
  return (int)status;
}

int mixed(const DLTensor* x, const DLTensor* y, DLTensor* z, DLTensor* w, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < size(x); i++) {
    const double a = ((const double*)x->data)[i], b = ((const double*)y->data)[i];
    ((double*)z->data)[i] = a * b;
    ((double*)w->data)[i] = a + b;
  }
  return 0;
}

int mixed_backward(const DLTensor* dz, const DLTensor* dw, const DLTensor* y, DLTensor* dx, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < size(y); i++)
    ((double*)dx->data)[i] = ((const double*)dz->data)[i] * ((const double*)y->data)[i] + ((const double*)dw->data)[i];
  return 0;
}

int into(const DLTensor* x, DLTensor* out, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < size(x); i++) ((double*)out->data)[i] = ((const double*)x->data)[i];
  return 0;
}

int multiplied(const DLTensor* x, int64_t like, DLTensor* y, void* stream) {
  (void)stream;
  for (int64_t i = 0; i < size(x); i++) ((double*)y->data)[i] = ((const double*)x->data)[i] * (double)like;
  return 0;
}
