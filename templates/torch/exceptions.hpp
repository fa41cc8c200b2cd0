/**
 * \file exceptions.hpp
 * The exceptions for tensors that cannot be read, for both ABIs of torch.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_EXCEPTIONS_HPP_
#define DLPACKGEN_V0_0_PYTORCH_EXCEPTIONS_HPP_

#include "base.hpp"

#include <dlpackgen/message.h>

#include <stdexcept>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {

/** A tensor that cannot be read, with the reason: BufferError in Python. */
class BufferError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/** An object of an unexpected type: TypeError in Python. */
class TypeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

inline constexpr const char negated[] = DLPACKGEN_TEXT_NEGATED;
inline constexpr const char conjugated[] = DLPACKGEN_TEXT_CONJUGATED;
inline constexpr const char without_memory[] = DLPACKGEN_TEXT_NO_STORAGE;
inline constexpr const char unnamed[] = DLPACKGEN_TEXT_UNNAMED;
inline constexpr const char beyond_storage[] = DLPACKGEN_TEXT_BEYOND_STORAGE;
inline constexpr const char undefined[] = "it is an undefined tensor";
inline constexpr const char not_copied[] = "it is read-only, and only tensors on the CPU can be copied";
inline constexpr const char unsupported_device[] = "unsupported device: expected CPU or CUDA";
inline constexpr const char recording[] =
    "it requires grad, but the result would not record gradients: pass detach(), or call this under torch.no_grad()";

}  // namespace detail

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_EXCEPTIONS_HPP_
