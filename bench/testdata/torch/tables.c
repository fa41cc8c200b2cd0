/* Iterates over a list of tensors with the functions of one exchange table, timed in C to exclude
 * Python. Every function has the arguments (table, list), and returns nanoseconds per tensor. */
#define _POSIX_C_SOURCE 200809L
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlpack/dlpack.h>
#include <stdlib.h>
#include <time.h>

/* The read values; opaque to the compiler. */
static volatile const void* sink;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct pass {
  const DLPackExchangeAPI* api;
  PyObject* list;
  Py_ssize_t count;
  DLManagedTensorVersioned** managed;
  void** objects;
  double spent;
};

static int borrow(struct pass* pass) {
  DLTensor view;
  const double start = now();
  for (Py_ssize_t i = 0; i < pass->count; i++) {
    if (pass->api->dltensor_from_py_object_no_sync(PyList_GET_ITEM(pass->list, i), &view)) return -1;
    sink = view.data;
  }
  pass->spent = now() - start;
  return 0;
}

/* Each tensor is released before the next one is borrowed, as in a call with arguments. */
static int own(struct pass* pass) {
  const double start = now();
  for (Py_ssize_t i = 0; i < pass->count; i++) {
    DLManagedTensorVersioned* managed;
    if (pass->api->managed_tensor_from_py_object_no_sync(PyList_GET_ITEM(pass->list, i), &managed)) return -1;
    sink = managed->dl_tensor.data;
    managed->deleter(managed);
  }
  pass->spent = now() - start;
  return 0;
}

/* All tensors are held at the same time, so a pool does not help. */
static int hold(struct pass* pass) {
  const double start = now();
  for (Py_ssize_t i = 0; i < pass->count; i++)
    if (pass->api->managed_tensor_from_py_object_no_sync(PyList_GET_ITEM(pass->list, i), &pass->managed[i])) return -1;
  for (Py_ssize_t i = 0; i < pass->count; i++) pass->managed[i]->deleter(pass->managed[i]);
  pass->spent = now() - start;
  return 0;
}

/* Only the creation of objects from managed tensors, with all of its consequences. */
static int import(struct pass* pass) {
  for (Py_ssize_t i = 0; i < pass->count; i++)
    if (pass->api->managed_tensor_from_py_object_no_sync(PyList_GET_ITEM(pass->list, i), &pass->managed[i])) return -1;
  const double start = now();
  for (Py_ssize_t i = 0; i < pass->count; i++) {
    void* made;
    if (pass->api->managed_tensor_to_py_object_no_sync(pass->managed[i], &made)) return -1;
    Py_DECREF((PyObject*)made);
  }
  pass->spent = now() - start;
  return 0;
}

/* The loop itself. */
static int nothing(struct pass* pass) {
  const double start = now();
  for (Py_ssize_t i = 0; i < pass->count; i++) sink = PyList_GET_ITEM(pass->list, i);
  pass->spent = now() - start;
  return 0;
}

static PyObject* timed(PyObject* args, int (*run)(struct pass* pass)) {
  PyObject* capsule;
  struct pass pass;
  memset(&pass, 0, sizeof pass);
  if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyList_Type, &pass.list)) return NULL;
  pass.api = (const DLPackExchangeAPI*)PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  pass.count = PyList_GET_SIZE(pass.list);
  if (!pass.api) return NULL;
  pass.managed = (DLManagedTensorVersioned**)calloc((size_t)pass.count, sizeof *pass.managed);
  if (!pass.managed) return PyErr_NoMemory();
  const int failed = run(&pass);
  free(pass.managed);
  return failed ? NULL : PyFloat_FromDouble(pass.spent / (double)pass.count);
}

static PyObject* time_borrow(PyObject* m, PyObject* args) { return (void)m, timed(args, borrow); }
static PyObject* time_own(PyObject* m, PyObject* args) { return (void)m, timed(args, own); }
static PyObject* time_hold(PyObject* m, PyObject* args) { return (void)m, timed(args, hold); }
static PyObject* time_import(PyObject* m, PyObject* args) { return (void)m, timed(args, import); }
static PyObject* time_nothing(PyObject* m, PyObject* args) { return (void)m, timed(args, nothing); }

/* f(a, b, c) written by hand over a table: one type is known, and every tensor must be a contiguous
 * float32 vector on the CPU, with the length of the first. */
static struct {
  PyTypeObject* type;
  const DLPackExchangeAPI* api;
} known;

static PyObject* know(PyObject* m, PyObject* args) {
  PyObject *capsule, *type;
  (void)m;
  if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyType_Type, &type)) return NULL;
  known.api = (const DLPackExchangeAPI*)PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  known.type = (PyTypeObject*)Py_NewRef(type);
  Py_RETURN_NONE;
}

static int fits(const DLTensor* view, int64_t* extent) {
  if (view->device.device_type != kDLCPU || view->ndim != 1) return 0;
  if (view->dtype.code != kDLFloat || view->dtype.bits != 32 || view->dtype.lanes != 1) return 0;
  if (*extent < 0) *extent = view->shape[0];
  if (view->shape[0] != *extent || (*extent > 1 && view->strides[0] != 1)) return 0;
  return view->data || *extent == 0;
}

static PyObject* by_hand(PyObject* m, PyObject* const* args, Py_ssize_t count) {
  int64_t extent = -1;
  (void)m;
  if (count != 3) return PyErr_SetString(PyExc_TypeError, "three tensors"), NULL;
  for (int i = 0; i < 3; i++) {
    DLTensor view;
    if (Py_TYPE(args[i]) != known.type) return PyErr_SetString(PyExc_TypeError, "no tensor"), NULL;
    if (known.api->dltensor_from_py_object_no_sync(args[i], &view)) return NULL;
    if (!fits(&view, &extent)) return PyErr_SetString(PyExc_ValueError, "another tensor"), NULL;
    sink = (char*)view.data + view.byte_offset;
  }
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"know", know, METH_VARARGS, "Takes a table for a type."},
    {"by_hand", (PyCFunction)(void (*)(void))by_hand, METH_FASTCALL, "Reads three vectors."},
    {"borrow", time_borrow, METH_VARARGS, "Borrows each tensor."},
    {"own", time_own, METH_VARARGS, "Exports each tensor and gives it back."},
    {"hold", time_hold, METH_VARARGS, "Exports all tensors, then gives them back."},
    {"import_", time_import, METH_VARARGS, "Makes an object of each tensor, and drops it."},
    {"nothing", time_nothing, METH_VARARGS, "The loop."},
    {NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit_tables(void) {
  static struct PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "tables", "Tables, timed.", -1, methods, NULL, NULL, NULL, NULL};
  return PyModule_Create(&definition);
}
