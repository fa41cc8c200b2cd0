//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#define _GNU_SOURCE
#include "python.h"

#include <stdio.h>
#ifdef _WIN32
#define PSAPI_VERSION 2
#include <windows.h>

#include <psapi.h>
#else
#include <dlfcn.h>
#endif

struct dlp_00000000_py_python dlp_00000000_py_python;
#define py dlp_00000000_py_python

#ifdef _WIN32
/* Python is a library of the process whose name contains the version. */
static void* find(const char* name) {
  HMODULE modules[1024];
  DWORD bytes;
  if (!EnumProcessModules(GetCurrentProcess(), modules, sizeof modules, &bytes)) return NULL;
  for (DWORD i = 0; i < bytes / sizeof *modules && i < 1024; i++) {
    void* found = (void*)(uintptr_t)GetProcAddress(modules[i], name);
    if (found) return found;
  }
  return NULL;
}
#else
#ifdef __linux__
/* Before glibc 2.34, it is in a separate library, which Python has loaded. */
#pragma weak dlsym
#endif
static void* find(const char* name) {
  void* (*look)(void*, const char*) = dlsym;
  return look ? look(RTLD_DEFAULT, name) : NULL;
}
#endif

PyObject* dlp_00000000_py_exception(const char* name) {
  char symbol[64];
  snprintf(symbol, sizeof symbol, "PyExc_%s", name);
  PyObject** found = find(symbol);
  if (!found) found = find("PyExc_RuntimeError");
  return *found;
}

/* The header before an object's fields: 16 bytes, or more in free-threaded builds. */
static bool measure_head(void) {
  PyObject* base = find("PyBaseObject_Type");
  PyObject* size = base ? py.PyObject_GetAttrString(base, "__basicsize__") : NULL;
  if (!size) return false;
  py.head = (size_t)py.PyLong_AsLongLong(size);
  py.Py_DecRef(size);
  return py.head >= 2 * sizeof(void*);
}

const char* dlp_00000000_py_open(void) {
  const char* missing = NULL;
#define FIND(result, name, arguments) \
  if (!(*(void**)& py.name = find(#name))) missing = #name;
  dlp_00000000_py_FUNCTIONS(FIND)
#undef FIND
      py.None = find("_Py_NoneStruct");
  py.Int = find("PyLong_Type");
  py.Float = find("PyFloat_Type");
  py.Bool = find("PyBool_Type");
  *(void**)&py.finalizing = find("Py_IsFinalizing"); /* since 3.13 */
  if (!py.finalizing) *(void**)&py.finalizing = find("_Py_IsFinalizing");
  if (!py.None) missing = "_Py_NoneStruct";
  if (!missing && !measure_head()) missing = "object.__basicsize__";
  if (missing && py.PyErr_Format && find("PyExc_ImportError"))
    py.PyErr_Format(dlp_00000000_py_exception("ImportError"), "this Python has no %s", missing);
  return missing;
}
