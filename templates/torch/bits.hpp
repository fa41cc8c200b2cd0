/**
 * \file bits.hpp
 * The functions for a kernel that writes to arguments, under the keys Negative and Conjugate.
 * PyTorch's own fallback assumes that the first result of an operator is the written argument, and
 * fails for a kernel without results.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_BITS_HPP_
#define DLPACKGEN_V0_0_PYTORCH_BITS_HPP_

#include "kernel.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <array>
#include <cstddef>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

inline bool has_bits(const c10::IValue& value) {
  return value.isTensor() && (value.toTensor().is_neg() || value.toTensor().is_conj());
}

// The versions were incremented before.
inline at::Tensor resolved(const at::Tensor& tensor) {
  const at::AutoDispatchBelowADInplaceOrView below;
  return tensor.clone();
}

inline void write_back(const at::Tensor& to, const at::Tensor& values) {
  const at::AutoDispatchBelowADInplaceOrView below;
  to.copy_(values);
}

}  // namespace detail

/** Resolves such arguments before the kernel runs, and writes its changes back. */
template <class K, class Signature = typename K::signature>
struct Bits;

template <class K, class R, class... A>
struct Bits<K, R(A...)> {
  static void boxed(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    constexpr bool writes[] = {std::is_same_v<A, at::Tensor&>...};
    std::array<at::Tensor, sizeof...(A)> passed;
    std::array<at::Tensor, sizeof...(A)> values;
    c10::IValue* const first = stack->data() + stack->size() - sizeof...(A);
    for (std::size_t i = 0; i < sizeof...(A); ++i) {
      if (!detail::has_bits(first[i])) continue;
      values[i] = detail::resolved(first[i].toTensor());
      if (writes[i]) passed[i] = first[i].toTensor();
      first[i] = values[i];
    }
    op.redispatchBoxed(keys & after_bits(), stack);
    for (std::size_t i = 0; i < sizeof...(A); ++i) {
      if (passed[i].defined()) detail::write_back(passed[i], values[i]);
    }
  }

 private:
  static c10::DispatchKeySet after_bits() {
    using Keys = c10::DispatchKeySet;
    return Keys(Keys::FULL_AFTER, c10::DispatchKey::Negative) & Keys(Keys::FULL_AFTER, c10::DispatchKey::Conjugate);
  }
};

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_BITS_HPP_
