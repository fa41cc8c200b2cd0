/* What a language makes of a tensor, in one form; the struct is that of ../measure.go. */
#include <stdint.h>

#include <dlpack/dlpack.h>

typedef struct measured {
  int64_t fault; /* of the whole tensor; the numbers below are 0 where there is one */
  /* What is wrong for a module for Python, which takes no codes and devices that it does not know,
   * and NULL strides of every release. */
  int64_t strict;
  int64_t alignment, row_major, overlap, count, bytes, low, high;
  int64_t strides; /* a hash; 0 where a tensor without elements has strides that nobody can name */
} measured;

/* Adds a stride to the hash of those before it. */
static inline int64_t hashed(int64_t before, int64_t stride) {
  return (int64_t)((uint64_t)before * 31 + (uint64_t)stride);
}

#ifdef __cplusplus
extern "C"
#endif
    void
    measure(const DLManagedTensorVersioned* m, measured* found);
