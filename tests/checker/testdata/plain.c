/* Calls the checker without a host: prints the status and message of each mistake, after writing
 * the message to buffers of all sizes. */
#include <dlpackgen/checker.h>
#include <dlpackgen/scalar.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 300, GUARD = 0x5a };

static double memory[128];

static struct dlpackgen_parameter parameter(const char* name, int rank, int64_t first, int64_t second) {
  struct dlpackgen_parameter p;
  memset(&p, 0, sizeof p);
  p.name = name;
  p.ndim = (uint8_t)rank;
  p.shape[0] = first;
  p.shape[1] = second;
  return p;
}

static struct dlpackgen_parameter any(const char* name) {
  struct dlpackgen_parameter p = parameter(name, 0, 0, 0);
  p.leading_dims = 1;
  p.devices[0] = DLPACKGEN_ANY_DEVICE;
  return p;
}

static struct dlpackgen_function function(const struct dlpackgen_parameter* parameters, int count) {
  struct dlpackgen_function f;
  memset(&f, 0, sizeof f);
  f.name = "add";
  f.parameters = parameters;
  f.nparameters = (uint8_t)count;
  f.dim_names[0] = "n";
  return f;
}

/* A tensor with separate shape and strides. */
struct made {
  int64_t shape[70], strides[70];
  DLTensor tensor;
};

static DLTensor* make(struct made* made, uint32_t dtype, int ndim, int64_t first, int64_t second) {
  memset(made, 0, sizeof *made);
  made->shape[0] = first;
  made->shape[1] = second;
  made->strides[0] = ndim > 1 ? second : 1;
  made->strides[1] = 1;
  made->tensor.data = memory;
  made->tensor.device.device_type = kDLCPU;
  made->tensor.ndim = ndim;
  made->tensor.dtype.code = (uint8_t)dtype;
  made->tensor.dtype.bits = (uint8_t)(dtype >> 8);
  made->tensor.dtype.lanes = (uint16_t)(dtype >> 16);
  made->tensor.shape = made->shape;
  made->tensor.strides = made->strides;
  return &made->tensor;
}

/* Checks up to two arguments by a table. */
static int by_table(const struct dlpackgen_parameter* parameters, int count, const DLTensor* x, const DLTensor* y,
                    uint64_t flags, struct dlpackgen_message* message) {
  const struct dlpackgen_function f = function(parameters, count);
  const DLTensor* tensors[2];
  uint64_t all[2];
  int64_t extents[DLPACKGEN_MAX_DIMS];
  const int unsound = dlpackgen_check_description(&f, message);
  tensors[0] = x;
  tensors[1] = y;
  all[0] = all[1] = flags;
  return unsound ? unsound : dlpackgen_check_arguments(&f, tensors, all, extents, message);
}

static int one(struct dlpackgen_parameter p, const DLTensor* x, uint64_t flags, struct dlpackgen_message* message) {
  return by_table(&p, 1, x, NULL, flags, message);
}

static int symbols(struct dlpackgen_message* message) {
  struct dlpackgen_parameter p[2];
  struct made x, y;
  p[0] = parameter("x", 1, DLPACKGEN_DIM(0), 0);
  p[1] = parameter("y", 1, DLPACKGEN_DIM(0), 0);
  return by_table(p, 2, make(&x, DLPACKGEN_DTYPE_FLOAT32, 1, 3, 0), make(&y, DLPACKGEN_DTYPE_FLOAT32, 1, 4, 0), 0,
                  message);
}

/* The same as generated code without a table. */
static int straight_line(struct dlpackgen_message* message) {
  static const struct dlpackgen_site at_x = {"add", "x", 0}, at_y = {"add", "y", 1};
  static const uint32_t dtypes[] = {DLPACKGEN_DTYPE_FLOAT32};
  struct made made[2];
  const DLTensor* const x = make(&made[0], DLPACKGEN_DTYPE_FLOAT32, 1, 3, 0);
  const DLTensor* const y = make(&made[1], DLPACKGEN_DTYPE_FLOAT32, 1, 4, 0);
  int status = dlpackgen_check_valid(&at_x, x, 0, message);
  if (!status) status = dlpackgen_check_dtype(&at_x, x, dtypes, 1, message);
  if (!status) status = dlpackgen_check_rank(&at_x, x, 1, 0, message);
  const int64_t n = x->shape[0];
  if (!status) status = dlpackgen_check_valid(&at_y, y, 0, message);
  if (!status) status = dlpackgen_check_same_dtype(&at_y, y, &at_x, x, message);
  if (!status) status = dlpackgen_check_rank(&at_y, y, 1, 0, message);
  if (!status) status = dlpackgen_check_symbol(&at_y, y, 0, "n", n, &at_x, message);
  return status;
}

static int unnamed_symbol(struct dlpackgen_message* message) {
  struct made x;
  return one(parameter("x", 2, DLPACKGEN_DIM(3), DLPACKGEN_DIM(3)), make(&x, DLPACKGEN_DTYPE_FLOAT32, 2, 2, 3), 0,
             message);
}

static int number(struct dlpackgen_message* message) {
  struct made x;
  return one(parameter("x", 2, DLPACKGEN_ANY, 4), make(&x, DLPACKGEN_DTYPE_FLOAT32, 2, 2, 3), 0, message);
}

static int rank(struct dlpackgen_message* message) {
  struct made x;
  return one(parameter("x", 2, DLPACKGEN_ANY, DLPACKGEN_ANY), make(&x, DLPACKGEN_DTYPE_FLOAT32, 1, 2, 0), 0, message);
}

static int least_rank(struct dlpackgen_message* message) {
  struct made x;
  struct dlpackgen_parameter p = parameter("x", 1, DLPACKGEN_ANY, 0);
  p.leading_dims = 1;
  return one(p, make(&x, DLPACKGEN_DTYPE_FLOAT32, 0, 0, 0), 0, message);
}

static int dtype(struct dlpackgen_message* message) {
  struct made x;
  struct dlpackgen_parameter p = any("x");
  p.dtypes[0] = DLPACKGEN_DTYPE_FLOAT32;
  p.dtypes[1] = DLPACKGEN_DTYPE_FLOAT64;
  p.dtypes[2] = DLPACKGEN_DTYPE(kDLFloat, 32, 4);
  return one(p, make(&x, DLPACKGEN_DTYPE(kDLInt, 24, 1), 0, 0, 0), 0, message);
}

static int same_dtype(struct dlpackgen_message* message) {
  struct dlpackgen_parameter p[2];
  struct made x, y;
  p[0] = any("x");
  p[1] = any("y");
  p[1].same_dtype_as = DLPACKGEN_PARAM(0);
  return by_table(p, 2, make(&x, DLPACKGEN_DTYPE_INT32, 1, 3, 0), make(&y, DLPACKGEN_DTYPE_FLOAT32, 1, 3, 0), 0,
                  message);
}

static int same_shape(struct dlpackgen_message* message) {
  struct dlpackgen_parameter p[2];
  struct made x, y;
  p[0] = any("x");
  p[1] = any("y");
  p[1].same_shape_as = DLPACKGEN_PARAM(0);
  return by_table(p, 2, make(&x, DLPACKGEN_DTYPE_INT32, 0, 0, 0), make(&y, DLPACKGEN_DTYPE_INT32, 1, 3, 0), 0, message);
}

static int layout(struct dlpackgen_message* message) {
  struct made x;
  struct dlpackgen_parameter p = any("x");
  p.layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS;
  make(&x, DLPACKGEN_DTYPE_FLOAT32, 2, 2, 3);
  x.strides[0] = 1;
  x.strides[1] = 2;
  return one(p, &x.tensor, 0, message);
}

static int overlap(struct dlpackgen_message* message) {
  struct made x;
  struct dlpackgen_parameter p = any("x");
  p.writable = 1;
  make(&x, DLPACKGEN_DTYPE_FLOAT32, 2, 2, 3)->strides[0] = 0;
  return one(p, &x.tensor, 0, message);
}

static int read_only(struct dlpackgen_message* message) {
  struct made x;
  struct dlpackgen_parameter p = any("x");
  p.writable = 1;
  return one(p, make(&x, DLPACKGEN_DTYPE_FLOAT32, 1, 3, 0), DLPACK_FLAG_BITMASK_READ_ONLY, message);
}

static int served(struct dlpackgen_message* message) {
  struct made x;
  struct dlpackgen_parameter p = any("x");
  p.devices[0] = kDLCPU;
  p.devices[1] = kDLCUDA;
  p.devices[2] = 77;
  make(&x, DLPACKGEN_DTYPE_FLOAT32, 1, 3, 0)->device.device_type = kDLMetal;
  return one(p, &x.tensor, 0, message);
}

static int devices(struct dlpackgen_message* message) {
  struct dlpackgen_parameter p[2];
  struct made x, y;
  p[0] = any("x");
  p[1] = any("y");
  make(&x, DLPACKGEN_DTYPE_FLOAT32, 1, 3, 0);
  make(&y, DLPACKGEN_DTYPE_FLOAT32, 1, 3, 0)->device.device_type = kDLCUDA;
  y.tensor.device.device_id = -1;
  return by_table(p, 2, &x.tensor, &y.tensor, 0, message);
}

static int memory_is_missing(struct dlpackgen_message* message) {
  static const struct dlpackgen_site at = {"add", "x", 10};
  struct made x;
  make(&x, DLPACKGEN_DTYPE_FLOAT32, 1, 3, 0)->data = NULL;
  return dlpackgen_check_memory(&at, &x.tensor, message);
}

static int alignment(struct dlpackgen_message* message) {
  struct made x;
  make(&x, DLPACKGEN_DTYPE_FLOAT64, 1, 3, 0)->data = (void*)(uintptr_t)0x7fab01;
  x.tensor.byte_offset = 3;
  return one(any("x"), &x.tensor, 0, message);
}

static int invalid(struct dlpackgen_message* message) {
  struct made x;
  make(&x, DLPACKGEN_DTYPE_FLOAT32, 1, -3, 0);
  return one(any("x"), &x.tensor, 0, message);
}

static int dimensions(struct dlpackgen_message* message) {
  struct made x;
  make(&x, DLPACKGEN_DTYPE_FLOAT32, 65, 1, 1);
  return one(any("x"), &x.tensor, 0, message);
}

/* A check that needs the host: a scalar of another kind. */
static int scalar(struct dlpackgen_message* message) {
  const struct dlpackgen_site at = {"add", "n", 1};
  return dlpackgen_bad_kind(&at, DLPACKGEN_KIND_INT, "str", message);
}

static int scalar_left_out(struct dlpackgen_message* message) {
  const struct dlpackgen_site at = {"add", "on", 2};
  return dlpackgen_bad_kind(&at, DLPACKGEN_KIND_BOOL, "None", message);
}

static int missing(struct dlpackgen_message* message) { return one(any("x"), NULL, 0, message); }

static int optional(struct dlpackgen_message* message) {
  struct dlpackgen_parameter p = any("x");
  p.optional = 1;
  return one(p, NULL, 0, message);
}

/* Names may contain any characters, which the end of a buffer must not split. */
static int names(struct dlpackgen_message* message) {
  struct made x;
  return one(parameter("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 1, DLPACKGEN_ANY, 0),
             make(&x, DLPACKGEN_DTYPE_FLOAT32, 0, 0, 0), 0, message);
}

static int fine(struct dlpackgen_message* message) {
  struct dlpackgen_parameter p[2];
  struct made x, y;
  p[0] = parameter("x", 2, 2, DLPACKGEN_DIM(0));
  p[1] = any("y");
  p[1].same_dtype_as = p[1].same_shape_as = DLPACKGEN_PARAM(0);
  p[1].writable = 1;
  p[1].devices[0] = 0;
  return by_table(p, 2, make(&x, DLPACKGEN_DTYPE_FLOAT32, 2, 2, 3), make(&y, DLPACKGEN_DTYPE_FLOAT32, 2, 2, 3), 0,
                  message);
}

static int described(struct dlpackgen_message* message) {
  return one(parameter("x", 1, DLPACKGEN_DIM(8), 0), NULL, 0, message);
}

/* The numbers next to each limit of a dtype. */
static int integers(DLDataType dtype, struct dlpackgen_message* message) {
  static const int64_t numbers[] = {INT64_MIN, -129, -128, -1, 0, 1, 2, 127, 128, 255, 256, INT64_MAX};
  dlpackgen_put_out_of_range(message, dtype);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (dlpackgen_represents_integer(dtype, numbers[i])) continue;
    dlpackgen_put_integer(message, numbers[i]);
    dlpackgen_put(message, " ");
  }
  return 0;
}

static int reals(DLDataType dtype, struct dlpackgen_message* message) {
  const double numbers[] = {0.0,     65504.0, -65504.0, 65505.0,     -65505.0, 0x1.fep127, 0x1.ff8p127, 0x1.fffffep127,
                            -1.0e39, 1.0e39,  INFINITY, -1.7976e308, NAN};
  dlpackgen_put_out_of_range(message, dtype);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (dlpackgen_represents_real(dtype, numbers[i])) continue;
    dlpackgen_put_real(message, numbers[i]);
    dlpackgen_put(message, " ");
  }
  return 0;
}

static DLDataType type(DLDataTypeCode code, int bits) {
  DLDataType dtype = {(uint8_t)code, (uint8_t)bits, 1};
  return dtype;
}

static int of_bool(struct dlpackgen_message* message) { return integers(type(kDLBool, 8), message); }
static int of_int8(struct dlpackgen_message* message) { return integers(type(kDLInt, 8), message); }
static int of_uint8(struct dlpackgen_message* message) { return integers(type(kDLUInt, 8), message); }
static int of_int64(struct dlpackgen_message* message) { return integers(type(kDLInt, 64), message); }
static int of_uint64(struct dlpackgen_message* message) { return integers(type(kDLUInt, 64), message); }
static int of_float16(struct dlpackgen_message* message) { return reals(type(kDLFloat, 16), message); }
static int of_bfloat16(struct dlpackgen_message* message) { return reals(type(kDLBfloat, 16), message); }
static int of_float32(struct dlpackgen_message* message) { return reals(type(kDLFloat, 32), message); }
static int of_float64(struct dlpackgen_message* message) { return reals(type(kDLFloat, 64), message); }

/* In Python's format. */
static int digits(struct dlpackgen_message* message) {
  static const double numbers[] = {0.1, -2.5, 1e15, 1e16, 123456789.0, 0.0001, 0.00001, 1.0 / 3};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    dlpackgen_put_real(message, numbers[i]);
    dlpackgen_put(message, " ");
  }
  return 0;
}

static const struct mistake {
  const char* name;
  int (*check)(struct dlpackgen_message* message);
} mistakes[] = {
    {"symbols", symbols},
    {"straight line", straight_line},
    {"unnamed symbol", unnamed_symbol},
    {"number", number},
    {"rank", rank},
    {"least rank", least_rank},
    {"dtype", dtype},
    {"same dtype", same_dtype},
    {"same shape", same_shape},
    {"layout", layout},
    {"overlap", overlap},
    {"read-only", read_only},
    {"served", served},
    {"devices", devices},
    {"no memory", memory_is_missing},
    {"alignment", alignment},
    {"invalid", invalid},
    {"dimensions", dimensions},
    {"scalar", scalar},
    {"scalar left out", scalar_left_out},
    {"missing", missing},
    {"optional", optional},
    {"names", names},
    {"fine", fine},
    {"described", described},
    {"bool", of_bool},
    {"int8", of_int8},
    {"uint8", of_uint8},
    {"int64", of_int64},
    {"uint64", of_uint64},
    {"float16", of_float16},
    {"bfloat16", of_bfloat16},
    {"float32", of_float32},
    {"float64", of_float64},
    {"digits", digits},
};

static void must(int so, const char* what, const char* name, size_t size) {
  if (so) return;
  printf("not so: %s: %s in a buffer of %zu\n", what, name, size);
  exit(1);
}

/* Writes a message to a buffer of some size; whole has the full text. */
static void hold(const struct mistake* mistake, size_t size, const struct dlpackgen_message* whole, int status) {
  char* const room = (char*)malloc(size ? size : 1); /* AddressSanitizer checks its bounds */
  if (!room) exit(2);
  memset(room, GUARD, size ? size : 1);
  struct dlpackgen_message text = dlpackgen_message_in(size ? room : NULL, size);
  must(mistake->check(&text) == status, "the status differs", mistake->name, size);
  must(text.length == whole->length, "the length differs", mistake->name, size);
  if (size) {
    const size_t length = strlen(room);
    const unsigned char next = (unsigned char)whole->text[length];
    must(memcmp(room, whole->text, length) == 0, "the text differs", mistake->name, size);
    must(length + 4 >= size || length == whole->length, "the text is cut too early", mistake->name, size);
    must((next & 0xc0) != 0x80, "a character is divided", mistake->name, size);
  }
  free(room);
}

int main(void) {
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    char room[ROOM + 1];
    struct dlpackgen_message whole = dlpackgen_message_in(room, sizeof room);
    const int status = mistakes[i].check(&whole);
    must(whole.length < sizeof room, "the text is too long for this test", mistakes[i].name, sizeof room);
    for (size_t size = 0; size <= ROOM; size++) hold(&mistakes[i], size, &whole, status);
    printf("%s: %d %s\n", mistakes[i].name, status, room);
  }
  return 0;
}
