/* The native readers, in the order in which a new type is compared with them. Part of
 * dlpackgen_python.c. A native reader is a file in this folder that defines a static const struct
 * dlpackgen_adopted, and is included and listed here. */
#ifndef DLPACKGEN_PYTHON_READER_TABLES_H_
#define DLPACKGEN_PYTHON_READER_TABLES_H_

#include "reader_cupy.h"
#include "reader_jax.h"
#include "reader_numpy.h"
#include "reader_paddle.h"
#include "reader_torch.h"
#include "readers.h"

/* Terminated by NULL. */
static const struct dlpackgen_adopted* const dlpackgen_adopted_tables[] = {
    &dlpackgen_adopted_torch,
    &dlpackgen_adopted_numpy,
    &dlpackgen_adopted_jax,
    &dlpackgen_adopted_jax_before_0_6,
    &dlpackgen_adopted_jax_tracer,
    &dlpackgen_adopted_cupy,
    NULL,
};

#endif /* DLPACKGEN_PYTHON_READER_TABLES_H_ */
