/* A program from before 1.0, with only the unversioned struct. Valid C89 (except for its
 * declarations' types), C++98 and all later versions. */
#include <dlpack/dlpack.h>
#include <stdio.h>

static int16_t cells[4] = {1, 2, 3, 4};
static int64_t shape[2] = {2, 2};
static int released;

static void release(DLManagedTensor* self) { released = self->manager_ctx == cells; }

static long add_up(const DLTensor* tensor) {
  const int16_t* first = (const int16_t*)((const char*)tensor->data + tensor->byte_offset);
  int64_t count = 1, i;
  long sum = 0;
  int d;
  for (d = 0; d < tensor->ndim; ++d) count *= tensor->shape[d];
  for (i = 0; i < count; ++i) sum += first[i];
  return sum;
}

int main(void) {
  DLManagedTensor managed;
  DLDevice device = {kDLCPU, 0};
  DLDataType type = {kDLInt, 16, 1};
  managed.dl_tensor.data = cells;
  managed.dl_tensor.device = device;
  managed.dl_tensor.ndim = 2;
  managed.dl_tensor.dtype = type;
  managed.dl_tensor.shape = shape;
  managed.dl_tensor.strides = NULL; /* compact */
  managed.dl_tensor.byte_offset = 2;
  shape[0] = 1;
  managed.manager_ctx = cells;
  managed.deleter = release;
  printf("%ld", add_up(&managed.dl_tensor));
  managed.deleter(&managed);
  printf(" %d\n", released);
  return 0;
}
