// PyTorch's key PrivateUse1 for the backend: memory, the current queue of each device, and
// copies. It uses the table of the module clusm, so that both share one OpenCL context.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include "clusm/dlpackgen_backend.h"

#include <array>
#include <cstdint>

namespace {

constexpr c10::DeviceType type = c10::DeviceType::PrivateUse1;
constexpr int max_devices = 64;

const dlpackgen_backend* table = nullptr;
thread_local c10::Device current(type, 0);
thread_local std::array<void*, max_devices> queues{};  // nullptr: the backend's own

void must(int code, const dlpackgen_backend_error& error) { TORCH_CHECK(code == 0, error.text); }

dlpackgen_stream stream_of(int device) {
  return {queues.at(device), {static_cast<DLDeviceType>(kDLExtDev), device}, 0, 0};
}

// The last work on the memory is queued on the current stream, or on one that it waits for.
void release(void* context) {
  auto* const tensor = static_cast<DLManagedTensorVersioned*>(context);
  const dlpackgen_stream stream = stream_of(tensor->dl_tensor.device.device_id);
  static_cast<void>(table->keep_until(tensor, &stream, nullptr));
  tensor->deleter(tensor);
}

DLTensor bytes_at(void* data, DLDevice device, std::int64_t* count) {
  return {data, device, 1, {kDLUInt, 8, 1}, count, nullptr, 0};
}

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    const auto count = static_cast<std::int64_t>(bytes);
    const dlpackgen_stream stream = stream_of(current.index());
    const dlpackgen_allocation request{sizeof request, stream.device, {kDLUInt, 8, 1}, 1, &count, stream.handle, 0};
    DLManagedTensorVersioned* tensor = nullptr;
    dlpackgen_backend_error error;
    TORCH_CHECK(table != nullptr, "call clusm_torch.use(clusm.backend()) first");
    must(table->allocate(&request, &tensor, &error), error);
    return {tensor->dl_tensor.data, tensor, release, current};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    auto count = static_cast<std::int64_t>(bytes);
    const dlpackgen_stream stream = stream_of(current.index());
    const DLTensor target = bytes_at(to, stream.device, &count);
    const DLTensor source = bytes_at(const_cast<void*>(from), stream.device, &count);
    dlpackgen_backend_error error;
    must(table->copy(&target, &source, &stream, &error), error);
  }
};

Allocator allocator;

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return ::type; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = current;
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return current; }
  void setDevice(c10::Device device) const override { current = device; }
  void uncheckedSetDevice(c10::Device device) const noexcept override { current = device; }
  c10::Stream getStream(c10::Device device) const override {
    const c10::DeviceIndex index = device.has_index() ? device.index() : current.index();
    return c10::Stream(c10::Stream::UNSAFE, c10::Device(::type, index),
                       reinterpret_cast<std::intptr_t>(queues.at(index)));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = getStream(stream.device());
    queues.at(stream.device_index()) = getStreamNativeHandle(stream);
    return before;
  }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(stream.id()));
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    std::int32_t count = 0;
    return table != nullptr && table->device_count(&count, nullptr) == 0 ? static_cast<c10::DeviceIndex>(count) : 0;
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

using Format = std::optional<c10::MemoryFormat>;

at::Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<at::Device> device, std::optional<bool>, Format format) {
  const c10::DeviceGuard guard(device.value_or(current));
  return at::detail::empty_generic(size, &allocator, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   dtype.value_or(at::kFloat), format);
}

at::Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef strides, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  const c10::DeviceGuard guard(device.value_or(current));
  return at::detail::empty_strided_generic(
      size, strides, &allocator, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), dtype.value_or(at::kFloat));
}

DLDevice device_of(const at::Tensor& tensor) {
  if (tensor.is_cpu()) return {kDLCPU, 0};
  return {static_cast<DLDeviceType>(kDLExtDev), tensor.device().index()};
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  TORCH_CHECK(from.is_contiguous() && to.is_contiguous() && from.scalar_type() == to.scalar_type() &&
                  from.sizes() == to.sizes(),
              "clusm copies contiguous tensors of one shape and dtype");
  auto count = static_cast<std::int64_t>(from.nbytes());
  const DLTensor source = bytes_at(from.data_ptr(), device_of(from), &count);
  const DLTensor target = bytes_at(to.data_ptr(), device_of(to), &count);
  const dlpackgen_stream stream = stream_of(to.is_cpu() ? from.device().index() : to.device().index());
  dlpackgen_backend_error error;
  must(table->copy(&target, &source, &stream, &error), error);
  return to;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("_copy_from", copy_from);
}

// use(capsule): the backend to work with.
PyObject* use(PyObject*, PyObject* capsule) {
  const auto* const found = static_cast<const dlpackgen_backend*>(PyCapsule_GetPointer(capsule, "dlpackgen_backend"));
  if (found == nullptr) return nullptr;
  if (found->abi_version != DLPACKGEN_BACKEND_ABI_VERSION || found->device_type != kDLExtDev) {
    PyErr_SetString(PyExc_ValueError, "the table is of another version or device type");
    return nullptr;
  }
  table = found;
  Py_RETURN_NONE;
}

// set_queue(device, queue): the current queue of this thread; 0 is the backend's own.
PyObject* set_queue(PyObject*, PyObject* args) {
  int device = 0;
  unsigned long long queue = 0;
  if (PyArg_ParseTuple(args, "iK", &device, &queue) == 0) return nullptr;
  if (device < 0 || device >= max_devices) return PyErr_Format(PyExc_ValueError, "there is no device %d", device);
  queues[device] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(queue));
  Py_RETURN_NONE;
}

}  // namespace

PyMODINIT_FUNC PyInit_clusm_torch() {
  static PyMethodDef methods[] = {
      {"use", use, METH_O, "use(capsule): the backend to work with, as clusm.backend() returns it."},
      {"set_queue", set_queue, METH_VARARGS,
       "set_queue(device, queue): this thread's current queue; 0: the default one."},
      {nullptr, nullptr, 0, nullptr},
  };
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "clusm_torch", "PyTorch's device clusm.", -1, methods};
  return PyModule_Create(&definition);
}
