/* A producer and a consumer in C, as strangers to the Go bindings. */
#include <stddef.h>
#include <stdint.h>

#include "dlpack.h"

enum { FOREIGN_NDIM = 80 };

/* A tensor of which tests may spoil every field. The deleter only counts, so a
 * second call shows instead of crashing. */
typedef struct foreign {
  DLManagedTensorVersioned versioned;
  DLManagedTensor legacy;
  int64_t shape[FOREIGN_NDIM];
  int64_t strides[FOREIGN_NDIM];
  uint64_t data[64];
  int deleted; /* by atomic operations */
} foreign;

foreign* foreign_new(void);
int foreign_deleted(foreign* f);

/* What dlpackgen/tensor.h finds wrong with a face of it; 0 for nothing. Devices and
 * type codes may be unknown, as the Go bindings have it. */
int foreign_fault(const foreign* f);
int foreign_fault_legacy(const foreign* f);

/* A versioned tensor of another major version, whose pages end right after the
 * deleter: reading any other field is a fault. NULL where that cannot be made. */
DLManagedTensorVersioned* foreign_of_major(uint32_t major);
int foreign_of_major_deleted(void);

void consume(DLManagedTensorVersioned* tensor);
void consume_legacy(DLManagedTensor* tensor);

/* Calls a deleter that was kept from before. */
void consume_by(uintptr_t deleter, void* tensor);

/* Deletes count tensors on that many threads that Go never made. */
void consume_on_threads(DLManagedTensorVersioned** tensors, size_t count, int threads);
