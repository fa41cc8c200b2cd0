/*
 * The module dlpackgen_torch_stable: the consumer by the stable ABI of LibTorch, one
 * library for torch 2.14 and newer, which can make objects of Python out of the
 * tensors of that ABI. Older ones have no symbol for that, and do not load it.
 */
#include "offered.hpp"
#include "stable_take.hpp"

#include <torch/csrc/stable/pyobject.h>

#include <exception>
#include <new>

#if TORCH_FEATURE_VERSION < TORCH_VERSION_2_14_0
#error "the module needs TORCH_TARGET_VERSION 2.14 or newer, whose ABI knows objects of Python"
#endif

namespace {

namespace aten = dlpackgen::aten;
namespace py = pybind11;

using aten::stable::detail::check_shim;
using aten::stable::detail::Shim;

PyObject* report() noexcept {
  try {
    throw;
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const aten::NoTensor& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {  // what the validator, this code or torch refuses
    PyErr_SetString(PyExc_BufferError, e.what());
  }
  return nullptr;
}

// Its own alias, as aten::from_object() gives it.
PyObject* alias(PyObject* tensor) { return py::handle(tensor).attr("detach")().release().ptr(); }

PyObject* tensor_type = nullptr;  // kept for ever

bool is_tensor(PyObject* object) {
  const int found = PyObject_IsInstance(object, tensor_type);
  if (found < 0) throw py::error_already_set();
  return found != 0;
}

PyObject* take(const aten::detail::Request& wanted) {
  if (!PyCapsule_CheckExact(wanted.object) && is_tensor(wanted.object)) return alias(wanted.object);
  const torch::stable::Tensor made = aten::detail::from_offer<Shim>(wanted.object, wanted.read_only);
  void* object = nullptr;
  check_shim(torch_tensor_to_pyobject(made.get(), nullptr, &object));
  return static_cast<PyObject*>(object);
}

PyObject* from_dlpack(PyObject*, PyObject* args, PyObject* keywords) {
  try {
    return take(aten::detail::request_in(args, keywords));
  } catch (...) {
    return report();
  }
}

PyMethodDef methods[] = {
    {"from_dlpack", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(from_dlpack)), METH_VARARGS | METH_KEYWORDS,
     "from_dlpack(x, read_only='refuse'): a torch.Tensor over the memory of a tensor of any library, or of a capsule.\n"
     "Read-only memory is refused, copied ('copy'), or taken as it is ('trust'): nobody may write to it then."},
    {nullptr, nullptr, 0, nullptr},
};

constexpr const char* doc = "The consumer, by the stable ABI of LibTorch.";

PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "dlpackgen_torch_stable", doc, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_dlpackgen_torch_stable() {
  PyObject* const torch = PyImport_ImportModule("torch");  // which brings the libraries
  tensor_type = torch == nullptr ? nullptr : PyObject_GetAttrString(torch, "Tensor");
  Py_XDECREF(torch);
  return tensor_type == nullptr ? nullptr : PyModule_Create(&definition);
}
