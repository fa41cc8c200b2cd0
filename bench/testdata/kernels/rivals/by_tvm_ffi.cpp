#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

#include <algorithm>

#include "compute.h"

namespace ffi = tvm::ffi;

static void check(ffi::TensorView x, const char* function, const char* name) {
  if (x.device().device_type != kDLCPU) TVM_FFI_THROW(ValueError) << function << "(): " << name << " is not on the CPU";
  if (!x.IsContiguous()) TVM_FFI_THROW(ValueError) << function << "(): " << name << " is not contiguous";
  if (x.dtype().code != kDLFloat || x.dtype().lanes != 1 || (x.dtype().bits != 32 && x.dtype().bits != 64)) {
    TVM_FFI_THROW(TypeError) << function << "(): " << name << " must be float32 or float64";
  }
}

static const char* begin(ffi::TensorView x) { return static_cast<const char*>(x.data_ptr()) + x.byte_offset(); }

static void axpy(double a, ffi::TensorView x, ffi::TensorView y) {
  check(x, "axpy", "x");
  check(y, "axpy", "y");
  if (x.dtype() != y.dtype()) TVM_FFI_THROW(TypeError) << "axpy(): x and y must have the same dtype";
  if (x.ndim() != y.ndim() || !std::equal(x.shape().begin(), x.shape().end(), y.shape().begin())) {
    TVM_FFI_THROW(ValueError) << "axpy(): x and y must have the same shape";
  }
  const std::int64_t bytes = x.numel() * x.dtype().bits / 8;
  if (begin(x) < begin(y) + bytes && begin(y) < begin(x) + bytes) {
    TVM_FFI_THROW(ValueError) << "axpy(): y is written, and must not overlap x";
  }
  if (x.dtype().bits == 32) {
    compute_axpy<float>(static_cast<float>(a), (const float*)begin(x), (float*)begin(y), x.numel());
  } else {
    compute_axpy<double>(a, (const double*)begin(x), (double*)begin(y), x.numel());
  }
}

static ffi::Tensor softmax(ffi::TensorView x) {
  check(x, "softmax", "x");
  if (x.ndim() == 0 || x.size(x.ndim() - 1) == 0) {
    TVM_FFI_THROW(ValueError) << "softmax(): the last dimension of x must have an element";
  }
  ffi::Tensor y = ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, x.shape(), x.dtype(), x.device());
  if (x.dtype().bits == 32) {
    compute_softmax<float>((const float*)begin(x), (float*)y.data_ptr(), x.numel(), x.size(x.ndim() - 1));
  } else {
    compute_softmax<double>((const double*)begin(x), (double*)y.data_ptr(), x.numel(), x.size(x.ndim() - 1));
  }
  return y;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(axpy, axpy);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(softmax, softmax);
