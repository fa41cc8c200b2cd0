/**
 * \file stable_kernel.hpp
 * What kernel.hpp does, by the stable ABI of LibTorch: one library for torch 2.10 and
 * newer. That ABI knows neither symbols in shapes nor the versions of tensors nor the
 * keys of the dispatcher, so shapes, gradients and versions are registered from
 * Python, by stable_kernels.py. A kernel is a type K as in kernel.hpp, with
 * torch::stable::Tensor in its signature.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_STABLE_KERNEL_HPP_
#define DLPACKGEN_V0_0_PYTORCH_STABLE_KERNEL_HPP_

#ifndef TORCH_TARGET_VERSION
#error "define TORCH_TARGET_VERSION, such as 0x020A000000000000 for torch 2.10 and newer"
#endif

#include "arguments.hpp"
#include "dtype.hpp"
#include "refused.hpp"
#include "strides.hpp"

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace stable {

using torch::stable::Tensor;

namespace detail {

using pytorch::detail::Arguments;
using pytorch::detail::Site;
using pytorch::detail::Slot;

// Whatever is thrown through the stable ABI arrives as a RuntimeError: of the checker's statuses,
// the sentence is left.
[[noreturn, gnu::noinline, gnu::cold]] inline void fail(const std::string& text) { throw std::runtime_error(text); }

[[noreturn, gnu::noinline, gnu::cold]] inline void refuse(const Site& site, const char* text) {
  fail(pytorch::detail::Sentence(site).begin().text() + std::string(text));
}

[[noreturn, gnu::noinline, gnu::cold]] inline void fail_code(const char* kernel, int code, const char* text) {
  const bool said = text != nullptr && *text != '\0';
  throw std::runtime_error(std::string(kernel) + "(): " + (said ? text : "the kernel failed") + " (error " +
                           std::to_string(code) + ")");
}

// DLPack's device of a tensor; type 0 where it has none.
inline DLDevice device_of(const Tensor& tensor) {
  std::int32_t type = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(tensor.get(), &type));
  const std::int32_t index = tensor.get_device_index();
  if (type == aoti_torch_device_type_cpu()) return {kDLCPU, 0};
  if (type == aoti_torch_device_type_cuda()) return {kDLCUDA, index};
  if (type == aoti_torch_device_type_privateuse1()) return {kDLExtDev, index};
  return {static_cast<DLDeviceType>(0), index};
}

// Where a kernel works: the device of its first tensor, made current, and the stream there.
class Place {
 public:
  explicit Place(DLDevice device) : device(device) {
    if (device.device_type == kDLCPU) return;
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
    guard_.emplace(device.device_id);
    stream = torch::stable::accelerator::getCurrentStream(device.device_id).nativeHandle();
#else
    throw std::runtime_error("kernels on devices need TORCH_TARGET_VERSION 2.13 or newer, which tells their streams");
#endif
  }

  DLDevice device;
  void* stream = nullptr;

 private:
  std::optional<torch::stable::accelerator::DeviceGuard> guard_;
};

// The first tensor of a call, which all others must be on the device of.
struct First {
  DLDevice device;
  Site site;
};

[[noreturn, gnu::noinline, gnu::cold]] inline void fail_device(const Site& site, const First& first, DLDevice got) {
  pytorch::detail::Sentence sentence(site);
  const pytorch::detail::Sentence like(first.site);
  (void)dlpackgen_other_device(sentence.at(), got, like.at(), first.device, sentence.message());
  fail(sentence.text());
}

// The type of the elements; lanes is 0 where there is none. Types that this ABI does not know
// throw.
inline DLDataType named_dtype(const Tensor& tensor) {
  try {
    return dtype_of(tensor.scalar_type());
  } catch (const std::runtime_error&) {
    return DLDataType{0, 0, 0};
  }
}

// A storage can be made smaller under a tensor (untyped_storage().resize_()).
inline bool fits(const Tensor& tensor, std::int64_t elements) {
  std::int64_t bytes = 0;
  STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_get_storage_size(tensor.get(), &bytes));
  return (tensor.storage_offset() + elements) * static_cast<std::int64_t>(tensor.element_size()) <= bytes;
}

// Fills out with a view of a tensor that is row-major, or whose strides are heeded.
template <bool writes>
void borrow(const Site& site, const First& first, const Tensor& from, DLTensor& out) {
  if (from.layout() != torch::headeronly::Layout::Strided) refuse(site, "it is not dense: pass to_dense()");
  out.device = device_of(from);
  if (out.device.device_type != first.device.device_type || out.device.device_id != first.device.device_id) {
    fail_device(site, first, out.device);
  }
  out.dtype = named_dtype(from);
  if (out.dtype.lanes == 0) refuse(site, "it is of a type that DLPack has no name for");
  out.ndim = static_cast<std::int32_t>(from.dim());
  out.shape = const_cast<std::int64_t*>(from.sizes().data());
  out.strides = const_cast<std::int64_t*>(from.strides().data());
  out.byte_offset = 0;
  if constexpr (writes) {
    out.data = from.mutable_data_ptr();
  } else {
    out.data = const_cast<void*>(from.const_data_ptr());
  }
  const std::int64_t elements = pytorch::detail::span(out);
  if (out.data == nullptr && elements > 0) refuse(site, pytorch::detail::without_memory);
  if (elements > 0 && !fits(from, elements)) refuse(site, pytorch::detail::beyond_storage);
}

inline void refuse_misaligned(const Site& site, const DLTensor& tensor) {
  pytorch::detail::Sentence sentence(site);
  if (dlpackgen_check_alignment(sentence.at(), &tensor, sentence.message()) != DLPACKGEN_STATUS_OK) {
    fail(sentence.text());
  }
}

// An argument as the C function takes it.
template <class A>
struct Passed {
  static constexpr bool writes = false;
  void take(const Site&, const First&, A from) { value = from; }
  A get() const { return value; }
  A value{};
};

template <>
struct Passed<const Tensor&> {
  static constexpr bool writes = false;
  void take(const Site& site, const First& first, const Tensor& from) {
    borrow<false>(site, first, from, tensor);
    if (!site.strided && !from.is_contiguous()) {
      copy.emplace(torch::stable::contiguous(from));
      borrow<false>(site, first, *copy, tensor);
    }
    if (pytorch::detail::is_misaligned(tensor)) refuse_misaligned(site, tensor);
  }
  const DLTensor* get() const { return &tensor; }
  DLTensor tensor;
  std::optional<Tensor> copy;
};

template <>
struct Passed<Tensor&> {
  static constexpr bool writes = true;
  void take(const Site& site, const First& first, const Tensor& from) {
    borrow<true>(site, first, from, tensor);
    if (pytorch::detail::is_misaligned(tensor)) refuse_misaligned(site, tensor);
    if (from.is_contiguous()) return;
    pytorch::detail::Sentence sentence(site);
    if (pytorch::detail::check_written(site, tensor, sentence) != DLPACKGEN_STATUS_OK) fail(sentence.text());
  }
  DLTensor* get() { return &tensor; }
  DLTensor tensor;
};

template <>
struct Passed<const std::optional<Tensor>&> {
  static constexpr bool writes = false;
  void take(const Site& site, const First& first, const std::optional<Tensor>& from) {
    if (from.has_value()) present.emplace().take(site, first, *from);
  }
  const DLTensor* get() const { return present.has_value() ? present->get() : nullptr; }
  std::optional<Passed<const Tensor&>> present;
};

inline const Tensor* tensor_in(const Tensor& tensor) { return &tensor; }
inline const Tensor* tensor_in(const std::optional<Tensor>& tensor) { return tensor.has_value() ? &*tensor : nullptr; }
template <class Scalar>
const Tensor* tensor_in(Scalar) {
  return nullptr;
}

template <class R>
struct Results {
  static constexpr std::size_t count = std::tuple_size_v<R>;
};
template <>
struct Results<Tensor> {
  static constexpr std::size_t count = 1;
};
template <>
struct Results<void> {
  static constexpr std::size_t count = 0;
};

}  // namespace detail

/** What the dispatcher calls for a kernel. */
template <class K, class Signature = typename K::signature>
struct Kernel;

template <class K, class R, class... A>
struct Kernel<K, R(A...)> {
  /**
   * Runs the C function, as pytorch::Kernel does.
   *
   * \throws std::runtime_error
   */
  static R call(A... arguments) { return call_with(std::index_sequence_for<A...>(), results(), arguments...); }

  /** The same as the stable ABI calls it. */
  static void boxed(StableIValue* stack, std::uint64_t arguments, std::uint64_t given) {
    torch::stable::detail::boxer<R(A...), &call>::boxed_fn(stack, arguments, given);
  }

 private:
  using results = std::make_index_sequence<detail::Results<R>::count>;

  template <std::size_t... I, std::size_t... J>
  static R call_with(std::index_sequence<I...>, std::index_sequence<J...>, A... arguments) {
    const Tensor* const tensors[] = {detail::tensor_in(arguments)...};
    std::size_t before = 0;
    while (before < sizeof...(A) && tensors[before] == nullptr) ++before;
    if (before == sizeof...(A)) {
      throw std::runtime_error(std::string(K::name) + "(): expected a tensor among the arguments");
    }
    const detail::First first = {detail::device_of(*tensors[before]),
                                 {K::name, K::arguments[before], before, K::strided}};
    const detail::Place place(first.device);
    detail::Arguments<K, detail::Passed, std::index_sequence<I...>, A...> held(first, arguments...);
    std::array<Tensor, sizeof...(J)> made = {
        torch::stable::new_empty(*tensors[K::likes[J]], tensors[K::likes[J]]->sizes())...};
    std::array<DLTensor, sizeof...(J) + 1> lent;
    (detail::borrow<true>({K::name, "result", J, K::strided}, first, made[J], lent[J]), ...);
    const int code =
        K::function(static_cast<detail::Slot<detail::Passed, I, A>&>(held).passed.get()..., &lent[J]..., place.stream);
    if (code != 0) detail::fail_code(K::name, code, K::error(code));
    if constexpr (!std::is_void_v<R>) return R(std::move(made[J])...);
  }
};

}  // namespace stable
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_STABLE_KERNEL_HPP_
