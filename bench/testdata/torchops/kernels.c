/* The kernels of dlpackgen.yaml, which are empty. */
#include <kernels.h>

#define EMPTY(form)                                                                        \
  int read_##form(const DLTensor* a, const DLTensor* b, const DLTensor* c, void* stream) { \
    (void)a, (void)b, (void)c, (void)stream;                                               \
    return 0;                                                                              \
  }                                                                                        \
  int write_##form(const DLTensor* a, const DLTensor* b, DLTensor* c, void* stream) {      \
    (void)a, (void)b, (void)c, (void)stream;                                               \
    return 0;                                                                              \
  }
EMPTY(function)
EMPTY(pointer)
EMPTY(lambda)
EMPTY(functor)
EMPTY(boxed_function)
EMPTY(boxed_functor)
