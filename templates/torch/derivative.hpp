/**
 * \file derivative.hpp
 * Connects a kernel to autograd. The dispatcher itself neither differentiates operators nor detects
 * that an operator wrote to an argument. Without these functions, backward would be silently wrong.
 * A kernel also has
 *
 *     using backward = scale_backward;   // the kernel of its gradients, or void
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_DERIVATIVE_HPP_
#define DLPACKGEN_V0_0_PYTORCH_DERIVATIVE_HPP_

#include "kernel.hpp"

#include <ATen/FuncTorchTLS.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// The operator of a kernel, which must be registered.
template <class K>
const c10::TypedOperatorHandle<typename K::signature>& handle() {
  static const auto found =
      c10::Dispatcher::singleton().findSchemaOrThrow(K::name, "").template typed<typename K::signature>();
  return found;
}

[[noreturn, gnu::noinline, gnu::cold]] inline void reject_gradient(const char* kernel) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, kernel, "(): " DLPACKGEN_TEXT_NO_BACKWARD);
}

[[noreturn, gnu::noinline, gnu::cold]] inline void reject_tangent(const char* kernel) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, kernel, "(): " DLPACKGEN_TEXT_NO_FORWARD_MODE);
}

// The transforms of torch.func do not support autograd functions in C++, and raise PyTorch's own
// error.
inline void reject_transform(const char* kernel) {
  const auto& transforms = at::functorch::functorchTLSAccessor();
  if (transforms == nullptr) return;
  try {
    transforms->checkSupportsCppAutogradFunction();
  } catch (const c10::Error&) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        false, kernel,
        "(): torch.func (grad, vjp, jacrev) does not differentiate kernels: use backward() or torch.autograd.grad()");
  }
}

// Checks the tensors of a call. Returns whether autograd must record it.
template <class K>
class Tracking {
 public:
  // Most tensors have no autograd data, and undefined tensors never do.
  void see(const at::Tensor& tensor) {
    if (tensor.unsafeGetTensorImpl()->autograd_meta() != nullptr) look(tensor);
  }

  bool recorded() const { return wanted_ && decide(); }

 private:
  // The forward-mode derivative of a dual tensor would be lost.
  [[gnu::noinline]] void look(const at::Tensor& tensor) {
    wanted_ = wanted_ || tensor.requires_grad();
    if (tensor._fw_grad(0).defined()) reject_tangent(K::name);
  }

  [[gnu::noinline]] static bool decide() {
    const bool recorded = c10::GradMode::is_enabled();
    if (std::is_void_v<typename K::backward> && recorded) reject_gradient(K::name);
    return recorded;
  }

  bool wanted_ = false;
};

// Autograd's record of one call of a kernel with a backward.
template <class K>
struct Derivative;

}  // namespace detail

/**
 * The function for a kernel that writes to arguments, under the key ADInplaceOrView. It increments
 * their versions, so that backward does not use values that changed after they were saved. It does
 * so before the call, which may fail midway.
 */
template <class K, class Signature = typename K::signature>
struct Versions;

template <class K, class R, class... A>
struct Versions<K, R(A...)> {
  static R call(c10::DispatchKeySet keys, A... arguments) {
    raise(arguments...);
    return detail::handle<K>().redispatch(keys & c10::after_ADInplaceOrView_keyset, arguments...);
  }

  static void boxed(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    raise(stack);
    op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  }

  static void raise(A... arguments) { (raise_if<std::is_same_v<A, at::Tensor&>>(arguments), ...); }

  static void raise(torch::jit::Stack* stack) {
    raise(stack->data() + stack->size() - sizeof...(A), std::index_sequence_for<A...>());
  }

 private:
  template <std::size_t... I>
  static void raise(c10::IValue* first, std::index_sequence<I...>) {
    (raise_boxed<std::is_same_v<A, at::Tensor&>>(first[I]), ...);
  }

  template <bool writes>
  static void raise_boxed([[maybe_unused]] c10::IValue& value) {
    if constexpr (writes) raise_if<true>(value.toTensor());
  }

  template <bool writes, class Value>
  static void raise_if([[maybe_unused]] const Value& argument) {
    if constexpr (writes) {
      // Outside inference mode, this rejects tensors of inference mode, which have no version.
      if (argument.defined()) argument.unsafeGetTensorImpl()->bump_version();
    }
  }
};

/**
 * The function for a kernel under the key Autograd. It records the call, rejects it, or passes it
 * on. If the next step would increment versions, this function does it, which saves a dispatch. It
 * is flattened, because the dispatcher consists of small functions whose calls would cost as much
 * as the arguments.
 */
template <class K, class Signature = typename K::signature>
struct Autograd;

template <class K, class R, class... A>
struct Autograd<K, R(A...)> {
  [[gnu::flatten]] static R call(c10::DispatchKeySet keys, A... arguments) {
    detail::Tracking<K> tracking;
    (see(tracking, arguments), ...);
    if (tracking.recorded()) return record(arguments...);
    if (raises(keys)) Versions<K>::raise(arguments...);
    return detail::handle<K>().redispatch(keys & c10::after_ADInplaceOrView_keyset, arguments...);
  }

  [[gnu::flatten]] static void boxed(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                                     torch::jit::Stack* stack) {
    detail::Tracking<K> tracking;
    see(tracking, stack->data() + stack->size() - sizeof...(A), std::index_sequence_for<A...>());
    if (tracking.recorded()) return record_boxed(stack);
    if (raises(keys)) Versions<K>::raise(stack);
    op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  }

 private:
  static constexpr bool mutates = (std::is_same_v<A, at::Tensor&> || ... || false);

  static bool raises(c10::DispatchKeySet keys) { return mutates && keys.has(c10::DispatchKey::ADInplaceOrView); }

  template <std::size_t... I>
  static void see(detail::Tracking<K>& tracking, c10::IValue* first, std::index_sequence<I...>) {
    (see_boxed<A>(tracking, first[I]), ...);
  }

  template <class Value>
  static void see_boxed([[maybe_unused]] detail::Tracking<K>& tracking, [[maybe_unused]] c10::IValue& value) {
    if constexpr (!std::is_arithmetic_v<Value>) {
      if (value.isTensor()) tracking.see(value.toTensor());
    }
  }

  template <class Value>
  static void see([[maybe_unused]] detail::Tracking<K>& tracking, [[maybe_unused]] const Value& value) {
    if constexpr (std::is_same_v<Value, at::Tensor>) {
      tracking.see(value);
    } else if constexpr (std::is_same_v<Value, std::optional<at::Tensor>>) {
      if (value.has_value()) tracking.see(*value);
    }
  }

  [[gnu::noinline]] static void record_boxed(torch::jit::Stack* stack) { detail::Boxed<R(A...)>::run(record, stack); }

  [[gnu::noinline]] static R record([[maybe_unused]] A... arguments) {
    if constexpr (std::is_void_v<typename K::backward>) {
      detail::reject_gradient(K::name);
    } else {
      detail::reject_transform(K::name);
      auto made = detail::Derivative<K>::apply(arguments...);
      return detail::Results<R>::pack(made.data());
    }
  }
};

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_DERIVATIVE_HPP_
