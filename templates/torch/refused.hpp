/**
 * \file refused.hpp
 * What is thrown for tensors that cannot be had, whichever ABI of torch is used.
 */
#ifndef DLPACKGEN_V0_0_ATEN_REFUSED_HPP_
#define DLPACKGEN_V0_0_ATEN_REFUSED_HPP_

#include "base.hpp"

#include <stdexcept>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace aten DLPACKGEN_ATEN_HIDDEN {

/** A tensor that cannot be had, with the reason: BufferError in Python. */
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/** An object that is none of the kind that is wanted: TypeError in Python. */
class NoTensor : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_REFUSED_HPP_
