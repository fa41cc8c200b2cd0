/**
 * \file base.hpp
 * What every header of this folder begins with: <dlpack/dlpack.h>, which is all
 * that they depend on beside the standard library, and the namespace.
 *
 * Everything stands in dlpackgen::v0_0, so that headers made for two releases of
 * DLPack can be used in one program, and in one source file. dlpackgen::Managed
 * means that of the release which a source file includes first; dlpackgen::v0_0
 * is always this one.
 */
#ifndef DLPACKGEN_V0_0_BASE_HPP_
#define DLPACKGEN_V0_0_BASE_HPP_

#if !defined(__cplusplus) || (__cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L))
#error "dlpackgen needs C++17: build with -std=c++17 or newer"
#endif

#include <dlpack/dlpack.h>

// Every dlpack.h has the same guard, so another copy may have come first.
#ifndef DLPACK_MAJOR_VERSION
#error "dlpackgen needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.8 or older"
#elif DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 0
#error "dlpackgen needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 1.0"
#elif DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 1
#error "dlpackgen needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 1.1"
#elif DLPACK_MAJOR_VERSION != 1
#error "dlpackgen needs DLPack 1; the <dlpack/dlpack.h> that was included first has another major version"
#endif

#ifdef DLPACKGEN_HAS_DEFAULT_RELEASE
#define DLPACKGEN_V0_0_INLINE
#else
#define DLPACKGEN_HAS_DEFAULT_RELEASE
#define DLPACKGEN_V0_0_INLINE inline
#endif

#endif  // DLPACKGEN_V0_0_BASE_HPP_
