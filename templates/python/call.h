/* The arguments of one call: found, read, checked. Part of exchange.c. */
#ifndef DLPACKGEN_PYTHON_CALL_H_
#define DLPACKGEN_PYTHON_CALL_H_

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

static int dlpackgen_explicit_stream(struct dlpackgen_call *call, PyObject *stream) {
	if (stream == Py_None) return 0;
	call->number = PyLong_AsLongLong(stream);
	call->has_number = 1;
	if (call->number >= 0) return 0;
	if (!PyErr_Occurred())
		PyErr_Format(
		    PyExc_ValueError, "%s(): stream is %lld, and must not be negative", call->function->name, call->number);
	return -1;
}

static int dlpackgen_arrange(
    struct dlpackgen_call *call, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords, PyObject **given) {
	const struct dlpackgen_function *function = call->function;
	const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
	if (count > function->count) return dlpackgen_too_many(function, count);
	memset(given, 0, function->count * sizeof *given);
	memcpy(given, arguments, (size_t)count * sizeof *given);
	for (Py_ssize_t k = 0; k < named; k++) {
		PyObject *name = PyTuple_GetItem(keywords, k), *value = arguments[count + k];
		const int i = dlpackgen_named(function, name);
		if (i == function->count) {
			if (dlpackgen_explicit_stream(call, value)) return -1;
		} else if (i < 0 || given[i]) {
			PyErr_Format(PyExc_TypeError,
			    i < 0 ? "%s() got an unexpected keyword argument '%U'" : "%s() got two values for argument '%U'",
			    function->name, name);
			return -1;
		} else given[i] = value;
	}
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

/* Tensors */

static int64_t *dlpackgen_scratch_of(const struct dlpackgen_call *call, int i) {
	return call->scratch + (size_t)i * DLPACKGEN_SCRATCH;
}

/* Says what went wrong with a tensor, whose library may not have said it. */
DLPACKGEN_SLOW static int dlpackgen_unreadable(const struct dlpackgen_call *call, int i) {
	dlpackgen_failed(PyExc_BufferError, "it cannot be read");
	return dlpackgen_about(call->function, i);
}

/* Reads a tensor by the table that was adopted for its type: 0, -1 with an exception,
 * or 1 where it is left to the other routes. What follows from i is handed in: a
 * compiler must take it for changed after a call. */
DLPACKGEN_FAST int dlpackgen_fetch_adopted(struct dlpackgen_call *call, int i, struct dlpackgen_argument *a,
    const struct dlpackgen_parameter *p, int64_t *scratch, int copy) {
	a->flags = 0;
	a->plain = 0;
	const int left = a->adopted->borrow(a->object, p->writes, &a->tensor, scratch, &a->flags);
	if (DLPACKGEN_RARE(left)) return left < 0 ? dlpackgen_unreadable(call, i) : 1;
	if (DLPACKGEN_RARE((uint32_t)a->tensor.ndim > DLPACKGEN_MAX_NDIM))
		return dlpackgen_fault(call, i, PyExc_BufferError, "it has %d dimensions", (int)a->tensor.ndim);
	if (copy) dlpackgen_copy_metadata(&a->tensor, scratch);
	return 0;
}

/* Reads a tensor by the exchange table of its type, and looks at what it gave. */
DLPACKGEN_FAST int dlpackgen_fetch_by_table(struct dlpackgen_call *call, int i, struct dlpackgen_argument *a,
    const struct dlpackgen_parameter *p, int64_t *scratch, int copy) {
	const int owned = dlpackgen_read_table(a, a->api, a->trusted, a->object, p->writes);
	if (DLPACKGEN_RARE(owned < 0)) return dlpackgen_about(call->function, i);
	if (owned) call->owns |= UINT32_C(1) << i;
	if (a->guard && DLPACKGEN_RARE(a->guard(a->object, &a->tensor))) return dlpackgen_unreadable(call, i);
	a->plain = !copy && dlpackgen_is_plainly_valid(p, &a->tensor);
	if (a->plain) return 0;
	return dlpackgen_admit(a, scratch, copy) ? dlpackgen_about(call->function, i) : 0;
}

/* Reads a tensor that runs no code of Python for that. */
DLPACKGEN_FAST int dlpackgen_fetch(struct dlpackgen_call *call, int i, struct dlpackgen_argument *a,
    const struct dlpackgen_parameter *p, int64_t *scratch, int copy) {
	if (a->adopted) return dlpackgen_fetch_adopted(call, i, a, p, scratch, copy);
	return dlpackgen_fetch_by_table(call, i, a, p, scratch, copy);
}

/* Reads a tensor by its __dlpack__. */
static int dlpackgen_fetch_capsule(struct dlpackgen_call *call, int i) {
	struct dlpackgen_argument *a = &call->arguments[i];
	PyObject *stream = dlpackgen_stream_for(call, i);
	if (!stream && PyErr_Occurred()) return -1;
	int failed = dlpackgen_read_capsule(call->state, a, a->object, stream);
	Py_XDECREF(stream);
	if (!failed) {
		a->plain = 0;
		call->owns |= UINT32_C(1) << i;
		failed = dlpackgen_admit(a, dlpackgen_scratch_of(call, i), 1);
	}
	return failed ? dlpackgen_about(call->function, i) : 0;
}

/* Takes for good what another thread could take away while the GIL is let go of:
 * 0, -1 with an exception, or 1 where it is left to the other routes. */
static int dlpackgen_fetch_held(struct dlpackgen_call *call, int i) {
	struct dlpackgen_argument *a = &call->arguments[i];
	a->versioned = dlpackgen_take_adopted(a->adopted, a->object, call->function->parameters[i].writes);
	if (!a->versioned) return PyErr_Occurred() ? dlpackgen_about(call->function, i) : 1;
	a->legacy = NULL;
	call->owns |= UINT32_C(1) << i;
	a->plain = 0;
	a->tensor = a->versioned->dl_tensor;
	a->flags = a->versioned->flags;
	return 0;
}

/* Tells whether what comes after an argument may run code, which may take away the
 * memory of a tensor that is only borrowed. */
static int dlpackgen_yields_after(const struct dlpackgen_call *call, int i) {
	while (++i < call->function->count)
		if (!call->arguments[i].done && call->arguments[i].yields) return 1;
	return 0;
}

/* Reads what runs code of Python, and copies its shape and strides. */
static int dlpackgen_read_yielding(struct dlpackgen_call *call, int i) {
	struct dlpackgen_argument *a = &call->arguments[i];
	const struct dlpackgen_parameter *p = &call->function->parameters[i];
	if (a->adopted) {
		const int held = a->yields && a->adopted->hold && (call->function->unlocks || dlpackgen_yields_after(call, i));
		const int left =
		    held ? dlpackgen_fetch_held(call, i) : dlpackgen_fetch(call, i, a, p, dlpackgen_scratch_of(call, i), 1);
		a->done = left == 0 && a->yields; /* the others are read anew when nothing runs any more */
		if (left <= 0) return left;
		a->adopted = NULL;
	}
	if (dlpackgen_question(call->state, a->object, a->refusing, a->asks)) return dlpackgen_about(call->function, i);
	if (a->api) return 0; /* what is left of it runs no code */
	a->done = 1;
	return dlpackgen_fetch_capsule(call, i);
}

/* Finds what each argument is, and reads scalars. A route may not last, so it is
 * put down. */
static int dlpackgen_sort_slowly(struct dlpackgen_call *call, int i, PyObject *object) {
	struct dlpackgen_argument *a = &call->arguments[i];
	a->object = object;
	a->done = 1;
	if (!object || object == Py_None) return dlpackgen_left_out(call, i);
	if (call->function->parameters[i].kind != dlpackgen_tensor) return dlpackgen_read_scalar(call, i);
	const struct dlpackgen_route *route = dlpackgen_route_of(call->state, object);
	if (!route) return dlpackgen_about(call->function, i);
	a->done = 0;
	a->adopted = route->adopted;
	a->refusing = route->refusing;
	a->api = route->api;
	a->guard = route->guard;
	a->asks = route->asks;
	a->trusted = route->trusted;
	a->yields = route->yields;
	return 0;
}

/* The way of calls in which reading an argument may change another one: what may
 * run code of Python comes first, then all is read and checked in its order. */
DLPACKGEN_SLOW static int dlpackgen_begin_slowly(struct dlpackgen_call *call, PyObject *const *given) {
	const int count = call->function->count;
	int elsewhere = 0;
	dlpackgen_end(call);
	memset(call->bound, 0, sizeof call->bound);
	for (int i = 0; i < count; i++)
		if (dlpackgen_sort_slowly(call, i, given[i])) return -1;
	for (int i = 0; i < count; i++) {
		struct dlpackgen_argument *a = &call->arguments[i];
		if (!a->done && (a->yields || a->adopted) && dlpackgen_read_yielding(call, i)) return -1;
	}
	for (int i = 0; i < count; i++) {
		struct dlpackgen_argument *a = &call->arguments[i];
		const struct dlpackgen_parameter *p = &call->function->parameters[i];
		if (p->kind != dlpackgen_tensor || !a->object) continue;
		if (!a->done && dlpackgen_fetch(call, i, a, p, dlpackgen_scratch_of(call, i), call->function->unlocks))
			return PyErr_Occurred() ? -1 : dlpackgen_unreadable(call, i);
		if (dlpackgen_check(call, i, p, a)) return -1;
		elsewhere |= a->tensor.device.device_type != kDLCPU;
	}
	return elsewhere || call->has_number ? dlpackgen_settle_place(call) : 0;
}

/* The way of most calls: one argument after the other. */
DLPACKGEN_FAST int dlpackgen_begin_given(struct dlpackgen_call *call, PyObject *const *given) {
	const struct dlpackgen_function *const function = call->function;
	const struct dlpackgen_parameter *p = function->parameters;
	struct dlpackgen_state *const state = call->state;
	struct dlpackgen_argument *a = call->arguments;
	int64_t *scratch = call->scratch;
	const int count = function->count, unlocks = function->unlocks;
	int elsewhere = 0;
	for (int i = 0; i < count; i++, a++, p++, scratch += DLPACKGEN_SCRATCH) {
		PyObject *const object = a->object = given[i];
		if (DLPACKGEN_RARE(!object || object == Py_None)) {
			if (dlpackgen_left_out(call, i)) return -1;
			continue;
		}
		if (p->kind != dlpackgen_tensor) {
			if (!dlpackgen_is_plain(object)) return dlpackgen_begin_slowly(call, given);
			if (dlpackgen_read_scalar(call, i)) return -1;
			continue;
		}
		const struct dlpackgen_route *const route = dlpackgen_known(state, (PyObject *)Py_TYPE(object));
		if (DLPACKGEN_RARE(!route || route->yields)) return dlpackgen_begin_slowly(call, given);
		a->adopted = route->adopted;
		a->api = route->api;
		a->guard = route->guard;
		a->trusted = route->trusted;
		const int left = dlpackgen_fetch(call, i, a, p, scratch, unlocks);
		if (DLPACKGEN_RARE(left)) return left < 0 ? -1 : dlpackgen_begin_slowly(call, given);
		if (DLPACKGEN_RARE(dlpackgen_check(call, i, p, a))) return -1;
		elsewhere |= a->tensor.device.device_type != kDLCPU;
	}
	return DLPACKGEN_RARE(elsewhere || call->has_number) ? dlpackgen_settle_place(call) : 0;
}

DLPACKGEN_SLOW static int dlpackgen_begin_named(
    struct dlpackgen_call *call, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
	PyObject *given[DLPACKGEN_MAX_PARAMETERS];
	if (dlpackgen_arrange(call, arguments, count, keywords, given)) return -1;
	return dlpackgen_begin_given(call, given);
}

DLPACKGEN_PYTHON_API void dlpackgen_end(struct dlpackgen_call *call) {
	for (int i = 0; DLPACKGEN_RARE(call->owns); i++) {
		const uint32_t bit = UINT32_C(1) << i;
		if (!(call->owns & bit)) continue;
		call->owns &= ~bit;
		dlpackgen_delete_quietly(call->arguments[i].versioned, call->arguments[i].legacy);
	}
}

DLPACKGEN_PYTHON_API int dlpackgen_begin(struct dlpackgen_call *call, PyObject *module,
    const struct dlpackgen_function *function, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords) {
	int failed;
	call->module = module;
	call->function = function;
	call->state = dlpackgen_state_of(module);
	call->device.device_type = kDLCPU;
	call->device.device_id = 0;
	call->stream = NULL;
	memset(call->bound, 0, sizeof call->bound);
	call->owns = 0;
	call->has_stream = call->has_number = 0;
	if (DLPACKGEN_RARE(keywords != NULL || count != function->count))
		failed = dlpackgen_begin_named(call, arguments, count, keywords);
	else failed = dlpackgen_begin_given(call, arguments);
	if (DLPACKGEN_RARE(failed)) dlpackgen_end(call);
	return failed;
}

#endif
