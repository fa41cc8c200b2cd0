/**
 * \file registration.hpp
 * All forms in which a kernel can be registered with the dispatcher. Callers see no difference; the
 * forms differ in the code between the dispatcher and the kernel. A kernel also has
 *
 *     static constexpr Form form = Form::function;
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_REGISTRATION_HPP_
#define DLPACKGEN_V0_0_PYTORCH_REGISTRATION_HPP_

#include "bits.hpp"
#include "derivative.hpp"

#include <ATen/core/enum_tag.h>
#include <torch/library.h>

#include <memory>
#include <type_traits>
#include <vector>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {

/** The form in which a kernel is registered. */
enum class Form {
  function,        ///< A function known at compile time (TORCH_FN), which is inlined.
  pointer,         ///< A pointer to a function, known at run time.
  lambda,          ///< A lambda.
  functor,         ///< An OperatorKernel, which can hold state.
  boxed_function,  ///< A function over the interpreter's stack.
  boxed_functor    ///< An OperatorKernel over the interpreter's stack.
};

template <class K, class Signature = typename K::signature>
struct Functor;

template <class K, class R, class... A>
struct Functor<K, R(A...)> final : c10::OperatorKernel {
  R operator()(A... arguments) { return Kernel<K>::call(arguments...); }
  static auto lambda() {
    return [](A... arguments) -> R { return Kernel<K>::call(arguments...); };
  }
};

template <class K>
struct BoxedFunctor final : c10::OperatorKernel {
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
    Kernel<K>::boxed(stack);
  }
};

namespace detail {

template <class K>
void boxed_function(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
  Kernel<K>::boxed(stack);
}

// torch::Library accepts an unboxed functor only if it is a lambda; the dispatcher accepts any
// functor.
template <class K>
void implement_functor(c10::DispatchKey key) {
  static std::vector<c10::RegistrationHandleRAII> registered;
  registered.push_back(c10::Dispatcher::singleton().registerImpl(
      {K::name, ""}, key,
      c10::KernelFunction::makeFromUnboxedFunctor<false, Functor<K>>(std::make_unique<Functor<K>>()),
      c10::impl::CppSignature::make<typename K::signature>(), c10::detail::inferFunctionSchemaFromFunctor<Functor<K>>(),
      K::name));
}

template <class K>
inline constexpr bool is_boxed = K::form == Form::boxed_function || K::form == Form::boxed_functor;

}  // namespace detail

/** Declares the operator of a kernel, in a library of its namespace. */
template <class K>
void define(torch::Library& library) {
  library.def(K::schema, {at::Tag::pt2_compliant_tag});
}

/** Registers a kernel in its form, for the dispatch key of a backend. */
template <class K>
void implement(torch::Library& library, c10::DispatchKey key) {
  if constexpr (K::form == Form::function) {
    library.impl(K::name, TORCH_FN(Kernel<K>::call));
  } else if constexpr (K::form == Form::pointer) {
    library.impl(K::name, &Kernel<K>::call);
  } else if constexpr (K::form == Form::lambda) {
    library.impl(K::name, Functor<K>::lambda());
  } else if constexpr (K::form == Form::functor) {
    detail::implement_functor<K>(key);
  } else if constexpr (K::form == Form::boxed_function) {
    library.impl(K::name, torch::CppFunction::makeFromBoxedFunction<&detail::boxed_function<K>>());
  } else {
    library.impl(K::name, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<BoxedFunctor<K>>()));
  }
}

/** Registers the shapes of a kernel's results, under the key Meta. */
template <class K>
void implement_meta(torch::Library& library) {
  library.impl(K::name, TORCH_FN(Kernel<K>::meta));
}

/** Registers the autograd function of a kernel, under the key Autograd. */
template <class K>
void implement_autograd(torch::Library& library) {
  if constexpr (detail::is_boxed<K>) {
    library.impl(K::name, torch::CppFunction::makeFromBoxedFunction<&Autograd<K>::boxed>());
  } else {
    library.impl(K::name, TORCH_FN(Autograd<K>::call));
  }
}

/**
 * Registers the function that increments the versions of written arguments, under the key
 * ADInplaceOrView.
 */
template <class K>
void implement_versions(torch::Library& library) {
  if constexpr (detail::is_boxed<K>) {
    library.impl(K::name, torch::CppFunction::makeFromBoxedFunction<&Versions<K>::boxed>());
  } else {
    library.impl(K::name, TORCH_FN(Versions<K>::call));
  }
}

/**
 * Registers the functions that resolve negated and conjugated arguments of a kernel that writes,
 * under the keys Negative and Conjugate.
 */
template <class K>
void implement_bits(torch::Library& library) {
  library.impl(K::name, torch::CppFunction::makeFromBoxedFunction<&Bits<K>::boxed>());
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_REGISTRATION_HPP_
