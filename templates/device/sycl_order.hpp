
// Streams, which are SYCL's queues, and their ordering. Part of the backend's C++ file.
#ifndef DLPACKGEN_SYCL_ORDER_HPP_
#define DLPACKGEN_SYCL_ORDER_HPP_

#include "sycl_devices.hpp"
#include "usm_stream.h"

namespace {

// The error of asynchronous work is returned by the call that waits for it.
void swallow(sycl::exception_list) {}

// Returns the backend's own queue for a device, created when it is first needed, and kept.
sycl::queue& own_queue(int32_t id) {
  std::atomic<sycl::queue*>& own = state->own[id];
  if (sycl::queue* there = own.load()) return *there;
  const sycl_root& root = state->roots[id];
  auto* fresh = new sycl::queue(root.context, root.device, swallow, sycl::property::queue::in_order());
  sycl::queue* none = nullptr;
  if (own.compare_exchange_strong(none, fresh)) return *fresh;
  delete fresh;
  return *none;
}

// Returns the queue of a stream that was checked.
sycl::queue& queue_of(const dlpackgen_stream& stream) {
  if (stream.handle) return *static_cast<sycl::queue*>(stream.handle);
  return own_queue(stream.device.device_id);
}

bool recorded(const sycl::queue& queue) {
#if defined(SYCL_EXT_ONEAPI_GRAPH) && SYCL_EXT_ONEAPI_GRAPH
  return queue.ext_oneapi_get_state() == sycl::ext::oneapi::experimental::queue_state::recording;
#else
  return (void)queue, false;
#endif
}

// An event for all queued work of a queue.
sycl::event mark(sycl::queue& queue) {
#if defined(SYCL_EXT_ONEAPI_ENQUEUE_BARRIER)
  return queue.ext_oneapi_submit_barrier();
#else
  queue.wait();
  return {};
#endif
}

// Makes all later work of a queue wait for an event.
void hold(sycl::queue& queue, const sycl::event& event) {
#if defined(SYCL_EXT_ONEAPI_ENQUEUE_BARRIER)
  queue.ext_oneapi_submit_barrier({event});
#else
  sycl::event(event).wait(), (void)queue;
#endif
}

// An event in the queue's context that follows an event of another platform. Platforms cannot wait
// for each other's events, so a thread of SYCL waits in between.
sycl::event across(sycl::queue& queue, const sycl::event& event) {
  return queue.submit([&](sycl::handler& h) {
    h.depends_on(event);
    h.host_task([] {});
  });
}

int check_not_recorded(const char* what, const sycl::queue& queue, const void* handle, const char* why,
                       dlpackgen_backend_error* error) {
  if (!recorded(queue)) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_CAPTURING, "%s: the queue %p is recorded into a graph, %s", what, handle,
                     why);
}

}  // namespace

// The pointer itself is trusted, because a queue cannot be distinguished from other memory.
static int usm_check_handle(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  return guarded(error, what, [&]() -> int {
    const auto& queue = *static_cast<sycl::queue*>(stream->handle);
    const int32_t id = root_of(queue.get_device());
    if (id != stream->device.device_id)
      return device_fail(error, DLPACKGEN_BACKEND_STREAM_DEVICE_MISMATCH, DEVICE_TEXT_STREAM_DEVICE, what, "queue",
                         stream->handle, id, stream->device.device_id);
    if (queue.get_context() == state->roots[id].context) return DLPACKGEN_BACKEND_OK;
    return device_fail(
        error, DLPACKGEN_BACKEND_CONTEXT_MISMATCH,
        "%s: the queue %p belongs to a context that the program created, not to the platform's default one, %s", what,
        stream->handle, DEVICE_TEXT_DEFAULT_CONTEXT);
  });
}

static int usm_stream_wait(const dlpackgen_stream* consumer, const dlpackgen_stream* producer,
                           dlpackgen_backend_error* error) {
  int code = usm_ready(error);
  if (!code) code = usm_check_stream(DEVICE_TEXT_CONSUMER, consumer, error);
  if (!code) code = usm_check_stream(DEVICE_TEXT_PRODUCER, producer, error);
  if (code || consumer->flags & DLPACKGEN_STREAM_NO_SYNC || producer->flags & DLPACKGEN_STREAM_NO_SYNC) return code;
  return guarded(error, "stream_wait", [&]() -> int {
    sycl::queue &waits = queue_of(*consumer), &works = queue_of(*producer);
    if (recorded(waits) != recorded(works))
      return device_fail(error, DLPACKGEN_BACKEND_CAPTURING,
                         "stream_wait: the %s queue is recorded into a graph and the other is not; "
                         "order them in the graph, and pass -1 as the stream",
                         recorded(waits) ? "consumer's" : "producer's");
    if (waits == works) {
      if (!waits.is_in_order()) mark(waits);
      return DLPACKGEN_BACKEND_OK;
    }
    const sycl::event done = mark(works);
    hold(waits, waits.get_context() == works.get_context() ? done : across(waits, done));
    return DLPACKGEN_BACKEND_OK;
  });
}

static int usm_stream_synchronize(const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  int code = usm_ready(error);
  if (!code) code = usm_check_ordered("stream_synchronize", stream, error);
  if (code) return code;
  return guarded(error, "stream_synchronize", [&]() -> int {
    sycl::queue& queue = queue_of(*stream);
    const int recording =
        check_not_recorded("stream_synchronize", queue, stream->handle, DEVICE_TEXT_CAPTURED_SYNC, error);
    if (!recording) queue.wait();
    return recording;
  });
}

#endif  // DLPACKGEN_SYCL_ORDER_HPP_
