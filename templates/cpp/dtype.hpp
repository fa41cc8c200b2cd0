/**
 * \file dtype.hpp
 * Maps C++ types to dtypes: all integers, float, double and bool. Short floats are in storage.hpp,
 * complex numbers in complex.hpp, the float types of C++23 in stdfloat.hpp. Specialise ElementType
 * for your own types.
 */
#ifndef DLPACKGEN_V0_0_DTYPE_HPP_
#define DLPACKGEN_V0_0_DTYPE_HPP_

#include "release.hpp"

#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** Two dtypes are equal if all their members are. */
constexpr bool same_dtype(DLDataType a, DLDataType b) noexcept {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/**
 * A dtype as one number, as in Error and in DLPACKGEN_DTYPE of C: code, bits, lanes, from bit 0.
 */
constexpr std::int64_t as_number(DLDataType dtype) noexcept {
  return static_cast<std::int64_t>(dtype.code | (std::uint32_t{dtype.bits} << 8) | (std::uint32_t{dtype.lanes} << 16));
}

/** The dtype for a number from as_number(). */
constexpr DLDataType from_number(std::int64_t number) noexcept {
  return DLDataType{static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8),
                    static_cast<std::uint16_t>(number >> 16)};
}

/**
 * A specialisation has the member `dtype`. You may specialise it for any trivially copyable type
 * with the layout of that dtype. A type narrower than a byte represents an element that is padded
 * to one byte.
 */
template <class T, class Enable = void>
struct ElementType {};

namespace detail {

// An object that carries only its type.
template <class T>
T& any() noexcept;

// Whether To is const From.
template <class From, class To>
inline constexpr bool only_adds_const =
    std::is_const<To>::value && std::is_same<const From, To>::value && !std::is_const<From>::value;

// Character types are not numbers, but char is often used for bytes.
template <class T>
inline constexpr bool is_character = std::is_same<T, wchar_t>::value || std::is_same<T, char16_t>::value ||
#ifdef __cpp_char8_t
                                     std::is_same<T, char8_t>::value ||
#endif
                                     std::is_same<T, char32_t>::value;

// void has no size.
template <class T>
inline constexpr bool is_integer = std::is_integral<T>::value && !std::is_same<T, bool>::value && !is_character<T> &&
                                   sizeof(std::conditional_t<std::is_void<T>::value, char, T>) <= 8;

template <class T>
constexpr DLDataType of_width(std::uint8_t code) noexcept {
  return DLDataType{code, static_cast<std::uint8_t>(sizeof(T) * 8), 1};
}

template <class T, class Enable = void>
inline constexpr bool has_dtype = false;
template <class T>
inline constexpr bool has_dtype<T, std::void_t<decltype(ElementType<T>::dtype)>> = true;

}  // namespace detail

template <class T>
struct ElementType<T, std::enable_if_t<detail::is_integer<T>>> {
  static constexpr DLDataType dtype = detail::of_width<T>(std::is_signed<T>::value ? kDLInt : kDLUInt);
};
template <>
struct ElementType<float> {
  static constexpr DLDataType dtype = detail::of_width<float>(kDLFloat);
};
template <>
struct ElementType<double> {
  static constexpr DLDataType dtype = detail::of_width<double>(kDLFloat);
};
template <>
struct ElementType<bool> {
  static_assert(sizeof(bool) == 1, "kDLBool is one byte");
  static constexpr DLDataType dtype = detail::of_width<bool>(kDLBool);
};

/** Whether T, const or not, has a dtype. */
template <class T>
inline constexpr bool is_element = detail::has_dtype<std::remove_cv_t<T>>;

/** The dtype of T, const or not: dtype_of<float> is dtypes::float32. */
template <class T>
inline constexpr DLDataType dtype_of = ElementType<std::remove_cv_t<T>>::dtype;

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_DTYPE_HPP_
