//go:build dlpackgen_template && cgo && !(386 || arm || mips || mipsle || wasm)

#include "python.h"

#define py dlp_00000000_py_python
#define BufferError dlp_00000000_py_exception("BufferError")
#define TypeError dlp_00000000_py_exception("TypeError")

/* What is known of a type. The strong reference to it keeps another type from
 * getting the same address. */
struct entry {
	PyObject *type;
	uintptr_t table;
	PyObject *is_neg, *is_conj; /* functions of the type, or NULL */
	bool has_grad, has_mask;
};

/* A type has one place here and drives out the one that had it before. Guarded
 * by the GIL. */
enum { CACHE_BITS = 6 };
static struct entry cache[1 << CACHE_BITS];

static struct entry *place_of(PyObject *type) {
	return &cache[((uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - CACHE_BITS)];
}

/* Gives an attribute that may be missing: NULL, with an exception only where the
 * reason is another one. */
static PyObject *optional(PyObject *object, const char *name) {
	PyObject *value = py.PyObject_GetAttrString(object, name);
	if (!value && py.PyErr_ExceptionMatches(dlp_00000000_py_exception("AttributeError"))) py.PyErr_Clear();
	return value;
}

static bool has(PyObject *object, const char *name) {
	PyObject *value = optional(object, name);
	if (!value) return false;
	py.Py_DecRef(value);
	return true;
}

/* Reads a table's address, from a capsule or, by the attribute of DLPack 1.2, an
 * int; 0 from anything else, as if there were none. */
static uintptr_t address_of(PyObject *value, bool number) {
	static const char name[] = "dlpack_exchange_api";
	if (py.PyCapsule_IsValid(value, name)) return (uintptr_t)py.PyCapsule_GetPointer(value, name);
	uintptr_t address = number ? (uintptr_t)py.PyLong_AsVoidPtr(value) : 0;
	py.PyErr_Clear();
	return address;
}

/* Looks for a table of the type itself: one that it inherits does not know what
 * the derived type changes. */
static uintptr_t table_of(PyObject *type) {
	static const char *const names[] = {"__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"};
	PyObject *own = optional(type, "__dict__");
	uintptr_t table = 0;
	for (size_t i = 0; own && !table && i < sizeof names / sizeof *names; i++) {
		if (!py.PyMapping_HasKeyString(own, names[i])) continue;
		PyObject *value = optional(type, names[i]);
		if (!value) continue;
		table = address_of(value, i == 1);
		py.Py_DecRef(value);
	}
	if (own) py.Py_DecRef(own);
	return table;
}

static void drop(struct entry old) {
	if (old.is_neg) py.Py_DecRef(old.is_neg);
	if (old.is_conj) py.Py_DecRef(old.is_conj);
	if (old.type) py.Py_DecRef(old.type);
}

/* Puts a type into its place. What is known of it is complete before that, and
 * what was there before goes after it, since both may run code that comes back
 * here. False with an exception. */
static bool learn(PyObject *type) {
	struct entry made = {.type = type}, *place = place_of(type);
	py.Py_IncRef(type);
	made.table = table_of(type);
	made.is_neg = optional(type, "is_neg");
	made.is_conj = optional(type, "is_conj");
	made.has_grad = has(type, "requires_grad");
	made.has_mask = has(type, "mask") && has(type, "filled");
	if (py.PyErr_Occurred()) {
		drop(made);
		return false;
	}
	struct entry old = *place;
	*place = made;
	drop(old);
	return true;
}

/* Gives what is known of an object's type, until the next call of Python that may
 * run other code; NULL with an exception. */
static const struct entry *known(PyObject *object) {
	PyObject *type = py.PyObject_Type(object);
	if (!type) return NULL;
	const struct entry *place = place_of(type);
	bool fine = true;
	while (fine && place->type != type) fine = learn(type);
	py.Py_DecRef(type); /* the object holds it */
	return fine ? place : NULL;
}

/* Calls a function of the type about an object: 1, 0, or -1 with an exception. */
static int ask(PyObject *function, PyObject *object) {
	if (!function) return 0;
	py.Py_IncRef(function);
	PyObject *answer = py.PyObject_CallFunctionObjArgs(function, object, NULL);
	py.Py_DecRef(function);
	if (!answer) return -1;
	int truth = py.PyObject_IsTrue(answer);
	py.Py_DecRef(answer);
	return truth;
}

static bool refuse(const char *why) {
	py.PyErr_SetString(BufferError, why);
	return false;
}

/* Some tensors have values that differ from those in memory, which neither their
 * tables nor their capsules say. */
static bool plain(PyObject *object, const struct entry *type) {
	if (type->has_mask) return refuse("some of its elements may be masked, which a tensor cannot say");
	int negated = ask(type->is_neg, object);
	if (negated > 0) return refuse("its memory holds the negated values: call resolve_neg() first");
	return negated == 0;
}

/* Writing to a tensor behind the back of automatic differentiation would make
 * gradients wrong, so one that takes part in it is for reading. False with an
 * exception. */
static bool grad_flags(PyObject *object, uint64_t *flags) {
	PyObject *answer = py.PyObject_GetAttrString(object, "requires_grad");
	if (!answer) return false;
	int truth = py.PyObject_IsTrue(answer);
	py.Py_DecRef(answer);
	if (truth > 0) *flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
	return truth >= 0;
}

static bool find_route(PyObject *object, struct dlp_00000000_py_route *route) {
	const struct entry *type = known(object);
	if (!type) return false;
	bool has_grad = type->has_grad;
	*route = (struct dlp_00000000_py_route){.table = type->table, .may_conjugate = type->is_conj != NULL};
	return plain(object, type) && (!has_grad || grad_flags(object, &route->flags));
}

intptr_t dlp_00000000_py_find_routes(uintptr_t call, intptr_t first, intptr_t count) {
	struct dlp_00000000_py_call *c = (void *)call;
	intptr_t found = 0;
	while (found < count && find_route(c->arguments[first + found], &c->routes[first + found])) found++;
	return found;
}

bool dlp_00000000_py_not_conjugated(uintptr_t object) {
	const struct entry *type = known((void *)object);
	int conjugated = type ? ask(type->is_conj, (void *)object) : -1;
	if (conjugated > 0) return refuse("its memory holds the conjugated values: call resolve_conj() first");
	return conjugated == 0;
}

/* The keyword argument that asks for a versioned capsule. */
static PyObject *max_version(void) {
	PyObject *pair = py.PyTuple_New(2), *keywords = py.PyDict_New();
	if (pair && keywords) {
		py.PyTuple_SetItem(pair, 0, py.PyLong_FromLongLong(DLPACK_MAJOR_VERSION));
		py.PyTuple_SetItem(pair, 1, py.PyLong_FromLongLong(DLPACK_MINOR_VERSION));
		py.PyDict_SetItemString(keywords, "max_version", pair);
	}
	if (pair) py.Py_DecRef(pair);
	return keywords;
}

/* Calls __dlpack__; producers from before DLPack 1.0 do not know the argument. */
static PyObject *capsule_of(PyObject *object) {
	PyObject *method = optional(object, "__dlpack__");
	if (!method) {
		if (!py.PyErr_Occurred()) py.PyErr_SetString(TypeError, "it is no tensor: it has no __dlpack__");
		return NULL;
	}
	PyObject *none = py.PyTuple_New(0), *keywords = max_version(), *capsule = NULL;
	if (none && keywords) capsule = py.PyObject_Call(method, none, keywords);
	if (!capsule && none && py.PyErr_ExceptionMatches(TypeError)) {
		py.PyErr_Clear();
		capsule = py.PyObject_Call(method, none, NULL);
	}
	if (keywords) py.Py_DecRef(keywords);
	if (none) py.Py_DecRef(none);
	py.Py_DecRef(method);
	return capsule;
}

struct dlp_00000000_py_capsule dlp_00000000_py_take(uintptr_t object) {
	/* Python stores the pointers to these names, not copies. */
	static const char fresh[] = "dltensor", used[] = "used_dltensor";
	static const char fresh_versioned[] = "dltensor_versioned", used_versioned[] = "used_dltensor_versioned";
	struct dlp_00000000_py_capsule taken = {0};
	PyObject *capsule = capsule_of((void *)object);
	if (!capsule) return taken;
	if (py.PyCapsule_IsValid(capsule, fresh_versioned)) {
		void *tensor = py.PyCapsule_GetPointer(capsule, fresh_versioned);
		if (py.PyCapsule_SetName(capsule, used_versioned) == 0) taken.versioned = tensor;
	} else if (py.PyCapsule_IsValid(capsule, fresh)) {
		void *tensor = py.PyCapsule_GetPointer(capsule, fresh);
		if (py.PyCapsule_SetName(capsule, used) == 0) taken.legacy = tensor;
	} else {
		py.PyErr_SetString(BufferError, "its __dlpack__ gave no capsule with a tensor that nobody has taken");
	}
	py.Py_DecRef(capsule);
	return taken;
}
