/**
 * \file kernel_call.hpp
 * Checks, copies and allocations for calls of described kernels. Part of kernels.hpp.
 */
#ifndef DLPACKGEN_V0_0_KERNEL_CALL_HPP_
#define DLPACKGEN_V0_0_KERNEL_CALL_HPP_

#include "kernel_argument.hpp"
#include "kernel_error.hpp"

#include <dlpackgen/scalar.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <optional>

#include "copy.h"

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

namespace detail {

inline const char* class_of(int status) noexcept {
  switch (status) {
#define DLPACKGEN_CLASS(name, exception, number) \
  case number: return #exception;
    DLPACKGEN_STATUSES(DLPACKGEN_CLASS)
#undef DLPACKGEN_CLASS
    default: return "RuntimeError";
  }
}

// The message of a call, and the checks of arguments in C++.
class KernelCheck {
 public:
  explicit KernelCheck(const char* kernel) noexcept
      : message(dlpackgen_message_in(storage_, sizeof storage_)), kernel_(kernel) {}
  KernelCheck(const KernelCheck&) = delete;
  KernelCheck& operator=(const KernelCheck&) = delete;

  int status() const noexcept { return status_; }
  KernelError error(int status) const noexcept {
    return KernelError(status, class_ != nullptr ? class_ : class_of(status), kernel_, message);
  }

  /** Checks that a text contains no NUL, which would end it in C. */
  void text(const dlpackgen_site& site, const Text& text) noexcept {
    if (text.is_cut()) fail(site, DLPACKGEN_STATUS_VALUE_ERROR, DLPACKGEN_TEXT_NUL);
  }

  void no_memory(const dlpackgen_site& site) noexcept {
    fail(site, DLPACKGEN_STATUS_MEMORY_ERROR, DLPACKGEN_TEXT_NO_COPY);
  }

  /** Checks that there is memory for a result. */
  int there(const dlpackgen_site& site, const DLTensor* tensor) noexcept {
    if (tensor == nullptr) fail(site, DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_MISSING);
    return status_;
  }

  /** Checks that a float dtype can represent a number. */
  void real(const dlpackgen_site& site, DLDataType dtype, double value) noexcept {
    if (dlpackgen_represents_real(dtype, value) || !overflows(site, dtype)) return;
    dlpackgen_put_real(&message, value);
  }
  void real(const dlpackgen_site& site, DLDataType dtype, const std::optional<float>& value) noexcept {
    if (value) real(site, dtype, static_cast<double>(*value));
  }

  /** Checks that the dtype of a tensor can represent a number; the tensor itself is checked
   * elsewhere. */
  void number(const dlpackgen_site& site, const Number& number, const DLTensor* tensor,
              std::initializer_list<DLDataType> dtypes) noexcept {
    for (const DLDataType dtype : dtypes) {
      if (tensor != nullptr && same_dtype(tensor->dtype, dtype)) suits(site, number, dtype);
    }
  }

  dlpackgen_message message;

 private:
  bool fail(const dlpackgen_site& site, int status, const char* text) noexcept {
    if (status_ != DLPACKGEN_STATUS_OK) return false;
    status_ = status;
    dlpackgen_put_site(&message, &site);
    dlpackgen_put(&message, text);
    return true;
  }

  bool overflows(const dlpackgen_site& site, DLDataType dtype) noexcept {
    if (!fail(site, DLPACKGEN_STATUS_VALUE_ERROR, "")) return false;
    class_ = "OverflowError";
    dlpackgen_put_out_of_range(&message, dtype);
    return true;
  }

  void suits(const dlpackgen_site& site, const Number& number, DLDataType dtype) noexcept {
    const auto kind = static_cast<dlpackgen_scalar_kind>(number.kind());
    const dlpackgen_number raw = number.raw();
    if (const char* const rejected = dlpackgen_rejected_type(dtype, kind)) {
      if (!fail(site, DLPACKGEN_STATUS_TYPE_ERROR, "expected ")) return;
      put_dtype(dtype);
      dlpackgen_put(&message, ", got ");
      dlpackgen_put(&message, rejected);
    } else if (kind == DLPACKGEN_SCALAR_REAL) {
      real(site, dtype, raw.real);
    } else if (!dlpackgen_represents(dtype, kind, raw.integer, raw.real) && overflows(site, dtype)) {
      const bool negative = is_negative(number);
      if (negative) dlpackgen_put(&message, "-");
      const std::uint64_t bits = static_cast<std::uint64_t>(raw.integer);
      dlpackgen_put_digits(&message, negative ? 0 - bits : bits, 10);
    }
  }

  static bool is_negative(const Number& number) noexcept {
    return number.kind() == Number::Kind::integer && number.raw().integer < 0;
  }

  void put_dtype(DLDataType dtype) noexcept {
    dlpackgen_put_dtype(&message, DLPACKGEN_DTYPE(dtype.code, dtype.bits, dtype.lanes));
  }

  int status_ = DLPACKGEN_STATUS_OK;
  const char *class_ = nullptr, *kernel_;
  char storage_[4096];
};

// Host memory for elements.
class HostMemory {
 public:
  static constexpr std::align_val_t alignment{64};
  explicit HostMemory(std::size_t bytes) noexcept
      : memory_(::operator new(bytes > 0 ? bytes : 1, alignment, std::nothrow)) {}
  HostMemory(HostMemory&& other) noexcept : memory_(other.memory_) { other.memory_ = nullptr; }
  HostMemory& operator=(HostMemory&&) = delete;
  ~HostMemory() { ::operator delete(memory_, alignment); }
  void* address() const noexcept { return memory_; }

 private:
  void* memory_;
};

// A C-contiguous host tensor; an empty tensor if there is no memory.
inline Managed allocate_on_host(DLDataType dtype, std::int32_t ndim, const std::int64_t* shape) noexcept {
  DLTensor tensor{};
  tensor.dtype = dtype;
  tensor.ndim = ndim;
  tensor.shape = const_cast<std::int64_t*>(shape);
  const Result<std::int64_t> bytes = nbytes(tensor, 0);
  if (!bytes) return Managed();
  HostMemory memory(static_cast<std::size_t>(*bytes));
  if (memory.address() == nullptr) return Managed();
  Builder builder(memory.address(), dtype);
  Result<Managed> made =
      builder.shape(Extents(shape, static_cast<std::size_t>(ndim))).build(static_cast<HostMemory&&>(memory));
  return *static_cast<Result<Managed>&&>(made);
}

// A result that the call allocates.
class Made {
 public:
  int allocate(KernelCheck& check, const char* kernel, const char* name, const dlpackgen_result& wanted,
               DLDevice device) noexcept {
    if (device.device_type == kDLCPU) made_ = allocate_on_host(wanted.dtype, wanted.ndim, wanted.shape);
    if (made_) return DLPACKGEN_STATUS_OK;
    dlpackgen_put(&check.message, kernel);
    dlpackgen_put(&check.message, "(): result '");
    dlpackgen_put(&check.message, name);
    dlpackgen_put(&check.message, "': ");
    if (device.device_type == kDLCPU) {
      dlpackgen_put(&check.message, "no memory");
      return DLPACKGEN_STATUS_MEMORY_ERROR;
    }
    dlpackgen_put(&check.message, "results are allocated only on cpu, but the call is on ");
    dlpackgen_put_device(&check.message, device);
    dlpackgen_put(&check.message, DLPACKGEN_TEXT_PASS_TENSOR);
    return DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR;
  }
  DLTensor* get() const noexcept { return made_ ? &made_.get()->dl_tensor : nullptr; }
  Managed take() noexcept { return static_cast<Managed&&>(made_); }

 private:
  Managed made_;
};

// An argument that is copied if it is not C-contiguous. Invalid, packed or padded tensors, and
// tensors that the host cannot read, are not copied: the kernel's check reports them.
class Contiguous {
 public:
  Contiguous(KernelCheck& check, const dlpackgen_site& site, const TensorIn& from) noexcept : tensor_(from.get()) {
    if (tensor_ == nullptr || validate(tensor_, from.flags()) || is_contiguous(*tensor_)) return;
    const std::size_t item = dlpackgen_item_of(tensor_, 0);
    if (item == 0) return;
    made_ = allocate_on_host(tensor_->dtype, tensor_->ndim, tensor_->shape);
    if (!made_) {
      check.no_memory(site);
      return;
    }
    DLTensor* const to = &made_.get()->dl_tensor;
    dlpackgen_copy_along(0, tensor_, static_cast<char*>(to->data),
                         static_cast<const char*>(tensor_->data) + tensor_->byte_offset, item);
    tensor_ = to;
  }
  const DLTensor* get() const noexcept { return tensor_; }

 private:
  const DLTensor* tensor_;
  Managed made_;
};

// Storage for a scalar of one of several types.
template <class... T>
class NumberRoom {
 public:
  void* get() noexcept { return storage_; }
  /** The number as the type with the given index. */
  Number at(int which) const noexcept {
    using Read = Number (*)(const unsigned char*);
    constexpr Read all[] = {read<T>...};
    return all[which](storage_);
  }

 private:
  template <class U>
  static Number read(const unsigned char* buffer) noexcept {
    U value;
    std::memcpy(&value, buffer, sizeof value);
    return Number(value);
  }
  alignas(8) unsigned char storage_[8] = {};
};

// The address of an optional scalar, for C.
template <class T>
const T* address_of(const std::optional<T>& value) noexcept {
  return value ? &*value : nullptr;
}

}  // namespace detail

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_KERNEL_CALL_HPP_
