/* The kernels of the table of mistakes for compiled languages, as compiled.py calls them. */
#ifndef CALLED_H
#define CALLED_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

/* An array. NULL arguments are missing. */
struct lent {
  DLTensor tensor;
  int read_only;
};

/* The arguments of mix(); nsizes is -1 without sizes, and mode is NULL for its default. */
struct mixed {
  struct lent *x, *weight, *places;
  double by;
  int64_t times;
  int also;
  struct lent* bias;
  const int64_t* sizes;
  int64_t nsizes;
  const char* mode;
};

#endif
