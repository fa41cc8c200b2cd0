/* The native readers, in the order in which a new type is compared with them. Each is a static
 * const struct dlpackgen_native_reader. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_READER_TABLES_H_
#define DLPACKGEN_PYTHON_READER_TABLES_H_

#include "reader_cupy.h"
#include "reader_jax.h"
#include "reader_numpy.h"
#include "reader_paddle.h"
#include "reader_torch.h"
#include "readers.h"

/* Terminated by NULL. */
static const struct dlpackgen_native_reader* const dlpackgen_native_readers[] = {
    &dlpackgen_reader_torch,
    &dlpackgen_reader_numpy,
    &dlpackgen_reader_jax,
    &dlpackgen_reader_jax_before_0_6,
    &dlpackgen_reader_jax_tracer,
    &dlpackgen_reader_cupy,
    NULL,
};

#endif /* DLPACKGEN_PYTHON_READER_TABLES_H_ */
