/**
 * \file strides.hpp
 * What the elements of a strided tensor of ATen reach, whose strides are never
 * negative.
 */
#ifndef DLPACKGEN_V0_0_ATEN_STRIDES_HPP_
#define DLPACKGEN_V0_0_ATEN_STRIDES_HPP_

#include "base.hpp"

#include <dlpack/dlpack.h>

#include <cstdint>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace aten DLPACKGEN_ATEN_HIDDEN {
namespace detail {

inline bool leads_before(const DLTensor& tensor, std::int32_t a, std::int32_t b) {
  return tensor.strides[a] < tensor.strides[b] || (tensor.strides[a] == tensor.strides[b] && a < b);
}

// The dimension of the smallest step after another's, or -1; -1 is before all.
inline std::int32_t next_step(const DLTensor& tensor, std::int32_t after) {
  std::int32_t next = -1;
  for (std::int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 2 || (after >= 0 && !leads_before(tensor, after, i))) continue;
    if (next < 0 || leads_before(tensor, i, next)) next = i;
  }
  return next;
}

// The number of elements from the first one in memory to the last, gaps included. The
// strides of a tensor without elements may be any, so the sum is one that wraps around.
inline std::int64_t span(const DLTensor& tensor) {
  std::uint64_t last = 0;
  for (std::int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return 0;
    last += static_cast<std::uint64_t>(tensor.shape[i] - 1) * static_cast<std::uint64_t>(tensor.strides[i]);
  }
  return static_cast<std::int64_t>(last + 1);
}

// Tells whether two elements may share memory: from the smallest step to the largest,
// each must lead beyond what those before it reach. The rule of dlpackgen_may_overlap.
inline bool may_overlap(const DLTensor& tensor) {
  std::uint64_t reached = 0;
  if (span(tensor) == 0) return false;
  for (std::int32_t i = -1; (i = next_step(tensor, i)) >= 0;) {
    const auto stride = static_cast<std::uint64_t>(tensor.strides[i]);
    const auto steps = static_cast<std::uint64_t>(tensor.shape[i] - 1);
    if (stride <= reached || steps > (UINT64_MAX - reached) / stride) return true;
    reached += steps * stride;
  }
  return false;
}

inline constexpr const char overlapping[] =
    "it is written to, and its elements share memory: pass contiguous(), and copy the result back";
inline constexpr const char beyond_storage[] =
    "it reaches beyond its storage, which was made smaller: resize the storage back, or pass a tensor that fits";

}  // namespace detail
}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_STRIDES_HPP_
