/* Calls handlers with frames like XLA's and with others, and prints the results. */
#include "jax/kernels_jax.c"

#include <stdio.h>
#include <stdlib.h>

extern void* last_stream;
extern DLDevice last_device;

typedef struct dlpackgen_xla_ffi_buffer buffer;

static char said[4096];
static void* create_error(struct dlpackgen_xla_ffi_error_request* request) {
  snprintf(said, sizeof said, "%d %s", request->errc, request->message);
  return said;
}
static void destroy_error(struct dlpackgen_xla_ffi_error_end* end) { (void)end; }
static void* get_stream(struct dlpackgen_xla_ffi_stream_request* request) {
  if (request->ctx != said || request->struct_size != 32) return (void*)"no stream here";
  request->stream = (void*)(uintptr_t)0x51;
  return NULL;
}
static void* get_ordinal(struct dlpackgen_xla_ffi_ordinal_request* request) {
  if (request->ctx != said || request->struct_size != 28) return (void*)"no device here";
  request->device_ordinal = 3;
  return NULL;
}
static struct dlpackgen_xla_ffi_api api = {.struct_size = sizeof api,
                                           .create_error = create_error,
                                           .destroy_error = destroy_error,
                                           .get_stream = get_stream,
                                           .get_ordinal = get_ordinal};

static void* heap(const void* from, size_t size) {
  void* const to = malloc(size);
  memcpy(to, from, size);
  return to;
}

/* A frame whose parts are heap blocks, so that a sanitizer detects reads beyond them. */
static void* call(void* (*handler)(const struct dlpackgen_xla_ffi_frame*), void** args, int nargs, void** rets,
                  int nrets) {
  int32_t ones[] = {1, 1, 1, 1};
  int32_t* const types = (int32_t*)heap(ones, sizeof *ones * (size_t)(nargs > nrets ? nargs : nrets));
  struct dlpackgen_xla_ffi_frame frame = {.struct_size = sizeof frame, .api = &api, .ctx = said, .stage = 3};
  frame.args.size = nargs;
  frame.args.types = frame.rets.types = types;
  frame.args.args = (void**)heap(args, sizeof *args * (size_t)nargs);
  frame.rets.size = nrets;
  frame.rets.rets = (void**)heap(rets, sizeof *rets * (size_t)nrets);
  void* const answer = handler(&frame);
  free(types);
  free(frame.args.args);
  free(frame.rets.rets);
  return answer;
}

static void show(const char* what, const void* answer) {
  printf("%s: %s\n", what, answer ? (const char*)answer : "fine");
}

static void describe(const char* what, void* (*handler)(const struct dlpackgen_xla_ffi_frame*)) {
  struct dlpackgen_xla_ffi_metadata metadata = {.struct_size = 40, .traits = 77};
  struct dlpackgen_xla_ffi_metadata_extension last = {.extension_base = {.type = 1}, .metadata = &metadata};
  struct dlpackgen_xla_ffi_extension first = {.type = 9, .next = &last.extension_base};
  struct dlpackgen_xla_ffi_frame frame = {.struct_size = sizeof frame, .extension_start = &first, .api = &api};
  show(what, handler(&frame));
  printf("  version %d.%d, traits %u\n", metadata.api_version.major_version, metadata.api_version.minor_version,
         metadata.traits);
}

int main(void) {
  float x[] = {1, 2, 3}, y[] = {0, 0, 0};
  int64_t* const three = (int64_t*)heap((int64_t[]){3}, 8);
  int64_t many[65] = {0};
  buffer from = {.struct_size = 48, .dtype = DLPACKGEN_XLA_FFI_DTYPE_F32, .data = x, .rank = 1, .dims = three},
         to = from;
  void *args[] = {&from, &from, &from}, *rets[] = {&to, &to};
  to.data = y;
  describe("metadata on the host", dlpackgen_jax_cpu_placed);
  describe("metadata on CUDA", dlpackgen_jax_cuda_placed);
  show("host", call(dlpackgen_jax_cpu_placed, args, 1, rets, 1));
  printf("  %g %g %g\n", (double)y[0], (double)y[1], (double)y[2]);
  show("CUDA", call(dlpackgen_jax_cuda_placed, args, 1, rets, 1));
  printf("  stream %p, device %d:%d\n", last_stream, (int)last_device.device_type, last_device.device_id);
  api.struct_size = 184;
  show("CUDA of an older jaxlib", call(dlpackgen_jax_cuda_placed, args, 1, rets, 1));
  printf("  device %d:%d\n", (int)last_device.device_type, last_device.device_id);
  show("no argument", call(dlpackgen_jax_cpu_placed, args, 0, rets, 1));
  show("two arguments", call(dlpackgen_jax_cpu_placed, args, 2, rets, 1));
  show("no result", call(dlpackgen_jax_cpu_placed, args, 1, rets, 0));
  show("two results", call(dlpackgen_jax_cpu_placed, args, 1, rets, 2));
  from.dtype = 17;
  show("a token", call(dlpackgen_jax_cpu_placed, args, 1, rets, 1));
  from.dtype = 99;
  show("an unknown dtype", call(dlpackgen_jax_cpu_placed, args, 1, rets, 1));
  from.dtype = -1;
  show("a negative dtype", call(dlpackgen_jax_cpu_placed, args, 1, rets, 1));
  from.dtype = DLPACKGEN_XLA_FFI_DTYPE_F64;
  show("another dtype", call(dlpackgen_jax_cpu_placed, args, 1, rets, 1));
  from.dtype = DLPACKGEN_XLA_FFI_DTYPE_F32;
  from.rank = 65;
  from.dims = many;
  show("too many dimensions", call(dlpackgen_jax_cpu_placed, args, 1, rets, 1));
  from.rank = 64;
  show("many dimensions", call(dlpackgen_jax_cpu_placed, args, 1, rets, 1));
  from.rank = 1;
  show("a result of another shape", call(dlpackgen_jax_cpu_placed, args, 1, rets, 1));
  free(three);
  return 0;
}
