/* An empty kernel with three tensors, in each form that dlpackgen_python offers, and the minimum
 * cost of a call from Python. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#define VECTOR(its_name)                                                                                       \
  {                                                                                                            \
    .name = its_name, .ndim = 1, .layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS, .dtypes = {DLPACKGEN_DTYPE_FLOAT32}, \
    .shape = {DLPACKGEN_DIM(0)}, .devices = {                                                                  \
      kDLCPU,                                                                                                  \
      kDLCUDA                                                                                                  \
    }                                                                                                          \
  }

static const struct dlpackgen_parameter vectors[] = {VECTOR("a"), VECTOR("b"), VECTOR("c")};
static const struct dlpackgen_function held = {
    .name = "held", .parameters = vectors, .nparameters = 3, .dim_names = {"n"}};
static const struct dlpackgen_function released = {
    .name = "released", .parameters = vectors, .nparameters = 3, .dim_names = {"n"}};

/* Replaces a kernel; opaque to the compiler. */
static volatile const void* sink;

static PyObject* nothing(void) {
  Py_INCREF(Py_None);
  return Py_None;
}

static PyObject* empty_call(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  (void)module, (void)args, (void)count;
  return nothing();
}

static PyObject* held_call(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, 3);
  if (dlpackgen_call_begin(&call, module, &held, args, count, keywords)) return NULL;
  for (int i = 0; i < 3; i++) sink = call.arguments[i].tensor.data;
  dlpackgen_call_end(&call);
  return nothing();
}

/* The same with checks inlined for this function. */
static PyObject* inlined_call(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, 3);
  if (dlpackgen_call_begin_inline(&call, module, &held, args, count, keywords)) return NULL;
  for (int i = 0; i < 3; i++) sink = call.arguments[i].tensor.data;
  dlpackgen_call_end(&call);
  return nothing();
}

static PyObject* released_call(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, 3);
  if (dlpackgen_call_begin(&call, module, &released, args, count, keywords)) return NULL;
  Py_BEGIN_ALLOW_THREADS for (int i = 0; i < 3; i++) sink = call.arguments[i].tensor.data;
  Py_END_ALLOW_THREADS dlpackgen_call_end(&call);
  return nothing();
}

static PyObject* owning_call(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  DLManagedTensorVersioned* taken[3] = {NULL, NULL, NULL};
  int fine = count == 3;
  for (int i = 0; i < 3 && fine; i++) fine = (taken[i] = dlpackgen_from_py_object_no_sync(module, args[i], 0)) != NULL;
  for (int i = 0; i < 3 && fine; i++) sink = taken[i]->dl_tensor.data;
  for (int i = 0; i < 3; i++) dlpackgen_delete(taken[i]);
  return fine ? nothing() : NULL;
}

/* Hand-written code that trusts its callers: the table of the first argument's type, looked up
 * once, and no checks. */
static PyObject* bare_call(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  static PyObject* type;
  static const DLPackExchangeAPI* table;
  DLTensor view;
  (void)module;
  if (type != (PyObject*)Py_TYPE(args[0])) {
    PyObject* capsule = PyObject_GetAttrString((PyObject*)Py_TYPE(args[0]), "__dlpack_c_exchange_api__");
    if (!capsule) return NULL;
    table = (const DLPackExchangeAPI*)PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    type = (PyObject*)Py_TYPE(args[0]);
    Py_DECREF(capsule);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    if (table->dltensor_from_py_object_no_sync(args[i], &view)) return NULL;
    sink = view.data;
  }
  return nothing();
}

/* Returns whether the table may lend a Paddle tensor: it crashes for tensors that are not dense. */
static int asked(PyObject* tensor) {
  static PyObject *dense, *stops;
  if (!dense) dense = PyUnicode_InternFromString("is_dense");
  if (!stops) stops = PyUnicode_InternFromString("stop_gradient");
  PyObject *is_dense = PyObject_CallMethodObjArgs(tensor, dense, NULL), *is_plain = PyObject_GetAttr(tensor, stops);
  const int fits = is_dense == Py_True && is_plain == Py_True;
  Py_XDECREF(is_dense);
  Py_XDECREF(is_plain);
  return fits;
}

/* The same for Paddle, with the query first. */
static PyObject* asking_call(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; i++) {
    if (!asked(args[i])) return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_BufferError, "no plain tensor"), NULL);
  }
  return bare_call(module, args, count);
}

/* The fields of a NumPy array, as in its headers since 1.7. */
struct array {
  PyObject_HEAD char* data;
  int ndim;
  Py_ssize_t *shape, *strides;
};

/* The same for NumPy, which has no table: reads the fields unchecked, and converts strides with a
 * fixed element width. */
static PyObject* bare_numpy_call(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  int64_t strides[DLPACKGEN_MAX_NDIM];
  DLTensor view;
  (void)module;
  memset(&view, 0, sizeof view);
  for (Py_ssize_t i = 0; i < count; i++) {
    const struct array* array = (const struct array*)args[i];
    for (int d = 0; d < array->ndim; d++) strides[d] = array->strides[d] / (Py_ssize_t)sizeof(float);
    view.data = array->data;
    view.ndim = array->ndim;
    view.shape = (int64_t*)array->shape;
    view.strides = strides;
    sink = view.data;
    sink = view.strides;
  }
  return nothing();
}

/* The same for JAX, whose arrays only have the buffer protocol. */
static PyObject* bare_buffer_call(PyObject* module, PyObject* const* args, Py_ssize_t count) {
  Py_buffer view;
  (void)module;
  for (Py_ssize_t i = 0; i < count; i++) {
    if (PyObject_GetBuffer(args[i], &view, PyBUF_RECORDS_RO)) return NULL;
    sink = view.buf;
    PyBuffer_Release(&view);
  }
  return nothing();
}

/* lend(type) selects the type's own table even if a native reader exists. */
static PyObject* lend(PyObject* module, PyObject* type) {
  PyObject* capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
  const void* table = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
  Py_XDECREF(capsule);
  if (!table || dlpackgen_register_exchange_api(module, type, (const DLPackExchangeAPI*)table)) return NULL;
  return nothing();
}

static PyMethodDef methods[] = {
    {"empty", (PyCFunction)(void (*)(void))empty_call, METH_FASTCALL, "Does nothing."},
    {"bare", (PyCFunction)(void (*)(void))bare_call, METH_FASTCALL, "Trusts everybody."},
    {"asking", (PyCFunction)(void (*)(void))asking_call, METH_FASTCALL,
     "Trusts who says to be dense and without gradients."},
    {"bare_numpy", (PyCFunction)(void (*)(void))bare_numpy_call, METH_FASTCALL, "Trusts everybody to be an array."},
    {"bare_buffer", (PyCFunction)(void (*)(void))bare_buffer_call, METH_FASTCALL, "Trusts everybody to have a buffer."},
    {"owning", (PyCFunction)(void (*)(void))owning_call, METH_FASTCALL, "Owns its arguments."},
    DLPACKGEN_METHOD("held", held_call, "Keeps the GIL."),
    DLPACKGEN_METHOD("inlined", inlined_call, "Keeps the GIL, with checks of its own."),
    DLPACKGEN_METHOD("released", released_call, "Lets go of the GIL."),
    {"lend", lend, METH_O, "Registers the table of a type."},
    {NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit_fast(void) {
  static struct dlpackgen_module module;
  return dlpackgen_module_init(&module, "fast", "Empty kernels.", methods, NULL);
}
