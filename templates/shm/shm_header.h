
/* The header of a memfd, which describes its tensor. Part of the backend's C file. */
#ifndef DLPACKGEN_SHM_HEADER_H_
#define DLPACKGEN_SHM_HEADER_H_

#include "shm_block.h"

/* "DLPSHM", and the version of this struct. */
#define SHM_MAGIC UINT64_C(0x00014d4853504c44)

/* The maximum rank of a tensor in a memfd, which must be the same for both peers: a different limit
 * needs a new version. */
enum { SHM_MAX_NDIM = DLPACKGEN_MAX_NDIM };

/* The first bytes of a memfd. Elements are C-contiguous: no strides and no
 * sizes, which could contradict the extents. */
struct shm_header {
  uint64_t magic;
  uint64_t flags; /* DLPack's; SHM_FLAGS at most */
  DLDataType dtype;
  int32_t ndim;
  int64_t shape[SHM_MAX_NDIM]; /* 0 beyond ndim */
};

/* The kernel determines READ_ONLY, and shared memory has no single owner. */
#define SHM_FLAGS DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED

static struct shm_header shm_header_of(const DLTensor* t, uint64_t flags) {
  struct shm_header header;
  memset(&header, 0, sizeof header);
  header.magic = SHM_MAGIC;
  header.flags = flags & SHM_FLAGS;
  header.dtype = t->dtype;
  header.ndim = t->ndim;
  if (t->ndim > 0) memcpy(header.shape, t->shape, (size_t)t->ndim * sizeof *t->shape);
  return header;
}

/* Checks a copy of a header, and returns the size of the elements in bytes. */
static int shm_check_header(struct shm_header* header, int64_t* bytes, dlpackgen_backend_error* error) {
  DLTensor t;
  if (header->magic != SHM_MAGIC)
    return device_fail(error, DLPACKGEN_SHM_HEADER,
                       "receive: the memory does not begin with a header of this version; the peer must use it too");
  if (header->flags & ~(uint64_t)SHM_FLAGS)
    return device_fail(error, DLPACKGEN_SHM_HEADER,
                       "receive: the header has the flags %#llx, of which %#llx may be set",
                       (unsigned long long)header->flags, (unsigned long long)SHM_FLAGS);
  if (header->ndim > SHM_MAX_NDIM)
    return device_fail(error, DLPACKGEN_SHM_HEADER, "receive: the header has %d dimensions; the most is %d",
                       (int)header->ndim, SHM_MAX_NDIM);
  memset(&t, 0, sizeof t);
  t.data = (void*)(uintptr_t)SHM_DATA; /* there is no memory yet; its size is compared with the file's */
  t.device.device_type = kDLCPU;
  t.ndim = header->ndim;
  t.dtype = header->dtype;
  t.shape = header->shape;
  dlpackgen_error_code rule = dlpackgen_validate(&t, header->flags, DLPACKGEN_ACCEPT_NULL_STRIDES);
  if (rule == DLPACKGEN_OK) rule = dlpackgen_nbytes(&t, header->flags, bytes);
  if (rule == DLPACKGEN_OK) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_SHM_HEADER, "receive: the header describes no tensor: %s",
                     dlpackgen_error_string(rule));
}

/* Reads the header of a memfd once, so later changes of its memory have no effect. */
static int shm_read_header(int fd, struct shm_header* header, dlpackgen_backend_error* error) {
  ssize_t n;
  do n = pread(fd, header, sizeof *header, 0);
  while (n < 0 && errno == EINTR);
  if (n == (ssize_t)sizeof *header) return DLPACKGEN_BACKEND_OK;
  if (n < 0) return shm_fail(error, DLPACKGEN_SHM_DESCRIPTOR, errno, "receive: the memory cannot be read");
  return device_fail(error, DLPACKGEN_SHM_SIZE, "receive: the memory has %lld bytes, fewer than a header",
                     (long long)n);
}

#endif /* DLPACKGEN_SHM_HEADER_H_ */
