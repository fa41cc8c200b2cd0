/*
 * Each consumer of dlpackgen_generate() compiles this file with its own include path. That fails
 * where another dlpack.h comes before the generated one, such as that of a distribution. A dlpack.h
 * with the same ABI does no harm.
 */
#include <dlpack/dlpack.h>
#include <dlpackgen/abi_check.h>

typedef int dlpackgen_include_check; /* C does not allow an empty translation unit */
