// A handler with XLA's ffi.h, which checks the dtypes of its buffers.
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error add(ffi::Buffer<ffi::F32> a, ffi::Buffer<ffi::F32> b, ffi::ResultBuffer<ffi::F32> c) {
  const float *x = a.typed_data(), *y = b.typed_data();
  for (size_t i = 0; i < a.element_count(); i++) c->typed_data()[i] = x[i] + y[i];
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    add_by_hand, add,
    ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
