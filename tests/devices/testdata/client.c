/* Executes its arguments as steps on a backend. Streams are written 0, 1, 2, sN for the Nth created
 * one, with a leading - for no order. The macros select the backend and its driver's library. */
#define _GNU_SOURCE
#ifndef BACKEND_HEADER
#define BACKEND_HEADER "dlpackgen_cuda.h"
#define BACKEND_TABLE dlpackgen_cuda
#define BACKEND_LIBRARY "libcuda.so.1"
#define BACKEND_MAPPED "libcuda"
#define BACKEND_SYMBOL "cuInit"
#endif
#include BACKEND_HEADER
#include "../../../internal/testkit/testdata/client.h"

static void* control(const char* name) {
  void *library = dlopen(BACKEND_LIBRARY, RTLD_NOW | RTLD_NOLOAD), *found = library ? dlsym(library, name) : NULL;
  if (!found) fprintf(stderr, "no %s: the stand-in is not loaded\n", name), exit(3);
  return found;
}
#define CONTROL(type, name) ((type)control(name))

static dlpackgen_stream on(const char* stream, const char* ordinal) {
  dlpackgen_stream s = {NULL, {(DLDeviceType)device->device_type, number(ordinal)}, *stream == '-', 0};
  stream += (int)s.flags;
  s.handle = *stream == 's' ? handles[number(stream + 1)] : (void*)(uintptr_t)number(stream);
  return s;
}

static void alloc(void) {
  dlpackgen_allocation r = {
      sizeof r, {(DLDeviceType)number(words[1]), number(words[2])}, {kDLFloat, 32, 1}, 1, NULL, NULL, 0};
  const int64_t shape[] = {strtoll(words[3], NULL, 10)};
  r.shape = shape;
  r.stream = on(words[4][0] ? words[4] : "0", "0").handle;
  r.flags = (uint64_t)number(words[5]);
  if (tell("alloc", device->allocate(&r, &tensors[tensor_count], &error))) return;
  print_tensor(&tensors[tensor_count++]->dl_tensor);
}

/* Allocates elements of a type on the first device: elements:CODE:BITS:LANES:COUNT. */
static void alloc_elements(void) {
  const int64_t shape[] = {strtoll(words[4], NULL, 10)};
  const DLDataType dtype = {(uint8_t)number(words[1]), (uint8_t)number(words[2]), (uint16_t)number(words[3])};
  const dlpackgen_allocation r = {sizeof r, {(DLDeviceType)device->device_type, 0}, dtype, 1, shape, NULL, 0};
  tell_nothing_else("elements", device->allocate(&r, &tensors[tensor_count++], &error));
}

/* A DLTensor of bytes: copy:TYPE:ID:AT:TYPE:ID:AT:BYTES@STREAM@ORDINAL. */
static void copy(void) {
  int64_t shape[] = {strtoll(words[7], NULL, 10)}, one[] = {1}, two[] = {2};
  char *stream = strchr(words[7], '@') + 1, *ordinal = strchr(stream, '@') + 1;
  DLTensor to = {at(words[3]), {(DLDeviceType)number(words[1]), number(words[2])}, 1, {kDLUInt, 8, 1}, shape, one, 0},
           from = to;
  from.data = at(words[6]), from.device.device_type = (DLDeviceType)number(words[4]),
  from.device.device_id = number(words[5]);
  if (strchr(ordinal, 'd')) from.dtype.bits = 16;
  if (strchr(ordinal, 'x')) from.strides = two;
  const dlpackgen_stream s = on(stream, ordinal);
  tell_nothing_else("copy", device->copy(&to, &from, &s, &error));
}

static int callback(void* state, DLDevice d, void** handle) {
  *handle = (char*)state + d.device_id;
  return d.device_id == 2 ? 77 : 0;
}

static void current(void) {
  dlpackgen_stream s;
  void* const by_ordinal[] = {NULL, (void*)2};
  const dlpackgen_stream_source table = {NULL, NULL, by_ordinal, 2}, called = {callback, (void*)4096, NULL, 0};
  const dlpackgen_stream_source* from = *words[1] == 't' ? &table : *words[1] == 'c' ? &called : NULL;
  if (!tell("current", device->current_work_stream(
                           from, (DLDevice){(DLDeviceType)device->device_type, number(words[2])}, &s, &error)))
    printf(" %llu\n", (unsigned long long)(uintptr_t)s.handle);
}

/* NULL for every pointer argument. */
static void nulls(void) {
  const DLDevice own = {(DLDeviceType)device->device_type, 0};
  const dlpackgen_stream s = {NULL, own, 0, 0};
  char byte = 0;
  int codes[] = {device->device_count(NULL, &error),
                 device->pointer_attributes(&byte, NULL, &error),
                 device->pointer_attributes(NULL, NULL, &error),
                 device->allocate(NULL, NULL, &error),
                 device->current_work_stream(NULL, own, NULL, &error),
                 device->stream_from_dlpack(own, NULL, NULL, &error),
                 device->stream_wait(NULL, &s, &error),
                 device->stream_wait(&s, NULL, &error),
                 device->keep_until(NULL, &s, &error),
                 device->copy(NULL, NULL, &s, &error),
                 device->stream_synchronize(NULL, &error),
                 device->stream_synchronize(NULL, NULL)};
  printf("nulls");
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) printf(" %d", codes[i]);
  printf(" %d\n", device->deallocate(NULL, NULL));
}

static void delete_in_stream(void* tensor) { (void)delete_there(tensor); }

/* Waits until the driver has the given number of live objects, because other threads free them, for
 * at most 2 seconds of CPU time. */
static void settle(int alive) {
  int (*count)(void) = CONTROL(int (*)(void), "standin_alive");
  for (const clock_t start = clock(); count() != alive && clock() - start < 2 * CLOCKS_PER_SEC;) sched_yield();
}

static void steer(void) {
  static char notes[1 << 16];
  const char* step = words[0];
  if (!strcmp(step, "inject"))
    CONTROL(void (*)(const char*, unsigned, int), "standin_inject")(words[1], (unsigned)number(words[2]),
                                                                    number(words[3]));
  if (!strcmp(step, "make"))
    pointers[pointer_count++] = CONTROL(void* (*)(const char*, int), "standin_make")(words[1], number(words[2]));
  if (!strcmp(step, "remember")) pointers[pointer_count++] = (char*)tensors[number(words[1])]->dl_tensor.data;
  if (!strcmp(step, "stream"))
    handles[stream_count++] = CONTROL(void* (*)(int, int), "standin_stream")(number(words[1]), number(words[2]));
  if (!strcmp(step, "capture"))
    CONTROL(void (*)(void*, unsigned, uint64_t), "standin_capture")(
        handles[number(words[1])], (unsigned)number(words[2]), (uint64_t)number(words[3]));
  if (!strcmp(step, "close")) CONTROL(void (*)(void*), "standin_close")(handles[number(words[1])]);
  if (!strcmp(step, "legacy")) CONTROL(void (*)(int), "standin_default_captured")(number(words[1]));
  if (!strcmp(step, "needs")) CONTROL(void (*)(int), "standin_needs_current")(number(words[1]));
  if (!strcmp(step, "alive"))
    printf("alive %d depth %d\n", CONTROL(int (*)(void), "standin_alive")(), CONTROL(int (*)(void), "standin_depth")());
  if (!strcmp(step, "reset")) CONTROL(void (*)(int, int), "standin_reset")(number(words[1]), number(words[2]));
  if (!strcmp(step, "captures"))
    printf("captures %s\n", CONTROL(int (*)(void), "standin_broken")() ? "broken" : "whole");
  if (!strcmp(step, "hostfunction"))
    CONTROL(void (*)(void (*)(void*), void*), "standin_host_function")(delete_in_stream, tensors[number(words[1])]);
  if (!strcmp(step, "breaches")) printf("breaches %d\n", CONTROL(int (*)(void), "standin_breaches")());
  if (!strcmp(step, "settled")) settle(number(words[1]));
  if (!strcmp(step, "devices")) CONTROL(void (*)(int), "standin_devices")(number(words[1]));
  if (strcmp(step, "log")) return;
  CONTROL(void (*)(char*, size_t), "standin_take")(notes, sizeof notes);
  printf("log %s\n", notes);
}

static const struct client_step steps[] = {
    {"alloc", alloc},        {"elements", alloc_elements}, {"copy", copy},
    {"number", read_number}, {"current", current},         {"nulls", nulls},
};

static DLManagedTensorVersioned* at_end;
static void delete_at_end(void) { at_end->deleter(at_end); }

int main(int argc, char** argv) {
  device = BACKEND_TABLE();
  if (argc > 1 && !strcmp(argv[1], "preload")) (void)!dlopen(BACKEND_LIBRARY, RTLD_NOW), argv++, argc--;
  for (int i = 1; i < argc; i++) {
    fflush(stdout);
    if (!strcmp(argv[i], "fork")) {
      client_fork();
    } else if (!strcmp(argv[i], "atexit")) {
      at_end = tensors[0];
      atexit(delete_at_end);
    } else if (!client_do(argv[i], steps, sizeof steps)) {
      steer();
    }
  }
  return 0;
}
