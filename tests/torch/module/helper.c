/* The parts of this folder's scripts that Python cannot express: calling deleters on unknown
 * threads, inspecting the state after Python's end, and making torch's stable ABI fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

typedef void (*deleter)(void* managed);

struct work {
  deleter call;
  void* managed;
  int came_back;
};

static void* run(void* arg) {
  struct work* const work = (struct work*)arg;
  work->call(work->managed);
  work->came_back = 1;
  return NULL;
}

/* Calls a deleter on a new thread and waits for its return. */
void on_a_thread(deleter call, void* managed) {
  struct work work = {call, managed, 0};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, &work) != 0) abort();
  pthread_join(thread, NULL);
  if (!work.came_back) abort();
}

static struct work work;

/* The same for a thread that nobody joins. */
void on_a_thread_of_its_own(deleter call, void* managed) {
  pthread_t thread;
  work.call = call;
  work.managed = managed;
  work.came_back = 0;
  if (pthread_create(&thread, NULL, run, &work) != 0 || pthread_detach(thread) != 0) abort();
}

/* Whether it returns while the caller holds the GIL. */
int comes_back_meanwhile(deleter call, void* managed) {
  const struct timespec nap = {0, 100000000};
  on_a_thread_of_its_own(call, managed);
  nanosleep(&nap, NULL);
  return *(volatile int*)&work.came_back;
}

/* A Python object that must outlive it: its first word is the reference count. */
void expect_references(const ptrdiff_t* object) {
  if (*object < 1 || *object > 1000) abort();
}

typedef int make_tensor(void* data, int64_t ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                        int32_t dtype, int32_t device, int32_t index, void** out, int32_t layout, const uint8_t* opaque,
                        int64_t size, void (*deleter)(void* data, void* context), void* context);

static int nothing;

/* 1 makes it fail, 2 after the deleter was called. */
void make_nothing(int how) { nothing = how; }

/* Replaces torch's own function if this library is preloaded. */
make_tensor torch_from_blob;
int torch_from_blob(void* data, int64_t ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                    int32_t dtype, int32_t device, int32_t index, void** out, int32_t layout, const uint8_t* opaque,
                    int64_t size, void (*deleter)(void* data, void* context), void* context) {
  if (nothing == 2) deleter(data, context);
  if (nothing != 0) return 1;
  void* const torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  make_tensor* real = NULL;
  if (torch) *(void**)&real = dlsym(torch, "torch_from_blob");
  if (!real || real == torch_from_blob) abort();
  return real(data, ndim, sizes, strides, offset, dtype, device, index, out, layout, opaque, size, deleter, context);
}
