/* A vendor's part whose first mark is slow, so that a second thread marks the same stream
 * meanwhile, and a program that prints which mark the deleter awaits. */
#include "dlpackgen_acme.h"
#include "vendor_impl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

static char memory[64];
static atomic_int marked, second_began, second_done;
static clockid_t second_clock;
static intptr_t waited;
static DLManagedTensorVersioned* tensor;
static const dlpackgen_stream stream = {NULL, {kDLExtDev, 0}, 0, 0};

static void doze(void) { nanosleep(&(struct timespec){0, 1000000}, NULL); }

static int start(const struct driver* driver, dlpackgen_driver_info* info, dlpackgen_backend_error* error) {
  (void)driver, (void)error;
  info->version = 60, info->devices = 1;
#ifdef SILENT
  return DLPACKGEN_BACKEND_UNAVAILABLE; /* without an error, which a vendor may forget */
#endif
  return 0;
}

static int allocate(const struct driver* driver, const struct vendor_allocation* r, size_t bytes, void** data,
                    dlpackgen_backend_error* error) {
  (void)driver, (void)r, (void)bytes, (void)error;
  *data = memory;
  return 0;
}

static int deallocate(const struct driver* driver, const struct vendor_allocation* r, void* data,
                      dlpackgen_backend_error* error) {
  (void)driver, (void)r, (void)data, (void)error;
  return 0;
}

/* Returns the CPU time of the second thread, in milliseconds. */
static long used(void) {
  struct timespec time;
  while (!atomic_load(&second_began)) doze();
  clock_gettime(second_clock, &time);
  return (long)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* The first call gives the second thread time to complete its call: CPU time, because the thread
 * may wait in a loop for a lock that the first one holds. */
static int mark(const struct driver* driver, const dlpackgen_stream* s, void** fresh, dlpackgen_backend_error* error) {
  const int number = atomic_fetch_add(&marked, 1) + 1;
  (void)driver, (void)s, (void)error;
  *fresh = (void*)(intptr_t)number;
  while (number == 1 && !atomic_load(&second_done) && used() < 50) doze();
  return 0;
}

static int wait(const struct driver* driver, const dlpackgen_stream* s, void* event, dlpackgen_backend_error* error) {
  (void)driver, (void)s, (void)error;
  waited = (intptr_t)event;
  return 0;
}

static void delete_mark(const struct driver* driver, void* event) { (void)driver, (void)event; }

const struct vendor_impl* BACKEND_IMPL(void) {
  static const struct vendor_impl impl = {.start = start,
                                          .allocate = allocate,
                                          .deallocate = deallocate,
                                          .mark = mark,
                                          .wait = wait,
                                          .delete_mark = delete_mark};
  return &impl;
}

static void* first(void* nothing) { return dlpackgen_acme()->keep_until(tensor, &stream, NULL), nothing; }

static void* second(void* nothing) {
  while (!atomic_load(&marked)) doze();
  pthread_getcpuclockid(pthread_self(), &second_clock);
  atomic_store(&second_began, 1);
  dlpackgen_acme()->keep_until(tensor, &stream, NULL);
  atomic_store(&second_done, 1);
  return nothing;
}

int main(void) {
  const int64_t shape[] = {4};
  const dlpackgen_allocation r = {sizeof r, {kDLExtDev, 0}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
  dlpackgen_backend_error error;
  pthread_t threads[2];
  if (dlpackgen_acme()->allocate(&r, &tensor, &error)) return printf("%d %s\n", (int)error.code, error.text), 0;
  pthread_create(&threads[0], NULL, first, NULL);
  pthread_create(&threads[1], NULL, second, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  tensor->deleter(tensor);
  printf("mark %d of %d\n", (int)waited, atomic_load(&marked));
  return 0;
}
