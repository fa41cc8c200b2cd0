/* A kernel whose calls with memory for the result need no conversion. */
#include <kernels.h>

int direct(const DLTensor* x, double by, int64_t times, bool back, const DLTensor* w, DLTensor* y, void* stream) {
  const int64_t n = x->shape[0];
  (void)stream;
  for (int64_t i = 0; i < n; i++) {
    const float made = ((const float*)x->data)[i] * (float)by * (float)times;
    ((float*)y->data)[back ? n - 1 - i : i] = made + (w ? ((const float*)w->data)[i] : 0);
  }
  return times > 9;
}
