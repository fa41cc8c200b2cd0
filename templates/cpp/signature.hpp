/**
 * \file signature.hpp
 * The parameter types and the return type of a C++ function, for binding libraries.
 */
#ifndef DLPACKGEN_V0_0_SIGNATURE_HPP_
#define DLPACKGEN_V0_0_SIGNATURE_HPP_

#include "base.hpp"

#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** A function that is called without the GIL; it must not use Python. */
template <class Function>
struct WithoutGil {
  Function function;
};

/** Marks a function that is called without the GIL. */
template <class Function>
WithoutGil<std::decay_t<Function>> without_gil(Function&& function) {
  return {static_cast<Function&&>(function)};
}

namespace detail {

template <class Result, class... Arguments>
struct Types {};

// The return type and the parameter types of a function.
template <class Function>
struct Signature : Signature<decltype(&Function::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using All = Types<R, A...>;
};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};
template <class Function>
struct Signature<WithoutGil<Function>> : Signature<Function> {};

template <class Function>
inline constexpr bool is_without_gil = false;
template <class Function>
inline constexpr bool is_without_gil<WithoutGil<Function>> = true;

}  // namespace detail

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_SIGNATURE_HPP_
