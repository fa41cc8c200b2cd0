// Calls the kernels through the C++ functions. An error is written as "CLASS: SENTENCE".
#include <cstdio>
#include <cstring>
#include <dlpackgen/storage.hpp>
#include <kernels.hpp>
#include <vector>

extern "C" {
#include "called.h"
}

using namespace dlpackgen;

static TensorView view_of(const lent* from) {
  return TensorView::from_raw_unchecked(from->tensor, from->read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0);
}

// A missing argument is an empty Managed.
static TensorIn argument(const lent* from) {
  static const Managed missing;
  return from ? TensorIn(view_of(from)) : TensorIn(missing);
}

static void write(const KernelError& error, char* text, size_t size) {
  std::snprintf(text, size, "%s: %s", error.class_name(), error.text());
}

static KernelResult<Managed> mix(const mixed& call) {
  const std::vector<std::int64_t> sizes(call.sizes, call.sizes + (call.nsizes < 0 ? 0 : call.nsizes));
  const OptionalList<std::int64_t> list =
      call.nsizes < 0 ? OptionalList<std::int64_t>(std::nullopt) : OptionalList<std::int64_t>(sizes);
  const OptionalTensorIn bias = call.bias ? OptionalTensorIn(view_of(call.bias)) : OptionalTensorIn(std::nullopt);
  return kernels::mix_new(argument(call.x), argument(call.weight), argument(call.places), call.by, call.times,
                          call.also != 0, bias, list, call.mode ? call.mode : "sum");
}

extern "C" void call_mix(const mixed* call, void* into, size_t bytes, char* text, size_t size) {
  const auto made = mix(*call);
  if (!made) return write(made.error(), text, size);
  const TensorView view = made->view();
  if (view.nbytes() == static_cast<std::int64_t>(bytes)) {
    std::memcpy(into, view.data(), bytes);
  } else {
    std::snprintf(text, size, "a result of %lld bytes, not %zu", static_cast<long long>(view.nbytes()), bytes);
  }
}

extern "C" void call_fill(std::int8_t tiny, const lent* x, const lent* y, char* text, size_t size) {
  if (const auto error = kernels::fill(tiny, argument(x), view_of(y))) write(error, text, size);
}
