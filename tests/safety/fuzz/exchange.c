/* Hostile tensors before dlpackgen_python, which gets them from objects of strangers:
 * lent by a table, given by one, and in both kinds of capsule. A Python is embedded. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python/exchange.h>

#include "hostile.h"

enum { LENDS, GIVES, VERSIONED, LEGACY, STRANGERS };

static struct hostile now; /* what the strangers hand out */
static long alive;         /* what was given and is not deleted */
static PyObject *module, *strangers[STRANGERS];

static void delete_versioned(DLManagedTensorVersioned *self) {
	alive--;
	free(self);
}

static void delete_legacy(DLManagedTensor *self) {
	alive--;
	free(self);
}

static DLManagedTensorVersioned *make_versioned(void) {
	DLManagedTensorVersioned *made = (DLManagedTensorVersioned *)malloc(sizeof *made);
	*made = now.managed;
	made->deleter = delete_versioned;
	alive++;
	return made;
}

static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
    void (*set_error)(void *, const char *, const char *)) {
	(void)prototype, (void)out;
	set_error(context, "MemoryError", "strangers allocate nothing");
	return -1;
}

static int give(void *object, DLManagedTensorVersioned **out) {
	(void)object;
	*out = make_versioned();
	return 0;
}

static int lend(void *object, DLTensor *out) {
	(void)object;
	*out = now.managed.dl_tensor;
	return 0;
}

static int wrap(DLManagedTensorVersioned *tensor, void **out) {
	(void)tensor, (void)out;
	PyErr_SetString(PyExc_RuntimeError, "strangers wrap nothing");
	return -1;
}

static int stream(DLDeviceType type, int32_t id, void **out) {
	(void)type, (void)id;
	*out = NULL;
	return 0;
}

static const DLPackExchangeAPI lending = {{{1, 3}, NULL}, allocate, give, wrap, lend, stream};
static const DLPackExchangeAPI giving = {{{1, 3}, NULL}, allocate, give, wrap, NULL, stream};

static void destroy(PyObject *capsule) {
	void *tensor = NULL;
	if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
		tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
		delete_versioned((DLManagedTensorVersioned *)tensor);
	} else if (PyCapsule_IsValid(capsule, "dltensor"))
		delete_legacy((DLManagedTensor *)PyCapsule_GetPointer(capsule, "dltensor"));
}

static PyObject *to_versioned(PyObject *self, PyObject *args, PyObject *keywords) {
	(void)self, (void)args, (void)keywords;
	return PyCapsule_New(make_versioned(), "dltensor_versioned", destroy);
}

static PyObject *to_legacy(PyObject *self, PyObject *args, PyObject *keywords) {
	DLManagedTensor *made = (DLManagedTensor *)calloc(1, sizeof *made);
	(void)self, (void)args, (void)keywords;
	made->dl_tensor = now.managed.dl_tensor;
	made->deleter = delete_legacy;
	alive++;
	return PyCapsule_New(made, "dltensor", destroy);
}

static PyObject *device(PyObject *self, PyObject *nothing) {
	(void)self, (void)nothing;
	return Py_BuildValue("(ii)", (int)now.managed.dl_tensor.device.device_type, 0);
}

static PyObject *make_stranger(const DLPackExchangeAPI *table, PyCFunctionWithKeywords dlpack) {
	PyMethodDef *methods = (PyMethodDef *)calloc(3, sizeof *methods);
	if (dlpack) {
		methods[0] = (PyMethodDef){"__dlpack__", (PyCFunction)(void (*)(void))dlpack, METH_VARARGS | METH_KEYWORDS, ""};
		methods[1] = (PyMethodDef){"__dlpack_device__", device, METH_NOARGS, ""};
	}
	PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, NULL}};
	PyType_Spec spec = {"fuzzed.Stranger", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
	PyObject *type = PyType_FromSpec(&spec);
	PyObject *capsule = table ? PyCapsule_New((void *)(uintptr_t)table, "dlpack_exchange_api", NULL) : NULL;
	if (capsule) PyObject_SetAttrString(type, "__dlpack_c_exchange_api__", capsule);
	return PyObject_CallNoArgs(type);
}

/* The functions that are called: what each demands is what hold() then looks for. */
#define ALL_DTYPES \
	{ 0 }
static const struct dlpackgen_parameter anything[] = {{.name = "x", .more = 1, .dtypes = ALL_DTYPES, .devices = {-1}}};
static const struct dlpackgen_parameter floats[] = {{.name = "x", .more = 1, .dtypes = {DLPACKGEN_FLOAT32, DLPACKGEN_FLOAT64}}};
static const struct dlpackgen_parameter written[] = {
    {.name = "x", .more = 1, .writes = 1, .density = dlpackgen_dense, .dtypes = {DLPACKGEN_FLOAT32, DLPACKGEN_INT8}}};
static const struct dlpackgen_parameter square[] = {{.name = "x", .rank = 2, .density = dlpackgen_rows,
    .dtypes = {DLPACKGEN_FLOAT32}, .shape = {DLPACKGEN_SYMBOL(0), DLPACKGEN_SYMBOL(0)}}};
static const struct dlpackgen_function functions[] = {
    {.name = "anything", .parameters = anything, .count = 1, .takes_stream = 1},
    {.name = "floats", .parameters = floats, .count = 1},
    {.name = "written", .parameters = written, .count = 1, .unlocks = 1},
    {.name = "square", .parameters = square, .count = 1},
    {.name = "unlocked", .parameters = floats, .count = 1, .unlocks = 1},
};

/* Strangers that cannot say that they are writable count as read-only. */
static uint64_t flags_of(int stranger) {
	if (stranger == LEGACY) return DLPACK_FLAG_BITMASK_READ_ONLY;
	return now.managed.flags;
}

/* What was let in is valid, and as the parameter asks for. */
static void hold(const struct dlpackgen_parameter *p, const struct dlpackgen_argument *a, int stranger) {
	const DLTensor *t = &a->tensor;
	CLAIM(hostile_fault(t, a->flags, 0) == DLPACK_OK);
	const struct hostile_facts f = hostile_learn(t, a->flags);
	CLAIM(t->data || f.count == 0);
	CLAIM(!p->writes || !(flags_of(stranger) & DLPACK_FLAG_BITMASK_READ_ONLY));
	if (p->density == dlpackgen_dense && f.count) CLAIM(f.below + f.above + 1 == f.count);
	if (p->rank == 2) CLAIM(t->ndim == 2 && t->shape[0] == t->shape[1]);
	if (p->rank == 2 && f.count > 1) CLAIM(t->strides[1] == 1);
	if (p->dtypes[0]) CLAIM(t->device.device_type == kDLCPU && t->dtype.lanes == 1 && t->dtype.bits >= 8);
	hostile_walk(&now, t, &f);
}

/* What has to be let in: a valid tensor where nothing is asked of it. */
static int must_pass(int stranger) {
	const uint64_t flags = stranger == LEGACY ? 0 : now.managed.flags;
	if (stranger != LEGACY && stranger != LENDS && now.managed.version.major != DLPACK_MAJOR_VERSION) return 0;
	if (stranger == LENDS && now.managed.version.major != DLPACK_MAJOR_VERSION && now.managed.dl_tensor.dtype.bits < 8)
		return 0;
	return now.managed.dl_tensor.device.device_type == kDLCPU &&
	    hostile_fault(&now.managed.dl_tensor, flags, DLPACK_ACCEPT_NULL_STRIDES) == DLPACK_OK;
}

static void call_with(PyObject *stranger, int which, const struct dlpackgen_function *function) {
	DLPACKGEN_CALL(call, 1);
	const int failed = dlpackgen_begin(&call, module, function, &stranger, 1, NULL);
	CLAIM(!failed == !PyErr_Occurred());
	if (!failed) {
		hold(function->parameters, &call.arguments[0], which);
		dlpackgen_end(&call);
	} else {
		CLAIM(!PyErr_ExceptionMatches(PyExc_MemoryError) && !PyErr_ExceptionMatches(PyExc_SystemError));
		CLAIM(function != &functions[0] || !must_pass(which));
		PyErr_Clear();
	}
}

static void take_from(PyObject *stranger, int which, int want_write) {
	DLManagedTensorVersioned *taken = dlpackgen_take(module, stranger, want_write);
	CLAIM(!taken == !!PyErr_Occurred());
	if (!taken) {
		CLAIM(!PyErr_ExceptionMatches(PyExc_MemoryError));
		PyErr_Clear();
		return;
	}
	CLAIM(!want_write || !(flags_of(which) & DLPACK_FLAG_BITMASK_READ_ONLY));
	CLAIM(hostile_fault(&taken->dl_tensor, taken->flags, 0) == DLPACK_OK);
	const struct hostile_facts f = hostile_learn(&taken->dl_tensor, taken->flags);
	hostile_walk(&now, &taken->dl_tensor, &f);
	Py_XDECREF(dlpackgen_give(module, taken));
}

static PyObject *make_module(void) {
	static struct dlpackgen_module fuzzed;
	return dlpackgen_module_init(&fuzzed, "fuzzed", "", NULL, NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
	(void)argc, (void)argv;
	PyImport_AppendInittab("fuzzed", make_module);
	Py_InitializeEx(0);
	module = PyImport_ImportModule("fuzzed");
	strangers[LENDS] = make_stranger(&lending, NULL);
	strangers[GIVES] = make_stranger(&giving, NULL);
	strangers[VERSIONED] = make_stranger(NULL, to_versioned);
	strangers[LEGACY] = make_stranger(NULL, to_legacy);
	CLAIM(module && !PyErr_Occurred());
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
	hostile_make(&now, bytes, size);
	const int which = now.choice % STRANGERS, how = now.choice / STRANGERS % 8;
	if (how < 5) call_with(strangers[which], which, &functions[how]);
	else take_from(strangers[which], which, how == 6);
	CLAIM(alive == 0 && !PyErr_Occurred());
	hostile_free(&now);
	return 0;
}
