/* Kernels that return the bits of their arguments. */
#include <string.h>
#include "kernels.h"

#if defined(EDGES)
int edges(const DLTensor* x, int64_t least, int64_t most, double zero, double large, const char* text,
          const int64_t* maybe, const double* negative, bool flag, DLTensor* z, void* stream) {
  int64_t* const to = (int64_t*)z->data;
  (void)x, (void)stream;
  to[0] = least, to[1] = most, to[4] = strcmp(text, "a\\b\"c?\n\t\303\274") == 0, to[5] = *maybe, to[7] = flag;
  memcpy(&to[2], &zero, sizeof zero);
  memcpy(&to[3], &large, sizeof large);
  memcpy(&to[6], negative, sizeof *negative);
  return 0;
}
#else
static int wide(int64_t a, uint64_t seed, const uint64_t* also, float single, const float* half, int64_t* to) {
  const double real[2] = {single, *half};
  to[0] = a, to[1] = (int64_t)seed, to[2] = (int64_t)*also;
  memcpy(&to[3], real, sizeof real);
  return 0;
}

int wide_uint64(const DLTensor* x, uint64_t a, uint64_t seed, const uint64_t* also, float single, const float* half,
                float brief, DLTensor* z, void* stream) {
  (void)x, (void)stream, (void)brief;
  return wide((int64_t)a, seed, also, single, half, (int64_t*)z->data);
}

int wide_float64(const DLTensor* x, double a, uint64_t seed, const uint64_t* also, float single, const float* half,
                 float brief, DLTensor* z, void* stream) {
  int64_t bits;
  (void)x, (void)stream, (void)brief;
  memcpy(&bits, &a, sizeof a);
  return wide(bits, seed, also, single, half, (int64_t*)z->data);
}

int wide_bfloat16(const DLTensor* x, float a, uint64_t seed, const uint64_t* also, float single, const float* half,
                  float brief, DLTensor* z, void* stream) {
  (void)x, (void)stream, (void)brief;
  return wide((int64_t)a, seed, also, single, half, (int64_t*)z->data);
}

int huge_float64(const DLTensor* x, double a, double b, int64_t least, DLTensor* z, void* stream) {
  const double real[2] = {a, b};
  (void)x, (void)stream;
  memcpy(z->data, real, sizeof real);
  ((int64_t*)z->data)[2] = least;
  return 0;
}
#endif
