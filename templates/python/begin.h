/* Begins and ends calls, with the fast path of most calls, which reads the tensors one after the
 * other. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_BEGIN_H_
#define DLPACKGEN_PYTHON_BEGIN_H_

#include "described.h"

/* A copy of the access method of the last argument's type, for the next arguments, because the
 * cache may evict it. */
struct dlpackgen_means {
  PyObject* type; /* NULL before the first */
  const struct dlpackgen_native_reader* reader;
  const DLPackExchangeAPI* api;
  int (*guard)(PyObject* object, const DLTensor* tensor);
  int (*plain)(PyObject* object);
  int (*read)(void* object, int writable, DLTensor* out, int64_t* scratch); /* reads most of torch's at once */
};

/* Records the access method of a type. */
DLPACKGEN_FAST void dlpackgen_note(struct dlpackgen_means* means, const struct dlpackgen_access* access) {
  means->type = access->type;
  means->reader = access->reader;
  means->api = access->api;
  means->guard = access->guard;
  means->plain = access->plain;
  means->read = means->reader && means->reader->borrow == dlpackgen_torch_borrow ? dlpackgen_torch.read : NULL;
}

/* Checks a tensor that did not pass the fast check with the full rules. Returns 0, -1 with an
 * exception, or 1 if foreign code may run. left is the result of reading the tensor. */
DLPACKGEN_SLOW static int dlpackgen_begin_fully(struct dlpackgen_call* call, int i, const struct dlpackgen_means* means,
                                                int left) {
  struct dlpackgen_argument* a = &call->arguments[i];
  a->private_.reader = means->reader;
  a->private_.api = means->api;
  a->private_.guard = means->guard;
  if (left) return left < 0 && a->private_.reader ? dlpackgen_unreadable(call, i) : left;
  dlpackgen_unbind(dlpackgen_bindings_of(call), i);
  if (!a->private_.reader && dlpackgen_validate_borrowed(call, i)) return -1;
  if (a->private_.reader && dlpackgen_validate_argument(a, dlpackgen_scratch_of(call, i), 0))
    return dlpackgen_about(call->function, i);
  if (dlpackgen_check(call, i)) return -1;
  call->private_.elsewhere |= a->tensor.device.device_type != kDLCPU;
  return 0;
}

/* Returns the access method of a type if it runs no foreign code, or NULL. */
DLPACKGEN_FAST const struct dlpackgen_access* dlpackgen_quiet(struct dlpackgen_state* state, PyObject* object) {
  const struct dlpackgen_access* access = dlpackgen_cached(state, (PyObject*)Py_TYPE(object));
  return access && !access->yields ? access : NULL;
}

/* Finds an access method of an object that runs no foreign code; 0 if there is none. */
DLPACKGEN_FAST int dlpackgen_find_means(struct dlpackgen_state* state, PyObject* object,
                                        struct dlpackgen_means* means) {
  if (!object) return 0;
  if ((PyObject*)Py_TYPE(object) == means->type) return 1;
  const struct dlpackgen_access* const access = dlpackgen_quiet(state, object);
  if (!access) return 0;
  dlpackgen_note(means, access);
  return 1;
}

/* Reads an argument that is not a tensor. Returns 0, -1 with an exception, or 1 if foreign code may
 * run. */
static int dlpackgen_begin_other(struct dlpackgen_call* call, int i, PyObject* object) {
  if (!object || object == Py_None) return dlpackgen_left_out(call, i);
  if (call->function->parameters[i].kind == DLPACKGEN_KIND_TENSOR || !dlpackgen_is_plain(object)) return 1;
  return dlpackgen_read_scalar(call, i);
}

/* Copies shape and strides, which other threads may change, unless a native reader has done so.
 * Then queries the properties of this copy that a table does not check. Returns 1, 0 if there are
 * no shape and strides yet, or -1 with an exception. */
DLPACKGEN_FAST int dlpackgen_is_steady(struct dlpackgen_argument* a, const struct dlpackgen_means* means,
                                       int64_t* scratch) {
  if (means->reader) return 1;
  if (!dlpackgen_copies(&a->tensor, scratch)) return 0;
  return means->guard && DLPACKGEN_RARE(means->guard(a->object, &a->tensor)) ? -1 : 1;
}

/* Reads most torch tensors. */
DLPACKGEN_FAST int dlpackgen_reads_at_once(struct dlpackgen_argument* a, int writable,
                                           const struct dlpackgen_means* means, int64_t* scratch) {
  return means->read && means->read(a->object, writable, &a->tensor, scratch) == 0;
}

/* Reads a tensor through an access method that runs no foreign code. Returns 0, -1 with an
 * exception, or 1 if another access method must be used. */
DLPACKGEN_FAST int dlpackgen_begin_reading(struct dlpackgen_call* call, int i, struct dlpackgen_argument* a,
                                           int writable, const struct dlpackgen_means* means, int64_t* scratch) {
  a->flags = 0;
  if (dlpackgen_reads_at_once(a, writable, means, scratch)) return 0;
  if (means->reader) return means->reader->borrow(a->object, writable, &a->tensor, scratch, &a->flags);
  return dlpackgen_fetch_by_table(call, i, a, writable, means->api, means->plain);
}

/* The fast path of most calls, which reads one argument after the other. */
DLPACKGEN_FAST int dlpackgen_begin_arranged(struct dlpackgen_call* call, PyObject* const* passed) {
  const struct dlpackgen_function* const function = call->function;
  const struct dlpackgen_parameter* p = function->parameters;
  struct dlpackgen_means means = {NULL, NULL, NULL, NULL, NULL, NULL};
  struct dlpackgen_argument* a = call->arguments;
  int64_t* scratch = call->private_.scratch;
  const int count = function->nparameters;
  int left = 0;
  for (int i = 0; i < count; i++, a++, p++, scratch += DLPACKGEN_SCRATCH) {
    PyObject* const object = a->object = passed[i];
    if (DLPACKGEN_RARE(p->kind != DLPACKGEN_KIND_TENSOR ||
                       !dlpackgen_find_means(call->private_.state, object, &means))) {
      left = dlpackgen_begin_other(call, i, object);
      if (left) break;
      continue;
    }
    left = dlpackgen_begin_reading(call, i, a, p->writable, &means, scratch);
    const int steady = left ? 0 : dlpackgen_is_steady(a, &means, scratch);
    const int fits = steady > 0 && dlpackgen_fits(call, i, p, a);
    if (DLPACKGEN_RARE(steady < 0)) left = dlpackgen_unreadable(call, i);
    if (DLPACKGEN_RARE(!fits)) {
      left = dlpackgen_begin_fully(call, i, &means, left);
      if (left) break;
    }
  }
  if (!left && !DLPACKGEN_RARE(call->private_.elsewhere | call->private_.has_number)) return 0;
  if (left < 0) return dlpackgen_keep_first_error(call, (int)(a - call->arguments));
  if (!left) left = dlpackgen_settle_device(call, 0);
  return left > 0 ? dlpackgen_begin_slowly(call, passed) : left;
}

/* Assigns arguments to parameters if there are keywords, if arguments are missing, or if the
 * function's description has not been checked yet. Returns 0, or -1 with an exception. */
DLPACKGEN_SLOW static int dlpackgen_place_named(struct dlpackgen_call* call, PyObject* const* arguments,
                                                Py_ssize_t count, PyObject* keywords, PyObject** passed) {
  if (dlpackgen_check_site(call->private_.site, call->function)) return -1;
  const struct dlpackgen_names names = dlpackgen_names_of(call->function);
  if (dlpackgen_arrange(&names, arguments, count, keywords, passed)) return -1;
  PyObject* const stream = passed[names.count];
  return stream ? dlpackgen_explicit_stream(call, stream) : 0;
}

DLPACKGEN_PYTHON_API void dlpackgen_call_end(struct dlpackgen_call* call) {
  if (!DLPACKGEN_RARE(call->private_.owns)) return;
  if (call->private_.owns & DLPACKGEN_ORDER_PENDING) dlpackgen_order_back(call);
  for (int i = 0; call->private_.owns; i++) dlpackgen_release_tensor(call, i);
}

/* Clears the state of a call. */
DLPACKGEN_FAST void dlpackgen_start(struct dlpackgen_call* call, PyObject* module,
                                    const struct dlpackgen_function* function) {
  call->module = module;
  call->function = function;
  call->private_.state = dlpackgen_state_of(module);
  call->device.device_type = kDLCPU;
  call->device.device_id = 0;
  call->stream = NULL;
  memset(call->private_.bound, 0, sizeof call->private_.bound);
  call->private_.owns = 0;
  call->private_.has_stream = call->private_.has_number = call->private_.elsewhere = 0;
}

DLPACKGEN_PYTHON_API int dlpackgen_call_begin(struct dlpackgen_call* call, PyObject* module,
                                              const struct dlpackgen_function* function, PyObject* const* arguments,
                                              Py_ssize_t count, PyObject* keywords) {
  PyObject* named[DLPACKGEN_MAX_PARAMETERS + 1];
  int failed = 0;
  dlpackgen_start(call, module, function);
  if (DLPACKGEN_RARE(keywords != NULL || count != function->nparameters || !dlpackgen_is_checked(call, function))) {
    failed = dlpackgen_place_named(call, arguments, count, keywords, named);
    arguments = named;
  }
  if (!failed) failed = dlpackgen_begin_arranged(call, arguments);
  if (DLPACKGEN_RARE(failed)) dlpackgen_call_end(call);
  return failed;
}

#endif
