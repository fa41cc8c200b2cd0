/**
 * \file dtype.hpp
 * Which C++ type has which data type: all integers, float, double and bool here;
 * the short floats in storage.hpp, complex numbers in complex.hpp, the float
 * types of C++23 in stdfloat.hpp. A type of your own joins by a specialisation
 * of ElementType.
 */
#ifndef DLPACKGEN_V0_0_DTYPE_HPP_
#define DLPACKGEN_V0_0_DTYPE_HPP_

#include "release.hpp"

#include <cstdint>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** Two data types are one when all their parts are. */
constexpr bool same_dtype(DLDataType a, DLDataType b) noexcept {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/**
 * A data type in one number, as Error carries it and as DLPACKGEN_DTYPE has it in C: code, bits,
 * lanes from bit 0.
 */
constexpr std::int64_t as_number(DLDataType dtype) noexcept {
  return static_cast<std::int64_t>(dtype.code | (std::uint32_t{dtype.bits} << 8) | (std::uint32_t{dtype.lanes} << 16));
}

/** The data type of a number that as_number() returned. */
constexpr DLDataType from_number(std::int64_t number) noexcept {
  return DLDataType{static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8),
                    static_cast<std::uint16_t>(number >> 16)};
}

/**
 * A specialisation has the member `dtype`. It may be made for any trivially
 * copyable type with the layout of that data type; a type narrower than a byte
 * stands for an element that is padded to one.
 */
template <class T, class Enable = void>
struct ElementType {};

namespace detail {

// An object of a type, where only its type matters.
template <class T>
T& any() noexcept;

// Whether From and To are one type, which To alone has const.
template <class From, class To>
inline constexpr bool only_adds_const =
    std::is_const<To>::value && std::is_same<const From, To>::value && !std::is_const<From>::value;

// Characters are no numbers, but char is what bytes are often kept in.
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

/** Whether T, const or not, has a data type. */
template <class T>
inline constexpr bool is_element = detail::has_dtype<std::remove_cv_t<T>>;

/** The data type of T, const or not: dtype_of<float> is dtypes::float32. */
template <class T>
inline constexpr DLDataType dtype_of = ElementType<std::remove_cv_t<T>>::dtype;

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_DTYPE_HPP_
