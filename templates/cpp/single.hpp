/**
 * \file dlpackgen.hpp
 * All headers of target cpp in one file. The parts for Python, Eigen, nanobind and pybind11 are
 * active if these were included before.
 */
#ifndef DLPACKGEN_V0_0_SINGLE_HPP_
#define DLPACKGEN_V0_0_SINGLE_HPP_

#include "all.hpp"

#ifdef EIGEN_WORLD_VERSION
#include "eigen.hpp"
#endif

#ifdef Py_PYTHON_H
#include "python_error.hpp"
#endif

#ifdef DLPACKGEN_PYTHON_H_
#include "python.hpp"
#if defined(NB_VERSION_MAJOR) || defined(PYBIND11_VERSION_MAJOR)
#include "bound.hpp"
#endif
#ifdef NB_VERSION_MAJOR
#include "nanobind.hpp"
#endif
#ifdef PYBIND11_VERSION_MAJOR
#include "pybind11.hpp"
#endif
#endif

#endif  // DLPACKGEN_V0_0_SINGLE_HPP_
