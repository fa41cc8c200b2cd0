/**
 * \file kernel.hpp
 * The parts of a call except its arguments: classes of errors, the device and its stream, results,
 * and the interpreter's stack.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_KERNEL_HPP_
#define DLPACKGEN_V0_0_PYTORCH_KERNEL_HPP_

#include "arguments.hpp"
#include "read.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/impl/make_boxed_from_unboxed_functor.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>
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

// The classes for the checker's statuses. PyTorch has no class for the status of a mistake in a
// description, which kernels never return.
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

// Makes a device current, and restores the previous device at its end. If both are the same device,
// it does nothing at its end, whereas a guard of c10 would query the driver twice.
class Current {
 public:
  explicit Current(c10::Device device) noexcept : device_(device), before_(device) {}
  ~Current() {
    if (before_ != device_) backend().uncheckedSetDevice(before_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  void enter() { before_ = backend().exchangeDevice(device_); }
  c10::impl::VirtualGuardImpl backend() const { return c10::impl::VirtualGuardImpl(device_.type()); }

 private:
  c10::Device device_;
  c10::Device before_;
};

// The device of a kernel's call, which is that of the first tensor and is made current, and its
// current stream. This needs no header of a backend.
class Place {
 public:
  explicit Place(c10::Device device) : device_(device), current_(device) {
    if (!device.is_cpu()) enter();
  }

  c10::Device device() const noexcept { return device_; }
  void* stream() const noexcept { return stream_; }

 private:
  [[gnu::noinline]] void enter() {
    current_.enter();
#if TORCH_VERSION_MINOR >= 11
    stream_ = current_.backend().getStream(device_).native_handle();
#else
    throw BufferError("kernels on devices need torch 2.11, which reports the native handle of a stream");
#endif
  }

  c10::Device device_;
  Current current_;
  void* stream_ = nullptr;
};

// DLPack's name of a device, which all hosts use in messages, or PyTorch's, such as "meta", if
// DLPack has none.
inline std::string name_of(c10::Device device) {
  const DLDevice known = {device_type_of(device.type()), device.has_index() ? device.index() : 0};
  char text[64];
  dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  dlpackgen_put_device(&message, known);
  return known.device_type == 0 ? device.str() : std::string(text);
}

[[noreturn, gnu::noinline, gnu::cold]] inline void fail_device(const Site& site, const Site& first,
                                                               c10::Device expected, c10::Device got) {
  Sentence sentence(site);
  const Sentence like(first);
  const int status = dlpackgen_other_device_of(sentence.at(), name_of(got).c_str(), like.at(),
                                               name_of(expected).c_str(), sentence.message());
  fail(status, sentence.text());
}

// The first tensor of a call. All others must be on its device.
struct First {
  c10::Device device;
  Site site;
};

// Reads a tensor that is not plain. Errors contain its index.
template <Access access>
[[gnu::noinline, gnu::cold]] void borrow_other(const Site& site, const at::Tensor& from, DLTensor& out) {
  try {
    borrow<access>(from, out);
  } catch (const BufferError& e) {
    fail(DLPACKGEN_STATUS_BUFFER_ERROR, Sentence(site).begin().text() + std::string(e.what()));
  } catch (c10::Error& e) {  // what ATen itself rejects
    e.add_context(Sentence(site).begin().text() + std::string(DLPACKGEN_TEXT_NOT_BORROWED));
    throw;
  }
}

// The tensor in an argument, or nullptr.
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
  std::size_t before = 0;  // the number of arguments
  ((first == nullptr && (first = tensor_in(arguments)) == nullptr ? ++before : before), ...);
  TORCH_CHECK_VALUE(first != nullptr, K::name, "(): expected at least one tensor, which determines the device");
  return First{first->device(), Site{K::name, K::arguments[before], before}};
}

// Converts the results of a signature to an array and back.
template <class R>
struct Results {
  static constexpr std::size_t count = std::tuple_size_v<R>;
  static R pack(at::Tensor* made) { return pack(made, std::make_index_sequence<count>()); }
  template <std::size_t... I>
  static R pack(at::Tensor* made, std::index_sequence<I...>) {
    return R(std::move(made[I])...);
  }
  static void unpack(R&& returned, at::Tensor* made) { unpack(returned, made, std::make_index_sequence<count>()); }
  template <std::size_t... I>
  static void unpack(R& returned, at::Tensor* made, std::index_sequence<I...>) {
    ((made[I] = std::move(std::get<I>(returned))), ...);
  }
};
template <>
struct Results<at::Tensor> {
  static constexpr std::size_t count = 1;
  static at::Tensor pack(at::Tensor* made) { return std::move(made[0]); }
  static void unpack(at::Tensor&& returned, at::Tensor* made) { made[0] = std::move(returned); }
};
template <>
struct Results<void> {
  static constexpr std::size_t count = 0;
  static void pack(at::Tensor*) {}
};

// Converts an argument on the interpreter's stack, in the same way as PyTorch.
template <class A>
decltype(auto) unboxed(c10::IValue& value) {
  return c10::impl::ivalue_to_arg<typename c10::impl::decay_if_not_tensor<A>::type, false>::call(value);
}

// Calls a function with the last values of the stack, and replaces them with its results.
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
      function(unboxed<A>(first[I])...);
      torch::jit::drop(*stack, sizeof...(A));
    } else {
      at::Tensor made[Results<R>::count];
      Results<R>::unpack(function(unboxed<A>(first[I])...), made);
      torch::jit::drop(*stack, sizeof...(A));
      for (at::Tensor& each : made) stack->emplace_back(std::move(each));
    }
  }
};

// One tensor on the device meta is enough for the key Meta. Results like the others would be
// uninitialized memory.
template <class K, class... A>
void reject_other_devices(const A&... arguments) {
  const First first = first_tensor<K>(arguments...);
  const at::Tensor* const all[] = {tensor_in(arguments)..., nullptr};
  for (std::size_t i = 0; i < sizeof...(A); ++i) {
    if (all[i] == nullptr || all[i]->device().type() == first.device.type()) continue;
    fail_device(Site{K::name, K::arguments[i], i}, first.site, first.device, all[i]->device());
  }
}

}  // namespace detail

/** The function that the dispatcher calls for a kernel. */
template <class K, class Signature = typename K::signature>
struct Kernel;

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_KERNEL_HPP_
