/**
 * \file base.hpp
 * The common beginning of all headers in this folder: the headers of target cpp, and the namespace
 * dlpackgen::pytorch. The headers are for C++17 and newer (torch 2.15 requires C++20) and are
 * compiled against libtorch: a build works only with that minor version of torch.
 *
 * The namespace has hidden visibility: two modules in one process may be built from different
 * copies, and must not share them.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_BASE_HPP_
#define DLPACKGEN_V0_0_PYTORCH_BASE_HPP_

#include <dlpackgen/error.hpp>

#if defined(__GNUC__)
#define DLPACKGEN_PYTORCH_HIDDEN __attribute__((visibility("hidden")))
#define DLPACKGEN_PYTORCH_FAST inline __attribute__((always_inline))
#define DLPACKGEN_PYTORCH_SLOW inline __attribute__((noinline, cold))
#else
#define DLPACKGEN_PYTORCH_HIDDEN
#define DLPACKGEN_PYTORCH_FAST inline
#define DLPACKGEN_PYTORCH_SLOW inline
#endif

// Thread-local variables at a fixed offset: glibc reserves a few words for libraries that are
// loaded late.
#if defined(__GNUC__) && defined(__GLIBC__)
#define DLPACKGEN_PYTORCH_THREAD __attribute__((tls_model("initial-exec"))) thread_local
#else
#define DLPACKGEN_PYTORCH_THREAD thread_local
#endif

#endif  // DLPACKGEN_V0_0_PYTORCH_BASE_HPP_
