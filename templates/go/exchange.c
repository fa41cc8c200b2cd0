//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "exchange.h"

#include "dlpackgen_codes.h"
#include "object.h"

#include <stdlib.h>
#include <string.h>

typedef dlp_00000000_failure failure;
typedef struct dlp_00000000_answer answer;
typedef struct dlp_00000000_callee callee;
typedef struct dlp_00000000_view view;

static const DLPackExchangeAPI* table_of(callee to) { return (const DLPackExchangeAPI*)to.table; }

/* Failures */

/* The message if there is no memory for another one. */
static const failure speechless[] = {
    {dlp_00000000_NO_MEMORY, dlp_00000000_OP_ALLOCATE, 0, NULL, NULL},
    {dlp_00000000_NO_MEMORY, dlp_00000000_OP_MANAGED, 0, NULL, NULL},
    {dlp_00000000_NO_MEMORY, dlp_00000000_OP_WRAP, 0, NULL, NULL},
    {dlp_00000000_NO_MEMORY, dlp_00000000_OP_BORROW, 0, NULL, NULL},
    {dlp_00000000_NO_MEMORY, dlp_00000000_OP_STREAM, 0, NULL, NULL},
};

static failure* failed(uint32_t why, uint32_t op) {
  failure* f = malloc(sizeof *f);
  if (!f) return (failure*)(uintptr_t)&speechless[op]; /* which is never written to */
  *f = (failure){why, op, 0, NULL, NULL};
  return f;
}

failure* dlp_00000000_rejection(uint32_t op, char* kind, char* message) {
  failure* f = failed(dlp_00000000_REJECTED, op);
  if (f == &speechless[op]) {
    free(kind);
    free(message);
    return f;
  }
  f->kind = kind;
  f->message = message;
  return f;
}

void dlp_00000000_forget(failure* f) {
  if (f == &speechless[f->op]) return;
  free(f->kind);
  free(f->message);
  free(f);
}

/* The arguments of SetError. */
typedef struct report {
  int times;
  char *kind, *message;
} report;

static char* copy(const char* text) {
  if (!text) return NULL;
  size_t size = strlen(text) + 1;
  char* made = malloc(size);
  return made ? memcpy(made, text, size) : NULL;
}

/* SetError. Only the first call counts, because it reports the cause. */
static void note(void* error_ctx, const char* kind, const char* message) {
  report* t = error_ctx;
  if (t->times++) return;
  t->kind = copy(kind);
  t->message = copy(message);
}

/* A pending error belongs to this thread, so it is read before Go runs again. */
static failure* rejected(callee to, uint32_t op, report t) {
  if (!t.times && to.explain) ((dlp_00000000_explain)to.explain)(&t, note);
  return dlp_00000000_rejection(op, t.kind, t.message);
}

static failure* rejected_silently(callee to, uint32_t op) { return rejected(to, op, (report){0, NULL, NULL}); }

/* Views */

static void drop(view* v) {
  const uintptr_t owner = v->owner;
  v->owner = 0;
  if (owner) dlp_00000000_delete(owner);
}

void dlp_00000000_release_views(uint64_t* words, size_t count) {
  view* views = (view*)words;
  for (size_t i = 0; i < count; i++) drop(&views[i]);
}

static failure* own(callee to, uintptr_t object, DLManagedTensorVersioned** out) {
  *out = NULL;
  if (table_of(to)->managed_tensor_from_py_object_no_sync((void*)object, out))
    return rejected_silently(to, dlp_00000000_OP_MANAGED);
  return *out ? NULL : failed(dlp_00000000_NOTHING, dlp_00000000_OP_MANAGED);
}

/* If the table cannot lend, a view owns a managed tensor. */
static failure* own_for_view(callee to, view* v) {
  DLManagedTensorVersioned* managed;
  failure* f = own(to, v->object, &managed);
  if (f) return f;
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    dlp_00000000_delete((uintptr_t)managed);
    return failed(dlp_00000000_VERSION, dlp_00000000_OP_MANAGED);
  }
  v->owner = (uintptr_t)managed;
  v->flags = managed->flags;
  v->tensor = managed->dl_tensor;
  return NULL;
}

static failure* borrow_view(callee to, view* v) {
  int (*function)(void*, DLTensor*) = table_of(to)->dltensor_from_py_object_no_sync;
  if (!function) return own_for_view(to, v);
  v->flags = DLPACK_FLAG_BITMASK_READ_ONLY; /* which a DLTensor cannot store */
  memset(&v->tensor, 0, sizeof v->tensor);  /* detects a function that fills nothing */
  return function((void*)v->object, &v->tensor) ? rejected_silently(to, dlp_00000000_OP_BORROW) : NULL;
}

/* A loop, because a call of memcpy costs more for a few numbers. */
static int64_t* copy_dims(int64_t* to, const int64_t* from, int32_t n) {
  if (!from) return NULL;
  for (int32_t i = 0; i < n; i++) to[i] = from[i];
  return to;
}

/* Copies shape and strides, because the producer's arrays may change when another thread resizes
 * the object. An invalid ndim is kept, and Go reports it. */
static void keep_dims(view* v) {
  DLTensor* t = &v->tensor;
  const int32_t n = t->ndim;
  if (n <= 0 || n > dlp_00000000_VIEW_NDIM) {
    t->shape = t->strides = NULL;
    return;
  }
  t->shape = copy_dims(v->dims, t->shape, n);
  t->strides = copy_dims(v->dims + n, t->strides, n);
}

/* Host memory has no streams, pinned or not, so its producer is not queried: it may fail. */
static failure* query_stream(callee to, DLDevice device, uintptr_t* stream) {
  void* out = NULL;
  *stream = 0;
  if (dlpackgen_device_is_host((int32_t)device.device_type)) return NULL;
  int rc = table_of(to)->current_work_stream(device.device_type, device.device_id, &out);
  *stream = rc ? 0 : (uintptr_t)out;
  return rc ? rejected_silently(to, dlp_00000000_OP_STREAM) : NULL;
}

static int same(DLDevice a, DLDevice b) { return a.device_type == b.device_type && a.device_id == b.device_id; }

/* Each device has one current stream. */
static failure* add_stream(callee to, view* v, const view* previous) {
  if (!previous || !same(previous->tensor.device, v->tensor.device))
    return query_stream(to, v->tensor.device, &v->stream);
  v->stream = previous->stream;
  return NULL;
}

failure* dlp_00000000_borrow(callee to, uint64_t* words, size_t count) {
  view* views = (view*)words;
  for (size_t i = 0; i < count; i++) {
    view* v = &views[i];
    drop(v);
    failure* f = borrow_view(to, v);
    if (!f) {
      keep_dims(v);
      f = add_stream(to, v, i ? v - 1 : NULL);
    }
    if (f) {
      if (f->why != dlp_00000000_NO_MEMORY) f->index = i;
      return f;
    }
  }
  return NULL;
}

/* Single calls */

answer dlp_00000000_managed(callee to, uintptr_t object) {
  DLManagedTensorVersioned* managed;
  failure* f = own(to, object, &managed);
  return (answer){(uintptr_t)managed, f};
}

answer dlp_00000000_stream(callee to, DLDevice device) {
  answer a;
  a.failure = query_stream(to, device, &a.value);
  return a;
}

answer dlp_00000000_allocate(callee to, DLDataType dtype, DLDevice device, int32_t ndim,
                             struct dlp_00000000_extents few, int64_t* many) {
  report t = {0, NULL, NULL};
  DLManagedTensorVersioned* made = NULL;
  DLTensor prototype = {NULL, device, ndim, dtype, many ? many : few.n, NULL, 0};
  if (table_of(to)->managed_tensor_allocator(&prototype, &made, &t, note))
    return (answer){0, rejected(to, dlp_00000000_OP_ALLOCATE, t)};
  free(t.kind);
  free(t.message);
  return (answer){(uintptr_t)made, made ? NULL : failed(dlp_00000000_NOTHING, dlp_00000000_OP_ALLOCATE)};
}

static failure* wrap_object(callee to, dlp_00000000_object* owned, uintptr_t* object) {
  void* out = NULL;
  DLManagedTensorVersioned* passed = dlp_00000000_object_managed(owned);
  if (!passed) return failed(dlp_00000000_NO_MEMORY, dlp_00000000_OP_WRAP);
  if (table_of(to)->managed_tensor_to_py_object_no_sync(passed, &out)) {
    failure* f = rejected_silently(to, dlp_00000000_OP_WRAP);
    if (dlp_00000000_object_shared(owned)) dlp_00000000_delete((uintptr_t)passed);
    return f;
  }
  *object = (uintptr_t)out;
  return out ? NULL : failed(dlp_00000000_NOTHING, dlp_00000000_OP_WRAP);
}

/* DLPack does not specify which side deletes the tensor after a failure, and implementations
 * differ. The function therefore receives a proxy with one of two references to the real tensor.
 * The number of remaining references shows whether the proxy was deleted. */
answer dlp_00000000_wrap(callee to, uintptr_t tensor, int legacy, uint64_t flags) {
  answer a = {0, NULL};
  dlp_00000000_object* owned = dlp_00000000_object_new((void*)tensor, legacy, flags);
  if (!owned) {
    dlp_00000000_delete_any((void*)tensor, legacy);
    a.failure = failed(dlp_00000000_NO_MEMORY, dlp_00000000_OP_WRAP);
    return a;
  }
  a.failure = wrap_object(to, owned, &a.value);
  dlp_00000000_object_release(owned);
  return a;
}
