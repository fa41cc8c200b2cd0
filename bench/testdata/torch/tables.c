/* Passes over a list of tensors by the functions of one exchange table, timed here
 * so that nothing of Python counts. Every function takes (table, list) and gives
 * nanoseconds for each tensor. */
#define _POSIX_C_SOURCE 200809L
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlpack/dlpack.h>
#include <stdlib.h>
#include <time.h>

/* What is read, which the compiler must not see through. */
static volatile const void *sink;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct pass {
	const DLPackExchangeAPI *api;
	PyObject *list;
	Py_ssize_t count;
	DLManagedTensorVersioned **managed;
	void **objects;
	double spent;
};

static int borrow(struct pass *pass) {
	DLTensor view;
	const double start = now();
	for (Py_ssize_t i = 0; i < pass->count; i++) {
		if (pass->api->dltensor_from_py_object_no_sync(PyList_GET_ITEM(pass->list, i), &view)) return -1;
		sink = view.data;
	}
	pass->spent = now() - start;
	return 0;
}

/* Each is given back before the next is taken, as a call does with its arguments. */
static int own(struct pass *pass) {
	const double start = now();
	for (Py_ssize_t i = 0; i < pass->count; i++) {
		DLManagedTensorVersioned *managed;
		if (pass->api->managed_tensor_from_py_object_no_sync(PyList_GET_ITEM(pass->list, i), &managed)) return -1;
		sink = managed->dl_tensor.data;
		managed->deleter(managed);
	}
	pass->spent = now() - start;
	return 0;
}

/* All are held at a time, so that no pool helps. */
static int hold(struct pass *pass) {
	const double start = now();
	for (Py_ssize_t i = 0; i < pass->count; i++)
		if (pass->api->managed_tensor_from_py_object_no_sync(PyList_GET_ITEM(pass->list, i), &pass->managed[i]))
			return -1;
	for (Py_ssize_t i = 0; i < pass->count; i++) pass->managed[i]->deleter(pass->managed[i]);
	pass->spent = now() - start;
	return 0;
}

/* Making objects of managed tensors alone, and all that comes of them. */
static int import(struct pass *pass) {
	for (Py_ssize_t i = 0; i < pass->count; i++)
		if (pass->api->managed_tensor_from_py_object_no_sync(PyList_GET_ITEM(pass->list, i), &pass->managed[i]))
			return -1;
	const double start = now();
	for (Py_ssize_t i = 0; i < pass->count; i++) {
		void *made;
		if (pass->api->managed_tensor_to_py_object_no_sync(pass->managed[i], &made)) return -1;
		Py_DECREF((PyObject *)made);
	}
	pass->spent = now() - start;
	return 0;
}

/* The loop itself. */
static int nothing(struct pass *pass) {
	const double start = now();
	for (Py_ssize_t i = 0; i < pass->count; i++) sink = PyList_GET_ITEM(pass->list, i);
	pass->spent = now() - start;
	return 0;
}

static PyObject *timed(PyObject *args, int (*run)(struct pass *pass)) {
	PyObject *capsule;
	struct pass pass;
	memset(&pass, 0, sizeof pass);
	if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyList_Type, &pass.list)) return NULL;
	pass.api = (const DLPackExchangeAPI *)PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
	pass.count = PyList_GET_SIZE(pass.list);
	if (!pass.api) return NULL;
	pass.managed = (DLManagedTensorVersioned **)calloc((size_t)pass.count, sizeof *pass.managed);
	if (!pass.managed) return PyErr_NoMemory();
	const int failed = run(&pass);
	free(pass.managed);
	return failed ? NULL : PyFloat_FromDouble(pass.spent / (double)pass.count);
}

static PyObject *time_borrow(PyObject *m, PyObject *args) { return (void)m, timed(args, borrow); }
static PyObject *time_own(PyObject *m, PyObject *args) { return (void)m, timed(args, own); }
static PyObject *time_hold(PyObject *m, PyObject *args) { return (void)m, timed(args, hold); }
static PyObject *time_import(PyObject *m, PyObject *args) { return (void)m, timed(args, import); }
static PyObject *time_nothing(PyObject *m, PyObject *args) { return (void)m, timed(args, nothing); }

static PyMethodDef methods[] = {
    {"borrow", time_borrow, METH_VARARGS, "Borrows each tensor."},
    {"own", time_own, METH_VARARGS, "Exports each tensor and gives it back."},
    {"hold", time_hold, METH_VARARGS, "Exports all tensors, then gives them back."},
    {"import_", time_import, METH_VARARGS, "Makes an object of each tensor, and drops it."},
    {"nothing", time_nothing, METH_VARARGS, "The loop."},
    {NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit_tables(void) {
	static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "tables", "Tables, timed.", -1, methods, NULL, NULL, NULL, NULL};
	return PyModule_Create(&definition);
}
