/* How deep calls may be nested on a thread. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_DEPTH_H_
#define DLPACKGEN_PYTHON_DEPTH_H_

#include "errors.h"

#if defined(__GNUC__)
#define DLPACKGEN_OF_THREAD static __thread
#elif defined(_MSC_VER)
#define DLPACKGEN_OF_THREAD static __declspec(thread)
#else
#define DLPACKGEN_OF_THREAD static /* guarded by the GIL, without which no such compiler builds modules */
#endif

enum {
  /* Calls that read or make tensors, each by code that one before it runs, as where a producer
   * gives itself to a function. One with DLPACKGEN_MAX_PARAMETERS takes 40 KiB of the stack. */
  DLPACKGEN_MOST_CALLS = 64,
  /* Ends of tensors, each inside that of one which held it, as Python has it for its containers. */
  DLPACKGEN_MOST_ENDS = 50
};

DLPACKGEN_OF_THREAD int dlpackgen_nested_calls;

DLPACKGEN_SLOW static int* dlpackgen_too_deep(void) {
  PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded while tensors are read or made");
  return NULL;
}

/* Begins what may run code of others, which may come back here: what to give to
 * dlpackgen_ascend(), or NULL with a RecursionError. Python's own limit is not enough: it is
 * none for producers in C, and in 3.11 programs set it beyond what a stack holds. */
DLPACKGEN_FAST int* dlpackgen_descend(void) {
  int* const nested = &dlpackgen_nested_calls;
  if (DLPACKGEN_RARE(*nested == DLPACKGEN_MOST_CALLS)) return dlpackgen_too_deep();
  ++*nested;
  return nested;
}

DLPACKGEN_FAST void dlpackgen_ascend(int* nested) { --*nested; }

#endif
