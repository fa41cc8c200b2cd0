
/* Allocates tensors. Part of the backend's C file. */
#ifndef DLPACKGEN_STREAMS_MEMORY_H_
#define DLPACKGEN_STREAMS_MEMORY_H_

#include "device_allocation.h"
#include "streams_release.h"

/* The driver's argument for access of a device to a pool. */
struct streams_access {
  int type, ordinal, flags;
};

/* Returns whether a device has pools, which free memory without waiting for the whole device. */
static int streams_has_pools(int32_t ordinal) {
  atomic_int* known = &streams.devices[ordinal].pools;
  int pools = atomic_load(known);
  if (!pools) {
    int can = 0;
    if (streams.driver.pool_alloc && streams.driver.pool_free)
      (void)streams.driver.device_attribute(&can, DRIVER_device_memory_pools, ordinal);
    pools = can ? 2 : 1;
    atomic_store(known, pools);
  }
  return pools == 2;
}

/* Creates the stream on which memory is freed, in the current context. Streams of the program may
 * be destroyed by then. */
static int streams_own(int32_t ordinal, dlpackgen_backend_error* error) {
  _Atomic(driver_stream)* own = &streams.devices[ordinal].own;
  driver_stream fresh = NULL, none = NULL;
  if (atomic_load(own)) return DLPACKGEN_BACKEND_OK;
  const driver_result result = streams.driver.stream_create(&fresh, DRIVER_stream_non_blocking);
  if (result) return streams_fail(error, result, "allocate: a stream to free on");
  if (!atomic_compare_exchange_strong(own, &none, fresh)) (void)streams.driver.stream_destroy(fresh);
  return DLPACKGEN_BACKEND_OK;
}

/* Permits the other devices to access the pool of one. Enabling peer access is not sufficient
 * (rmm#1753). */
static int streams_share_pool(int32_t ordinal, dlpackgen_backend_error* error) {
  driver_pool pool = NULL;
  if (!streams_has_pools(ordinal) || !streams.driver.pool_default || !streams.driver.pool_access)
    return device_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED,
                       "allocate: device %d has no memory pools, which access by other devices requires", (int)ordinal);
  driver_result result = streams.driver.pool_default(&pool, ordinal);
  for (int32_t peer = 0; !result && peer < streams.count; peer++) {
    int can = 0;
    if (peer == ordinal || streams.driver.peer_access(&can, peer, ordinal) || !can) continue;
    const struct streams_access access = {DRIVER_location_device, peer, DRIVER_access_read_write};
    result = streams.driver.pool_access(pool, (const void*)&access, 1);
  }
  return result ? streams_fail(error, result, "allocate: allowing other devices to access the pool of device %d",
                               (int)ordinal)
                : DLPACKGEN_BACKEND_OK;
}

/* Checks the allocation. */
static int streams_check_allocation(const dlpackgen_allocation* r, dlpackgen_backend_error* error) {
  const int type = (int)r->device.device_type;
  if (type < 0 || (type != BACKEND_device && type != BACKEND_host && type != BACKEND_managed))
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE, "allocate: device type %d; %s has the types %s",
                       type, BACKEND_TITLE, BACKEND_TYPES);
  if (!dlpackgen_device_id_is_zero(type)) return streams_check_id("allocate", r->device.device_id, error);
  if (r->device.device_id == 0) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE, "allocate: device type %d has only the id 0, not %d",
                     type, (int)r->device.device_id);
}

/* Returns the device in whose context the memory is allocated. Pinned and managed memory is
 * allocated in the context of its stream, or else where work is already queued: starting another
 * device's context would take hundreds of megabytes. */
static int32_t streams_home(const dlpackgen_allocation* r) {
  driver_stream stream = streams_handle(r->stream);
  driver_device device = 0;
  if ((int)r->device.device_type == BACKEND_device) return r->device.device_id;
  if (!streams_special(stream)) return streams_device_of(stream, 0, &device) ? 0 : device;
  while (device < streams.count && !streams_active(device)) device++;
  return device < streams.count ? device : 0;
}

/* Creates the host's part of a tensor. */
static struct streams_block* streams_block(const dlpackgen_allocation* r, size_t bytes,
                                           dlpackgen_backend_error* error) {
  struct streams_block* block = device_new_block("allocate", r, sizeof *block, error);
  if (!block) return NULL;
  block->ordinal = bytes ? streams_home(r) : 0;
  block->first = streams_handle(r->stream);
  atomic_flag_clear(&block->busy);
  device_describe(&block->tensor, r, block->extents, streams_delete);
  return block;
}

/* Allocates memory of the driver, in the context of the block's device. */
static driver_result streams_allocate(const dlpackgen_allocation* r, struct streams_block* block, size_t bytes) {
  driver_address address = 0;
  driver_result result;
  void* host = NULL;
  block->kind = STREAMS_PLAIN;
  if ((int)r->device.device_type == BACKEND_host) {
    block->kind = STREAMS_HOST;
    result = streams.driver.host_alloc(&host, bytes, DRIVER_host_portable);
    address = (driver_address)(uintptr_t)host;
  } else if ((int)r->device.device_type == BACKEND_managed) {
    result = streams.driver.managed_alloc(&address, bytes, DRIVER_managed_global);
  } else if (streams_has_pools(block->ordinal)) {
    block->kind = STREAMS_POOL;
    result = streams.driver.pool_alloc(&address, bytes, block->first);
  } else {
    result = streams.driver.memory_alloc(&address, bytes);
  }
  block->tensor.dl_tensor.data = (void*)(uintptr_t)address;
  return result;
}

/* Allocates the memory of a block, with its device current. An allocation that a capture records
 * has memory only while the graph runs. */
static int streams_fill(const dlpackgen_allocation* r, struct streams_block* block, size_t bytes,
                        dlpackgen_backend_error* error) {
  int can = 0, code = streams_check_no_capture("allocate", block->first,
                                               "which would own the memory; allocate before the capture", error);
  if (!code && (int)r->device.device_type == BACKEND_managed) {
    (void)streams.driver.device_attribute(&can, DRIVER_device_managed_memory, block->ordinal);
    if (!can)
      code = device_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED, "allocate: device %d has no managed memory",
                         (int)block->ordinal);
  }
  if (!code) code = streams_own(block->ordinal, error);
  if (!code && r->flags & DLPACKGEN_BACKEND_PEER_ACCESS && (int)r->device.device_type == BACKEND_device)
    code = streams_share_pool(block->ordinal, error);
  if (code) return code;
  const driver_result result = streams_allocate(r, block, bytes);
  if (!result) return DLPACKGEN_BACKEND_OK;
  return streams_fail(error, result, "allocate: %llu bytes of device type %d on device %d", (unsigned long long)bytes,
                      (int)r->device.device_type, (int)block->ordinal);
}

/* Checks the stream of an allocation and fills the block. */
static int streams_fill_entered(const dlpackgen_allocation* r, struct streams_block* block, size_t bytes,
                                dlpackgen_backend_error* error) {
  const dlpackgen_stream first = {r->stream, {(DLDeviceType)BACKEND_device, block->ordinal}, 0, 0};
  int pushed, code = streams_check("allocate", &first, error);
  if (!code) code = streams_enter(block->ordinal, &pushed, error);
  if (code) return code;
  block->resets = atomic_load(&streams.devices[block->ordinal].resets);
  const unsigned int mode = streams_relax();
  code = streams_fill(r, block, bytes, error);
  streams_restrict(mode);
  streams_leave(pushed);
  return code;
}

static int streams_alloc(const dlpackgen_allocation* r, DLManagedTensorVersioned** tensor,
                         dlpackgen_backend_error* error) {
  size_t bytes = 0;
  int code = streams_called(error);
  if (!code) code = device_check_alloc(r, tensor, error);
  if (!code) code = streams_check_allocation(r, error);
  if (!code) code = device_check_size(r, &bytes, error);
  if (code) return code;
  streams_retry();
  struct streams_block* block = streams_block(r, bytes, error);
  if (!block) return DLPACKGEN_BACKEND_OUT_OF_MEMORY;
  if (bytes) code = streams_fill_entered(r, block, bytes, error);
  if (code) {
    free(block);
    return code;
  }
  *tensor = &block->tensor;
  return DLPACKGEN_BACKEND_OK;
}

#endif /* DLPACKGEN_STREAMS_MEMORY_H_ */
