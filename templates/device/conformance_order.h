
/* Checks the order of work: calls that must wait, and calls that must not, while a stream has held
 * work. Part of conformance.c.
 *
 * No check compares times. A call that must wait fails the check if it returns before the work was
 * allowed to end, however slow the machine is. The time limit of a call that must not wait is a
 * tenth of the limit for calls that hang. */
#ifndef DLPACKGEN_CONFORMANCE_ORDER_H_
#define DLPACKGEN_CONFORMANCE_ORDER_H_

#include "conformance_check.h"

#if !defined(_WIN32)

enum { LANES = 5, REUSED = 16 };

static double longest(void) { return patience() / 10.0; }

/* Work on a stream that does not end before its gate is opened. */
struct hold {
  const dlpackgen_stream* stream;
  void* gate;
  int failed;
  _Atomic double end; /* when the gate is opened */
  atomic_int is_open;
  pthread_t opener;
};

static void* open_gate(void* data) {
  struct hold* hold = data;
  while (now() < atomic_load(&hold->end)) rest();
  atomic_store(&hold->is_open, 1);
  conformance_hooks.release(hold->gate, hold->failed);
  return NULL;
}

/* The time for which a call that should wait is observed: many times the duration of such calls. */
static double observation(void) {
  const dlpackgen_stream stream = on(0);
  double slowest = 0;
  for (int i = 0; i < 3; i++) {
    const double start = now();
    DLManagedTensorVersioned* tensor = bytes_on(here(0), BYTES);
    if (tensor) send(&tensor->dl_tensor, &stream, i);
    drop(tensor);
    if (now() - start > slowest) slowest = now() - start;
  }
  return slowest < 0.005 ? 0.1 : slowest * 20;
}

/* Opens the gate after the given number of seconds. */
static void open_in(struct hold* hold, double seconds) { atomic_store(&hold->end, now() + seconds); }

static int holds(const struct hold* hold) { return !atomic_load(&hold->is_open); }

static int begin_hold(struct hold* hold, const dlpackgen_stream* stream) {
  memset(hold, 0, sizeof *hold);
  hold->stream = stream;
  open_in(hold, longest());
  const int code = conformance_hooks.hold(stream->device.device_id, stream->handle, &hold->gate);
  expect(!code, "the hook `hold` to succeed, not %d", code);
  if (!code && pthread_create(&hold->opener, NULL, open_gate, hold)) exit(2);
  return !code;
}

static void end_hold(struct hold* hold) {
  open_in(hold, 0);
  pthread_join(hold->opener, NULL);
}

/* The streams of a check: the default ones of the first and the last device, and others. */
static struct {
  dlpackgen_stream streams[LANES];
  int count;
} lanes;

static void add_lane(int32_t device, int is_new) {
  dlpackgen_stream* stream = &lanes.streams[lanes.count];
  *stream = on(device);
  const int code = is_new ? conformance_hooks.open(device, &stream->handle) : 0;
  expect(!code && (!is_new || stream->handle), "the hook `open` to create a stream, not %d", code);
  lanes.count += !code;
}

static void open_lanes(void) {
  const int32_t last = driver_info.devices - 1;
  lanes.count = 0;
  add_lane(0, 0), add_lane(0, 1), add_lane(0, 1);
  if (last) add_lane(last, 0), add_lane(last, 1);
}

static void close_lanes(void) {
  for (int i = 0; i < lanes.count; i++) {
    const dlpackgen_stream* stream = &lanes.streams[i];
    fails("stream_synchronize", table->stream_synchronize(stream, &error), DLPACKGEN_BACKEND_OK);
    if (stream->handle) conformance_hooks.close(stream->device.device_id, stream->handle);
  }
}

/* Runs a test for each stream until one fails. */
static void on_each_lane(void (*run)(const dlpackgen_stream* stream)) {
  open_lanes();
  for (int i = 0; i < lanes.count && !failed_here; i++) run(&lanes.streams[i]);
  close_lanes();
}

/* Two filled tensors on the device of a stream, which is idle; both or none. */
static int two_tensors(const dlpackgen_stream* stream, DLManagedTensorVersioned* two[2]) {
  for (int i = 0; i < 2; i++) {
    two[i] = bytes_for(stream->device, BYTES, stream->handle);
    if (two[i]) send(&two[i]->dl_tensor, stream, 1 + i);
  }
  if (two[0] && two[1]) return 1;
  drop(two[0]), drop(two[1]);
  return 0;
}

static void copy_on(const dlpackgen_stream* stream, DLManagedTensorVersioned* to, DLManagedTensorVersioned* from) {
  fails("copy on the device", table->copy(&to->dl_tensor, &from->dl_tensor, stream, &error), DLPACKGEN_BACKEND_OK);
}

/* ---- stream_synchronize and copies ---- */

static void synchronize_waits(const dlpackgen_stream* stream) {
  struct hold hold;
  const double seconds = observation();
  if (!begin_hold(&hold, stream)) return;
  open_in(&hold, seconds);
  fails("stream_synchronize", table->stream_synchronize(stream, &error), DLPACKGEN_BACKEND_OK);
  expect(!holds(&hold), "stream_synchronize to wait for the work of the stream");
  end_hold(&hold);
}

/* Reads a tensor on all other streams of the device. If one of them must wait for the held stream,
 * as in drivers with few queues, the check is inconclusive. */
static void expect_untouched(const struct hold* hold, const DLManagedTensorVersioned* tensor, int seed) {
  for (int i = 0; i < lanes.count; i++) {
    const dlpackgen_stream* other = &lanes.streams[i];
    if (other == hold->stream || other->device.device_id != hold->stream->device.device_id) continue;
    const int same = has(&tensor->dl_tensor, other, seed);
    expect(same || !holds(hold), "a copy to be queued behind the work of its stream");
  }
}

static void copies_are_queued(const dlpackgen_stream* stream) {
  DLManagedTensorVersioned* two[2];
  struct hold hold;
  const double seconds = observation();
  if (!two_tensors(stream, two)) return;
  if (begin_hold(&hold, stream)) {
    copy_on(stream, two[1], two[0]);
    expect(holds(&hold), "a copy on the device to return before the work of its stream ends");
    open_in(&hold, seconds);
    expect_untouched(&hold, two[1], 2);
    end_hold(&hold);
    fails("stream_synchronize", table->stream_synchronize(stream, &error), DLPACKGEN_BACKEND_OK);
    expect(has(&two[1]->dl_tensor, stream, 1), "the bytes of the source after stream_synchronize");
    expect(has(&two[0]->dl_tensor, stream, 1), "a copy to leave its source unchanged");
  }
  drop(two[0]), drop(two[1]);
}

/* Host memory may change as soon as the call returns. */
static void copies_of_the_host_wait(const dlpackgen_stream* stream) {
  static char bytes[BYTES];
  int64_t count = BYTES;
  const DLTensor host = host_bytes(bytes, &count);
  DLManagedTensorVersioned* two[2];
  struct hold hold;
  const double seconds = observation();
  if (!two_tensors(stream, two)) return;
  if (begin_hold(&hold, stream)) {
    open_in(&hold, seconds);
    fill(bytes, BYTES, 3);
    copy_to_device(&two[0]->dl_tensor, &host, stream);
    fill(bytes, BYTES, 4);
    end_hold(&hold);
    expect(has(&two[0]->dl_tensor, stream, 3), "the bytes that the host had when copy was called");
  }
  if (begin_hold(&hold, stream)) {
    copy_on(stream, two[1], two[0]);
    open_in(&hold, seconds);
    copy_to_host(&host, &two[1]->dl_tensor, stream);
    expect(!holds(&hold) && is_filled(bytes, BYTES, 3), "the bytes of the device when copy returns");
    end_hold(&hold);
  }
  drop(two[0]), drop(two[1]);
}

static void synchronizing(void) { on_each_lane(synchronize_waits); }
static void queued_copies(void) { on_each_lane(copies_are_queued); }
static void copies_of_the_host(void) { on_each_lane(copies_of_the_host_wait); }

/* ---- order between streams ---- */

/* `second` copies the result of a copy that `first` queues after held work. */
static void second_after_first(const dlpackgen_stream* second, const dlpackgen_stream* first) {
  DLManagedTensorVersioned *a[2] = {NULL, NULL}, *b[2] = {NULL, NULL};
  const int same_device = second->device.device_id == first->device.device_id;
  struct hold hold;
  const double seconds = observation();
  if (!two_tensors(first, a) || !two_tensors(second, b)) exit(2);
  if (begin_hold(&hold, first)) {
    copy_on(first, a[1], a[0]);
    fails("stream_wait", table->stream_wait(second, first, &error), DLPACKGEN_BACKEND_OK);
    if (same_device) copy_on(second, b[0], a[1]);
    expect(holds(&hold), "stream_wait, and a copy after it, to return before the producer's work ends");
    open_in(&hold, seconds);
    fails("stream_synchronize", table->stream_synchronize(second, &error), DLPACKGEN_BACKEND_OK);
    expect(!holds(&hold), "the consumer's stream to wait for the producer's");
    end_hold(&hold);
    expect(!same_device || has(&b[0]->dl_tensor, second, 1), "the consumer to see what the producer wrote");
    fails("stream_synchronize", table->stream_synchronize(first, &error), DLPACKGEN_BACKEND_OK);
  }
  for (int i = 0; i < 2; i++) drop(a[i]), drop(b[i]);
}

static void order_of_streams(void) {
  open_lanes();
  for (int i = 0; i < lanes.count; i++)
    for (int k = 0; k < lanes.count && !failed_here; k++)
      if (i != k) second_after_first(&lanes.streams[i], &lanes.streams[k]);
  close_lanes();
}

/* ---- memory that work still uses ---- */

static int is_known(const void* data) {
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  fails("pointer_attributes", table->pointer_attributes(data, &info, &error), DLPACKGEN_BACKEND_OK);
  return info.device.device_type != kDLCPU;
}

/* Reuses memory that was freed too early, which damages the results of work on it. */
static void reuse(const dlpackgen_stream* busy) {
  DLManagedTensorVersioned* tensors[REUSED];
  const dlpackgen_stream* idle = &lanes.streams[0];
  while (idle == busy || idle->device.device_id != busy->device.device_id) idle++;
  for (int i = 0; i < REUSED; i++) {
    tensors[i] = bytes_for(idle->device, BYTES, idle->handle);
    if (tensors[i]) send(&tensors[i]->dl_tensor, idle, 9);
  }
  for (int i = 0; i < REUSED; i++) drop(tensors[i]);
}

/* Frees a tensor that a stream reads. If the driver orders the free, it may return at once, but the
 * memory must remain valid until the work is done. */
static void free_while_read(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream, int kept) {
  DLManagedTensorVersioned* copied = bytes_for(stream->device, BYTES, stream->handle);
  const void* data = tensor->dl_tensor.data;
  struct hold hold;
  const double seconds = observation();
  if (copied) send(&copied->dl_tensor, stream, 2);
  if (!copied || !begin_hold(&hold, stream)) return;
  copy_on(stream, copied, tensor);
  if (kept) fails("keep_until", table->keep_until(tensor, stream, &error), DLPACKGEN_BACKEND_OK);
  expect(holds(&hold), "keep_until to return before the work of the stream ends");
  open_in(&hold, seconds);
  tensor->deleter(tensor);
  if (holds(&hold)) {
    open_in(&hold, longest());
    expect(conformance_hooks.defers || is_known(data) || !holds(&hold), "a free to wait for the work on the memory");
    reuse(stream);
  }
  end_hold(&hold);
  fails("stream_synchronize", table->stream_synchronize(stream, &error), DLPACKGEN_BACKEND_OK);
  expect(has(&copied->dl_tensor, stream, 1), "memory to stay until the work on it is done");
  drop(copied);
}

/* Tensors of each type: for the stream itself, and kept for it. */
static void frees_wait(const dlpackgen_stream* stream) {
  for (size_t i = 0; i < sizeof conformance_types / sizeof *conformance_types && !failed_here; i++) {
    const int zero = conformance_types[i].zero, id = zero ? 0 : stream->device.device_id;
    const DLDevice device = {(DLDeviceType)conformance_types[i].type, id};
    const dlpackgen_stream first = on(id);
    if (zero && !stream->handle && stream->device.device_id) continue; /* its default stream is device 0's */
    DLManagedTensorVersioned *own = bytes_for(device, BYTES, stream->handle), *kept = bytes_on(device, BYTES);
    if (!own || !kept) return;
    send(&own->dl_tensor, stream, 1), send(&kept->dl_tensor, &first, 1);
    free_while_read(own, stream, 0);
    free_while_read(kept, stream, 1);
  }
}

static void memory_in_use(void) { on_each_lane(frees_wait); }

/* A stream may be destroyed before the tensors that were allocated or kept for it. */
static void streams_that_are_gone(void) {
  for (int32_t id = 0; id < driver_info.devices; id++) {
    dlpackgen_stream stream = on(id);
    const int code = conformance_hooks.open(id, &stream.handle);
    expect(!code, "the hook `open` to create a stream, not %d", code);
    DLManagedTensorVersioned* own = code ? NULL : bytes_for(here(id), BYTES, stream.handle);
    DLManagedTensorVersioned* kept = bytes_on(here(id), BYTES);
    if (!own || !kept) return;
    send(&own->dl_tensor, &stream, 1);
    copy_on(&stream, kept, own);
    fails("keep_until", table->keep_until(kept, &stream, &error), DLPACKGEN_BACKEND_OK);
    fails("stream_synchronize", table->stream_synchronize(&stream, &error), DLPACKGEN_BACKEND_OK);
    conformance_hooks.close(id, stream.handle);
    fails("deallocate of a tensor of that stream", table->deallocate(own, &error), DLPACKGEN_BACKEND_OK);
    fails("deallocate of a tensor kept for it", table->deallocate(kept, &error), DLPACKGEN_BACKEND_OK);
  }
}

/* ---- streams that do not fit, and errors ---- */

/* Calls that must reject a stream, because of its device or in general. */
static void rejects(const dlpackgen_stream* stream, int code) {
  const dlpackgen_stream good = on(stream->device.device_id);
  const int64_t count = BYTES;
  dlpackgen_allocation request = allocation_of(stream->device, 1, &count);
  DLManagedTensorVersioned *tensor = NULL, *kept = bytes_on(stream->device, BYTES);
  request.stream = stream->handle;
  fails("stream_synchronize", table->stream_synchronize(stream, &error), code);
  fails("stream_wait of such a consumer", table->stream_wait(stream, &good, &error), code);
  fails("stream_wait of such a producer", table->stream_wait(&good, stream, &error), code);
  fails("allocate", table->allocate(&request, &tensor, &error), code);
  if (kept) fails("keep_until", table->keep_until(kept, stream, &error), code);
  drop(kept);
}

static void streams_to_reject(void) {
  for (int number = 0;; number++) {
    dlpackgen_stream stream = on(driver_info.devices - 1);
    const int code = conformance_hooks.foreign(stream.device.device_id, number, &stream.handle);
    if (number && code == CONFORMANCE_NO_MORE) return;
    expect(!code, "the hook `foreign` to create stream %d, not %d", number, code);
    if (code) return;
    rejects(&stream, DLPACKGEN_BACKEND_INVALID_STREAM);
    conformance_hooks.close(stream.device.device_id, stream.handle);
  }
}

static void owners_of_streams(void) {
  dlpackgen_stream wrong;
  open_lanes();
  for (int i = 0; i < lanes.count && conformance_hooks.owners && driver_info.devices > 1; i++) {
    wrong = lanes.streams[i];
    wrong.device.device_id = wrong.device.device_id ? 0 : driver_info.devices - 1;
    if (wrong.handle) rejects(&wrong, DLPACKGEN_BACKEND_STREAM_DEVICE_MISMATCH);
  }
  close_lanes();
  if (conformance_hooks.foreign) streams_to_reject();
}

/* Expects a call to fail, with any code. */
static void fails_somehow(const char* what, int code) {
  expect(code != 0, "%s to fail", what);
  if (code) fills(what, code);
}

/* Runs a call that waits for work, which then fails: the call must return an error. The call must
 * begin before the work ends. If it succeeds, the next attempt has more time. */
static void tells_failure(const char* what, int (*run)(DLManagedTensorVersioned*, const dlpackgen_stream*)) {
  int code = 0;
  for (double seconds = observation(); !code && seconds < 2 * longest(); seconds *= 8) {
    dlpackgen_stream stream = on(0);
    struct hold hold;
    if (conformance_hooks.open(0, &stream.handle)) exit(2);
    DLManagedTensorVersioned* tensor = bytes_for(stream.device, BYTES, stream.handle);
    if (!tensor || !begin_hold(&hold, &stream)) return;
    hold.failed = 1;
    open_in(&hold, seconds);
    memset(&error, 0, sizeof error);
    code = run(tensor, &stream);
    end_hold(&hold);
    conformance_hooks.close(0, stream.handle);
  }
  fails_somehow(what, code);
}

static int synchronize_then_free(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream) {
  dlpackgen_backend_error unread;
  const int code = table->stream_synchronize(stream, &error);
  (void)table->deallocate(tensor, &unread);
  return code;
}

static int free_of_a_stream(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream) {
  (void)stream;
  return table->deallocate(tensor, &error);
}

static int free_of_what_is_kept(DLManagedTensorVersioned* tensor, const dlpackgen_stream* stream) {
  DLManagedTensorVersioned* other = bytes_on(here(0), BYTES);
  fails("keep_until", table->keep_until(other, stream, &error), DLPACKGEN_BACKEND_OK);
  const int code = table->deallocate(other, &error);
  dlpackgen_backend_error unread;
  (void)table->deallocate(tensor, &unread);
  return code;
}

static void work_that_fails(void) {
  tells_failure("stream_synchronize of work that fails", synchronize_then_free);
  tells_failure("deallocate while work of the stream fails", free_of_a_stream);
  tells_failure("deallocate while work that it was kept for fails", free_of_what_is_kept);
}

/* Makes the driver reject the calls that one function makes. */
static void reject(enum conformance_call call) {
  expect(!conformance_hooks.reject(call), "the hook `reject` to succeed");
}

static void rejected_on(const dlpackgen_stream* stream) {
  const dlpackgen_stream first = on(0);
  const int64_t count = BYTES;
  const dlpackgen_allocation request = allocation_of(here(0), 1, &count);
  DLManagedTensorVersioned *two[2], *tensor = NULL;
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  if (!two_tensors(&first, two)) return;
  reject(CONFORMANCE_POINTER);
  fails_somehow("pointer_attributes", table->pointer_attributes(two[0]->dl_tensor.data, &info, &error));
  reject(CONFORMANCE_ALLOCATE);
  fails_somehow("allocate", table->allocate(&request, &tensor, &error));
  expect(!tensor, "no tensor");
  reject(CONFORMANCE_OWNER);
  if (conformance_hooks.owners) fails_somehow("stream_synchronize", table->stream_synchronize(stream, &error));
  reject(CONFORMANCE_MARK);
  fails_somehow("stream_wait", table->stream_wait(&first, stream, &error));
  fails_somehow("keep_until", table->keep_until(two[0], stream, &error));
  reject(CONFORMANCE_WAIT);
  fails_somehow("stream_wait", table->stream_wait(&first, stream, &error));
  reject(CONFORMANCE_COPY);
  fails_somehow("copy", table->copy(&two[0]->dl_tensor, &two[1]->dl_tensor, &first, &error));
  reject(CONFORMANCE_SYNCHRONIZE);
  fails_somehow("stream_synchronize", table->stream_synchronize(stream, &error));
  reject(CONFORMANCE_NOTHING);
  drop(two[0]), drop(two[1]);
}

static void calls_that_are_rejected(void) {
  open_lanes();
  rejected_on(&lanes.streams[1]);
  close_lanes();
}

/* Begins to count after the driver has created its permanent objects. */
static void begin_to_count(void) {
  (void)observation();
  living = conformance_hooks.live();
  counting = 1;
}

static void with_hooks(void) {
  run_check("stream_synchronize waits", synchronizing);
  run_check("copies are queued", queued_copies);
  run_check("copies of the host wait", copies_of_the_host);
  run_check("streams wait for each other", order_of_streams);
  run_check("memory in use is kept", memory_in_use);
  run_check("streams that are gone", streams_that_are_gone);
  run_check("owners of streams", owners_of_streams);
  if (conformance_hooks.fails) run_check("work that fails", work_that_fails);
  if (conformance_hooks.reject) run_check("calls that the driver rejects", calls_that_are_rejected);
}

static int has_hooks(void) {
  const struct conformance_hooks* const hooks = &conformance_hooks;
  return hooks->open && hooks->close && hooks->hold && hooks->release;
}

#endif

#endif /* DLPACKGEN_CONFORMANCE_ORDER_H_ */
