
/* Allocates memory that can be shared. Part of the backend's C file. */
#ifndef DLPACKGEN_SHM_MEMORY_H_
#define DLPACKGEN_SHM_MEMORY_H_

#include "shm_header.h"

#include <fcntl.h>
#include <sys/resource.h>

/* Linux 6.3 warns without this flag, and may be configured to require it; headers may be older. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

static int shm_memfd(void) {
  const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int fd = memfd_create("dlpackgen", flags | MFD_NOEXEC_SEAL);
  return fd < 0 && errno == EINVAL ? memfd_create("dlpackgen", flags) : fd;
}

/* Reports why the kernel did not provide memory. */
static int shm_no_memory(const char* what, int native, dlpackgen_backend_error* error) {
  const int lacks = native == ENOSYS || native == EPERM || native == EACCES;
  return shm_fail(error, lacks ? DLPACKGEN_BACKEND_UNSUPPORTED : DLPACKGEN_BACKEND_OUT_OF_MEMORY, native, what);
}

/* Sets the size of a file. Checks the limit first, because exceeding it raises a signal. */
static int shm_resize(int fd, size_t size, dlpackgen_backend_error* error) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur)
    return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY,
                       "allocate: %zu bytes exceed RLIMIT_FSIZE of this process: %llu", size,
                       (unsigned long long)limit.rlim_cur);
  int result;
  do result = ftruncate(fd, (off_t)size);
  while (result < 0 && errno == EINTR);
  return result < 0 ? shm_no_memory("allocate: the size of the memory", errno, error) : DLPACKGEN_BACKEND_OK;
}

/* Creates a memfd of a given size with a header, and maps it. */
static int shm_make(const struct shm_header* header, size_t size, int* fd, void** base,
                    dlpackgen_backend_error* error) {
  *fd = shm_memfd();
  if (*fd < 0) return shm_no_memory("allocate: memfd_create", errno, error);
  int code = shm_resize(*fd, size, error);
  if (!code) {
    *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (*base == MAP_FAILED) code = shm_no_memory("allocate: mmap", errno, error);
  }
  if (code) (void)close(*fd);
  else memcpy(*base, header, sizeof *header);
  return code;
}

/* Returns whether a device of this type can have this id. */
static int shm_fits_id(DLDevice device) {
  return device.device_id == 0 || !dlpackgen_device_id_is_zero((int32_t)device.device_type);
}

static int shm_check_request(const dlpackgen_allocation* r, size_t* bytes, dlpackgen_backend_error* error) {
  if (r->device.device_type != kDLCPU)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE,
                       "allocate: device type %d; only memory of the CPU (1) is shared", (int)r->device.device_type);
  if (!shm_fits_id(r->device))
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE, "allocate: there is no device %d; the CPU is 0",
                       (int)r->device.device_id);
  if (r->stream)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_STREAM, "allocate: the CPU has no streams; pass NULL");
  const int code = device_check_size(r, bytes, error);
  if (code) return code;
  if (*bytes > PTRDIFF_MAX - SHM_DATA)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "allocate: %zu bytes exceed the address space",
                       *bytes);
  return DLPACKGEN_BACKEND_OK;
}

static int shm_alloc(const dlpackgen_allocation* request, DLManagedTensorVersioned** tensor,
                     dlpackgen_backend_error* error) {
  size_t bytes = 0;
  int fd = -1, code = device_check_alloc(request, tensor, error);
  void* base = NULL;
  if (!code) code = shm_check_request(request, &bytes, error);
  if (code) return code;
  *tensor = NULL;
  struct shm_block* block = shm_block_of("allocate", request, 0, error);
  if (!block) return DLPACKGEN_BACKEND_OUT_OF_MEMORY;
  if (bytes) {
    const struct shm_header header = shm_header_of(&block->tensor.dl_tensor, 0);
    code = shm_make(&header, bytes + SHM_DATA, &fd, &base, error);
    if (code) {
      free(block);
      return code;
    }
    shm_own(block, fd, base, bytes + SHM_DATA);
  }
  *tensor = &block->tensor;
  return DLPACKGEN_BACKEND_OK;
}

static int shm_free(DLManagedTensorVersioned* tensor, dlpackgen_backend_error* error) {
  const int code = tensor ? device_check_ours("deallocate", tensor, shm_delete, error) : DLPACKGEN_BACKEND_OK;
  if (!code) shm_delete(tensor);
  return code;
}

#endif /* DLPACKGEN_SHM_MEMORY_H_ */
