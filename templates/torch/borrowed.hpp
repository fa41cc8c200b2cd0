/**
 * \file borrowed.hpp
 * Converts the arguments of a described kernel for its C function: tensors are borrowed, numbers
 * are compared with their dtypes, texts are terminated by NUL.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_BORROWED_HPP_
#define DLPACKGEN_V0_0_PYTORCH_BORROWED_HPP_

#include "kernel.hpp"

#include <dlpackgen/scalar.h>

#include <ATen/core/List.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymInt.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/string_view.h>

#include <array>
#include <cstring>
#include <vector>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// The descriptions of the arguments in messages. All callers name a kernel without its namespace.
template <class K>
struct Sites {
  static constexpr const char* name = K::kernel;
  static constexpr const auto& arguments = K::arguments;
};

template <class K, std::size_t I>
inline constexpr const Site& described_site = site<Sites<K>, I>;

[[noreturn, gnu::noinline, gnu::cold]] inline void fail_text(int status, const Site& site, const std::string& text) {
  Sentence sentence(site);
  fail(status, sentence.begin().text() + text);
}

// A gradient that the backward does not compute would be dropped.
inline void reject_dropped(const Site& site, const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.requires_grad()) return;
  fail_text(DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR, site,
            "it requires a gradient, which the backward does not compute: pass detach(), or name it under `of:`");
}

inline void reject_dropped(const Site& site, const std::optional<at::Tensor>& tensor) {
  if (tensor.has_value()) reject_dropped(site, *tensor);
}

// A list in the form of the C function.
template <class Item>
struct List {
  const Item* items;
  std::int64_t count;
};

inline std::string name_of(DLDataType dtype) {
  char text[64];
  dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  dlpackgen_put_dtype(&message, DLPACKGEN_DTYPE(dtype.code, dtype.bits, dtype.lanes));
  return text;
}

inline void put(dlpackgen_message* message, std::int64_t number) { dlpackgen_put_integer(message, number); }
inline void put(dlpackgen_message* message, std::uint64_t number) { dlpackgen_put_digits(message, number, 10); }
inline void put(dlpackgen_message* message, double number) { dlpackgen_put_real(message, number); }

template <class Number>
[[noreturn, gnu::noinline, gnu::cold]] void fail_range(const Site& site, DLDataType dtype, Number number) {
  char text[128];
  dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  dlpackgen_put_out_of_range(&message, dtype);
  put(&message, number);
  fail_text(DLPACKGEN_STATUS_VALUE_ERROR, site, text);
}

// A number of a dtype with a C type.
template <class Number>
Number narrow(const Site& site, DLDataType dtype, std::int64_t from) {
  if constexpr (std::is_floating_point_v<Number>) {
    return static_cast<Number>(from);
  } else {
    if (!dlpackgen_represents_integer(dtype, from)) fail_range(site, dtype, from);
    return static_cast<Number>(from);
  }
}

template <class Number>
Number narrow(const Site& site, DLDataType dtype, double from) {
  if (!dlpackgen_represents_real(dtype, from)) fail_range(site, dtype, from);
  return static_cast<Number>(from);
}

// Optional scalars of a dtype, whose addresses C receives. They live as long as the call.
class Narrow {
 public:
  template <class From>
  struct Pending {
    Narrow& buffer;
    const Site& site;
    DLDataType dtype;
    const From* from;
    template <class Number>
    operator const Number*() const {
      static_assert(sizeof(Number) <= sizeof(double));
      if (from == nullptr) return nullptr;
      Number* const at = reinterpret_cast<Number*>(&buffer.numbers_.at(buffer.count_++));
      return new (at) Number(detail::narrow<Number>(site, dtype, *from));
    }
  };
  template <class From>
  Pending<From> narrow(const Site& site, DLDataType dtype, const From* from) {
    return {*this, site, dtype, from};
  }

 private:
  std::array<double, 32> numbers_;
  std::size_t count_ = 0;
};

// Whether a scalar is above the range of int64.
inline bool is_unsigned(const at::Scalar& from) { return from.type() == at::ScalarType::UInt64; }

// A scalar in the form of the struct in kernels.h, which this header does not include.
template <class Number>
Number number_of(const at::Scalar& from) {
  if (from.isComplex()) return {};  // which require_number() rejects
  if (is_unsigned(from)) return {static_cast<std::int64_t>(from.toUInt64()), from.toDouble()};
  return {from.isFloatingPoint() ? 0 : from.toLong(), from.toDouble()};
}

inline dlpackgen_scalar_kind kind_of(const at::Scalar& from) {
  if (from.isComplex()) return DLPACKGEN_SCALAR_COMPLEX;
  if (from.isFloatingPoint()) return DLPACKGEN_SCALAR_REAL;
  if (from.isBoolean()) return DLPACKGEN_SCALAR_TRUTH;
  return is_unsigned(from) ? DLPACKGEN_SCALAR_NATURAL : DLPACKGEN_SCALAR_INTEGER;
}

// A scalar of a variable, once the dtype of the call is known.
inline void require_number(const Site& site, DLDataType dtype, const at::Scalar& from) {
  const dlpackgen_scalar_kind kind = kind_of(from);
  if (const char* const name = dlpackgen_rejected_type(dtype, kind))
    fail_text(DLPACKGEN_STATUS_TYPE_ERROR, site, "expected " + name_of(dtype) + ", got " + name);
  if (kind == DLPACKGEN_SCALAR_REAL) return static_cast<void>(narrow<double>(site, dtype, from.toDouble()));
  const std::int64_t integer = is_unsigned(from) ? static_cast<std::int64_t>(from.toUInt64()) : from.toLong();
  if (dlpackgen_represents(dtype, kind, integer, from.toDouble())) return;
  if (kind == DLPACKGEN_SCALAR_NATURAL) fail_range(site, dtype, from.toUInt64());
  fail_range(site, dtype, integer);
}

// An argument of a described kernel, borrowed unchanged, because kernels.c checks the rest.
template <class A>
struct Borrowed {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site&, const From&, A from) {
    value = from;
  }
  A get() const { return value; }
  A value{};
};

template <Access access>
[[gnu::always_inline]] inline void borrow_at(const Site& site, const at::Tensor& from, DLTensor& out) {
  if (!from.defined()) fail_text(DLPACKGEN_STATUS_TYPE_ERROR, site, DLPACKGEN_TEXT_NONE);
  if (!read_plain<access>(*from.unsafeGetTensorImpl(), out)) borrow_other<access>(site, from, out);
}

struct BorrowedTensor {
  template <class Copied>
  [[gnu::flatten]] void borrow_or_copy(const Site& site, const Copied& copied, const at::Tensor& from) {
    borrow_at<Access::read>(site, from, tensor);  // before a copy reads missing memory
    if (copied[site.number] && !from.is_contiguous()) {
      copy = from.contiguous();
      borrow_at<Access::read>(site, *copy, tensor);
    }
  }
  DLTensor tensor;
  std::optional<at::Tensor> copy;
};

template <>
struct Borrowed<const at::Tensor&> : BorrowedTensor {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site& site, const From& copied, const at::Tensor& from) {
    borrow_or_copy(site, copied, from);
  }
  const DLTensor* get() const { return &tensor; }
};

template <>
struct Borrowed<at::Tensor&> {
  static constexpr bool writes = true;
  template <class From>
  [[gnu::flatten]] void read(const Site& site, const From&, const at::Tensor& from) {
    borrow_at<Access::write>(site, from, tensor);
  }
  DLTensor* get() { return &tensor; }
  DLTensor tensor;
};

template <>
struct Borrowed<const std::optional<at::Tensor>&> : BorrowedTensor {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site& site, const From& copied, const std::optional<at::Tensor>& from) {
    present = from.has_value() && from->defined();
    if (present) borrow_or_copy(site, copied, *from);
  }
  const DLTensor* get() const { return present ? &tensor : nullptr; }
  bool present = false;
};

template <>
struct Borrowed<const at::Scalar&> {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site&, const From&, const at::Scalar& from) {
    value = from;
  }
  const at::Scalar& get() const { return value; }
  at::Scalar value;
};

// An optional scalar, by its address.
template <class Scalar>
struct Borrowed<std::optional<Scalar>> {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site&, const From&, std::optional<Scalar> from) {
    value = from;
  }
  const Scalar* get() const { return value.has_value() ? &*value : nullptr; }
  std::optional<Scalar> value;
};

// An empty list differs from a missing one, whose items are NULL.
template <class Item>
List<Item> list_of(at::ArrayRef<Item> from) {
  static constexpr Item none{};
  return {from.empty() ? &none : from.data(), static_cast<std::int64_t>(from.size())};
}

// A C string ends with NUL and must not contain another one.
inline void copy_text(const Site& site, c10::string_view from, std::string& to) {
  to.assign(from.data(), from.size());
  if (to.find('\0') != std::string::npos) fail_text(DLPACKGEN_STATUS_VALUE_ERROR, site, DLPACKGEN_TEXT_NUL);
}

template <>
struct Borrowed<c10::string_view> {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site& site, const From&, c10::string_view from) {
    copy_text(site, from, text);
  }
  const char* get() const { return text.c_str(); }
  std::string text;
};

template <>
struct Borrowed<std::optional<c10::string_view>> {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site& site, const From&, std::optional<c10::string_view> from) {
    if (from.has_value()) copy_text(site, *from, text.emplace());
  }
  const char* get() const { return text.has_value() ? text->c_str() : nullptr; }
  std::optional<std::string> text;
};

template <class Item>
struct Borrowed<at::ArrayRef<Item>> {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site&, const From&, at::ArrayRef<Item> from) {
    value = from;
  }
  List<Item> get() const { return list_of(value); }
  at::ArrayRef<Item> value;
};

template <>
struct Borrowed<at::OptionalIntArrayRef> {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site&, const From&, at::OptionalIntArrayRef from) {
    value = from;
  }
  List<std::int64_t> get() const { return value.has_value() ? list_of(*value) : List<std::int64_t>{nullptr, 0}; }
  at::OptionalIntArrayRef value;
};

template <>
struct Borrowed<std::optional<at::ArrayRef<double>>> {
  static constexpr bool writes = false;
  template <class From>
  void read(const Site&, const From&, std::optional<at::ArrayRef<double>> from) {
    value = from;
  }
  List<double> get() const { return value.has_value() ? list_of(*value) : List<double>{nullptr, 0}; }
  std::optional<at::ArrayRef<double>> value;
};

}  // namespace detail
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_BORROWED_HPP_
