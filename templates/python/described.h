/* Checks the tables that describe functions, at the first call from each place, before any argument
 * is read. Mistakes in them are the module author's, and raise SystemError. Part of
 * dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_DESCRIBED_H_
#define DLPACKGEN_PYTHON_DESCRIBED_H_

#include "call.h"

/* Reports a call without room for all arguments of its function. */
static int dlpackgen_no_room(const struct dlpackgen_call_site* site, const struct dlpackgen_function* function) {
  PyErr_Format(PyExc_SystemError,
               "%s() has %d parameters, but its call has room for %d: pass its parameters to DLPACKGEN_CALL",
               function->name, function->nparameters, site->capacity);
  return -1;
}

/* Checks a function at the place of a call, unless it was the last one checked there. Returns 0, or
 * -1 with an exception. */
DLPACKGEN_SLOW static int dlpackgen_check_site(struct dlpackgen_call_site* site,
                                               const struct dlpackgen_function* function) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  if (DLPACKGEN_LOAD(&site->checked) == function) return 0;
  int status = dlpackgen_check_function(function, &text);
  if (!status && function->nparameters > site->capacity) return dlpackgen_no_room(site, function);
  if (!status) status = dlpackgen_check_parameters(function, &text);
  if (status) return dlpackgen_raise(status, &text);
  DLPACKGEN_STORE(&site->checked, function);
  return 0;
}

/* Checks the functions of a module at import. */
static int dlpackgen_check_functions(const struct dlpackgen_function* const* functions) {
  char buffer[DLPACKGEN_SENTENCE];
  for (; functions && *functions; functions++) {
    struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
    const int status = dlpackgen_check_description(*functions, &text);
    if (status) return dlpackgen_raise(status, &text);
  }
  return 0;
}

/* Returns whether the function was already checked. */
DLPACKGEN_FAST int dlpackgen_is_checked(const struct dlpackgen_call* call, const struct dlpackgen_function* function) {
  return DLPACKGEN_LOAD(&call->private_.site->checked) == function;
}

#endif
