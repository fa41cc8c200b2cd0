//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "object.h"

#include "dlpackgen_rules.h"

#include <stdlib.h>

typedef dlp_00000000_object object;

void dlp_00000000_delete_any(void* tensor, int legacy) {
  if (legacy) {
    dlp_00000000_delete_legacy((uintptr_t)tensor);
  } else {
    dlp_00000000_delete((uintptr_t)tensor);
  }
}

/* Consumers of a table may rely on strides, which old producers may omit. */
static void copy_dims(object* o, const DLTensor* t) {
  int64_t* strides = o->dims + t->ndim;
  for (int32_t i = 0; i < t->ndim; i++) {
    o->dims[i] = t->shape[i];
    strides[i] = t->strides ? t->strides[i] : 1; /* 1 also for an unchecked shape without strides */
  }
  if (!t->strides) (void)dlpackgen_compact_strides(t->ndim, o->dims, strides);
  o->tensor.shape = t->ndim ? o->dims : NULL;
  o->tensor.strides = t->ndim ? strides : NULL;
}

object* dlp_00000000_object_new(void* tensor, int legacy, uint64_t flags) {
  const DLTensor* t = legacy ? &((DLManagedTensor*)tensor)->dl_tensor : &((DLManagedTensorVersioned*)tensor)->dl_tensor;
  object* o = malloc(sizeof *o + 2 * (size_t)t->ndim * sizeof *o->dims);
  if (!o) return NULL;
  o->tag = dlp_00000000_OBJECT;
  o->references = 1;
  o->owner = tensor;
  o->flags = flags;
  o->tensor = *t;
  o->legacy = (uint32_t)legacy;
  o->padding = 0;
  copy_dims(o, t);
  return o;
}

void dlp_00000000_object_retain(object* o) { __atomic_fetch_add(&o->references, 1, __ATOMIC_RELAXED); }

void dlp_00000000_object_release(object* o) {
  if (__atomic_fetch_sub(&o->references, 1, __ATOMIC_ACQ_REL) != 1) return;
  dlp_00000000_delete_any(o->owner, (int)o->legacy);
  free(o);
}

int dlp_00000000_object_shared(object* o) { return __atomic_load_n(&o->references, __ATOMIC_ACQUIRE) > 1; }

static void delete_managed(DLManagedTensorVersioned* self) {
  dlp_00000000_object_release(self->manager_ctx);
  free(self);
}

DLManagedTensorVersioned* dlp_00000000_object_managed(object* o) {
  DLManagedTensorVersioned* made = malloc(sizeof *made);
  if (!made) return NULL;
  dlp_00000000_object_retain(o);
  made->version.major = DLPACK_MAJOR_VERSION;
  made->version.minor = DLPACK_MINOR_VERSION;
  made->manager_ctx = o;
  made->deleter = delete_managed;
  made->flags = o->flags;
  made->dl_tensor = o->tensor;
  return made;
}
