/* The sum of a vector's elements, with the headers of the wheel. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

static const struct dlpackgen_parameter parameters[] = {
    {.name = "x", .ndim = 1, .layout = DLPACKGEN_LAYOUT_INNER_CONTIGUOUS, .dtypes = {DLPACKGEN_DTYPE_FLOAT64}}};
static const struct dlpackgen_function function = {DLPACKGEN_FUNCTION("total", parameters)};

static PyObject* total(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL(call, parameters);
  if (dlpackgen_call_begin(&call, module, &function, args, count, keywords)) return NULL;
  const DLTensor* x = &call.arguments[0].tensor;
  const double* element = (const double*)((const char*)x->data + x->byte_offset);
  double sum = 0;
  for (int64_t i = 0; i < x->shape[0]; i++) sum += element[i];
  dlpackgen_call_end(&call);
  return PyFloat_FromDouble(sum);
}

static PyMethodDef methods[] = {DLPACKGEN_METHOD("total", total, "The sum of x."), {NULL, NULL, 0, NULL}};

PyMODINIT_FUNC PyInit_total(void) {
  static struct dlpackgen_module module;
  return dlpackgen_module_init(&module, "total", "Sums.", methods, NULL);
}
