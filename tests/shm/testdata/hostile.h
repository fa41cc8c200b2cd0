/* Peers that violate the rules, by name. Part of client.c. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "dlpackgen_shm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ALL = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, DATA = 4096 };

/* The header, as a peer that knows its bytes writes it. */
struct header {
  uint64_t magic, flags;
  DLDataType dtype;
  int32_t ndim;
  int64_t shape[64];
};

static void die(const char* what) {
  perror(what);
  exit(3);
}

static struct header good(void) {
  struct header h;
  memset(&h, 0, sizeof h);
  h.magic = UINT64_C(0x00014d4853504c44);
  h.dtype.code = kDLFloat, h.dtype.bits = 32, h.dtype.lanes = 1;
  h.ndim = 2, h.shape[0] = 3, h.shape[1] = 4;
  return h;
}

static int memory(const void* header, size_t bytes, off_t size, int seals, unsigned int flags) {
  const int fd = memfd_create("peer", MFD_ALLOW_SEALING | flags);
  if (fd < 0) die("memfd_create");
  if (ftruncate(fd, size) < 0) die("ftruncate");
  if (bytes && pwrite(fd, header, bytes, 0) < 0) die("pwrite");
  if (seals && fcntl(fd, F_ADD_SEALS, seals) < 0) die("seals");
  return fd;
}

static void message(int socket, const char* text, size_t length, int count, int fd) {
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(253 * sizeof(int))];
  } control;
  struct iovec part = {(void*)text, length};
  struct msghdr m;
  memset(&m, 0, sizeof m);
  memset(&control, 0, sizeof control);
  m.msg_iov = &part, m.msg_iovlen = 1;
  if (count) {
    m.msg_control = control.bytes, m.msg_controllen = CMSG_SPACE((size_t)count * sizeof fd);
    struct cmsghdr* c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN((size_t)count * sizeof fd);
    for (int i = 0; i < count; i++) memcpy(CMSG_DATA(c) + (size_t)i * sizeof fd, &fd, sizeof fd);
  }
  if (sendmsg(socket, &m, MSG_NOSIGNAL) < 0) die("sendmsg");
}

static void with(int socket, struct header h) { message(socket, "T", 1, 1, memory(&h, sizeof h, DATA + 48, ALL, 0)); }

/* The behaviours of hostile peers, by name. */
static int hostile_header(const char* name, int socket) {
  struct header h = good();
  if (!strcmp(name, "magic")) h.magic++;
  else if (!strcmp(name, "flag-readonly")) h.flags = 1;
  else if (!strcmp(name, "flag-copied")) h.flags = 2;
  else if (!strcmp(name, "flag-unknown")) h.flags = UINT64_C(1) << 63;
  else if (!strcmp(name, "ndim-negative")) h.ndim = -1;
  else if (!strcmp(name, "ndim-65")) h.ndim = 65;
  else if (!strcmp(name, "ndim-huge")) h.ndim = INT32_MAX;
  else if (!strcmp(name, "extent-negative")) h.shape[0] = -3, h.shape[1] = -4;
  else if (!strcmp(name, "extents-overflow")) h.shape[0] = INT64_C(1) << 62, h.shape[1] = 4;
  else if (!strcmp(name, "bytes-overflow")) h.shape[0] = INT64_C(1) << 62, h.shape[1] = 1;
  else if (!strcmp(name, "wraps-to-size")) h.shape[0] = (INT64_C(1) << 62) + 3;
  else if (!strcmp(name, "dtype-code")) h.dtype.code = 99;
  else if (!strcmp(name, "dtype-bits")) h.dtype.bits = 0;
  else if (!strcmp(name, "dtype-bool")) h.dtype.code = kDLBool;
  else if (!strcmp(name, "dtype-lanes")) h.dtype.lanes = 0;
  else if (!strcmp(name, "extent-larger")) h.shape[0] = 4;
  else if (!strcmp(name, "extent-smaller")) h.shape[0] = 2;
  else if (!strcmp(name, "extent-zero")) h.shape[0] = 0;
  else if (!strcmp(name, "dtype-wider")) h.dtype.bits = 64;
  else return 0;
  with(socket, h);
  return 1;
}

static int hostile_memory(const char* name, int socket) {
  const struct header h = good();
  int fd;
  if (!strcmp(name, "no-shrink")) fd = memory(&h, sizeof h, DATA + 48, ALL & ~F_SEAL_SHRINK, 0);
  else if (!strcmp(name, "no-grow")) fd = memory(&h, sizeof h, DATA + 48, ALL & ~F_SEAL_GROW, 0);
  else if (!strcmp(name, "no-seal")) fd = memory(&h, sizeof h, DATA + 48, ALL & ~F_SEAL_SEAL, 0);
  else if (!strcmp(name, "no-seals")) fd = memory(&h, sizeof h, DATA + 48, 0, 0);
  else if (!strcmp(name, "too-large")) fd = memory(&h, sizeof h, DATA + 49, ALL, 0);
  else if (!strcmp(name, "too-small")) fd = memory(&h, sizeof h, DATA + 47, ALL, 0);
  else if (!strcmp(name, "header-alone")) fd = memory(&h, sizeof h, sizeof h, ALL, 0);
  else if (!strcmp(name, "half-a-header")) fd = memory(&h, 100, 100, ALL, 0);
  else if (!strcmp(name, "no-bytes")) fd = memory(&h, 0, 0, ALL, 0);
  else if (!strcmp(name, "huge-pages")) fd = memory(&h, 0, 2 << 20, ALL, MFD_HUGETLB);
  else if (!strcmp(name, "dev-null")) fd = open("/dev/null", O_RDWR);
  else if (!strcmp(name, "a-socket")) fd = dup(socket);
  else if (!strcmp(name, "an-epoll")) fd = epoll_create1(0);
  else if (!strcmp(name, "a-file")) fd = open("/proc/self/exe", O_RDONLY);
  else if (!strcmp(name, "a-path")) fd = open("/proc/self/exe", O_PATH);
  else return 0;
  message(socket, "T", 1, 1, fd);
  return 1;
}

static int hostile_message(const char* name, int socket) {
  const struct header h = good();
  const int fd = memory(&h, sizeof h, DATA + 48, ALL, 0);
  if (!strcmp(name, "no-descriptor")) message(socket, "T", 1, 0, fd);
  else if (!strcmp(name, "two-descriptors")) message(socket, "T", 1, 2, fd);
  else if (!strcmp(name, "five-descriptors")) message(socket, "T", 1, 5, fd);
  else if (!strcmp(name, "many-descriptors")) message(socket, "T", 1, 253, fd);
  else if (!strcmp(name, "another-byte")) message(socket, "X", 1, 1, fd);
  else if (!strcmp(name, "packet-empty")) message(socket, "", 0, 1, fd);
  else if (!strcmp(name, "packet-long")) message(socket, "TTT", 3, 1, fd);
  else if (!strcmp(name, "starved")) message(socket, "T", 1, 1, fd);
  else if (!strcmp(name, "packet-nothing")) message(socket, "", 0, 0, fd);
  else if (!strcmp(name, "closed") || !strcmp(name, "packet-closed")) return 1;
  else return 0;
  return 1;
}

#endif /* HOSTILE_H */
