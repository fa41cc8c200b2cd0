/*
 * Recognizes the types of other libraries. Programs can change sys.modules and the attributes of
 * modules: paddle.enable_compat(), for example, replaces torch's modules with Paddle's. The name of
 * a type that is defined in C cannot be changed.
 */
#ifndef DLPACKGEN_PYTHON_READER_TYPES_H_
#define DLPACKGEN_PYTHON_READER_TYPES_H_

#include <stdlib.h>
#include <string.h>
#include "errors.h"
#include "readers.h"

/* Compares two Python strings and releases one of them. Returns 1, 0, or -1 with an exception. */
static int dlpackgen_is_text(PyObject* text, const char* expected) {
  const int is = text ? PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, expected) == 0 : -1;
  Py_XDECREF(text);
  return is;
}

/* Whether a type has the given name, as above. */
static int dlpackgen_is_named(PyObject* type, const char* module, const char* name) {
  const int is = dlpackgen_is_text(PyType_GetName((PyTypeObject*)type), name);
  return is > 0 ? dlpackgen_is_text(PyObject_GetAttrString(type, "__module__"), module) : is;
}

/* Finds the type with the given name that is defined in C, and can therefore not be renamed, among
 * a type and the bases whose memory layout it extends. Returns a borrowed reference, or NULL, with
 * an exception only if a lookup failed. */
static PyObject* dlpackgen_c_base(PyObject* type, const char* module, const char* name) {
  for (; type; type = (PyObject*)PyType_GetSlot((PyTypeObject*)type, Py_tp_base)) {
    if (PyType_GetFlags((PyTypeObject*)type) & Py_TPFLAGS_HEAPTYPE) continue;
    const int is = dlpackgen_is_named(type, module, name);
    if (is) return is > 0 ? type : NULL;
  }
  return NULL;
}

/* Whether native readers may be used, which an environment variable can disable. */
static int dlpackgen_native_readers_are_on(void) {
  const char* off = getenv("DLPACKGEN_NO_NATIVE_READERS");
  return !off || !*off || strcmp(off, "0") == 0;
}

#endif /* DLPACKGEN_PYTHON_READER_TYPES_H_ */
