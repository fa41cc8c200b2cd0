/* A module with exhausted memory: the linker redirects its own calls of malloc and calloc here, and
 * Python's are hooked. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include "untrusted.h"

void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void __real_free(void* block);
void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t count, size_t size);
void __wrap_free(void* block);

/* The number of allocations before one fails, alone or with all following; -1: all succeed. Guarded
 * by the GIL, like the rest. */
static long left = -1, failed;
static int for_ever;
static long blocks; /* the module's blocks from malloc and calloc */

static int fails(void) {
  if (left < 0) return 0;
  if (left > 0) {
    left--;
    return 0;
  }
  failed++;
  if (!for_ever) left = -1;
  return 1;
}

void* __wrap_malloc(size_t size) {
  if (fails()) return NULL;
  blocks++;
  return __real_malloc(size);
}

void* __wrap_calloc(size_t count, size_t size) {
  if (fails()) return NULL;
  blocks++;
  return __real_calloc(count, size);
}

void __wrap_free(void* block) {
  blocks -= block != NULL;
  __real_free(block);
}

static PyMemAllocatorEx real[2];

static void* hook_malloc(void* of, size_t size) {
  const PyMemAllocatorEx* python = (const PyMemAllocatorEx*)of;
  return fails() ? NULL : python->malloc(python->ctx, size);
}

static void* hook_calloc(void* of, size_t count, size_t size) {
  const PyMemAllocatorEx* python = (const PyMemAllocatorEx*)of;
  return fails() ? NULL : python->calloc(python->ctx, count, size);
}

static void* hook_realloc(void* of, void* block, size_t size) {
  const PyMemAllocatorEx* python = (const PyMemAllocatorEx*)of;
  return fails() ? NULL : python->realloc(python->ctx, block, size);
}

static void hook_free(void* of, void* block) {
  const PyMemAllocatorEx* python = (const PyMemAllocatorEx*)of;
  python->free(python->ctx, block);
}

/* Not the raw domain, which is used without the GIL. */
static void hook(int on) {
  static const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
  for (int i = 0; i < 2; i++) {
    PyMemAllocatorEx hooked = {&real[i], hook_malloc, hook_calloc, hook_realloc, hook_free};
    if (on) PyMem_GetAllocator(domains[i], &real[i]);
    PyMem_SetAllocator(domains[i], on ? &hooked : &real[i]);
  }
}

static const struct dlpackgen_parameter any[] = {{.name = "x", .leading_dims = 1, .devices = {DLPACKGEN_ANY_DEVICE}}};
static const struct dlpackgen_parameter narrow[] = {{.name = "x",
                                                     .ndim = 2,
                                                     .shape = {DLPACKGEN_DIM(0), 7},
                                                     .dtypes = {DLPACKGEN_DTYPE_INT32, DLPACKGEN_DTYPE_FLOAT32}}};
static const struct dlpackgen_function functions[] = {
    {.name = "borrow", .parameters = any, .nparameters = 1},
    {.name = "copy", .parameters = any, .nparameters = 1},
    {.name = "reject", .parameters = narrow, .nparameters = 1},
};

static PyObject* call(PyObject* module, const struct dlpackgen_function* function, PyObject* x) {
  DLPACKGEN_CALL_OF(call, 1);
  if (dlpackgen_call_begin(&call, module, function, &x, 1, NULL)) return NULL;
  dlpackgen_call_end(&call);
  Py_RETURN_NONE;
}

static PyObject* borrow(PyObject* module, PyObject* x) { return call(module, &functions[0], x); }
static PyObject* copy(PyObject* module, PyObject* x) { return call(module, &functions[1], x); }
static PyObject* reject(PyObject* module, PyObject* x) { return call(module, &functions[2], x); }

static PyObject* take(PyObject* module, PyObject* x) {
  DLManagedTensorVersioned* taken = dlpackgen_from_py_object_no_sync(module, x, 0);
  if (!taken) return NULL;
  dlpackgen_delete(taken);
  Py_RETURN_NONE;
}

static PyObject* give_again(PyObject* module, PyObject* x) {
  DLManagedTensorVersioned* taken = dlpackgen_from_py_object_no_sync(module, x, 0);
  return taken ? dlpackgen_export_object(module, taken) : NULL;
}

/* like(x) returns a new tensor from x's library. */
static PyObject* like(PyObject* module, PyObject* x) {
  DLPACKGEN_CALL_OF(call, 1);
  const DLDataType dtype = {kDLFloat, 32, 1};
  const int64_t shape[] = {2, 3};
  if (dlpackgen_call_begin(&call, module, &functions[0], &x, 1, NULL)) return NULL;
  DLManagedTensorVersioned* made = dlpackgen_new_empty(&call, 0, dtype, 2, shape);
  PyObject* out = made ? dlpackgen_to_py_object(&call, 0, made) : NULL;
  dlpackgen_call_end(&call);
  return out;
}

/* attempt(function, after, all) calls a function while the allocation with that number fails, or
 * all from it on. Returns the number of failures, and the exception or None. */
static PyObject* attempt(PyObject* module, PyObject* args) {
  PyObject *function, *kind, *value, *trace;
  long after;
  int all;
  (void)module;
  if (!PyArg_ParseTuple(args, "Oli", &function, &after, &all)) return NULL;
  hook(1);
  left = after;
  failed = 0;
  for_ever = all;
  PyObject* made = PyObject_CallNoArgs(function);
  left = -1;
  hook(0);
  if (!made == !PyErr_Occurred()) Py_FatalError("a result and an exception, or neither");
  Py_XDECREF(made);
  PyErr_Fetch(&kind, &value, &trace);
  PyObject* out = Py_BuildValue("(lO)", failed, kind ? kind : Py_None);
  Py_XDECREF(kind);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return out;
}

/* untrusted(kind) returns an object of a new type. */
static PyObject* untrusted(PyObject* module, PyObject* kind) {
  PyObject *type = make_strange_type((int)PyLong_AsLong(kind)), *made = type ? PyObject_CallNoArgs(type) : NULL;
  (void)module;
  Py_XDECREF(type);
  return made;
}

/* counts() returns the live blocks of this module, and those of untrusted producers. */
static PyObject* counts(PyObject* module, PyObject* nothing) {
  (void)module, (void)nothing;
  return Py_BuildValue("(ll)", blocks, alive);
}

/* hand_out(with_strides) configures the untrusted producers' tensors. */
static PyObject* hand_out(PyObject* module, PyObject* with_strides) {
  static float data[6];
  static int64_t shape[] = {2, 3}, strides[] = {3, 1};
  (void)module;
  strange.version.major = DLPACK_MAJOR_VERSION;
  strange.version.minor = PyObject_IsTrue(with_strides) ? DLPACK_MINOR_VERSION : 0;
  strange.dl_tensor = (DLTensor){data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
  if (!PyObject_IsTrue(with_strides)) strange.dl_tensor.strides = NULL;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"borrow", borrow, METH_O, ""},
    {"copy", copy, METH_O, ""},
    {"reject", reject, METH_O, ""},
    {"take", take, METH_O, ""},
    {"give", give_again, METH_O, ""},
    {"like", like, METH_O, ""},
    {"attempt", attempt, METH_VARARGS, ""},
    {"untrusted", untrusted, METH_O, ""},
    {"counts", counts, METH_NOARGS, ""},
    {"hand_out", hand_out, METH_O, ""},
    {NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit_failing(void) {
  static struct dlpackgen_module module;
  return dlpackgen_module_init(&module, "failing", "A module that runs out of memory.", methods, NULL);
}
