// Compares declarations of a host's headers with our own, whose structs have other names.
#ifndef NATIVE_HPP
#define NATIVE_HPP

#include <type_traits>

template <class A, class B>
constexpr bool same_kind();

template <class F, class G>
struct same_call : std::false_type {};

template <class... T>
struct types {};

template <class A, class B>
struct same_parameters : std::false_type {};

template <class... A, class... B>
requires(sizeof...(A) == sizeof...(B)) struct same_parameters<types<A...>, types<B...>>
    : std::bool_constant<(same_kind<A, B>() && ...)> {};

template <class R, class S, class... A, class... B>
struct same_call<R(A...), S(B...)>
    : std::bool_constant<same_kind<R, S>() && same_parameters<types<A...>, types<B...>>::value> {};

// Some hosts declare that their functions do not throw.
template <class R, class S, class... A, class... B>
struct same_call<R(A...) noexcept, S(B...)> : same_call<R(A...), S(B...)> {};

// A C++ function in C: a member's first argument is the address of its object, and references are
// addresses.
template <class F>
struct in_c {
  using type = F;
};

template <class T>
using address = std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, T>;

template <class R, class... A>
struct in_c<R (*)(A...)> {
  using type = address<R> (*)(address<A>...);
};

template <class R, class T, class... A>
struct in_c<R (T::*)(A...) const> {
  using type = address<R> (*)(const T*, address<A>...);
};

template <class T>
constexpr bool is_whole = std::is_integral_v<T> || std::is_enum_v<T>;

// Pointers to functions are compared by their parameters; other pointers are all equal.
template <class A, class B>
constexpr bool same_kind() {
  using P = std::remove_pointer_t<A>;
  using Q = std::remove_pointer_t<B>;
  if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
    return std::is_void_v<A> && std::is_void_v<B>;
  } else if constexpr (std::is_pointer_v<A> && std::is_function_v<P> && std::is_function_v<Q>) {
    return same_call<P, Q>::value;
  } else if constexpr (is_whole<A> && is_whole<B>) {
    return sizeof(A) == sizeof(B) && (std::is_enum_v<A> || std::is_signed_v<A> == std::is_signed_v<B>);
  } else {
    return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B> && is_whole<A> == is_whole<B>;
  }
}

#if defined(PyUFunc_FromFuncAndDataAndSignature)
// A NumPy function is a macro that ends in its index in a table: TABLE[31]).
#define TEXT_OF(...) #__VA_ARGS__
#define TEXT_OF_MACRO(name) TEXT_OF(name)

constexpr int number_at_end(const char* text) {
  int number = 0;
  for (; *text; text++) {
    if (*text == '[') number = 0;
    if (*text >= '0' && *text <= '9') number = 10 * number + (*text - '0');
  }
  return number;
}

namespace numpy_slots {
constexpr int from_loops = number_at_end(TEXT_OF_MACRO(PyUFunc_FromFuncAndDataAndSignature));
}
#endif

#endif
