/* All of dlpackgen_python in one translation unit: compiled by itself, or included
 * by dlpackgen_python.h into the one file of a module. */
#ifndef DLPACKGEN_PYTHON_IMPLEMENTATION
#include "exchange.h"
#endif

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#include "errors.h"
#include "adopt_tables.h"
#include "managed.h"
#include "routes.h"
#include "capsules.h"
#include "take.h"
#include "check.h"
#include "backend.h"
#include "begin.h"
#include "object.h"
#include "result.h"
#include "module.h"

#ifdef DLPACKGEN_PYTHON_IMPLEMENTATION
#include "begin_inline.h"
#endif
