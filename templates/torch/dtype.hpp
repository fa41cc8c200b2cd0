/**
 * \file dtype.hpp
 * ATen's types of elements and DLPack's. Types that DLPack has no name for, such as
 * the quantized ones, are in neither direction.
 */
#ifndef DLPACKGEN_V0_0_ATEN_DTYPE_HPP_
#define DLPACKGEN_V0_0_ATEN_DTYPE_HPP_

#include "base.hpp"

// Built for the stable ABI, none of the headers of c10/ may be used.
#ifdef TORCH_TARGET_VERSION
#include <torch/headeronly/core/ScalarType.h>
#else
#include <c10/core/ScalarType.h>
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace aten DLPACKGEN_ATEN_HIDDEN {
namespace detail {

struct DType {
  c10::ScalarType scalar;
  DLDataType dtype;
};

// An element of Float4_e2m1fn_x2 is two of DLPack's.
inline constexpr DType dtypes[] = {
    {c10::ScalarType::Bool, {kDLBool, 8, 1}},
    {c10::ScalarType::Char, {kDLInt, 8, 1}},
    {c10::ScalarType::Short, {kDLInt, 16, 1}},
    {c10::ScalarType::Int, {kDLInt, 32, 1}},
    {c10::ScalarType::Long, {kDLInt, 64, 1}},
    {c10::ScalarType::Byte, {kDLUInt, 8, 1}},
    {c10::ScalarType::UInt16, {kDLUInt, 16, 1}},
    {c10::ScalarType::UInt32, {kDLUInt, 32, 1}},
    {c10::ScalarType::UInt64, {kDLUInt, 64, 1}},
    {c10::ScalarType::Half, {kDLFloat, 16, 1}},
    {c10::ScalarType::Float, {kDLFloat, 32, 1}},
    {c10::ScalarType::Double, {kDLFloat, 64, 1}},
    {c10::ScalarType::BFloat16, {kDLBfloat, 16, 1}},
    {c10::ScalarType::ComplexHalf, {kDLComplex, 32, 1}},
    {c10::ScalarType::ComplexFloat, {kDLComplex, 64, 1}},
    {c10::ScalarType::ComplexDouble, {kDLComplex, 128, 1}},
    {c10::ScalarType::Float8_e5m2, {kDLFloat8_e5m2, 8, 1}},
    {c10::ScalarType::Float8_e4m3fn, {kDLFloat8_e4m3fn, 8, 1}},
    {c10::ScalarType::Float8_e5m2fnuz, {kDLFloat8_e5m2fnuz, 8, 1}},
    {c10::ScalarType::Float8_e4m3fnuz, {kDLFloat8_e4m3fnuz, 8, 1}},
    {c10::ScalarType::Float8_e8m0fnu, {kDLFloat8_e8m0fnu, 8, 1}},
    {c10::ScalarType::Float4_e2m1fn_x2, {kDLFloat4_e2m1fn, 4, 2}},
};

inline constexpr std::size_t scalar_types = static_cast<std::size_t>(c10::ScalarType::NumOptions) + 1;

constexpr std::array<DLDataType, scalar_types> by_scalar() {
  std::array<DLDataType, scalar_types> all{};
  for (const DType& each : dtypes) all[static_cast<std::size_t>(each.scalar)] = each.dtype;
  return all;
}

// DLPack's type by the number of ATen's; lanes is 0 where there is none.
inline constexpr std::array<DLDataType, scalar_types> dtype_by_scalar = by_scalar();

}  // namespace detail

/** DLPack's type for elements of ATen's; lanes is 0 where there is none. */
constexpr DLDataType dtype_of(c10::ScalarType scalar) noexcept {
  const auto number = static_cast<std::size_t>(scalar);
  return number < detail::scalar_types ? detail::dtype_by_scalar[number] : DLDataType{0, 0, 0};
}

namespace detail {

// The size of an element of ATen's, whole bytes of each.
constexpr std::size_t bytes_of(DLDataType dtype) noexcept {
  return static_cast<std::size_t>(dtype.bits) * dtype.lanes / 8;
}

}  // namespace detail

/** ATen's type for elements of DLPack's. */
inline std::optional<c10::ScalarType> scalar_of(DLDataType dtype) noexcept {
  for (const detail::DType& each : detail::dtypes) {
    if (each.dtype.code == dtype.code && each.dtype.bits == dtype.bits && each.dtype.lanes == dtype.lanes) {
      return each.scalar;
    }
  }
  return std::nullopt;
}

}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_DTYPE_HPP_
