/* How the objects of a type are read: found once for a type, then remembered.
 * Part of exchange.c. */
#ifndef DLPACKGEN_PYTHON_ROUTES_H_
#define DLPACKGEN_PYTHON_ROUTES_H_

#include <dlpackgen_python/managed.h>

static int dlpackgen_has(PyObject *object, const char *name) {
	PyObject *value = dlpackgen_optional(object, name);
	Py_XDECREF(value);
	return value != NULL;
}

/* Turns an int into the address of a table: NULL where none can be, as in the first
 * page, or between the words of memory. It may set an exception. */
static void *dlpackgen_address_in(PyObject *value) {
	const long long number = PyLong_AsLongLong(value);
	if (number < 4096 || number % (long long)sizeof(void *) != 0 || (unsigned long long)number > UINTPTR_MAX) return NULL;
	return (void *)(uintptr_t)number;
}

/* Reads a table's address: from a capsule or, by the older attribute, an int; NULL
 * from anything else, as if there were none. */
static const DLPackExchangeAPI *dlpackgen_table_in(PyObject *value, int number) {
	const DLPackExchangeAPI *table = NULL;
	void *address = NULL;
	if (PyCapsule_IsValid(value, dlpackgen_table_capsule))
		address = PyCapsule_GetPointer(value, dlpackgen_table_capsule);
	else if (number && PyLong_Check(value)) address = dlpackgen_address_in(value);
	PyErr_Clear();
	return dlpack_find_exchange_api((const DLPackExchangeAPIHeader *)address, &table) == DLPACK_OK ? table : NULL;
}

/* Tells whether a mapping has a key; PyMapping_HasKeyString() takes any failure,
 * such as want of memory, for a no. */
static int dlpackgen_defines(PyObject *mapping, const char *key) {
	PyObject *value = PyMapping_GetItemString(mapping, key);
	if (!value && PyErr_ExceptionMatches(PyExc_KeyError)) PyErr_Clear();
	Py_XDECREF(value);
	return value != NULL;
}

/* Looks for a table of the type itself: one that it inherits does not know what
 * the derived type changes. */
static const DLPackExchangeAPI *dlpackgen_table_of(PyObject *type) {
	const char *const names[] = {dlpackgen_table_attribute, dlpackgen_older_table_attribute};
	PyObject *own = dlpackgen_optional(type, "__dict__");
	const DLPackExchangeAPI *table = NULL;
	for (int i = 0; own && !table && !PyErr_Occurred() && i < 2; i++) {
		if (!dlpackgen_defines(own, names[i])) continue;
		PyObject *value = dlpackgen_optional(type, names[i]);
		if (value) table = dlpackgen_table_in(value, i == 1);
		Py_XDECREF(value);
	}
	Py_XDECREF(own);
	return table;
}

/* Looks for a table that makes new tensors for an object's library: a type that derives
 * from its own has no other. */
static const DLPackExchangeAPI *dlpackgen_maker_of(PyObject *type) {
	PyObject *bases = PyObject_GetAttrString(type, "__mro__");
	const Py_ssize_t count = bases && PyTuple_Check(bases) ? PyTuple_Size(bases) : 0;
	const DLPackExchangeAPI *table = NULL;
	for (Py_ssize_t i = 0; i < count && !table && !PyErr_Occurred(); i++)
		table = dlpackgen_table_of(PyTuple_GetItem(bases, i));
	Py_XDECREF(bases);
	return table;
}

/* The types whose own tables run no code of Python and lend nothing that must not be
 * written to: their tensors are never read-only, which a borrowed one has no flag for. */
static int dlpackgen_is_trusted(PyObject *type) {
	static const char *const known[][2] = {{"torch", "Tensor"}, {"torch.nn", "Parameter"}, {"paddle", "Tensor"}};
	int trusted = 0;
	for (size_t i = 0; i < sizeof known / sizeof *known && !trusted; i++) {
		PyObject *found = dlpackgen_imported(known[i][0], known[i][1]);
		trusted = found == type;
		Py_XDECREF(found);
	}
	return trusted;
}

/* Tells whether a table is one to be trusted: by its type, and only where it is the one
 * that the type itself offers, not one that a module registered for it. */
static int dlpackgen_trusts(PyObject *type, const DLPackExchangeAPI *api) {
	return api && dlpackgen_is_trusted(type) && !PyErr_Occurred() && dlpackgen_maker_of(type) == api;
}

/* Reads the module's own tensors; in object.h. */
static int dlpackgen_borrow_own(PyObject *object, int want_write, DLTensor *out, int64_t *scratch, uint64_t *flags);

/* By their struct: nothing runs, no memory is needed, and their flags are known. */
static const struct dlpackgen_adopted dlpackgen_adopted_own = {
    NULL, NULL, NULL, dlpackgen_borrow_own, NULL, NULL, NULL, 0, NULL};

/* Compares a type with one adopted table: 1 when the rest need not be looked at,
 * -1 with an exception. */
static int dlpackgen_adopt(struct dlpackgen_route *route, const struct dlpackgen_adopted *table) {
	PyObject *base = dlpackgen_imported(table->module, table->type);
	int opened = 0;
	if (!base || !PyType_Check(base)) {
		Py_XDECREF(base);
		return PyErr_Occurred() ? -1 : 0;
	}
	const int derives = PyType_IsSubtype((PyTypeObject *)route->type, (PyTypeObject *)base);
	if (base == route->type && table->open) opened = table->open(route->type);
	Py_DECREF(base);
	if (opened < 0) return dlpackgen_failed(PyExc_RuntimeError, "an adopted table did not open");
	if (opened) route->adopted = table;
	else if (derives && table->refuse && !route->refusing) route->refusing = table;
	return opened;
}

/* Finds out what objects of a type must be asked: those that are like torch's, and
 * masked arrays. Adopted tables ask by themselves. */
static uint8_t dlpackgen_questions(PyObject *type) {
	uint8_t asks = 0;
	if (dlpackgen_has(type, "is_neg") && dlpackgen_has(type, "is_conj")) {
		asks |= dlpackgen_asks_neg | dlpackgen_asks_conj;
		if (dlpackgen_has(type, "requires_grad")) asks |= dlpackgen_asks_grad;
	}
	if (dlpackgen_has(type, "mask") && dlpackgen_has(type, "filled")) asks |= dlpackgen_asks_mask;
	return asks;
}

/* Gives the table that was registered for a type, or NULL. */
static const DLPackExchangeAPI *dlpackgen_registered(const struct dlpackgen_state *state, const PyObject *type) {
	for (int i = 0; i < DLPACKGEN_MAX_REGISTERED; i++) {
		const struct dlpackgen_route *known = DLPACKGEN_LOAD(&state->registered[i]);
		if (!known) break;
		if (known->type == type) return DLPACKGEN_LOAD(&known->api);
	}
	return NULL;
}

static int dlpackgen_fill_route(struct dlpackgen_state *state, struct dlpackgen_route *route) {
	const DLPackExchangeAPI *registered = dlpackgen_registered(state, route->type);
	route->api = registered ? registered : dlpackgen_table_of(route->type);
	route->makes = route->api || PyErr_Occurred() ? route->api : dlpackgen_maker_of(route->type);
	if (route->type == state->tensor) {
		route->adopted = &dlpackgen_adopted_own;
		if (!registered) route->api = NULL; /* which would have to tell a stream */
	}
	for (int i = 0; dlpackgen_adopted_tables[i] && !route->adopted && !PyErr_Occurred(); i++) {
		const int found = dlpackgen_adopt(route, dlpackgen_adopted_tables[i]);
		if (found < 0) return -1;
		if (found) break;
	}
	route->asks = dlpackgen_questions(route->type);
	route->trusted = (uint8_t)dlpackgen_trusts(route->type, route->api);
	if (registered && route->adopted) {
		route->guard = route->adopted->guard;
		route->adopted = NULL;
	}
	if (route->guard) route->asks = 0;
	if (route->adopted) route->yields = route->adopted->yields != 0;
	else route->yields = !route->trusted || route->asks || route->refusing;
	return PyErr_Occurred() ? -1 : 0;
}

static void dlpackgen_retire(struct dlpackgen_route *old) {
#ifdef Py_GIL_DISABLED
	(void)old; /* another thread may still read it; the cache is small */
#else
	dlpackgen_free_route(old);
#endif
}

/* Puts a route into one of the two places of its type. */
static void dlpackgen_publish(struct dlpackgen_state *state, struct dlpackgen_route *route) {
	struct dlpackgen_route **place = &state->cache[dlpackgen_hash(route->type)];
	struct dlpackgen_route **second = &state->cache[dlpackgen_hash(route->type) ^ 1];
	if (*place && (*place)->type != route->type && (!*second || (*second)->type == route->type)) place = second;
	struct dlpackgen_route *old = *place;
	DLPACKGEN_STORE(place, route);
	if (old) dlpackgen_retire(old);
}

/* Looks at a type for the first time. What is known of it is complete before it is
 * published, since looking may run code that comes back here. */
static int dlpackgen_learn_once(struct dlpackgen_state *state, PyObject *type) {
	struct dlpackgen_route *made = (struct dlpackgen_route *)calloc(1, sizeof *made);
	if (!made) {
		PyErr_NoMemory();
		return -1;
	}
	Py_INCREF(type);
	made->type = type;
	if (dlpackgen_fill_route(state, made)) {
		struct dlpackgen_pending pending = dlpackgen_suspend();
		dlpackgen_free_route(made);
		dlpackgen_resume(pending);
		return -1;
	}
	dlpackgen_publish(state, made);
	return 0;
}

DLPACKGEN_FAST const struct dlpackgen_route *dlpackgen_known(struct dlpackgen_state *state, PyObject *type) {
	const size_t place = dlpackgen_hash(type);
	const struct dlpackgen_route *route = DLPACKGEN_LOAD(&state->cache[place]);
	if (!DLPACKGEN_RARE(!route || route->type != type)) return route;
	route = DLPACKGEN_LOAD(&state->cache[place ^ 1]);
	return route && route->type == type ? route : NULL;
}

/* The end of a type that is driven out may run code that drives out the new one. */
DLPACKGEN_SLOW static const struct dlpackgen_route *dlpackgen_learn(struct dlpackgen_state *state, PyObject *type) {
	const struct dlpackgen_route *route = NULL;
	while (!route && dlpackgen_learn_once(state, type) == 0) route = dlpackgen_known(state, type);
	return route;
}

/* Gives how an object's type is read, until the next call that may run code of
 * Python, which may drive it out; NULL with an exception. */
DLPACKGEN_FAST const struct dlpackgen_route *dlpackgen_route_of(struct dlpackgen_state *state, PyObject *object) {
	PyObject *const type = (PyObject *)Py_TYPE(object);
	const struct dlpackgen_route *route = dlpackgen_known(state, type);
	return DLPACKGEN_RARE(!route) ? dlpackgen_learn(state, type) : route;
}

/* Lets a type be looked at anew. */
static void dlpackgen_forget(struct dlpackgen_state *state, const PyObject *type) {
	const size_t place = dlpackgen_hash(type);
	for (size_t i = 0; i < 2; i++) {
		struct dlpackgen_route *old = state->cache[place ^ i];
		if (!old || old->type != type) continue;
		DLPACKGEN_STORE(&state->cache[place ^ i], NULL);
		dlpackgen_retire(old);
	}
}

/* Gives the place of a type among those that are registered, or the first free one;
 * DLPACKGEN_MAX_REGISTERED when there is none. */
static int dlpackgen_place_of(const struct dlpackgen_state *state, const PyObject *type) {
	int i = 0;
	while (i < DLPACKGEN_MAX_REGISTERED && state->registered[i] && state->registered[i]->type != type) i++;
	return i;
}

/* Puts a type with a table into a free place. */
static int dlpackgen_enter(struct dlpackgen_state *state, int place, PyObject *type, const DLPackExchangeAPI *table) {
	if (place == DLPACKGEN_MAX_REGISTERED) {
		PyErr_Format(PyExc_RuntimeError, "no room for an exchange table: %d at most", (int)DLPACKGEN_MAX_REGISTERED);
		return -1;
	}
	struct dlpackgen_route *made = (struct dlpackgen_route *)calloc(1, sizeof *made);
	if (!made) {
		PyErr_NoMemory();
		return -1;
	}
	Py_INCREF(type);
	made->type = type;
	made->api = table;
	DLPACKGEN_STORE(&state->registered[place], made);
	return 0;
}

DLPACKGEN_PYTHON_API int dlpackgen_register(PyObject *module, PyObject *type, const DLPackExchangeAPI *table) {
	struct dlpackgen_state *state = dlpackgen_state_of(module);
	const DLPackExchangeAPI *ours = NULL;
	const dlpack_error error = table ? dlpack_find_exchange_api(&table->header, &ours) : DLPACK_ERROR_NULL;
	PyObject *name;
	if (!PyType_Check(type)) {
		PyErr_Format(PyExc_TypeError, "an exchange table is for a type, not for an object of %s",
		    dlpackgen_type_name(type, &name));
		Py_XDECREF(name);
		return -1;
	}
	if (error != DLPACK_OK)
		return dlpackgen_refuse("this exchange table cannot be used: %s", dlpack_error_text(error));
	const int place = dlpackgen_place_of(state, type);
	if (place < DLPACKGEN_MAX_REGISTERED && state->registered[place])
		DLPACKGEN_STORE(&state->registered[place]->api, ours);
	else if (dlpackgen_enter(state, place, type, ours)) return -1;
	dlpackgen_forget(state, type);
	return 0;
}

#endif
