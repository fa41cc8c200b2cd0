
/* Receives a memfd from an untrusted peer. Part of the backend's C file. */
#ifndef DLPACKGEN_SHM_RECEIVE_H_
#define DLPACKGEN_SHM_RECEIVE_H_

#include "shm_send.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum {
  SHM_TMPFS = 0x01021994, /* TMPFS_MAGIC of linux/magic.h, which may not be installed */
  SHM_PIDFD = 4           /* SCM_PIDFD: Linux 6.5 */
};

/* Space for more than is expected, so that other control messages of the socket (credentials, a
 * label, a pidfd) do not displace the descriptor. */
union shm_control {
  struct cmsghdr aligned;
  char bytes[CMSG_SPACE(4 * sizeof(int)) + 512];
};

/* Reads the descriptors of a message: the first one, and their number. All others are closed
 * here. */
static int shm_collect(struct msghdr* message, int* first) {
  int count = 0;
  *first = -1;
  for (struct cmsghdr* c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
    const int rights = c->cmsg_type == SCM_RIGHTS;
    if (c->cmsg_level != SOL_SOCKET || (!rights && c->cmsg_type != SHM_PIDFD)) continue;
    for (size_t at = 0; at + sizeof(int) <= c->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
      if (rights && count++ == 0) *first = fd;
      else if (fd >= 0) (void)close(fd);
    }
  }
  return count;
}

/* Distinguishes the end of a connection from an empty message, which packets may be: the system
 * call returns 0 for both. */
static int shm_has_ended(int socket) {
  struct pollfd end = {socket, POLLRDHUP, 0};
  return poll(&end, 1, 0) != 0;
}

/* Receives one message and returns its descriptor. */
static int shm_receive_fd(int socket, int* fd, dlpackgen_backend_error* error) {
  union shm_control control;
  char byte = 0;
  struct iovec part = {&byte, 1};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (n < 0) return shm_socket_failed("receive", errno, error);
  const int count = shm_collect(&message, fd);
  if (n == 1 && byte == shm_byte && count == 1 && !(message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)))
    return DLPACKGEN_BACKEND_OK;
  if (*fd >= 0) (void)close(*fd);
  if (n == 0 && count == 0 && shm_has_ended(socket))
    return device_fail(error, DLPACKGEN_SHM_CLOSED, "receive: the peer closed the socket");
  return device_fail(
      error, DLPACKGEN_SHM_INVALID_MESSAGE,
      "receive: a message of %d bytes, %d descriptors%s; expected one byte that send writes, and one descriptor",
      (int)n, count, message.msg_flags & MSG_CTRUNC ? " and more that did not fit, or that RLIMIT_NOFILE forbids" : "");
}

/* Checks a descriptor: its seals first, because only they make the other properties permanent. */
static int shm_check_fd(int fd, off_t* size, int* writable, dlpackgen_backend_error* error) {
  struct stat status;
  struct statfs filesystem;
  const int seals = fcntl(fd, F_GET_SEALS), mode = fcntl(fd, F_GETFL);
  if (seals < 0 || mode < 0 || fstat(fd, &status) < 0 || fstatfs(fd, &filesystem) < 0)
    return shm_fail(error, DLPACKGEN_SHM_DESCRIPTOR, errno, "receive: the descriptor is not of a memfd");
  if (filesystem.f_type != SHM_TMPFS || !S_ISREG(status.st_mode)) /* huge pages may run out under a reader */
    return device_fail(error, DLPACKGEN_SHM_DESCRIPTOR,
                       "receive: the descriptor is of a file system of type %#lx; expected a memfd in ordinary pages",
                       (unsigned long)filesystem.f_type);
  if ((seals & SHM_SIZE_SEALS) != SHM_SIZE_SEALS)
    return device_fail(error, DLPACKGEN_SHM_NOT_SEALED,
                       "receive: the memory has the seals %#x; without all of %#x the peer could shrink it",
                       (unsigned)seals, (unsigned)SHM_SIZE_SEALS);
  *size = status.st_size;
  *writable = !(seals & SHM_WRITE_SEALS) && (mode & O_ACCMODE) == O_RDWR;
  return DLPACKGEN_BACKEND_OK;
}

static int shm_map(struct shm_block* block, int fd, size_t size, int writable, dlpackgen_backend_error* error) {
  void* base = mmap(NULL, size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return shm_no_memory("receive: mmap", errno, error);
  shm_own(block, fd, base, size);
  return DLPACKGEN_BACKEND_OK;
}

/* Creates a tensor from a descriptor, and takes ownership of the descriptor if the tensor has
 * elements. Otherwise, and on failure, the caller must close it. */
static int shm_open_fd(int fd, struct shm_block** block, dlpackgen_backend_error* error) {
  struct shm_header header;
  off_t size = 0;
  int64_t bytes = 0;
  int writable = 0, code = shm_check_fd(fd, &size, &writable, error);
  if (!code) code = shm_read_header(fd, &header, error);
  if (!code) code = shm_check_header(&header, &bytes, error);
  if (code) return code;
  if (bytes > INT64_MAX - SHM_DATA || size != bytes + SHM_DATA)
    return device_fail(error, DLPACKGEN_SHM_SIZE,
                       "receive: the memory has %lld bytes; its header declares %lld of elements after the first %d",
                       (long long)size, (long long)bytes, SHM_DATA);
  const dlpackgen_allocation described = {
      sizeof described, {kDLCPU, 0}, header.dtype, header.ndim, header.shape, NULL, 0};
  *block = shm_block_of("receive", &described, header.flags | (writable ? 0 : DLPACK_FLAG_BITMASK_READ_ONLY), error);
  if (!*block) return DLPACKGEN_BACKEND_OUT_OF_MEMORY;
  if (bytes) code = shm_map(*block, fd, (size_t)size, writable, error);
  if (code) free(*block);
  return code;
}

static int shm_receive(int socket, DLManagedTensorVersioned** tensor, dlpackgen_backend_error* error) {
  struct shm_block* block = NULL;
  int fd = -1;
  if (!tensor) return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "receive: NULL instead of the tensor");
  *tensor = NULL;
  int code = shm_check_socket("receive", socket, error);
  if (!code) code = shm_receive_fd(socket, &fd, error);
  if (code) return code;
  code = shm_open_fd(fd, &block, error);
  if (code || block->fd < 0) (void)close(fd);
  if (!code) *tensor = &block->tensor;
  return code;
}

#endif /* DLPACKGEN_SHM_RECEIVE_H_ */
