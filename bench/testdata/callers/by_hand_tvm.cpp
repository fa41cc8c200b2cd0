// A typed function of tvm-ffi's C++, which checks that its arguments are tensors.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

static const void* volatile sink;

static void nop(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  sink = a.data_ptr();
  sink = b.data_ptr();
  sink = c.data_ptr();
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(nop, nop);
