/* A kernel: its arguments have passed every check of dlpackgen.yaml. */
#include <kernels.h>

int scale(DLTensor* x, double by, void* stream) {
  float* data = (float*)((char*)x->data + x->byte_offset);
  (void)stream;
  for (int64_t i = 0; i < x->shape[0]; i++) data[i * x->strides[0]] *= (float)by;
  return 0;
}
