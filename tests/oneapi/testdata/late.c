/* The first barrier is slow, so that a second thread keeps the tensor for the same stream
 * meanwhile; prints for which of the two events the deleter would wait. */
#include "dlpackgen_oneapi.c"

#include <time.h>

static const dlpackgen_stream stream = {NULL, {kDLOneAPI, 0}, 0, 0};
static DLManagedTensorVersioned* tensor;
static atomic_int appended, second_began, second_done;
static clockid_t second_clock;
static driver_event last;
static driver_result (*append)(driver_list, driver_event, uint32_t, driver_event*);

static void doze(void) { nanosleep(&(struct timespec){0, 1000000}, NULL); }

/* Returns the CPU time of the second thread, in milliseconds. */
static long used(void) {
  struct timespec now;
  while (!atomic_load(&second_began)) doze();
  clock_gettime(second_clock, &now);
  return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The first append gives the second thread time to complete its call. The backend's lock of the
 * list is released meanwhile, as after the call's return. The time is CPU time, because the thread
 * may wait in a loop for the lock of the block. */
static driver_result slow(driver_list list, driver_event signal, uint32_t count, driver_event* waits) {
  const driver_result result = append(list, signal, count, waits);
  last = signal;
  if (atomic_fetch_add(&appended, 1)) return result;
  levelzero_unlock(&levelzero.roots[0].busy);
  while (!atomic_load(&second_done) && used() < 50) doze();
  levelzero_lock(&levelzero.roots[0].busy);
  return result;
}

static void* first(void* nothing) { return usm_keep_until(tensor, &stream, NULL), nothing; }

static void* second(void* nothing) {
  while (!atomic_load(&appended)) doze();
  pthread_getcpuclockid(pthread_self(), &second_clock);
  atomic_store(&second_began, 1);
  usm_keep_until(tensor, &stream, NULL);
  atomic_store(&second_done, 1);
  return nothing;
}

int main(void) {
  const int64_t shape[] = {4};
  const dlpackgen_allocation r = {sizeof r, {kDLOneAPI, 0}, {kDLFloat, 32, 1}, 1, shape, NULL, 0};
  dlpackgen_backend_error error;
  pthread_t threads[2];
  if (usm_alloc(&r, &tensor, &error)) return puts(error.text), 1;
  append = levelzero.driver.barrier, levelzero.driver.barrier = slow;
  pthread_create(&threads[0], NULL, first, NULL);
  pthread_create(&threads[1], NULL, second, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  const struct levelzero_keep* kept = ((struct levelzero_block*)tensor)->keeps;
  printf("%d events, the last one is %s\n", atomic_load(&appended), kept->slot->waited == last ? "kept" : "lost");
  tensor->deleter(tensor);
  return 0;
}
