/* A producer and a consumer in C. The tensors of the producer are static: one of each ABI. */
#include <dlpack/dlpack.h>
#include <stddef.h>

static float elements[] = {-1, 1, 2, 3, 4, 5, 6};
static int64_t shape[] = {2, 3}, strides[] = {3, 1};
static int releases;

/* A matrix of 2 by 3, which begins at the second float. */
static const DLTensor matrix = {
    .data = elements,
    .device = {kDLCPU, 0},
    .ndim = 2,
    .dtype = {kDLFloat, 32, 1},
    .shape = shape,
    .strides = strides,
    .byte_offset = sizeof(float),
};

static void release(DLManagedTensorVersioned* self) {
  (void)self;
  releases++;
}

static void release_legacy(DLManagedTensor* self) {
  (void)self;
  releases++;
}

DLManagedTensorVersioned* peer_export(void) {
  static DLManagedTensorVersioned managed;
  managed.version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.deleter = release;
  managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  managed.dl_tensor = matrix;
  return &managed;
}

DLManagedTensor* peer_export_legacy(void) {
  static DLManagedTensor managed;
  managed.deleter = release_legacy;
  managed.dl_tensor = matrix;
  managed.dl_tensor.strides = NULL;
  return &managed;
}

int peer_releases(void) { return releases; }

static float sum(const DLTensor* tensor) {
  const float* first = (const float*)((const char*)tensor->data + tensor->byte_offset);
  float total = 0;
  for (int64_t i = 0; i < tensor->shape[0]; i++)
    for (int64_t j = 0; j < tensor->shape[1]; j++) total += first[i * tensor->strides[0] + j * tensor->strides[1]];
  return total;
}

/* Sums a matrix of float and releases it; -1 if it is something else. */
float peer_consume(DLManagedTensorVersioned* managed) {
  const DLTensor* tensor = &managed->dl_tensor;
  float total = -1;
  if (managed->version.major == DLPACK_MAJOR_VERSION && managed->flags == 0 && tensor->ndim == 2 &&
      tensor->device.device_type == kDLCPU && tensor->dtype.code == kDLFloat && tensor->dtype.bits == 32)
    total = sum(tensor);
  managed->deleter(managed);
  return total;
}

float peer_consume_legacy(DLManagedTensor* managed) {
  float total = managed->dl_tensor.ndim == 2 ? sum(&managed->dl_tensor) : -1;
  managed->deleter(managed);
  return total;
}
