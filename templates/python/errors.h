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

/* The same where one result says it all: a new reference, or NULL, with an exception
 * only where the lookup failed. */
static PyObject* dlpackgen_imported(const char* module, const char* name) {
  PyObject* value;
  (void)dlpackgen_find_imported(module, name, &value);
  return value;
}

/* Converts an int, or what has __index__: 0, or -1 with an exception. */
static int dlpackgen_number(PyObject* object, long long* number) {
  *number = PyLong_AsLongLong(object);
  return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Forgets an exception that another one takes the place of. */
static void dlpackgen_drop_pending(struct dlpackgen_pending* pending) {
  Py_CLEAR(pending->kind);
  Py_CLEAR(pending->value);
  Py_CLEAR(pending->trace);
}

/* Room for a sentence of the checker, which is cut beyond that: the shape and strides of a
 * tensor with all dimensions fit. */
enum { DLPACKGEN_SENTENCE = 4096 };

/* The class that a status of the checker is raised by. */
static PyObject* dlpackgen_class_of(int status) {
  switch (status) {
#define DLPACKGEN_STATUS(name, exception, number) \
  case number: return PyExc_##exception;
    DLPACKGEN_STATUSES(DLPACKGEN_STATUS)
#undef DLPACKGEN_STATUS
    default: return PyExc_RuntimeError;
  }
}

/* Gives the text of a message, in which bytes that are no UTF-8 are replaced: a new reference. */
static PyObject* dlpackgen_message_text(const struct dlpackgen_message* message) {
  return PyUnicode_DecodeUTF8(message->text, (Py_ssize_t)strlen(message->text), "replace");
}

/* Raises what the checker says. Gives -1. */
DLPACKGEN_SLOW static int dlpackgen_raise(int status, const struct dlpackgen_message* message) {
  PyObject* text = dlpackgen_message_text(message);
  if (text) PyErr_SetObject(dlpackgen_class_of(status), text);
  Py_XDECREF(text);
  return -1;
}

/* Sets an exception of a text, which it takes, about an argument. */
static void dlpackgen_say(const struct dlpackgen_function* function, int argument, PyObject* kind, PyObject* text) {
  char room[DLPACKGEN_SENTENCE];
  struct dlpackgen_message where = dlpackgen_message_in(room, sizeof room);
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
  dlpackgen_say(call->function, argument, kind, PyUnicode_FromFormatV(format, values));
  va_end(values);
  return -1;
}

/* The built-in class by which an exception is raised again with the argument that it is
 * about: NULL for exhausted resources and for what is no Exception, such as
 * KeyboardInterrupt, which are about none. */
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

/* Forgets the exception of a call that may fail: 0, or -1 where it must not be forgotten. */
static int dlpackgen_pass_over(void) {
  struct dlpackgen_pending failure = dlpackgen_catch();
  if (!dlpackgen_kind_of(failure.value)) {
    dlpackgen_resume(failure);
    return -1;
  }
  dlpackgen_drop_pending(&failure);
  return 0;
}

/* Gives the text of an exception, or the name of its class where str() fails: a new
 * reference, or NULL with an exception. */
static PyObject* dlpackgen_exception_text(PyObject* exception) {
  PyObject* text = PyObject_Str(exception);
  if (text) return text;
  return dlpackgen_pass_over() ? NULL : PyType_GetName(Py_TYPE(exception));
}

/* Makes an exception the cause of the one that has just been raised with its text, unless
 * another one, such as a MemoryError, was raised instead. One that C has raised and that
 * is of the same class says nothing more: its own cause and context take its place, so
 * that no message is printed twice. Takes it. */
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

/* Says which argument the exception that is set is about: the same kind again. */
DLPACKGEN_SLOW static int dlpackgen_about(const struct dlpackgen_function* function, int argument) {
  struct dlpackgen_pending former = dlpackgen_catch();
  PyObject* kind = dlpackgen_kind_of(former.value);
  if (!kind) {
    dlpackgen_resume(former);
    return -1;
  }
  dlpackgen_say(function, argument, kind, dlpackgen_exception_text(former.value));
  dlpackgen_chain(kind, &former);
  return -1;
}

/* Makes sure that what failed has set an exception, as not all tables do. */
static int dlpackgen_failed(PyObject* kind, const char* otherwise) {
  if (!PyErr_Occurred()) PyErr_SetString(kind, otherwise);
  return -1;
}

/* Gives "cuda:0". */
static const char* dlpackgen_device_text(DLDevice device, char room[32]) {
  struct dlpackgen_message text = dlpackgen_message_in(room, 32);
  dlpackgen_put_device(&text, device);
  return room;
}

/* Turns what a producer raised when it was asked for a tensor into the BufferError by
 * which the array API says so (`__dlpack__`, "Raises"), with the producer's own as its
 * cause. A class that is given in place of an object is a TypeError, and stays so. Gives
 * -1. */
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
