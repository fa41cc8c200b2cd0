/* What a language makes of a tensor, in one form; the struct is that of ../measure.go. */
#include <stdint.h>

#include <dlpack/dlpack.h>

typedef struct measured {
  int64_t fault; /* of the whole tensor; the numbers below are 0 where there is one */
  /* What is wrong for a module for Python, which takes no codes and devices that it does not know,
   * and NULL strides of every release. */
  int64_t strict;
  int64_t alignment, row_major, overlap, count, bytes, low, high;
} measured;

#ifdef __cplusplus
extern "C"
#endif
    void
    measure(const DLManagedTensorVersioned* m, measured* found);
