/* Hostile tensors for the validator of dlpackgen/tensor.h, and accepted ones for its other
 * functions. */
#include "hostile.h"

#include "../../rules/testdata/fast.c"

/* Contiguous strides assign exactly one element to each position. */
static void hold_density(const DLTensor* t, const struct hostile_facts* f) {
  const int dense = dlpackgen_is_contiguous_any_order(t), row_major = dlpackgen_is_contiguous(t);
  CLAIM(!row_major || dense);
  if (dense && f->count > 0) CLAIM(f->below + f->above + 1 == f->count);
  if (row_major && f->count > 1) CLAIM(f->below == 0);
}

static void hold_sizes(const DLTensor* t, uint64_t flags, const struct hostile_facts* f) {
  int64_t count = -1, bytes = -1, low = 1, high = -1;
  CLAIM(dlpackgen_size(t->ndim, t->shape, &count) == DLPACKGEN_OK && (unsigned __int128)count == f->count);
  CLAIM(dlpackgen_byte_range(t, flags, &low, &high) == DLPACKGEN_OK);
  CLAIM(low <= 0 && (unsigned __int128)-low == f->low && (unsigned __int128)high == f->high);
  const unsigned __int128 needed = (hostile_times(f->count, f->bits) + 7) / 8;
  if (dlpackgen_nbytes(t, flags, &bytes) == DLPACKGEN_OK) CLAIM((unsigned __int128)bytes == needed);
  else CLAIM(needed > INT64_MAX);
}

static void hold_versioned(const struct hostile* h, int fault) {
  const uint32_t minor = h->managed.version.minor;
  const dlpackgen_error_code error = dlpackgen_validate_versioned(&h->managed, h->options);
  if (h->managed.version.major != DLPACK_MAJOR_VERSION) CLAIM(error == DLPACKGEN_ERROR_VERSION);
  else if (minor >= 2) CLAIM((int)error == fault);
}

/* Fast checks accept only valid tensors. */
static void hold_fast(const struct hostile* h) {
  const DLTensor* t = &h->managed.dl_tensor;
  if (accepting(&h->managed)) CLAIM(hostile_fault(t, h->managed.flags, 0) == DLPACKGEN_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  struct hostile h;
  hostile_make(&h, bytes, size);
  const DLTensor* t = &h.managed.dl_tensor;
  const dlpackgen_error_code error = dlpackgen_validate(t, h.managed.flags, h.options);
  CLAIM((int)error == hostile_fault(t, h.managed.flags, h.options));
  hold_versioned(&h, (int)error);
  hold_fast(&h);
  if (error == DLPACKGEN_OK) {
    const struct hostile_facts f = hostile_learn(t, h.managed.flags);
    hold_sizes(t, h.managed.flags, &f);
    hold_density(t, &f);
    hostile_walk(&h, t, &f);
  }
  hostile_free(&h);
  return 0;
}
