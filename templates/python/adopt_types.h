/*
 * Recognizes the types of other libraries. The names in sys.modules and the attributes of
 * modules are anyone's to change, and some programs do: paddle.enable_compat() puts
 * Paddle's modules in the place of torch's. A type that is defined in C keeps its name.
 */
#ifndef DLPACKGEN_PYTHON_ADOPT_TYPES_H_
#define DLPACKGEN_PYTHON_ADOPT_TYPES_H_

#include <stdlib.h>
#include <string.h>
#include "adopted.h"
#include "errors.h"

/* Compares two strings of Python's, one of which it drops: 1, 0, or -1 with an exception. */
static int dlpackgen_is_text(PyObject* text, const char* expected) {
  const int is = text ? PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, expected) == 0 : -1;
  Py_XDECREF(text);
  return is;
}

/* Whether a type is called so, as above. */
static int dlpackgen_is_named(PyObject* type, const char* module, const char* name) {
  const int is = dlpackgen_is_text(PyType_GetName((PyTypeObject*)type), name);
  return is > 0 ? dlpackgen_is_text(PyObject_GetAttrString(type, "__module__"), module) : is;
}

/* Finds the type of that name that is defined in C, and so cannot be renamed, among a type
 * and those whose memory layout it extends: a borrowed reference, or NULL, with an
 * exception only where a lookup failed. */
static PyObject* dlpackgen_c_base(PyObject* type, const char* module, const char* name) {
  for (; type; type = (PyObject*)PyType_GetSlot((PyTypeObject*)type, Py_tp_base)) {
    if (PyType_GetFlags((PyTypeObject*)type) & Py_TPFLAGS_HEAPTYPE) continue;
    const int is = dlpackgen_is_named(type, module, name);
    if (is) return is > 0 ? type : NULL;
  }
  return NULL;
}

/* Whether native readers may be used: not where the program's environment turns them off. */
static int dlpackgen_native_readers_are_on(void) {
  const char* off = getenv("DLPACKGEN_NO_NATIVE_READERS");
  return !off || !*off || strcmp(off, "0") == 0;
}

#endif /* DLPACKGEN_PYTHON_ADOPT_TYPES_H_ */
