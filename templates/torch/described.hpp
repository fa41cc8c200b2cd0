/**
 * \file described.hpp
 * The functions that the dispatcher calls for a kernel. They borrow the arguments, check them with
 * kernels.c and call the C function. Messages are the same as in every other caller.
 *
 * A kernel is a type K with
 *
 *     using signature = at::Tensor(const at::Tensor& x, double a);
 *     using call = ::dlpackgen_kernel_scale;     // of kernels.h
 *     static constexpr const char* name = "mylib::scale";
 *     static constexpr const char* kernel = "scale";      // in messages
 *     static constexpr const char* arguments[] = {"x", "a"};
 *     static constexpr bool copied[] = {false, false};   // copied if not C-contiguous
 *     static constexpr bool on_cpu[] = {false, false};   // always in host memory
 *     static constexpr std::int32_t device_type = 1;     // a device of the kernel
 *     static constexpr std::size_t results = 1;          // of the C function
 *     static constexpr std::size_t returned[] = {0};        // those for callers
 *     static void fill(call& made, detail::Narrow&, const DLTensor* x, double a);
 *         // puts arguments into a call, and checks them
 *     static int run(const call& made, DLTensor* results, void* stream, dlpackgen_message*);
 *     static const dlpackgen_result* result(const call& made, std::size_t i);
 *     static void shapes(at::Tensor* made, const at::Tensor& like, A...);   // may be symbols
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_DESCRIBED_HPP_
#define DLPACKGEN_V0_0_PYTORCH_DESCRIBED_HPP_

#include "borrowed.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/SymInt.h>

#include <vector>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// A tensor without data, only for the checks of its dtype and shape. The addresses do not overlap,
// because only the call itself can check for overlaps.
template <class A>
struct Outlined : Borrowed<A> {};

// The declarations of a kernel for its arguments, by index.
struct Outline {
  const bool* copied;
  const bool* on_cpu;
  std::int32_t device_type;
};

struct OutlinedTensor {
  void outline(const Site& site, const Outline& context, const at::Tensor& from) {
    whole = context.copied[site.number] ? from.contiguous() : from;
    const std::int64_t offset = whole.storage_offset() * static_cast<std::int64_t>(whole.itemsize());
    tensor.data = reinterpret_cast<void*>(((std::uintptr_t{1} + site.number) << 56) + offset);
    tensor.device = DLDevice{static_cast<DLDeviceType>(context.on_cpu[site.number] ? kDLCPU : context.device_type), 0};
    tensor.ndim = static_cast<std::int32_t>(whole.dim());
    tensor.dtype = dtype_of(whole.scalar_type());
    tensor.shape = const_cast<std::int64_t*>(whole.sizes().data());
    tensor.strides = const_cast<std::int64_t*>(whole.strides().data());
    tensor.byte_offset = 0;
  }
  at::Tensor whole;
  DLTensor tensor;
};

template <>
struct Outlined<const at::Tensor&> : OutlinedTensor {
  static constexpr bool writes = false;
  void read(const Site& site, const Outline& context, const at::Tensor& from) { outline(site, context, from); }
  const DLTensor* get() const { return &tensor; }
};

template <>
struct Outlined<at::Tensor&> : OutlinedTensor {
  static constexpr bool writes = true;
  void read(const Site& site, const Outline& context, const at::Tensor& from) { outline(site, context, from); }
  DLTensor* get() { return &tensor; }
};

template <>
struct Outlined<const std::optional<at::Tensor>&> : OutlinedTensor {
  static constexpr bool writes = false;
  void read(const Site& site, const Outline& context, const std::optional<at::Tensor>& from) {
    present = from.has_value() && from->defined();
    if (present) outline(site, context, *from);
  }
  const DLTensor* get() const { return present ? &tensor : nullptr; }
  bool present = false;
};

// Compares the arguments of a call with the kernel's description.
template <class K>
void checked(typename K::call& made) {
  char text[4096];
  dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  const int status = K::validate(made, &message);
  if (status != DLPACKGEN_STATUS_OK) fail(status, text);
}

// The device of a call: that of the first tensor outside host memory, else the CPU.
template <class... A>
c10::Device device_of(const A&... arguments) {
  const at::Tensor* const all[] = {tensor_in(arguments)..., nullptr};
  for (std::size_t i = 0; i < sizeof...(A); ++i) {
    if (all[i] != nullptr && !all[i]->is_cpu()) return all[i]->device();
  }
  return c10::kCPU;
}

inline c10::ScalarType scalar_or_throw(DLDataType dtype) {
  const std::optional<c10::ScalarType> found = scalar_of(dtype);
  TORCH_CHECK_NOT_IMPLEMENTED(found.has_value(), DLPACKGEN_TEXT_NO_TORCH_DTYPE, name_of(dtype));
  return *found;
}

inline at::Tensor defined_or_not(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? *tensor : at::Tensor();
}

inline std::optional<at::Tensor> optional_of(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional<at::Tensor>(tensor) : std::nullopt;
}

// An extent of a tensor with the given number of dimensions, or with more if the index counts from
// the end.
inline c10::SymInt extent(const at::Tensor& tensor, std::int64_t rank, std::int64_t place) {
  TORCH_CHECK_VALUE(tensor.dim() >= rank, "expected a tensor of ", rank, " dimensions, got ", tensor.dim());
  return tensor.sym_size(place);
}

// The dimensions of an ellipsis: all but rank, from an index on.
inline void append_leading(std::vector<c10::SymInt>& shape, const at::Tensor& tensor, std::int64_t place,
                           std::int64_t rank) {
  for (std::int64_t i = place; i < place + tensor.dim() - rank; ++i) shape.push_back(tensor.sym_size(i));
}

// Numbers that are not symbols are divided as in kernels.c.
inline c10::SymInt floor_divide(const c10::SymInt& a, const c10::SymInt& b) {
  const auto x = a.maybe_as_int();
  const auto y = b.maybe_as_int();
  if (!x.has_value() || !y.has_value()) return a / b;
  TORCH_CHECK_VALUE(*y != 0, "a shape of a result divides by 0");
  return *x / *y - (*x % *y != 0 && (*x < 0) != (*y < 0) ? 1 : 0);
}

inline c10::SymInt floor_remainder(const c10::SymInt& a, const c10::SymInt& b) { return a - floor_divide(a, b) * b; }

// In parentheses, because both may be macros.
inline c10::SymInt least(const c10::SymInt& a, const c10::SymInt& b) { return (a.min)(b); }
inline c10::SymInt greatest(const c10::SymInt& a, const c10::SymInt& b) { return (a.max)(b); }

template <class... A>
bool has_symbols(const A&... arguments) {
  const at::Tensor* const all[] = {tensor_in(arguments)..., nullptr};
  for (std::size_t i = 0; i < sizeof...(A); ++i) {
    if (all[i] != nullptr && all[i]->unsafeGetTensorImpl()->has_symbolic_sizes_strides()) return true;
  }
  return false;
}

template <class... A>
const at::Tensor& any_tensor(const A&... arguments) {
  const at::Tensor* const all[] = {tensor_in(arguments)..., nullptr};
  for (std::size_t i = 0; i < sizeof...(A); ++i) {
    if (all[i] != nullptr) return *all[i];
  }
  TORCH_CHECK_VALUE(false, "expected at least one tensor, which determines the device");
}

}  // namespace detail

/** The function that the dispatcher calls for a kernel. */
template <class K, class R, class... A>
struct Kernel<K, R(A...)> {
  using result = R;
  using results = detail::Results<R>;

  /**
   * Runs the C function on the device of the first tensor outside host memory, which is made
   * current. Results are C-contiguous. May be called on any thread, with or without the GIL.
   *
   * \throws the class of the status that kernels.c returns, with its message.
   */
  static R call(A... arguments) { return call_with(std::index_sequence_for<A...>(), arguments...); }

  /** The same with the arguments on a stack. */
  static void boxed(torch::jit::Stack* stack) { detail::Boxed<R(A...)>::run(call, stack); }

  /** The same for tensors without data. Symbolic shapes are not checked. */
  static R meta(A... arguments) {
    detail::reject_other_devices<detail::Sites<K>>(arguments...);
    at::Tensor made[K::results + 1];
    if (detail::has_symbols(arguments...)) {
      K::shapes(made, detail::any_tensor(arguments...), arguments...);
    } else {
      outline(made, std::index_sequence_for<A...>(), arguments...);
    }
    return pack(made);
  }

 private:
  template <std::size_t... I>
  static R call_with(std::index_sequence<I...>, A... arguments) {
    typename K::call made;
    detail::Narrow numbers;
    detail::Arguments<detail::Sites<K>, detail::Borrowed, std::index_sequence<I...>, A...> held(K::copied,
                                                                                                arguments...);
    K::fill(made, numbers, static_cast<detail::Slot<detail::Borrowed, I, A>&>(held).passed.get()...);
    // The check has found the type of the device. Most calls need no more.
    const bool on_host = made.device.device_type == kDLCPU;
    const detail::Place place(on_host ? c10::Device(c10::kCPU) : detail::device_of(arguments...));
    at::Tensor returned[K::results + 1];
    DLTensor borrowed[K::results + 1];
    for (std::size_t i = 0; i < K::results; ++i) {
      returned[i] = allocate(*K::result(made, i), place.device());
      borrow<Access::write>(returned[i], borrowed[i]);
    }
    run(made, borrowed, place.stream());
    return pack(returned);
  }

  template <class Like>
  static at::Tensor allocate(const Like& like, c10::Device device) {
    const at::IntArrayRef shape(like.shape, static_cast<std::size_t>(like.ndim));
    return at::empty(shape, at::TensorOptions(device).dtype(detail::scalar_or_throw(like.dtype)));
  }

  static void run(const typename K::call& made, DLTensor* borrowed, void* stream) {
    char text[4096];
    dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
    const int status = K::run(made, borrowed, stream, &message);
    if (status != DLPACKGEN_STATUS_OK) detail::fail(status, text);
  }

  template <std::size_t... I>
  static void outline(at::Tensor* returned, std::index_sequence<I...>, A... arguments) {
    typename K::call made;
    detail::Narrow numbers;
    const detail::Outline like = {K::copied, K::on_cpu, K::device_type};
    detail::Arguments<detail::Sites<K>, detail::Outlined, std::index_sequence<I...>, A...> held(like, arguments...);
    K::fill(made, numbers, static_cast<detail::Slot<detail::Outlined, I, A>&>(held).passed.get()...);
    const c10::Device device = detail::any_tensor(arguments...).device();
    for (std::size_t i = 0; i < K::results; ++i) returned[i] = allocate(*K::result(made, i), device);
  }

  static R pack(at::Tensor* made) {
    at::Tensor returned[results::count + 1];
    for (std::size_t i = 0; i < results::count; ++i) returned[i] = std::move(made[K::returned[i]]);
    return results::pack(returned);
  }
};

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_DESCRIBED_HPP_
