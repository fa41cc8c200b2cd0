//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#define _GNU_SOURCE
#include "python.h"

#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

#define py dlp_00000000_py_python

/* Exceptions */

/* Copies a Python string, and releases it. */
static char* text_of(PyObject* string) {
  Py_ssize_t size = 0;
  const char* text = string ? py.PyUnicode_AsUTF8AndSize(string, &size) : NULL;
  char* made = text ? malloc((size_t)size + 1) : NULL;
  if (made) memcpy(made, text, (size_t)size + 1);
  py.Py_DecRef(string);
  py.PyErr_Clear();
  return made;
}

struct dlp_00000000_py_raised dlp_00000000_py_fetch(void) {
  struct dlp_00000000_py_raised raised = {0};
  PyObject *kind, *value, *trace;
  py.PyErr_Fetch(&kind, &value, &trace);
  if (!kind) return raised;
  py.PyErr_NormalizeException(&kind, &value, &trace);
  if (trace) {
    py.PyException_SetTraceback(value, trace);
    py.Py_DecRef(trace);
  }
  raised.kind = text_of(py.PyObject_GetAttrString(kind, "__name__"));
  raised.text = text_of(py.PyObject_Str(value));
  raised.exception = (uintptr_t)value;
  py.Py_DecRef(kind);
  return raised;
}

void dlp_00000000_py_raise(const char* kind, const char* text, uintptr_t cause) {
  PyObject *type = cause ? py.PyObject_Type((PyObject*)cause) : NULL, *value, *trace;
  bool foreign = cause && type != dlp_00000000_py_exception(kind);
  if (foreign) py.PyErr_SetObject(type, (PyObject*)cause);
  else py.PyErr_SetString(dlp_00000000_py_exception(kind), text);
  py.Py_DecRef(type);
  if (!cause || foreign) return;
  py.PyErr_Fetch(&type, &value, &trace);
  py.PyErr_NormalizeException(&type, &value, &trace);
  py.Py_IncRef((PyObject*)cause);
  py.PyException_SetCause(value, (PyObject*)cause); /* takes that reference */
  py.PyErr_Restore(type, value, trace);
}

bool dlp_00000000_py_pending(void) { return py.PyErr_Occurred() != NULL; }

void dlp_00000000_py_clear(void) { py.PyErr_Clear(); }

/* The GIL */

static void wait_a_little(void) {
#ifdef _WIN32
  Sleep(10);
#else
  nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
#endif
}

/* While Python shuts down, a thread that releases the GIL cannot acquire it again. */
void* dlp_00000000_py_unlock(void) { return py.finalizing && py.finalizing() ? NULL : py.PyEval_SaveThread(); }

/* While Python shuts down, a thread that needs the GIL blocks forever: some versions of Python
 * would end the thread, which would crash Go. */
void dlp_00000000_py_lock(void* state) {
  if (!state) return;
  while (py.finalizing && py.finalizing()) wait_a_little();
  py.PyEval_RestoreThread(state);
}

/* Values */

/* Other types convert their objects by methods, which may run any code. */
static bool is_plain_number(PyObject* object) {
  PyObject* type = py.PyObject_Type(object);
  py.Py_DecRef(type); /* the object owns it */
  return type == py.Int || type == py.Float || type == py.Bool;
}

static void after_number(uintptr_t call, PyObject* object, bool failed) {
  if (!failed && ((struct dlp_00000000_py_call*)call)->borrowed && !is_plain_number(object))
    dlp_00000000_py_recheck(call);
}

struct dlp_00000000_py_int dlp_00000000_py_to_int(uintptr_t call, intptr_t i) {
  PyObject* object = ((struct dlp_00000000_py_call*)call)->arguments[i];
  struct dlp_00000000_py_int number = {.value = py.PyLong_AsLongLong(object)};
  number.failed = number.value == -1 && py.PyErr_Occurred();
  after_number(call, object, number.failed);
  return number;
}

struct dlp_00000000_py_float dlp_00000000_py_to_float(uintptr_t call, intptr_t i) {
  PyObject* object = ((struct dlp_00000000_py_call*)call)->arguments[i];
  struct dlp_00000000_py_float number = {.value = py.PyFloat_AsDouble(object)};
  number.failed = number.value == -1 && py.PyErr_Occurred();
  after_number(call, object, number.failed);
  return number;
}

struct dlp_00000000_py_text dlp_00000000_py_to_text(uintptr_t object) {
  struct dlp_00000000_py_text text = {0};
  text.bytes = py.PyUnicode_AsUTF8AndSize((PyObject*)object, &text.size);
  return text;
}

uintptr_t dlp_00000000_py_none(void) { return dlp_00000000_py_same((uintptr_t)py.None); }

uintptr_t dlp_00000000_py_same(uintptr_t object) {
  py.Py_IncRef((PyObject*)object);
  return object;
}

uintptr_t dlp_00000000_py_from_bool(bool value) { return (uintptr_t)py.PyBool_FromLong(value); }

uintptr_t dlp_00000000_py_from_int(int64_t value) { return (uintptr_t)py.PyLong_FromLongLong(value); }

uintptr_t dlp_00000000_py_from_float(double value) { return (uintptr_t)py.PyFloat_FromDouble(value); }

uintptr_t dlp_00000000_py_from_text(const char* bytes, intptr_t size) {
  return (uintptr_t)py.PyUnicode_FromStringAndSize(bytes, size);
}

uintptr_t dlp_00000000_py_new_tuple(intptr_t size) { return (uintptr_t)py.PyTuple_New(size); }

void dlp_00000000_py_put(uintptr_t tuple, intptr_t i, uintptr_t element) {
  py.PyTuple_SetItem((PyObject*)tuple, i, (PyObject*)element);
}

void dlp_00000000_py_drop(uintptr_t object) { py.Py_DecRef((PyObject*)object); }
