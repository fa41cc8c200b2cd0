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

inline py::object optional(PyObject* object, const char* name) {
  PyObject* const found = PyObject_GetAttrString(object, name);
  if (found == nullptr && !PyErr_ExceptionMatches(PyExc_AttributeError)) throw py::error_already_set();
  if (found == nullptr) PyErr_Clear();
  return py::reinterpret_steal<py::object>(found);
}

// A table of the type itself: one that it inherits does not know what it changes.
inline ExchangeTable table_of(PyTypeObject* type) {
  constexpr const char* name = "__dlpack_c_exchange_api__";
  const py::object own = optional(reinterpret_cast<PyObject*>(type), "__dict__");
  if (!own || !py::bool_(own.attr("__contains__")(name))) return ExchangeTable();
  const py::object capsule = optional(reinterpret_cast<PyObject*>(type), name);
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return ExchangeTable();
  const void* const header = PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api");
  const Result<ExchangeTable> found = ExchangeTable::find(static_cast<const DLPackExchangeAPIHeader*>(header));
  return found ? *found : ExchangeTable();
}

inline DLDevice device_in(const py::object& answer) {
  try {
    const auto where = answer.cast<std::pair<std::int32_t, std::int32_t>>();
    return DLDevice{static_cast<DLDeviceType>(where.first), where.second};
  } catch (const py::cast_error&) {
    throw Refused("its __dlpack_device__ does not give a pair of numbers, the type and the id of a device");
  }
}

// __dlpack__ counts the default stream of CUDA as 1, that of ROCm as 0.
template <class Torch>
py::object stream_for(PyObject* object) {
  const py::object device = optional(object, "__dlpack_device__");
  if (!device) return py::none();
  const DLDevice named = device_in(device());
  if (named.device_type != kDLCUDA && named.device_type != kDLROCM) return py::none();
  const auto stream = reinterpret_cast<std::uintptr_t>(Torch::current_stream(named));
  return py::int_(stream == 0 && named.device_type == kDLCUDA ? std::uintptr_t{1} : stream);
}

// Producers from before 1.0 know no version, and say TypeError.
template <class Torch>
py::object ask_capsule(PyObject* object) {
  const py::object method = optional(object, "__dlpack__");
  if (!method) throw NoTensor("expected a tensor, or a capsule with one: the object has no __dlpack__");
  py::dict keywords;
  const py::object stream = stream_for<Torch>(object);
  if (!stream.is_none()) keywords["stream"] = stream;
  const py::dict older = keywords.attr("copy")();
  keywords["max_version"] = py::make_tuple(current.major, current.minor);
  try {
    return method(**keywords);
  } catch (py::error_already_set& e) {
    if (!e.matches(PyExc_TypeError)) throw;
  }
  return method(**older);
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
