/* Sends and receives shared tensors between two processes, one of which may be hostile as its
 * argument specifies, and prints the results. */
#define _GNU_SOURCE
#include "hostile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHM (DLPACKGEN_SHM_ENTRY())

static dlpackgen_backend_error error;

/* Counts the descriptors, and the mappings of our memfds. */
static int descriptors(void) {
  int n = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) n++;
  closedir(folder);
  return n;
}

static int mappings(void) {
  char line[512];
  int n = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) n += strstr(line, "/memfd:") != NULL;
  fclose(maps);
  return n;
}

static float* elements(DLManagedTensorVersioned* t) { return (float*)t->dl_tensor.data; }

static DLManagedTensorVersioned* made(int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  const dlpackgen_allocation r = {sizeof r, {kDLCPU, 0}, {kDLFloat, 32, 1}, 2, shape, NULL, 0};
  DLManagedTensorVersioned* t = NULL;
  if (SHM->device->allocate(&r, &t, &error)) printf("%s\n", error.text), exit(3);
  for (int64_t i = 0; i < rows * columns; i++) elements(t)[i] = (float)i;
  return t;
}

/* A peer that follows the rules, in a mode. */
static int fair(const char* name, int socket) {
  if (!strcmp(name, "empty")) {
    DLManagedTensorVersioned* t = made(0, 4);
    if (t->dl_tensor.data || SHM->send(socket, &t->dl_tensor, 0, &error)) exit(4);
    t->deleter(t);
    return 1;
  }
  const int reads = !strcmp(name, "read-only");
  if (strcmp(name, "fair") && strcmp(name, "credentials") && strcmp(name, "killed") && strcmp(name, "scribble") &&
      !reads)
    return 0;
  DLManagedTensorVersioned* t = made(3, 4);
  if (SHM->send(socket, &t->dl_tensor, reads ? DLPACKGEN_SHM_READ_ONLY : 0, &error)) exit(4);
  if (!strcmp(name, "killed")) kill(getpid(), SIGKILL);
  if (!strcmp(name, "scribble")) memset((char*)t->dl_tensor.data - DATA, 0xff, DATA);
  t->deleter(t);
  return 1;
}

static void show(const char* name, int code, DLManagedTensorVersioned* t) {
  if (code) {
    printf("%s %d %d %s\n", name, code, (int)error.driver_code, error.text);
    return;
  }
  printf("%s ok [", name);
  for (int32_t i = 0; i < t->dl_tensor.ndim; i++) printf(i ? " %d" : "%d", (int)t->dl_tensor.shape[i]);
  printf("] flags %d", (int)t->flags);
  if (t->dl_tensor.data) {
    float sum = 0;
    for (int i = 0; i < 12; i++) sum += elements(t)[i];
    printf(" sum %g aligned %d", sum, (uintptr_t)t->dl_tensor.data % 256 == 0);
  }
  printf("\n");
}

/* Tries all ways to write to the memory of a read-only tensor. */
static void force(DLManagedTensorVersioned* t) {
  char *base = (char*)t->dl_tensor.data - DATA, path[64];
  printf("mprotect %d", mprotect(base, DATA, PROT_READ | PROT_WRITE));
  for (int fd = 3; fd < 64; fd++) {
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK)) continue;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int again = open(path, O_RDWR);
    printf(" mmap %d write %d truncate %d cloexec %d", mmap(NULL, DATA, PROT_WRITE, MAP_SHARED, again, 0) != MAP_FAILED,
           pwrite(again, path, 1, 0) == 1, ftruncate(fd, 0) == 0, fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(again);
  }
  printf("\n");
}

static void pair(int type, int sockets[2]) {
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, sockets) < 0) die("socketpair");
}

/* Forks a peer, and receives its tensor. */
static void one(const char* name) {
  int sockets[2], status = 0, on = 1, code;
  const int asks = !strcmp(name, "credentials") || !strcmp(name, "packet-nothing"); /* the peer stays alive meanwhile */
  DLManagedTensorVersioned* t = NULL;
  pair(strncmp(name, "packet", 6) ? SOCK_STREAM : SOCK_SEQPACKET, sockets);
  if (asks) {
    (void)setsockopt(sockets[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    (void)setsockopt(sockets[0], SOL_SOCKET, 76 /* SO_PASSPIDFD */, &on, sizeof on);
    (void)setsockopt(sockets[0], SOL_SOCKET, SO_PASSSEC, &on, sizeof on);
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(sockets[0]);
    if (asks)
      _exit(!(fair(name, sockets[1]) || hostile_message(name, sockets[1])) ||
            read(sockets[1], &on, 1) != 0); /* a dead process has no pidfd */
    _exit(fair(name, sockets[1]) || hostile_header(name, sockets[1]) || hostile_memory(name, sockets[1]) ||
                  hostile_message(name, sockets[1])
              ? 0
              : 5);
  }
  close(sockets[1]);
  if (!asks) waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status)) printf("the peer failed with %d\n", WEXITSTATUS(status));
  const int before = descriptors();
  struct rlimit limit, none = {0, 0};
  getrlimit(RLIMIT_NOFILE, &limit);
  none.rlim_max = limit.rlim_max;
  if (!strcmp(name, "starved")) setrlimit(RLIMIT_NOFILE, &none);
  code = SHM->receive(sockets[0], &t, &error);
  setrlimit(RLIMIT_NOFILE, &limit);
  show(name, code, t);
  if (!strcmp(name, "read-only") && t) force(t);
  if (t) SHM->device->deallocate(t, &error);
  close(sockets[0]);
  if (asks) waitpid(child, &status, 0);
  printf("left %d %d\n", descriptors() - before + 1, mappings());
}

/* The peer continuously changes the header. */
static void flip(void* mapped) {
  struct header other = good(), sound = other;
  other.ndim = 64, other.shape[0] = INT64_MAX, other.dtype.lanes = 9;
  for (;;) {
    volatile unsigned char* to = mapped;
    for (size_t i = 0; i < sizeof other; i++) to[i] = ((const unsigned char*)&other)[i];
    for (size_t i = 0; i < sizeof other; i++) to[i] = ((const unsigned char*)&sound)[i];
    if (getppid() == 1) _exit(0);
  }
}

static void race(void) {
  int sockets[2], bad = 0, taken = 0, rejected = 0, before = descriptors();
  const struct header h = good();
  pair(SOCK_STREAM, sockets);
  const int fd = memory(&h, sizeof h, DATA + 48, ALL, 0);
  const pid_t child = fork();
  if (child == 0) flip(mmap(NULL, DATA, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  /* Until both have occurred, under any load. */
  for (int i = 0; i < 20000 || !taken || !rejected; i++) {
    DLManagedTensorVersioned* t = NULL;
    message(sockets[1], "T", 1, 1, fd);
    if (SHM->receive(sockets[0], &t, &error)) {
      rejected++;
      bad += error.code != DLPACKGEN_SHM_HEADER && error.code != DLPACKGEN_SHM_SIZE;
      continue;
    }
    taken++;
    const DLTensor* d = &t->dl_tensor;
    bad += d->ndim != 2 || d->shape[0] != 3 || d->shape[1] != 4 || d->dtype.lanes != 1;
    t->deleter(t);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(fd), close(sockets[0]), close(sockets[1]);
  printf("race both %d bad %d left %d\n", taken > 0 && rejected > 0, bad, descriptors() - before);
}

static void said(const char* what, int code) { printf("%s %d %s\n", what, code, code ? error.text : ""); }

/* Arguments that send rejects, and repeated sends. */
static void sending(void) {
  int sockets[2], tcp = socket(AF_INET, SOCK_STREAM, 0);
  DLManagedTensorVersioned *t = made(3, 4), *u = NULL, *v = NULL;
  pair(SOCK_STREAM, sockets);
  DLTensor part = t->dl_tensor;
  int64_t shape[] = {2, 4}, strides[] = {1, 3};
  float own[12];
  part.shape = shape;
  said("null", SHM->send(sockets[0], NULL, 0, &error));
  said("flags", SHM->send(sockets[0], &t->dl_tensor, 6, &error));
  said("part", SHM->send(sockets[0], &part, 0, &error));
  part.shape = t->dl_tensor.shape, part.strides = strides;
  said("strides", SHM->send(sockets[0], &part, 0, &error));
  part.strides = t->dl_tensor.strides, part.dtype.bits = 16;
  said("dtype", SHM->send(sockets[0], &part, 0, &error));
  part = t->dl_tensor, part.data = own;
  said("own", SHM->send(sockets[0], &part, 0, &error));
  said("tcp", SHM->send(tcp, &t->dl_tensor, 0, &error));
  said("no-socket", SHM->send(0, &t->dl_tensor, 0, &error));
  said("receive-tcp", SHM->receive(tcp, &u, &error));
  said("receive-null", SHM->receive(sockets[1], NULL, &error));
  said("sent", SHM->send(sockets[0], &t->dl_tensor, 0, &error));
  said("sent-again", SHM->send(sockets[0], &t->dl_tensor, 0, &error));
  said("then-read-only", SHM->send(sockets[0], &t->dl_tensor, DLPACKGEN_SHM_READ_ONLY, &error));
  said("received", SHM->receive(sockets[1], &u, &error));
  said("forwarded", SHM->send(sockets[0], &u->dl_tensor, 0, &error));
  elements(t)[11] = 111;
  t->deleter(t);
  said("twice", SHM->receive(sockets[1], &v, &error));
  printf("shared %g\n", elements(u)[11]);
  u->deleter(u), v->deleter(v);
  close(sockets[1]);
  t = made(1, 1);
  said("peer-gone", SHM->send(sockets[0], &t->dl_tensor, 0, &error));
  t->deleter(t);
  close(sockets[0]), close(tcp);
}

static void nothing(int signal) { (void)signal; }

/* Sockets that are not ready, and signals. */
static void waiting(void) {
  int sockets[2];
  DLManagedTensorVersioned *t = made(3, 4), *u = NULL;
  struct sigaction action;
  const struct itimerval timer = {{0, 20000}, {0, 20000}}, off = {{0, 0}, {0, 0}};
  pair(SOCK_STREAM, sockets);
  fcntl(sockets[1], F_SETFL, O_NONBLOCK), fcntl(sockets[0], F_SETFL, O_NONBLOCK);
  said("not-ready", SHM->receive(sockets[1], &u, &error));
  int code = 0, sent = 0;
  while (!(code = SHM->send(sockets[0], &t->dl_tensor, 0, &error))) sent++;
  said("full", code);
  for (int i = 0; i < sent; i++) {
    if (SHM->receive(sockets[1], &u, &error)) printf("lost at %d\n", i);
    else u->deleter(u);
  }
  fcntl(sockets[1], F_SETFL, 0);
  memset(&action, 0, sizeof action);
  action.sa_handler = nothing;
  sigaction(SIGALRM, &action, NULL), setitimer(ITIMER_REAL, &timer, NULL);
  said("signal", SHM->receive(sockets[1], &u, &error));
  printf("native %d\n", error.driver_code == EINTR), setitimer(ITIMER_REAL, &off, NULL);
  t->deleter(t), close(sockets[0]), close(sockets[1]);
}

/* Watches another process's memfd, without keeping it alive. */
static int watched(pid_t child) {
  char path[64], target[64];
  for (int fd = 3; fd < 64; fd++) {
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)child, fd);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0) continue;
    target[n] = 0;
    if (strncmp(target, "/memfd:dlpackgen", 16)) continue;
    const int watch = inotify_init1(IN_CLOEXEC);
    if (inotify_add_watch(watch, path, IN_DELETE_SELF) < 0) die("inotify_add_watch");
    return watch;
  }
  printf("no memfd\n");
  return -1;
}

/* Returns whether, within a time (-1: any time), the kernel reports that the memfd has no users.
 * The total of the machine's shared memory would only show this without other processes. */
static int gone(int watch, int milliseconds) {
  struct pollfd p = {watch, POLLIN, 0};
  return poll(&p, 1, milliseconds) > 0;
}

/* A peer that dies while it owns a tensor, which is also in an unreceived message. */
static void dying(void) {
  int sockets[2], ready[2];
  char byte;
  pair(SOCK_STREAM, sockets);
  if (pipe(ready) < 0) die("pipe");
  const pid_t child = fork();
  if (child == 0) {
    DLManagedTensorVersioned* t = made(3, 4);
    if (SHM->send(sockets[1], &t->dl_tensor, 0, &error) || write(ready[1], "", 1) != 1) _exit(4);
    pause();
  }
  if (read(ready[0], &byte, 1) != 1) die("read");
  const int watch = watched(child);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  printf("in a message %d\n", !gone(watch, 100));
  close(sockets[0]), close(sockets[1]);
  printf("left %d\n", !gone(watch, -1));
  close(watch), close(ready[0]), close(ready[1]);
}

/* Each process frees its own tensor from before a fork. */
static void forking(void) {
  DLManagedTensorVersioned* t = made(3, 4);
  int status;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    elements(t)[0] = 42;
    t->deleter(t);
    t = made(1, 1);
    t->deleter(t);
    _exit(mappings());
  }
  waitpid(child, &status, 0);
  printf("child left %d wrote %g\n", WEXITSTATUS(status), elements(t)[0]);
  t->deleter(t);
  printf("left %d\n", mappings());
}

/* Tensors are created and freed on other threads. */
static int rounds;

static void* churn(void* stop) {
  dlpackgen_pointer_attributes p = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  dlpackgen_backend_error own;
  const int64_t shape[] = {3};
  const dlpackgen_allocation r = {sizeof r, {kDLCPU, 0}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
  while (!__atomic_load_n((int*)stop, __ATOMIC_RELAXED)) {
    DLManagedTensorVersioned* t = NULL;
    if (SHM->device->allocate(&r, &t, &own) || SHM->device->pointer_attributes(t->dl_tensor.data, &p, &own) ||
        p.bytes != 12 || SHM->device->pointer_attributes(stop, &p, &own) || p.base)
      printf("wrong\n");
    if (t) t->deleter(t);
    __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

/* Ends a deadlocked child: one that has not run between any two of twenty consecutive signals. A
 * child that waits for a core runs between two signals. */
static void end_deadlock(int unused) {
  static int turns;
  static long long before;
  struct timespec time;
  (void)unused;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  const long long now = time.tv_sec * 1000000000LL + time.tv_nsec;
  turns = now - before < 1000000 ? turns + 1 : 0;
  before = now;
  if (turns == 20) _exit(1);
}

/* Threads, and children of concurrent forks: none of them waits for a lock forever. */
static void threads(int forks) {
  pthread_t others[3];
  DLManagedTensorVersioned* many[500]; /* so that a search takes a while */
  int stop = 0, status, failed = 0;
  for (int i = 0; i < 500; i++) many[i] = made(1, 1);
  for (int i = 0; i < 3; i++)
    if (pthread_create(&others[i], NULL, churn, &stop)) die("pthread_create");
  for (int i = 0; i < forks && !failed; i++) {
    const pid_t child = fork();
    if (child == 0) {
      const struct itimerval timer = {{0, 500000}, {0, 500000}};
      signal(SIGALRM, end_deadlock), setitimer(ITIMER_REAL, &timer, NULL);
      DLManagedTensorVersioned* t = made(1, 1);
      t->deleter(t);
      _exit(0);
    }
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  while (!forks && __atomic_load_n(&rounds, __ATOMIC_RELAXED) < 3000) usleep(1000);
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 3; i++) pthread_join(others[i], NULL);
  for (int i = 0; i < 500; i++) many[i]->deleter(many[i]);
  printf("threads failed %d left %d\n", failed, mappings());
}

static int asked(DLDevice device, DLDataType dtype, int32_t ndim, const int64_t* shape, void* stream) {
  const dlpackgen_allocation r = {sizeof r, device, dtype, ndim, shape, stream, 0};
  DLManagedTensorVersioned* t = NULL;
  const int code = SHM->device->allocate(&r, &t, &error);
  if (t) t->deleter(t);
  return code;
}

static void allocating(void) {
  const DLDevice cpu = {kDLCPU, 0};
  const DLDataType f = {kDLFloat, 32, 1};
  const int64_t negative[] = {-1}, many[] = {INT64_MAX, INT64_MAX}, far[] = {INT64_C(1) << 61}, some[] = {1 << 20};
  const struct rlimit limit = {1 << 20, RLIM_INFINITY};
  said("scalar", asked(cpu, f, 0, NULL, NULL));
  said("type", asked((DLDevice){kDLCUDA, 0}, f, 0, NULL, NULL));
  said("id", asked((DLDevice){kDLCPU, 1}, f, 0, NULL, NULL));
  said("stream", asked(cpu, f, 0, NULL, &error));
  said("extent", asked(cpu, f, 1, negative, NULL));
  said("no-shape", asked(cpu, f, 1, NULL, NULL));
  said("overflow", asked(cpu, f, 2, many, NULL));
  said("code", asked(cpu, (DLDataType){99, 32, 1}, 0, NULL, NULL));
  said("bool", asked(cpu, (DLDataType){kDLBool, 1, 1}, 0, NULL, NULL));
  said("far", asked(cpu, f, 1, far, NULL));
  said("null", SHM->device->allocate(NULL, NULL, &error));
  setrlimit(RLIMIT_FSIZE, &limit);
  said("limit", asked(cpu, f, 1, some, NULL));
  printf("left %d\n", mappings());
}

static void host(void) {
  const dlpackgen_backend* d = SHM->device;
  DLManagedTensorVersioned *t = made(3, 4), *u = made(3, 4);
  dlpackgen_pointer_attributes p = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  dlpackgen_stream s;
  dlpackgen_driver_info facts = DLPACKGEN_DRIVER_INFO_INIT;
  int32_t count = 0;
  const int64_t number = -1;
  said("probe", d->probe(&facts, &error));
  said("count", d->device_count(&count, &error));
  said("info", d->pointer_attributes(elements(t) + 11, &p, &error));
  printf("found %d %d %d %d\n", p.base == t->dl_tensor.data, (int)p.bytes, (int)p.ordinal, (int)p.device.device_type);
  said("info-past", d->pointer_attributes(elements(t) + 12, &p, &error));
  printf("found %d %d\n", (int)p.ordinal, p.base == NULL);
  said("number", d->stream_from_dlpack(t->dl_tensor.device, &number, &s, &error));
  said("none", d->stream_from_dlpack(t->dl_tensor.device, NULL, &s, &error));
  memset(u->dl_tensor.data, 0, 48);
  said("copy", d->copy(&u->dl_tensor, &t->dl_tensor, &s, &error));
  printf("copied %g\n", elements(u)[11]);
  u->dl_tensor.dtype.code = kDLInt;
  said("copy-dtype", d->copy(&u->dl_tensor, &t->dl_tensor, &s, &error));
  int sockets[2];
  pair(SOCK_STREAM, sockets);
  DLManagedTensorVersioned* v = NULL;
  if (SHM->send(sockets[0], &t->dl_tensor, 1, &error) || SHM->receive(sockets[1], &v, &error)) die("send");
  said("copy-read-only", d->copy(&v->dl_tensor, &t->dl_tensor, &s, &error));
  said("order", d->stream_wait(&s, &s, &error)), said("finish", d->stream_synchronize(&s, &error));
  said("keep", d->keep_until(t, &s, &error)), said("free-null", d->deallocate(NULL, &error));
  t->deleter(t), u->deleter(u), v->deleter(v), close(sockets[0]), close(sockets[1]);
}

/* The other side: sends or receives over descriptor 0 for another program. */
static void untrusted(const char* what) {
  DLManagedTensorVersioned* t = NULL;
  if (!strcmp(what, "untrusted-sends")) {
    t = made(3, 4);
    said("send", SHM->send(0, &t->dl_tensor, 0, &error));
  } else {
    const int code = SHM->receive(0, &t, &error);
    show("receive", code, t);
  }
  if (t) t->deleter(t);
}

int main(int count, char** words) {
  for (int i = 1; i < count; i++) {
    const char* w = words[i];
    if (!strcmp(w, "race")) race();
    else if (!strcmp(w, "threads")) threads(0);
    else if (!strcmp(w, "threads-and-forks")) threads(300);
    else if (!strcmp(w, "sending")) sending();
    else if (!strcmp(w, "waiting")) waiting();
    else if (!strcmp(w, "dying")) dying();
    else if (!strcmp(w, "forking")) forking();
    else if (!strcmp(w, "allocating")) allocating();
    else if (!strcmp(w, "host")) host();
    else if (!strncmp(w, "untrusted", 8)) untrusted(w);
    else one(w);
    fflush(stdout);
  }
  return 0;
}
