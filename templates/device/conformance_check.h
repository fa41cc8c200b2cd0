
/* Runs checks, and defines their common functions. Part of conformance.c. */
#ifndef DLPACKGEN_CONFORMANCE_CHECK_H_
#define DLPACKGEN_CONFORMANCE_CHECK_H_

#include "conformance_device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#endif

enum { MANY = 64, BYTES = 4096 };

static const dlpackgen_backend* table;
static dlpackgen_backend_error error;
static dlpackgen_driver_info driver_info = DLPACKGEN_DRIVER_INFO_INIT;
static int checks, failures, failed_here, untested;

/* Prints the first complaints of a check. */
static void expect(int good, const char* format, ...) {
  va_list values;
  if (good || ++failed_here > 3) return;
  va_start(values, format);
  printf("  expected: ");
  vprintf(format, values);
  printf("\n  the last error: %d %d %.300s\n", (int)error.code, (int)error.driver_code, error.text);
  va_end(values);
}

/* Expects the error of a call that returned a code to contain the code. */
static void fills(const char* what, int code) {
  expect(error.code == code, "%s to fill the error with its code %d, not %d", what, code, (int)error.code);
  expect(memchr(error.text, 0, sizeof error.text) &&
             !strncmp(error.text, CONFORMANCE_NAME ": ", sizeof CONFORMANCE_NAME + 1),
         "the text of %s to begin with the name of the backend and to end", what);
}

/* Expects a call to return a code, and to fill the error. */
static void fails(const char* what, int code, int wanted) {
  expect(code == wanted, "%s to return %d, not %d", what, wanted, code);
  if (code) fills(what, code);
}

#if defined(_WIN32)

static void watch(const char* name) { (void)name; }
static void count_living(void) {}

#else

static const char* watched;

/* The limit for calls that hang and events that never occur; no machine is that slow. */
static int patience(void) {
  const char* seconds = getenv("CONFORMANCE_SECONDS");
  return seconds && atoi(seconds) > 0 ? atoi(seconds) : 300;
}

static void end_of_patience(int unused) {
  (void)unused;
  static const char text[] = "  expected: an end; a call hangs\nFAIL ";
  if (write(1, text, sizeof text - 1) < 0 || write(1, watched, strlen(watched)) < 0 || write(1, "\n", 1) < 0) _exit(2);
  _exit(1);
}

/* Ends the program if a check hangs; NULL: no check is running. */
static void watch(const char* name) {
  watched = name;
  signal(SIGALRM, end_of_patience);
  alarm(name ? (unsigned)patience() : 0);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void rest(void) {
  const struct timespec millisecond = {0, 1000000};
  nanosleep(&millisecond, NULL);
}

static int64_t living;
static int counting, leaks;

/* Expects as many driver objects as before. The driver may remove some slightly later. */
static void count_living(void) {
  if (!counting) return;
  const double end = now() + patience() / (leaks ? 100.0 : 5.0);
  int64_t count = conformance_hooks.live();
  while (count != living && now() < end) {
    rest();
    count = conformance_hooks.live();
  }
  expect(count == living, "%lld objects of the driver, as before this check, not %lld", (long long)living,
         (long long)count);
  leaks += count != living;
  living = count;
}

#endif

static void run_check(const char* name, void (*run)(void)) {
  failed_here = 0;
  memset(&error, 0, sizeof error);
  watch(name);
  run();
  count_living();
  watch(NULL);
  checks++, failures += failed_here > 0;
  printf("%s %s\n", failed_here ? "FAIL" : "ok", name);
  fflush(stdout);
}

/* Reports a check that could not run; the exit status is then never 0. */
static void not_tested(const char* what, const char* reason) {
  printf("not tested: %s: %s\n", what, reason);
  untested++;
}

static DLDevice here(int32_t id) {
  const DLDevice device = {(DLDeviceType)table->device_type, id};
  return device;
}

static dlpackgen_stream on(int32_t id) {
  const dlpackgen_stream stream = {NULL, here(id), 0, 0};
  return stream;
}

static dlpackgen_allocation allocation_of(DLDevice device, int32_t ndim, const int64_t* shape) {
  const dlpackgen_allocation request = {sizeof request, device, {kDLUInt, 8, 1}, ndim, shape, NULL, 0};
  return request;
}

/* A tensor of bytes on a device, for a stream, or NULL after a complaint. */
static DLManagedTensorVersioned* bytes_for(DLDevice device, int64_t count, void* stream) {
  dlpackgen_allocation request = allocation_of(device, 1, &count);
  DLManagedTensorVersioned* tensor = NULL;
  request.stream = stream;
  const int code = table->allocate(&request, &tensor, &error);
  expect(!code && tensor, "allocate of %lld bytes on device (%d, %d)", (long long)count, (int)device.device_type,
         (int)device.device_id);
  return code ? NULL : tensor;
}

static DLManagedTensorVersioned* bytes_on(DLDevice device, int64_t count) { return bytes_for(device, count, NULL); }

/* A host tensor over memory of the caller. */
static DLTensor host_bytes(void* data, int64_t* count) {
  static int64_t one[] = {1};
  const DLTensor tensor = {data, {kDLCPU, 0}, 1, {kDLUInt, 8, 1}, count, one, 0};
  return tensor;
}

static void fill(char* bytes, int count, int seed) {
  for (int i = 0; i < count; i++) bytes[i] = (char)(i * 7 + i / 256 + seed * 31);
}

/* Returns whether the bytes are the pattern of `fill`. */
static int is_filled(const char* bytes, int count, int seed) {
  for (int i = 0; i < count; i++)
    if (bytes[i] != (char)(i * 7 + i / 256 + seed * 31)) return 0;
  return 1;
}

static void copy_to_device(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream) {
  fails("copy to the device", table->copy(to, from, stream, &error), DLPACKGEN_BACKEND_OK);
}

static void copy_to_host(const DLTensor* to, const DLTensor* from, const dlpackgen_stream* stream) {
  fails("copy to the host", table->copy(to, from, stream, &error), DLPACKGEN_BACKEND_OK);
}

/* Fills a tensor of BYTES on a stream, and waits for the copy. */
static void send(const DLTensor* to, const dlpackgen_stream* stream, int seed) {
  static char bytes[BYTES]; /* so that a copy that does not wait damages this buffer, not the stack */
  int64_t count = BYTES;
  const DLTensor from = host_bytes(bytes, &count);
  fill(bytes, BYTES, seed);
  copy_to_device(to, &from, stream);
  expect(is_filled(bytes, BYTES, seed), "a copy to the device to leave its source unchanged");
}

/* Returns whether a tensor, copied to the host on a stream, has the bytes of `send`. */
static int has(const DLTensor* from, const dlpackgen_stream* stream, int seed) {
  static char bytes[BYTES];
  int64_t count = BYTES;
  const DLTensor to = host_bytes(bytes, &count);
  memset(bytes, 0, BYTES);
  copy_to_host(&to, from, stream);
  return is_filled(bytes, BYTES, seed);
}

static void drop(DLManagedTensorVersioned* tensor) {
  fails("deallocate", table->deallocate(tensor, &error), DLPACKGEN_BACKEND_OK);
}

#endif /* DLPACKGEN_CONFORMANCE_CHECK_H_ */
