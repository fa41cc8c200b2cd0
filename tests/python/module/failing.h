/* Included first in a module: its own allocations fail on a script's request. */
#include <Python.h>

#include <stdlib.h>

/* The allocation that fails, counted from 1; 0 for none. */
static long failing_next;

static int failing_now(void) { return failing_next > 0 && --failing_next == 0; }

static void* failing_malloc(size_t size) { return failing_now() ? NULL : malloc(size); }

static void* failing_calloc(size_t count, size_t size) { return failing_now() ? NULL : calloc(count, size); }

#define malloc failing_malloc
#define calloc failing_calloc
