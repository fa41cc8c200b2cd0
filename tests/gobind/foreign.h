/* A producer and a consumer in C, independent of the Go bindings. */
#include <stddef.h>
#include <stdint.h>

#include "dlpack.h"

enum { FOREIGN_NDIM = 80 };

/* A tensor of which tests may damage every field. The deleter only counts, so a second call is
 * detected and does not crash. */
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

/* The result of dlpackgen/tensor.h for one of its structs; 0 if it is valid. Devices and type codes
 * may be unknown, as in the Go bindings. */
int foreign_fault(const foreign* f);
int foreign_fault_legacy(const foreign* f);

/* A versioned tensor of another major version, whose memory ends right after the deleter: reading
 * any other field crashes. NULL if that is not possible. */
DLManagedTensorVersioned* foreign_of_major(uint32_t major);
int foreign_of_major_deleted(void);

void consume(DLManagedTensorVersioned* tensor);
void consume_legacy(DLManagedTensor* tensor);

/* Calls a deleter that was kept earlier. */
void consume_by(uintptr_t deleter, void* tensor);

/* Deletes count tensors on several threads that Go did not create. */
void consume_on_threads(DLManagedTensorVersioned** tensors, size_t count, int threads);
