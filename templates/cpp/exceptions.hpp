/**
 * \file exceptions.hpp
 * Converts errors to exceptions, for programs that use them.
 */
#ifndef DLPACKGEN_V0_0_EXCEPTIONS_HPP_
#define DLPACKGEN_V0_0_EXCEPTIONS_HPP_

#include "error.hpp"
#include "message.hpp"

#include <exception>

#ifndef __cpp_exceptions
#error "exceptions.hpp needs exceptions: build without -fno-exceptions, or use Result as it is"
#endif

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {

/** The base class of all exceptions of these headers: an error with a corresponding Python
 * class. */
class Raised : public std::exception {
 public:
  /** The class of the exception that Python raises: "ValueError". */
  virtual const char* class_name() const noexcept = 0;
};

/** A thrown error; what() returns its Message. */
class Exception : public Raised {
 public:
  explicit Exception(const Error& error) noexcept : error_(error), message_(error) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const char* class_name() const noexcept override { return v0_0::class_name(error_.code); }
  const Error& error() const noexcept { return error_; }
  ErrorCode code() const noexcept { return error_.code; }

 private:
  Error error_;
  Message message_;
};

/** Throws the error, unless it is ErrorCode::ok. */
inline void throw_if_error(const Error& error) {
  if (error) throw Exception(error);
}

/**
 * Returns the value of a result, or throws its error: Managed m = unwrap(Managed::from_raw(p)).
 */
template <class T, class E>
T unwrap(Result<T, E>&& result) {
  throw_if_error(result.error());
  return *static_cast<Result<T, E>&&>(result);
}

}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_EXCEPTIONS_HPP_
