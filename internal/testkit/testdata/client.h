/* The steps that programs do to every backend alike, as their arguments say. Part of a C
 * file that has included the backend's header. Words of a step stand between colons;
 * addresses are written tN for a tensor's, pN for one that was made, h for one of the
 * host's, n for NULL; +K adds bytes. Each step prints "NAME ok ..." or "NAME CODE NATIVE
 * TEXT". */
#ifndef CLIENT_H
#define CLIENT_H

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const dlpackgen_backend* device;
static DLManagedTensorVersioned* tensors[1024];
static void *pointers[64], *handles[64];
static int tensor_count, pointer_count, stream_count;
static char words[8][64];
static char host[256];
static dlpackgen_backend_error error;

/* Reads a stream of a device; each program writes streams in its own way. */
static dlpackgen_stream on(const char* stream, const char* id);

static int number(const char* word) { return (int)strtol(word, NULL, 10); }

static char* at(const char* word) {
  const char* more = strchr(word, '+');
  const int n = number(word + 1);
  char* p = *word == 't' ? tensors[n]->dl_tensor.data : *word == 'p' ? pointers[n] : *word == 'h' ? host : NULL;
  return p ? p + (more ? number(more) : 0) : NULL;
}

static int tell(const char* name, int code) {
  if (code) printf("%s %d %d %s\n", name, error.code, error.driver_code, error.text);
  else printf("%s ok", name);
  return code;
}

static void tell_nothing_else(const char* name, int code) {
  if (!tell(name, code)) printf("\n");
}

static void print_tensor(const DLTensor* t) {
  printf(" %d %d %lld %lld %s\n", (int)t->device.device_type, t->device.device_id, (long long)t->shape[0],
         (long long)t->strides[0], t->data ? "data" : "null");
}

static void print_info(const dlpackgen_pointer_attributes* p, const char* address) {
  printf(" %d %d %d +%lld %zu\n", (int)p->device.device_type, p->device.device_id, p->ordinal,
         p->base ? (long long)(address - (const char*)p->base) : -1LL, p->bytes);
}

static void info(void) {
  dlpackgen_pointer_attributes p;
  memset(&p, 0x55, sizeof p); /* every member is for the backend to fill */
  p.size = sizeof p;
  const char* address = at(words[1]);
  if (!tell("info", device->pointer_attributes(address, &p, &error))) print_info(&p, address);
}

static void read_number(void) {
  dlpackgen_stream s;
  const int64_t n = strtoll(words[3], NULL, 10);
  const DLDevice d = {(DLDeviceType)number(words[1]), number(words[2])};
  if (!tell(words[0], device->stream_from_dlpack(d, strcmp(words[3], "none") ? &n : NULL, &s, &error)))
    printf(" %llu %d %d\n", (unsigned long long)(uintptr_t)s.handle, s.device.device_id, (int)s.flags);
}

static void* delete_there(void* tensor) {
  ((DLManagedTensorVersioned*)tensor)->deleter(tensor);
  return NULL;
}

static void foreign_delete(DLManagedTensorVersioned* t) { (void)t; }

static void lifetime(void) {
  static DLManagedTensorVersioned untrusted = {.deleter = foreign_delete};
  DLManagedTensorVersioned* t = *words[1] == 'x' ? &untrusted : *words[1] == 'n' ? NULL : tensors[number(words[1])];
  pthread_t thread;
  if (!strcmp(words[0], "free")) {
    tell_nothing_else("free", device->deallocate(t, &error));
  } else if (!strcmp(words[0], "keep")) {
    const dlpackgen_stream s = on(words[2], words[3]);
    tell_nothing_else("keep", device->keep_until(t, &s, &error));
  } else if (!strcmp(words[0], "delete")) {
    t->deleter(t);
  } else if (!pthread_create(&thread, NULL, delete_there, t)) {
    pthread_join(thread, NULL);
  }
}

static void order(void) {
  const dlpackgen_stream c = on(words[1], words[2]), p = on(words[3], words[4]);
  tell_nothing_else("order", device->stream_wait(&c, &p, &error));
}

static void finish(void) {
  const dlpackgen_stream s = on(words[1], words[2]);
  tell_nothing_else("finish", device->stream_synchronize(&s, &error));
}

static void probe(void) {
  dlpackgen_driver_info f = DLPACKGEN_DRIVER_INFO_INIT;
  if (!tell("probe", device->probe(&f, &error))) printf(" %lld %d\n", (long long)f.version, f.devices);
}

static void count(void) {
  int32_t n = -1;
  if (!tell("count", device->device_count(&n, &error))) printf(" %d\n", n);
}

/* Whether a library of the driver is mapped into the process, and seen by all of it. */
static void mapped(void) {
  char line[512];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, BACKEND_MAPPED) != NULL;
  if (maps) fclose(maps);
  printf("mapped %d global %d\n", found, dlsym(RTLD_DEFAULT, BACKEND_SYMBOL) != NULL);
}

struct client_step {
  const char* name;
  void (*run)(void);
};

static const struct client_step common_steps[] = {
    {"probe", probe},     {"count", count},          {"info", info},   {"free", lifetime}, {"keep", lifetime},
    {"delete", lifetime}, {"deletethere", lifetime}, {"order", order}, {"finish", finish}, {"mapped", mapped},
};

/* Splits a step into its words, and does it if it is one of those; gives whether it was. */
static int client_do(const char* text, const struct client_step* steps, size_t size) {
  memset(words, 0, sizeof words);
  for (int i = 0; i < 8 && *text; i++) {
    const size_t n = strcspn(text, ":");
    snprintf(words[i], sizeof words[i], "%.*s", (int)n, text);
    text += n + (text[n] == ':');
  }
  for (size_t i = 0; i < sizeof common_steps / sizeof *common_steps; i++)
    if (!strcmp(common_steps[i].name, words[0])) return common_steps[i].run(), 1;
  for (size_t i = 0; i < size / sizeof *steps; i++)
    if (!strcmp(steps[i].name, words[0])) return steps[i].run(), 1;
  return 0;
}

/* Goes on in a child of fork; the parent ends as that does. */
static void client_fork(void) {
  int status = 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child <= 0) return;
  waitpid(child, &status, 0);
  exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

#endif /* CLIENT_H */
