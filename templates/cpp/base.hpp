/**
 * \file base.hpp
 * The common beginning of all headers in this folder: <dlpack/dlpack.h>, their only dependency
 * besides the standard library, and the namespace.
 *
 * All names are in dlpackgen::v0_0, so headers for two releases of DLPack can be used in one
 * program, and in one source file. dlpackgen::Managed refers to the release that a source file
 * includes first; dlpackgen::v0_0 is always this release.
 */
#ifndef DLPACKGEN_V0_0_BASE_HPP_
#define DLPACKGEN_V0_0_BASE_HPP_

#if !defined(__cplusplus) || (__cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L))
#error "dlpackgen needs C++17: build with -std=c++17 or newer"
#endif

#include <dlpack/dlpack.h>

// Every dlpack.h has the same guard, so another copy may have been included first.
#ifndef DLPACK_MAJOR_VERSION
#error "dlpackgen needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.8 or older"
#elif DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 0
#error "dlpackgen needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 1.0"
#elif DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 1
#error "dlpackgen needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 1.1"
#elif DLPACK_MAJOR_VERSION != 1
#error "dlpackgen needs DLPack 1; the <dlpack/dlpack.h> that was included first has a different major version"
#endif

#ifdef DLPACKGEN_HAS_DEFAULT_RELEASE
#define DLPACKGEN_V0_0_INLINE
#else
#define DLPACKGEN_HAS_DEFAULT_RELEASE
#define DLPACKGEN_V0_0_INLINE inline
#endif

#endif  // DLPACKGEN_V0_0_BASE_HPP_
