#include "measure.h"

#include <dlpackgen/core.hpp>
#include <dlpackgen/exchange.hpp>

void measure(const DLManagedTensorVersioned* m, measured* found) {
  using dlpackgen::Accept;
  const DLTensor& t = m->dl_tensor;
  Accept accept = Accept::unknown_device | Accept::unknown_code;
  *found = measured{};
  if (m->version.minor < 2) accept = accept | Accept::null_strides;
  found->fault = static_cast<int>(dlpackgen::validate(&t, m->flags, accept).code);
  found->strict = static_cast<int>(dlpackgen::validate(&t, m->flags, Accept::null_strides).code);
  if (found->fault != 0) return;
  const auto bytes = dlpackgen::nbytes(t, m->flags);
  const auto reach = dlpackgen::byte_range(t, m->flags);
  found->alignment = static_cast<int>(dlpackgen::alignment(t.dtype));
  found->row_major = dlpackgen::is_contiguous(t);
  found->column_major = dlpackgen_is_f_contiguous(&t);
  found->inner = dlpackgen_is_inner_contiguous(&t);
  found->any_order = dlpackgen_is_contiguous_any_order(&t);
  found->overlap = dlpackgen::may_overlap(t);
  found->count = *dlpackgen::size(t.ndim, t.shape);
  found->bytes = bytes ? *bytes : -1;
  found->low = reach->low;
  found->high = reach->high;
  const auto view = dlpackgen::TensorView::from_raw_unchecked(t, m->flags);
  std::int64_t strides[64] = {0};
  if (t.strides == nullptr && dlpackgen::compact_strides(t.ndim, t.shape, strides).code != dlpackgen::ErrorCode::ok)
    return;
  for (std::int32_t i = 0; i < t.ndim; i++) found->strides = hashed(found->strides, view.stride(i));
}

static thread_local DLManagedTensorVersioned* allocated;

static int allocate(DLTensor*, DLManagedTensorVersioned** out, void*, void (*)(void*, const char*, const char*)) {
  *out = allocated;
  return 0;
}

// The required functions that are not called.
static int own(void*, DLManagedTensorVersioned**) { return -1; }
static int wrap(DLManagedTensorVersioned*, void**) { return -1; }
static int stream(DLDeviceType, std::int32_t, void**) { return -1; }

int64_t accepts(DLManagedTensorVersioned* made, const DLTensor* requested) {
  static const DLPackExchangeAPI table = {
      {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, nullptr}, allocate, own, wrap, nullptr, stream};
  allocated = made;
  return dlpackgen::ExchangeAPI::find(&table.header)->allocate(*requested) ? 1 : 0;
}
