
// Allocates tensors, and frees their memory when no work uses it any more. Part of the backend's
// C++ file.
#ifndef DLPACKGEN_SYCL_MEMORY_HPP_
#define DLPACKGEN_SYCL_MEMORY_HPP_

#include "sycl_order.hpp"

#include <memory>
#include <utility>

namespace {

constexpr size_t alignment = DLPACKGEN_DATA_ALIGNMENT;

// A tensor of the backend. It shares ownership of its allocation's queue, and has the events of
// keep_until.
struct sycl_block {
  DLManagedTensorVersioned tensor{};
  int32_t id = 0;
  std::unique_ptr<sycl::queue> first;
  std::mutex busy;
  std::vector<std::pair<sycl::queue, sycl::event>> keeps;
  std::vector<int64_t> extents;
  sycl_block* next = nullptr;  // among those that are freed later
};

// Tensors that could not be freed while a graph was recorded.
std::atomic<sycl_block*> later{nullptr};

void delete_tensor(DLManagedTensorVersioned* tensor);

sycl_block* block_of(const DLManagedTensorVersioned* tensor) { return static_cast<sycl_block*>(tensor->manager_ctx); }

// Waits for the work on the memory, which sycl::free does not.
void await_work(sycl_block& block) {
  bool named = false;
  for (auto& keep : block.keeps) {
    named = named || keep.first == *block.first;
    keep.second.wait();
  }
  if (!named) mark(*block.first).wait();
}

// Leaks SYCL's objects after SYCL has shut down.
void abandon(sycl_block& block) {
  (void)block.first.release();
  new std::vector<std::pair<sycl::queue, sycl::event>>(std::move(block.keeps));
}

// Defers the free to a later call if the queue is recorded, because its work cannot be awaited.
bool put_off(sycl_block* block) {
  if (!recorded(*block->first)) return false;
  block->next = later.load();
  while (!later.compare_exchange_weak(block->next, block)) continue;
  return true;
}

// Frees a tensor or defers it. No exception leaves the function, because C calls deleters.
int release(sycl_block* block, dlpackgen_backend_error* error) {
  void* data = block->tensor.dl_tensor.data;
  bool stays = false;
  const int code = guarded(error, "deallocate", [&] {
    if (!data) return 0;
    if (phase.load() != sycl_phase::ready) return abandon(*block), 0;
    stays = put_off(block);
    if (stays) return 0;
    await_work(*block);
    sycl::free(data, state->roots[block->id].context);
    return 0;
  });
  if (!stays) delete block;
  return code;
}

// Retries deferred frees.
void retry() {
  if (!later.load(std::memory_order_relaxed)) return;
  sycl_block* block = later.exchange(nullptr);
  while (block) {
    sycl_block* next = block->next;
    (void)release(block, nullptr);
    block = next;
  }
}

void delete_tensor(DLManagedTensorVersioned* tensor) {
  if (!tensor) return;
  if (phase.load() == sycl_phase::ready) retry();
  (void)release(block_of(tensor), nullptr);
}

// Checks the allocation, and the stream that uses the memory first.
int check_allocation(const dlpackgen_allocation* r, dlpackgen_backend_error* error) {
  if (static_cast<int>(r->device.device_type) != BACKEND_device)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE, DEVICE_TEXT_ALLOCATE_TYPE,
                       static_cast<int>(r->device.device_type), BACKEND_TITLE, BACKEND_device);
  const dlpackgen_stream first = {r->stream, r->device, 0, 0};
  return usm_check_stream("allocate", &first, error);
}

// Creates the tensor, with memory if it has elements.
int make_tensor(const dlpackgen_allocation* r, size_t bytes, DLManagedTensorVersioned** tensor,
                dlpackgen_backend_error* error) {
  auto block = std::make_unique<sycl_block>();
  block->id = r->device.device_id;
  block->extents.resize(2 * static_cast<size_t>(r->ndim) + 1);
  device_describe(&block->tensor, r, block->extents.data(), delete_tensor);
  block->tensor.manager_ctx = block.get();
  const sycl_root& root = state->roots[block->id];
  if (bytes && !root.device.has(sycl::aspect::usm_device_allocations))
    return device_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED, "allocate: device %d has no unified shared memory",
                       block->id);
  if (bytes) {
    sycl::queue& first = queue_of({r->stream, r->device, 0, 0});
    const int code = check_not_recorded("allocate", first, r->stream,
                                        "whose work cannot be waited for; allocate before it is recorded", error);
    if (code) return code;
    block->first = std::make_unique<sycl::queue>(first);
    block->tensor.dl_tensor.data = sycl::aligned_alloc_device(alignment, bytes, root.device, root.context);
    if (!block->tensor.dl_tensor.data)
      return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, "allocate: device %d cannot allocate %llu bytes",
                         block->id, static_cast<unsigned long long>(bytes));
  }
  *tensor = &block.release()->tensor;
  return DLPACKGEN_BACKEND_OK;
}

}  // namespace

static int usm_free(DLManagedTensorVersioned* tensor, dlpackgen_backend_error* error) {
  const int code = tensor ? device_check_ours("deallocate", tensor, delete_tensor, error) : DLPACKGEN_BACKEND_OK;
  if (code || !tensor) return code;
  if (phase.load() == sycl_phase::ready) retry();
  return release(block_of(tensor), error);
}

static int usm_alloc(const dlpackgen_allocation* r, DLManagedTensorVersioned** tensor, dlpackgen_backend_error* error) {
  size_t bytes = 0;
  int code = usm_ready(error);
  if (!code) code = device_check_alloc(r, tensor, error);
  if (!code) code = check_allocation(r, error);
  if (!code) code = device_check_size(r, &bytes, error);
  if (code) return code;
  retry();
  return guarded(error, "allocate", [&] { return make_tensor(r, bytes, tensor, error); });
}

static int usm_keep_until(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream,
                          dlpackgen_backend_error* error) {
  int code = usm_ready(error);
  if (!code) code = device_check_ours("keep_until", tensor, delete_tensor, error);
  if (!code) code = usm_check_ordered("keep_until", stream, error);
  if (code || !tensor->dl_tensor.data) return code;
  return guarded(error, "keep_until", [&]() -> int {
    sycl::queue& queue = queue_of(*stream);
    const int recording = check_not_recorded("keep_until", queue, stream->handle, DEVICE_TEXT_CAPTURED_KEEP, error);
    if (recording) return recording;
    sycl_block& block = *block_of(tensor);
    const std::lock_guard<std::mutex> guard(block.busy);  // with two concurrent threads, the later event remains
    sycl::event event = mark(queue);
    for (auto& keep : block.keeps) {
      if (!(keep.first == queue)) continue;
      keep.second = event;
      return DLPACKGEN_BACKEND_OK;
    }
    block.keeps.emplace_back(queue, event);
    return DLPACKGEN_BACKEND_OK;
  });
}

#endif  // DLPACKGEN_SYCL_MEMORY_HPP_
