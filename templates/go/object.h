
/* Reference-counted tensors, for the exchange tables that this package produces. Not part of the
 * package's interface. */
#ifndef dlp_00000000_OBJECT_H
#define dlp_00000000_OBJECT_H

#include "shared.h"

/* The py_object of this package's tables: a reference-counted tensor. It is in C memory, so that
 * consumers can obtain views of it and managed tensors over it without entering Go. All fields
 * except references keep their values until the last reference is released. */
typedef struct dlp_00000000_object {
  uint64_t tag;       /* dlp_00000000_OBJECT, which distinguishes it from other objects */
  int64_t references; /* by atomic operations */
  void* owner;        /* the managed tensor that the object took over */
  uint64_t flags;     /* of owner */
  DLTensor tensor;    /* of owner; its shape and strides are copies, in dims */
  uint32_t legacy;    /* owner is a DLManagedTensor */
  uint32_t padding;
  int64_t dims[]; /* shape, then strides */
} dlp_00000000_object;

#define dlp_00000000_OBJECT 0x646c705f6f626a31u /* "dlp_obj1" */

/* Creates an object with one reference and the given flags, and takes ownership of the tensor.
 * Returns NULL if memory is exhausted; the caller then keeps the tensor. Its version, ndim and
 * shape must be valid. */
dlp_00000000_LOCAL dlp_00000000_object* dlp_00000000_object_new(void* tensor, int legacy, uint64_t flags);

/* Deletes a tensor that no object owns. */
dlp_00000000_LOCAL void dlp_00000000_delete_any(void* tensor, int legacy);

dlp_00000000_LOCAL void dlp_00000000_object_retain(dlp_00000000_object* o);
dlp_00000000_LOCAL void dlp_00000000_object_release(dlp_00000000_object* o);

/* Creates a managed tensor that owns a reference to the object; NULL if memory is exhausted. */
dlp_00000000_LOCAL DLManagedTensorVersioned* dlp_00000000_object_managed(dlp_00000000_object* o);

/* Reports whether there is another reference. */
dlp_00000000_LOCAL int dlp_00000000_object_shared(dlp_00000000_object* o);

#endif
