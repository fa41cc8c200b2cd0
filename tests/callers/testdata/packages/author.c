/* The kernels of packages with the same names. mix() multiplies in one, and adds in the other. */
#define _POSIX_C_SOURCE 200809L
#include <kernels.h>
#include <stdio.h>
#include <time.h>

#define DATA(type, x) ((type*)((char*)(x)->data + (x)->byte_offset))

#ifdef AUTHOR_other
#define MIXED(a, b) ((a) + (b))
#else
#define MIXED(a, b) ((a) * (b))
#endif

static int64_t size_of(const DLTensor* x) {
  int64_t size = 1;
  for (int32_t d = 0; d < x->ndim; d++) size *= x->shape[d];
  return size;
}

static void sleep_for(int64_t milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* times from 101 on are statuses. */
#define MIX(name, type)                                                                                     \
  int name(const DLTensor* x, int64_t times, DLTensor* y, void* stream) {                                   \
    (void)stream;                                                                                           \
    for (int64_t i = size_of(x); i-- > 0;) DATA(type, y)[i] = (type)MIXED(DATA(type, x)[i], (double)times); \
    return times > 100 ? (int)times - 100 : 0;                                                              \
  }

MIX(mix_float32, float)
MIX(mix_float64, double)

const char* mix_error(int code) { return code % 2 ? "an odd status" : "an even status"; }

/* Returns when as many calls are running concurrently. */
int meet(const DLTensor* x, int64_t parties, DLTensor* y, void* stream) {
  static int64_t here;
  (void)stream;
  const int64_t last = (__atomic_add_fetch(&here, 1, __ATOMIC_SEQ_CST) + parties - 1) / parties * parties;
  while (__atomic_load_n(&here, __ATOMIC_SEQ_CST) < last) sleep_for(1);
  for (int64_t i = size_of(x); i-- > 0;) DATA(float, y)[i] = DATA(float, x)[i];
  return 0;
}

/* The text of the last error. */
static char turned[32];

const char* turn_error(int code) {
  (void)code;
  sleep_for(2); /* in which calls that do not wait for their turn change the text */
  return turned;
}

/* The result is the number of running calls, which must be one. A negative time is an error. A call
 * of 1,000 ms lasts until the caller changes the first element, which the call sets to -1. */
int turn(const DLTensor* x, int64_t milliseconds, DLTensor* y, void* stream) {
  static int64_t here;
  (void)stream;
  if (milliseconds < 0) {
    snprintf(turned, sizeof turned, "turn %d", (int)-milliseconds);
    return 1;
  }
  const int64_t count = __atomic_add_fetch(&here, 1, __ATOMIC_SEQ_CST);
  volatile float* const first = DATA(float, x);
  *first = -1; /* notifies the caller that the call has begun */
  if (milliseconds < 1000) sleep_for(milliseconds);
  while (milliseconds >= 1000 && *first == -1) sleep_for(1);
  for (int64_t i = size_of(x); i-- > 0;) DATA(float, y)[i] = (float)count;
  (void)__atomic_sub_fetch(&here, 1, __ATOMIC_SEQ_CST);
  return 0;
}
