/* fill(out, value) as a Python function, called without PyTorch's dispatcher. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

static const struct dlpackgen_parameter parameters[] = {
    {.name = "out",
     .ndim = 1,
     .shape = {DLPACKGEN_ANY},
     .dtypes = {DLPACKGEN_DTYPE_FLOAT32},
     .layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS,
     .writable = 1},
    {.name = "value", .kind = DLPACKGEN_KIND_FLOAT},
};
static const struct dlpackgen_function function = {.name = "fill", .parameters = parameters, .nparameters = 2};

static PyObject* fill(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, 2);
  if (dlpackgen_call_begin(&call, module, &function, args, count, keywords)) return NULL;
  const DLTensor* out = &call.arguments[0].tensor;
  for (int64_t i = 0; i < out->shape[0]; i++) ((float*)out->data)[i] = (float)call.arguments[1].real;
  dlpackgen_call_end(&call);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {DLPACKGEN_METHOD("fill", fill, "fill(out, value)"), {NULL, NULL, 0, NULL}};

PyMODINIT_FUNC PyInit_direct_module(void) {
  static struct dlpackgen_module module;
  return dlpackgen_module_init(&module, "direct_module", "", methods, NULL);
}
