
/* Tests a backend through its table: every rejection, layouts, memory and copies. With the hooks of
 * conformance_hooks.h, it also tests the order of work, failures and leaks. It prints a line for
 * each check. The exit status is 0 if all checks ran and passed, and 1 if a check failed. It is 77
 * if no check failed but some could not run; lines that begin with "not tested:" list them.
 *
 * In the folder above this one:
 *   cc -std=c11 -o conformance/run conformance/conformance.c *.c -ldl -lpthread
 *   conformance/run */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE
#endif
#include "conformance_copy.h"
#include "conformance_order.h"

/* ---- checks without a device ---- */

static void the_table(void) {
  expect(table->size >= sizeof(dlpackgen_backend), "a table of at least %zu bytes, not %zu", sizeof(dlpackgen_backend),
         table->size);
  expect(table->abi_version == DLPACKGEN_BACKEND_ABI_VERSION, "version %d", DLPACKGEN_BACKEND_ABI_VERSION);
  expect(table->name && !strcmp(table->name, CONFORMANCE_NAME), "the name " CONFORMANCE_NAME);
  expect(table->device_type == conformance_types[0].type, "the first type of device, %d, not %d",
         conformance_types[0].type, (int)table->device_type);
  expect(table->probe && table->device_count && table->pointer_attributes && table->allocate && table->deallocate &&
             table->current_work_stream && table->stream_from_dlpack && table->stream_wait && table->keep_until &&
             table->copy && table->stream_synchronize,
         "all functions");
  expect(table == CONFORMANCE_TABLE, "the same table each time");
}

static void the_first_error_stays(void) {
  const int first = table->probe(&driver_info, &error);
  const dlpackgen_backend_error kept = error;
  expect(table->probe(NULL, NULL) == first, "probe to return the code %d again", first);
  if (!first) return;
  fails("probe", table->probe(&driver_info, &error), first);
  const dlpackgen_stream stream = on(0);
  const int64_t extent = 4;
  const dlpackgen_allocation request = allocation_of(here(0), 1, &extent);
  DLManagedTensorVersioned* tensor = NULL;
  dlpackgen_stream out;
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  int32_t count;
  const int codes[] = {
      table->device_count(&count, &error),
      table->pointer_attributes(&extent, &info, &error),
      table->allocate(&request, &tensor, &error),
      table->current_work_stream(NULL, here(0), &out, &error),
      table->stream_from_dlpack(here(0), NULL, &out, &error),
      table->stream_wait(&stream, &stream, &error),
      table->stream_synchronize(&stream, &error),
  };
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    expect(codes[i] == first, "function %zu to return the first error", i);
  expect(!strcmp(error.text, kept.text), "the text of the first error: %.300s", kept.text);
}

/* Calls with NULL fail without a crash, and do not fill an error that is NULL. */
static void null_everywhere(void) {
  const dlpackgen_stream stream = on(0);
  dlpackgen_backend_error* errors[] = {&error, NULL};
  for (int i = 0; i < 2; i++) {
    dlpackgen_backend_error* e = errors[i];
    const int codes[] = {
        table->device_count(NULL, e),
        table->pointer_attributes(NULL, NULL, e),
        table->allocate(NULL, NULL, e),
        table->current_work_stream(NULL, here(0), NULL, e),
        table->stream_from_dlpack(here(0), NULL, NULL, e),
        table->stream_wait(NULL, &stream, e),
        table->stream_wait(&stream, NULL, e),
        table->keep_until(NULL, &stream, e),
        table->copy(NULL, NULL, &stream, e),
        table->stream_synchronize(NULL, e),
    };
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
      expect(codes[k] != 0, "an error of call %zu with NULL", k);
    expect(table->deallocate(NULL, e) == DLPACKGEN_BACKEND_OK, "deallocate of NULL to do nothing");
  }
}

/* ---- checks with a device ---- */

static void devices_are_counted(void) {
  int32_t count = -1;
  fails("device_count", table->device_count(&count, &error), DLPACKGEN_BACKEND_OK);
  expect(count >= 1 && count == driver_info.devices, "at least one device, and as many as probe says: %d, %d",
         (int)count, (int)driver_info.devices);
}

static void devices_that_do_not_exist(void) {
  const DLDevice none[] = {here(driver_info.devices), here(-1)}, other = {(DLDeviceType)9999, 0};
  const int64_t extent = 4;
  DLManagedTensorVersioned* tensor = NULL;
  dlpackgen_stream out;
  for (int i = 0; i < 2; i++) {
    const dlpackgen_allocation request = allocation_of(none[i], 1, &extent);
    fails("allocate", table->allocate(&request, &tensor, &error), DLPACKGEN_BACKEND_INVALID_DEVICE);
    fails("stream_from_dlpack", table->stream_from_dlpack(none[i], NULL, &out, &error),
          DLPACKGEN_BACKEND_INVALID_DEVICE);
    fails("current_work_stream", table->current_work_stream(NULL, none[i], &out, &error),
          DLPACKGEN_BACKEND_INVALID_DEVICE);
  }
  const dlpackgen_allocation request = allocation_of(other, 1, &extent);
  fails("allocate", table->allocate(&request, &tensor, &error), DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE);
  fails("stream_from_dlpack", table->stream_from_dlpack(other, NULL, &out, &error),
        DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE);
}

static void numbers_of_streams(void) {
  const int64_t unordered = -1, below = -2;
  dlpackgen_stream out;
  memset(&out, 1, sizeof out);
  fails("None", table->stream_from_dlpack(here(0), NULL, &out, &error), DLPACKGEN_BACKEND_OK);
  expect(!out.flags && out.device.device_id == 0 && (int)out.device.device_type == table->device_type,
         "None to be a stream of the device");
  fails("stream_synchronize of None", table->stream_synchronize(&out, &error), DLPACKGEN_BACKEND_OK);
  const int code = table->stream_from_dlpack(here(0), &unordered, &out, &error);
  expect(code ? code == DLPACKGEN_BACKEND_INVALID_STREAM : out.flags == DLPACKGEN_STREAM_NO_SYNC,
         "-1 to mean no synchronization");
  fails("-2", table->stream_from_dlpack(here(0), &below, &out, &error), DLPACKGEN_BACKEND_INVALID_STREAM);
}

static int no_stream(void* state, DLDevice device, void** handle) {
  (void)device, (void)handle;
  return *(int*)state;
}

static void streams_of_a_program(void) {
  int state = 77;
  const dlpackgen_stream_source source = {no_stream, &state, NULL, 0};
  dlpackgen_stream out;
  fails("current_work_stream without a source", table->current_work_stream(NULL, here(0), &out, &error),
        DLPACKGEN_BACKEND_OK);
  fails("stream_synchronize of it", table->stream_synchronize(&out, &error), DLPACKGEN_BACKEND_OK);
  const int code = table->current_work_stream(&source, here(0), &out, &error);
  expect(!code || code == DLPACKGEN_BACKEND_INVALID_STREAM, "the error of a failing callback to be reported");
}

static void expect_compact(const DLTensor* t, DLDevice device, int32_t ndim, const int64_t* shape) {
  int64_t step = 1;
  expect((int)t->device.device_type == (int)device.device_type && t->device.device_id == device.device_id,
         "the requested device");
  expect(t->ndim == ndim && t->dtype.code == kDLUInt && t->dtype.bits == 8 && t->dtype.lanes == 1,
         "%d dimensions of bytes", (int)ndim);
  for (int32_t i = ndim; i-- > 0;) {
    expect(t->shape && t->shape[i] == shape[i], "extent %d", (int)i);
    expect(t->strides && t->strides[i] == step, "the stride %lld of dimension %d", (long long)step, (int)i);
    step *= shape[i] > 1 ? shape[i] : 1;
  }
}

/* Allocates tensors on each device type: scalars, with three dimensions, and without elements. */
static void tensors_are_as_requested(void) {
  const int64_t shapes[][3] = {{2, 1, 3}, {4, 0, 3}};
  for (size_t i = 0; i < sizeof conformance_types / sizeof *conformance_types; i++) {
    const DLDevice device = {(DLDeviceType)conformance_types[i].type, 0};
    for (int k = 0; k < 3; k++) {
      const int32_t ndim = k < 2 ? 3 : 0;
      const dlpackgen_allocation request = allocation_of(device, ndim, k < 2 ? shapes[k] : NULL);
      DLManagedTensorVersioned* tensor = NULL;
      fails("allocate", table->allocate(&request, &tensor, &error), DLPACKGEN_BACKEND_OK);
      if (!tensor) continue;
      expect(tensor->version.major == DLPACK_MAJOR_VERSION && tensor->deleter, "the version and a deleter");
      expect_compact(&tensor->dl_tensor, device, ndim, shapes[k & 1]);
      expect((tensor->dl_tensor.data == NULL) == (k == 1), "data only in tensors with elements");
      fails("deallocate", table->deallocate(tensor, &error), DLPACKGEN_BACKEND_OK);
    }
  }
}

/* Allocations that cannot be made, each rejected with a different code. */
static void requests_that_are_rejected(void) {
  const int64_t negative[] = {2, -1}, endless[] = {INT64_MAX, INT64_MAX}, large[] = {INT64_MAX};
  dlpackgen_allocation requests[] = {allocation_of(here(0), 2, negative),  allocation_of(here(0), 65, negative),
                                     allocation_of(here(0), -1, negative), allocation_of(here(0), 1, NULL),
                                     allocation_of(here(0), 2, endless),   allocation_of(here(0), 0, NULL),
                                     allocation_of(here(0), 0, NULL),      allocation_of(here(0), 0, NULL)};
  requests[5].dtype.bits = 0;
  requests[6].dtype.lanes = 0;
  requests[7].dtype = (DLDataType){kDLBool, 32, 1};
  DLManagedTensorVersioned* tensor = NULL;
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
    fails("allocate", table->allocate(&requests[i], &tensor, &error), DLPACKGEN_BACKEND_INVALID_ARGUMENT);
  dlpackgen_allocation wide = allocation_of(here(0), 1, large);
  wide.dtype.bits = 64;
  fails("allocate", table->allocate(&wide, &tensor, &error), DLPACKGEN_BACKEND_INVALID_ARGUMENT);
  const int64_t petabytes = (int64_t)1 << 52;
  const dlpackgen_allocation much = allocation_of(here(0), 1, &petabytes);
  fails("allocate of 4 PiB", table->allocate(&much, &tensor, &error), DLPACKGEN_BACKEND_OUT_OF_MEMORY);
  expect(!tensor, "the tensor to remain NULL");
}

/* Memory of each type of device is distinguished from the host's, also inside of an allocation. */
static void whose_memory(void) {
  char local[16];
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  for (size_t i = 0; i < sizeof conformance_types / sizeof *conformance_types; i++) {
    const DLDevice device = {(DLDeviceType)conformance_types[i].type,
                             conformance_types[i].zero ? 0 : driver_info.devices - 1};
    DLManagedTensorVersioned* tensor = bytes_on(device, BYTES);
    if (!tensor) continue;
    char* data = tensor->dl_tensor.data;
    fails("pointer_attributes", table->pointer_attributes(data, &info, &error), DLPACKGEN_BACKEND_OK);
    expect((int)info.device.device_type == (int)device.device_type && info.device.device_id == device.device_id,
           "device (%d, %d), not (%d, %d)", (int)device.device_type, (int)device.device_id,
           (int)info.device.device_type, (int)info.device.device_id);
    expect(info.ordinal >= 0 && info.ordinal < driver_info.devices, "an ordinal of a device, not %d",
           (int)info.ordinal);
    fails("pointer_attributes", table->pointer_attributes(data + BYTES - 1, &info, &error), DLPACKGEN_BACKEND_OK);
    expect(!info.base || ((const char*)info.base <= data && (const char*)info.base + info.bytes >= data + BYTES),
           "bounds that contain the tensor");
    expect((int)info.device.device_type == (int)device.device_type, "the same device for an address inside it");
    tensor->deleter(tensor);
  }
  fails("pointer_attributes of host memory", table->pointer_attributes(local, &info, &error), DLPACKGEN_BACKEND_OK);
  expect(info.device.device_type == kDLCPU && info.device.device_id == 0 && info.ordinal == -1 && !info.base &&
             !info.bytes,
         "host memory to be unknown");
}

/* Calls with one struct of the caller's size. */
static int with_info(const void* data, void* info) {
  (void)data;
  return table->probe(info, &error);
}

static int with_attributes(const void* data, void* attributes) {
  return table->pointer_attributes(data, attributes, &error);
}

static int with_request(const void* data, void* request) {
  const int64_t count = BYTES;
  const dlpackgen_allocation requested = allocation_of(here(0), 1, &count);
  DLManagedTensorVersioned* tensor = NULL;
  (void)data;
  memcpy((char*)request + sizeof requested.size, (const char*)&requested + sizeof requested.size,
         sizeof requested - sizeof requested.size);
  const int code = table->allocate(request, &tensor, &error);
  if (tensor) drop(tensor);
  return code;
}

/* Extensible structs: a struct that is too small is rejected. In a larger one, the members after
 * the known ones and the size are unchanged. */
static void sizes_of_callers(void) {
  static const struct {
    const char* name;
    size_t first, size; /* of the first version, and of this version */
    int (*call)(const void* data, void* object);
  } structs[] = {
      {"probe", DLPACKGEN_BACKEND_END(dlpackgen_driver_info, reserved), sizeof(dlpackgen_driver_info), with_info},
      {"pointer_attributes", DLPACKGEN_BACKEND_END(dlpackgen_pointer_attributes, bytes),
       sizeof(dlpackgen_pointer_attributes), with_attributes},
      {"allocate", DLPACKGEN_BACKEND_END(dlpackgen_allocation, flags), sizeof(dlpackgen_allocation), with_request},
  };
  union {
    size_t size;
    void* aligned;
    char bytes[256];
  } buffer;
  DLManagedTensorVersioned* tensor = bytes_on(here(0), BYTES);
  for (size_t i = 0; tensor && i < sizeof structs / sizeof *structs; i++) {
    const size_t sizes[] = {0, structs[i].first - 1, structs[i].first, structs[i].size + 16};
    for (int k = 0; k < 4; k++) {
      fill(buffer.bytes, sizeof buffer.bytes, 5);
      buffer.size = sizes[k];
      fails(structs[i].name, structs[i].call(tensor->dl_tensor.data, &buffer),
            k < 2 ? DLPACKGEN_BACKEND_INVALID_ARGUMENT : DLPACKGEN_BACKEND_OK);
      expect(buffer.size == sizes[k], "%s to leave the size of the caller's struct", structs[i].name);
      const size_t end = k == 2 ? structs[i].first : structs[i].size;
      char untouched[sizeof buffer.bytes];
      fill(untouched, sizeof untouched, 5);
      expect(!memcmp(buffer.bytes + end, untouched + end, sizeof untouched - end),
             "%s to write nothing after the members of the caller's struct", structs[i].name);
    }
  }
  if (tensor) drop(tensor);
}

/* The bounds of two allocations do not overlap. Memory of a pool may report the bounds of the
 * pool. */
static void bounds_of_allocations(void) {
  enum { TOGETHER = 32 };
  DLManagedTensorVersioned* tensors[TOGETHER];
  dlpackgen_pointer_attributes info[TOGETHER];
  int count = 0;
  while (count < TOGETHER && (tensors[count] = bytes_on(here(0), BYTES))) {
    const void* data = tensors[count]->dl_tensor.data;
    info[count].size = sizeof *info;
    fails("pointer_attributes", table->pointer_attributes(data, &info[count], &error), DLPACKGEN_BACKEND_OK);
    count++;
  }
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < count; k++) {
      const uintptr_t from = (uintptr_t)info[i].base, start = (uintptr_t)info[k].base;
      expect(from >= start || start - from >= info[i].bytes, "bounds that end before the next allocation begins");
    }
  }
  for (int i = 0; i < count; i++) drop(tensors[i]);
}

/* The driver no longer reports freed memory, if it can determine that. */
static void freed_memory_is_unknown(void) {
  const size_t types = sizeof conformance_types / sizeof *conformance_types;
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  for (size_t i = 0; i < types * 2 && !conformance_hooks.defers; i++) {
    const DLDevice device = device_of(i / 2, i % 2);
    DLManagedTensorVersioned* tensor = bytes_on(device, BYTES);
    if (!tensor) return;
    const void* data = tensor->dl_tensor.data;
    drop(tensor);
    fails("pointer_attributes", table->pointer_attributes(data, &info, &error), DLPACKGEN_BACKEND_OK);
    expect(info.device.device_type == kDLCPU, "memory of device (%d, %d) to be unknown after free",
           (int)device.device_type, (int)device.device_id);
  }
}

static void streams_in_order(void) {
  const dlpackgen_stream first = on(0), last = on(driver_info.devices - 1), none = on(driver_info.devices);
  dlpackgen_stream unordered = on(0);
  fails("stream_wait itself", table->stream_wait(&first, &first, &error), DLPACKGEN_BACKEND_OK);
  fails("stream_wait", table->stream_wait(&last, &first, &error), DLPACKGEN_BACKEND_OK);
  fails("stream_wait", table->stream_wait(&first, &last, &error), DLPACKGEN_BACKEND_OK);
  unordered.flags = DLPACKGEN_STREAM_NO_SYNC;
  fails("stream_wait without synchronization", table->stream_wait(&first, &unordered, &error), DLPACKGEN_BACKEND_OK);
  fails("stream_synchronize", table->stream_synchronize(&last, &error), DLPACKGEN_BACKEND_OK);
  fails("stream_wait on an unknown device", table->stream_wait(&none, &first, &error),
        DLPACKGEN_BACKEND_INVALID_DEVICE);
  fails("stream_synchronize on an unknown device", table->stream_synchronize(&none, &error),
        DLPACKGEN_BACKEND_INVALID_DEVICE);
}

static int foreign_calls;
static void foreign_delete(DLManagedTensorVersioned* tensor) { (void)tensor, foreign_calls++; }

static void tensors_of_others(void) {
  const dlpackgen_stream stream = on(0);
  DLManagedTensorVersioned foreign;
  memset(&foreign, 0, sizeof foreign);
  foreign.deleter = foreign_delete;
  fails("deallocate", table->deallocate(&foreign, &error), DLPACKGEN_BACKEND_NOT_ALLOCATED_HERE);
  fails("keep_until", table->keep_until(&foreign, &stream, &error), DLPACKGEN_BACKEND_NOT_ALLOCATED_HERE);
  expect(!foreign_calls, "the deleter of another library not to be called");
}

/* Memory is kept for the work of streams, independently of the order of calls. */
static void tensors_that_are_kept(void) {
  static char bytes[BYTES];
  int64_t count = BYTES;
  const DLTensor host = host_bytes(bytes, &count);
  const dlpackgen_stream stream = on(0), other = on(driver_info.devices - 1);
  for (int i = 0; i < MANY; i++) {
    DLManagedTensorVersioned *tensor = bytes_on(here(0), BYTES), *empty = bytes_on(here(0), 0);
    if (!tensor || !empty) return;
    fails("copy", table->copy(&tensor->dl_tensor, &host, &stream, &error), DLPACKGEN_BACKEND_OK);
    fails("keep_until", table->keep_until(tensor, &stream, &error), DLPACKGEN_BACKEND_OK);
    fails("keep_until", table->keep_until(tensor, &other, &error), DLPACKGEN_BACKEND_OK);
    fails("keep_until again", table->keep_until(tensor, &stream, &error), DLPACKGEN_BACKEND_OK);
    fails("keep_until of an empty tensor", table->keep_until(empty, &stream, &error), DLPACKGEN_BACKEND_OK);
    tensor->deleter(tensor);
    fails("deallocate", table->deallocate(empty, &error), DLPACKGEN_BACKEND_OK);
  }
}

#if !defined(_WIN32)

static void* work(void* failed) {
  static char bytes[BYTES];
  int64_t count = BYTES;
  const DLTensor host = host_bytes(bytes, &count);
  const dlpackgen_stream stream = on(0);
  const dlpackgen_allocation request = allocation_of(here(0), 1, &count);
  dlpackgen_backend_error mine;
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  for (int i = 0; i < MANY; i++) {
    DLManagedTensorVersioned* tensor = NULL;
    int code = table->allocate(&request, &tensor, &mine);
    if (!code) code = table->copy(&tensor->dl_tensor, &host, &stream, &mine);
    if (!code) code = table->keep_until(tensor, &stream, &mine);
    if (!code) code = table->pointer_attributes(tensor->dl_tensor.data, &info, &mine);
    if (!code) code = (int)info.device.device_type != table->device_type;
    if (tensor) tensor->deleter(tensor);
    if (code) return failed;
  }
  return NULL;
}

static void threads_together(void) {
  pthread_t threads[4];
  void* failed;
  for (int i = 0; i < 4; i++)
    if (pthread_create(&threads[i], NULL, work, &failures)) exit(2);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], &failed);
    expect(!failed, "all calls of thread %d to succeed", i);
  }
}

static void* delete_there(void* tensor) {
  ((DLManagedTensorVersioned*)tensor)->deleter(tensor);
  return NULL;
}

static void a_deleter_elsewhere(void) {
  pthread_t thread;
  DLManagedTensorVersioned* tensor = bytes_on(here(0), BYTES);
  if (!tensor || pthread_create(&thread, NULL, delete_there, tensor)) return;
  pthread_join(thread, NULL);
}

/* In a forked child, the deleter is harmless, and calls either work or return an error. */
static void a_child_of_fork(void) {
  int status = -1;
  DLManagedTensorVersioned* tensor = bytes_on(here(0), BYTES);
  if (!tensor) return;
  const pid_t child = fork();
  if (!child) {
    const int code = table->probe(NULL, &error);
    tensor->deleter(tensor);
    _exit(code && code != DLPACKGEN_BACKEND_FORKED);
  }
  expect(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status),
         "the child to exit with 0, not with the status %d", status);
  fails("deallocate in the parent", table->deallocate(tensor, &error), DLPACKGEN_BACKEND_OK);
}

#endif

static DLManagedTensorVersioned* last;
static void delete_last(void) { last->deleter(last); }

/* The deleter may run after main, when parts of the driver have already shut down. */
static void a_deleter_at_exit(void) {
  last = bytes_on(here(0), BYTES);
  if (last) expect(!atexit(delete_last), "atexit to accept a handler");
}

static void with_a_device(void) {
  run_check("devices are counted", devices_are_counted);
#if !defined(_WIN32)
  if (conformance_hooks.live) begin_to_count();
#endif
  run_check("devices that do not exist", devices_that_do_not_exist);
  run_check("numbers of streams", numbers_of_streams);
  run_check("streams of a program", streams_of_a_program);
  run_check("tensors are as requested", tensors_are_as_requested);
  run_check("requests that are rejected", requests_that_are_rejected);
  run_check("sizes of callers", sizes_of_callers);
  run_check("whose memory", whose_memory);
  run_check("bounds of allocations", bounds_of_allocations);
  run_check("freed memory is unknown", freed_memory_is_unknown);
  run_check("copies arrive", copies_arrive);
  run_check("copies of all sizes", copies_of_all_sizes);
  run_check("copies that are rejected", copies_that_are_rejected);
  run_check("streams in order", streams_in_order);
  run_check("tensors of others", tensors_of_others);
  run_check("tensors that are kept", tensors_that_are_kept);
#if !defined(_WIN32)
  run_check("threads together", threads_together);
  run_check("a deleter elsewhere", a_deleter_elsewhere);
  run_check("a child of fork", a_child_of_fork);
  if (has_hooks()) with_hooks();
  counting = 0; /* the memory of the last check exists until after main */
#endif
  run_check("a deleter at exit", a_deleter_at_exit);
}

/* Reports the checks that were omitted because a hook is missing. */
static void print_omissions(void) {
#if defined(_WIN32)
  not_tested("order", "work cannot be held on Windows");
#else
  if (!has_hooks()) not_tested("order", "conformance_hooks has no `open`, `close`, `hold` and `release`");
  if (!conformance_hooks.live) not_tested("leaks", "conformance_hooks has no `live`");
  if (!has_hooks()) return;
  if (driver_info.devices < 2) printf("note: order between devices: the driver has one device\n");
  if (!conformance_hooks.foreign) printf("note: streams that must be rejected: no hook `foreign`\n");
  if (!conformance_hooks.fails) printf("note: work that fails: the hook `release` has no failure\n");
  if (!conformance_hooks.reject) printf("note: errors of the driver: no hook `reject`\n");
#endif
}

int main(void) {
  table = CONFORMANCE_TABLE;
  run_check("the table", the_table);
  run_check("the first error stays", the_first_error_stays);
  run_check("null everywhere", null_everywhere);
  const int code = table->probe(&driver_info, &error);
  const dlpackgen_backend_error first = error;
  if (!code) with_a_device();
  if (code) not_tested("checks that need a device", first.text);
  else print_omissions();
  printf("%d checks, %d failed\n", checks, failures);
  if (failures) return 1;
  return untested ? 77 : 0;
}
