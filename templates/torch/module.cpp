/*
 * The module _torch_MAJOR_MINOR_PATCH of the package dlpackgen_torch, for one version of torch.
 * __init__.py imports the matching module, and rejects other versions before a symbol of torch is
 * looked up. The headers of torch do not identify pre-releases: to build for one, define
 * DLPACKGEN_TORCH_VERSION as its version, such as "2.16.0.dev20261122".
 */
// The headers of ATen then include only the operators that they call. This file includes no code
// that could rely on others.
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#endif

#include "install.hpp"
#include "object.hpp"
#include "self_test.hpp"

#define DLPACKGEN_TEXT_(text) #text
#define DLPACKGEN_TEXT(text) DLPACKGEN_TEXT_(text)
#define DLPACKGEN_INIT_(major, minor, patch) PyInit__torch_##major##_##minor##_##patch
#define DLPACKGEN_INIT(major, minor, patch) DLPACKGEN_INIT_(major, minor, patch)

#ifndef DLPACKGEN_TORCH_VERSION
#define DLPACKGEN_TORCH_VERSION \
  DLPACKGEN_TEXT(TORCH_VERSION_MAJOR) "." DLPACKGEN_TEXT(TORCH_VERSION_MINOR) "." DLPACKGEN_TEXT(TORCH_VERSION_PATCH)
#endif

namespace {

namespace pytorch = dlpackgen::pytorch;

constexpr std::string_view version = DLPACKGEN_TORCH_VERSION;

template <class Call>
PyObject* guarded(Call call) noexcept {
  try {
    return call();
  } catch (...) {
    pytorch::detail::report_to_python();
    return nullptr;
  }
}

PyObject* install(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* { return pytorch::install(), Py_NewRef(Py_None); });
}

PyObject* uninstall(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* { return pytorch::uninstall(), Py_NewRef(Py_None); });
}

PyObject* is_installed(PyObject*, PyObject*) {
  return guarded([] { return PyBool_FromLong(pytorch::is_installed()); });
}

PyObject* use_backend(PyObject*, PyObject* capsule) {
  return guarded([&]() -> PyObject* {
    void* const table = capsule == Py_None ? nullptr : PyCapsule_GetPointer(capsule, "dlpackgen_backend");
    if (table == nullptr && capsule != Py_None) return nullptr;
    pytorch::use_backend(static_cast<const dlpackgen_backend*>(table));
    return Py_NewRef(Py_None);
  });
}

PyObject* from_dlpack(PyObject*, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    const pytorch::detail::Request wanted = pytorch::detail::request_in(args, keywords);
    const auto made = pytorch::detail::made(THPVariable_Wrap(pytorch::from_object(wanted.object, wanted.how())));
    return pytorch::detail::placed(made, wanted).release().ptr();
  });
}

PyMethodDef methods[] = {
    {"install", install, METH_NOARGS, "Makes this table the exchange table of torch.Tensor."},
    {"uninstall", uninstall, METH_NOARGS, "Restores the previous table of torch.Tensor."},
    {"is_installed", is_installed, METH_NOARGS, "Whether this is the exchange table of torch.Tensor."},
    {"use_backend", use_backend, METH_O,
     "use_backend(capsule): queries a backend for the device of a tensor's memory, and has it keep its own memory\n"
     "until torch's work is done. A capsule named dlpackgen_backend, or None."},
    {"from_dlpack", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(from_dlpack)), METH_VARARGS | METH_KEYWORDS,
     pytorch::detail::from_dlpack_doc},
    {nullptr, nullptr, 0, nullptr},
};

// Compares versions except the build name, such as "+cpu", before any function of torch is called.
bool is_for_this_torch() noexcept {
  PyObject* const torch = PyImport_ImportModule("torch");
  PyObject* const found = torch == nullptr ? nullptr : PyObject_GetAttrString(torch, "__version__");
  const char* const running = found == nullptr ? nullptr : PyUnicode_AsUTF8(found);
  const std::string_view text = running == nullptr ? "" : running;
  const bool matches = text.substr(0, text.find('+')) == version;
  if (running != nullptr && !matches) {
    PyErr_Format(PyExc_ImportError, "this module was built for torch %s, but torch %s is running: rebuild it",
                 version.data(), running);
  }
  Py_XDECREF(found);
  Py_XDECREF(torch);
  return matches;
}

bool add(PyObject* module, const char* name, PyObject* value) {
  const int failed = value == nullptr ? -1 : PyModule_AddObjectRef(module, name, value);
  Py_XDECREF(value);
  return failed == 0;
}

PyObject* stream_source() {
  return PyCapsule_New(const_cast<dlpackgen_stream_source*>(pytorch::stream_source()), "dlpackgen_stream_source",
                       nullptr);
}

PyObject* fill(PyObject* module) {
  if (!pytorch::reads_alike()) {
    PyErr_Format(PyExc_ImportError, "this module does not match the tensors of torch %s: rebuild it", version.data());
    Py_DECREF(module);
    return nullptr;
  }
  Py_INCREF(module);  // never released: consumers keep the table and the objects that it points to
  const bool filled =
      add(module, "exchange_api", pytorch::capsule_of(pytorch::exchange_api())) &&
      add(module, "exchange_api_read_only", pytorch::capsule_of(pytorch::exchange_api<pytorch::Access::read>())) &&
      add(module, "exchange_api_object_owned", pytorch::capsule_of(pytorch::exchange_api_object_owned())) &&
      add(module, "stream_source", stream_source()) &&
      add(module, "torch_version", PyUnicode_FromString(version.data()));
  return filled ? module : nullptr;
}

constexpr const char* doc = "The exchange table of torch.Tensor, compiled.";

PyModuleDef definition{PyModuleDef_HEAD_INIT, "_torch", doc, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC DLPACKGEN_INIT(TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_PATCH)() {
  if (!is_for_this_torch()) return nullptr;
  PyObject* const module = PyModule_Create(&definition);
  return module == nullptr ? nullptr : guarded([&] { return fill(module); });
}
