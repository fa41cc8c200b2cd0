/**
 * \file foreign.hpp
 * Reads Python objects through DLPack: the exchange table of their type, or the capsule of
 * __dlpack__. The parameter Torch creates the tensors. All functions need the GIL.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_FOREIGN_HPP_
#define DLPACKGEN_V0_0_PYTORCH_FOREIGN_HPP_

#include "checked.hpp"
#include "queries.hpp"

#include <pybind11/pybind11.h>
#include <dlpackgen/exchange.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace detail {

// The consumer owns the tensor of a capsule as soon as the capsule is renamed.
template <class Struct>
Struct* open(PyObject* capsule, const char* name, const char* used) {
  void* const managed = PyCapsule_GetPointer(capsule, name);
  if (managed == nullptr || PyCapsule_SetName(capsule, used) != 0) throw py::error_already_set();
  return static_cast<Struct*>(managed);
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

// Paddle's parameters are read through the table of its tensors, from which they derive.
inline PyTypeObject* type_with_table(PyTypeObject* type) {
  if (has_own(type, names().table) || !has(type, names().stop_gradient)) return type;
  const py::object parameter = imported("paddle.base.framework", "EagerParamBase");
  return parameter.ptr() == reinterpret_cast<PyObject*>(type) ? type->tp_base : type;
}

// A table of the type itself. An inherited table does not take changes of the derived type into
// account.
inline ExchangeAPI table_of(PyTypeObject* derived) {
  PyTypeObject* const type = type_with_table(derived);
  if (!has_own(type, names().table)) return ExchangeAPI();
  const py::object capsule = optional(reinterpret_cast<PyObject*>(type), names().table);
  if (!capsule || !PyCapsule_IsValid(capsule.ptr(), DLPACKGEN_CAPSULE_EXCHANGE_API)) return ExchangeAPI();
  const void* const header = PyCapsule_GetPointer(capsule.ptr(), DLPACKGEN_CAPSULE_EXCHANGE_API);
  const Result<ExchangeAPI> found = ExchangeAPI::find(static_cast<const DLPackExchangeAPIHeader*>(header));
  return found ? *found : ExchangeAPI();
}

// The value of a member of an enumeration is used. None is the only device of the CPU.
inline long long number_in(PyObject* item, bool is_id_of_cpu) {
  if (item == Py_None && is_id_of_cpu) return 0;
  const py::object value = PyIndex_Check(item) ? py::object() : optional(item, names().value);
  const long long number = PyLong_AsLongLong(value ? value.ptr() : item);
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

// Reads a tuple or list of two items from __dlpack_device__: the type and the id.
inline std::optional<DLDevice> device_in(const py::object& answer) {
  if (!PyTuple_Check(answer.ptr()) && !PyList_Check(answer.ptr())) return std::nullopt;
  const py::object pair = made(PySequence_Tuple(answer.ptr()));  // because a list may change meanwhile
  if (PyTuple_GET_SIZE(pair.ptr()) != 2) return std::nullopt;
  const long long type = number_in(PyTuple_GET_ITEM(pair.ptr(), 0), false);
  const long long id = number_in(PyTuple_GET_ITEM(pair.ptr(), 1), type == kDLCPU);
  if (type != static_cast<std::int32_t>(type) || id != static_cast<std::int32_t>(id)) return std::nullopt;
  return DLDevice{static_cast<DLDeviceType>(type), static_cast<std::int32_t>(id)};
}

// The device that a producer declares; old producers declare none.
using Declared = std::optional<DLDevice>;

inline Declared declared_by(PyObject* object) {
  PyObject* const answer = PyObject_CallMethodNoArgs(object, names().device);
  if (answer == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError)) return PyErr_Clear(), std::nullopt;
  const Declared declared = device_in(made(answer));
  if (declared) return declared;
  throw BufferError(DLPACKGEN_TEXT_NO_DEVICE);
}

// Only the stream of the declared device was synchronized.
inline void reject_undeclared(DLDevice device, const Declared& declared) {
  if (is_on_host(device)) return;
  if (!declared) {
    throw BufferError("it has no __dlpack_device__(), but its __dlpack__() returned a tensor on device " +
                      text_of(device) + " without a stream");
  }
  if (declared->device_type != device.device_type || declared->device_id != device.device_id) {
    throw BufferError("its __dlpack_device__() declared " + text_of(*declared) +
                      ", but its __dlpack__() returned a tensor on device " + text_of(device));
  }
}

// torch's current stream, as a number for __dlpack__; NULL for devices without streams.
template <class Torch>
py::object stream_for(const Declared& declared) {
  const std::optional<std::uintptr_t> standard = declared ? default_stream(declared->device_type) : std::nullopt;
  if (!standard) return py::object();
  const auto stream = reinterpret_cast<std::uintptr_t>(Torch::current_stream(*declared));
  return made(PyLong_FromSize_t(stream == 0 ? *standard : stream));
}

// The names of arguments, created once. Producers receive a new dict each time, because they could
// change it.
struct Keywords {
  py::object version = made(Py_BuildValue("(II)", abi_version.major, abi_version.minor));
  py::object all = made(PyTuple_Pack(2, names().version, names().stream));
  py::object only_version = made(PyTuple_Pack(1, names().version));
  py::object only_stream = made(PyTuple_Pack(1, names().stream));
};

inline const Keywords& keywords() {
  static const Keywords* const all = new Keywords();  // never released, because Python may have shut down before
  return *all;
}

// Producers before 1.0 do not support the version, and raise TypeError.
inline py::object call_capsule(const py::object& method, const py::object& stream) {
  const Keywords& words = keywords();
  PyObject* const passed[] = {words.version.ptr(), stream.ptr()};
  PyObject* const all = stream ? words.all.ptr() : words.only_version.ptr();
  PyObject* const capsule = PyObject_Vectorcall(method.ptr(), passed, 0, all);
  if (capsule != nullptr) return made(capsule);
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
  PyErr_Clear();
  return made(PyObject_Vectorcall(method.ptr(), passed + 1, 0, stream ? words.only_stream.ptr() : nullptr));
}

template <class Torch>
py::object request_capsule(PyObject* object, Declared& declared) {
  const py::object method = optional(object, names().capsule);
  if (!method) throw TypeError("expected a tensor or a DLPack capsule: the object has no __dlpack__");
  declared = declared_by(object);
  return call_capsule(method, stream_for<Torch>(declared));
}

// A table does not synchronize, so its stream must be the stream in use.
template <class Torch>
void reject_other_stream(const ExchangeAPI& table, DLDevice device) {
  if (is_on_host(device)) return;
  const Result<void*> theirs = table.current_work_stream(device);
  if (!theirs && PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (!theirs) throw BufferError(DLPACKGEN_TEXT_NO_STREAM);
  PyErr_Clear();
  if (*theirs != Torch::current_stream(device)) throw BufferError("its stream differs from torch's current stream");
}

// An exception that a successful table leaves is cleared.
inline DLManagedTensorVersioned* own_by_table(const ExchangeAPI& table, PyObject* object) {
  DLManagedTensorVersioned* managed = nullptr;
  if (table.get()->managed_tensor_from_py_object_no_sync(object, &managed) != 0) {
    if (PyErr_Occurred() == nullptr) throw BufferError("its exchange table failed without an error message");
    throw py::error_already_set();
  }
  PyErr_Clear();
  if (managed == nullptr) throw BufferError(DLPACKGEN_TEXT_NO_TENSOR);
  return managed;
}

template <class Torch>
typename Torch::Tensor import_from(const ExchangeAPI& table, PyObject* object, const How& how) {
  auto incoming = received(queried(object, [&] { return own_by_table(table, object); }));
  reject_other_stream<Torch>(table, incoming.owned.view().device());
  return import_checked<Torch>(std::move(incoming), how);
}

// Consumes the tensor of a capsule. The device is checked only if it was declared.
template <class Torch, class Struct>
typename Torch::Tensor import_from_capsule(PyObject* capsule, const char* name, const char* used, const How& how,
                                           const Declared* declared) {
  auto incoming = received(open<Struct>(capsule, name, used));
  if (declared != nullptr) reject_undeclared(incoming.owned.view().device(), *declared);
  return import_checked<Torch>(std::move(incoming), how);
}

inline constexpr const char no_capsule[] = "expected an unconsumed DLPack capsule";

template <class Torch>
typename Torch::Tensor from_capsule(PyObject* capsule, const How& how, const Declared* declared = nullptr) {
  if (PyCapsule_IsValid(capsule, DLPACKGEN_CAPSULE_VERSIONED)) {
    return import_from_capsule<Torch, DLManagedTensorVersioned>(capsule, DLPACKGEN_CAPSULE_VERSIONED,
                                                                DLPACKGEN_CAPSULE_VERSIONED_USED, how, declared);
  }
  if (PyCapsule_IsValid(capsule, DLPACKGEN_CAPSULE)) {
    return import_from_capsule<Torch, DLManagedTensor>(capsule, DLPACKGEN_CAPSULE, DLPACKGEN_CAPSULE_USED, how,
                                                       declared);
  }
  if (declared != nullptr) throw BufferError(DLPACKGEN_TEXT_NO_CAPSULE);
  throw TypeError(no_capsule);
}

// An object, and its type at the beginning of the call. Attributes that were looked up on that type
// must not be used for an object of another type.
struct Typed {
  PyObject* object;
  py::object type;

  explicit Typed(PyObject* passed)
      : object(passed), type(py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(Py_TYPE(passed)))) {}

  void require_same_type() const {
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == type.ptr()) return;
    throw BufferError(DLPACKGEN_TEXT_OTHER_TYPE);
  }
};

// Imports the tensor of an object through its table, or else through __dlpack__.
template <class Torch>
typename Torch::Tensor from_export(const Typed& typed, const How& how) {
  PyObject* const object = typed.object;
  const auto type = reinterpret_cast<PyTypeObject*>(typed.type.ptr());
  const ExchangeAPI table = queried(object, [&] { return table_of(type); });
  typed.require_same_type();
  if (table) return import_from<Torch>(table, object, how);
  Declared declared;
  const py::object capsule = queried(object, [&] { return request_capsule<Torch>(object, declared); });
  return from_capsule<Torch>(capsule.ptr(), how, &declared);
}

// Imports an object that is not a torch tensor. Those are handled separately.
template <class Torch>
typename Torch::Tensor from_foreign(PyObject* object, const How& how) {
  if (PyCapsule_CheckExact(object)) return from_capsule<Torch>(object, how);
  const Typed typed(object);
  queried(object, [&] { reject_what_memory_lacks<Torch>(object); });
  return from_export<Torch>(typed, how);
}

inline ReadOnly read_only_of(std::string_view wanted) {
  if (wanted == "raise") return ReadOnly::raise;
  if (wanted == "copy") return ReadOnly::copy;
  if (wanted == "allow") return ReadOnly::allow;
  throw py::value_error("read_only must be 'raise', 'copy' or 'allow', not '" + std::string(wanted) + "'");
}

// The docstring of from_dlpack() in Python.
inline constexpr const char from_dlpack_doc[] =
    "from_dlpack(x, /, *, device=None, copy=None, read_only='raise'): a torch.Tensor over the memory of a tensor of any\n"
    "library, or of a capsule; a copy of it where copy=True or device= needs one. Other read-only memory raises\n"
    "BufferError, is copied ('copy'), or is used as it is ('allow'): it must not be written to then.";

// The arguments of from_dlpack() in Python.
struct Request {
  PyObject* object;
  PyObject* device;  // accepted by torch.device(), or None
  PyObject* copy;    // True, False or None
  ReadOnly read_only;

  // Memory that is copied afterwards may be read-only. Without a copy, it must be writable.
  How how() const {
    if (copy == Py_True) return How(ReadOnly::allow);
    if (copy == Py_None) return How(read_only);
    return How(read_only == ReadOnly::copy ? ReadOnly::raise : read_only, false);
  }
};

inline Request request_in(PyObject* args, PyObject* keywords) {
  static const char* const names[] = {"", "device", "copy", "read_only", nullptr};
  Request found{nullptr, Py_None, Py_None, ReadOnly::raise};
  const char* read_only = "raise";
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOs:from_dlpack", const_cast<char**>(names), &found.object,
                                   &found.device, &found.copy, &read_only)) {
    throw py::error_already_set();
  }
  if (found.copy != Py_None && !PyBool_Check(found.copy)) throw py::type_error("copy must be True, False or None");
  found.read_only = read_only_of(read_only);
  return found;
}

// The device on which torch creates tensors for this device: "cuda" stands for a device with a
// number.
inline py::object device_of(PyObject* device) {
  return py::module_::import("torch").attr("empty")(0, py::arg("device") = py::handle(device)).attr("device");
}

// Other devices copy after the call. The memory must exist until the copy is complete.
inline void finish_copy(const py::object& from) {
  const py::object device = from.attr("device");
  if (device.attr("type").cast<std::string>() == "cpu") return;
  py::module_::import("torch").attr("accelerator").attr("synchronize")(device);
}

// Copies a torch tensor if a copy was requested, or if the device requires it.
inline py::object placed(const py::object& made, const Request& wanted) {
  py::object copy;
  if (wanted.device != Py_None) {
    const py::object device = device_of(wanted.device);
    if (!device.equal(made.attr("device"))) {
      if (wanted.copy == Py_False) {
        throw BufferError("it is not on device=, and copy=False does not allow a copy");
      }
      copy = made.attr("to")(device);
    }
  }
  if (!copy && wanted.copy == Py_True) copy = made.attr("clone")();
  if (!copy) return made;
  finish_copy(made);
  return copy;
}

}  // namespace detail

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_FOREIGN_HPP_
