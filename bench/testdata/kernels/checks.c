/* Checks the arguments of calls, with straight-line code generated from the description and with an
 * interpreted table. `checks lines CALL N` and `checks table CALL N` check a call N times, so that
 * instructions can be counted. `checks time ROUNDS` times both in turn, and prints the name of each
 * call with both times. `checks list` prints the names. */
#include <dlpackgen/checker.h>
#include <kernels.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int bench_vectors(const DLTensor* a, const DLTensor* b, const DLTensor* c, void* stream) {
  return !a || !b || !c || stream;
}

int bench_strided(const DLTensor* a, const DLTensor* b, const DLTensor* c, void* stream) {
  return !a || !b || !c || stream;
}

int bench_scalars(const DLTensor* a, const DLTensor* b, const DLTensor* c, double alpha, int64_t k, void* stream) {
  return !a || !b || !c || stream || alpha > (double)k;
}

#define VECTOR(its_name)                                                                           \
  {                                                                                                \
    .name = its_name, .ndim = 1, .dtypes = {DLPACKGEN_DTYPE_FLOAT32}, .shape = {DLPACKGEN_DIM(0)}, \
    .layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS, .devices = {                                          \
      kDLCPU                                                                                       \
    }                                                                                              \
  }
#define MATRIX(its_name)                                                                                             \
  {                                                                                                                  \
    .name = its_name, .ndim = 2, .dtypes = {DLPACKGEN_DTYPE_FLOAT32}, .shape = {DLPACKGEN_DIM(0), DLPACKGEN_DIM(1)}, \
    .layout = DLPACKGEN_LAYOUT_ANY, .devices = {                                                                     \
      kDLCPU                                                                                                         \
    }                                                                                                                \
  }

static const struct dlpackgen_parameter of_vectors[] = {VECTOR("a"), VECTOR("b"), VECTOR("c")};
static const struct dlpackgen_parameter of_strided[] = {MATRIX("a"), MATRIX("b"), MATRIX("c")};
static const struct dlpackgen_parameter of_scalars[] = {VECTOR("a"),
                                                        VECTOR("b"),
                                                        VECTOR("c"),
                                                        {.name = "alpha", .kind = DLPACKGEN_KIND_FLOAT},
                                                        {.name = "k", .kind = DLPACKGEN_KIND_INT}};

static const struct dlpackgen_function functions[] = {
    {DLPACKGEN_FUNCTION("vectors", of_vectors), .dim_names = {"n"}},
    {DLPACKGEN_FUNCTION("strided", of_strided), .dim_names = {"m", "n"}},
    {DLPACKGEN_FUNCTION("scalars", of_scalars), .dim_names = {"n"}}};

static float memory[3][16];
static int64_t extent[] = {16}, step[] = {1}, other_extent[] = {15};
static int64_t extents[] = {4, 4}, transposed[] = {1, 4}, other_extents[] = {4, 3};
static DLTensor tensors[3];

#define BY_LINES(name)                                            \
  static int name##_by_lines(struct dlpackgen_message* message) { \
    struct dlpackgen_kernel_##name call;                          \
    memset(&call.args, 0, sizeof call.args);                      \
    call.args.a = &tensors[0];                                    \
    call.args.b = &tensors[1];                                    \
    call.args.c = &tensors[2];                                    \
    call.flags.a = call.flags.b = call.flags.c = 0;               \
    return dlpackgen_check_kernel_##name(&call, message);         \
  }
BY_LINES(vectors)
BY_LINES(strided)
BY_LINES(scalars)

static const struct call {
  const char* name;
  int (*by_lines)(struct dlpackgen_message* message);
  const struct dlpackgen_function* function;
  int32_t ndim;
  int64_t *shape, *strides, *last; /* the shape of the last argument */
} calls[] = {
    {"vectors", vectors_by_lines, &functions[0], 1, extent, step, extent},
    {"strided", strided_by_lines, &functions[1], 2, extents, transposed, extents},
    {"scalars", scalars_by_lines, &functions[2], 1, extent, step, extent},
    {"vectors-fails", vectors_by_lines, &functions[0], 1, extent, step, other_extent},
    {"strided-fails", strided_by_lines, &functions[1], 2, extents, transposed, other_extents},
    {"scalars-fails", scalars_by_lines, &functions[2], 1, extent, step, other_extent},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* Like the Python base: a fast check for each argument, and the full checks if it fails. */
static int by_table(const struct dlpackgen_function* function, struct dlpackgen_message* message) {
  const DLTensor* const all[5] = {&tensors[0], &tensors[1], &tensors[2]};
  const uint64_t flags[5] = {0};
  int64_t values[DLPACKGEN_MAX_DIMS];
  uint8_t bound[DLPACKGEN_MAX_DIMS] = {0};
  const struct dlpackgen_bindings to = {values, bound};
  int fits = 1;
  for (int i = 0; i < function->nparameters && fits; i++)
    if (function->parameters[i].kind == DLPACKGEN_KIND_TENSOR)
      fits = dlpackgen_tensor_fits(&function->parameters[i], i, all[i], 0, to);
  return fits ? 0 : dlpackgen_check_arguments(function, all, flags, values, message);
}

/* Checks a call the given number of times. Returns the nanoseconds per call, or -1 if the outcome
 * is not the expected one. */
static double check(const struct call* call, int lines, long count, char* room) {
  struct timespec begin, end;
  int wrong = 0;
  for (int i = 0; i < 3; i++) {
    const DLTensor made = {memory[i], {kDLCPU, 0}, call->ndim, {kDLFloat, 32, 1}, call->shape, call->strides, 0};
    tensors[i] = made;
  }
  tensors[2].shape = call->last;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (long left = count; left > 0; left--) {
    struct dlpackgen_message message = dlpackgen_message_in(room, 300);
    const int status = lines ? call->by_lines(&message) : by_table(call->function, &message);
    wrong |= (status != 0) != (call->last != call->shape);
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (wrong) return -1;
  return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)count;
}

/* Times each call in both ways in turn. The messages must be equal. */
static int timed(long rounds) {
  char by_lines[300], by_table[300];
  for (long round = 0; round < rounds; round++)
    for (int i = 0; i < CALLS; i++) {
      by_lines[0] = by_table[0] = 0;
      const double lines = check(&calls[i], 1, 5000, by_lines), table = check(&calls[i], 0, 5000, by_table);
      if (lines < 0 || table < 0 || strcmp(by_lines, by_table)) {
        fprintf(stderr, "%s: \"%s\", \"%s\"\n", calls[i].name, by_lines, by_table);
        return 1;
      }
      printf("%s %g %g\n", calls[i].name, lines, table);
    }
  return 0;
}

int main(int count, char** words) {
  char room[300];
  if (count == 3 && !strcmp(words[1], "time")) return timed(atol(words[2]));
  if (count == 2)
    for (int i = 0; i < CALLS; i++) puts(calls[i].name);
  if (count != 4) return count != 2;
  for (int i = 0; i < CALLS; i++)
    if (!strcmp(calls[i].name, words[2])) return check(&calls[i], !strcmp(words[1], "lines"), atol(words[3]), room) < 0;
  return 1;
}
