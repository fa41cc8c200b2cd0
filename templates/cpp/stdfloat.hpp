/**
 * \file stdfloat.hpp
 * The float types of C++23 that the compiler supports.
 */
#ifndef DLPACKGEN_V0_0_STDFLOAT_HPP_
#define DLPACKGEN_V0_0_STDFLOAT_HPP_

#include "dtype.hpp"

#if __has_include(<stdfloat>) && \
    (defined(__STDCPP_FLOAT16_T__) || defined(__STDCPP_BFLOAT16_T__) || \
     defined(__STDCPP_FLOAT32_T__) || defined(__STDCPP_FLOAT64_T__))
#include <stdfloat>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

#ifdef __STDCPP_FLOAT16_T__
template <>
struct ElementType<std::float16_t> {
  static constexpr DLDataType dtype = detail::of_width<std::float16_t>(kDLFloat);
};
#endif
#ifdef __STDCPP_BFLOAT16_T__
template <>
struct ElementType<std::bfloat16_t> {
  static constexpr DLDataType dtype = detail::of_width<std::bfloat16_t>(kDLBfloat);
};
#endif
#ifdef __STDCPP_FLOAT32_T__
template <>
struct ElementType<std::float32_t> {
  static constexpr DLDataType dtype = detail::of_width<std::float32_t>(kDLFloat);
};
#endif
#ifdef __STDCPP_FLOAT64_T__
template <>
struct ElementType<std::float64_t> {
  static constexpr DLDataType dtype = detail::of_width<std::float64_t>(kDLFloat);
};
#endif

}  // namespace v0_0
}  // namespace dlpackgen

#endif
#endif  // DLPACKGEN_V0_0_STDFLOAT_HPP_
