//go:build dlpackgen_template && cgo && !(386 || arm || mips || mipsle || wasm)

#include "python.h"

#define py dlp_00000000_py_python
#define BufferError dlp_00000000_py_exception("BufferError")
#define TypeError dlp_00000000_py_exception("TypeError")
#define AttributeError dlp_00000000_py_exception("AttributeError")

/* What is known of a type. The strong reference to it keeps another type from
 * getting the same address. */
struct entry {
	PyObject *type;
	uintptr_t table;
	bool can_negate, can_conjugate, has_grad, has_mask;
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
	if (!value && py.PyErr_ExceptionMatches(AttributeError)) py.PyErr_Clear();
	return value;
}

/* False with an exception too, also with one that came before. */
static bool has(PyObject *object, const char *name) {
	PyObject *value = py.PyErr_Occurred() ? NULL : optional(object, name);
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
	py.Py_DecRef(own);
	return table;
}

/* Puts a type into its place. What is known of it is complete before that, and
 * what was there before goes after it, since both may run code that comes back
 * here. False with an exception. */
static bool learn(PyObject *type) {
	struct entry made = {.type = type}, *place = place_of(type);
	made.table = table_of(type);
	made.can_negate = has(type, "is_neg");
	made.can_conjugate = has(type, "is_conj");
	made.has_grad = has(type, "requires_grad");
	made.has_mask = has(type, "mask") && has(type, "filled");
	if (py.PyErr_Occurred()) return false;
	PyObject *old = place->type;
	py.Py_IncRef(type);
	*place = made;
	py.Py_DecRef(old);
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

/* Names, as objects that Python keeps, and the arguments of __dlpack__. */
static struct {
	PyObject *dlpack, *is_neg, *is_conj, *requires_grad;
	PyObject *keywords, *version;
} constant;

bool dlp_00000000_py_make_constants(void) {
	if (constant.version) return true;
	constant.dlpack = py.PyUnicode_InternFromString("__dlpack__");
	constant.is_neg = py.PyUnicode_InternFromString("is_neg");
	constant.is_conj = py.PyUnicode_InternFromString("is_conj");
	constant.requires_grad = py.PyUnicode_InternFromString("requires_grad");
	constant.keywords = py.PyTuple_New(1);
	constant.version = py.PyTuple_New(2);
	if (py.PyErr_Occurred()) return false;
	py.PyTuple_SetItem(constant.keywords, 0, py.PyUnicode_InternFromString("max_version"));
	py.PyTuple_SetItem(constant.version, 0, py.PyLong_FromLongLong(DLPACK_MAJOR_VERSION));
	py.PyTuple_SetItem(constant.version, 1, py.PyLong_FromLongLong(DLPACK_MINOR_VERSION));
	return !py.PyErr_Occurred();
}

/* Gives the truth of an answer, and drops it: 1, 0, or -1 with an exception. */
static int truth(PyObject *answer) {
	if (!answer) return -1;
	int is_true = py.PyObject_IsTrue(answer);
	py.Py_DecRef(answer);
	return is_true;
}

static int ask(PyObject *object, PyObject *method) { return truth(py.PyObject_VectorcallMethod(method, &object, 1, NULL)); }

static bool refuse(const char *why) {
	py.PyErr_SetString(BufferError, why);
	return false;
}

/* Some tensors have values that differ from those in memory, which neither their
 * tables nor their capsules say. */
static bool plain(PyObject *object, const struct entry *type) {
	if (type->has_mask) return refuse("some of its elements may be masked, which a tensor cannot say");
	int negated = type->can_negate ? ask(object, constant.is_neg) : 0;
	if (negated > 0) return refuse("its memory holds the negated values: call resolve_neg() first");
	return negated == 0;
}

/* Writing to a tensor behind the back of automatic differentiation would make
 * gradients wrong, so one that takes part in it is for reading. False with an
 * exception. */
static bool grad_flags(PyObject *object, uint64_t *flags) {
	int required = truth(py.PyObject_GetAttr(object, constant.requires_grad));
	if (required > 0) *flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
	return required >= 0;
}

static bool find_route(PyObject *object, struct dlp_00000000_py_route *route) {
	const struct entry *type = known(object);
	if (!type) return false;
	bool has_grad = type->has_grad;
	*route = (struct dlp_00000000_py_route){.table = type->table, .may_conjugate = type->can_conjugate};
	return plain(object, type) && (!has_grad || grad_flags(object, &route->flags));
}

intptr_t dlp_00000000_py_find_routes(uintptr_t call, intptr_t first, intptr_t count) {
	struct dlp_00000000_py_call *c = (void *)call;
	intptr_t found = 0;
	while (found < count && find_route(c->arguments[first + found], &c->routes[first + found])) found++;
	return found;
}

bool dlp_00000000_py_not_conjugated(uintptr_t object) {
	int conjugated = ask((void *)object, constant.is_conj);
	if (conjugated > 0) return refuse("its memory holds the conjugated values: call resolve_conj() first");
	return conjugated == 0;
}

/* Says that an object is no tensor, unless its __dlpack__ lacked something else. */
static void explain(PyObject *object) {
	PyObject *kind, *value, *trace;
	py.PyErr_Fetch(&kind, &value, &trace);
	if (has(object, "__dlpack__")) {
		py.PyErr_Restore(kind, value, trace);
		return;
	}
	py.Py_DecRef(kind);
	py.Py_DecRef(value);
	py.Py_DecRef(trace);
	py.PyErr_SetString(TypeError, "it is no tensor: it has no __dlpack__");
}

/* Calls __dlpack__; producers from before DLPack 1.0 do not know the argument. */
static PyObject *capsule_of(PyObject *object) {
	PyObject *arguments[] = {object, constant.version};
	PyObject *capsule = py.PyObject_VectorcallMethod(constant.dlpack, arguments, 1, constant.keywords);
	if (!capsule && py.PyErr_ExceptionMatches(TypeError)) {
		py.PyErr_Clear();
		capsule = py.PyObject_VectorcallMethod(constant.dlpack, arguments, 1, NULL);
	}
	if (!capsule && py.PyErr_ExceptionMatches(AttributeError)) explain(object);
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
