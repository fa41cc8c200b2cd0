/* Exceptions and their texts, and lookups of optional attributes and modules. Part of
 * dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_ERRORS_H_
#define DLPACKGEN_PYTHON_ERRORS_H_

#include <dlpackgen/checker.h>
#include "state.h"

/* An exception that is saved while other Python code runs. No Python code may run while an
 * exception is set, and the result of a call, not the current exception, indicates a failure. */
struct dlpackgen_pending {
  PyObject *kind, *value, *trace;
};

static struct dlpackgen_pending dlpackgen_suspend(void) {
  struct dlpackgen_pending pending;
  PyErr_Fetch(&pending.kind, &pending.value, &pending.trace);
  return pending;
}

static void dlpackgen_resume(struct dlpackgen_pending pending) {
  PyErr_Restore(pending.kind, pending.value, pending.trace);
}

/* Takes the exception of a failed call. If a library failed without setting an exception, this is a
 * SystemError. */
static struct dlpackgen_pending dlpackgen_catch(void) {
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "a call failed without an exception");
  struct dlpackgen_pending caught = dlpackgen_suspend();
  PyErr_NormalizeException(&caught.kind, &caught.value, &caught.trace);
  if (caught.trace) PyException_SetTraceback(caught.value, caught.trace);
  return caught;
}

/* Returns the result of an attribute lookup that returned a value or NULL. */
static int dlpackgen_looked_up(const PyObject* value) {
  if (value) return 1;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
  PyErr_Clear();
  return 0;
}

/* Looks up an optional attribute. Returns 1 with a new reference, 0 if it is missing, or -1 with an
 * exception. */
static int dlpackgen_find(PyObject* object, const char* name, PyObject** value) {
  *value = PyObject_GetAttrString(object, name);
  return dlpackgen_looked_up(*value);
}

static int dlpackgen_find_name(PyObject* object, PyObject* name, PyObject** value) {
  *value = PyObject_GetAttr(object, name);
  return dlpackgen_looked_up(*value);
}

/* Looks up a module that may not be imported yet, as above. */
static int dlpackgen_find_module(PyObject* name, PyObject** module) {
  *module = name ? PyImport_GetModule(name) : NULL;
  if (*module) return 1;
  return PyErr_Occurred() ? -1 : 0; /* with which that function reports the reason for NULL */
}

/* Looks up a name in a module that may not be imported yet, as above. */
static int dlpackgen_find_imported(const char* module, const char* name, PyObject** value) {
  PyObject *key = PyUnicode_FromString(module), *found;
  int result = dlpackgen_find_module(key, &found);
  *value = NULL;
  if (result > 0) result = dlpackgen_find(found, name, value);
  Py_XDECREF(key);
  Py_XDECREF(found);
  return result;
}

/* The same with one result: a new reference, or NULL, with an exception only if the lookup
 * failed. */
static PyObject* dlpackgen_imported(const char* module, const char* name) {
  PyObject* value;
  (void)dlpackgen_find_imported(module, name, &value);
  return value;
}

/* Converts an int, or an object with __index__. Returns 0, or -1 with an exception. */
static int dlpackgen_number(PyObject* object, long long* number) {
  *number = PyLong_AsLongLong(object);
  return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Releases a saved exception that another one replaces. */
static void dlpackgen_drop_pending(struct dlpackgen_pending* pending) {
  Py_CLEAR(pending->kind);
  Py_CLEAR(pending->value);
  Py_CLEAR(pending->trace);
}

/* The maximum size of a message of the checker; longer ones are truncated. The shape and strides of
 * a tensor with the maximum rank fit. */
enum { DLPACKGEN_SENTENCE = 4096 };

/* The exception class for a status of the checker. */
static PyObject* dlpackgen_class_of(int status) {
  switch (status) {
#define DLPACKGEN_STATUS(name, exception, number) \
  case number: return PyExc_##exception;
    DLPACKGEN_STATUSES(DLPACKGEN_STATUS)
#undef DLPACKGEN_STATUS
    default: return PyExc_RuntimeError;
  }
}

/* Returns the text of a message as a new reference. Invalid UTF-8 is replaced. */
static PyObject* dlpackgen_message_text(const struct dlpackgen_message* message) {
  return PyUnicode_DecodeUTF8(message->text, (Py_ssize_t)strlen(message->text), "replace");
}

/* Raises the checker's error. Returns -1. */
DLPACKGEN_SLOW static int dlpackgen_raise(int status, const struct dlpackgen_message* message) {
  PyObject* text = dlpackgen_message_text(message);
  if (text) PyErr_SetObject(dlpackgen_class_of(status), text);
  Py_XDECREF(text);
  return -1;
}

/* Sets an exception about an argument, with a text whose reference it takes over. */
static void dlpackgen_set_text(const struct dlpackgen_function* function, int argument, PyObject* kind,
                               PyObject* text) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message where = dlpackgen_message_in(buffer, sizeof buffer);
  const struct dlpackgen_site at = dlpackgen_site_of(function, argument);
  dlpackgen_put_site(&where, &at);
  PyObject* which = text ? dlpackgen_message_text(&where) : NULL;
  if (which) PyErr_Format(kind, "%U%U", which, text);
  Py_XDECREF(which);
  Py_XDECREF(text);
}

DLPACKGEN_PYTHON_API int dlpackgen_argument_error(const struct dlpackgen_call* call, int argument, PyObject* kind,
                                                  const char* format, ...) {
  va_list values;
  va_start(values, format);
  dlpackgen_set_text(call->function, argument, kind, PyUnicode_FromFormatV(format, values));
  va_end(values);
  return -1;
}

/* The built-in class with which an exception is raised again, together with the name of its
 * argument. NULL for exhausted resources, and for exceptions outside of Exception, such as
 * KeyboardInterrupt, which do not concern an argument. */
static PyObject* dlpackgen_kind_of(PyObject* exception) {
  PyObject* kinds[] = {
      PyExc_BufferError, PyExc_TypeError,      PyExc_OverflowError,
      PyExc_ValueError,  PyExc_AttributeError, PyExc_NotImplementedError,
  };
  if (PyErr_GivenExceptionMatches(exception, PyExc_MemoryError)) return NULL;
  if (PyErr_GivenExceptionMatches(exception, PyExc_RecursionError)) return NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (PyErr_GivenExceptionMatches(exception, kinds[i])) return kinds[i];
  return PyErr_GivenExceptionMatches(exception, PyExc_Exception) ? PyExc_RuntimeError : NULL;
}

/* Clears the exception of a call that may fail. Returns 0, or -1 if the exception must be
 * propagated. */
static int dlpackgen_pass_over(void) {
  struct dlpackgen_pending failure = dlpackgen_catch();
  if (!dlpackgen_kind_of(failure.value)) {
    dlpackgen_resume(failure);
    return -1;
  }
  dlpackgen_drop_pending(&failure);
  return 0;
}

/* Returns the text of an exception, or the name of its class if str() fails: a new reference, or
 * NULL with an exception. */
static PyObject* dlpackgen_exception_text(PyObject* exception) {
  PyObject* text = PyObject_Str(exception);
  if (text) return text;
  return dlpackgen_pass_over() ? NULL : PyType_GetName(Py_TYPE(exception));
}

/* Sets an exception as the cause of the current one, which was raised with its text, unless another
 * exception, such as a MemoryError, was raised instead. If C code raised it with the same class, it
 * adds no information: its own cause and context are used instead, so that no message is printed
 * twice. Takes over the reference. */
static void dlpackgen_chain(PyObject* kind, struct dlpackgen_pending* former) {
  struct dlpackgen_pending made = dlpackgen_catch();
  const int adds = former->trace || !Py_IS_TYPE(former->value, (PyTypeObject*)kind);
  PyObject* cause = adds ? Py_NewRef(former->value) : PyException_GetCause(former->value);
  PyObject* context = adds ? NULL : PyException_GetContext(former->value);
  const int fits = Py_IS_TYPE(made.value, (PyTypeObject*)kind);
  if (fits && context) PyException_SetContext(made.value, Py_NewRef(context));
  if (fits && cause) PyException_SetCause(made.value, Py_NewRef(cause));
  Py_XDECREF(context);
  Py_XDECREF(cause);
  dlpackgen_drop_pending(former);
  dlpackgen_resume(made);
}

/* Raises the current exception again, with the same class and the name of the argument. */
DLPACKGEN_SLOW static int dlpackgen_about(const struct dlpackgen_function* function, int argument) {
  struct dlpackgen_pending former = dlpackgen_catch();
  PyObject* kind = dlpackgen_kind_of(former.value);
  if (!kind) {
    dlpackgen_resume(former);
    return -1;
  }
  dlpackgen_set_text(function, argument, kind, dlpackgen_exception_text(former.value));
  dlpackgen_chain(kind, &former);
  return -1;
}

/* Ensures that a failed call has set an exception, because not all tables do. */
static int dlpackgen_failed(PyObject* kind, const char* otherwise) {
  if (!PyErr_Occurred()) PyErr_SetString(kind, otherwise);
  return -1;
}

/* Returns text such as "cuda:0". */
static const char* dlpackgen_device_text(DLDevice device, char buffer[32]) {
  struct dlpackgen_message text = dlpackgen_message_in(buffer, 32);
  dlpackgen_put_device(&text, device);
  return buffer;
}

/* Converts an exception of a producer's __dlpack__ to the BufferError that the array API specifies
 * (`__dlpack__`, "Raises"), with the original as its cause. The TypeError for a class instead of an
 * object is not converted. Returns -1. */
DLPACKGEN_SLOW static int dlpackgen_not_exported(PyObject* object) {
  struct dlpackgen_pending former = dlpackgen_catch();
  PyObject* kind = PyType_Check(object) ? NULL : dlpackgen_kind_of(former.value);
  if (!kind || kind == PyExc_BufferError) {
    dlpackgen_resume(former);
    return -1;
  }
  PyObject* text = dlpackgen_exception_text(former.value);
  PyObject* name = text ? PyType_GetName(Py_TYPE(object)) : NULL;
  if (name) PyErr_Format(PyExc_BufferError, "%U was not exported: %U", name, text);
  Py_XDECREF(name);
  Py_XDECREF(text);
  dlpackgen_chain(PyExc_BufferError, &former);
  return -1;
}

#endif
