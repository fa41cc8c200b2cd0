/* A module of Python with one function: the bytes of a tensor of 2 x 3 floats. */
#include <Python.h>
#include <dlpackgen/abi_check.h>
#include <dlpackgen/rules.h>

static PyObject* nbytes(PyObject* module, PyObject* unused) {
  int64_t shape[] = {2, 3}, strides[] = {3, 1}, bytes = 0;
  DLTensor tensor = {0};
  (void)module, (void)unused;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 2;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  tensor.strides = strides;
  dlpackgen_nbytes(&tensor, 0, &bytes);
  return PyLong_FromLongLong(bytes);
}

static PyMethodDef methods[] = {{"nbytes", nbytes, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "tensors", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_tensors(void) { return PyModuleDef_Init(&module); }
