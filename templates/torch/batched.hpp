/**
 * \file batched.hpp
 * Calls a described kernel once for a whole batch of torch.vmap, as an additional leading dimension
 * of `...`. A kernel also has
 *
 *     static constexpr Batching batching = Batching::joined;
 *     static constexpr bool leading[] = {true, false};      // arguments that begin with `...`
 *     static constexpr bool contiguous[] = {true, false};   // arguments that allow no strides
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_BATCHED_HPP_
#define DLPACKGEN_V0_0_PYTORCH_BATCHED_HPP_

#include "kernel.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/ops/stack.h>
#include <torch/library.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {

/** How torch.vmap calls a kernel. */
enum class Batching {
  each,    ///< Once for each element of the batch, which PyTorch does by itself.
  joined,  ///< Once, with the batch as a leading dimension.
  none     ///< Never, as `batch: none` specifies.
};

namespace detail {

// An argument without its vmap wrapper, and the dimension of the batch in it.
struct Member {
  at::Tensor tensor;
  std::optional<std::int64_t> place;
};

// The batch of a vmap, or of an outer one.
inline const at::functorch::BatchedTensorImpl* batch_of(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return nullptr;
  return at::functorch::maybeGetBatchedImpl(value.toTensor());
}

inline Member member_of(const c10::IValue& value, std::int64_t level) {
  const auto* const batch = batch_of(value);
  if (batch != nullptr && batch->level() == level) return {batch->value(), batch->bdim()};
  return {value.isTensor() ? value.toTensor() : at::Tensor(), std::nullopt};
}

// The innermost vmap of the arguments. Other arguments may be batches of outer vmaps, and stay
// batches. (The header that reports the current vmap includes a header that PyTorch does not ship.)
inline std::int64_t level_of(const c10::IValue* first, std::size_t count) {
  std::int64_t level = -1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const batch = batch_of(first[i]);
    if (batch != nullptr && batch->level() > level) level = batch->level();
  }
  return level;
}

// Arguments without the batch get it too, because `...` must be equal in all arguments of a call.
inline at::Tensor in_front(const Member& member, const c10::SymInt& size) {
  if (member.place.has_value()) return member.tensor.movedim(*member.place, 0);
  std::vector<c10::SymInt> shape = member.tensor.sym_sizes().vec();
  shape.insert(shape.begin(), size);
  return member.tensor.unsqueeze(0).expand_symint(shape);
}

// The results of one call, from the end of a stack.
inline void return_batched(torch::jit::Stack& from, std::size_t count, std::int64_t level, torch::jit::Stack& to) {
  for (std::size_t i = from.size() - count; i < from.size(); ++i) {
    to.emplace_back(at::functorch::makeBatched(from[i].toTensor(), 0, level));
  }
}

}  // namespace detail

/** The function for a kernel under the key FuncTorchBatched. */
template <class K, class Signature = typename K::signature>
struct Batched;

template <class K, class R, class... A>
struct Batched<K, R(A...)> {
  static void boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    const c10::impl::ExcludeDispatchKeyGuard below(c10::DispatchKey::FuncTorchBatched);
    Members members;
    const c10::IValue* const first = stack->data() + stack->size() - count;
    const std::int64_t level = detail::level_of(first, count);
    for (std::size_t i = 0; i < count; ++i) members[i] = detail::member_of(first[i], level);
    const Member* const batched = find(members);
    if (batched == nullptr) return op.callBoxed(stack);
    torch::jit::Stack arguments(first, first + count);
    torch::jit::drop(*stack, count);
    const c10::SymInt size = batched->tensor.sym_size(*batched->place);
    if (is_joined(members)) {
      join(members, size, arguments);
      op.callBoxed(&arguments);
    } else {
      call_each(op, members, size.guard_int(__FILE__, __LINE__), arguments);
    }
    detail::return_batched(arguments, results, level, *stack);
  }

  /** Rejects a batch, for `batch: none`. */
  static void reject(const c10::OperatorHandle&, torch::jit::Stack*) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, K::kernel,
                                "(): torch.vmap does not call kernels with `batch: none`: call it in a loop, or "
                                "leave `batch:` out of the description");
  }

 private:
  using Member = detail::Member;
  static constexpr std::size_t count = sizeof...(A);
  static constexpr std::size_t results = detail::Results<R>::count;
  using Members = std::array<Member, count>;

  static const Member* find(const Members& members) {
    for (const Member& member : members) {
      if (member.place.has_value()) return &member;
    }
    return nullptr;
  }

  // A kernel cannot represent a batch of an argument without `...`.
  static bool is_joined(const Members& members) {
    for (std::size_t i = 0; i < count; ++i) {
      if (members[i].place.has_value() && !K::leading[i]) return false;
    }
    return true;
  }

  // The caller of vmap does not determine the position of the batch among the dimensions.
  static at::Tensor laid_out(std::size_t argument, const at::Tensor& tensor) {
    return K::contiguous[argument] ? tensor.contiguous() : tensor;
  }

  static void join(const Members& members, const c10::SymInt& size, torch::jit::Stack& arguments) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!members[i].tensor.defined() || !K::leading[i]) continue;
      arguments[i] = laid_out(i, detail::in_front(members[i], size));
    }
  }

  // PyTorch exports no loop for an operator with a rule. Replaces the arguments on the stack with
  // the results.
  static void call_each(const c10::OperatorHandle& op, const Members& members, std::int64_t size,
                        torch::jit::Stack& arguments) {
    TORCH_CHECK_VALUE(size > 0, K::kernel, "(): torch.vmap cannot determine the results for a batch of 0 elements");
    std::array<std::vector<at::Tensor>, results> made;
    for (std::int64_t i = 0; i < size; ++i) {
      torch::jit::Stack one = arguments;
      for (std::size_t j = 0; j < count; ++j) {
        if (members[j].place.has_value()) one[j] = laid_out(j, members[j].tensor.select(*members[j].place, i));
      }
      op.callBoxed(&one);
      for (std::size_t j = 0; j < results; ++j) made[j].push_back(one[j].toTensor());
    }
    arguments.clear();
    for (const std::vector<at::Tensor>& each : made) arguments.emplace_back(at::stack(each));
  }
};

/** Registers the function that vmap calls for a kernel, under the key FuncTorchBatched. */
template <class K>
void implement_batched(torch::Library& library) {
  static_assert(K::batching != Batching::each);
  if constexpr (K::batching == Batching::joined) {
    library.impl(K::name, torch::CppFunction::makeFromBoxedFunction<&Batched<K>::boxed>());
  } else {
    library.impl(K::name, torch::CppFunction::makeFromBoxedFunction<&Batched<K>::reject>());
  }
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_BATCHED_HPP_
