//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "table.h"

#include "dlpackgen_codes.h"
#include "dlpackgen_rules.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

typedef dlp_00000000_object object;
typedef struct dlp_00000000_answer answer;
typedef struct dlp_00000000_plan plan;
typedef void (*set_error)(void* error_ctx, const char* kind, const char* message);

/* The data of a table's functions besides their arguments. */
typedef struct producer {
  DLPackExchangeAPI api;
  plan is;
} producer;

/* Outside of the successful path, which takes two nanoseconds. */
__attribute__((cold, noinline)) static int fail(const producer* p, const char* kind, const char* message) {
  if (p->is.raise) ((set_error)p->is.raise)(NULL, kind, message);
  return -1;
}

/* The object behind a py_object; NULL for any other object. */
static object* object_of(const producer* p, void* py_object) {
  object* o = py_object;
  if (o && p->is.offset) memcpy(&o, (char*)py_object + p->is.offset, sizeof o);
  return o && o->tag == dlp_00000000_OBJECT ? o : NULL;
}

static int not_ours(const producer* p) { return fail(p, "TypeError", "not an object of this exchange table"); }

__attribute__((cold, noinline)) static int has_flags(const producer* p) {
  return fail(p, "BufferError", DLPACKGEN_TEXT_NO_FLAGS);
}

static int borrow(const producer* p, void* py_object, DLTensor* out) {
  const object* o = object_of(p, py_object);
  if (!o) return not_ours(p);
  if (o->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED) return has_flags(p);
  *out = o->tensor;
  return 0;
}

static int managed(const producer* p, void* py_object, DLManagedTensorVersioned** out) {
  object* o = object_of(p, py_object);
  if (!o) return not_ours(p);
  *out = dlp_00000000_object_managed(o);
  return *out ? 0 : fail(p, "MemoryError", "no memory for a managed tensor");
}

/* On a failure, the caller keeps the tensor: DLPack does not specify the owner, and a caller that
 * deletes it would crash if the producer had deleted it too. */
static int wrap(const producer* p, DLManagedTensorVersioned* tensor, void** out) {
  if (!tensor || tensor->version.major != DLPACK_MAJOR_VERSION)
    return fail(p, "BufferError", "unsupported major version of DLPack");
  if (tensor->dl_tensor.ndim < 0 || tensor->dl_tensor.ndim > dlp_00000000_VIEW_NDIM ||
      (tensor->dl_tensor.ndim && !tensor->dl_tensor.shape))
    return fail(p, "BufferError", "a tensor without a valid shape");
  *out = dlp_00000000_object_new(tensor, 0, tensor->flags);
  return *out ? 0 : fail(p, "MemoryError", "no memory for an object");
}

static int stream(const producer* p, DLDevice device, void** out) {
  if (!dlpackgen_device_is_host((int32_t)device.device_type))
    return fail(p, "BufferError", "this exchange table has no streams of devices other than the host");
  *out = NULL;
  return 0;
}

/* Allocation */

enum { ALIGNMENT = DLPACKGEN_DATA_ALIGNMENT }; /* few producers provide it */

/* A tensor, its shape and strides, and its data, in one piece of memory. */
typedef struct block {
  DLManagedTensorVersioned managed;
  int64_t dims[];
} block;

static void free_block(DLManagedTensorVersioned* self) { free(self); }

/* Returns NULL, or why there can be no such tensor. */
static const char* bytes_of(const DLTensor* t, int64_t* bytes) {
  if (t->device.device_type != kDLCPU) return "this exchange table allocates only CPU memory";
  dlpackgen_mismatch_ mismatch = {-1, 0, 0};
  const dlpackgen_error_code rule = dlpackgen_check_dtype_(t->dtype, 1, &mismatch); /* Import accepts any code */
  if (rule != DLPACKGEN_OK) return dlpackgen_error_string(rule);
  if (t->ndim > dlp_00000000_VIEW_NDIM) return "no valid shape";
  switch (dlpackgen_nbytes(t, 0, bytes)) {
    case DLPACKGEN_OK: return NULL;
    case DLPACKGEN_ERROR_EXTENT: return "a negative extent";
    case DLPACKGEN_ERROR_TOO_LARGE: return "more elements than memory can hold";
    default: return "no valid shape";
  }
}

static void fill(block* b, const DLTensor* like, int64_t bytes) {
  DLTensor* t = &b->managed.dl_tensor;
  const int32_t n = like->ndim;
  *t = (DLTensor){NULL, {kDLCPU, 0}, n, like->dtype, n ? b->dims : NULL, n ? b->dims + n : NULL, 0};
  for (int32_t i = 0; i < n; i++) {
    b->dims[i] = like->shape[i];
    b->dims[n + i] = 1; /* if no strides fit: those of an empty tensor have no meaning */
  }
  (void)dlpackgen_compact_strides(n, t->shape, t->strides);
  if (bytes) t->data = (void*)(((uintptr_t)(b->dims + 2 * n) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  b->managed.version.major = DLPACK_MAJOR_VERSION;
  b->managed.version.minor = DLPACK_MINOR_VERSION;
  b->managed.manager_ctx = NULL;
  b->managed.deleter = free_block;
  b->managed.flags = 0;
}

static int reject(void* error_ctx, set_error SetError, const char* kind, const char* message) {
  if (SetError) SetError(error_ctx, kind, message);
  return -1;
}

static int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx, set_error SetError) {
  int64_t bytes = 0;
  const char* why = prototype ? bytes_of(prototype, &bytes) : "no prototype";
  if (why) return reject(error_ctx, SetError, "BufferError", why);
  block* b = malloc(sizeof *b + 2 * (size_t)prototype->ndim * sizeof *b->dims + (size_t)bytes + ALIGNMENT);
  if (!b) return reject(error_ctx, SetError, "MemoryError", "no memory for the tensor");
  fill(b, prototype, bytes);
  *out = &b->managed;
  return 0;
}

/* Hooks: converts Go's result to the result of the table's function. SetError is called from here,
 * after Go has returned, because it may be C++ code that throws or jumps. */

static int tell(dlp_00000000_failure* f, void* error_ctx, set_error SetError) {
  if (SetError)
    SetError(error_ctx, f->kind ? f->kind : "MemoryError", f->message ? f->message : "no memory for an error message");
  dlp_00000000_forget(f);
  return -1;
}

static int return_allocated(answer a, DLManagedTensorVersioned** out, void* error_ctx, set_error SetError) {
  if (a.failure) return tell(a.failure, error_ctx, SetError);
  *out = (DLManagedTensorVersioned*)a.value;
  return 0;
}

static int take(const producer* p, answer a, void** out) {
  if (a.failure) return tell(a.failure, NULL, (set_error)p->is.raise);
  if (out) *out = (void*)a.value;
  return 0;
}

/* A C function knows only its arguments, so each table has separate functions. Number 0 is the
 * default table. */
enum { NUMBERS = dlp_00000000_TABLES + 1 };
static producer producers[NUMBERS];

#define FUNCTIONS(i)                                                                                            \
  static int borrow_##i(void* o, DLTensor* out) { return borrow(&producers[i], o, out); }                       \
  static int managed_##i(void* o, DLManagedTensorVersioned** out) { return managed(&producers[i], o, out); }    \
  static int wrap_##i(DLManagedTensorVersioned* t, void** out) { return wrap(&producers[i], t, out); }          \
  static int stream_##i(DLDeviceType type, int32_t id, void** out) {                                            \
    return stream(&producers[i], (DLDevice){type, id}, out);                                                    \
  }                                                                                                             \
  static int hook_borrow_##i(void* o, DLTensor* out) {                                                          \
    return take(&producers[i], dlp_00000000_hook_borrow(i, (uintptr_t)o, out), NULL);                           \
  }                                                                                                             \
  static int hook_managed_##i(void* o, DLManagedTensorVersioned** out) {                                        \
    return take(&producers[i], dlp_00000000_hook_managed(i, (uintptr_t)o), (void**)out);                        \
  }                                                                                                             \
  static int hook_wrap_##i(DLManagedTensorVersioned* t, void** out) {                                           \
    return take(&producers[i], dlp_00000000_hook_wrap(i, t), out);                                              \
  }                                                                                                             \
  static int hook_stream_##i(DLDeviceType type, int32_t id, void** out) {                                       \
    return take(&producers[i], dlp_00000000_hook_stream(i, (DLDevice){type, id}), out);                         \
  }                                                                                                             \
  static int hook_allocate_##i(DLTensor* like, DLManagedTensorVersioned** out, void* ctx, set_error SetError) { \
    return return_allocated(dlp_00000000_hook_allocate(i, like), out, ctx, SetError);                           \
  }

FUNCTIONS(0)
FUNCTIONS(1)
FUNCTIONS(2)
FUNCTIONS(3)
FUNCTIONS(4)
FUNCTIONS(5)
FUNCTIONS(6)
FUNCTIONS(7)
FUNCTIONS(8)

#define TABLE(allocate_, prefix, i)                                \
  {.header = {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, NULL}, \
   .managed_tensor_allocator = allocate_,                          \
   .managed_tensor_from_py_object_no_sync = prefix##managed_##i,   \
   .managed_tensor_to_py_object_no_sync = prefix##wrap_##i,        \
   .dltensor_from_py_object_no_sync = prefix##borrow_##i,          \
   .current_work_stream = prefix##stream_##i}
#define DEFAULTS(i) TABLE(allocate, , i)
#define HOOKS(i) TABLE(hook_allocate_##i, hook_, i)

static const DLPackExchangeAPI defaults[NUMBERS] = {DEFAULTS(0), DEFAULTS(1), DEFAULTS(2), DEFAULTS(3), DEFAULTS(4),
                                                    DEFAULTS(5), DEFAULTS(6), DEFAULTS(7), DEFAULTS(8)};
static const DLPackExchangeAPI hooked[NUMBERS] = {HOOKS(0), HOOKS(1), HOOKS(2), HOOKS(3), HOOKS(4),
                                                  HOOKS(5), HOOKS(6), HOOKS(7), HOOKS(8)};

static producer producers[NUMBERS] = {{DEFAULTS(0), {0, 0, 0}}};

const DLPackExchangeAPI* dlp_00000000_table_plain(void) { return &producers[0].api; }

const DLPackExchangeAPI* dlp_00000000_table_new(int i, plan is, const DLPackExchangeAPI* passed) {
  DLPackExchangeAPI* api = &producers[i].api;
  producers[i].is = is;
  *api = defaults[i];
  api->header.prev_api = passed->header.prev_api;
#define CHOOSE(function, op)                                   \
  if (is.hooks & 1u << op) api->function = hooked[i].function; \
  if (passed->function) api->function = passed->function
  CHOOSE(managed_tensor_allocator, dlp_00000000_OP_ALLOCATE);
  CHOOSE(managed_tensor_from_py_object_no_sync, dlp_00000000_OP_MANAGED);
  CHOOSE(managed_tensor_to_py_object_no_sync, dlp_00000000_OP_WRAP);
  CHOOSE(dltensor_from_py_object_no_sync, dlp_00000000_OP_BORROW);
  CHOOSE(current_work_stream, dlp_00000000_OP_STREAM);
#undef CHOOSE
  return api;
}
