/**
 * \file dlpackgen_python.h
 * The base of Python extension modules with tensors. It reads arguments of any library that
 * implements DLPack, checks them against a static table and unpacks them in one call. It returns
 * results as tensors of the caller's library, and exports objects that other libraries accept.
 *
 * In a module with one source file, define DLPACKGEN_PYTHON_IMPLEMENTATION before you include this
 * header. In a module with several files, include this header in each, and also compile
 * dlpackgen_python.c, as C. Built with Py_LIMITED_API 0x030B0000, the module works with Python 3.11
 * and newer. C11 or C++17.
 *
 * Unless documented otherwise, functions need the GIL. After an error, they return -1 or NULL with
 * a Python exception set.
 */
#ifndef DLPACKGEN_PYTHON_H_
#define DLPACKGEN_PYTHON_H_

#include "api.h"

#ifdef DLPACKGEN_PYTHON_IMPLEMENTATION
#include "implementation.c"
#endif

#endif /* DLPACKGEN_PYTHON_H_ */
