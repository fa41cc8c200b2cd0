/**
 * \file kernel_argument.hpp
 * The argument types of described kernels. Part of kernels.hpp.
 */
#ifndef DLPACKGEN_V0_0_KERNEL_ARGUMENT_HPP_
#define DLPACKGEN_V0_0_KERNEL_ARGUMENT_HPP_

#include <dlpackgen/scalar.h>
#include <dlpackgen/array_view.hpp>
#include <dlpackgen/builder.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <type_traits>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

// Containers with describable elements: matrices by their strides, others as one dimension.
template <class Container>
constexpr bool is_describable() noexcept {
  if constexpr (Contents<Container>::known) {
    return Contents<Container>::sized && (is_matrix<Container> || !has_own_layout<Container>);
  } else {
    return false;
  }
}

template <class Container>
constexpr bool is_writable() noexcept {
  if constexpr (is_describable<Container>()) {
    return !std::is_const<typename Contents<Container>::Element>::value;
  } else {
    return false;
  }
}

template <class Container>
Layout describe(const Container& container) noexcept {
  if constexpr (is_matrix<Container>) {
    return layout_of(container);
  } else {
    return Layout{1, {static_cast<std::int64_t>(container.size())}, {1}};
  }
}

// A tensor for the duration of a call.
class BorrowedTensor {
 public:
  BorrowedTensor(const BorrowedTensor&) = delete;
  BorrowedTensor& operator=(const BorrowedTensor&) = delete;
  std::uint64_t flags() const noexcept { return flags_; }

 protected:
  BorrowedTensor() noexcept = default;
  ~BorrowedTensor() = default;

  void view(const TensorView& from) noexcept {
    tensor_ = from.raw();
    flags_ = from.flags();
    there_ = true;
  }
  template <class Struct>
  void owned(const BasicManaged<Struct>& from) noexcept {
    if (from) view(from.view());
  }
  template <class T>
  void elements(T* data, std::int32_t ndim, const std::int64_t* shape, const std::int64_t* strides) noexcept {
    tensor_.data = const_cast<std::remove_cv_t<T>*>(data);
    tensor_.device = DLDevice{kDLCPU, 0};
    tensor_.dtype = dtype_of<T>;
    tensor_.ndim = ndim;
    tensor_.shape = const_cast<std::int64_t*>(shape);
    tensor_.strides = const_cast<std::int64_t*>(strides);
    flags_ = dtype_of<T>.bits < DLPACKGEN_PACKED_BELOW ? flags::is_subbyte_type_padded : 0;
    there_ = true;
  }
  template <class T, std::size_t N>
  void array(const ArrayView<T, N>& from) noexcept {
    elements(from.data(), static_cast<std::int32_t>(N), from.shape(), from.strides());
  }
  template <class Container>
  void container(Container& from) noexcept {
    layout_ = describe(from);
    elements(from.data(), layout_.ndim, layout_.shape, layout_.strides);
  }
  DLTensor* address() const noexcept { return there_ ? &tensor_ : nullptr; }

 private:
  mutable DLTensor tensor_{};
  std::uint64_t flags_ = 0;
  bool there_ = false;
  Layout layout_;
};

}  // namespace detail

/**
 * An argument that a kernel reads: a TensorView, a Managed, an ArrayView, a FlatView, a
 * one-dimensional container, or an Eigen matrix.
 */
class TensorIn : public detail::BorrowedTensor {
 public:
  // NOLINTBEGIN: arguments are written as they are
  TensorIn(const TensorView& from) noexcept { view(from); }
  template <class Struct>
  TensorIn(const BasicManaged<Struct>& from) noexcept {
    owned(from);
  }
  template <class T, std::size_t N>
  TensorIn(const ArrayView<T, N>& from) noexcept {
    array(from);
  }
  template <class Container, std::enable_if_t<detail::is_describable<const Container>(), int> = 0>
  TensorIn(const Container& from) noexcept {
    container(from);
  }
  // NOLINTEND
  /** NULL for None. */
  const DLTensor* get() const noexcept { return address(); }

 protected:
  TensorIn() noexcept = default;
};

/** The same for an optional argument: std::nullopt for None. */
class OptionalTensorIn : public TensorIn {
 public:
  using TensorIn::TensorIn;
  OptionalTensorIn(std::nullopt_t) noexcept {}  // NOLINT
};

/**
 * An argument that a kernel writes to, or memory for a result. Views of const elements and const
 * containers do not compile; the call rejects a read-only TensorView or Managed.
 */
class TensorOut : public detail::BorrowedTensor {
 public:
  // NOLINTBEGIN: arguments are written as they are
  TensorOut(const TensorView& from) noexcept { view(from); }
  template <class Struct>
  TensorOut(const BasicManaged<Struct>& from) noexcept {
    owned(from);
  }
  template <class T, std::size_t N, std::enable_if_t<!std::is_const<T>::value, int> = 0>
  TensorOut(const ArrayView<T, N>& from) noexcept {
    array(from);
  }
  template <class T, std::enable_if_t<!std::is_const<T>::value, int> = 0>
  TensorOut(const FlatView<T>& from) noexcept {
    container(from);
  }
  template <class Container, std::enable_if_t<detail::is_writable<std::remove_reference_t<Container>>(), int> = 0>
  TensorOut(Container&& from) noexcept {
    container(from);
  }
  // NOLINTEND
  /** NULL for None. */
  DLTensor* get() const noexcept { return address(); }

 protected:
  TensorOut() noexcept = default;
};

/** The same for an optional argument: std::nullopt for None. */
class OptionalTensorOut : public TensorOut {
 public:
  using TensorOut::TensorOut;
  OptionalTensorOut(std::nullopt_t) noexcept {}  // NOLINT
};

/** An argument of type str: a C string, or an object with c_str() and size(). */
class Text {
 public:
  // NOLINTBEGIN: arguments are written as they are
  Text(const char* text) noexcept : text_(text) {}
  template <class String, class = decltype(detail::any<const String>().c_str())>
  Text(const String& text) noexcept : text_(text.c_str()), is_cut_(std::strlen(text.c_str()) != text.size()) {}
  // NOLINTEND
  const char* get() const noexcept { return text_; }
  /** Whether the text contains a NUL. */
  bool is_cut() const noexcept { return is_cut_; }

 private:
  const char* text_;
  bool is_cut_ = false;
};

/** The same for an optional argument: std::nullopt for None. */
class OptionalText : public Text {
 public:
  using Text::Text;
  OptionalText(std::nullopt_t) noexcept : Text(nullptr) {}  // NOLINT
};

/** An argument of type list[int] or list[float]: a list, an array, or a container of T. */
template <class T>
class List {
 public:
  List() noexcept : List(nullptr, 0) {}
  // NOLINTBEGIN: arguments are written as they are
  List(std::initializer_list<T> list) noexcept : List(list.begin(), list.size()) {}
  template <std::size_t N>
  List(const T (&array)[N]) noexcept : List(&array[0], N) {}
  template <class Container,
            class = std::enable_if_t<std::is_same<decltype(detail::any<const Container>().data()), const T*>::value>>
  List(const Container& container) noexcept : List(container.data(), container.size()) {}
  // NOLINTEND
  List(const T* first, std::size_t number) noexcept
      : first_(first != nullptr ? first : &nothing), number_(static_cast<std::int64_t>(number)) {}
  const T* items() const noexcept { return first_; }
  std::int64_t count() const noexcept { return number_; }

 protected:
  struct Absent {};
  explicit List(Absent) noexcept {}

 private:
  static constexpr T nothing{};  // an empty list has an address, since NULL is None
  const T* first_ = nullptr;
  std::int64_t number_ = 0;
};

/** The same for an optional argument: std::nullopt for None. */
template <class T>
class OptionalList : public List<T> {
 public:
  using List<T>::List;
  OptionalList() noexcept = default;
  OptionalList(std::nullopt_t) noexcept : List<T>(typename List<T>::Absent()) {}  // NOLINT
};

/** A scalar whose dtype depends on the call. */
class Number {
 public:
  /** natural: an integer without a sign. */
  enum class Kind {
    integer = DLPACKGEN_SCALAR_INTEGER,
    natural = DLPACKGEN_SCALAR_NATURAL,
    real = DLPACKGEN_SCALAR_REAL,
    truth = DLPACKGEN_SCALAR_TRUTH
  };

  Number() noexcept = default;
  template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  Number(T value) noexcept  // NOLINT: arguments are written as they are
      : integer_(std::is_floating_point<T>::value ? 0 : static_cast<std::int64_t>(value)),
        real_(static_cast<double>(value)),
        kind_(std::is_floating_point<T>::value ? Kind::real
              : std::is_same<T, bool>::value   ? Kind::truth
              : std::is_signed<T>::value       ? Kind::integer
                                               : Kind::natural) {}

  Kind kind() const noexcept { return kind_; }
  /** The number as a T; an integer is exact if T can represent it. */
  template <class T>
  T as() const noexcept {
    if (kind_ == Kind::real) return static_cast<T>(real_);
    return kind_ == Kind::natural ? static_cast<T>(static_cast<std::uint64_t>(integer_)) : static_cast<T>(integer_);
  }
  dlpackgen_number raw() const noexcept { return dlpackgen_number{integer_, real_}; }

 private:
  std::int64_t integer_ = 0;
  double real_ = 0;
  Kind kind_ = Kind::integer;
};

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_KERNEL_ARGUMENT_HPP_
