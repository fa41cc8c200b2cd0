/* The adopted tables, in the order in which a new type is compared with them.
 * Part of exchange.c: a table is a file beside this one that defines a
 * static const struct dlpackgen_adopted, is included here and listed below. */
#ifndef DLPACKGEN_PYTHON_ADOPT_TABLES_H_
#define DLPACKGEN_PYTHON_ADOPT_TABLES_H_

#include <dlpackgen_python/adopt_cupy.h>
#include <dlpackgen_python/adopt_jax.h>
#include <dlpackgen_python/adopt_numpy.h>
#include <dlpackgen_python/adopt_paddle.h>
#include <dlpackgen_python/adopt_torch.h>
#include <dlpackgen_python/adopted.h>

/* Ends with NULL. */
static const struct dlpackgen_adopted *const dlpackgen_adopted_tables[] = {
	&dlpackgen_adopted_torch,
	&dlpackgen_adopted_numpy,
	&dlpackgen_adopted_jax,
	&dlpackgen_adopted_jax_before_0_6,
	&dlpackgen_adopted_jax_tracer,
	&dlpackgen_adopted_cupy,
	NULL,
};

#endif /* DLPACKGEN_PYTHON_ADOPT_TABLES_H_ */
