/**
 * \file bound.hpp
 * Functions over tensors for binding libraries: the common part of nanobind.hpp and pybind11.hpp.
 * Like these libraries, it needs exceptions.
 */
#ifndef DLPACKGEN_V0_0_BOUND_HPP_
#define DLPACKGEN_V0_0_BOUND_HPP_

#include "argument.hpp"
#include "builder.hpp"
#include "exceptions.hpp"
#include "python.hpp"
#include "signature.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

/*
 * The table with which the base checks the arguments of a function: for tensors the requirements of
 * their types, with named extents as in "x[m, n]". The binding library handles all other arguments.
 */
class Described {
 public:
  Described(const char* name, std::size_t count) : name_(name), places_(count), parameters_(count + 1) {
    function_.name = name_.c_str();
    function_.parameters = parameters_.data();
    function_.nparameters = static_cast<std::uint8_t>(count);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

  const dlpackgen_function& function() const noexcept { return function_; }
  const char* argument(std::size_t i) const noexcept { return places_[i].c_str(); }

  void add_other(std::size_t i, const char* name) {
    places_[i] = name;
    parameters_[i].name = places_[i].c_str();
    parameters_[i].kind = DLPACKGEN_KIND_INT;
    parameters_[i].optional = 1;  // the base receives none of them
  }

  void add_tensor(std::size_t i, const char* line, const Requirements& needs) {
    const char* const bracket = std::strchr(line, '[');
    places_[i] = bracket == nullptr ? std::string(line) : std::string(line, bracket);
    dlpackgen_parameter& p = parameters_[i];
    p.name = places_[i].c_str();
    p.writable = needs.writable ? 1 : 0;
    p.layout = needs.contiguous ? DLPACKGEN_LAYOUT_C_CONTIGUOUS : DLPACKGEN_LAYOUT_ANY;
    p.dtypes[0] = needs.dtype.bits == 0 ? 0 : static_cast<std::uint32_t>(as_number(needs.dtype));
    p.ndim = static_cast<std::uint8_t>(needs.ndim < 0 ? 0 : needs.ndim);
    p.leading_dims = needs.ndim < 0 ? 1 : 0;
    p.optional = needs.optional ? 1 : 0;
    for (std::uint8_t d = 0; d < p.ndim && d < 2; ++d) p.shape[d] = fixed(needs.shape[d]);
    if (bracket != nullptr) add_shape(p, bracket + 1, line);
  }

 private:
  static std::int64_t fixed(std::int64_t extent) noexcept {
    if (extent < 0) return DLPACKGEN_ANY;
    return extent == 0 ? DLPACKGEN_EXTENT_ZERO : extent;
  }

  [[noreturn]] void reject(const char* line, const char* why) const {
    throw std::invalid_argument(name_ + "(): \"" + line + "\": " + why);
  }

  // Reads "m, n]".
  void add_shape(dlpackgen_parameter& p, const char* text, const char* line) {
    std::uint8_t dimension = 0;
    const char* end = text;
    for (; *end != ']' && *end != '\0'; text = end + (*end == ',' ? 1 : 0), ++dimension) {
      while (*text == ' ') ++text;
      end = text + std::strcspn(text, ",]");
      if (dimension >= DLPACKGEN_MAX_EXTENTS) reject(line, "there are more than 8 extents");
      const std::int64_t extent = extent_of(std::string(text, end), line);
      if (p.shape[dimension] == DLPACKGEN_ANY) p.shape[dimension] = extent;
    }
    if (end[0] != ']' || end[1] != '\0') reject(line, "expected a name and extents, as x[m, n]");
    if (p.leading_dims == 0 && p.ndim != dimension)
      reject(line, "the type of the argument has a different number of dimensions");
    p.ndim = dimension;
    p.leading_dims = 0;
  }

  // A number, or the name of an extent.
  std::int64_t extent_of(const std::string& word, const char* line) {
    if (word.empty() || word.find_first_of("[ ") != std::string::npos) reject(line, "expected a name or a number");
    char* rest = nullptr;
    const long long number = std::strtoll(word.c_str(), &rest, 10);
    if (*rest == '\0') return number < 0 ? (reject(line, "an extent is negative"), 0) : fixed(number);
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i] == word) return DLPACKGEN_DIM(static_cast<std::int64_t>(i));
      if (!symbols_[i].empty()) continue;
      symbols_[i] = word;
      function_.dim_names[i] = symbols_[i].c_str();
      return DLPACKGEN_DIM(static_cast<std::int64_t>(i));
    }
    reject(line, "there are more than 8 names of extents");
  }

  std::string name_;
  std::vector<std::string> places_;
  std::vector<dlpackgen_parameter> parameters_;
  std::array<std::string, DLPACKGEN_MAX_DIMS> symbols_;
  dlpackgen_function function_{};
};

// Releases the resources of a call.
class CallEnd {
 public:
  explicit CallEnd(dlpackgen_call* call) noexcept : call_(call) {}
  CallEnd(const CallEnd&) = delete;
  CallEnd& operator=(const CallEnd&) = delete;
  ~CallEnd() { dlpackgen_call_end(call_); }

 private:
  dlpackgen_call* call_;
};

// Releases the GIL for its lifetime.
template <bool releases>
class GilReleased {
 public:
  GilReleased() noexcept : state_(releases ? PyEval_SaveThread() : nullptr) {}
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;
  ~GilReleased() {
    if (releases) PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

// A Python exception is set.
[[noreturn]] inline void throw_set() { throw Exception(ErrorCode::callee_failed); }

// A returned matrix becomes a tensor, like a Managed.
template <class R>
inline constexpr bool is_tensor = std::is_same<R, Managed>::value || is_matrix<R>;

inline Managed managed(Managed&& tensor) noexcept { return static_cast<Managed&&>(tensor); }
template <class Matrix, std::enable_if_t<is_matrix<Matrix>, int> = 0>
Managed managed(Matrix&& matrix) {
  return unwrap(Builder().build(static_cast<Matrix&&>(matrix)));
}

// An Error, or another class with a throw_if_error().
template <class R, class Enable = void>
inline constexpr bool is_error = false;
template <class R>
inline constexpr bool is_error<R, std::void_t<decltype(throw_if_error(any<const R>()))>> = !std::is_void<R>::value;

// The value that callers receive for a result: an object for a tensor, None for an Error without an
// error.
template <class R>
struct Returned {
  using Type = std::conditional_t<is_tensor<R>, PyObject*, std::conditional_t<is_error<R>, void, R>>;
};
template <>
struct Returned<void> {
  using Type = void;
};
template <class T, class E>
struct Returned<Result<T, E>> : Returned<T> {};

template <class A>
inline constexpr bool is_tensor_parameter = is_argument<std::decay_t<A>>;

// The argument that a binding library passes: the object of a tensor, or a converted value.
template <class A>
using Passed = std::conditional_t<is_tensor_parameter<A>, PyObject*, A>;

// The object for the base to read, or nullptr.
template <class A>
PyObject* object_of(Passed<A>& passed) noexcept {
  if constexpr (is_tensor_parameter<A>) {
    return passed;
  } else {
    return nullptr;
  }
}

template <class Function>
auto& called(Function& function) noexcept {
  if constexpr (is_without_gil<std::remove_const_t<Function>>) {
    return function.function;
  } else {
    return function;
  }
}

/*
 * A function whose tensors the base reads and checks, and whose results are objects of the library
 * of the first tensor. It throws classes derived from Raised. With ErrorCode::callee_failed, a
 * Python exception is set.
 */
template <class Function, class All>
class Bound;
template <class Function, class R, class... A>
class Bound<Function, Types<R, A...>> {
 public:
  static constexpr std::size_t count = sizeof...(A);
  static_assert(count <= DLPACKGEN_MAX_PARAMETERS,
                "a function takes up to " DLPACKGEN_QUOTE(DLPACKGEN_MOST_PARAMETERS) " arguments");

  Bound(Function function, const char* name, const std::array<const char*, count>& names)
      : function_(static_cast<Function&&>(function)), described_(std::make_shared<Described>(name, count)) {
    describe(names, std::index_sequence_for<A...>());
  }

  const std::shared_ptr<Described>& described() const noexcept { return described_; }

  typename Returned<R>::Type operator()(Passed<A>... received) const {
    DLPACKGEN_CALL_OF(call, count + 1);
    PyObject* const objects[count + 1] = {object_of<A>(received)..., nullptr};
    PyObject* const home = detail::home();
    const auto n = static_cast<Py_ssize_t>(count);
    if (home == nullptr || dlpackgen_call_begin(&call, home, &described_->function(), objects, n, nullptr) != 0)
      throw_set();
    const CallEnd end(&call);
    try {
      return run(call, std::index_sequence_for<A...>(), static_cast<Passed<A>&&>(received)...);
    } catch (const Exception& e) {
      if (e.code() == ErrorCode::callee_failed) throw;
      PyErr_Format(class_of(e.class_name()), "%s(): %s", described_->function().name, e.what());
    }
    throw_set();
  }

 private:
  template <std::size_t... I>
  void describe(const std::array<const char*, count>& names, std::index_sequence<I...>) {
    (void)names;
    (add<A>(I, names[I]), ...);
  }
  template <class Parameter>
  void add(std::size_t i, const char* name) {
    if constexpr (is_tensor_parameter<Parameter>) {
      described_->add_tensor(i, name, Argument<std::decay_t<Parameter>>::requirements);
    } else {
      described_->add_other(i, name);
    }
  }

  // The argument of a function for a passed value.
  template <class Parameter>
  static auto convert(const dlpackgen_call& call, std::size_t i, PyObject*)
      -> std::enable_if_t<is_tensor_parameter<Parameter>, std::decay_t<Parameter>> {
    using Made = Argument<std::decay_t<Parameter>>;
    const dlpackgen_argument& a = call.arguments[i];
    if constexpr (Made::requirements.optional) {
      if (a.object == nullptr) return std::nullopt;
    }
    const std::uint64_t set = Made::requirements.writable ? a.flags : a.flags | flags::read_only;
    auto made = Made::from(TensorView::from_raw_unchecked(a.tensor, set));
    if (made) return *static_cast<decltype(made)&&>(made);
    PyObject* const kind = class_of(class_name(made.code()));
    dlpackgen_argument_error(&call, static_cast<int>(i), kind, "%s", Message(made.error()).c_str());
    throw_set();
  }
  template <class Parameter, std::enable_if_t<!is_tensor_parameter<Parameter>, int> = 0>
  static Parameter&& convert(const dlpackgen_call&, std::size_t,
                             std::remove_reference_t<Parameter>& received) noexcept {
    return static_cast<Parameter&&>(received);
  }
  template <class Parameter>
  using Converted = std::conditional_t<is_tensor_parameter<Parameter>, std::decay_t<Parameter>, Parameter&&>;

  template <std::size_t... I>
  typename Returned<R>::Type run(dlpackgen_call& call, std::index_sequence<I...>, Passed<A>&&... received) const {
    std::tuple<Converted<A>...> made{convert<A>(call, I, received)...};
    const auto invoke = [&]() -> R {
      const GilReleased<is_without_gil<Function>> released;
      return called(function_)(static_cast<A&&>(std::get<I>(made))...);
    };
    if constexpr (std::is_void<R>::value) {
      invoke();
    } else {
      return give(call, invoke());
    }
  }

  template <class T, class E>
  static auto give(dlpackgen_call& call, Result<T, E>&& result) {
    return give(call, unwrap(static_cast<Result<T, E>&&>(result)));
  }
  template <class T>
  static typename Returned<T>::Type give(dlpackgen_call& call, T&& value) {
    if constexpr (is_tensor<T>) {
      PyObject* const object = object_like(call, managed(static_cast<T&&>(value)));
      if (object == nullptr) throw_set();
      return object;
    } else if constexpr (is_error<T>) {
      throw_if_error(value);
    } else {
      return static_cast<T&&>(value);
    }
  }

  static PyObject* object_like(dlpackgen_call& call, Managed&& tensor) {
    const bool of_tensors[] = {is_tensor_parameter<A>..., true};
    std::size_t like = 0;
    while (!of_tensors[like] || (like < count && call.arguments[like].object == nullptr)) ++like;
    if (!tensor) {
      PyErr_Format(PyExc_RuntimeError, "%s(): the function returned no tensor", call.function->name);
      return nullptr;
    }
    if (like == count) return dlpackgen_export_object(call.module, tensor.release());
    return dlpackgen_to_py_object(&call, static_cast<int>(like), tensor.release());
  }

  Function function_;
  std::shared_ptr<Described> described_;
};

template <class Function>
using BoundOf = Bound<std::decay_t<Function>, typename Signature<std::decay_t<Function>>::All>;

// A function with the signature that a binding library calls, with the library's own object type.
template <class Library, class Function, class All>
class Entry;
template <class Library, class Function, class R, class... A>
class Entry<Library, Function, Types<R, A...>> {
  using Call = Bound<Function, Types<R, A...>>;
  using Value = typename Returned<R>::Type;
  static constexpr bool returns_object = std::is_same<Value, PyObject*>::value;
  template <class Parameter>
  using Received = std::conditional_t<is_tensor_parameter<Parameter>, typename Library::Handle, Parameter>;

 public:
  explicit Entry(Call&& call) : call_(static_cast<Call&&>(call)) {}

  std::conditional_t<returns_object, typename Library::Object, Value> operator()(Received<A>... received) const {
    try {
      if constexpr (returns_object) {
        return Library::steal(call_(pass<A>(received)...));
      } else {
        return call_(pass<A>(received)...);
      }
    } catch (const Raised& e) {
      raise(e);
    }
    Library::throw_set();
  }

 private:
  template <class Parameter>
  static std::conditional_t<is_tensor_parameter<Parameter>, PyObject*, Parameter&&> pass(
      Received<Parameter>& received) noexcept {
    if constexpr (is_tensor_parameter<Parameter>) {
      return received.ptr();
    } else {
      return static_cast<Parameter&&>(received);
    }
  }

  Call call_;
};

// The annotation of an argument. None is passed to the base, which reports the expected type.
template <class Library, class Parameter, class Name>
auto annotation(const Described& described, std::size_t i, const Name& name) {
  if constexpr (is_tensor_parameter<Parameter>) {
    static_assert(std::is_convertible<const Name&, const char*>::value, "an argument that is a tensor has no default");
    return Library::argument_or_none(described.argument(i));
  } else if constexpr (std::is_convertible<const Name&, const char*>::value) {
    return Library::argument(name);
  } else {
    return name;
  }
}

template <class Library, class Name>
const char* name_of(const Name& name) noexcept {
  if constexpr (std::is_convertible<const Name&, const char*>::value) {
    return name;
  } else {
    return Library::name_of(name);
  }
}

// The parts of the binding library that the definition of a function needs.
template <class Module>
struct LibraryOf;

// The object of a method, which is the first argument, without a name or an annotation.
template <class Module>
inline constexpr std::size_t self_of = LibraryOf<Module>::is_class ? 1 : 0;

template <std::size_t self, class... A, std::size_t... I, class Library, class Names>
std::array<const char*, sizeof...(A)> names_of(std::index_sequence<I...>, const Library*, const Names& names) {
  std::array<const char*, sizeof...(A)> all{};
  if (self > 0) all[0] = "self";
  ((all[I + self] = name_of<Library>(std::get<I>(names))), ...);
  return all;
}

template <class Library, std::size_t self, class Module, class Function, class R, class... A, std::size_t... I,
          std::size_t... J, class Names>
void define(Module& module, const char* name, Function&& function, Types<R, A...>, std::index_sequence<I...> named,
            std::index_sequence<J...>, const Names& names) {
  using Call = BoundOf<Function>;
  using All = std::tuple<A...>;
  Call call(static_cast<Function&&>(function), name,
            names_of<self, A...>(named, static_cast<const Library*>(nullptr), names));
  const std::shared_ptr<Described> described = call.described();
  module.def(name, Entry<Library, std::decay_t<Function>, Types<R, A...>>(static_cast<Call&&>(call)),
             annotation<Library, std::tuple_element_t<I + self, All>>(*described, I + self, std::get<I>(names))...,
             std::get<sizeof...(I) + J>(names)...);
}

}  // namespace detail

/**
 * Defines a function of a module of nanobind or pybind11, with a name for each argument:
 *
 *     dlpackgen::def(m, "add", &add, "x[n]", "y[n]");
 *
 * An argument is a tensor if its type has a dlpackgen::Argument, such as TensorView, ArrayView and
 * MapOf. A named extent is the same number throughout a call. If the function returns a Managed or
 * an Eigen matrix, or a Result of one, the result is an object of the library of the first tensor.
 * An Error is raised. Arguments after the names, such as a docstring, are passed to the binding
 * library. For an argument that is not a tensor, the library's arg("k") = 1 may replace the name.
 *
 * With a class instead of the module, def defines a method: a member function, or a function whose
 * first argument is the object, which has no name.
 */
template <class Module, class Function, class... More>
void def(Module& module, const char* name, Function&& function, const More&... more) {
  using Library = detail::LibraryOf<Module>;
  constexpr std::size_t self = detail::self_of<Module>, count = detail::BoundOf<Function>::count - self;
  static_assert(sizeof...(More) >= count, "each argument needs a name");
  static_assert(!(decltype(Library::is_guard(static_cast<const More*>(nullptr)))::value || ...),
                "the checks need the GIL: use without_gil() instead");
  using Types = typename detail::Signature<std::decay_t<Function>>::All;
  detail::define<Library, self>(module, name, static_cast<Function&&>(function), Types(),
                                std::make_index_sequence<count>(), std::make_index_sequence<sizeof...(More) - count>(),
                                std::tie(more...));
}
template <class Class, class Object, class R, class... A, class... More>
void def(Class& type, const char* name, R (Object::*method)(A...), const More&... more) {
  def(
      type, name, [method](Object& self, A... received) -> R { return (self.*method)(static_cast<A&&>(received)...); },
      more...);
}
template <class Class, class Object, class R, class... A, class... More>
void def(Class& type, const char* name, R (Object::*method)(A...) const, const More&... more) {
  def(
      type, name,
      [method](const Object& self, A... received) -> R { return (self.*method)(static_cast<A&&>(received)...); },
      more...);
}

}  // namespace v0_0
}  // namespace dlpackgen

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif  // DLPACKGEN_V0_0_BOUND_HPP_
