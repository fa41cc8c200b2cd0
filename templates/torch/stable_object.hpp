/**
 * \file stable_object.hpp
 * The same as object.hpp, with the stable ABI of LibTorch: creates a torch.Tensor that shares the
 * memory of an object of any library. That ABI supports Python objects since torch 2.14, but
 * neither gradients nor the bits of a tensor. These are queried through attributes of torch's own
 * type, which bypass modes of the caller and derived types. All functions need the GIL.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_STABLE_OBJECT_HPP_
#define DLPACKGEN_V0_0_PYTORCH_STABLE_OBJECT_HPP_

#include "foreign.hpp"
#include "stable_import.hpp"
#include "strides.hpp"

#include <torch/csrc/stable/pyobject.h>

#include <cstddef>
#include <cstdint>

#if TORCH_FEATURE_VERSION < TORCH_VERSION_2_14_0
#error "objects of Python need TORCH_TARGET_VERSION 2.14 or newer, whose ABI knows them"
#endif

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {
namespace stable {
namespace detail {

namespace py = pybind11;

// torch's own attributes, looked up once, so that programs cannot replace them.
struct Torch {
  py::object core = py::module_::import("torch._C");
  py::object base = core.attr("TensorBase");
  py::object tensor = py::module_::import("torch").attr("Tensor");
  py::object parameter = py::module_::import("torch.nn").attr("Parameter");
  py::object without_functions = core.attr("DisableTorchFunction");
  py::object without_dispatch = core.attr("_DisableTorchDispatch");
  py::object without_transforms = core.attr("_DisableFuncTorch");
  py::object detach = base.attr("detach");
  py::object is_neg = base.attr("is_neg");
  py::object is_conj = base.attr("is_conj");
  py::object requires_grad = base.attr("requires_grad");
};

inline const Torch& torch_itself() {
  static const Torch* const found = new Torch();  // never released, because Python may have shut down before
  return *found;
}

// Does not replace the exception of a call.
class Without {
 public:
  explicit Without(const py::object& what) : guard_(what()) { guard_.attr("__enter__")(); }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;
  ~Without() {
    Py_XDECREF(PyObject_CallMethod(guard_.ptr(), "__exit__", "OOO", Py_None, Py_None, Py_None));
    PyErr_Clear();
  }

 private:
  py::object guard_;
};

// As long as this exists, torch runs none of the caller's modes.
struct BelowModes {
  Without functions{torch_itself().without_functions};
  Without dispatch{torch_itself().without_dispatch};
  Without transforms{torch_itself().without_transforms};
};

inline bool has_name(std::int32_t dtype) {
  for (const pytorch::detail::DType& each : pytorch::detail::dtypes) {
    if (dtype_number(each.scalar) == dtype) return true;
  }
  return false;
}

// Shape and strides of a tensor. Wrappers and nested tensors have none.
inline DLTensor view_of(AtenTensorHandle tensor) {
  DLTensor view{};
  std::int64_t dimensions = 0;
  const void* data = nullptr;
  check_shim(aoti_torch_get_dim(tensor, &dimensions));
  check_shim(aoti_torch_get_sizes(tensor, &view.shape));
  check_shim(aoti_torch_get_strides(tensor, &view.strides));
  check_shim(torch_get_const_data_ptr(tensor, &data));
  view.ndim = static_cast<std::int32_t>(dimensions);
  view.data = const_cast<void*>(data);
  return view;
}

inline void reject_without_memory(AtenTensorHandle tensor, std::size_t size) {
  const DLTensor view = view_of(tensor);
  const std::int64_t elements = pytorch::detail::covered(view);
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  if (elements == 0) return;
  if (view.data == nullptr) throw BufferError(pytorch::detail::without_memory);
  check_shim(aoti_torch_get_storage_offset(tensor, &offset));
  check_shim(aoti_torch_get_storage_size(tensor, &bytes));
  const auto needed = (static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(elements)) * size;
  if (needed > static_cast<std::uint64_t>(bytes)) throw BufferError(pytorch::detail::beyond_storage);
}

// Throws for a tensor without strided memory, or with a dtype that DLPack lacks.
inline void reject_unreadable(AtenTensorHandle tensor) {
  std::int32_t layout = 0;
  std::int32_t device = 0;
  std::int32_t dtype = 0;
  check_shim(aoti_torch_get_layout(tensor, &layout));
  if (layout != aoti_torch_layout_strided()) throw BufferError("it " DLPACKGEN_TEXT_NO_STRIDES);
  check_shim(aoti_torch_get_device_type(tensor, &device));
  if (device != aoti_torch_device_type_cpu() && device != aoti_torch_device_type_cuda()) {
    throw BufferError(pytorch::detail::unsupported_device);
  }
  check_shim(aoti_torch_get_dtype(tensor, &dtype));
  if (!has_name(dtype)) throw BufferError(pytorch::detail::unnamed);
  reject_without_memory(tensor, aoti_torch_dtype_element_size(dtype));
}

inline void reject_recorded(PyObject* tensor) {
  if (!aoti_torch_grad_mode_is_enabled()) return;
  const Torch& torch = torch_itself();
  if (pytorch::detail::is_true(torch.requires_grad.attr("__get__")(py::handle(tensor)))) {
    throw BufferError(pytorch::detail::recording);
  }
}

inline void reject_tensor(PyObject* object) {
  AtenTensorHandle handle = nullptr;
  reject_recorded(object);
  check_shim(torch_tensor_from_pyobject(object, &handle));
  const Tensor owned(handle);
  reject_unreadable(handle);
}

inline void reject_derived(PyObject* object) {
  const Torch& torch = torch_itself();
  pytorch::detail::reject_dispatch(Py_TYPE(object), torch.tensor.ptr());
  const BelowModes below;
  if (pytorch::detail::is_true(torch.is_neg(py::handle(object)))) throw BufferError(pytorch::detail::negated);
  if (pytorch::detail::is_true(torch.is_conj(py::handle(object)))) throw BufferError(pytorch::detail::conjugated);
  reject_tensor(object);
}

// Its __dlpack__ may run any code, including code that frees the memory that torch then exports.
inline Tensor from_derived(PyObject* object, const pytorch::detail::How& how) {
  const pytorch::detail::Typed typed(object);
  reject_derived(object);
  const Tensor made = pytorch::detail::from_export<Shim>(typed, how);
  typed.require_same_type();
  reject_derived(object);
  return made;
}

// A new reference.
inline PyObject* alias_of(PyObject* object) {
  const BelowModes below;
  reject_tensor(object);
  return torch_itself().detach(py::handle(object)).release().ptr();
}

inline PyObject* object_of(const Tensor& tensor) {
  void* object = nullptr;
  check_shim(torch_tensor_to_pyobject(tensor.get(), nullptr, &object));
  return static_cast<PyObject*>(object);
}

}  // namespace detail

/**
 * Returns a new reference to a torch.Tensor that shares the memory of an object of any library, by
 * the rules of pytorch::from_object().
 *
 * \throws as from_raw(), or pybind11::error_already_set for exceptions of its library.
 */
inline PyObject* from_object(PyObject* object, const pytorch::detail::How& how = ReadOnly::raise) {
  const detail::Torch& torch = detail::torch_itself();
  PyTypeObject* const type = Py_TYPE(object);
  if (PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(torch.base.ptr())) == 0) {
    return detail::object_of(pytorch::detail::from_foreign<detail::Shim>(object, how));
  }
  const pybind11::handle found(reinterpret_cast<PyObject*>(type));
  if (found.is(torch.tensor) || found.is(torch.parameter)) return detail::alias_of(object);
  return detail::object_of(detail::from_derived(object, how));
}

}  // namespace stable
}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_STABLE_OBJECT_HPP_
