/**
 * \file stream.hpp
 * Returns ATen's current stream, through the interfaces that every backend of ATen registers,
 * without CUDA headers or libraries.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_STREAM_HPP_
#define DLPACKGEN_V0_0_PYTORCH_STREAM_HPP_

#include "errors.hpp"
#include "read.hpp"

#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdint>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {

/**
 * ATen's device for a DLPack device, which must exist.
 *
 * \throws BufferError.
 */
inline at::Device device_of(DLDevice device) {
  if (is_host_memory(device.device_type))
    return at::Device(at::kCPU);  // pinned memory is treated as the host's own memory
  if (device.device_type != kDLCUDA && device.device_type != kDLROCM) {
    throw BufferError("unsupported device: expected CPU, CUDA or ROCm");
  }
  if (device.device_type != detail::gpu() || !c10::impl::hasDeviceGuardImpl(at::kCUDA)) {
    throw BufferError("its device belongs to a backend that this torch lacks");
  }
  if (device.device_id < 0 || device.device_id >= c10::impl::VirtualGuardImpl(at::kCUDA).deviceCount()) {
    throw BufferError("this torch has no device with its device id");
  }
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device.device_id));
}

/**
 * The native handle of ATen's current stream of a device; nullptr on the host.
 *
 * \throws BufferError, also for a backend without this handle, or the exceptions of that backend.
 */
inline void* current_stream(DLDevice device) {
  const at::Device where = device_of(device);
  if (where.is_cpu()) return nullptr;
#if TORCH_VERSION_MINOR >= 11
  const c10::Stream stream = c10::impl::VirtualGuardImpl(where.type()).getStream(where);
  try {
    return stream.native_handle();
  } catch (const c10::Error&) {  // of the substitute for a backend for fake tensors
    throw BufferError("this torch has no streams for its device");
  }
#else
  throw BufferError("the stream of its device, which torch before 2.11 reports only to its own table");
#endif
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_STREAM_HPP_
