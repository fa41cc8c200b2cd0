/* A program that uses <dlpack/dlpack.h> of 1.2 or newer: it exports a strided matrix, has an
 * exchange table, and adds up its imports. Valid C99 and C++11. */
#include <dlpack/dlpack.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Matrix {
  float cells[6];
  int64_t shape[2];
  int64_t strides[2];
  int* alive;
} Matrix;

static void matrix_free(struct DLManagedTensorVersioned* self) {
  Matrix* matrix = (Matrix*)self->manager_ctx;
  --*matrix->alive;
  free(matrix);
  free(self);
}

static int matrix_export(void* object, DLManagedTensorVersioned** out) {
  DLManagedTensorVersioned* managed = (DLManagedTensorVersioned*)calloc(1, sizeof *managed);
  Matrix* matrix = (Matrix*)calloc(1, sizeof *matrix);
  int i;
  if (!managed || !matrix) return free(managed), free(matrix), -1;
  for (i = 0; i < 6; ++i) matrix->cells[i] = (float)(i + 1);
  matrix->alive = (int*)object;
  ++*matrix->alive;
  matrix->shape[0] = 3, matrix->shape[1] = 2;
  matrix->strides[0] = 1, matrix->strides[1] = 3; /* column-major */
  managed->version.major = DLPACK_MAJOR_VERSION;
  managed->version.minor = DLPACK_MINOR_VERSION;
  managed->manager_ctx = matrix;
  managed->deleter = matrix_free;
  managed->flags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
  managed->dl_tensor.data = matrix->cells;
  managed->dl_tensor.device.device_type = kDLCPU;
  managed->dl_tensor.ndim = 2;
  managed->dl_tensor.dtype.code = kDLFloat;
  managed->dl_tensor.dtype.bits = 32;
  managed->dl_tensor.dtype.lanes = 1;
  managed->dl_tensor.shape = matrix->shape;
  managed->dl_tensor.strides = matrix->strides;
  *out = managed;
  return 0;
}

static int no_allocator(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                        void (*SetError)(void* error_ctx, const char* kind, const char* message)) {
  (void)prototype, (void)out;
  SetError(error_ctx, "MemoryError", "this program allocates nothing");
  return -1;
}

static int no_objects(DLManagedTensorVersioned* tensor, void** out_py_object) {
  return (void)tensor, (void)out_py_object, -1;
}

static int host_stream(DLDeviceType device_type, int32_t device_id, void** out) {
  *out = NULL;
  return device_type == kDLCPU && device_id == 0 ? 0 : -1;
}

static DLPackExchangeAPI api = {
    {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, NULL}, no_allocator, matrix_export, no_objects, NULL, host_stream,
};

static int is_float32(const DLTensor* t) {
  return t->dtype.code == kDLFloat && t->dtype.bits == 32 && t->dtype.lanes == 1;
}

static double add_up(const DLTensor* t) {
  const float* first = (const float*)((const char*)t->data + t->byte_offset);
  double sum = 0;
  int64_t i, j;
  for (i = 0; i < t->shape[0]; ++i)
    for (j = 0; j < t->shape[1]; ++j)
      sum += (double)(10 * i + j) * (double)first[i * t->strides[0] + j * t->strides[1]];
  return sum;
}

int main(void) {
  const DLPackExchangeAPIHeader* header = &api.header;
  DLManagedTensorVersioned* taken = NULL;
  int alive = 0;
  void* stream = &alive;
  while (header && header->version.major != DLPACK_MAJOR_VERSION) header = header->prev_api;
  if (!header || api.current_work_stream(kDLCPU, 0, &stream) != 0 || stream) return 1;
  if (api.managed_tensor_from_py_object_no_sync(&alive, &taken) != 0) return 2;
  if (!(taken->flags & DLPACK_FLAG_BITMASK_READ_ONLY) || !is_float32(&taken->dl_tensor)) return 3;
  printf("%d %.0f", alive, add_up(&taken->dl_tensor));
  if (taken->deleter) taken->deleter(taken);
  printf(" %d\n", alive);
  return 0;
}
