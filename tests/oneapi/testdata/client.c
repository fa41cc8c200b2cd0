/* Executes its arguments as steps on the oneAPI backend. Streams are written 0, sN for the Nth
 * created one, - for none, =K for a handle with the number K. A step that begins with ~ uses the
 * table that accepts every kind of memory. */
#define _GNU_SOURCE
#include "dlpackgen_oneapi.h"
#include "made.h"

#define BACKEND_MAPPED "libze_"
#define BACKEND_SYMBOL "zeInit"
#include "../../../internal/testkit/testdata/client.h"

static const dlpackgen_usm_table* usm;
static int every;

static dlpackgen_stream on(const char* stream, const char* id) {
  dlpackgen_stream s = {NULL, {kDLOneAPI, number(id)}, *stream == '-', 0};
  if (*stream == 's') s.handle = handles[number(stream + 1)];
  else if (*stream == '=') s.handle = (void*)(uintptr_t)number(stream + 1);
  return s;
}

/* alloc:ID:ELEMENTS:STREAM:TYPE */
static void alloc(void) {
  const int64_t shape[] = {strtoll(words[2], NULL, 10)};
  const dlpackgen_allocation r = {sizeof r,
                                  {words[4][0] ? (DLDeviceType)number(words[4]) : kDLOneAPI, number(words[1])},
                                  {kDLFloat, 32, 1},
                                  1,
                                  shape,
                                  on(words[3][0] ? words[3] : "0", "0").handle,
                                  0};
  if (tell("alloc", device->allocate(&r, &tensors[tensor_count], &error))) return;
  print_tensor(&tensors[tensor_count++]->dl_tensor);
}

static void info_nowhere(void) {
  tell_nothing_else("infonull", device->pointer_attributes(tensors[0]->dl_tensor.data, NULL, &error));
}

/* import:ID:AT:ELEMENTS:TYPE:FLAGS; without flags, those of the used table */
static void import(void) {
  dlpackgen_pointer_attributes p = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  int64_t shape[] = {strtoll(words[3], NULL, 10)};
  const DLTensor t = {at(words[2]),
                      {words[4][0] ? (DLDeviceType)number(words[4]) : kDLOneAPI, number(words[1])},
                      1,
                      {kDLUInt, 8, 1},
                      shape,
                      NULL,
                      0};
  const uint32_t flags = words[5][0] ? (uint32_t)number(words[5]) : every ? DLPACKGEN_USM_ALL_KINDS : 0;
  if (!tell("import", usm->check_tensor(&t, flags, &p, &error))) print_info(&p, t.data);
}

/* A DLTensor of bytes: copy:TYPE:ID:AT:TYPE:ID:AT:BYTES@STREAM@ID. */
static void copy(void) {
  int64_t shape[] = {strtoll(words[7], NULL, 10)}, two[] = {2};
  char *stream = strchr(words[7], '@') + 1, *id = strchr(stream, '@') + 1;
  DLTensor to = {at(words[3]), {(DLDeviceType)number(words[1]), number(words[2])}, 1, {kDLUInt, 8, 1}, shape, NULL, 0},
           from = to;
  from.data = at(words[6]), from.device.device_type = (DLDeviceType)number(words[4]),
  from.device.device_id = number(words[5]);
  if (strchr(id, 'x')) from.strides = two;
  const dlpackgen_stream s = on(stream, id);
  tell_nothing_else("copy", device->copy(&to, &from, &s, &error));
}

static int callback(void* state, DLDevice d, void** handle) {
  *handle = (char*)state + d.device_id;
  return d.device_id == 1 ? 77 : 0;
}

static void current(void) {
  dlpackgen_stream s;
  void* const by_id[] = {(void*)4096};
  const dlpackgen_stream_source table = {NULL, NULL, by_id, 1}, called = {callback, (void*)8192, NULL, 0};
  const dlpackgen_stream_source* from = *words[1] == 't' ? &table : *words[1] == 'c' ? &called : NULL;
  if (!tell("current", device->current_work_stream(from, (DLDevice){kDLOneAPI, number(words[2])}, &s, &error)))
    printf(" %llu\n", (unsigned long long)(uintptr_t)s.handle);
}

static void id(void) {
  int32_t n = -1;
  if (!tell("id", usm->id(number(words[1]), &n, &error))) printf(" %d\n", n);
}

/* ids: of Level Zero alone; ids:5:-:7: of the first device and the third; ids:0:@1: of the first
 * device twice; ids:-: of none; ids:n: NULL instead of an id. */
static void ids(void) {
  dlpackgen_usm_id rows[8];
  size_t n = 0;
  for (int i = 1; i < 8 && words[i][0]; i++) {
    const int again = *words[i] == '@';
    if (!strcmp(words[i], "-")) continue;
    rows[n] = (dlpackgen_usm_id){*words[i] == 'x' ? host
                                 : again          ? rows[n - 1].device
                                                  : made_root(i - 1),
                                 number(words[i] + again), 0};
    n++;
  }
  if (!tell("ids", usm->set_device_ids(words[1][0] && words[1][0] != 'n' ? rows : NULL, n, &error))) printf("\n");
}

/* NULL for every pointer argument. */
static void nulls(void) {
  int32_t first = 0;
  (void)usm->id(0, &first, NULL);
  const DLDevice d = {kDLOneAPI, first};
  const dlpackgen_stream s = {NULL, d, 0, 0};
  char byte = 0;
  int codes[] = {device->device_count(NULL, &error),
                 device->pointer_attributes(&byte, NULL, &error),
                 device->pointer_attributes(NULL, NULL, &error),
                 device->allocate(NULL, NULL, &error),
                 device->current_work_stream(NULL, d, NULL, &error),
                 device->stream_from_dlpack(d, NULL, NULL, &error),
                 device->stream_wait(NULL, &s, &error),
                 device->stream_wait(&s, NULL, &error),
                 device->keep_until(NULL, &s, &error),
                 device->copy(NULL, NULL, &s, &error),
                 device->stream_synchronize(NULL, &error),
                 device->stream_synchronize(NULL, NULL),
                 usm->id(0, NULL, &error),
                 usm->check_tensor(NULL, 0, NULL, NULL)};
  printf("nulls");
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) printf(" %d", codes[i]);
  printf(" %d\n", device->deallocate(NULL, NULL));
}

static void make(void) {
  if (!strcmp(words[0], "make"))
    pointers[pointer_count++] = made_memory(words[1], number(words[2]), words[3][0] ? number(words[3]) : -1);
  if (!strcmp(words[0], "drop")) made_free(pointers[number(words[1])], number(words[2]));
  if (!strcmp(words[0], "open"))
    handles[stream_count++] = made_stream(words[1], number(words[2]), words[3][0] ? number(words[3]) : -1);
  if (!strcmp(words[0], "say")) snprintf(host + number(words[1]), sizeof host / 2, "%s", words[2]);
  if (!strcmp(words[0], "host")) printf("host %s\n", host + number(words[1]));
}

static const struct client_step steps[] = {
    {"id", id},         {"ids", ids},   {"alloc", alloc},        {"infonull", info_nowhere},
    {"import", import}, {"copy", copy}, {"stream", read_number}, {"current", current},
    {"nulls", nulls},   {"make", make}, {"drop", make},          {"open", make},
    {"say", make},      {"host", make},
};

static void step(const char* text) {
  every = *text == '~';
  device = every ? usm->all_kinds : dlpackgen_oneapi();
  if (client_do(text + every, steps, sizeof steps)) return;
  const char* what = strcmp(words[0], "handle") ? words[1] : (const char*)handles[number(words[1])];
  if (!made_step(words[0], what, words[2], words[3])) fprintf(stderr, "no step %s\n", words[0]), exit(3);
}

static DLManagedTensorVersioned* at_end;
static void delete_at_end(void) {
  if (at_end) at_end->deleter(at_end);
}

int main(int argc, char** argv) {
  atexit(delete_at_end); /* before the driver is loaded, so that it runs after the driver's shutdown */
  int forked = 0;
  usm = dlpackgen_usm();
  if (usm->device_only != dlpackgen_oneapi() || usm->abi_version != 1) return 4;
  for (int i = 1; i < argc; i++) {
    fflush(stdout);
    if (!strcmp(argv[i], "fork")) {
      client_fork();
      forked = 1;
    } else if (!strcmp(argv[i], "atexit")) {
      at_end = tensors[0];
    } else {
      step(argv[i]);
    }
  }
  if (forked) fflush(stdout), _exit(0); /* SYCL's shutdown would wait for threads that the child lacks */
  return 0;
}
