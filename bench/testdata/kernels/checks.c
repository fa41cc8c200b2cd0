/* Checks three vectors so many times: `checks lines N` by the lines that the description became,
 * `checks table N` by a table that is interpreted. The instructions of both are counted. */
#include <dlpackgen/checker.h>
#include <kernels.h>
#include <stdio.h>
#include <stdlib.h>

#define VECTOR(its_name)                                                                           \
  {                                                                                                \
    .name = its_name, .ndim = 1, .dtypes = {DLPACKGEN_DTYPE_FLOAT32}, .shape = {DLPACKGEN_DIM(0)}, \
    .layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS, .devices = {                                          \
      kDLCPU                                                                                       \
    }                                                                                              \
  }

static const struct dlpackgen_parameter vectors[] = {VECTOR("a"), VECTOR("b"), VECTOR("c")};
static const struct dlpackgen_function function = {
    .name = "nop", .parameters = vectors, .nparameters = 3, .dim_names = {"n"}};

static float memory[3][16];
static int64_t shape[] = {16}, strides[] = {1};
static DLTensor tensors[3];

static int by_lines(struct dlpackgen_message* message) {
  struct dlpackgen_kernel_nop call;
  call.args.a = &tensors[0];
  call.args.b = &tensors[1];
  call.args.c = &tensors[2];
  call.flags.a = call.flags.b = call.flags.c = 0;
  return dlpackgen_check_kernel_nop(&call, message);
}

/* As the base of Python does it: each in one pass, and all in full where one does not fit. */
static int by_table(struct dlpackgen_message* message) {
  const DLTensor* const all[] = {&tensors[0], &tensors[1], &tensors[2]};
  const uint64_t flags[3] = {0, 0, 0};
  int64_t extents[DLPACKGEN_MAX_DIMS];
  uint8_t bound[DLPACKGEN_MAX_DIMS] = {0};
  const struct dlpackgen_bindings to = {extents, bound};
  int fits = 1;
  for (int i = 0; i < 3 && fits; i++) fits = dlpackgen_tensor_fits(&vectors[i], i, all[i], 0, to);
  return fits ? 0 : dlpackgen_check_arguments(&function, all, flags, extents, message);
}

int main(int count, char** words) {
  char room[300];
  struct dlpackgen_message message = dlpackgen_message_in(room, sizeof room);
  if (count != 3) return 2;
  int (*const check)(struct dlpackgen_message*) = strcmp(words[1], "lines") ? by_table : by_lines;
  for (int i = 0; i < 3; i++) {
    const DLTensor made = {memory[i], {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, strides, 0};
    tensors[i] = made;
  }
  for (long left = atol(words[2]); left > 0; left--)
    if (check(&message)) {
      fprintf(stderr, "%s\n", room);
      return 1;
    }
  shape[0] = 15;
  tensors[2].ndim = 2;
  if (check(&message)) return 0;
  fprintf(stderr, "nothing was checked\n");
  return 1;
}
