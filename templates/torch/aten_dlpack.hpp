/**
 * \file aten_dlpack.hpp
 * Declares ATen's own exports. Their header also includes every operator of ATen, which takes
 * several seconds to compile. The signatures below are those of released versions of PyTorch; for a
 * newer one, the header itself is included.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_ATEN_DLPACK_HPP_
#define DLPACKGEN_V0_0_PYTORCH_ATEN_DLPACK_HPP_

#include "base.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/dlpack.h>
#include <torch/csrc/api/include/torch/version.h>

#if !defined(TORCH_VERSION_MAJOR) || TORCH_VERSION_MAJOR != 2 || TORCH_VERSION_MINOR < 9
#error "dlpackgen_torch needs torch 2.9 or a newer 2.x: older ones have no at::toDLPackVersioned"
#elif TORCH_VERSION_MINOR > 15
#include <ATen/DLConvertor.h>
#else

namespace at {

TORCH_API DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src);

#if TORCH_VERSION_MINOR >= 14
TORCH_API DLManagedTensorVersioned* toDLPackVersionedReadOnly(const Tensor& src);
TORCH_API void toDLPackNonOwning(const Tensor& src, DLTensor* out, bool read_only);
#elif TORCH_VERSION_MINOR >= 10
TORCH_API void toDLPackNonOwning(const Tensor& src, DLTensor* out);
#endif

}  // namespace at

#endif
#endif
