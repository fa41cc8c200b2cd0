/* The kernels of this suite for the described callers. */
#include <kernels.h>

/* Written, so that no compiler drops the arguments. */
static const void* volatile sink;

int bench_nop(const DLTensor* a, const DLTensor* b, const DLTensor* c, void* stream) {
  (void)stream;
  sink = a->data;
  sink = b->data;
  sink = c->data;
  return 0;
}

int bench_add(const DLTensor* a, const DLTensor* b, DLTensor* c, void* stream) {
  const float *x = (const float*)a->data, *y = (const float*)b->data;
  (void)stream;
  for (int64_t i = 0; i < a->shape[0]; i++) ((float*)c->data)[i] = x[i] + y[i];
  return 0;
}
