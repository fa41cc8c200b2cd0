/* Begins a call of a function that is visible to the compiler, which turns its table of parameters
 * into code. Part of dlpackgen_python.c, for modules with one file. */
#ifndef DLPACKGEN_PYTHON_BEGIN_INLINE_H_
#define DLPACKGEN_PYTHON_BEGIN_INLINE_H_

#include "begin.h"

#if defined(__GNUC__)
#define DLPACKGEN_UNROLLED _Pragma("GCC unroll 32")
#else
#define DLPACKGEN_UNROLLED
#endif

/* Begins again if an argument fails the fast check. Until then, nothing was retained and no foreign
 * code has run. */
DLPACKGEN_SLOW static int dlpackgen_begin_again(struct dlpackgen_call* call, PyObject* module,
                                                const struct dlpackgen_function* function, PyObject* const* arguments) {
  PyErr_Clear();
  return dlpackgen_call_begin(call, module, function, arguments, function->nparameters, NULL);
}

/* Borrows a tensor, with shape and strides; returns 0 if this is not possible. */
DLPACKGEN_FAST int dlpackgen_borrow_at_once(struct dlpackgen_argument* a, int writable,
                                            const struct dlpackgen_means* means, int64_t* scratch) {
  a->flags = 0;
  if (dlpackgen_reads_at_once(a, writable, means, scratch)) return 1;
  if (means->reader) return means->reader->borrow(a->object, writable, &a->tensor, scratch, &a->flags) == 0;
  if (!means->api->dltensor_from_py_object_no_sync || (means->plain && !means->plain(a->object))) return 0;
  return means->api->dltensor_from_py_object_no_sync(a->object, &a->tensor) == 0;
}

/* Reads an argument without running foreign code and without checking the tensor; returns 0 if
 * dlpackgen_call_begin() must read it. */
DLPACKGEN_FAST int dlpackgen_reads_unchecked(struct dlpackgen_call* call, int i, const struct dlpackgen_parameter* p,
                                             PyObject* object, struct dlpackgen_means* means) {
  struct dlpackgen_argument* const a = &call->arguments[i];
  int64_t* const scratch = call->private_.scratch + (size_t)i * DLPACKGEN_SCRATCH;
  a->object = object;
  if (DLPACKGEN_RARE(p->kind != DLPACKGEN_KIND_TENSOR || !object || object == Py_None))
    return dlpackgen_begin_other(call, i, object) == 0;
  if (!dlpackgen_find_means(call->private_.state, object, means)) return 0;
  if (!dlpackgen_borrow_at_once(a, p->writable, means, scratch)) return 0;
  return dlpackgen_is_steady(a, means, scratch) > 0;
}

/* Reads an argument, and returns whether it meets the requirements of its parameter, in host
 * memory. */
DLPACKGEN_FAST int dlpackgen_fits_at_once(struct dlpackgen_call* call, int i, const struct dlpackgen_parameter* p,
                                          PyObject* object, struct dlpackgen_means* means) {
  const struct dlpackgen_argument* const a = &call->arguments[i];
  if (!dlpackgen_reads_unchecked(call, i, p, object, means)) return 0;
  if (p->kind != DLPACKGEN_KIND_TENSOR || !a->object) return 1;
  return a->tensor.device.device_type == kDLCPU && dlpackgen_fits(call, i, p, a);
}

DLPACKGEN_FAST int dlpackgen_call_begin_inline(struct dlpackgen_call* call, PyObject* module,
                                               const struct dlpackgen_function* function, PyObject* const* arguments,
                                               Py_ssize_t count, PyObject* keywords) {
  struct dlpackgen_means means = {NULL, NULL, NULL, NULL, NULL, NULL};
  if (DLPACKGEN_RARE(keywords != NULL || count != function->nparameters || !dlpackgen_is_checked(call, function)))
    return dlpackgen_call_begin(call, module, function, arguments, count, keywords);
  dlpackgen_start(call, module, function);
  memset(call->dims, 0, sizeof call->dims); /* avoids warnings of compilers, which do not see that
                                             * bound is checked first */
  DLPACKGEN_UNROLLED
  for (int i = 0; i < function->nparameters; i++) {
    const struct dlpackgen_parameter* const p = &function->parameters[i];
    if (DLPACKGEN_RARE(!dlpackgen_fits_at_once(call, i, p, arguments[i], &means)))
      return dlpackgen_begin_again(call, module, function, arguments);
  }
  return 0;
}

#endif
