/**
 * \file all.hpp
 * All headers that need only the standard library, without those for Python and Eigen.
 */
#ifndef DLPACKGEN_V0_0_ALL_HPP_
#define DLPACKGEN_V0_0_ALL_HPP_

#include "argument.hpp"
#include "array_view.hpp"
#include "builder.hpp"
#include "complex.hpp"
#include "core.hpp"
#include "exchange.hpp"
#include "mdspan.hpp"
#include "message.hpp"
#include "packed.hpp"
#include "producer.hpp"
#include "span.hpp"
#include "stdfloat.hpp"
#include "storage.hpp"

#ifdef __cpp_exceptions
#include "exceptions.hpp"
#endif

#endif  // DLPACKGEN_V0_0_ALL_HPP_
