// The kernels on CUDA. Each queues its work on the stream of the call, and counts the calls while
// that stream is captured into a graph.
#include <cuda_runtime.h>

#include <atomic>

#include "kernels.h"

namespace {

std::atomic<int64_t> captured{0};

struct Square {
  const float* x;
  float* y;
  __device__ void operator()(int64_t i) const { y[i] = x[i] * x[i]; }
};

struct SquareBackward {
  const float *grad, *x;
  float* dx;
  __device__ void operator()(int64_t i) const { dx[i] = grad[i] * 2 * x[i]; }
};

struct Increase {
  float* x;
  float by;
  __device__ void operator()(int64_t i) const { x[i] += by; }
};

template <class F>
__global__ void each(F f, int64_t size, int64_t cycles) {
  for (const int64_t begin = clock64(); clock64() - begin < cycles;) {
  }
  const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < size) f(i);
}

template <class F>
int queue(F f, const DLTensor* x, int64_t cycles, void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing((cudaStream_t)stream, &status);
  captured += status == cudaStreamCaptureStatusActive;
  int64_t size = 1;
  for (int32_t i = 0; i < x->ndim; i++) size *= x->shape[i];
  if (!size) return 0;
  each<<<(unsigned)((size + 255) / 256), 256, 0, (cudaStream_t)stream>>>(f, size, cycles);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

float* first_of(const DLTensor* t) { return (float*)((char*)t->data + t->byte_offset); }

}  // namespace

extern "C" __attribute__((visibility("default"))) int64_t gpu_kernels_captured() { return captured; }

int square_cuda(const DLTensor* x, DLTensor* y, void* stream) {
  return queue(Square{first_of(x), first_of(y)}, x, 0, stream);
}

int square_backward_cuda(const DLTensor* grad, const DLTensor* x, DLTensor* dx, void* stream) {
  return queue(SquareBackward{first_of(grad), first_of(x), first_of(dx)}, x, 0, stream);
}

int slow_square_cuda(const DLTensor* x, int64_t cycles, DLTensor* y, void* stream) {
  return queue(Square{first_of(x), first_of(y)}, x, cycles, stream);
}

int increase_cuda(DLTensor* x, double by, void* stream) {
  return queue(Increase{first_of(x), (float)by}, x, 0, stream);
}
