/**
 * \file strides.hpp
 * The extent of the elements of a strided ATen tensor, whose strides are never negative.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_STRIDES_HPP_
#define DLPACKGEN_V0_0_PYTORCH_STRIDES_HPP_

#include "base.hpp"

#include <dlpackgen/rules.h>

#include <cstdint>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// The number of elements from the first one in memory to the last, including gaps. The strides of a
// tensor without elements may have any value, so the sum uses unsigned arithmetic.
inline std::int64_t covered(const DLTensor& tensor) {
  std::uint64_t last = 0;
  for (std::int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return 0;
    last += static_cast<std::uint64_t>(tensor.shape[i] - 1) * static_cast<std::uint64_t>(tensor.strides[i]);
  }
  return static_cast<std::int64_t>(last + 1);
}

}  // namespace detail
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_STRIDES_HPP_
