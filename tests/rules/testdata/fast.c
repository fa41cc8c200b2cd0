/* The fast checks of C. Their descriptions meet the conditions that the generator and
 * dlpackgen_check_description() enforce: valid dtypes and device types. */
#include "measure.h"

#include <dlpackgen/checker.h>
#include <kernels.c>

int checked(const DLTensor* x, void* stream) { return !x || stream; }

/* Calls with a table. */
static int64_t tensor_fits(const DLTensor* t, uint64_t flags, int leading_dims) {
  char room[256];
  struct dlpackgen_message message = dlpackgen_message_in(room, sizeof room);
  struct dlpackgen_parameter parameter = {.name = "x", .leading_dims = (uint8_t)leading_dims};
  const struct dlpackgen_function function = {"f", &parameter, 1, 0, {0}};
  if (t->ndim < leading_dims || t->ndim > DLPACKGEN_MAX_NDIM || (t->ndim && (!t->shape || !t->strides))) return 0;
  parameter.ndim = (uint8_t)(t->ndim - leading_dims);
  parameter.dtypes[0] = dlpackgen_dtype_of(t);
  if (!parameter.dtypes[0] || dlpackgen_check_description(&function, &message)) return 0;
  return dlpackgen_tensor_fits(&parameter, 0, t, flags, (struct dlpackgen_bindings){NULL, NULL});
}

/* Described kernels: on the device of the first tensor, which their list of devices contains. */
static int64_t is_usual(const DLTensor* t, uint64_t flags, int more) {
  const int32_t type = (int32_t)t->device.device_type;
  DLDevice place;
  uint64_t bytes;
  if (t->ndim < more || t->ndim > DLPACKGEN_MAX_NDIM + more || !dlpackgen_device_type_name(type)) return 0;
  if (!dlpackgen_dtype_name(dlpackgen_dtype_of(t)) || t->dtype.bits % 8 || t->dtype.lanes != 1) return 0;
  return dlpackgen_finds_place(t, &type, 1, &place) &&
         dlpackgen_is_usual(t, place, flags, 0, t->ndim - more, more, &bytes);
}

/* A whole check, which falls back on the rules. */
static int64_t check_kernel(const DLTensor* t, uint64_t flags) {
  char room[256];
  struct dlpackgen_message message = dlpackgen_message_in(room, sizeof room);
  struct dlpackgen_kernel_checked call = {.args = {.x = t}, .flags = {.x = flags}};
  return dlpackgen_check_kernel_checked(&call, &message) == DLPACKGEN_STATUS_OK;
}

/* Returns a bit for each check that accepts the tensor, in the order of fastChecks in
 * fast_test.go. */
int64_t accepting(const DLManagedTensorVersioned* m) {
  const DLTensor* t = &m->dl_tensor;
  return tensor_fits(t, m->flags, 0) | tensor_fits(t, m->flags, 1) << 1 | is_usual(t, m->flags, 0) << 2 |
         is_usual(t, m->flags, 1) << 3 | check_kernel(t, m->flags) << 4;
}
