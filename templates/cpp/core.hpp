/**
 * \file core.hpp
 * Owning and borrowed tensors: errors, validation, dtypes, TensorView and Managed. It includes only
 * small headers of the standard library, and works with -fno-exceptions -fno-rtti.
 */
#ifndef DLPACKGEN_V0_0_CORE_HPP_
#define DLPACKGEN_V0_0_CORE_HPP_

#include "dtype.hpp"
#include "error.hpp"
#include "layout.hpp"
#include "managed.hpp"
#include "tensor_view.hpp"
#include "validate.hpp"

#endif  // DLPACKGEN_V0_0_CORE_HPP_
