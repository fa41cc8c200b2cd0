// The empty kernel of ../python/fast.c in C++, which converts its arguments to arrays.
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include <dlpackgen/array_view.hpp>
#include <dlpackgen/core.hpp>

using dlpackgen::TensorView;

static dlpackgen_parameter vector(const char* name) {
  dlpackgen_parameter parameter{};
  parameter.name = name;
  parameter.ndim = 1;
  parameter.layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS;
  parameter.dtypes[0] = DLPACKGEN_DTYPE_FLOAT32;
  parameter.shape[0] = DLPACKGEN_DIM(0);
  parameter.devices[0] = kDLCPU;
  parameter.devices[1] = kDLCUDA;
  return parameter;
}

static const dlpackgen_parameter vectors[] = {vector("a"), vector("b"), vector("c")};
static const dlpackgen_function held = {"held", vectors, 3, 0, {"n"}};

// Replaces a kernel; opaque to the compiler.
static volatile const void* sink;

static PyObject* nothing() {
  Py_INCREF(Py_None);
  return Py_None;
}

static PyObject* held_call(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, 3);
  if (dlpackgen_call_begin(&call, module, &held, args, count, keywords)) return nullptr;
  for (int i = 0; i < 3; i++) {
    sink = TensorView::from_raw_unchecked(call.arguments[i].tensor, call.arguments[i].flags).data();
  }
  dlpackgen_call_end(&call);
  return nothing();
}

// The same, with additional checks of the type, the rank, the device and the alignment.
static PyObject* arrays_call(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, 3);
  if (dlpackgen_call_begin(&call, module, &held, args, count, keywords)) return nullptr;
  dlpackgen::Error error;
  for (int i = 0; i < 3; i++) {
    const auto view = TensorView::from_raw_unchecked(call.arguments[i].tensor, call.arguments[i].flags);
    const auto array = dlpackgen::array_of<const float, 1>(view);
    if (!array) error = array.error();
    sink = array->data();
  }
  dlpackgen_call_end(&call);
  if (!error) return nothing();
  PyErr_SetString(PyExc_ValueError, error.text());
  return nullptr;
}

static PyMethodDef methods[] = {
    DLPACKGEN_METHOD("held", held_call, "Keeps the GIL."),
    DLPACKGEN_METHOD("arrays", arrays_call, "Checks once more."),
    {nullptr, nullptr, 0, nullptr},
};

PyMODINIT_FUNC PyInit_views() {
  static struct dlpackgen_module module;
  return dlpackgen_module_init(&module, "views", "Empty kernels.", methods, nullptr);
}
