/* Softmax over the rows of a matrix, for the tensors of any library: the kernel in
 * plain C, a table of its parameters, and two functions that put them together. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include <math.h>

/* The kernel. Rows lie anywhere; their elements, one after the other. in and out may
 * be the same. */
#define SOFTMAX(name, number, exponential)                           \
  static void name(const number* in, number* out, int64_t columns) { \
    number most = -(number)INFINITY, sum = 0;                        \
    for (int64_t i = 0; i < columns; i++)                            \
      if (in[i] > most || isnan(in[i])) most = in[i];                \
    for (int64_t i = 0; i < columns; i++) {                          \
      out[i] = exponential(in[i] - most);                            \
      sum += out[i];                                                 \
    }                                                                \
    for (int64_t i = 0; i < columns; i++) out[i] /= sum;             \
  }

SOFTMAX(softmax_of_floats, float, expf)
SOFTMAX(softmax_of_doubles, double, exp)

static char* row(const DLTensor* t, int64_t i) {
  return (char*)t->data + t->byte_offset + i * t->strides[0] * (t->dtype.bits / 8);
}

static void softmax_of_rows(const DLTensor* in, const DLTensor* out) {
  for (int64_t i = 0; i < in->shape[0]; i++) {
    if (in->dtype.bits == 32) softmax_of_floats((float*)row(in, i), (float*)row(out, i), in->shape[1]);
    else softmax_of_doubles((double*)row(in, i), (double*)row(out, i), in->shape[1]);
  }
}

/* The parameters. */
#define MATRIX(may_write)                                        \
  {.name = "x",                                                  \
   .ndim = 2,                                                    \
   .layout = DLPACKGEN_LAYOUT_INNER_CONTIGUOUS,                  \
   .dtypes = {DLPACKGEN_DTYPE_FLOAT32, DLPACKGEN_DTYPE_FLOAT64}, \
   .writable = may_write}

static const struct dlpackgen_parameter read_x[] = {MATRIX(0)}, write_x[] = {MATRIX(1)};
static const struct dlpackgen_function softmax = {DLPACKGEN_FUNCTION("softmax", read_x)};
static const struct dlpackgen_function softmax_ = {DLPACKGEN_FUNCTION("softmax_", write_x)};

static PyObject* call_softmax(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL(call, read_x);
  if (dlpackgen_call_begin(&call, module, &softmax, args, count, keywords)) return NULL;
  const DLTensor* x = &call.arguments[0].tensor;
  DLManagedTensorVersioned* y = dlpackgen_new_empty(&call, 0, x->dtype, x->ndim, x->shape);
  if (y) {
    Py_BEGIN_ALLOW_THREADS softmax_of_rows(x, &y->dl_tensor);
    Py_END_ALLOW_THREADS
  }
  PyObject* result = y ? dlpackgen_to_py_object(&call, 0, y) : NULL;
  dlpackgen_call_end(&call);
  return result;
}

static PyObject* call_softmax_(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL(call, write_x);
  if (dlpackgen_call_begin(&call, module, &softmax_, args, count, keywords)) return NULL;
  PyObject* x = call.arguments[0].object;
  Py_INCREF(x);
  Py_BEGIN_ALLOW_THREADS softmax_of_rows(&call.arguments[0].tensor, &call.arguments[0].tensor);
  Py_END_ALLOW_THREADS dlpackgen_call_end(&call);
  return x;
}

/* The module. */
static PyMethodDef methods[] = {
    DLPACKGEN_METHOD("softmax", call_softmax,
                     "Gives softmax over the rows of x, as a tensor of the library that x is from."),
    DLPACKGEN_METHOD("softmax_", call_softmax_, "Writes softmax over the rows of x to x, and gives x."),
    {NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit__kernel(void) {
  static struct dlpackgen_module module;
  return dlpackgen_module_init(&module, "_kernel", "Softmax in C.", methods, NULL);
}
