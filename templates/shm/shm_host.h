
/* The stream functions of a CPU, which has no streams, and copies. Part of the backend's C file. */
#ifndef DLPACKGEN_SHM_HOST_H_
#define DLPACKGEN_SHM_HOST_H_

#include "shm_receive.h"

static int shm_probe(dlpackgen_driver_info* info, dlpackgen_backend_error* error) {
  const int fd = shm_memfd();
  if (fd < 0) return shm_no_memory("probe: memfd_create", errno, error);
  const int result = fcntl(fd, F_ADD_SEALS, SHM_SIZE_SEALS), native = errno;
  (void)close(fd);
  if (result < 0) return shm_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED, native, "probe: this kernel has no seals");
  return device_return_info(DLPACKGEN_SHM_ABI_VERSION, 1, info, error);
}

static int shm_device_count(int32_t* count, dlpackgen_backend_error* error) {
  return device_return_count(1, count, error);
}

static int shm_pointer_attributes(const void* pointer, dlpackgen_pointer_attributes* info,
                                  dlpackgen_backend_error* error) {
  const int code = device_check_pointer(pointer, info, error);
  if (code) return code;
  const struct shm_block* block = shm_find(pointer);
  const DLDevice cpu = {kDLCPU, 0};
  if (block) device_return_attributes(cpu, 0, block->tensor.dl_tensor.data, block->size - SHM_DATA, info);
  else device_return_attributes(cpu, -1, NULL, 0, info);
  return DLPACKGEN_BACKEND_OK;
}

static int shm_check_device(const char* what, DLDevice device, dlpackgen_backend_error* error) {
  if (device.device_type == kDLCPU && shm_fits_id(device)) return DLPACKGEN_BACKEND_OK;
  return device_fail(
      error, device.device_type == kDLCPU ? DLPACKGEN_BACKEND_INVALID_DEVICE : DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE,
      "%s: a stream of device type %d with the id %d; expected the CPU (1) with the id 0", what,
      (int)device.device_type, (int)device.device_id);
}

static int shm_check_stream(const char* what, const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  if (!stream) return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, DEVICE_TEXT_NO_STREAM, what);
  if (stream->handle)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM, "%s: the stream %p; the only one of the CPU is NULL",
                       what, stream->handle);
  return shm_check_device(what, stream->device, error);
}

static int shm_return_stream(const char* what, DLDevice device, dlpackgen_stream* stream,
                             dlpackgen_backend_error* error) {
  if (!stream) return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, DEVICE_TEXT_NO_STREAM_OUTPUT, what);
  const int code = shm_check_device(what, device, error);
  memset(stream, 0, sizeof *stream);
  stream->device = device;
  return code;
}

/* Sources provide streams of devices, and are not queried. */
static int shm_current_stream(const dlpackgen_stream_source* source, DLDevice device, dlpackgen_stream* stream,
                              dlpackgen_backend_error* error) {
  (void)source;
  return shm_return_stream("current_work_stream", device, stream, error);
}

static int shm_stream_from_dlpack(DLDevice device, const int64_t* number, dlpackgen_stream* stream,
                                  dlpackgen_backend_error* error) {
  if (number)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM,
                       "stream_from_dlpack: the number %lld; the only stream of the CPU is None", (long long)*number);
  return shm_return_stream("stream_from_dlpack", device, stream, error);
}

static int shm_stream_wait(const dlpackgen_stream* consumer, const dlpackgen_stream* producer,
                           dlpackgen_backend_error* error) {
  const int code = shm_check_stream("stream_wait", consumer, error);
  return code ? code : shm_check_stream("stream_wait", producer, error);
}

static int shm_keep_until(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream,
                          dlpackgen_backend_error* error) {
  const int code = device_check_ours("keep_until", tensor, shm_delete, error);
  return code ? code : shm_check_stream("keep_until", stream, error);
}

static int shm_stream_synchronize(const dlpackgen_stream* stream, dlpackgen_backend_error* error) {
  return shm_check_stream("stream_synchronize", stream, error);
}

static int shm_copy(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream,
                    dlpackgen_backend_error* error) {
  uint64_t count = 0;
  size_t bytes = 0;
  int code = shm_check_stream("copy", stream, error);
  if (!code) code = device_check_copy(to, from, &count, error);
  if (!code) code = shm_check_device("copy", to->device, error);
  if (!code) code = shm_check_device("copy", from->device, error);
  if (!code) code = device_bytes("copy", to->dtype, count, &bytes, error);
  if (code || !bytes) return code;
  char* target = (char*)to->data + to->byte_offset;
  const struct shm_block* block = shm_find(target);
  if (block && block->tensor.flags & DLPACK_FLAG_BITMASK_READ_ONLY)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "copy: the destination was received read-only");
  memmove(target, (const char*)from->data + from->byte_offset, bytes);
  return DLPACKGEN_BACKEND_OK;
}

#endif /* DLPACKGEN_SHM_HOST_H_ */
