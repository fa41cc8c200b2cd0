/* Reads the tensors of a call if reading one may change another. Part of dlpackgen_python.c.
 */
#ifndef DLPACKGEN_PYTHON_CALL_H_
#define DLPACKGEN_PYTHON_CALL_H_

#include "arrange.h"

static void dlpackgen_release_tensor(struct dlpackgen_call* call, int i) {
  const uint64_t bit = UINT64_C(1) << i;
  if (!(call->private_.owns & bit)) return;
  call->private_.owns &= ~bit;
  dlpackgen_delete_here(call->arguments[i].private_.versioned, call->arguments[i].private_.legacy);
}

static int64_t* dlpackgen_scratch_of(const struct dlpackgen_call* call, int i) {
  return call->private_.scratch + (size_t)i * DLPACKGEN_SCRATCH;
}

/* Reports the error of a tensor, even if its library set no exception. */
DLPACKGEN_SLOW static int dlpackgen_unreadable(const struct dlpackgen_call* call, int i) {
  dlpackgen_failed(PyExc_BufferError, DLPACKGEN_TEXT_UNREADABLE);
  dlpackgen_not_exported(call->arguments[i].object);
  return dlpackgen_about(call->function, i);
}

/* Reads a tensor with the native reader of its type. Returns 0, -1 with an exception, or 1 if
 * another access method must be used. */
static int dlpackgen_fetch_natively(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  int64_t* const scratch = dlpackgen_scratch_of(call, i);
  a->flags = 0;
  const int left =
      a->private_.reader->borrow(a->object, call->function->parameters[i].writable, &a->tensor, scratch, &a->flags);
  if (left) return left < 0 ? dlpackgen_unreadable(call, i) : 1;
  return dlpackgen_validate_argument(a, scratch, 0) ? dlpackgen_about(call->function, i) : 0;
}

/* Reads a tensor through the trusted exchange table of its type. Returns 0, -1 with an exception,
 * or 1 if its methods must be called. The result is not validated. Its shape and strides belong to
 * the tensor, and must be copied, because threads of the library may change them even while this
 * thread holds the GIL. */
DLPACKGEN_FAST int dlpackgen_fetch_by_table(struct dlpackgen_call* call, int i, struct dlpackgen_argument* a,
                                            int writable, const DLPackExchangeAPI* api,
                                            int (*plain)(PyObject* object)) {
  if (plain && DLPACKGEN_RARE(!plain(a->object))) return 1;
  const int owned = dlpackgen_read_table(a, api, 1, a->object, writable);
  if (DLPACKGEN_RARE(owned < 0)) return dlpackgen_about(call->function, i);
  if (owned) call->private_.owns |= UINT64_C(1) << i;
  return 0;
}

/* Validates a tensor from a table, and queries properties that the table does not check. */
static int dlpackgen_validate_borrowed(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  if (dlpackgen_validate_argument(a, dlpackgen_scratch_of(call, i), 1)) return dlpackgen_about(call->function, i);
  return a->private_.guard && a->private_.guard(a->object, &a->tensor) ? dlpackgen_unreadable(call, i) : 0;
}

/* Reads a tensor whose access method runs no Python code. Releases a tensor that was imported
 * earlier to determine its device. */
static int dlpackgen_fetch(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  dlpackgen_release_tensor(call, i);
  if (a->private_.reader) return dlpackgen_fetch_natively(call, i);
  const int left =
      dlpackgen_fetch_by_table(call, i, a, call->function->parameters[i].writable, a->private_.api, a->private_.plain);
  if (left) return left;
  return dlpackgen_validate_borrowed(call, i);
}

/* Reads a tensor through its __dlpack__. */
static int dlpackgen_fetch_capsule(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  PyObject* stream;
  if (dlpackgen_stream_for(call, i, &stream)) return -1;
  int failed = dlpackgen_read_capsule(call->private_.state, a, a->object, stream);
  Py_XDECREF(stream);
  if (!failed) {
    call->private_.owns |= UINT64_C(1) << i;
    failed = dlpackgen_validate_argument(a, dlpackgen_scratch_of(call, i), 1);
  }
  return failed ? dlpackgen_about(call->function, i) : dlpackgen_check_word(call, i);
}

/* Imports a tensor whose memory another thread, the code of an argument, or the function itself
 * could free during the call. Returns 0, -1 with an exception, or 1 if another access method must
 * be used. */
static int dlpackgen_fetch_retained(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  const int left = dlpackgen_import_natively(a->private_.reader, a->object, call->function->parameters[i].writable,
                                             &a->private_.versioned);
  if (left) return left < 0 ? dlpackgen_about(call->function, i) : 1;
  a->private_.legacy = NULL;
  call->private_.owns |= UINT64_C(1) << i;
  a->tensor = a->private_.versioned->dl_tensor;
  a->flags = a->private_.versioned->flags;
  return 0;
}

/* Checks that an object still has the type for which its table was found, because Python code may
 * have changed it. Returns 0, or -1 with an exception. */
static int dlpackgen_check_type(const struct dlpackgen_call* call, int i) {
  const struct dlpackgen_argument* a = &call->arguments[i];
  if (Py_TYPE(a->object) == a->private_.type) return 0;
  return dlpackgen_argument_error(call, i, PyExc_BufferError, DLPACKGEN_TEXT_OTHER_TYPE);
}

/* Returns whether foreign code may run after an argument was read: code of later arguments, or of a
 * library whose stream is queried. Such code may free the memory of a borrowed tensor. All
 * arguments that run no foreign code were read before. */
static int dlpackgen_runs_after(const struct dlpackgen_call* call, int i) {
  for (int j = 0; j < call->function->nparameters; j++) {
    const struct dlpackgen_argument* a = &call->arguments[j];
    if (j > i && !a->private_.done && a->private_.yields) return 1;
    if ((j <= i || a->private_.done || !a->private_.yields) && dlpackgen_is_elsewhere(call, j)) return 1;
  }
  return 0;
}

/* Reads a tensor through a table that may run any code, and copies its shape and strides: a
 * borrowed tensor is valid until its library is called again (DLPack 1.3, the comment on
 * DLPackDLTensorFromPyObjectNoSync). Tensors that need queries are owned, because later code cannot
 * check whether their table may be used again. */
static int dlpackgen_fetch_untrusted(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  int owned = dlpackgen_read_table(a, a->private_.api, 0, a->object, call->function->parameters[i].writable);
  if (!owned && (a->private_.plain || dlpackgen_runs_after(call, i)))
    owned = dlpackgen_read_owned(a, a->private_.api, a->object);
  if (owned < 0) return dlpackgen_about(call->function, i);
  if (owned) call->private_.owns |= UINT64_C(1) << i;
  return dlpackgen_validate_borrowed(call, i);
}

/* Reads arguments that run no Python code, to determine their devices. They are read again when no
 * more foreign code runs. */
static int dlpackgen_look(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  const int left = dlpackgen_fetch(call, i);
  if (left <= 0) return left;
  a->private_.trusted = a->private_.trusted && a->private_.reader;
  a->private_.reader = NULL;
  a->private_.yields = 1; /* because its methods must be called */
  return 0;
}

/* Reads a tensor whose access method runs Python code, and copies its shape and strides. */
static int dlpackgen_read_yielding(struct dlpackgen_call* call, int i) {
  struct dlpackgen_argument* a = &call->arguments[i];
  if (a->private_.reader) {
    const int left = a->private_.reader->retain ? dlpackgen_fetch_retained(call, i) : dlpackgen_fetch(call, i);
    a->private_.done = left == 0;
    if (left <= 0) return left;
    a->private_.reader = NULL;
  }
  if (dlpackgen_query(call->private_.state, a->object, a->private_.rejecting, a->private_.queries))
    return dlpackgen_about(call->function, i);
  if (dlpackgen_check_type(call, i)) return -1;
  a->private_.done = !a->private_.trusted;
  if (a->private_.trusted) return dlpackgen_fetch(call, i);
  return a->private_.api ? dlpackgen_fetch_untrusted(call, i) : dlpackgen_fetch_capsule(call, i);
}

/* Returns the native reader that queries the stream of a type's library, also for derived types, or
 * NULL. */
static const struct dlpackgen_native_reader* dlpackgen_stream_reader(const struct dlpackgen_access* access) {
  const struct dlpackgen_native_reader* table = access->reader ? access->reader : access->rejecting;
  return table && table->stream ? table : NULL;
}

/* Determines the access method of an argument, and reads scalars. The access method is copied,
 * because the cache may evict it. Its type stays alive. */
static int dlpackgen_sort_slowly(struct dlpackgen_call* call, int i, PyObject* object) {
  struct dlpackgen_argument* a = &call->arguments[i];
  a->object = object;
  a->private_.done = 1;
  a->private_.yields = 0;
  a->tensor.device.device_type = kDLCPU; /* until it is known */
  if (!object || object == Py_None) return dlpackgen_left_out(call, i);
  if (call->function->parameters[i].kind != DLPACKGEN_KIND_TENSOR) return dlpackgen_read_scalar(call, i);
  const struct dlpackgen_access* access = dlpackgen_access_of(call->private_.state, object);
  if (!access) return dlpackgen_about(call->function, i);
  a->private_.done = 0;
  a->private_.type = (PyTypeObject*)Py_NewRef(access->type);
  a->private_.reader = access->reader;
  a->private_.rejecting = access->rejecting;
  a->private_.streams = dlpackgen_stream_reader(access);
  a->private_.waits = 0;
  a->private_.api = access->api;
  a->private_.guard = access->guard;
  a->private_.plain = access->plain;
  a->private_.queries = access->queries;
  a->private_.trusted = access->trusted;
  a->private_.yields = access->yields;
  return 0;
}

/* The error to report, if there is one, and the number of earlier arguments, whose errors would
 * take precedence. */
struct dlpackgen_first_error {
  struct dlpackgen_pending pending;
  int before, is_found, is_final;
};

/* Saves the exception about an argument until the earlier arguments have been read. An exception
 * that is not about an argument ends the call. */
DLPACKGEN_SLOW static void dlpackgen_put_off(struct dlpackgen_first_error* first, int i) {
  struct dlpackgen_pending newer = dlpackgen_catch();
  const int is_final = !dlpackgen_kind_of(newer.value);
  struct dlpackgen_pending* less = first->is_final || (i > first->before && !is_final) ? &newer : &first->pending;
  first->is_found = 1;
  dlpackgen_drop_pending(less);
  if (less == &newer) return;
  first->pending = newer;
  first->before = i;
  first->is_final = is_final;
}

/* Keeps the exception about an argument, unless an earlier argument is on a different device, whose
 * error takes precedence. Returns -1. */
DLPACKGEN_SLOW static int dlpackgen_keep_first_error(const struct dlpackgen_call* call, int i) {
  struct dlpackgen_pending pending = dlpackgen_catch();
  if (dlpackgen_kind_of(pending.value) && dlpackgen_compare_devices(call, i) < -1) dlpackgen_drop_pending(&pending);
  else dlpackgen_resume(pending);
  return -1;
}

/* Reads the arguments whose access methods may run foreign code, or those whose methods do not, in
 * order. */
static void dlpackgen_read_some(struct dlpackgen_call* call, int yields, struct dlpackgen_first_error* first) {
  for (int i = 0; i < first->before && !first->is_final; i++) {
    const struct dlpackgen_argument* a = &call->arguments[i];
    if (!a->object || a->private_.done || a->private_.yields != yields) continue;
    if (dlpackgen_check_type(call, i) || (yields ? dlpackgen_read_yielding(call, i) : dlpackgen_look(call, i)))
      dlpackgen_put_off(first, i);
  }
}

/* Releases the tensors that were imported to determine devices, before the final checks, because
 * their deleters may run code. */
static void dlpackgen_drop_looks(struct dlpackgen_call* call) {
  for (int i = 0; i < call->function->nparameters; i++)
    if (!call->arguments[i].private_.done) dlpackgen_release_tensor(call, i);
}

/* Reads the remaining arguments and checks all. No foreign code runs from here on. */
static void dlpackgen_check_all(struct dlpackgen_call* call, struct dlpackgen_first_error* first) {
  for (int i = 0; i < first->before && !first->is_final; i++) {
    struct dlpackgen_argument* a = &call->arguments[i];
    const struct dlpackgen_parameter* p = &call->function->parameters[i];
    if (p->kind != DLPACKGEN_KIND_TENSOR || !a->object) continue;
    int failed = a->private_.done ? 0 : dlpackgen_check_type(call, i);
    if (!failed && !a->private_.done) failed = dlpackgen_fetch(call, i);
    if (failed > 0) dlpackgen_unreadable(call, i);
    if (failed || dlpackgen_check(call, i)) dlpackgen_put_off(first, i);
  }
}

static void dlpackgen_drop_types(struct dlpackgen_call* call) {
  for (int i = 0; i < call->function->nparameters; i++) Py_CLEAR(call->arguments[i].private_.type);
}

/* Determines the stream of the call while foreign code may still run. Returns 0, or -1 with an
 * exception. A library on another stream is synchronized by a backend, or by exporting its tensor
 * for this stream. */
static int dlpackgen_agree_on_stream(struct dlpackgen_call* call) {
  int other = -1;
  const int first = dlpackgen_compare_devices(call, call->function->nparameters);
  if (first < -1 || (first >= 0 && dlpackgen_choose_stream(call, first))) return -1;
  while (call->private_.has_stream && (other = dlpackgen_find_other_stream(call, 0)) >= 0) {
    struct dlpackgen_argument* a = &call->arguments[other];
    const int waits = dlpackgen_wait_for(call, other);
    if (waits < 0) return -1;
    if (waits) continue;
    if (dlpackgen_check_type(call, other) || dlpackgen_may_export_again(call, other)) return -1;
    dlpackgen_release_tensor(call, other);
    a->private_.reader = a->private_.streams = NULL;
    a->private_.api = NULL;
    a->private_.done = 1;
    if (dlpackgen_fetch_capsule(call, other)) return -1;
  }
  return other < -1 ? -1 : 0;
}

/* First reads the arguments that may run Python code, then reads and checks the others in order. */
DLPACKGEN_SLOW static int dlpackgen_begin_in_phases(struct dlpackgen_call* call, PyObject* const* passed) {
  const int count = call->function->nparameters;
  struct dlpackgen_first_error first = {{NULL, NULL, NULL}, count, 0, 0};
  struct dlpackgen_pending streams = {NULL, NULL, NULL};
  int disagree = 0;
  dlpackgen_call_end(call);
  memset(call->private_.bound, 0, sizeof call->private_.bound);
  call->private_.has_stream = 0;
  for (int i = 0; i < count; i++) call->arguments[i].private_.type = NULL;
  for (int i = 0; i < count; i++)
    if (dlpackgen_sort_slowly(call, i, passed[i])) dlpackgen_put_off(&first, i);
  dlpackgen_read_some(call, 0, &first);
  dlpackgen_read_some(call, 1, &first);
  if (!first.is_found) disagree = dlpackgen_agree_on_stream(call);
  if (disagree) streams = dlpackgen_catch();
  dlpackgen_drop_looks(call);
  dlpackgen_check_all(call, &first);
  dlpackgen_drop_types(call);
  if (first.is_found) {
    dlpackgen_drop_pending(&streams);
    dlpackgen_resume(first.pending);
    return dlpackgen_keep_first_error(call, first.before);
  }
  if (!disagree) return dlpackgen_settle_device(call, 1) ? -1 : 0;
  dlpackgen_resume(streams);
  return -1;
}

/* The path of calls in which reading an argument may change another one. */
DLPACKGEN_SLOW static int dlpackgen_begin_slowly(struct dlpackgen_call* call, PyObject* const* passed) {
  int* const nested = dlpackgen_descend();
  if (!nested) return -1;
  const int failed = dlpackgen_begin_in_phases(call, passed);
  dlpackgen_ascend(nested);
  return failed;
}

#endif
