/* A language's results for a tensor, in one form; the struct is the same as in ../measure.go. */
#include <stdint.h>

#include <dlpack/dlpack.h>

typedef struct measured {
  int64_t fault; /* of the whole tensor; if there is one, the numbers below are 0 */
  /* The mistake for a Python module, which rejects unknown codes and devices, and accepts NULL
   * strides of every release. */
  int64_t strict;
  int64_t alignment, row_major, column_major, inner, any_order, overlap, count, bytes, low, high;
  int64_t strides; /* a hash; 0 if a tensor without elements has arbitrary strides */
} measured;

/* Adds a stride to the hash of the previous ones. */
static inline int64_t hashed(int64_t before, int64_t stride) {
  return (int64_t)((uint64_t)before * 31 + (uint64_t)stride);
}

#ifdef __cplusplus
extern "C" {
#endif
void measure(const DLManagedTensorVersioned* m, measured* found);

/* Returns whether the language accepts a tensor that an exchange table has allocated for a
 * request. */
int64_t accepts(DLManagedTensorVersioned* made, const DLTensor* requested);
#ifdef __cplusplus
}
#endif
