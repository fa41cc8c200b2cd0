/* Limits the nesting of calls on a thread. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_DEPTH_H_
#define DLPACKGEN_PYTHON_DEPTH_H_

#include "errors.h"

#if defined(__GNUC__)
#define DLPACKGEN_OF_THREAD static __thread
#elif defined(_MSC_VER)
#define DLPACKGEN_OF_THREAD static __declspec(thread)
#else
#define DLPACKGEN_OF_THREAD static /* guarded by the GIL, because such compilers cannot build modules without it */
#endif

enum {
  /* Nested calls that read or create tensors, as if a producer passes itself to a function. A call
   * with DLPACKGEN_MAX_PARAMETERS needs 40 KiB of the stack. */
  DLPACKGEN_MOST_CALLS = 64,
  /* Nested deleters of tensors that own each other; Python limits its containers in the same
   * way. */
  DLPACKGEN_MOST_ENDS = 50
};

DLPACKGEN_OF_THREAD int dlpackgen_nested_calls;

DLPACKGEN_SLOW static int* dlpackgen_too_deep(void) {
  PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded while reading or creating tensors");
  return NULL;
}

/* Begins an operation that may run foreign code, which may call this module again. Returns the
 * argument for dlpackgen_ascend(), or NULL with a RecursionError. Python's own limit does not
 * suffice: it does not apply to producers in C, and in 3.11 programs can set it beyond the size of
 * the stack. */
DLPACKGEN_FAST int* dlpackgen_descend(void) {
  int* const nested = &dlpackgen_nested_calls;
  if (DLPACKGEN_RARE(*nested == DLPACKGEN_MOST_CALLS)) return dlpackgen_too_deep();
  ++*nested;
  return nested;
}

DLPACKGEN_FAST void dlpackgen_ascend(int* nested) { --*nested; }

#endif
