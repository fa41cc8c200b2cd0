// The empty kernel of fast.c in C++, whose arguments are views.
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include <dlpackgen/core.hpp>

namespace {

dlpackgen_parameter vector(const char* name) {
  dlpackgen_parameter p{};
  p.name = name;
  p.ndim = 1;
  p.layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS;
  p.dtypes[0] = DLPACKGEN_DTYPE_FLOAT32;
  p.shape[0] = DLPACKGEN_DIM(0);
  p.devices[0] = kDLCPU;
  p.devices[1] = kDLCUDA;
  return p;
}

const dlpackgen_parameter vectors[] = {vector("a"), vector("b"), vector("c")};
const dlpackgen_function held = {"held", vectors, 3, 0, {"n"}};
const volatile void* volatile sink;

PyObject* held_call(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  DLPACKGEN_CALL_OF(call, 3);
  if (dlpackgen_call_begin(&call, module, &held, args, count, keywords)) return nullptr;
  for (const auto& argument : call_arguments)
    sink = dlpackgen::TensorView::from_raw_unchecked(argument.tensor, argument.flags).data();
  dlpackgen_call_end(&call);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    DLPACKGEN_METHOD("held", held_call, "Keeps the GIL."),
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyMODINIT_FUNC PyInit_fast_cpp() {
  static dlpackgen_module module;
  return dlpackgen_module_init(&module, "fast_cpp", "An empty kernel.", methods, nullptr);
}
