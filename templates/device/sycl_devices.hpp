
// SYCL's devices, in SYCL's order, and the owner of the memory at an address. Part of the backend's
// C++ file.
#ifndef DLPACKGEN_SYCL_DEVICES_HPP_
#define DLPACKGEN_SYCL_DEVICES_HPP_

#include "usm_pointer.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <sycl/sycl.hpp>
#include <vector>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace {

// A root device, with the context of its platform, which all libraries share.
struct sycl_root {
  sycl::device device;
  sycl::context context;
  int32_t first;  // of the platform's devices
};

enum class sycl_phase { fresh, ready, failed, forked, ended };

// The state exists until the process ends: SYCL shuts down at exit, and its objects must not be
// destroyed afterwards.
struct sycl_state {
  std::vector<sycl_root> roots;
  std::vector<std::atomic<sycl::queue*>> own;  // the default streams
  dlpackgen_backend_error first{};
};

std::atomic<sycl_phase> phase{sycl_phase::fresh};
std::once_flag once;
sycl_state* state = nullptr;

// Returns the code for an exception of SYCL.
int sycl_code(const sycl::exception& e) {
  if (e.code() == sycl::errc::memory_allocation) return DLPACKGEN_BACKEND_OUT_OF_MEMORY;
  if (e.code() == sycl::errc::feature_not_supported) return DLPACKGEN_BACKEND_UNSUPPORTED;
  return DLPACKGEN_BACKEND_DRIVER_ERROR;
}

// Reports an exception, preceded by the operation. No exception leaves the backend.
template <class Work>
int guarded(dlpackgen_backend_error* error, const char* what, Work work) noexcept {
  try {
    return work();
  } catch (const sycl::exception& e) {
    const int code = device_fail(error, sycl_code(e), "%s: SYCL reports: ", what);
    if (!error) return code;
    device_add(error, e.what());
    error->driver_code = e.code().value();
    return code;
  } catch (const std::bad_alloc&) {
    return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, "%s: out of host memory", what);
  } catch (const std::exception& e) {
    return device_fail(error, DLPACKGEN_BACKEND_DRIVER_ERROR, "%s: %s", what, e.what());
  } catch (...) {
    return device_fail(error, DLPACKGEN_BACKEND_DRIVER_ERROR, "%s: an unknown exception", what);
  }
}

sycl::context default_context(const sycl::device& device) {
#if defined(SYCL_KHR_DEFAULT_CONTEXT)
  return device.get_platform().khr_get_default_context();
#elif defined(SYCL_EXT_ONEAPI_DEFAULT_CONTEXT)
  return device.get_platform().ext_oneapi_get_default_context();
#else
  return sycl::queue(device).get_context();  // of the platform's first queue; some implementations of SYCL share it
#endif
}

// Fills the list in SYCL's order. A device whose platform has no context is unusable.
void enumerate() {
  for (const sycl::device& device : sycl::device::get_devices()) {
    const auto same = [&](const sycl_root& r) { return r.device.get_platform() == device.get_platform(); };
    int32_t first = 0;
    while (first < static_cast<int32_t>(state->roots.size()) && !same(state->roots[first])) first++;
    const bool known = first < static_cast<int32_t>(state->roots.size());
    state->roots.push_back({device, known ? state->roots[first].context : default_context(device), first});
  }
  state->own = std::vector<std::atomic<sycl::queue*>>(state->roots.size());
}

// Runs in a child of fork, which does not have SYCL's threads.
void become_child() {
  if (phase.load() == sycl_phase::ready) phase.store(sycl_phase::forked);
}

// Runs before SYCL shuts down.
void come_to_end() {
  if (phase.load() == sycl_phase::ready) phase.store(sycl_phase::ended);
}

void load() {
  state = new (std::nothrow) sycl_state;
  if (!state) return phase.store(sycl_phase::failed);
  int code = guarded(&state->first, "the devices of SYCL", [] {
    enumerate();
    return 0;
  });
  if (!code && state->roots.empty())
    code =
        device_fail(&state->first, DLPACKGEN_BACKEND_NO_DEVICE,
                    "SYCL lists no device: no driver is found, or ONEAPI_DEVICE_SELECTOR hides them; install a driver");
  if (!code) {
#if !defined(_WIN32)
    pthread_atfork(nullptr, nullptr, become_child);
#endif
    (void)std::atexit(come_to_end);
  }
  phase.store(code ? sycl_phase::failed : sycl_phase::ready);
}

int slowly_ready(dlpackgen_backend_error* error) {
  if (phase.load() == sycl_phase::fresh) std::call_once(once, load);
  switch (phase.load()) {
    case sycl_phase::ready: return DLPACKGEN_BACKEND_OK;
    case sycl_phase::forked: return device_forked("SYCL", error);
    case sycl_phase::ended: return device_ended("SYCL", error);
    default: break;
  }
  if (!state) return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, DEVICE_TEXT_NO_START_MEMORY);
  return device_repeat(&state->first, error);
}

// Returns the root of a device or of a part of one, or -1 if it is not listed, such as a composite
// device.
int32_t root_of(sycl::device device) {
  for (;;) {
    for (size_t i = 0; i < state->roots.size(); i++)
      if (state->roots[i].device == device) return static_cast<int32_t>(i);
    try {
      device = device.get_info<sycl::info::device::parent_device>();
    } catch (const sycl::exception&) {
      return -1;
    }
  }
}

// Queries the context of one platform; the result is unchanged for an unknown address.
int look_in(const char* what, const void* pointer, int32_t first, usm_memory* memory, dlpackgen_backend_error* error) {
  const sycl::context& context = state->roots[first].context;
  const sycl::usm::alloc kind = sycl::get_pointer_type(pointer, context);
  if (kind == sycl::usm::alloc::unknown) return DLPACKGEN_BACKEND_OK;
  memory->kind = kind == sycl::usm::alloc::device   ? USM_DEVICE
                 : kind == sycl::usm::alloc::shared ? USM_SHARED
                                                    : USM_HOST;
  memory->id = first;
  if (memory->kind == USM_HOST) return DLPACKGEN_BACKEND_OK;
  memory->id = memory->ordinal = root_of(sycl::get_pointer_device(pointer, context));
  if (memory->id >= 0) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE,
                     "%s %p: SYCL does not list its device, nor one that it is a part of", what, pointer);
}

}  // namespace

static int usm_ready(dlpackgen_backend_error* error) {
  return phase.load(std::memory_order_acquire) == sycl_phase::ready ? DLPACKGEN_BACKEND_OK : slowly_ready(error);
}

static int usm_check_id(const char* what, int32_t id, dlpackgen_backend_error* error) {
  const int32_t count = static_cast<int32_t>(state->roots.size());
  if (id >= 0 && id < count) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE,
                     "%s: SYCL lists no device %d; it lists %d, numbered from 0", what, id, count);
}

// The hint's platform is queried first, then the others, because a hint may be wrong. SYCL does not
// report the bounds of an allocation.
static int usm_query_memory(const char* what, const void* pointer, int32_t hint, struct usm_memory* memory,
                            dlpackgen_backend_error* error) {
  *memory = usm_unknown;
  return guarded(error, what, [&] {
    const int32_t likely = state->roots[hint].first;
    int code = look_in(what, pointer, likely, memory, error);
    for (size_t i = 0; !code && !memory->kind && i < state->roots.size(); i++) {
      const int32_t first = state->roots[i].first;
      if (first == static_cast<int32_t>(i) && first != likely) code = look_in(what, pointer, first, memory, error);
    }
    return code;
  });
}

static int usm_query_device_memory(const void*, dlpackgen_pointer_attributes*) { return 0; }

static int usm_probe(dlpackgen_driver_info* info, dlpackgen_backend_error* error) {
  const int code = usm_ready(error);
#if defined(__SYCL_COMPILER_VERSION)
  const int64_t version = __SYCL_COMPILER_VERSION;
#else
  const int64_t version = SYCL_LANGUAGE_VERSION;
#endif
  return code ? code : device_return_info(version, static_cast<int32_t>(state->roots.size()), info, error);
}

static int usm_device_count(int32_t* count, dlpackgen_backend_error* error) {
  const int code = usm_ready(error);
  return code ? code : device_return_count(static_cast<int32_t>(state->roots.size()), count, error);
}

static int usm_id_of(int32_t ordinal, int32_t* id, dlpackgen_backend_error* error) {
  int code = usm_ready(error);
  if (!code && !id) code = device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, DEVICE_TEXT_NO_ID);
  if (!code) code = usm_check_id("id", ordinal, error);
  if (!code) *id = ordinal;
  return code;
}

static int usm_set_device_ids(const dlpackgen_usm_id*, size_t, dlpackgen_backend_error* error) {
  return usm_ready(error);
}

#endif  // DLPACKGEN_SYCL_DEVICES_HPP_
