/* Python's configuration on 64-bit Windows and macOS, as far as its limited API depends on it. It
 * has the guard of pyconfig.h, whose values are only for this machine. */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_INT 4
#define SIZEOF_SHORT 2
#define HAVE_STDARG_PROTOTYPES 1
#ifdef _WIN32
#include <basetsd.h>
#include <io.h>
#define MS_WINDOWS 1
#define MS_WIN64 1
#define HAVE_PY_SSIZE_T 1
#define PY_SSIZE_T_MAX LLONG_MAX
#define SIZEOF_LONG 4
#define SIZEOF_WCHAR_T 2
typedef SSIZE_T Py_ssize_t;
#else
#define HAVE_SSIZE_T 1
#define HAVE_SYS_TIME_H 1
#define SIZEOF_LONG 8
#define SIZEOF_WCHAR_T 4
#endif
#endif
