/**
 * \file dlpackgen.hpp
 * All headers of target cpp in one file; what needs Python.h, where that came first.
 */
#ifndef DLPACKGEN_V0_0_SINGLE_HPP_
#define DLPACKGEN_V0_0_SINGLE_HPP_

#include "all.hpp"

#ifdef Py_PYTHON_H
#include "python_error.hpp"
#endif

#endif  // DLPACKGEN_V0_0_SINGLE_HPP_
