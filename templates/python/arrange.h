/* Assigns the arguments of a call, positional or keyword, to its parameters, and converts scalars.
 * Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_ARRANGE_H_
#define DLPACKGEN_PYTHON_ARRANGE_H_

#include "stream.h"

/* Keyword arguments */

/* The names of a function's arguments, at a fixed distance in bytes. Those after the positional
 * ones, and stream, are keyword-only. */
struct dlpackgen_names {
  const char* function;
  const char* const* first;
  size_t step;
  int positional, count, takes_stream;
};

static struct dlpackgen_names dlpackgen_names_of(const struct dlpackgen_function* function) {
  struct dlpackgen_names names = {function->name, NULL, sizeof *function->parameters, 0, 0, function->takes_stream};
  names.positional = names.count = function->nparameters;
  if (names.count > 0) names.first = &function->parameters[0].name;
  return names;
}

DLPACKGEN_SLOW static int dlpackgen_too_many(const struct dlpackgen_names* names, Py_ssize_t count) {
  PyErr_Format(PyExc_TypeError, "%s() takes %d argument%s, got %zd", names->function, names->positional,
               names->positional == 1 ? "" : "s", count);
  return -1;
}

/* Returns the index of an argument by its name; count for "stream", -1 if there is none. */
static int dlpackgen_named(const struct dlpackgen_names* names, PyObject* name) {
  for (int i = 0; i < names->count; i++) {
    const char* const one = *(const char* const*)((const char*)names->first + (size_t)i * names->step);
    if (PyUnicode_CompareWithASCIIString(name, one) == 0) return i;
  }
  return names->takes_stream && PyUnicode_CompareWithASCIIString(name, "stream") == 0 ? names->count : -1;
}

/* Returns the name of an unexpected type, as a new reference. If it is equal to the expected name,
 * it includes the module, as in "numpy.bool". */
DLPACKGEN_SLOW static PyObject* dlpackgen_other_name(PyObject* object, const char* expected) {
  PyObject *name = PyType_GetName(Py_TYPE(object)), *module = NULL, *full = NULL;
  if (!name || PyUnicode_CompareWithASCIIString(name, expected) != 0) return name;
  const int found = dlpackgen_find((PyObject*)Py_TYPE(object), "__module__", &module);
  if (found > 0 && PyUnicode_Check(module)) full = PyUnicode_FromFormat("%U.%U", module, name);
  else if (found >= 0 || !dlpackgen_pass_over()) full = PyUnicode_FromFormat("another %U", name);
  Py_XDECREF(module);
  Py_DECREF(name);
  return full;
}

static int dlpackgen_wrong_stream(const struct dlpackgen_call* call, PyObject* stream) {
  PyObject* name = dlpackgen_other_name(stream, "int");
  if (name)
    PyErr_Format(PyExc_TypeError, "%s(): argument 'stream': expected int or None, got %U", call->function->name, name);
  Py_XDECREF(name);
  return -1;
}

/* Replaces the exception of the conversion of the argument stream. */
static int dlpackgen_no_number(const struct dlpackgen_call* call, PyObject* stream) {
  const int is_large = PyErr_ExceptionMatches(PyExc_OverflowError);
  if (!is_large && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
  PyErr_Clear();
  if (!is_large) return dlpackgen_wrong_stream(call, stream);
  PyErr_Format(PyExc_OverflowError, "%s(): argument 'stream': %S does not fit in 63 bits", call->function->name,
               stream);
  return -1;
}

static int dlpackgen_explicit_stream(struct dlpackgen_call* call, PyObject* stream) {
  if (stream == Py_None) return 0;
  if (PyBool_Check(stream)) return dlpackgen_wrong_stream(call, stream);
  if (dlpackgen_number(stream, &call->private_.number)) return dlpackgen_no_number(call, stream);
  call->private_.has_number = 1;
  if (call->private_.number >= 0) return 0;
  PyErr_Format(PyExc_ValueError, "%s(): argument 'stream': expected a non-negative number, got %lld",
               call->function->name, call->private_.number);
  return -1;
}

/* Stores a keyword argument at its index. */
static int dlpackgen_put_named(const struct dlpackgen_names* names, PyObject* name, PyObject* value,
                               PyObject** passed) {
  const int i = dlpackgen_named(names, name);
  if (i < 0 || passed[i] != NULL) {
    PyErr_Format(PyExc_TypeError,
                 i < 0 ? "%s() got an unexpected keyword argument '%U'" : "%s() got multiple values for argument '%U'",
                 names->function, name);
    return -1;
  }
  passed[i] = value;
  return 0;
}

/* Stores each argument at the index of its name, and the stream after all arguments. Missing
 * arguments are NULL. */
static int dlpackgen_arrange(const struct dlpackgen_names* names, PyObject* const* arguments, Py_ssize_t count,
                             PyObject* keywords, PyObject** passed) {
  const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
  if (count > names->positional) return dlpackgen_too_many(names, count);
  memset(passed, 0, ((size_t)names->count + 1) * sizeof *passed);
  memcpy(passed, arguments, (size_t)count * sizeof *passed);
  for (Py_ssize_t k = 0; k < named; k++)
    if (dlpackgen_put_named(names, PyTuple_GetItem(keywords, k), arguments[count + k], passed)) return -1;
  return 0;
}

/* Scalars and omitted arguments */

/* Raises the checker's error for an argument of a different kind than its parameter. */
static int dlpackgen_wrong_kind(const struct dlpackgen_call* call, int i, const char* got) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  const struct dlpackgen_site at = dlpackgen_site_of(call->function, i);
  return dlpackgen_raise(dlpackgen_bad_kind(&at, call->function->parameters[i].kind, got, &text), &text);
}

static int dlpackgen_wrong_scalar(const struct dlpackgen_call* call, int i, const char* expected) {
  PyObject* const object = call->arguments[i].object;
  PyObject* name = object == Py_None ? PyUnicode_FromString("None") : dlpackgen_other_name(object, expected);
  const char* got = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  const struct dlpackgen_site at = dlpackgen_site_of(call->function, i);
  if (got) dlpackgen_raise(dlpackgen_bad_type(&at, expected, got, &text), &text);
  Py_XDECREF(name);
  return -1;
}

/* Reports the failed conversion of a scalar. */
DLPACKGEN_SLOW static int dlpackgen_not_converted(const struct dlpackgen_call* call, int i, const char* expected) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return dlpackgen_about(call->function, i);
  PyErr_Clear();
  return dlpackgen_wrong_scalar(call, i, expected);
}

/* Returns the text of an int or a float as a new reference, or NULL with an exception. Python
 * converts no int of more than 4300 digits, and other hosts none of more than 1023 bits. */
DLPACKGEN_SLOW static PyObject* dlpackgen_number_text(PyObject* number) {
  if (!PyLong_Check(number)) return PyObject_Repr(number);
  PyObject* const bits = PyObject_CallMethod((PyObject*)&PyLong_Type, "bit_length", "O", number);
  const long count = bits ? PyLong_AsLong(bits) : -1;
  Py_XDECREF(bits);
  if (count < 0) return NULL;
  return count < 1024 ? PyNumber_ToBase(number, 10) : PyUnicode_FromString(DLPACKGEN_TEXT_LARGE);
}

/* Reports that a dtype cannot represent an int or a float. Returns -1. */
DLPACKGEN_SLOW static int dlpackgen_out_of_range(const struct dlpackgen_call* call, int i, const char* dtype,
                                                 PyObject* number) {
  PyObject* const text = dlpackgen_number_text(number);
  if (text) dlpackgen_argument_error(call, i, PyExc_OverflowError, "%s" DLPACKGEN_TEXT_OUT_OF_RANGE "%U", dtype, text);
  Py_XDECREF(text);
  return -1;
}

/* Reports the error of __index__. Returns -1. */
DLPACKGEN_SLOW static int dlpackgen_no_index(struct dlpackgen_call* call, int i, PyObject* value,
                                             const char* expected) {
  call->arguments[i].object = value;
  return dlpackgen_not_converted(call, i, expected);
}

/* Converts an integer of at most 64 bits: any object with __index__, which is called once. Returns
 * 0, or -1 with an exception. */
static int dlpackgen_to_integer(struct dlpackgen_call* call, int i, PyObject* value, const char* expected,
                                const char* dtype, long long* number) {
  if (PyLong_Check(value)) {
    if (!dlpackgen_number(value, number)) return 0;
    PyErr_Clear();
    return dlpackgen_out_of_range(call, i, dtype, value);
  }
  PyObject* const index = PyNumber_Index(value);
  if (!index) return dlpackgen_no_index(call, i, value, expected);
  const int failed = dlpackgen_to_integer(call, i, index, expected, dtype, number);
  Py_DECREF(index);
  return failed;
}

/* Reports why a float was not converted: only an int is too large for one. Returns -1. */
DLPACKGEN_SLOW static int dlpackgen_no_real(struct dlpackgen_call* call, int i, const char* expected) {
  PyObject* const value = call->arguments[i].object;
  if (!PyLong_Check(value) || !PyErr_ExceptionMatches(PyExc_OverflowError))
    return dlpackgen_not_converted(call, i, expected);
  PyErr_Clear();
  return dlpackgen_out_of_range(call, i, expected, value);
}

static int dlpackgen_read_int(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  long long number;
  if (dlpackgen_to_integer(call, i, a->object, "int", "int64", &number)) return -1;
  a->integer = number;
  return 0;
}

static int dlpackgen_read_float(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  a->real = PyFloat_AsDouble(a->object);
  return a->real == -1 && PyErr_Occurred() ? dlpackgen_no_real(call, i, "float") : 0;
}

/* Returns the value of True or False, of Python or NumPy, or 2 for other objects; -1 with an
 * exception. */
static int dlpackgen_bool_of(const struct dlpackgen_call* call, int i, PyObject* object) {
  PyObject* theirs = NULL;
  if (!PyBool_Check(object) && dlpackgen_find_imported("numpy", "bool_", &theirs) < 0)
    return dlpackgen_about(call->function, i);
  const int is_theirs = theirs == (PyObject*)Py_TYPE(object);
  Py_XDECREF(theirs);
  if (!is_theirs && !PyBool_Check(object)) return 2;
  const int truth = PyObject_IsTrue(object);
  return truth < 0 ? dlpackgen_about(call->function, i) : truth;
}

static int dlpackgen_read_bool(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  const int truth = dlpackgen_bool_of(call, i, a->object);
  if (truth == 2) return dlpackgen_wrong_scalar(call, i, "bool");
  a->integer = truth;
  return truth < 0 ? -1 : 0;
}

static int dlpackgen_read_scalar(struct dlpackgen_call* call, int i) {
  switch (call->function->parameters[i].kind) {
    case DLPACKGEN_KIND_INT: return dlpackgen_read_int(call, i);
    case DLPACKGEN_KIND_FLOAT: return dlpackgen_read_float(call, i);
    default: return dlpackgen_read_bool(call, i);
  }
}

/* Returns whether a scalar can be read without running Python code. */
DLPACKGEN_FAST int dlpackgen_is_plain(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object);
}

static int dlpackgen_reject_missing(const struct dlpackgen_call* call, int i) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  const struct dlpackgen_site at = dlpackgen_site_of(call->function, i);
  return dlpackgen_raise(dlpackgen_missing(&at, &text), &text);
}

DLPACKGEN_SLOW static int dlpackgen_left_out(struct dlpackgen_call* call, int i) {
  const struct dlpackgen_parameter* p = &call->function->parameters[i];
  struct dlpackgen_argument* a = &call->arguments[i];
  if (!p->optional && a->object) return dlpackgen_wrong_kind(call, i, "None");
  if (!p->optional) return dlpackgen_reject_missing(call, i);
  memset(a, 0, sizeof *a);
  a->integer = p->int_default;
  a->real = p->float_default;
  return 0;
}

#endif
