/**
 * \file core.hpp
 * Owning and borrowing tensors: errors, validation, data types, TensorView and
 * Managed. It includes nothing of the standard library but small headers, and
 * works with -fno-exceptions -fno-rtti.
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
