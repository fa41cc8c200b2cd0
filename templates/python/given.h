/* What came for the parameters of a call, by place or name, and scalars. Part of exchange.c. */
#ifndef DLPACKGEN_PYTHON_GIVEN_H_
#define DLPACKGEN_PYTHON_GIVEN_H_

#include <dlpackgen_python/place.h>

/* Arguments by name */

DLPACKGEN_SLOW static int dlpackgen_too_many(const struct dlpackgen_function *function, Py_ssize_t count) {
	PyErr_Format(PyExc_TypeError, "%s() takes %d argument%s, got %zd", function->name, function->count,
	    function->count == 1 ? "" : "s", count);
	return -1;
}

/* Gives the number of a parameter by its name; count for "stream", -1 for none. */
static int dlpackgen_named(const struct dlpackgen_function *function, PyObject *name) {
	for (int i = 0; i < function->count; i++)
		if (PyUnicode_CompareWithASCIIString(name, function->parameters[i].name) == 0) return i;
	return function->takes_stream && PyUnicode_CompareWithASCIIString(name, "stream") == 0 ? function->count : -1;
}

/* Says what is wrong with the argument stream, in place of what Python may have said. */
static int dlpackgen_wrong_stream(const struct dlpackgen_call *call, PyObject *stream) {
	PyObject *kind = PyErr_Occurred(), *name;
	const int is_large = kind && PyErr_GivenExceptionMatches(kind, PyExc_OverflowError);
	if (kind && !is_large && !PyErr_GivenExceptionMatches(kind, PyExc_TypeError)) return -1;
	PyErr_Clear();
	const char *got = dlpackgen_type_name(stream, &name);
	if (is_large)
		PyErr_Format(PyExc_OverflowError, "%s(): argument 'stream': %S is more than 63 bits", call->function->name, stream);
	else
		PyErr_Format(
		    PyExc_TypeError, "%s(): argument 'stream': expected int or None, got %s", call->function->name, got);
	Py_XDECREF(name);
	return -1;
}

static int dlpackgen_explicit_stream(struct dlpackgen_call *call, PyObject *stream) {
	if (stream == Py_None) return 0;
	if (PyBool_Check(stream)) return dlpackgen_wrong_stream(call, stream);
	call->number = PyLong_AsLongLong(stream);
	call->has_number = 1;
	if (call->number >= 0) return 0;
	if (PyErr_Occurred()) return dlpackgen_wrong_stream(call, stream);
	PyErr_Format(PyExc_ValueError, "%s(): argument 'stream': expected a number that is not negative, got %lld",
	    call->function->name, call->number);
	return -1;
}

/* Puts an argument that came by its name where it belongs. */
static int dlpackgen_put_named(struct dlpackgen_call *call, PyObject *name, PyObject *value, PyObject **given) {
	const struct dlpackgen_function *function = call->function;
	const int i = dlpackgen_named(function, name), is_stream = i == function->count;
	if (i < 0 || (is_stream ? call->named_stream : given[i] != NULL)) {
		PyErr_Format(PyExc_TypeError,
		    i < 0 ? "%s() got an unexpected keyword argument '%U'" : "%s() got two values for argument '%U'",
		    function->name, name);
		return -1;
	}
	if (!is_stream) given[i] = value;
	else call->named_stream = 1;
	return is_stream ? dlpackgen_explicit_stream(call, value) : 0;
}

static int dlpackgen_arrange(
    struct dlpackgen_call *call, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords, PyObject **given) {
	const struct dlpackgen_function *function = call->function;
	const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
	if (count > function->count) return dlpackgen_too_many(function, count);
	memset(given, 0, function->count * sizeof *given);
	memcpy(given, arguments, (size_t)count * sizeof *given);
	call->named_stream = 0;
	for (Py_ssize_t k = 0; k < named; k++)
		if (dlpackgen_put_named(call, PyTuple_GetItem(keywords, k), arguments[count + k], given)) return -1;
	return 0;
}

/* Scalars, and what was left out */

static int dlpackgen_wrong_scalar(const struct dlpackgen_call *call, int i, const char *expected) {
	PyObject *name;
	if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return dlpackgen_about(call->function, i);
	PyErr_Clear();
	const char *got = dlpackgen_type_name(call->arguments[i].object, &name);
	dlpackgen_fault(call, i, PyExc_TypeError, "expected %s, got %s", expected, got);
	Py_XDECREF(name);
	return -1;
}

static int dlpackgen_read_scalar(struct dlpackgen_call *call, int i) {
	struct dlpackgen_argument *a = &call->arguments[i];
	switch (call->function->parameters[i].kind) {
		case dlpackgen_int:
			a->integer = PyLong_AsLongLong(a->object);
			return a->integer == -1 && PyErr_Occurred() ? dlpackgen_wrong_scalar(call, i, "int") : 0;
		case dlpackgen_float:
			a->real = PyFloat_AsDouble(a->object);
			return a->real == -1 && PyErr_Occurred() ? dlpackgen_wrong_scalar(call, i, "float") : 0;
		default:
			a->integer = a->object == Py_True;
			return PyBool_Check(a->object) ? 0 : dlpackgen_wrong_scalar(call, i, "bool");
	}
}

/* Tells whether a scalar is read without running code of Python. */
DLPACKGEN_FAST int dlpackgen_is_plain(PyObject *object) {
	return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object);
}

DLPACKGEN_SLOW static int dlpackgen_left_out(struct dlpackgen_call *call, int i) {
	const struct dlpackgen_parameter *p = &call->function->parameters[i];
	struct dlpackgen_argument *a = &call->arguments[i];
	static const char *const kinds[] = {"a tensor", "int", "float", "bool"};
	if (!p->optional && a->object)
		return dlpackgen_fault(call, i, PyExc_TypeError, "expected %s, got None", kinds[p->kind]);
	if (!p->optional) return dlpackgen_fault(call, i, PyExc_TypeError, "it is missing");
	memset(a, 0, sizeof *a);
	a->integer = p->int_default;
	a->real = p->float_default;
	return 0;
}

#endif
