/*
 * Determines the Paddle tensors for which Paddle's exchange table may be used. The table assumes
 * dense tensors and follows pointers that others lack (3.3.1 crashes on sparse tensors and after
 * _clear()), and it does not report gradients. Paddle defines is_dense and stop_gradient in C. They
 * run no Python code, allocate nothing and take a few nanoseconds, so they are queried right before
 * the table is used. If a program has replaced them, the tensors' methods are called instead,
 * before any tensor is read.
 */
#ifndef DLPACKGEN_PYTHON_READER_PADDLE_H_
#define DLPACKGEN_PYTHON_READER_PADDLE_H_

#include "reader_types.h"

/* The two descriptors of Paddle's type. Complete before it is published, and never freed. */
struct dlpackgen_paddle {
  PyObject *type, *stop_gradient, *no_arguments;
  PyCFunctionWithKeywords is_dense;
  descrgetfunc get;
};
static const struct dlpackgen_paddle* dlpackgen_paddle_known;

/* Returns 1 if a tensor is dense and does not require a gradient, so that its table may be used, or
 * 0 if its methods must be called. Leaves no exception. */
static int dlpackgen_paddle_is_plain(PyObject* object) {
  const struct dlpackgen_paddle* known = DLPACKGEN_LOAD(&dlpackgen_paddle_known);
  PyObject *stops = NULL, *dense = known->is_dense(object, known->no_arguments, NULL);
  if (dense == Py_True) stops = known->get(known->stop_gradient, object, known->type);
  const int is_plain = stops == Py_True;
  if (DLPACKGEN_RARE(!is_plain)) PyErr_Clear();
  Py_XDECREF(stops);
  Py_XDECREF(dense);
  return is_plain;
}

/* Looks up a descriptor that a type defines in C. Returns 1 with a new reference, 0 if the name has
 * another meaning, or -1 with an exception. */
static int dlpackgen_find_descriptor(PyObject* type, PyTypeObject* kind, const char* name, PyObject** found) {
  int is = dlpackgen_find(type, name, found);
  if (is > 0) is = Py_IS_TYPE(*found, kind);
  if (is <= 0) Py_CLEAR(*found);
  return is;
}

/* Returns the C function of a method by binding it to a tensor without memory; NULL, possibly with
 * an exception, if the method is of another kind. */
static PyCFunctionWithKeywords dlpackgen_wrapped_function(PyObject* type, PyObject* method, PyObject* no_arguments) {
  const newfunc make = (newfunc)(uintptr_t)PyType_GetSlot((PyTypeObject*)type, Py_tp_new);
  PyObject* empty = make ? make((PyTypeObject*)type, no_arguments, NULL) : NULL;
  PyObject* bound = empty ? PyObject_CallMethod(method, "__get__", "O", empty) : NULL;
  PyCFunctionWithKeywords function = NULL;
  if (bound && PyCFunction_CheckExact(bound) && PyCFunction_GetFlags(bound) == (METH_VARARGS | METH_KEYWORDS))
    function = (PyCFunctionWithKeywords)(void (*)(void))PyCFunction_GetFunction(bound);
  Py_XDECREF(bound);
  Py_XDECREF(empty);
  return function;
}

/* Looks up both. Returns 1, 0 if Paddle's type does not define them in this way, or -1 with an
 * exception. */
static int dlpackgen_paddle_find(PyObject* type, struct dlpackgen_paddle* found) {
  PyObject* is_dense = NULL;
  int is = dlpackgen_find_descriptor(type, &PyMethodDescr_Type, "is_dense", &is_dense);
  if (is > 0) is = dlpackgen_find_descriptor(type, &PyGetSetDescr_Type, "stop_gradient", &found->stop_gradient);
  if (is > 0 && !(found->no_arguments = PyTuple_New(0))) is = -1;
  if (is > 0) found->is_dense = dlpackgen_wrapped_function(type, is_dense, found->no_arguments);
  Py_XDECREF(is_dense);
  if (is <= 0) return is;
  if (!found->is_dense) return PyErr_Occurred() ? dlpackgen_pass_over() : 0;
  found->type = type;
  found->get = (descrgetfunc)(uintptr_t)PyType_GetSlot(Py_TYPE(found->stop_gradient), Py_tp_descr_get);
  return 1;
}

/* Publishes the descriptors once. Returns 1, or -1 with an exception. */
static int dlpackgen_paddle_publish(const struct dlpackgen_paddle* found) {
  if (DLPACKGEN_LOAD(&dlpackgen_paddle_known)) return 1;
  struct dlpackgen_paddle* kept = (struct dlpackgen_paddle*)malloc(sizeof *kept);
  if (!kept) {
    PyErr_NoMemory();
    return -1;
  }
  *kept = *found;
  Py_INCREF(kept->type);
  Py_INCREF(kept->stop_gradient);
  Py_INCREF(kept->no_arguments);
  DLPACKGEN_STORE(&dlpackgen_paddle_known, kept);
  return 1;
}

/* Returns whether dlpackgen_paddle_is_plain() may be called for tensors of Paddle's type: 1, 0, or
 * -1 with an exception. */
static int dlpackgen_paddle_open(PyObject* type) {
  struct dlpackgen_paddle found = {NULL, NULL, NULL, NULL, NULL};
  if (!dlpackgen_native_readers_are_on()) return 0;
  int opened = dlpackgen_paddle_find(type, &found);
  if (opened > 0) opened = dlpackgen_paddle_publish(&found);
  Py_XDECREF(found.stop_gradient);
  Py_XDECREF(found.no_arguments);
  return opened;
}

/* Returns Paddle's own tensor type for that type and for the type of parameters, which have the
 * same attributes: a new reference, or NULL, with an exception only if a lookup failed. */
static PyObject* dlpackgen_paddle_type(PyObject* type) {
  PyObject *tensor = dlpackgen_imported("paddle", "Tensor"), *parameter = NULL;
  if (!tensor || tensor == type) return tensor;
  if (PyType_Check(tensor) && PyType_IsSubtype((PyTypeObject*)type, (PyTypeObject*)tensor))
    parameter = dlpackgen_imported("paddle.base.framework", "EagerParamBase");
  if (!parameter || parameter != type) Py_CLEAR(tensor);
  Py_XDECREF(parameter);
  return tensor;
}

#endif /* DLPACKGEN_PYTHON_READER_PADDLE_H_ */
