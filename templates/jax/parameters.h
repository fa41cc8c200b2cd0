/* The parts of XLA's call frames for the parameters of a kernel. Part of kernels_jax.c. */
#ifndef DLPACKGEN_JAX_PARAMETERS_H_
#define DLPACKGEN_JAX_PARAMETERS_H_

#include "values.h"

/* The kind of a parameter in XLA. */
enum dlpackgen_jax_kind {
  DLPACKGEN_JAX_TENSOR,
  DLPACKGEN_JAX_INTEGER,
  DLPACKGEN_JAX_REAL,
  DLPACKGEN_JAX_TRUTH,
  DLPACKGEN_JAX_NUMBER, /* an integer, or a float, depending on the dtype of the call */
  DLPACKGEN_JAX_TEXT,
  DLPACKGEN_JAX_INTEGERS,
  DLPACKGEN_JAX_REALS,
};

#define DLPACKGEN_JAX_NDIM (sizeof((struct dlpackgen_result*)0)->shape / sizeof(int64_t))

#endif /* DLPACKGEN_JAX_PARAMETERS_H_ */
