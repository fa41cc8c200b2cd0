/* Times the transfer of 1 GiB between two processes, with the backend and with bare system calls,
 * in turn. Each line has both times, in nanoseconds, from before the sending until the receiver's
 * answer, one byte, has arrived after its mmap. */
#define _GNU_SOURCE
#include "dlpackgen_shm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };
static const size_t size = (size_t)1 << 30;

static void must(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One message with a descriptor: sends fd, or receives one if fd is -1. */
static int bare(int socket, int fd) {
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  char byte = 'T';
  struct iovec part = {&byte, 1};
  struct msghdr m;
  memset(&m, 0, sizeof m), memset(&control, 0, sizeof control);
  m.msg_iov = &part, m.msg_iovlen = 1, m.msg_control = control.bytes, m.msg_controllen = sizeof control.bytes;
  if (fd < 0) {
    must(recvmsg(socket, &m, MSG_CMSG_CLOEXEC) == 1, "recvmsg");
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
  }
  struct cmsghdr* c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(c), &fd, sizeof fd);
  must(sendmsg(socket, &m, MSG_NOSIGNAL) == 1, "sendmsg");
  return fd;
}

/* The other process: alternates between the backend and bare system calls. */
static void receiver(int socket) {
  char byte = 0;
  for (;;) {
    DLManagedTensorVersioned* t = NULL;
    if (dlpackgen_shm()->receive(socket, &t, NULL)) exit(0);
    must(write(socket, &byte, 1) == 1, "write");
    t->deleter(t);
    const int fd = bare(socket, -1);
    void* base = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(base != MAP_FAILED && write(socket, &byte, 1) == 1, "mmap");
    munmap(base, size + PAGE), close(fd);
  }
}

int main(int count, char** words) {
  const dlpackgen_shm_table* shm = dlpackgen_shm();
  const int64_t extent = (int64_t)size;
  const dlpackgen_allocation r = {sizeof r, {kDLCPU, 0}, {kDLUInt, 8, 1}, 1, &extent, NULL, 0};
  int sockets[2];
  char byte;
  must(count == 2 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0, "socketpair");
  if (fork() == 0) close(sockets[0]), receiver(sockets[1]);
  close(sockets[1]);
  for (int i = 0; i < atoi(words[1]); i++) {
    DLManagedTensorVersioned* t = NULL;
    must(shm->device->allocate(&r, &t, NULL) == 0, "alloc");
    double start = now();
    must(shm->send(sockets[0], &t->dl_tensor, 0, NULL) == 0 && read(sockets[0], &byte, 1) == 1, "send");
    const double ours = now() - start;
    t->deleter(t);
    const int fd = memfd_create("bare", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    must(fd >= 0 && ftruncate(fd, (off_t)size + PAGE) == 0, "memfd_create");
    start = now();
    (void)bare(sockets[0], fd);
    must(read(sockets[0], &byte, 1) == 1, "read");
    printf("%.0f %.0f\n", now() - start, ours);
    close(fd);
  }
  return 0;
}
