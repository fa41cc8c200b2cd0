/**
 * \file object.hpp
 * An at::Tensor out of any object of Python that offers DLPack: by the exchange
 * table of its type, else by the capsule of __dlpack__. Every function here wants
 * the GIL.
 */
#ifndef DLPACKGEN_V0_0_ATEN_OBJECT_HPP_
#define DLPACKGEN_V0_0_ATEN_OBJECT_HPP_

#include "table.hpp"

#include <pybind11/pybind11.h>
#include <dlpackgen/exchange.hpp>

#include <cstdint>

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
  if (managed == nullptr || PyCapsule_SetName(capsule, used) != 0) throw python_error();
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
inline py::object stream_for(PyObject* object) {
  const py::object device = optional(object, "__dlpack_device__");
  if (!device) return py::none();
  const DLDevice named = device_in(device());
  if (named.device_type != kDLCUDA && named.device_type != kDLROCM) return py::none();
  const auto stream = reinterpret_cast<std::uintptr_t>(current_stream(named));
  return py::int_(stream == 0 && named.device_type == kDLCUDA ? std::uintptr_t{1} : stream);
}

// Producers from before 1.0 know no version, and say TypeError.
inline py::object ask_capsule(PyObject* object) {
  const py::object method = optional(object, "__dlpack__");
  if (!method) throw NoTensor("expected a tensor, or a capsule with one: the object has no __dlpack__");
  py::dict keywords;
  const py::object stream = stream_for(object);
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
inline void refuse_other_stream(const ExchangeTable& table, DLDevice device) {
  if (device.device_type == kDLCPU) return;
  const Result<void*> theirs = table.current_stream(device);
  if (!theirs) throw python_error();
  if (*theirs != current_stream(device)) throw Refused("its library works on another stream than torch");
}

// An exception that a table left although it succeeded is not ours to keep.
inline at::Tensor take_from(const ExchangeTable& table, PyObject* object, ReadOnly read_only) {
  DLManagedTensorVersioned* managed = nullptr;
  if (table.get()->managed_tensor_from_py_object_no_sync(object, &managed) != 0) {
    if (PyErr_Occurred() == nullptr) throw Refused("its exchange table failed, and does not say why");
    throw python_error();
  }
  PyErr_Clear();
  if (managed == nullptr) throw Refused("its exchange table gave no tensor");
  Taken<DLManagedTensorVersioned> taken(unwrap(Managed::take(managed)));
  refuse_other_stream(table, taken.owned.view().device());
  return take(static_cast<Managed&&>(taken.owned), read_only);
}

}  // namespace detail

/**
 * Takes the tensor out of a capsule that nobody has taken it from, of either name.
 *
 * \throws as take(), or python_error for what is no such capsule.
 */
inline at::Tensor from_capsule(PyObject* capsule, ReadOnly read_only = ReadOnly::refuse) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    return take(detail::open<DLManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned"),
                read_only);
  }
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    return take(detail::open<DLManagedTensor>(capsule, "dltensor", "used_dltensor"), read_only);
  }
  throw NoTensor("expected a capsule with a tensor that nobody has taken");
}

/**
 * A tensor over the memory of an object of any library. A torch.Tensor, also one
 * of a derived type, gives an alias of itself, which keeps its conjugate and
 * negative bits.
 *
 * \throws as take(), or python_error for what its library raises.
 */
inline at::Tensor from_object(PyObject* object, ReadOnly read_only = ReadOnly::refuse) {
  if (PyCapsule_CheckExact(object)) return from_capsule(object, read_only);
  if (THPVariable_Check(object)) return THPVariable_Unpack(object).detach();
  const ExchangeTable table = detail::table_of(Py_TYPE(object));
  if (table) return detail::take_from(table, object, read_only);
  const pybind11::object capsule = detail::ask_capsule(object);
  return from_capsule(capsule.ptr(), read_only);
}

}  // namespace aten DLPACKGEN_ATEN_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_ATEN_OBJECT_HPP_
