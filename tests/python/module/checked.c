/* A module whose functions the scripts define at run time: exposes dlpackgen_python to Python. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include <unistd.h>

/* Begins all calls here except those of called(). */
#ifndef BEGIN
#define BEGIN dlpackgen_call_begin
#endif

enum { MOST_FUNCTIONS = 64, MOST_PARAMETERS = 8 };

/* The functions of define(); their texts are never freed. */
static struct dlpackgen_function functions[MOST_FUNCTIONS];
static struct dlpackgen_parameter parameters[MOST_FUNCTIONS][MOST_PARAMETERS];

static const char* kept_text(PyObject* text) {
  Py_XINCREF(text);
  return text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
}

static long long number(PyObject* from, const char* key) {
  PyObject* value = PyDict_GetItemString(from, key);
  return value ? PyLong_AsLongLong(value) : 0;
}

/* Returns the i-th number of a list in a dictionary, or 0 after its end. */
static long long element(PyObject* from, const char* key, Py_ssize_t i) {
  PyObject* list = PyDict_GetItemString(from, key);
  return list && i < PyList_Size(list) ? PyLong_AsLongLong(PyList_GetItem(list, i)) : 0;
}

static void define_parameter(struct dlpackgen_parameter* p, PyObject* from) {
  PyObject* real = PyDict_GetItemString(from, "float_default");
  memset(p, 0, sizeof *p);
  p->name = kept_text(PyDict_GetItemString(from, "name"));
  p->kind = (uint8_t)number(from, "kind");
  p->optional = (uint8_t)number(from, "optional");
  p->writable = (uint8_t)number(from, "writable");
  p->layout = (uint8_t)number(from, "layout");
  p->same_dtype_as = (uint8_t)number(from, "same_dtype_as");
  p->same_shape_as = (uint8_t)number(from, "same_shape_as");
  p->ndim = (uint8_t)number(from, "ndim");
  p->leading_dims = (uint8_t)number(from, "leading_dims");
  for (int i = 0; i < DLPACKGEN_MAX_DTYPES; i++) p->dtypes[i] = (uint32_t)element(from, "dtypes", i);
  for (int i = 0; i < DLPACKGEN_MAX_EXTENTS; i++) p->shape[i] = element(from, "shape", i);
  for (int i = 0; i < DLPACKGEN_MAX_DEVICES; i++) p->devices[i] = (int32_t)element(from, "devices", i);
  p->int_default = number(from, "int_default");
  p->float_default = real ? PyFloat_AsDouble(real) : 0;
}

/* define(which, name, parameters, takes_stream, symbols) */
static PyObject* define(PyObject* module, PyObject* args) {
  int which, takes_stream;
  PyObject *name, *list, *names;
  (void)module;
  if (!PyArg_ParseTuple(args, "iUO!iO!", &which, &name, &PyList_Type, &list, &takes_stream, &PyList_Type, &names))
    return NULL;
  struct dlpackgen_function* f = &functions[which];
  memset(f, 0, sizeof *f);
  f->name = kept_text(name);
  f->parameters = parameters[which];
  f->nparameters = (uint8_t)PyList_Size(list);
  f->takes_stream = (uint8_t)takes_stream;
  for (int i = 0; i < f->nparameters; i++) define_parameter(&parameters[which][i], PyList_GetItem(list, i));
  for (int i = 0; i < PyList_Size(names); i++) f->dim_names[i] = kept_text(PyList_GetItem(names, i));
  return PyErr_Occurred() ? NULL : Py_BuildValue("i", which);
}

/* spoil(which, what, number) adds a mistake to a function: 0 too many parameters, 1 no name, 2 no
 * parameters, 3 a parameter without a name, 4 one with an empty name. */
static PyObject* spoil(PyObject* module, PyObject* args) {
  int which, what, at;
  (void)module;
  if (!PyArg_ParseTuple(args, "iii", &which, &what, &at)) return NULL;
  if (what == 0) functions[which].nparameters = (uint8_t)at;
  if (what == 1) functions[which].name = NULL;
  if (what == 2) functions[which].parameters = NULL;
  if (what >= 3) parameters[which][at].name = what == 3 ? NULL : "";
  return Py_BuildValue("");
}

static PyObject* numbers(const int64_t* from, int32_t count) {
  PyObject* tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple && i < count; i++) PyTuple_SetItem(tuple, i, PyLong_FromLongLong(from[i]));
  return tuple;
}

static PyObject* describe_tensor(const DLTensor* t, uint64_t flags, int owned) {
  PyObject *shape = numbers(t->shape, t->ndim),
           *strides = t->strides || !t->ndim ? numbers(t->strides, t->ndim) : Py_BuildValue("");
  const unsigned dtype = (unsigned)DLPACKGEN_DTYPE(t->dtype.code, t->dtype.bits, t->dtype.lanes);
  return Py_BuildValue("{sI sN sN s(ii) sK sK sK sN}", "dtype", dtype, "shape", shape, "strides", strides, "device",
                       (int)t->device.device_type, (int)t->device.device_id, "flags", (unsigned long long)flags, "data",
                       (unsigned long long)(uintptr_t)t->data, "offset", (unsigned long long)t->byte_offset, "owned",
                       PyBool_FromLong(owned));
}

/* Omitted arguments must not look like tensors. */
static PyObject* describe_left_out(const struct dlpackgen_argument* a) {
  const DLTensor* t = &a->tensor;
  const int is_clear =
      !t->data && !t->shape && !t->strides && !t->ndim && !t->byte_offset && !a->flags && !a->private_.api;
  return is_clear ? Py_BuildValue("") : PyUnicode_FromString("what was left out is not cleared");
}

static PyObject* describe_argument(const struct dlpackgen_call* call, int i) {
  const struct dlpackgen_argument* a = &call->arguments[i];
  switch (call->function->parameters[i].kind) {
    case DLPACKGEN_KIND_TENSOR:
      return a->object ? describe_tensor(&a->tensor, a->flags, (int)(call->private_.owns >> i & 1))
                       : describe_left_out(a);
    case DLPACKGEN_KIND_FLOAT: return PyFloat_FromDouble(a->real);
    default: return PyLong_FromLongLong(a->integer);
  }
}

/* The received call: all arguments, the device and the stream. */
static PyObject* describe_call(const struct dlpackgen_call* call) {
  const int count = call->function->nparameters;
  PyObject* out = PyTuple_New(count + 2);
  for (int i = 0; out && i < count; i++) PyTuple_SetItem(out, i, describe_argument(call, i));
  if (out)
    PyTuple_SetItem(out, count, Py_BuildValue("(ii)", (int)call->device.device_type, (int)call->device.device_id));
  if (out) PyTuple_SetItem(out, count + 1, PyLong_FromVoidPtr(call->stream));
  return out;
}

/* The number of running functions, whose own code runs meanwhile. */
static int at_work;

/* run(which, ...) calls a function, and returns its received call. */
static PyObject* run(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, MOST_PARAMETERS);
  const struct dlpackgen_function* f = &functions[PyLong_AsLong(args[0])];
  memset(call_arguments, 0xA5, sizeof call_arguments); /* nobody may rely on zeros */
  if (BEGIN(&call, module, f, args + 1, count - 1, keywords)) return NULL;
  at_work++;
  PyObject* out = describe_call(&call);
  at_work--;
  dlpackgen_call_end(&call);
  return out;
}

/* making(which, like, ...) is a call that first creates a tensor with an argument's library. */
static PyObject* making(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, MOST_PARAMETERS);
  const DLDataType dtype = {kDLFloat, 32, 1};
  const int64_t shape[] = {64};
  if (BEGIN(&call, module, &functions[PyLong_AsLong(args[0])], args + 2, count - 2, keywords)) return NULL;
  DLManagedTensorVersioned* made = dlpackgen_new_empty(&call, (int)PyLong_AsLong(args[1]), dtype, 1, shape);
  at_work++;
  PyObject* out = made ? describe_call(&call) : NULL;
  at_work--;
  dlpackgen_delete(made);
  dlpackgen_call_end(&call);
  return out;
}

/* is_at_work() returns whether any function is running. */
static PyObject* is_at_work(PyObject* module, PyObject* nothing) {
  (void)module, (void)nothing;
  return PyBool_FromLong(at_work);
}

/* Functions that are visible to the compiler. */
static const struct dlpackgen_parameter vectors[] = {
    {"a",
     0,
     0,
     0,
     DLPACKGEN_LAYOUT_C_CONTIGUOUS,
     0,
     0,
     1,
     0,
     {DLPACKGEN_DTYPE_FLOAT32},
     {DLPACKGEN_DIM(0)},
     {kDLCPU, kDLCUDA},
     0,
     0},
    {"b",
     0,
     0,
     1,
     DLPACKGEN_LAYOUT_C_CONTIGUOUS,
     0,
     0,
     1,
     0,
     {DLPACKGEN_DTYPE_FLOAT32, DLPACKGEN_DTYPE_INT32},
     {DLPACKGEN_DIM(0)},
     {0},
     0,
     0},
};
static const struct dlpackgen_parameter likes[] = {
    {"a", 0, 1, 0, DLPACKGEN_LAYOUT_ANY, 0, 0, 2, 1, {0}, {DLPACKGEN_ANY, 3}, {0}, 0, 0},
    {"b",
     0,
     0,
     0,
     DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER,
     1,
     1,
     1,
     1,
     {DLPACKGEN_DTYPE_FLOAT32, DLPACKGEN_DTYPE_INT32},
     {DLPACKGEN_DIM(0)},
     {0},
     0,
     0},
};
static const struct dlpackgen_parameter numbers_too[] = {
    {"a",
     0,
     0,
     0,
     DLPACKGEN_LAYOUT_INNER_CONTIGUOUS,
     0,
     0,
     1,
     1,
     {DLPACKGEN_DTYPE_FLOAT32},
     {DLPACKGEN_DIM(1)},
     {-1},
     0,
     0},
    {"b", DLPACKGEN_KIND_INT, 1, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, 7, 0},
};
static const struct dlpackgen_parameter scalars[] = {
    {"a", DLPACKGEN_KIND_INT, 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, 0, 0},
    {"b", DLPACKGEN_KIND_INT, 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, 0, 0},
};
static const struct dlpackgen_function constants[] = {
    {"f", vectors, 2, 0, {"n", "m"}},
    {"f", likes, 2, 0, {NULL}},
    {"f", numbers_too, 2, 1, {"n", "m"}},
    {"f", scalars, 2, 0, {NULL}},
};

/* Fills arguments with plausible values, so that unread arguments are detected. */
static void fill_arguments(struct dlpackgen_argument* arguments, int count) {
  static int64_t shape[] = {3}, strides[] = {1};
  static float elements[3];
  for (int i = 0; i < count; i++) {
    DLTensor* const t = &arguments[i].tensor;
    memset(&arguments[i], 0xA5, sizeof arguments[i]);
    memset(t, 0, sizeof *t);
    t->data = elements;
    t->device.device_type = kDLCPU;
    t->ndim = 1;
    t->dtype.code = kDLFloat;
    t->dtype.bits = 32;
    t->dtype.lanes = 1;
    t->shape = shape;
    t->strides = strides;
  }
}

/* called(which, inlined, ...) calls such a function, in either form. */
static PyObject* called(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, 2);
  const long which = PyLong_AsLong(args[0]), inlined = PyLong_AsLong(args[1]);
  int failed;
  fill_arguments(call_arguments, 2);
  if (!inlined) failed = dlpackgen_call_begin(&call, module, &constants[which], args + 2, count - 2, keywords);
  else if (which == 0)
    failed = dlpackgen_call_begin_inline(&call, module, &constants[0], args + 2, count - 2, keywords);
  else if (which == 1)
    failed = dlpackgen_call_begin_inline(&call, module, &constants[1], args + 2, count - 2, keywords);
  else if (which == 2)
    failed = dlpackgen_call_begin_inline(&call, module, &constants[2], args + 2, count - 2, keywords);
  else failed = dlpackgen_call_begin_inline(&call, module, &constants[3], args + 2, count - 2, keywords);
  if (failed) return NULL;
  PyObject* out = describe_call(&call);
  dlpackgen_call_end(&call);
  return out;
}

/* meanwhile(which, step, ...) runs a step while the arguments are borrowed, and returns their
 * values afterwards. */
static PyObject* meanwhile(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, MOST_PARAMETERS);
  if (BEGIN(&call, module, &functions[PyLong_AsLong(args[0])], args + 2, count - 2, keywords)) return NULL;
  PyObject* done = PyObject_CallNoArgs(args[1]);
  PyObject* out = done ? describe_argument(&call, 0) : NULL;
  Py_XDECREF(done);
  dlpackgen_call_end(&call);
  return out;
}

/* quiet(which, ...) is a call without a result. */
static PyObject* quiet(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, MOST_PARAMETERS);
  if (BEGIN(&call, module, &functions[PyLong_AsLong(args[0])], args + 1, count - 1, keywords)) return NULL;
  dlpackgen_call_end(&call);
  return Py_NewRef(Py_None);
}

/* unlocked(which, socket, ...) sends a byte and receives one, without the GIL. */
static PyObject* unlocked(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, MOST_PARAMETERS);
  const int socket = (int)PyLong_AsLong(args[1]);
  char byte = 0;
  int failed;
  if (BEGIN(&call, module, &functions[PyLong_AsLong(args[0])], args + 2, count - 2, keywords)) return NULL;
  Py_BEGIN_ALLOW_THREADS failed = write(socket, &byte, 1) != 1 || read(socket, &byte, 1) != 1;
  Py_END_ALLOW_THREADS PyObject* out = failed ? PyErr_SetFromErrno(PyExc_OSError) : describe_argument(&call, 0);
  dlpackgen_call_end(&call);
  return out;
}

#include "checked_tensors.h"

#ifdef malloc
/* fail(n) makes the n-th allocation from now on fail; it returns the rest of the previous count. */
static PyObject* fail(PyObject* module, PyObject* which) {
  const long left = failing_next;
  (void)module;
  failing_next = PyLong_AsLong(which);
  return PyLong_FromLong(left);
}
#endif

static PyMethodDef methods[] = {
#ifdef malloc
    {"fail", fail, METH_O, ""},
#endif
    {"define", define, METH_VARARGS, ""},
    {"spoil", spoil, METH_VARARGS, ""},
    DLPACKGEN_METHOD("run", run, ""),
    DLPACKGEN_METHOD("making", making, ""),
    {"is_at_work", is_at_work, METH_NOARGS, ""},
    DLPACKGEN_METHOD("called", called, ""),
    DLPACKGEN_METHOD("quiet", quiet, ""),
    DLPACKGEN_METHOD("meanwhile", meanwhile, ""),
    DLPACKGEN_METHOD("unlocked", unlocked, ""),
    {"like", like, METH_VARARGS, ""},
    {"like_on", like_on, METH_VARARGS, ""},
    {"use_device", use_device, METH_VARARGS, ""},
    {"device_capsule", device_capsule, METH_O, ""},
    {"of_object", of_object, METH_VARARGS, ""},
    {"take", take, METH_VARARGS, ""},
    {"delete_during", delete_during, METH_VARARGS, ""},
    {"described", described, METH_O, ""},
    {"give", give, METH_VARARGS, ""},
    {"give_bare", give_bare, METH_VARARGS, ""},
    {"zeros", zeros, METH_VARARGS, ""},
    {"enroll", enroll, METH_VARARGS, ""},
    {NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit_checked(void) {
  static struct dlpackgen_module module;
  return dlpackgen_module_init(&module, "checked", "What dlpackgen_python does.", methods, NULL);
}
