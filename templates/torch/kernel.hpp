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
 *     static constexpr int likes[] = {0, ...};   // by result, the argument of its shape; then -1
 *     static constexpr bool strided = false;     // it heeds strides; else tensors come row-major
 *     static int function(const DLTensor* x, double a, DLTensor* out, DLTensor* result,
 *                         void* stream);
 *     static const char* error(int code);        // nullptr: there is no text
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_KERNEL_HPP_
#define DLPACKGEN_V0_0_PYTORCH_KERNEL_HPP_

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
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// The classes of the checker's statuses. The one of a mistake in a description, which PyTorch
// has none for, is raised by no kernel.
namespace raised {
using c10::BufferError;
using c10::IndexError;
using c10::NotImplementedError;
using c10::TypeError;
using c10::ValueError;
using SystemError = c10::Error;
using RuntimeError = c10::Error;
using MemoryError = c10::Error;
}  // namespace raised

[[noreturn, gnu::noinline, gnu::cold]] inline void fail(int status, const std::string& text) {
  const c10::SourceLocation here = {__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)};
  switch (status) {
#define DLPACKGEN_STATUS(name, exception, number) \
  case number: throw raised::exception(here, text);
    DLPACKGEN_STATUSES(DLPACKGEN_STATUS)
#undef DLPACKGEN_STATUS
    default: throw c10::Error(here, text);
  }
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
    throw BufferError("kernels on devices need torch 2.11, which tells the native handle of a stream");
#endif
  }

  c10::Device device_;
  c10::OptionalDeviceGuard guard_;
  void* stream_ = nullptr;
};

// A device by DLPack's name, which messages of all hosts have; by PyTorch's, as "meta", where
// DLPack has none.
inline std::string name_of(c10::Device device) {
  DLDevice known = {static_cast<DLDeviceType>(0), device.has_index() ? device.index() : 0};
  if (device.is_cpu()) known.device_type = kDLCPU;
  if (device.is_cuda()) known.device_type = gpu();
  if (device.is_privateuseone()) known.device_type = kDLExtDev;
  char text[64];
  dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  dlpackgen_put_device(&message, known);
  return known.device_type == 0 ? device.str() : std::string(text);
}

[[noreturn, gnu::noinline, gnu::cold]] inline void fail_device(const Site& site, const Site& first,
                                                               c10::Device expected, c10::Device got) {
  Sentence sentence(site);
  const Sentence like(first);
  const int status = dlpackgen_other_place(sentence.at(), name_of(got).c_str(), like.at(), name_of(expected).c_str(),
                                           sentence.message());
  fail(status, sentence.text());
}

// The first tensor of a call, which all others must be on the device of.
struct First {
  c10::Device device;
  Site site;
};

// What is not plain, with the place of it in what is refused.
template <Access access>
[[gnu::noinline, gnu::cold]] void lend_other(const Site& site, const at::Tensor& from, DLTensor& out) {
  try {
    borrow<access>(from, out);
  } catch (const BufferError& e) {
    fail(DLPACKGEN_STATUS_BUFFER_ERROR, Sentence(site).begin().text() + std::string(e.what()));
  } catch (c10::Error& e) {  // what ATen itself refuses
    e.add_context(Sentence(site).begin().text() + std::string("it cannot be lent"));
    throw;
  }
}

// A write to an element that several indices share would be a race.
[[gnu::noinline]] inline void refuse_strides(const Site& site, const DLTensor& tensor) {
  Sentence sentence(site);
  const int status = check_written(site, tensor, sentence);
  if (status != DLPACKGEN_STATUS_OK) fail(status, sentence.text());
}

[[gnu::noinline, gnu::cold]] inline void refuse_misaligned(const Site& site, const DLTensor& tensor) {
  Sentence sentence(site);
  const int status = dlpackgen_misaligned(sentence.at(), &tensor, sentence.message());
  fail(status, sentence.text());
}

// Inlined, and flattened where it is used: it is all that most arguments cost.
template <Access access>
[[gnu::always_inline]] inline void lend(const Site& site, const First& first, const at::Tensor& from, DLTensor& out) {
  if (!read_plain<access>(*from.unsafeGetTensorImpl(), out)) lend_other<access>(site, from, out);
  if (access == Access::write && !from.is_contiguous()) refuse_strides(site, out);
  if (out.device.device_type == kDLCPU && first.device.is_cpu()) return;  // whatever their numbers
  const c10::Device device = from.unsafeGetTensorImpl()->device();
  if (device != first.device) fail_device(site, first.site, first.device, device);
}

// A tensor to read from, and the copy of it where it is not row-major.
class Read {
 public:
  [[gnu::flatten]] void lend(const Site& site, const First& first, const at::Tensor& from) {
    detail::lend<Access::read>(site, first, from, tensor_);
    if (!site.strided && !from.is_contiguous()) copy(from);
    if (is_misaligned(tensor_)) refuse_misaligned(site, tensor_);
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
  void take(const Site&, const First&, A from) { value = from; }
  A get() const { return value; }
  A value{};
};

template <>
struct Passed<const at::Tensor&> {
  static constexpr bool writes = false;
  void take(const Site& site, const First& first, const at::Tensor& from) { tensor.lend(site, first, from); }
  const DLTensor* get() const { return tensor.get(); }
  Read tensor;
};

template <>
struct Passed<at::Tensor&> {
  static constexpr bool writes = true;
  [[gnu::flatten]] void take(const Site& site, const First& first, const at::Tensor& from) {
    lend<Access::write>(site, first, from, tensor);
    if (is_misaligned(tensor)) refuse_misaligned(site, tensor);
  }
  DLTensor* get() { return &tensor; }
  DLTensor tensor;
};

template <>
struct Passed<const std::optional<at::Tensor>&> {
  static constexpr bool writes = false;
  void take(const Site& site, const First& first, const std::optional<at::Tensor>& from) {
    present = from.has_value() && from->defined();
    if (present) tensor.lend(site, first, *from);
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

template <class K, class... A>
First first_tensor(const A&... arguments) {
  const at::Tensor* first = nullptr;
  std::size_t before = 0;  // so many arguments
  ((first == nullptr && (first = tensor_in(arguments)) == nullptr ? ++before : before), ...);
  TORCH_CHECK_VALUE(first != nullptr, K::name, "(): expected a tensor among the arguments, which tells the device");
  return First{first->device(), Site{K::name, K::arguments[before], before, K::strided}};
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
  const First first = first_tensor<K>(arguments...);
  const at::Tensor* const all[] = {tensor_in(arguments)..., nullptr};
  for (std::size_t i = 0; i < sizeof...(A); ++i) {
    if (all[i] == nullptr || all[i]->device().type() == first.device.type()) continue;
    fail_device(Site{K::name, K::arguments[i], i, K::strided}, first.site, first.device, all[i]->device());
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
    const detail::First first = detail::first_tensor<K>(arguments...);
    const detail::Place place(first.device);
    detail::Arguments<K, detail::Passed, std::index_sequence<I...>, A...> held(first, arguments...);
    if constexpr (results::count == 0) {
      run(place.stream(), nullptr, indices_of_results(),
          static_cast<detail::Slot<detail::Passed, I, A>&>(held).passed.get()...);
    } else {
      at::Tensor made[results::count];
      DLTensor lent[results::count];
      for (std::size_t i = 0; i < results::count; ++i) {
        const at::Tensor& like = detail::argument_at(K::likes[i], arguments...);
        made[i] = at::empty(like.sizes(), like.options());
        borrow<Access::write>(made[i], lent[i]);
      }
      run(place.stream(), lent, indices_of_results(),
          static_cast<detail::Slot<detail::Passed, I, A>&>(held).passed.get()...);
      return results::pack(made);
    }
  }

  template <std::size_t... I, class... C>
  static void run(void* stream, [[maybe_unused]] DLTensor* lent, std::index_sequence<I...>, C... arguments) {
    const int code = K::function(arguments..., &lent[I]..., stream);
    if (code != 0) detail::fail_code(K::name, code, K::error(code));
  }
};

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_KERNEL_HPP_
