//go:build dlpackgen_template && cgo && !(386 || arm || mips || mipsle || wasm)

#include "python.h"

#include <stdlib.h>
#ifndef _WIN32
#include <pthread.h>
#endif

#define py dlp_00000000_py_python

/* A function of Go as Python sees it: the self of a function in C. */
struct function {
	PyMethodDef definition;
	uintptr_t number;
};

static const char function_name[] = "dlpackpy.function";

/* A forked process has none of Go's threads, so Go would wait for ever. */
static bool forked;

#ifdef _WIN32
static bool watch_forks(void) { return true; }
#else
static void is_forked(void) { forked = true; }

static bool watch_forks(void) {
	static bool watches;
	if (!watches) watches = pthread_atfork(NULL, NULL, is_forked) == 0;
	return watches;
}
#endif

static PyObject *run(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
	const struct function *function = py.PyCapsule_GetPointer(self, function_name);
	if (!function) return NULL;
	if (forked) {
		py.PyErr_SetString(dlp_00000000_py_exception("RuntimeError"), "this process was forked, and Go runs only in the one that imported the module: start processes by spawn or forkserver");
		return NULL;
	}
	if (count > dlp_00000000_py_ARGUMENTS) return py.PyErr_Format(dlp_00000000_py_exception("TypeError"), "%zd arguments; %d at most", count, dlp_00000000_py_ARGUMENTS);
	struct dlp_00000000_py_call call; /* routes are written before they are read */
	call.function = function->number;
	call.arguments = arguments;
	call.count = count;
	return (PyObject *)dlp_00000000_py_run(&call);
}

/* Functions and modules live as long as the process, like their code. */
bool dlp_00000000_py_add(uintptr_t module, const char *name, const char *doc, uintptr_t number) {
	struct function *made = calloc(1, sizeof *made);
	PyObject *self = made ? py.PyCapsule_New(made, function_name, NULL) : py.PyErr_NoMemory();
	PyObject *home = self ? py.PyObject_GetAttrString((PyObject *)module, "__name__") : NULL;
	if (!home) return false;
	*made = (struct function){{name, (PyCFunction)(void (*)(void))run, METH_FASTCALL, doc}, number};
	PyObject *function = py.PyCFunction_NewEx(&made->definition, self, home);
	bool added = function && !py.PyObject_SetAttrString((PyObject *)module, name, function);
	py.Py_DecRef(function);
	py.Py_DecRef(home);
	py.Py_DecRef(self);
	return added;
}

uintptr_t dlp_00000000_py_module(const char *name, const char *doc, const char *tensor) {
	/* How much comes before the fields is known at run time only; Python fills it. */
	char *memory = watch_forks() ? calloc(1, py.head + sizeof(PyModuleDef)) : NULL;
	if (!memory) return (uintptr_t)py.PyErr_NoMemory();
	*(PyModuleDef *)(void *)(memory + py.head) = (PyModuleDef){
		.name = name,
		.doc = doc,
		.size = -1, /* one for the process: interpreters with a GIL of their own cannot have it */
	};
	PyObject *module = py.PyModule_Create2((PyModuleDef *)(void *)memory, PYTHON_ABI_VERSION);
	PyObject *type = module ? dlp_00000000_py_tensor_type(tensor) : NULL;
	if (type && !py.PyObject_SetAttrString(module, "Tensor", type)) return (uintptr_t)module;
	py.Py_DecRef(module);
	return 0;
}
