/* The implementation of dlpackgen_python in one translation unit: compiled separately, or included
 * by dlpackgen_python.h into the only file of a module. */
#ifndef DLPACKGEN_PYTHON_IMPLEMENTATION
#include "api.h"
#endif

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#include "reader_tables.h"

#include "backend.h"
#include "begin.h"
#include "capsules.h"
#include "check.h"
#include "errors.h"
#include "import.h"
#include "managed.h"
#include "module.h"
#include "object.h"
#include "result.h"

#include "access.h"

#ifdef DLPACKGEN_PYTHON_IMPLEMENTATION
#include "begin_inline.h"
#endif
