/**
 * \file dlpackgen_python.h
 * The base of extension modules for Python that work on tensors: arguments of any
 * library that speaks DLPack, checked against a static table and unpacked in one
 * call; results of the caller's own library; objects that others can take.
 *
 * A module of one file defines DLPACKGEN_PYTHON_IMPLEMENTATION before it includes this one, and has
 * all of it in one piece. A module of several includes this file in each, and compiles
 * dlpackgen_python.c beside them, as C. Built with Py_LIMITED_API 0x030B0000 it serves every Python
 * from 3.11 on. C11 or C++17.
 *
 * Unless it says otherwise, a function needs the GIL and fails with a Python
 * exception set: -1, or NULL.
 */
#ifndef DLPACKGEN_PYTHON_H_
#define DLPACKGEN_PYTHON_H_

#include "api.h"

#ifdef DLPACKGEN_PYTHON_IMPLEMENTATION
#include "implementation.c"
#endif

#endif /* DLPACKGEN_PYTHON_H_ */
