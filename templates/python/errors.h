/* Exceptions and their texts, and looking for what may be missing. Part of exchange.c. */
#ifndef DLPACKGEN_PYTHON_ERRORS_H_
#define DLPACKGEN_PYTHON_ERRORS_H_

#include <dlpackgen_python/state.h>

/* An exception that is on its way, kept while other code of Python runs. */
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

/* Gives an attribute that may be missing: NULL, with an exception only where the
 * reason is another one, or one is on its way already. */
static PyObject *dlpackgen_optional(PyObject *object, const char *name) {
	if (PyErr_Occurred()) return NULL;
	PyObject *value = PyObject_GetAttrString(object, name);
	if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
	return value;
}

/* Gives what a module has under a name, if the module was imported: a new
 * reference, or NULL, with an exception only where looking failed. */
static PyObject *dlpackgen_imported(const char *module, const char *name) {
	PyObject *key = PyUnicode_FromString(module);
	PyObject *found = key ? PyImport_GetModule(key) : NULL;
	PyObject *value = found ? dlpackgen_optional(found, name) : NULL;
	Py_XDECREF(key);
	Py_XDECREF(found);
	return value;
}

/* Forgets an exception that another one takes the place of. */
static void dlpackgen_drop_pending(struct dlpackgen_pending *pending) {
	Py_CLEAR(pending->kind);
	Py_CLEAR(pending->value);
	Py_CLEAR(pending->trace);
}

/* Gives "3rd". */
static const char *dlpackgen_ordinal(int number, char room[16]) {
	static const char *const endings[] = {"th", "st", "nd", "rd"};
	const int last = number % 10, teen = number / 10 % 10 == 1;
	snprintf(room, 16, "%d%s", number, endings[teen || last > 3 ? 0 : last]);
	return room;
}

/* Gives "argument 'b' (2nd)" for a message; a new reference. */
static PyObject *dlpackgen_argument_text(const struct dlpackgen_function *function, int argument) {
	char room[16];
	return PyUnicode_FromFormat(
	    "argument '%s' (%s)", function->parameters[argument].name, dlpackgen_ordinal(argument + 1, room));
}

/* Sets an exception of a text, which it takes, about an argument. */
static void dlpackgen_say(const struct dlpackgen_function *function, int argument, PyObject *kind, PyObject *text) {
	PyObject *which = text ? dlpackgen_argument_text(function, argument) : NULL;
	if (which) PyErr_Format(kind, "%s(): %U: %U", function->name, which, text);
	Py_XDECREF(which);
	Py_XDECREF(text);
}

DLPACKGEN_PYTHON_API int dlpackgen_fault(
    const struct dlpackgen_call *call, int argument, PyObject *kind, const char *format, ...) {
	va_list values;
	va_start(values, format);
	dlpackgen_say(call->function, argument, kind, PyUnicode_FromFormatV(format, values));
	va_end(values);
	return -1;
}

/* The kinds of exception that get an argument's name. Others, such as
 * KeyboardInterrupt, are not about an argument. */
static PyObject *dlpackgen_kind_of(PyObject *exception) {
	PyObject *kinds[] = {
	    PyExc_BufferError,
	    PyExc_TypeError,
	    PyExc_OverflowError,
	    PyExc_ValueError,
	    PyExc_AttributeError,
	    PyExc_NotImplementedError,
	    PyExc_RuntimeError,
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (PyErr_GivenExceptionMatches(exception, kinds[i])) return kinds[i];
	return NULL;
}

/* Puts a cause, which it takes, behind the exception that is set. */
static void dlpackgen_because(PyObject *cause) {
	struct dlpackgen_pending made = dlpackgen_suspend();
	PyErr_NormalizeException(&made.kind, &made.value, &made.trace);
	if (made.value) PyException_SetCause(made.value, cause);
	else Py_XDECREF(cause);
	dlpackgen_resume(made);
}

/* Gives what an exception is to be the cause of another for: itself or, where it is one
 * of dlpackgen_not_exported(), which tells nothing more, what is behind it. Takes it. */
static PyObject *dlpackgen_cause_in(PyObject *exception, PyObject *trace) {
	PyObject *behind = trace || !Py_IS_TYPE(exception, (PyTypeObject *)PyExc_BufferError)
	    ? NULL
	    : PyException_GetCause(exception);
	if (!behind) return exception;
	Py_DECREF(exception);
	return behind;
}

/* Says which argument the exception that is set is about: the same kind again,
 * with what was there as its cause. */
DLPACKGEN_SLOW static int dlpackgen_about(const struct dlpackgen_function *function, int argument) {
	struct dlpackgen_pending cause = dlpackgen_suspend();
	PyErr_NormalizeException(&cause.kind, &cause.value, &cause.trace);
	PyObject *kind = cause.value ? dlpackgen_kind_of(cause.kind) : NULL;
	if (!kind) {
		dlpackgen_resume(cause);
		return -1;
	}
	if (cause.trace) PyException_SetTraceback(cause.value, cause.trace);
	dlpackgen_say(function, argument, kind, PyObject_Str(cause.value));
	dlpackgen_because(dlpackgen_cause_in(cause.value, cause.trace));
	Py_XDECREF(cause.kind);
	Py_XDECREF(cause.trace);
	return -1;
}

/* Makes sure that what failed has set an exception, as not all tables do. */
static int dlpackgen_failed(PyObject *kind, const char *otherwise) {
	if (!PyErr_Occurred()) PyErr_SetString(kind, otherwise);
	return -1;
}

/* Gives "float32x4". */
static const char *dlpackgen_dtype_text(uint32_t dtype, char room[64]) {
	const uint32_t lanes = dtype >> 16;
	const char *name = dlpackgen_dtype_name((dtype & 0xffff) | UINT32_C(1) << 16);
	const char *code = dlpack_type_code_name((uint8_t)(dtype & 0xff));
	if (!name)
		snprintf(room, 64, "%s of %u bits and %u lanes", code ? code : "an unknown code", dtype >> 8 & 0xff, lanes);
	else if (lanes == 1) snprintf(room, 64, "%s", name);
	else snprintf(room, 64, "%sx%u", name, lanes);
	return room;
}

/* Gives "cuda:0". */
static const char *dlpackgen_device_text(DLDevice device, char room[32]) {
	const char *name = dlpackgen_device_name((int32_t)device.device_type);
	if (name) snprintf(room, 32, "%s:%d", name, (int)device.device_id);
	else snprintf(room, 32, "device %d:%d", (int)device.device_type, (int)device.device_id);
	return room;
}

/* Puts "a, b or c" together: the i-th of so many texts. */
static void dlpackgen_list(char *text, size_t size, int i, int count, const char *next) {
	const size_t used = strlen(text);
	snprintf(text + used, size - used, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", next);
}

static const char *dlpackgen_type_name(PyObject *object, PyObject **name) {
	*name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
	const char *text = *name && PyUnicode_Check(*name) ? PyUnicode_AsUTF8AndSize(*name, NULL) : NULL;
	if (!text) PyErr_Clear();
	return text ? text : "an object";
}

/* Turns what a producer raised when it was asked for a tensor into the BufferError by
 * which the array API says so (`__dlpack__`, "Raises"), with the producer's own as its
 * cause. A class that is given in place of an object is a TypeError, and stays so. Gives
 * -1. */
DLPACKGEN_SLOW static int dlpackgen_not_exported(PyObject *object) {
	struct dlpackgen_pending cause = dlpackgen_suspend();
	PyObject *kind = cause.kind && !PyType_Check(object) ? dlpackgen_kind_of(cause.kind) : NULL;
	if (!kind || kind == PyExc_BufferError) {
		dlpackgen_resume(cause);
		return -1;
	}
	PyErr_NormalizeException(&cause.kind, &cause.value, &cause.trace);
	if (cause.trace) PyException_SetTraceback(cause.value, cause.trace);
	PyObject *name, *text = PyObject_Str(cause.value);
	const char *of = dlpackgen_type_name(object, &name);
	if (text) PyErr_Format(PyExc_BufferError, "%s was not exported: %U", of, text);
	Py_XDECREF(name);
	Py_XDECREF(text);
	Py_XDECREF(cause.kind);
	Py_XDECREF(cause.trace);
	dlpackgen_because(cause.value);
	return -1;
}

#endif
