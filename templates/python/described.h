/* Checks the tables that describe functions, whose numbers are used as indices and whose texts
 * are printed. A mistake there is that of the module's author, and so a SystemError. It is
 * found at the first call from each place, before an argument is looked at. Part of
 * exchange.c. */
#ifndef DLPACKGEN_PYTHON_DESCRIBED_H_
#define DLPACKGEN_PYTHON_DESCRIBED_H_

#include <dlpackgen_python/call.h>

/* Says what is wrong with the description of a parameter. Gives -1. */
DLPACKGEN_SLOW static int dlpackgen_mistake(
    const struct dlpackgen_function *function, int i, const char *format, ...) {
	va_list values;
	va_start(values, format);
	dlpackgen_say(function, i, PyExc_SystemError, PyUnicode_FromFormatV(format, values));
	va_end(values);
	return -1;
}

/* Checks the number of another parameter, counted from 1, where there is one. */
static int dlpackgen_check_number(const struct dlpackgen_function *function, int i, const char *field, int number) {
	if (number == 0) return 0;
	if (number > i)
		return dlpackgen_mistake(function, i, "its %s is %d, which is no earlier parameter, counted from 1", field, number);
	if (function->parameters[number - 1].kind == dlpackgen_tensor) return 0;
	return dlpackgen_mistake(function, i, "its %s is %d, and that parameter is no tensor", field, number);
}

/* Checks the extents that are looked at. */
static int dlpackgen_check_shape(const struct dlpackgen_function *function, int i) {
	const struct dlpackgen_parameter *p = &function->parameters[i];
	for (int n = 0; n < p->rank && n < DLPACKGEN_MAX_EXTENTS; n++)
		if (p->shape[n] <= DLPACKGEN_SYMBOL(DLPACKGEN_MAX_SYMBOLS))
			return dlpackgen_mistake(function, i,
			    "its shape[%d] is %lld, which is no extent: a symbol is DLPACKGEN_SYMBOL(0) to DLPACKGEN_SYMBOL(%d)", n,
			    (long long)p->shape[n], (int)DLPACKGEN_MAX_SYMBOLS - 1);
	return 0;
}

/* Checks the types of elements and of devices. */
static int dlpackgen_check_types(const struct dlpackgen_function *function, int i) {
	const struct dlpackgen_parameter *p = &function->parameters[i];
	for (int n = 0; n < DLPACKGEN_MAX_DTYPES && p->dtypes[n]; n++)
		if (p->dtypes[n] >> 16 == 0 || (p->dtypes[n] >> 8 & 0xff) == 0)
			return dlpackgen_mistake(
			    function, i, "its dtypes[%d] is %u, which is no dtype such as DLPACKGEN_FLOAT32", n, p->dtypes[n]);
	for (int n = 0; n < DLPACKGEN_MAX_DEVICES && p->devices[n]; n++)
		if (p->devices[n] < DLPACKGEN_ANY_DEVICE)
			return dlpackgen_mistake(
			    function, i, "its devices[%d] is %d, which is no type of devices", n, (int)p->devices[n]);
	return 0;
}

/* Checks the description of one parameter: 0, or -1 with an exception. */
static int dlpackgen_check_described(const struct dlpackgen_function *function, int i) {
	const struct dlpackgen_parameter *p = &function->parameters[i];
	if (!p->name || !*p->name) {
		PyErr_Format(PyExc_SystemError, "%s(): parameter %d has no name", function->name, i + 1);
		return -1;
	}
	if (function->takes_stream && strcmp(p->name, "stream") == 0)
		return dlpackgen_mistake(function, i, "its name is that of the argument which takes_stream adds");
	for (int j = 0; j < i; j++)
		if (strcmp(function->parameters[j].name, p->name) == 0)
			return dlpackgen_mistake(function, i, "its name is that of parameter %d", j + 1);
	if (p->kind > dlpackgen_bool)
		return dlpackgen_mistake(function, i, "its kind is %d, which is no dlpackgen_kind", p->kind);
	if (p->density > dlpackgen_rows)
		return dlpackgen_mistake(function, i, "its density is %d, which is no dlpackgen_density", p->density);
	if (p->rank > DLPACKGEN_MAX_NDIM)
		return dlpackgen_mistake(function, i, "its rank is %d, and %d is the largest", p->rank, DLPACKGEN_MAX_NDIM);
	if (dlpackgen_check_number(function, i, "dtype_as", p->dtype_as)) return -1;
	if (dlpackgen_check_number(function, i, "shape_as", p->shape_as)) return -1;
	return dlpackgen_check_shape(function, i) ? -1 : dlpackgen_check_types(function, i);
}

/* Checks what a function says of itself. */
static int dlpackgen_check_function(const struct dlpackgen_function *function) {
	if (!function->name) PyErr_SetString(PyExc_SystemError, "a function has no name");
	else if (function->count > DLPACKGEN_MAX_PARAMETERS)
		PyErr_Format(PyExc_SystemError, "%s() has %d parameters, and %d is the most", function->name, function->count,
		    (int)DLPACKGEN_MAX_PARAMETERS);
	else if (function->count && !function->parameters)
		PyErr_Format(PyExc_SystemError, "%s() has %d parameters, and no table of them", function->name, function->count);
	else return 0;
	return -1;
}

/* Checks a function at the place that calls it, where it was not the last one: 0, or -1 with
 * an exception. */
DLPACKGEN_SLOW static int dlpackgen_check_description(
    struct dlpackgen_call_site *site, const struct dlpackgen_function *function) {
	if (DLPACKGEN_LOAD(&site->checked) == function) return 0;
	if (dlpackgen_check_function(function)) return -1;
	if (function->count > site->room) {
		PyErr_Format(PyExc_SystemError, "%s() has %d parameters, and its call has room for %d: DLPACKGEN_CALL(call, %d)",
		    function->name, function->count, site->room, function->count);
		return -1;
	}
	for (int i = 0; i < function->count; i++)
		if (dlpackgen_check_described(function, i)) return -1;
	DLPACKGEN_STORE(&site->checked, function);
	return 0;
}

/* Tells whether that was done for the function at hand. */
DLPACKGEN_FAST int dlpackgen_is_checked(
    const struct dlpackgen_call *call, const struct dlpackgen_function *function) {
	return DLPACKGEN_LOAD(&call->site->checked) == function;
}

#endif
