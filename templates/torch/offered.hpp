/**
 * \file offered.hpp
 * What objects of Python offer of DLPack: a table of their type, or the capsule of
 * __dlpack__. Torch is what makes the tensors, as in taken.hpp. Every function here
 * wants the GIL.
 */
#ifndef DLPACKGEN_V0_0_ATEN_OFFERED_HPP_
#define DLPACKGEN_V0_0_ATEN_OFFERED_HPP_

#include "taken.hpp"

#include <pybind11/pybind11.h>
#include <dlpackgen/exchange.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace aten DLPACKGEN_ATEN_HIDDEN {
namespace detail {

namespace py = pybind11;

// The tensor of a capsule is its consumer's from the moment on when the capsule has
// its other name.
template <class Struct>
Struct* open(PyObject* capsule, const char* name, const char* used) {
  void* const managed = PyCapsule_GetPointer(capsule, name);
  if (managed == nullptr || PyCapsule_SetName(capsule, used) != 0) throw py::error_already_set();
  return static_cast<Struct*>(managed);
}

inline PyObject* intern(const char* name) {
  PyObject* const made = PyUnicode_InternFromString(name);
  if (made == nullptr) throw py::error_already_set();
  return made;
}

// Made once, and kept for ever: a name that is made anew is in no cache of Python's.
struct Names {
  PyObject* table = intern("__dlpack_c_exchange_api__");
  PyObject* capsule = intern("__dlpack__");
  PyObject* device = intern("__dlpack_device__");
  PyObject* stream = intern("stream");
  PyObject* version = intern("max_version");
};

inline const Names& names() {
  static const Names all;
  return all;
}

inline py::object optional(PyObject* object, PyObject* name) {
  PyObject* const found = PyObject_GetAttr(object, name);
  if (found == nullptr && !PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
  if (found == nullptr) PyErr_Clear();
  return py::reinterpret_steal<py::object>(found);
}

inline bool has_own(PyTypeObject* type, PyObject* name) {
#if PY_VERSION_HEX >= 0x030C0000
  const py::object own = py::reinterpret_steal<py::object>(PyType_GetDict(type));
#else
  const py::object own = py::reinterpret_borrow<py::object>(type->tp_dict);
#endif
  const int found = own ? PyDict_Contains(own.ptr(), name) : 0;
  if (found < 0) throw py::error_already_set();
  return found != 0;
}

// A table of the type itself: one that it inherits does not know what it changes.
inline ExchangeTable table_of(PyTypeObject* type) {
  if (!has_own(type, names().table)) return ExchangeTable();
  const py::object capsule = optional(reinterpret_cast<PyObject*>(type), names().table);
  if (!capsule || !PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return ExchangeTable();
  const void* const header = PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api");
  const Result<ExchangeTable> found = ExchangeTable::find(static_cast<const DLPackExchangeAPIHeader*>(header));
  return found ? *found : ExchangeTable();
}

// pybind11 itself ends the process when Python has no memory for a dict or a tuple.
inline py::object made(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

inline DLDevice device_in(const py::object& answer) {
  int type = 0;
  int id = 0;
  PyObject* const pair = PySequence_Tuple(answer.ptr());
  const bool is_pair = pair != nullptr && PyArg_ParseTuple(pair, "ii", &type, &id) != 0;
  Py_XDECREF(pair);
  if (is_pair) return DLDevice{static_cast<DLDeviceType>(type), id};
  if (PyErr_ExceptionMatches(PyExc_MemoryError)) throw py::error_already_set();
  PyErr_Clear();
  throw Refused("its __dlpack_device__ does not give a pair of numbers, the type and the id of a device");
}

// __dlpack__ counts the default stream of CUDA as 1, that of ROCm as 0.
template <class Torch>
py::object stream_for(PyObject* object) {
  const py::object device = optional(object, names().device);
  if (!device) return py::object();
  const DLDevice named = device_in(made(PyObject_CallNoArgs(device.ptr())));
  if (named.device_type != kDLCUDA && named.device_type != kDLROCM) return py::object();
  const auto stream = reinterpret_cast<std::uintptr_t>(Torch::current_stream(named));
  return made(PyLong_FromSize_t(stream == 0 && named.device_type == kDLCUDA ? std::uintptr_t{1} : stream));
}

inline void set(const py::object& keywords, PyObject* name, const py::object& value) {
  if (PyDict_SetItem(keywords.ptr(), name, value.ptr()) != 0) throw py::error_already_set();
}

// Producers from before 1.0 know no version, and say TypeError.
template <class Torch>
py::object ask_capsule(PyObject* object) {
  const py::object method = optional(object, names().capsule);
  if (!method) throw NoTensor("expected a tensor, or a capsule with one: the object has no __dlpack__");
  const py::object stream = stream_for<Torch>(object);
  const py::object nothing = made(PyTuple_New(0));
  const py::object keywords = made(PyDict_New());
  if (stream) set(keywords, names().stream, stream);
  set(keywords, names().version, made(Py_BuildValue("(II)", current.major, current.minor)));
  PyObject* const capsule = PyObject_Call(method.ptr(), nothing.ptr(), keywords.ptr());
  if (capsule != nullptr) return made(capsule);
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
  PyErr_Clear();
  if (PyDict_DelItem(keywords.ptr(), names().version) != 0) throw py::error_already_set();
  return made(PyObject_Call(method.ptr(), nothing.ptr(), keywords.ptr()));
}

// What a table gives is not waited for, so it must come on the stream that is used.
template <class Torch>
void refuse_other_stream(const ExchangeTable& table, DLDevice device) {
  if (device.device_type == kDLCPU) return;
  const Result<void*> theirs = table.current_stream(device);
  if (!theirs) throw py::error_already_set();
  if (*theirs != Torch::current_stream(device)) throw Refused("its library works on another stream than torch");
}

// An exception that a table left although it succeeded is not ours to keep.
template <class Torch>
typename Torch::Tensor take_from(const ExchangeTable& table, PyObject* object, ReadOnly read_only) {
  DLManagedTensorVersioned* managed = nullptr;
  if (table.get()->managed_tensor_from_py_object_no_sync(object, &managed) != 0) {
    if (PyErr_Occurred() == nullptr) throw Refused("its exchange table failed, and does not say why");
    throw py::error_already_set();
  }
  PyErr_Clear();
  if (managed == nullptr) throw Refused("its exchange table gave no tensor");
  Taken<DLManagedTensorVersioned> taken(unwrap(Managed::take(managed)));
  refuse_other_stream<Torch>(table, taken.owned.view().device());
  return take<Torch>(static_cast<Managed&&>(taken.owned), read_only);
}

template <class Torch>
typename Torch::Tensor from_capsule(PyObject* capsule, ReadOnly read_only) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    return take<Torch>(open<DLManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned"),
                       read_only);
  }
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    return take<Torch>(open<DLManagedTensor>(capsule, "dltensor", "used_dltensor"), read_only);
  }
  throw NoTensor("expected a capsule with a tensor that nobody has taken");
}

// What is no tensor of torch, which has its own way.
template <class Torch>
typename Torch::Tensor from_offer(PyObject* object, ReadOnly read_only) {
  if (PyCapsule_CheckExact(object)) return from_capsule<Torch>(object, read_only);
  const ExchangeTable table = table_of(Py_TYPE(object));
  if (table) return take_from<Torch>(table, object, read_only);
  const py::object capsule = ask_capsule<Torch>(object);
  return from_capsule<Torch>(capsule.ptr(), read_only);
}

inline ReadOnly read_only_of(std::string_view wanted) {
  if (wanted == "refuse") return ReadOnly::refuse;
  if (wanted == "copy") return ReadOnly::copy;
  if (wanted == "trust") return ReadOnly::trust;
  throw py::value_error("read_only is 'refuse', 'copy' or 'trust', not '" + std::string(wanted) + "'");
}

// The arguments of from_dlpack() in Python.
struct Request {
  PyObject* object;
  ReadOnly read_only;
};

inline Request request_in(PyObject* args, PyObject* keywords) {
  static const char* const names[] = {"x", "read_only", nullptr};
  PyObject* object = nullptr;
  const char* read_only = "refuse";
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|s:from_dlpack", const_cast<char**>(names), &object, &read_only)) {
    throw py::error_already_set();
  }
  return Request{object, read_only_of(read_only)};
}

}  // namespace detail

}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_OFFERED_HPP_
