
/* Sends a memfd to a peer. Part of the backend's C file. */
#ifndef DLPACKGEN_SHM_SEND_H_
#define DLPACKGEN_SHM_SEND_H_

#include "shm_memory.h"

#include <sys/socket.h>

/* Linux 5.1; headers may be older. */
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum {
  SHM_SIZE_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
  SHM_WRITE_SEALS = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE
};

/* A message is one byte, which is sent and received completely or not at all, together with the
 * descriptor. */
static const char shm_byte = 'T';

/* Other sockets would send the byte and silently drop the descriptor. */
static int shm_check_socket(const char* what, int socket, dlpackgen_backend_error* error) {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0) {
    (void)device_fail(error, DLPACKGEN_SHM_SOCKET, "%s: descriptor %d is not a socket: ", what, socket);
    if (error) error->driver_code = errno, device_add(error, strerror(errno));
    return DLPACKGEN_SHM_SOCKET;
  }
  if (domain == AF_UNIX) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_SHM_SOCKET, "%s: a socket of family %d; expected a Unix socket (%d)", what,
                     domain, AF_UNIX);
}

/* Reports the result of a failed message. */
static int shm_socket_failed(const char* what, int native, dlpackgen_backend_error* error) {
  int code = DLPACKGEN_SHM_SOCKET;
  if (native == EAGAIN || native == EWOULDBLOCK || native == EINTR) code = DLPACKGEN_SHM_WOULD_BLOCK;
  if (native == EPIPE || native == ECONNRESET || native == ECONNREFUSED || native == ENOTCONN)
    code = DLPACKGEN_SHM_CLOSED;
  return shm_fail(error, code, native, what);
}

static int shm_send_fd(int socket, int fd, dlpackgen_backend_error* error) {
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  char byte = shm_byte;
  struct iovec part = {&byte, 1};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  memset(&control, 0, sizeof control);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  struct cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  if (sendmsg(socket, &message, MSG_NOSIGNAL) == 1) return DLPACKGEN_BACKEND_OK;
  return shm_socket_failed("send", errno, error);
}

/* Fixes the size and the write permission permanently. Another thread may have done so already. */
static int shm_seal(int fd, uint32_t flags, dlpackgen_backend_error* error) {
  const int reads = flags & DLPACKGEN_SHM_READ_ONLY;
  const int wanted = SHM_SIZE_SEALS | (reads ? F_SEAL_FUTURE_WRITE : 0);
  if (fcntl(fd, F_ADD_SEALS, wanted) < 0 && errno != EPERM)
    return shm_fail(error, DLPACKGEN_BACKEND_UNSUPPORTED, errno, "send: this kernel does not seal the memory");
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & SHM_SIZE_SEALS) != SHM_SIZE_SEALS)
    return device_fail(error, DLPACKGEN_SHM_NOT_SEALED, "send: the memory has the seals %#x; expected %#x",
                       (unsigned)seals, (unsigned)SHM_SIZE_SEALS);
  if (reads && !(seals & SHM_WRITE_SEALS))
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT,
                       "send: the tensor was sent before by a call that let others write; send a copy");
  return DLPACKGEN_BACKEND_OK;
}

/* Returns whether a view covers all of one of our tensors, in the same order. */
static int shm_is_whole(const DLTensor* ours, const DLTensor* t) {
  return t->device.device_type == kDLCPU && (char*)t->data + t->byte_offset == (char*)ours->data &&
         t->ndim == ours->ndim && t->dtype.code == ours->dtype.code && t->dtype.bits == ours->dtype.bits &&
         t->dtype.lanes == ours->dtype.lanes &&
         (t->ndim == 0 || memcmp(t->shape, ours->shape, (size_t)t->ndim * sizeof *t->shape) == 0) &&
         dlpackgen_is_contiguous(t);
}

/* Sends a tensor without elements, which needs no memory. */
static int shm_send_empty(int socket, const DLTensor* t, uint32_t flags, dlpackgen_backend_error* error) {
  const struct shm_header header = shm_header_of(t, 0);
  int fd = -1;
  void* base = NULL;
  int code = shm_make(&header, SHM_DATA, &fd, &base, error);
  if (code) return code;
  (void)munmap(base, SHM_DATA);
  code = shm_seal(fd, flags, error);
  if (!code) code = shm_send_fd(socket, fd, error);
  (void)close(fd);
  return code;
}

static int shm_send(int socket, const DLTensor* tensor, uint32_t flags, dlpackgen_backend_error* error) {
  if (!tensor || (flags & ~(uint32_t)DLPACKGEN_SHM_READ_ONLY))
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "send: %s",
                       tensor ? "unknown flags; expected DLPACKGEN_SHM_READ_ONLY" : DEVICE_TEXT_NO_TENSOR);
  uint64_t count;
  int code = shm_check_socket("send", socket, error);
  if (!code) code = device_elements("send", tensor->ndim, tensor->shape, &count, error);
  if (code) return code;
  if (count == 0) return shm_send_empty(socket, tensor, flags, error);
  struct shm_block* block = shm_find((const char*)tensor->data + tensor->byte_offset);
  if (!block || !shm_is_whole(&block->tensor.dl_tensor, tensor))
    return device_fail(error, DLPACKGEN_BACKEND_NOT_ALLOCATED_HERE, "send: %s; copy it into a tensor of allocate",
                       block ? "a part or another view of a shared tensor" : "the tensor is not in shared memory");
  code = shm_seal(block->fd, flags, error);
  return code ? code : shm_send_fd(socket, block->fd, error);
}

#endif /* DLPACKGEN_SHM_SEND_H_ */
