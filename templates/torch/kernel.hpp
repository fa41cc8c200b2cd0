/**
 * \file kernel.hpp
 * Calls a C function over DLTensors with arguments of ATen: what the dispatcher calls
 * for a kernel of the config. Nothing is allocated but results; shapes and strides
 * are the tensors' own.
 *
 * A kernel is a type K with
 *
 *     using signature = at::Tensor(const at::Tensor& x, double a, at::Tensor& out);
 *     static constexpr const char* name = "mylib::scale";
 *     static constexpr const char* schema = "scale(Tensor x, float a, Tensor(a!) out) -> Tensor";
 *     static constexpr const char* arguments[] = {"x", "a", "out"};
 *     static constexpr int likes[] = {0, ...};   // by result, the argument of its shape; ends with -1
 *     static constexpr bool strided = false;     // it heeds strides; else tensors come row-major
 *     static int function(const DLTensor* x, double a, DLTensor* out, DLTensor* result, void* stream);
 *     static const char* error(int code);        // nullptr: there is no text
 */
#ifndef DLPACKGEN_V0_0_ATEN_KERNEL_HPP_
#define DLPACKGEN_V0_0_ATEN_KERNEL_HPP_

#include "arguments.hpp"
#include "read.hpp"
#include "strides.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace aten DLPACKGEN_ATEN_HIDDEN {
namespace detail {

// Begins a message: "mylib::scale(): argument 'x' (1st)".
[[gnu::noinline, gnu::cold]] inline std::string where(const char* kernel, const char* argument, std::size_t number) {
  static constexpr const char* endings[] = {"th", "st", "nd", "rd"};
  const std::size_t place = number + 1;
  const bool teen = place % 100 / 10 == 1;
  const char* const ending = endings[teen || place % 10 > 3 ? 0 : place % 10];
  return std::string(kernel) + "(): argument '" + argument + "' (" + std::to_string(place) + ending + "): ";
}

// Where a kernel works: the device of its first tensor, made current, and the
// stream that is current there. No header of a back end is needed for that.
class Place {
 public:
  explicit Place(c10::Device device) : device_(device) {
    if (!device.is_cpu()) enter();
  }

  c10::Device device() const noexcept { return device_; }
  void* stream() const noexcept { return stream_; }

 private:
  [[gnu::noinline]] void enter() {
    guard_.reset_device(device_);
#if TORCH_VERSION_MINOR >= 11
    stream_ = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_).native_handle();
#else
    throw Refused("kernels on devices need torch 2.11, which tells the native handle of a stream");
#endif
  }

  c10::Device device_;
  c10::OptionalDeviceGuard guard_;
  void* stream_ = nullptr;
};

[[noreturn, gnu::noinline, gnu::cold]] inline void fail_argument(const char* kernel, const char* argument,
                                                                 std::size_t number, const char* text) {
  TORCH_CHECK_VALUE(false, where(kernel, argument, number), text);
}

[[noreturn, gnu::noinline, gnu::cold]] inline void fail_device(const char* kernel, const char* argument,
                                                               std::size_t number, c10::Device expected,
                                                               c10::Device got) {
  TORCH_CHECK_VALUE(false, where(kernel, argument, number), "expected a tensor on ", expected,
                    ", as the first one, got one on ", got, ": pass to(", expected, ")");
}

// What is not plain, with the place of it in what is refused.
template <Access access>
[[gnu::noinline, gnu::cold]] void lend_other(const Site& site, const at::Tensor& from, DLTensor& out) {
  try {
    borrow<access>(from, out);
  } catch (const Refused& e) {
    fail_argument(site.kernel, site.argument, site.number, e.what());
  } catch (c10::Error& e) {  // what ATen itself refuses
    e.add_context(where(site.kernel, site.argument, site.number) + "it cannot be lent");
    throw;
  }
}

// A write to an element that several indices share would be a race.
[[gnu::noinline]] inline void refuse_strides(const Site& site, const DLTensor& tensor) {
  const char* const text =
      site.strided ? overlapping : "it is written to, and not row-major: pass contiguous(), and copy the result back";
  if (!site.strided || may_overlap(tensor)) fail_argument(site.kernel, site.argument, site.number, text);
}

// Inlined, and flattened where it is used: it is all that most arguments cost.
template <Access access>
[[gnu::always_inline]] inline void lend(const Site& site, c10::Device expected, const at::Tensor& from, DLTensor& out) {
  if (!read_plain<access>(*from.unsafeGetTensorImpl(), out)) lend_other<access>(site, from, out);
  if (access == Access::write && !from.is_contiguous()) refuse_strides(site, out);
  if (out.device.device_type == kDLCPU && expected.is_cpu()) return;  // whatever their numbers
  const c10::Device device = from.unsafeGetTensorImpl()->device();
  if (device != expected) fail_device(site.kernel, site.argument, site.number, expected, device);
}

// A tensor to read from, and the copy of it where it is not row-major.
class Read {
 public:
  [[gnu::flatten]] void lend(const Site& site, c10::Device device, const at::Tensor& from) {
    detail::lend<Access::read>(site, device, from, tensor_);
    if (!site.strided && !from.is_contiguous()) copy(from);
  }
  const DLTensor* get() const { return &tensor_; }

 private:
  [[gnu::noinline]] void copy(const at::Tensor& from) {
    copy_ = from.contiguous();
    borrow<Access::read>(*copy_, tensor_);
  }

  DLTensor tensor_;
  std::optional<at::Tensor> copy_;
};

// An argument as the C function takes it; A is as the dispatcher gives it.
template <class A>
struct Passed {
  static constexpr bool writes = false;
  void take(const Site&, c10::Device, A from) { value = from; }
  A get() const { return value; }
  A value{};
};

template <>
struct Passed<const at::Tensor&> {
  static constexpr bool writes = false;
  void take(const Site& site, c10::Device device, const at::Tensor& from) { tensor.lend(site, device, from); }
  const DLTensor* get() const { return tensor.get(); }
  Read tensor;
};

template <>
struct Passed<at::Tensor&> {
  static constexpr bool writes = true;
  [[gnu::flatten]] void take(const Site& site, c10::Device device, const at::Tensor& from) {
    lend<Access::write>(site, device, from, tensor);
  }
  DLTensor* get() { return &tensor; }
  DLTensor tensor;
};

template <>
struct Passed<const std::optional<at::Tensor>&> {
  static constexpr bool writes = false;
  void take(const Site& site, c10::Device device, const std::optional<at::Tensor>& from) {
    present = from.has_value() && from->defined();
    if (present) tensor.lend(site, device, *from);
  }
  const DLTensor* get() const { return present ? tensor.get() : nullptr; }
  bool present = false;
  Read tensor;
};

// The tensor that an argument holds, or nullptr.
inline const at::Tensor* tensor_in(const at::Tensor& tensor) { return tensor.defined() ? &tensor : nullptr; }
inline const at::Tensor* tensor_in(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? tensor_in(*tensor) : nullptr;
}
template <class Scalar>
const at::Tensor* tensor_in(Scalar) {
  return nullptr;
}

template <class... A>
c10::Device first_device(const char* kernel, const A&... arguments) {
  const at::Tensor* first = nullptr;
  ((first = first == nullptr ? tensor_in(arguments) : first), ...);
  TORCH_CHECK_VALUE(first != nullptr, kernel, "(): expected a tensor among the arguments, which tells the device");
  return first->device();
}

[[noreturn, gnu::noinline, gnu::cold]] inline void fail_code(const char* kernel, int code, const char* text) {
  const bool said = text != nullptr && *text != '\0';
  TORCH_CHECK(false, kernel, "(): ", said ? text : "the kernel failed", " (error ", code, ")");
}

// The tensors that a signature gives, as an array and back.
template <class R>
struct Results {
  static constexpr std::size_t count = std::tuple_size_v<R>;
  static R pack(at::Tensor* made) { return pack(made, std::make_index_sequence<count>()); }
  template <std::size_t... I>
  static R pack(at::Tensor* made, std::index_sequence<I...>) {
    return R(std::move(made[I])...);
  }
  static void unpack(R&& given, at::Tensor* made) { unpack(given, made, std::make_index_sequence<count>()); }
  template <std::size_t... I>
  static void unpack(R& given, at::Tensor* made, std::index_sequence<I...>) {
    ((made[I] = std::move(std::get<I>(given))), ...);
  }
};
template <>
struct Results<at::Tensor> {
  static constexpr std::size_t count = 1;
  static at::Tensor pack(at::Tensor* made) { return std::move(made[0]); }
  static void unpack(at::Tensor&& given, at::Tensor* made) { made[0] = std::move(given); }
};
template <>
struct Results<void> {
  static constexpr std::size_t count = 0;
  static void pack(at::Tensor*) {}
};

// An argument out of the interpreter's stack, as a kernel takes it.
template <class A>
struct Unboxed {
  static std::decay_t<A> get(c10::IValue& value) { return value.to<std::decay_t<A>>(); }
};
template <>
struct Unboxed<const at::Tensor&> {
  static const at::Tensor& get(c10::IValue& value) { return value.toTensor(); }
};
template <>
struct Unboxed<at::Tensor&> {
  static at::Tensor& get(c10::IValue& value) { return value.toTensor(); }
};

// Calls a function with the last values of the stack, and leaves its results there.
template <class Signature>
struct Boxed;

template <class R, class... A>
struct Boxed<R(A...)> {
  static void run(R (*function)(A...), torch::jit::Stack* stack) {
    run(function, stack, std::index_sequence_for<A...>());
  }

 private:
  template <std::size_t... I>
  static void run(R (*function)(A...), torch::jit::Stack* stack, std::index_sequence<I...>) {
    c10::IValue* const first = stack->data() + stack->size() - sizeof...(A);
    if constexpr (std::is_void_v<R>) {
      function(Unboxed<A>::get(first[I])...);
      torch::jit::drop(*stack, sizeof...(A));
    } else {
      at::Tensor made[Results<R>::count];
      Results<R>::unpack(function(Unboxed<A>::get(first[I])...), made);
      torch::jit::drop(*stack, sizeof...(A));
      for (at::Tensor& each : made) stack->emplace_back(std::move(each));
    }
  }
};

template <class... A>
const at::Tensor& argument_at(int which, const A&... arguments) {
  const at::Tensor* const all[] = {tensor_in(arguments)...};
  TORCH_INTERNAL_ASSERT(all[which] != nullptr);
  return *all[which];
}

// One tensor on the device meta is enough for the key Meta, and results like the others
// would be memory that nobody has written to.
template <class K, class... A>
void refuse_other_devices(const A&... arguments) {
  const c10::Device first = first_device(K::name, arguments...);
  const at::Tensor* const all[] = {tensor_in(arguments)..., nullptr};
  for (std::size_t i = 0; i < sizeof...(A); ++i) {
    if (all[i] == nullptr || all[i]->device().type() == first.type()) continue;
    fail_device(K::name, K::arguments[i], i, first, all[i]->device());
  }
}

}  // namespace detail

/** What the dispatcher calls for a kernel. */
template <class K, class Signature = typename K::signature>
struct Kernel;

template <class K, class R, class... A>
struct Kernel<K, R(A...)> {
  using result = R;
  using results = detail::Results<R>;

  /**
   * Runs the C function: arguments are checked and lent to it, results allocated
   * row-major on the device of the first tensor, which is made current. Any thread,
   * with or without the GIL.
   *
   * \throws c10::ValueError about an argument, c10::Error for an error of the function.
   */
  static R call(A... arguments) { return call_with(std::index_sequence_for<A...>(), arguments...); }

  /** The same with the arguments on a stack. */
  static void boxed(torch::jit::Stack* stack) { detail::Boxed<R(A...)>::run(call, stack); }

  /** The same without data: shapes may be symbols. */
  static R meta(A... arguments) {
    detail::refuse_other_devices<K>(arguments...);
    at::Tensor made[results::count + 1];
    for (std::size_t i = 0; i < results::count; ++i) {
      const at::Tensor& like = detail::argument_at(K::likes[i], arguments...);
      made[i] = at::empty_symint(like.sym_sizes(), like.options());
    }
    return results::pack(made);
  }

 private:
  using indices_of_results = std::make_index_sequence<results::count>;

  template <std::size_t... I>
  static R call_with(std::index_sequence<I...>, A... arguments) {
    const detail::Place place(detail::first_device(K::name, arguments...));
    detail::Arguments<K, detail::Passed, std::index_sequence<I...>, A...> held(place.device(), arguments...);
    if constexpr (results::count == 0) {
      run(place.stream(), nullptr, indices_of_results(),
          static_cast<detail::Held<detail::Passed, I, A>&>(held).passed.get()...);
    } else {
      at::Tensor made[results::count];
      DLTensor lent[results::count];
      for (std::size_t i = 0; i < results::count; ++i) {
        const at::Tensor& like = detail::argument_at(K::likes[i], arguments...);
        made[i] = at::empty(like.sizes(), like.options());
        borrow<Access::write>(made[i], lent[i]);
      }
      run(place.stream(), lent, indices_of_results(),
          static_cast<detail::Held<detail::Passed, I, A>&>(held).passed.get()...);
      return results::pack(made);
    }
  }

  template <std::size_t... I, class... C>
  static void run(void* stream, [[maybe_unused]] DLTensor* lent, std::index_sequence<I...>, C... arguments) {
    const int code = K::function(arguments..., &lent[I]..., stream);
    if (code != 0) detail::fail_code(K::name, code, K::error(code));
  }
};

}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_KERNEL_HPP_
