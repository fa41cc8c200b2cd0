/**
 * \file device.hpp
 * Uses a backend for torch's devices, through the table of dlpackgen_backend.h, such as the CUDA
 * backend: to determine the owner of a foreign tensor's memory, and to delay freeing memory that
 * the backend allocated.
 */
#ifndef DLPACKGEN_V0_0_PYTORCH_DEVICE_HPP_
#define DLPACKGEN_V0_0_PYTORCH_DEVICE_HPP_

#include "checked.hpp"
#include "dlpackgen_backend.h"
#include "stream.hpp"

#include <atomic>
#include <cstddef>
#include <string>

namespace dlpackgen {
DLPACKGEN_V0_0_INLINE namespace v0_0 {
namespace pytorch DLPACKGEN_PYTORCH_HIDDEN {

namespace detail {

inline std::atomic<const dlpackgen_backend*> used_device{nullptr};

inline dlpackgen_pointer_attributes owner_of(const dlpackgen_backend& table, DLDevice declared, const char* address) {
  dlpackgen_backend_error error;
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  if (table.pointer_attributes(address, &info, &error) != DLPACKGEN_BACKEND_OK) throw BufferError(error.text);
  if (info.device.device_type != declared.device_type || info.device.device_id != declared.device_id) {
    throw BufferError("its declared device " + text_of(declared) + " does not match the driver's " +
                      text_of(info.device) + " for its memory; it may have been freed");
  }
  return info;
}

// Queries the driver about the first byte and, if the elements extend beyond its allocation, about
// the last one. Memory may consist of several mapped allocations, such as torch's expandable
// segments, and drivers report one at a time.
inline void reject_other_owner(const dlpackgen_backend& table, DLDevice declared, const char* begin,
                               std::size_t bytes) {
  const dlpackgen_pointer_attributes info = owner_of(table, declared, begin);
  const auto before = static_cast<std::size_t>(begin - static_cast<const char*>(info.base));
  if (info.bytes != 0 && before + bytes > info.bytes) owner_of(table, declared, begin + bytes - 1);
}

// The driver is not queried about tensors on the CPU and tensors without elements.
inline void check_owner(const DLTensor& tensor, const Elements& elements) {
  const dlpackgen_backend* const table = used_device.load(std::memory_order_acquire);
  if (table == nullptr || tensor.device.device_type == kDLCPU) return;
  const std::size_t covered = extents_of(tensor).covered;
  if (covered == 0) return;
  reject_other_owner(*table, tensor.device, static_cast<const char*>(elements.data),
                     covered * c10::elementSize(elements.scalar));
}

// The backend rejects tensors of other allocators, which is ignored here.
inline void keep_for_torch(DLManagedTensorVersioned* managed) noexcept {
  const dlpackgen_backend* const table = used_device.load(std::memory_order_acquire);
  const DLDevice device = managed->dl_tensor.device;
  if (table == nullptr || device.device_type != table->device_type) return;
  try {
    const dlpackgen_stream stream{current_stream(device), device, 0, 0};
    static_cast<void>(table->keep_until(managed, &stream, nullptr));
  } catch (...) {  // the deleter then waits for less work, as without a backend
  }
}

// The tensor's owner has queued the last work before this call, on torch's current stream; DLPack's
// deleter has no stream argument.
template <void (*deleter)(void*)>
void delete_after_work(void* context) {
  keep_for_torch(static_cast<DLManagedTensorVersioned*>(context));
  deleter(context);
}

inline int stream_of_torch(void*, DLDevice device, void** handle) noexcept {
  try {
    *handle = current_stream(device);
    return 0;
  } catch (...) {
    return -1;
  }
}

}  // namespace detail

/**
 * Sets the backend that from_raw() and its callers use for torch's devices; nullptr removes it. The
 * driver is queried for the owner of each tensor's memory, including pinned memory. A tensor that
 * declares another device, for example after its memory was freed, or that extends beyond its
 * memory is rejected. After torch releases memory of the backend, the memory is freed only when the
 * work that is queued on torch's current stream has finished. The table must be valid until the
 * process ends. May be called on any thread.
 *
 * \throws BufferError for a table of another version, or for devices that are not torch's.
 */
inline void use_backend(const dlpackgen_backend* table) {
  if (table != nullptr &&
      (table->abi_version != DLPACKGEN_BACKEND_ABI_VERSION || table->size < sizeof(dlpackgen_backend))) {
    throw BufferError("the backend's table and dlpackgen_backend.h have different versions");
  }
  if (table != nullptr && table->device_type != detail::gpu()) {
    throw BufferError("the backend does not support the devices of this torch");
  }
  detail::used_device.store(table, std::memory_order_release);
}

/**
 * Provides torch's streams for a backend's current_stream(): the current streams of the calling
 * thread.
 */
inline const dlpackgen_stream_source* stream_source() noexcept {
  static const dlpackgen_stream_source source{detail::stream_of_torch, nullptr, nullptr, 0};
  return &source;
}

}  // namespace pytorch DLPACKGEN_PYTORCH_HIDDEN
}  // namespace v0_0
}  // namespace dlpackgen

#endif  // DLPACKGEN_V0_0_PYTORCH_DEVICE_HPP_
