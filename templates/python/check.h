/* Passes the arguments of a call to the checker, which is independent of Python. Part of
 * dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_CHECK_H_
#define DLPACKGEN_PYTHON_CHECK_H_

#include "import.h"

/* The symbols of a call. */
DLPACKGEN_FAST struct dlpackgen_bindings dlpackgen_bindings_of(struct dlpackgen_call* call) {
  struct dlpackgen_bindings bindings;
  bindings.extents = call->dims;
  bindings.bound = call->private_.bound;
  return bindings;
}

/* Returns the tensor of the n-th parameter, counted from 1; NULL if there is none. */
DLPACKGEN_FAST const DLTensor* dlpackgen_peer_of(const struct dlpackgen_call* call, int n) {
  return n && call->arguments[n - 1].object ? &call->arguments[n - 1].tensor : NULL;
}

/* Converts an argument for the checker. */
static inline struct dlpackgen_subject dlpackgen_subject_of(const struct dlpackgen_call* call,
                                                            const struct dlpackgen_parameter* p,
                                                            const struct dlpackgen_argument* a) {
  struct dlpackgen_subject of;
  of.tensor = &a->tensor;
  of.flags = a->flags;
  of.typed = dlpackgen_peer_of(call, p->same_dtype_as);
  of.shaped = dlpackgen_peer_of(call, p->same_shape_as);
  return of;
}

/* Returns 1 if one pass shows that a tensor meets the requirements of its parameter. After a result
 * of 0, the full check is required, and symbols may have been set. */
DLPACKGEN_FAST int dlpackgen_fits(struct dlpackgen_call* call, int i, const struct dlpackgen_parameter* p,
                                  const struct dlpackgen_argument* a) {
  uint16_t like; /* same_dtype_as and same_shape_as, in one load */
  memcpy(&like, &p->same_dtype_as, sizeof like);
  if (like && !dlpackgen_others_fit(dlpackgen_subject_of(call, p, a))) return 0;
  return dlpackgen_tensor_fits(p, i, &a->tensor, a->flags, dlpackgen_bindings_of(call));
}

/* Checks one tensor, which is validated or comes from a trusted library. Returns 0, or -1 with an
 * exception. The device is checked here even if the caller checks the rest, because it determines
 * the stream. */
DLPACKGEN_SLOW static int dlpackgen_check(struct dlpackgen_call* call, int i) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  const struct dlpackgen_subject of = dlpackgen_subject_of(call, &call->function->parameters[i], &call->arguments[i]);
  int status;
  if (call->private_.site->checks_itself) {
    const struct dlpackgen_parameter* const p = &call->function->parameters[i];
    const struct dlpackgen_site at = dlpackgen_site_of(call->function, i);
    status = dlpackgen_check_device(&at, of.tensor->device, p->devices, DLPACKGEN_MAX_DEVICES, &text);
  } else {
    status = dlpackgen_check_tensor(call->function, i, of, dlpackgen_bindings_of(call), &text);
  }
  return status ? dlpackgen_raise(status, &text) : 0;
}

#endif
