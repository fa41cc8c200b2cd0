/* Calls every kernel of kernels.yaml with valid arguments and with each mistake, and prints the
 * status and the message. */
#include <dlpackgen/message.h>
#include <kernels.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof(list)[0]))

/* A tensor with separate shape and strides. */
struct made {
  DLTensor tensor;
  int64_t shape[70], strides[70];
};

#ifdef __cplusplus
alignas(64)
#else
_Alignas(64)
#endif
    static char memory[1 << 14];

static DLDataType dtype(int code, int bits) {
  DLDataType t;
  t.code = (uint8_t)code;
  t.bits = (uint8_t)bits;
  t.lanes = 1;
  return t;
}

/* Creates a C-contiguous tensor over memory from a byte offset on. */
static DLTensor* make(struct made* m, int code, int bits, int at, int ndim, int a, int b, int c) {
  const int extents[] = {a, b, c};
  int64_t stride = 1;
  memset(m, 0, sizeof *m);
  m->tensor.data = memory + at;
  m->tensor.device.device_type = kDLCPU;
  m->tensor.dtype = dtype(code, bits);
  m->tensor.ndim = ndim;
  m->tensor.shape = m->shape;
  m->tensor.strides = m->strides;
  for (int d = 0; d < ndim; d++) m->shape[d] = d < 3 ? extents[d] : 1;
  for (int d = ndim; d-- > 0; stride *= m->shape[d]) m->strides[d] = stride;
  return &m->tensor;
}

static char text[400];
static struct dlpackgen_message* message(void) {
  static struct dlpackgen_message m;
  m = dlpackgen_message_in(text, sizeof text);
  return &m;
}

static void show(const char* label, int status) {
  /* an address differs from run to run */
  char* const address = strstr(text, "0x");
  if (address) strcpy(address, "ADDRESS");
  printf("%s: %d %s\n", label, status, status ? text : "");
}

static struct made t[6];

static void scale_calls(void) {
  struct dlpackgen_number by;
  by.integer = 0;
  by.real = 3;
  DLTensor* x = make(&t[0], kDLFloat, 32, 0, 2, 2, 3, 0);
  ((float*)memory)[5] = 7;
  show("scale", dlpackgen_call_kernel_scale(x, by, NULL, message()));
  printf("  %g\n", (double)((float*)memory)[5]);
  t[0].strides[0] = 1, t[0].strides[1] = 2;
  show("scale of a transposed tensor", dlpackgen_call_kernel_scale(x, by, NULL, message()));
  t[0].strides[0] = 0;
  show("elements on each other", dlpackgen_call_kernel_scale(x, by, NULL, message()));
  show("missing", dlpackgen_call_kernel_scale(NULL, by, NULL, message()));
  x->dtype = dtype(kDLInt, 32);
  show("dtype", dlpackgen_call_kernel_scale(x, by, NULL, message()));
  by.real = 0;
  make(&t[0], kDLFloat, 64, 0, 2, 2, 3, 0);
  show("failure", dlpackgen_call_kernel_scale(x, by, NULL, message()));
  make(&t[0], kDLFloat, 32, 2, 2, 2, 3, 0);
  show("misaligned", dlpackgen_call_kernel_scale(x, by, NULL, message()));
  make(&t[0], kDLFloat, 32, 0, 2, 2, 3, 0);
  x->data = NULL;
  show("no memory", dlpackgen_call_kernel_scale(x, by, NULL, message()));
  make(&t[0], kDLFloat, 32, 0, 2, 2, 3, 0);
  x->device.device_type = kDLCUDA;
  show("device", dlpackgen_call_kernel_scale(x, by, NULL, message()));
  x->device.device_type = kDLCPU;
  t[0].shape[0] = -1;
  show("invalid", dlpackgen_call_kernel_scale(x, by, NULL, message()));
  struct dlpackgen_kernel_scale call;
  memset(&call, 0, sizeof call);
  call.args.x = make(&t[0], kDLFloat, 32, 0, 2, 2, 3, 0);
  call.flags.x = DLPACK_FLAG_BITMASK_READ_ONLY;
  show("read-only", dlpackgen_check_kernel_scale(&call, message()));
}

static DLTensor *bias, *x, *w, *idx, *y;
static int64_t q, rows;
static const int64_t* q_given;

static void join_fits(void) {
  bias = make(&t[0], kDLFloat, 32, 0, 1, 4, 0, 0);
  x = make(&t[1], kDLFloat, 32, 256, 3, 2, 3, 4);
  w = make(&t[2], kDLFloat, 32, 512, 3, 4, 2, 3);
  idx = make(&t[3], kDLInt, 64, 1024, 2, 2, 5, 0);
  y = make(&t[4], kDLFloat, 32, 2048, 3, 2, 3, 4);
  y->ndim = 4;
  t[4].shape[3] = 10;
  t[4].strides[0] = 120, t[4].strides[1] = 40, t[4].strides[2] = 10, t[4].strides[3] = 1;
  q_given = NULL;
}

static void join_call(const char* label) {
  show(label, dlpackgen_call_kernel_join(bias, x, w, idx, q_given, y, &rows, NULL, message()));
  join_fits();
}

static void join_dtypes(void) {
  bias->dtype = dtype(kDLFloat, 64);
  make(&t[0], kDLFloat, 64, 0, 1, 4, 0, 0);
  join_call("another dtype before the one that decides");
  make(&t[2], kDLInt, 32, 512, 3, 4, 2, 3);
  join_call("another dtype");
  make(&t[0], kDLInt, 32, 0, 1, 4, 0, 0);
  make(&t[1], kDLInt, 32, 256, 3, 2, 3, 4);
  make(&t[2], kDLInt, 32, 512, 3, 4, 2, 3);
  join_call("a dtype that a condition excludes");
  idx->dtype = dtype(kDLUInt, 64);
  join_call("none of two dtypes");
}

static void join_shapes(void) {
  make(&t[0], kDLFloat, 32, 0, 1, 5, 0, 0);
  join_call("a symbol");
  bias = NULL;
  make(&t[2], kDLFloat, 32, 512, 3, 5, 2, 3);
  join_call("a symbol of the second argument");
  make(&t[2], kDLFloat, 32, 512, 3, 4, 2, 4);
  join_call("a number");
  make(&t[2], kDLFloat, 32, 512, 2, 4, 2, 4);
  join_call("rank");
  x->ndim = 0;
  join_call("least rank");
  make(&t[2], kDLFloat, 32, 512, 3, 4, 3, 3);
  join_call("not solvable");
  make(&t[3], kDLInt, 32, 1024, 2, 3, 5, 0);
  join_call("computed");
  q = 2, q_given = &q;
  join_call("computed, with another argument");
  make(&t[3], kDLInt, 32, 1024, 2, 0, 5, 0);
  make(&t[2], kDLFloat, 32, 512, 3, 4, 0, 3);
  join_call("less than the least");
}

static void join_conditions(void) {
  make(&t[0], kDLFloat, 32, 0, 1, 3, 0, 0);
  make(&t[1], kDLFloat, 32, 256, 3, 2, 3, 3);
  make(&t[2], kDLFloat, 32, 512, 3, 3, 2, 3);
  join_call("and");
  make(&t[0], kDLFloat, 32, 0, 1, 6, 0, 0);
  make(&t[1], kDLFloat, 32, 256, 1, 6, 0, 0);
  make(&t[2], kDLFloat, 32, 512, 3, 6, 4, 3);
  make(&t[3], kDLInt, 32, 1024, 2, 3, 5, 0);
  q = 1, q_given = &q;
  join_call("or");
}

static void join_results(void) {
  y = NULL;
  join_call("no result");
  y->dtype = dtype(kDLFloat, 64);
  join_call("dtype of a result");
  t[4].shape[2] = 3;
  join_call("shape of a result");
  y->ndim = 3;
  join_call("rank of a result");
  t[4].strides[0] = 240;
  join_call("layout of a result");
  y->device.device_type = kDLCUDA;
  join_call("device of a result");
  y->data = memory;
  join_call("a result over an argument");
}

static void join_calls(void) {
  join_fits();
  join_call("join");
  printf("  %d\n", (int)rows);
  q = 9, q_given = &q;
  join_call("join with q");
  printf("  %d\n", (int)rows);
  join_dtypes();
  join_shapes();
  join_conditions();
  join_results();
}

static void layout_fits(void) {
  make(&t[0], kDLFloat, 32, 0, 2, 2, 3, 0);
  t[0].strides[0] = 8;
  make(&t[1], kDLInt, 16, 256, 2, 2, 3, 0);
  t[1].strides[0] = 1, t[1].strides[1] = 2;
  make(&t[2], kDLFloat, 64, 512, 2, 2, 3, 0);
  t[2].strides[0] = 1, t[2].strides[1] = 2;
  make(&t[3], kDLUInt, 8, 1024, 1, 5, 0, 0);
  make(&t[4], kDLBool, 8, 2048, 1, 2, 0, 0);
}

static void layout_call(const char* label, const DLTensor* mask) {
  show(label,
       dlpackgen_call_kernel_layouts(&t[0].tensor, &t[1].tensor, &t[2].tensor, &t[3].tensor, mask, NULL, message()));
  layout_fits();
}

static void layout_calls(void) {
  layout_fits();
  layout_call("layouts", NULL);
  layout_call("status of a kernel without errors", &t[4].tensor);
  t[0].strides[1] = 2;
  layout_call("inner", NULL);
  t[1].strides[0] = 3;
  layout_call("any order", NULL);
  make(&t[2], kDLFloat, 64, 512, 2, 2, 3, 0);
  layout_call("column-major", NULL);
  t[3].tensor.data = memory + 1024 + 8;
  layout_call("aligned", NULL);
  t[4].shape[0] = 3;
  layout_call("an optional argument", &t[4].tensor);
}

static void written_calls(void) {
  DLTensor *a = make(&t[0], kDLFloat, 32, 0, 1, 4, 0, 0), *b = make(&t[1], kDLFloat, 32, 64, 1, 4, 0, 0);
  DLTensor *c = make(&t[2], kDLFloat, 32, 128, 1, 4, 0, 0), *d = make(&t[3], kDLFloat, 32, 256, 2, 3, 4, 0);
  show("written", dlpackgen_call_kernel_written(a, b, c, d, NULL, message()));
  b->data = c->data;
  show("an overlap that is described", dlpackgen_call_kernel_written(a, b, c, NULL, NULL, message()));
  a->data = (char*)c->data + 12;
  show("overlap of one element", dlpackgen_call_kernel_written(a, b, c, d, NULL, message()));
  a->data = (char*)c->data + 16;
  show("neighbours", dlpackgen_call_kernel_written(a, b, c, d, NULL, message()));
  c->strides[0] = 2;
  a->data = (char*)c->data + 24;
  b->data = memory + 1024;
  show("overlap of the last element", dlpackgen_call_kernel_written(a, b, c, d, NULL, message()));
  a->data = (char*)c->data + 28;
  show("neighbours with a step", dlpackgen_call_kernel_written(a, b, c, d, NULL, message()));
  d->data = a->data;
  show("two that are written", dlpackgen_call_kernel_written(a, b, c, d, NULL, message()));
  d->shape[0] = 4;
  show("computed of an optional argument", dlpackgen_call_kernel_written(a, b, c, d, NULL, message()));
}

static int64_t sizes[3];
static double total;

static void scalars_call(const char* label, const char* mode, int64_t count, int ndim, int rows_, int columns) {
  DLTensor* z = make(&t[0], kDLFloat, 64, 0, ndim, rows_, columns, 0);
  total = 0;
  show(label, dlpackgen_call_kernel_scalars(mode, sizes, count, NULL, 0, false, 1, NULL, &total, z, NULL, message()));
}

/* The first and the last characters of each length in UTF-8, and what is none. */
static void encoded_calls(void) {
  static const char* const texts[] = {
      "\xc2\x80",         "\xdf\xbf",         "\xe0\xa0\x80",     "\xed\x9f\xbf",     "\xee\x80\x80",
      "\xef\xbf\xbf",     "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "caf\xe9",          "\x80",
      "\xc1\xbf",         "\xe0\x9f\xbf",     "\xed\xa0\x80",     "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
      "\xf5\x80\x80\x80", "\xe2\x82",         "\xe2\x82x",        "\xf0\x9f\x98 ",    "\xc3"};
  DLTensor* z = make(&t[0], kDLFloat, 64, 0, 2, 2, 3, 0);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    (void)dlpackgen_call_kernel_scalars(texts[i], sizes, 3, NULL, 0, false, 1, NULL, &total, z, NULL, message());
    const char* const found = strstr(text, "UTF-8");
    printf("  text %d: %s\n", (int)i, found ? found : "valid");
  }
}

static void scalar_failures(void) {
  DLTensor* z = make(&t[0], kDLFloat, 64, 0, 2, 1, 1, 0);
  for (int tiny = -3; tiny < 5; tiny++) {
    if (tiny == 0 || tiny == -2) continue;
    sizes[0] = 50, sizes[1] = 51, sizes[2] = 1;
    show("errors", dlpackgen_call_kernel_scalars("sum", sizes, 3, NULL, 0, false, (int8_t)tiny, NULL, &total, z, NULL,
                                                 message()));
  }
}

static void scalar_calls(void) {
  const double weights[] = {0.5, 0.25}, limit = 20;
  ((double*)memory)[5] = 3;
  DLTensor* z = make(&t[0], kDLFloat, 64, 0, 2, 2, 3, 0);
  sizes[0] = 1, sizes[1] = 3, sizes[2] = 3;
  show("scalars",
       dlpackgen_call_kernel_scalars("mean", sizes, 3, weights, 2, true, 3, &limit, &total, z, NULL, message()));
  printf("  %g %g\n", total, ((double*)memory)[5]);
  show("too few items",
       dlpackgen_call_kernel_scalars("sum", sizes, 3, weights, 1, true, 3, &limit, &total, z, NULL, message()));
  show("no items", dlpackgen_call_kernel_scalars("sum", NULL, 3, NULL, 0, true, 3, NULL, &total, z, NULL, message()));
  scalars_call("a list that is too short", "sum", 2, 2, 2, 3);
  scalars_call("no text", NULL, 3, 2, 2, 3);
  scalars_call("a text", "median", 3, 2, 2, 3);
  encoded_calls();
  sizes[0] = 5;
  scalars_call("a negative extent", "sum", 3, 2, 2, 3);
  sizes[0] = INT64_MIN, sizes[1] = 0;
  scalars_call("overflow of a condition", "sum", 3, 2, 2, 3);
  sizes[0] = INT64_C(-3037000500);
  scalars_call("overflow by one", "sum", 3, 2, 2, 3);
  sizes[0] = -1, sizes[1] = INT64_MAX;
  scalars_call("overflow of an extent", "sum", 3, 2, 2, 3);
  scalar_failures();
}

static void group_calls(void) {
  DLTensor *a = make(&t[0], kDLFloat, 32, 0, 1, 3, 0, 0), *b = make(&t[1], kDLFloat, 32, 64, 3, 2, 3, 4);
  DLTensor *c = make(&t[2], kDLInt, 8, 512, 2, 5, 2, 0), *d = make(&t[3], kDLInt, 8, 600, 1, 5, 0, 0);
  DLTensor* made = make(&t[4], kDLInt, 8, 1024, 3, 4, 5, 2);
  show("groups", dlpackgen_call_kernel_groups(a, b, c, d, made, NULL, message()));
  show("a group of None", dlpackgen_call_kernel_groups(a, b, NULL, d, made, NULL, message()));
  t[0].shape[0] = 4;
  show("another extent in a group", dlpackgen_call_kernel_groups(a, b, c, d, made, NULL, message()));
  a->ndim = 0;
  show("less dimensions in a group", dlpackgen_call_kernel_groups(a, b, c, d, made, NULL, message()));
  make(&t[0], kDLFloat, 32, 0, 1, 3, 0, 0);
  t[2].shape[0] = 4;
  show("a group with a name", dlpackgen_call_kernel_groups(a, b, c, d, made, NULL, message()));
  make(&t[3], kDLInt, 8, 600, 63, 1, 1, 1);
  show("as many dimensions as there is room for", dlpackgen_call_kernel_groups(a, b, NULL, d, made, NULL, message()));
}

/* Rounds down, by another method than the checks. */
static int64_t lower(int64_t a, int64_t b) {
  int64_t quotient = 0;
  if (b < 0) a = -a, b = -b;
  for (; a < 0; a += b) quotient--;
  for (; a >= b; a -= b) quotient++;
  return quotient;
}

static void divide_calls(void) {
  int failures = 0;
  for (int64_t a = -7; a <= 7; a++)
    for (int64_t b = -3; b <= 3; b++)
      if (b) failures += 0 != dlpackgen_call_kernel_divide(a, b, lower(a, b), a - b * lower(a, b), NULL, message());
  show("divide", failures);
  show("by zero", dlpackgen_call_kernel_divide(3, 0, 0, 0, NULL, message()));
  show("a wrong quotient", dlpackgen_call_kernel_divide(-3, 2, -1, -1, NULL, message()));
  show("the least by -1", dlpackgen_call_kernel_divide(INT64_MIN, -1, 0, 0, NULL, message()));
  show("the largest sum", dlpackgen_call_kernel_divide(INT64_MAX, INT64_MAX, 1, 0, NULL, message()));
  show("a sum beyond", dlpackgen_call_kernel_divide(INT64_MIN, INT64_MIN + 1, 1, -1, NULL, message()));
  show("the sign of the least", dlpackgen_call_kernel_divide(INT64_MIN, 1, INT64_MIN, 0, NULL, message()));
}

static void device_calls(void) {
  DLTensor *a = make(&t[0], kDLFloat, 32, 0, 1, 4, 0, 0), *b = make(&t[1], kDLFloat, 32, 64, 1, 4, 0, 0);
  DLTensor* host = make(&t[2], kDLFloat, 32, 128, 1, 4, 0, 0);
  int stream = 0;
  show("the CPU's function", dlpackgen_call_kernel_devices(a, b, host, NULL, message()));
  a->device.device_type = b->device.device_type = kDLCUDA;
  show("CUDA's function", dlpackgen_call_kernel_devices(a, b, host, &stream, message()));
  b->device.device_id = 1;
  show("two devices", dlpackgen_call_kernel_devices(a, b, host, NULL, message()));
  b->device.device_type = kDLCPU;
  show("CPU and device", dlpackgen_call_kernel_devices(b, a, host, NULL, message()));
  host->device.device_type = kDLCUDA;
  show("not on the CPU", dlpackgen_call_kernel_devices(a, a, host, NULL, message()));
  a->device.device_type = b->device.device_type = kDLROCM;
  a->device.device_id = b->device.device_id = 0;
  host->device.device_type = kDLCPU;
  show("neither", dlpackgen_call_kernel_devices(a, b, host, NULL, message()));
}

static void usual_fits(void) {
  make(&t[0], kDLFloat, 32, 0, 3, 2, 3, 4);
  make(&t[1], kDLFloat, 32, 256, 2, 4, 4, 0);
  make(&t[2], kDLFloat, 32, 512, 3, 2, 3, 4);
  make(&t[3], kDLFloat, 32, 1024, 1, 4, 0, 0);
  make(&t[4], kDLFloat, 32, 2048, 3, 2, 3, 2);
}

static void usual_call(const char* label, uint64_t flags, const DLTensor* third) {
  struct dlpackgen_kernel_usual call;
  memset(&call, 0, sizeof call);
  call.args.x = &t[0].tensor;
  call.args.w = &t[1].tensor;
  call.args.y = &t[2].tensor;
  call.args.bias = third;
  call.flags.y = flags;
  const int status = dlpackgen_check_kernel_usual(&call, message());
  show(label, status);
  if (!status) {
    printf("  n = %d, type %d, result of %d dimensions:", (int)call.dims.n, call.types.T, (int)call.results.made.ndim);
    for (int32_t d = 0; d < call.results.made.ndim; d++) printf(" %d", (int)call.results.made.shape[d]);
    printf("\n");
  }
  usual_fits();
}

static void usual_calls(void) {
  const DLTensor* const bias_ = &t[3].tensor;
  usual_fits();
  usual_call("usual", 0, bias_);
  usual_call("usual, without what may be None", 0, NULL);
  usual_call("usual, read-only", DLPACK_FLAG_BITMASK_READ_ONLY, bias_);
  t[0].strides[1] = 5;
  usual_call("usual, strided", 0, bias_);
  t[0].tensor.device.device_type = kDLCUDA;
  usual_call("usual, device", 0, bias_);
  t[1].shape[1] = 5, t[1].strides[0] = 5;
  usual_call("usual, number", 0, bias_);
  t[3].shape[0] = 5;
  usual_call("usual, symbol", 0, bias_);
  t[2].shape[0] = 1;
  usual_call("usual, group", 0, bias_);
  make(&t[2], kDLFloat, 32, 512, 2, 3, 4, 0);
  usual_call("usual, less dimensions", 0, bias_);
  make(&t[0], kDLFloat, 32, 0, 3, 2, 4, 4);
  make(&t[2], kDLFloat, 32, 512, 2, 2, 4, 0);
  usual_call("usual, the first dimensions of a group", 0, bias_);
  make(&t[3], kDLFloat, 32, 1024, 2, 4, 1, 0);
  usual_call("usual, more dimensions", 0, bias_);
  make(&t[2], kDLFloat, 64, 512, 3, 2, 3, 4);
  usual_call("usual, another dtype", 0, bias_);
  make(&t[0], kDLInt, 32, 0, 3, 2, 3, 4);
  usual_call("usual, no such dtype", 0, bias_);
  t[2].tensor.data = memory + 92;
  usual_call("usual, overlap of one element", 0, bias_);
  t[2].tensor.data = memory + 96;
  usual_call("usual, neighbours", 0, bias_);
  t[0].tensor.byte_offset = 2;
  usual_call("usual, misaligned", 0, bias_);
  t[0].tensor.byte_offset = UINT64_MAX - 15;
  usual_call("usual, an offset that wraps around", 0, bias_);
  t[0].tensor.data = NULL;
  usual_call("usual, no memory", 0, bias_);
  t[0].tensor.ndim = 0;
  usual_call("usual, rank", 0, bias_);
  t[0].tensor.strides = NULL;
  usual_call("usual, no strides", 0, bias_);
  t[0].shape[0] = t[2].shape[0] = 0;
  usual_call("usual, without elements", 0, bias_);
  t[0].shape[0] = t[2].shape[0] = INT64_C(1) << 62;
  t[0].strides[0] = t[2].strides[0] = 12;
  usual_call("usual, too large", 0, bias_);
}

static void alone_calls(void) {
  DLTensor* r = make(&t[0], kDLInt, 64, 0, 1, 3, 0, 0);
  show("alone", dlpackgen_call_kernel_alone(r, NULL, message()));
  printf("  %d\n", (int)((int64_t*)memory)[2]);
  r->shape[0] = 2;
  show("result of a kernel without arguments", dlpackgen_call_kernel_alone(r, NULL, message()));
}

static void packed_calls(void) {
  struct dlpackgen_kernel_packed call;
  memset(&call, 0, sizeof call);
  call.args.x = make(&t[0], kDLFloat4_e2m1fn, 4, 0, 1, 5, 0, 0);
  show("packed", dlpackgen_check_kernel_packed(&call, message()));
  call.flags.x = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  show("padded", dlpackgen_check_kernel_packed(&call, message()));
}

int main(void) {
  scale_calls();
  join_calls();
  layout_calls();
  written_calls();
  scalar_calls();
  group_calls();
  divide_calls();
  device_calls();
  usual_calls();
  alone_calls();
  packed_calls();
  return 0;
}
