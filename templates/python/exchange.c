/* All of dlpackgen_python in one translation unit: compiled by itself, or included
 * by exchange.h into the one file of a module. */
#include <dlpackgen_python/exchange.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlpackgen_python/state.h>

#include <dlpackgen_python/errors.h>

#include <dlpackgen_python/adopt_tables.h>
#include <dlpackgen_python/managed.h>
#include <dlpackgen_python/routes.h>

#include <dlpackgen_python/capsules.h>

#include <dlpackgen_python/take.h>

#include <dlpackgen_python/check.h>

#include <dlpackgen_python/backend.h>

#include <dlpackgen_python/begin.h>

#include <dlpackgen_python/object.h>

#include <dlpackgen_python/result.h>

#include <dlpackgen_python/module.h>
