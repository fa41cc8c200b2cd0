/* Threads that use a backend all at once, from the first call on. */
#include BACKEND_HEADER

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef DEVICES
#define DEVICES 3 /* how many there are, and a stream that each has */
#define OTHER 2
#endif
#ifndef ROUNDS
#define ROUNDS 200
#endif

enum { THREADS = 8 };
static DLManagedTensorVersioned* shared;
static pthread_barrier_t all;

static void must(int code, const dlpackgen_backend_error* error) {
  if (code) fprintf(stderr, "%s\n", error->text), exit(1);
}

static void* work(void* number) {
  const dlpackgen_backend* d = BACKEND_TABLE();
  const int32_t id = (int32_t)(intptr_t)number % DEVICES;
  const int64_t shape[] = {8};
  const dlpackgen_allocation r = {sizeof r, {(DLDeviceType)d->device_type, id}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
  const dlpackgen_stream one = {NULL, r.device, 0, 0};
  const dlpackgen_stream two = {(void*)OTHER, {r.device.device_type, (id + 1) % DEVICES}, 0, 0};
  dlpackgen_backend_error e;
  dlpackgen_pointer_attributes p = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  pthread_barrier_wait(&all);
  if (!number) must(d->allocate(&r, &shared, &e), &e);
  must(d->probe(NULL, &e), &e);
  pthread_barrier_wait(&all);
  must(d->keep_until(shared, &one, &e), &e);
  must(d->keep_until(shared, &two, &e), &e);
  for (int i = 0; i < ROUNDS; i++) {
    DLManagedTensorVersioned *a = NULL, *b = NULL;
    must(d->allocate(&r, &a, &e), &e);
    must(d->allocate(&r, &b, &e), &e);
    must(d->pointer_attributes(a->dl_tensor.data, &p, &e), &e);
    must(d->stream_wait(&two, &one, &e), &e);
    must(d->keep_until(a, &two, &e), &e);
    must(d->keep_until(shared, &one, &e), &e);
    must(d->copy(&a->dl_tensor, &b->dl_tensor, &one, &e), &e);
    must(d->deallocate(a, &e), &e);
    b->deleter(b);
  }
  return NULL;
}

/* What a thread does that makes no other calls. */
static void* delete_all(void* tensors) {
  for (DLManagedTensorVersioned** t = tensors; *t; t++) (*t)->deleter(*t);
  return NULL;
}

/* Threads that only delete; what they delete may be freed by another one, a little later. */
static void delete_elsewhere(void) {
  static DLManagedTensorVersioned* made[THREADS][9];
  const dlpackgen_backend* d = BACKEND_TABLE();
  const int64_t shape[] = {8};
  const dlpackgen_allocation r = {sizeof r, {(DLDeviceType)d->device_type, 0}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
  pthread_t threads[THREADS];
  dlpackgen_backend_error e;
  for (int i = 0; i < THREADS; i++)
    for (int k = 0; k < 8; k++) must(d->allocate(&r, &made[i][k], &e), &e);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, delete_all, made[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* As much as is alive, once that is 0 or 2 seconds of CPU time are spent. */
static int settled(int (*alive)(void)) {
  for (const clock_t start = clock(); alive() && clock() - start < 2 * CLOCKS_PER_SEC;) sched_yield();
  return alive();
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&all, NULL, THREADS);
  for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  delete_elsewhere();
  shared->deleter(shared);
  void* library = dlopen(BACKEND_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  printf("alive %d\n", settled((int (*)(void))dlsym(library, "standin_alive")));
  return 0;
}
