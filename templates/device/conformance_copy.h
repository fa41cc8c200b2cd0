
/* Checks copies: their results, that nothing else changes, and rejections. Part of
 * conformance.c. */
#ifndef DLPACKGEN_CONFORMANCE_COPY_H_
#define DLPACKGEN_CONFORMANCE_COPY_H_

#include "conformance_check.h"

/* Returns whether ids of a type are always 0. */
static int has_no_ids(DLDevice device) {
  for (size_t i = 0; i < sizeof conformance_types / sizeof *conformance_types; i++)
    if (conformance_types[i].type == (int)device.device_type) return conformance_types[i].zero;
  return 0;
}

/* The default stream of a tensor's device. */
static dlpackgen_stream stream_of(DLDevice device) { return on(has_no_ids(device) ? 0 : device.device_id); }

/* A tensor of BYTES inside another one, at an offset. */
static DLTensor part_of(const DLManagedTensorVersioned* tensor, int64_t offset) {
  static int64_t count = BYTES;
  DLTensor part = tensor->dl_tensor;
  part.shape = &count;
  part.byte_offset = (uint64_t)offset;
  return part;
}

/* Expects three parts of a tensor to have the bytes of their seeds. */
static void parts_are(const char* what, const DLManagedTensorVersioned* tensor, const int seeds[3]) {
  const dlpackgen_stream stream = stream_of(tensor->dl_tensor.device);
  for (int i = 0; i < 3; i++) {
    const DLTensor part = part_of(tensor, i * (int64_t)BYTES);
    expect(has(&part, &stream, seeds[i]), "%s: part %d of 3 to have the expected bytes", what, i + 1);
  }
}

/* Copies the middle of one tensor to the middle of another. */
static void copies_between(DLDevice to, DLDevice from) {
  const dlpackgen_stream there = stream_of(to), first = stream_of(from);
  DLManagedTensorVersioned *a = bytes_on(from, 3 * BYTES), *b = bytes_on(to, 3 * BYTES);
  const int before[] = {1, 2, 3}, after[] = {4, 2, 6};
  for (int i = 0; i < 3 && a && b; i++) {
    const DLTensor of_a = part_of(a, i * (int64_t)BYTES), of_b = part_of(b, i * (int64_t)BYTES);
    send(&of_a, &first, 1 + i), send(&of_b, &there, 4 + i);
  }
  if (a && b) {
    const DLTensor source = part_of(a, BYTES), target = part_of(b, BYTES);
    fails("copy", table->copy(&target, &source, &there, &error), DLPACKGEN_BACKEND_OK);
    fails("stream_synchronize", table->stream_synchronize(&there, &error), DLPACKGEN_BACKEND_OK);
    parts_are("the source of a copy", a, before);
    parts_are("the destination of a copy", b, after);
  }
  drop(a), drop(b);
}

/* The first or the last device of a type. */
static DLDevice device_of(size_t type, int is_last) {
  const DLDevice device = {(DLDeviceType)conformance_types[type].type,
                           is_last && !conformance_types[type].zero ? driver_info.devices - 1 : 0};
  return device;
}

/* Copies between all types, on one device and between two; only the destination's bytes change. */
static void copies_arrive(void) {
  const size_t types = sizeof conformance_types / sizeof *conformance_types;
  for (size_t i = 0; i < types * 2; i++)
    for (size_t k = 0; k < types * 2 && !failed_here; k++)
      copies_between(device_of(i / 2, i % 2), device_of(k / 2, k % 2));
}

/* Copies of many sizes, there and back. */
static void copies_of_all_sizes(void) {
  static char out[1 << 25], back[1 << 25];
  const int sizes[] = {1, 3, 255, 65537, (1 << 20) - 5, (1 << 25) - 5};
  const dlpackgen_stream stream = on(0);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    int64_t count = sizes[i];
    const DLTensor from = host_bytes(out, &count), to = host_bytes(back, &count);
    DLManagedTensorVersioned* tensor = bytes_on(here(0), count);
    if (!tensor) return;
    fill(out, sizes[i], (int)i), memset(back, 0, sizeof back);
    copy_to_device(&tensor->dl_tensor, &from, &stream);
    copy_to_host(&to, &tensor->dl_tensor, &stream);
    expect(is_filled(back, sizes[i], (int)i) && !back[sizes[i]], "%d bytes there and back", sizes[i]);
    drop(tensor);
  }
}

static void copies_that_are_rejected(void) {
  static char bytes[BYTES];
  int64_t count = BYTES, less = 8, two[] = {2};
  const dlpackgen_stream stream = on(0);
  dlpackgen_stream unordered = on(0);
  DLManagedTensorVersioned* tensor = bytes_on(here(0), BYTES);
  if (!tensor) return;
  DLTensor host = host_bytes(bytes, &count), shorter = host_bytes(bytes, &less);
  DLTensor wide = host, holed = host, bare = host;
  wide.dtype.bits = 16, holed.strides = two, bare.data = NULL;
  fails("copy of another shape", table->copy(&tensor->dl_tensor, &shorter, &stream, &error),
        DLPACKGEN_BACKEND_UNSUPPORTED_LAYOUT);
  fails("copy of another dtype", table->copy(&tensor->dl_tensor, &wide, &stream, &error),
        DLPACKGEN_BACKEND_UNSUPPORTED_LAYOUT);
  fails("copy of a tensor with gaps", table->copy(&tensor->dl_tensor, &holed, &stream, &error),
        DLPACKGEN_BACKEND_UNSUPPORTED_LAYOUT);
  fails("copy without data", table->copy(&tensor->dl_tensor, &bare, &stream, &error),
        DLPACKGEN_BACKEND_INVALID_ARGUMENT);
  unordered.flags = DLPACKGEN_STREAM_NO_SYNC;
  expect(table->device_type == kDLCPU ||
             table->copy(&tensor->dl_tensor, &host, &unordered, &error) == DLPACKGEN_BACKEND_INVALID_STREAM,
         "a copy without a stream to be rejected");
  tensor->deleter(tensor);
}

#endif /* DLPACKGEN_CONFORMANCE_COPY_H_ */
