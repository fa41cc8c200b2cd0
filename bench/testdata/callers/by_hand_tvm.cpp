// A typed function in tvm-ffi's C++, which checks that its arguments are tensors.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

static const void* volatile sink;

static void nop(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  sink = a.data_ptr();
  sink = b.data_ptr();
  sink = c.data_ptr();
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(nop, nop);

// Called by jax-tvm-ffi, with the result after the arguments.
static void add(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const float *x = static_cast<const float*>(a.data_ptr()), *y = static_cast<const float*>(b.data_ptr());
  for (int64_t i = 0; i < a.size(0); i++) static_cast<float*>(c.data_ptr())[i] = x[i] + y[i];
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, add);
