/**
 * \file kernel_error.hpp
 * The error of a failed call of a described kernel. Part of kernels.hpp.
 */
#ifndef DLPACKGEN_V0_0_KERNEL_ERROR_HPP_
#define DLPACKGEN_V0_0_KERNEL_ERROR_HPP_

#include <dlpackgen/message.h>
#include <dlpackgen/builder.hpp>

#ifdef __cpp_exceptions
#include <dlpackgen/exceptions.hpp>
#endif

#include <cstring>
#include <new>
#include <string_view>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/**
 * A failed call: an argument that violates the description of the kernel, or a status of the C
 * function. The message is the same in every language. A default-constructed KernelError is not an
 * error.
 */
class [[nodiscard]] KernelError {
 public:
  KernelError() noexcept = default;
  /** The names must outlive the error; the text of the message is copied. */
  KernelError(int status, const char* class_name, const char* kernel, const dlpackgen_message& message) noexcept
      : status_(status),
        class_(class_name),
        kernel_(kernel),
        argument_(message.argument != nullptr ? message.argument : ""),
        text_(copy(message.text)) {}
  KernelError(const KernelError& other) noexcept : KernelError(other, copy(other.text_)) {}
  KernelError(KernelError&& other) noexcept : KernelError(other, other.text_) { other.text_ = nullptr; }
  KernelError& operator=(KernelError other) noexcept {
    status_ = other.status_;
    class_ = other.class_;
    kernel_ = other.kernel_;
    argument_ = other.argument_;
    char* const mine = text_;
    text_ = other.text_;
    other.text_ = mine;
    return *this;
  }
  ~KernelError() { delete[] text_; }

  /** True when there is an error. */
  explicit operator bool() const noexcept { return status_ != DLPACKGEN_STATUS_OK; }
  /** A status of <dlpackgen/message.h>; for an OverflowError, the status of ValueError. */
  int status() const noexcept { return status_; }
  /** The corresponding Python exception: "ValueError". */
  const char* class_name() const noexcept { return class_; }
  /** The message, valid as long as this object. */
  const char* text() const noexcept { return text_ != nullptr ? text_ : status_ != 0 ? detail::out_of_memory : ""; }
  /** The kernel. */
  std::string_view kernel() const noexcept { return kernel_; }
  /** The argument; empty if the error concerns no argument or several. */
  std::string_view argument() const noexcept { return argument_; }

 private:
  KernelError(const KernelError& other, char* text) noexcept
      : status_(other.status_), class_(other.class_), kernel_(other.kernel_), argument_(other.argument_), text_(text) {}

  static char* copy(const char* text) noexcept {
    if (text == nullptr) return nullptr;
    const std::size_t size = std::strlen(text) + 1;
    char* const made = new (std::nothrow) char[size];
    if (made != nullptr) std::memcpy(made, text, size);
    return made;
  }

  int status_ = DLPACKGEN_STATUS_OK;
  const char* class_ = "";
  const char* kernel_ = "";
  const char* argument_ = "";
  char* text_ = nullptr;
};

/** The results of a kernel, or the error of the call. */
template <class T>
using KernelResult = Result<T, KernelError>;

#ifdef __cpp_exceptions
/** A KernelError as an exception, thrown by unwrap() and throw_if_error(). */
class KernelException : public Raised {
 public:
  explicit KernelException(const KernelError& error) noexcept : error_(error) {}
  const char* what() const noexcept override { return error_.text(); }
  const char* class_name() const noexcept override { return error_.class_name(); }
  const KernelError& error() const noexcept { return error_; }

 private:
  KernelError error_;
};

/** Throws the error, if there is one. */
inline void throw_if_error(const KernelError& error) {
  if (error) throw KernelException(error);
}
#endif

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_KERNEL_ERROR_HPP_
