/**
 * \file complex.hpp
 * The dtypes of complex numbers. <complex> takes longer to compile than all of these headers, so
 * this header does not include it. It recognises std::complex, and the complex types of Thrust and
 * libcu++, by their structure. Include the header of the type that you use.
 */
#ifndef DLPACKGEN_V0_0_COMPLEX_HPP_
#define DLPACKGEN_V0_0_COMPLEX_HPP_

#include "dtype.hpp"

#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

template <class C, class T, class Enable = void>
inline constexpr bool is_complex = false;
// A trivially copyable object of two Ts, the real part first.
template <class C, class T>
inline constexpr bool is_complex<C, T, std::void_t<decltype(any<const C>().real() + any<const C>().imag())>> =
    std::is_same<typename C::value_type, T>::value && sizeof(C) == 2 * sizeof(T) &&
    std::is_trivially_copyable<C>::value;

template <class T, class Enable = void>
inline constexpr bool is_float = false;
template <class T>
inline constexpr bool is_float<T, std::enable_if_t<has_dtype<T>>> = ElementType<T>::dtype.code == kDLFloat;

}  // namespace detail

template <template <class> class Complex, class T>
struct ElementType<Complex<T>, std::enable_if_t<detail::is_float<T> && detail::is_complex<Complex<T>, T>>> {
  static constexpr DLDataType dtype{kDLComplex, static_cast<std::uint8_t>(2 * ElementType<T>::dtype.bits), 1};
};

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_COMPLEX_HPP_
