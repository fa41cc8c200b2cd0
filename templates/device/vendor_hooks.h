/* The hooks of conformance.c. dlpackgen created this starter file once; it is yours to edit, and no
 * later run changes it. conformance_hooks.h describes each hook. Without them, conformance.c does
 * not test the order of work, and exits with 77. */
#include "conformance_hooks.h"

static const struct conformance_hooks conformance_hooks = {0};
