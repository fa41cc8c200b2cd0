
// Copies on queues. Part of the backend's C++ file.
#ifndef DLPACKGEN_SYCL_COPY_HPP_
#define DLPACKGEN_SYCL_COPY_HPP_

#include "sycl_memory.hpp"
#include "usm_copy.h"

namespace {

// Copies after all existing work of the queue, and before all later work.
sycl::event copy_in_order(sycl::queue& queue, void* to, const void* from, size_t bytes) {
  if (queue.is_in_order()) return queue.memcpy(to, from, bytes);
  const sycl::event copied = queue.memcpy(to, from, bytes, mark(queue));
  hold(queue, copied);
  return copied;
}

// Returns whether a device can access memory directly.
bool can_access(int32_t id, const usm_memory& memory) {
  if (!memory.kind) return true;
  if (state->roots[memory.id].first != state->roots[id].first) return false;
  if (memory.kind != USM_DEVICE || memory.id == id) return true;
#if defined(SYCL_EXT_ONEAPI_PEER_ACCESS)
  return state->roots[id].device.ext_oneapi_can_access_peer(state->roots[memory.id].device);
#else
  return false;
#endif
}

// Copies between two devices without direct access. The copy goes through the host, each half on a
// separate queue. The function waits for both.
int copy_staged(const usm_side* to, const usm_side* from, size_t bytes, sycl::queue& queue) {
  std::vector<char> buffer(bytes);
  queue.wait();
  own_queue(from->memory.id).memcpy(buffer.data(), from->start, bytes).wait();
  own_queue(to->memory.id).memcpy(to->start, buffer.data(), bytes).wait();
  return DLPACKGEN_BACKEND_OK;
}

}  // namespace

static int usm_move(const struct usm_side* to, const struct usm_side* from, size_t bytes,
                    const dlpackgen_stream* stream, int waits, dlpackgen_backend_error* error) {
  return guarded(error, "copy", [&]() -> int {
    sycl::queue& queue = queue_of(*stream);
    const int32_t id = stream->device.device_id;
    const bool staged = !can_access(id, to->memory) || !can_access(id, from->memory);
    const int code = waits || staged
                         ? check_not_recorded("copy", queue, stream->handle,
                                              "and what is not a device's would be read at each launch", error)
                         : DLPACKGEN_BACKEND_OK;
    if (code) return code;
    if (staged) return copy_staged(to, from, bytes, queue);
    sycl::event copied = copy_in_order(queue, to->start, from->start, bytes);
    if (waits) copied.wait();
    return DLPACKGEN_BACKEND_OK;
  });
}

#endif  // DLPACKGEN_SYCL_COPY_HPP_
