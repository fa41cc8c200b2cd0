/**
 * \file gil.hpp
 * Returns whether a thread may access Python objects.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_GIL_HPP_
#define DLPACKGEN_V0_0_PYTORCH_GIL_HPP_

#include "base.hpp"

#include <Python.h>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// PyGILState_Check() always returns 1 after another interpreter was created.
inline bool has_the_gil() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  PyThreadState* const current = PyThreadState_GetUnchecked();
#else
  PyThreadState* const current = _PyThreadState_UncheckedGet();
#endif
  return current != nullptr && current == PyGILState_GetThisThreadState();
}

}  // namespace detail
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_GIL_HPP_
