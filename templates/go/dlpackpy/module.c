//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "python.h"

#include <stdlib.h>
#ifndef _WIN32
#include <pthread.h>
#endif

#define py dlp_00000000_py_python

/* A forked process has no threads of Go, so Go would wait forever. */
static bool forked;

#ifdef _WIN32
static bool watch_forks(void) { return true; }
#else
static void is_forked(void) { forked = true; }

static bool watch_forks(void) {
  static bool watches;
  if (!watches) watches = pthread_atfork(NULL, NULL, is_forked) == 0;
  return watches;
}
#endif

static PyObject* run(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  const uintptr_t* number = py.PyModule_GetState(self);
  if (!number) return NULL;
  if (forked) {
    py.PyErr_SetString(dlp_00000000_py_exception("RuntimeError"),
                       "Go does not run in a forked process: start processes by spawn or forkserver");
    return NULL;
  }
  if (count > dlp_00000000_py_ARGUMENTS)
    return py.PyErr_Format(dlp_00000000_py_exception("TypeError"), "%zd arguments; at most %d", count,
                           dlp_00000000_py_ARGUMENTS);
  if (py.Py_EnterRecursiveCall(" in a function of Go")) return NULL;
  struct dlp_00000000_py_call call; /* accesses are written before they are read */
  call.function = *number;
  call.arguments = arguments;
  call.count = count;
  call.has_access = call.borrowed = 0;
  call.changed = 0;
  PyObject* result = (PyObject*)dlp_00000000_py_run(&call);
  dlp_00000000_py_forget(&call);
  py.Py_LeaveRecursiveCall();
  return result;
}

/* Creates a module, which exists until the process ends, like its definition and its code. The size
 * of the header before the definition's fields is known only at run time; Python fills it. The
 * process has one module, which interpreters with a separate GIL cannot use. */
static PyObject* new_module(const char* name, const char* doc, Py_ssize_t size) {
  char* memory = calloc(1, py.head + sizeof(PyModuleDef));
  if (!memory) return py.PyErr_NoMemory();
  *(PyModuleDef*)(void*)(memory + py.head) = (PyModuleDef){.name = name, .doc = doc, .size = size};
  return py.PyModule_Create2((PyModuleDef*)(void*)memory, PYTHON_ABI_VERSION);
}

/* Python passes self to a C function; here, self identifies the function in Go. It is a module of
 * the same name, because Python names functions by the type of any other self. */
bool dlp_00000000_py_add(uintptr_t module, const char* home, const char* name, const char* doc, uintptr_t number) {
  PyMethodDef* made = calloc(1, sizeof *made);
  PyObject* self = made ? new_module(home, NULL, sizeof number) : py.PyErr_NoMemory();
  PyObject* of = self ? py.PyObject_GetAttrString((PyObject*)module, "__name__") : NULL;
  if (!of) return false;
  *(uintptr_t*)py.PyModule_GetState(self) = number;
  *made = (PyMethodDef){name, (PyCFunction)(void (*)(void))run, METH_FASTCALL, doc};
  PyObject* function = py.PyCFunction_NewEx(made, self, of);
  bool added = function && !py.PyObject_SetAttrString((PyObject*)module, name, function);
  py.Py_DecRef(function);
  py.Py_DecRef(of);
  py.Py_DecRef(self);
  return added;
}

uintptr_t dlp_00000000_py_module(const char* name, const char* doc, const char* tensor) {
  PyObject* module = watch_forks() ? new_module(name, doc, -1) : py.PyErr_NoMemory();
  PyObject* type = module ? dlp_00000000_py_tensor_type(tensor) : NULL;
  if (type && !py.PyObject_SetAttrString(module, "Tensor", type)) return (uintptr_t)module;
  py.Py_DecRef(module);
  return 0;
}
