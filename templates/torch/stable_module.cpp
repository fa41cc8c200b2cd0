/*
 * The module dlpackgen_torch_stable: the consumer with the stable ABI of LibTorch, as one library
 * for torch 2.14 and newer. Older versions cannot convert tensors of that ABI to Python objects,
 * and fail to load the module.
 */
#include "stable_object.hpp"

#include <exception>
#include <new>

namespace {

namespace pytorch = dlpackgen::pytorch;
namespace py = pybind11;

PyObject* report() noexcept {
  try {
    throw;
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const pytorch::TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {  // rejected by the validator, this code or torch
    PyErr_SetString(PyExc_BufferError, e.what());
  }
  return nullptr;
}

PyObject* from_dlpack(PyObject*, PyObject* args, PyObject* keywords) {
  try {
    const pytorch::detail::Request wanted = pytorch::detail::request_in(args, keywords);
    const auto made = pytorch::detail::made(pytorch::stable::from_object(wanted.object, wanted.how()));
    return pytorch::detail::placed(made, wanted).release().ptr();
  } catch (...) {
    return report();
  }
}

PyMethodDef methods[] = {
    {"from_dlpack", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(from_dlpack)), METH_VARARGS | METH_KEYWORDS,
     pytorch::detail::from_dlpack_doc},
    {nullptr, nullptr, 0, nullptr},
};

constexpr const char* doc = "The consumer, by the stable ABI of LibTorch.";

PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "dlpackgen_torch_stable", doc, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_dlpackgen_torch_stable() {
  try {
    static_cast<void>(pytorch::stable::detail::torch_itself());  // which loads the libraries
    return PyModule_Create(&definition);
  } catch (...) {
    return report();
  }
}
