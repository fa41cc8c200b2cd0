
/* How the exchange tables that this package produces are built. Not part of the
 * package's interface. */
#ifndef dlp_00000000_TABLE_H
#define dlp_00000000_TABLE_H

#include "exchange.h"

/* Tables that differ from the plain one; their numbers begin with 1. */
enum { dlp_00000000_TABLES = 8 };

/* What a table of ours takes for a py_object: a tensor with a count of the
 * references to it. It lies in C, so that consumers get views of it and managed
 * tensors over it without entering Go. All fields but references keep their
 * values until the last reference goes. */
typedef struct dlp_00000000_object {
  uint64_t tag;       /* dlp_00000000_OBJECT, by which strangers are known */
  int64_t references; /* by atomic operations */
  void* owner;        /* the managed tensor that the object took over */
  uint64_t flags;     /* of owner */
  DLTensor tensor;    /* of owner; its shape and strides are copies, in dims */
  uint32_t legacy;    /* owner is a DLManagedTensor */
  uint32_t padding;
  int64_t dims[]; /* shape, then strides */
} dlp_00000000_object;

#define dlp_00000000_OBJECT 0x646c705f6f626a31u /* "dlp_obj1" */

/* Makes an object with one reference and such flags of a tensor, and takes the tensor over; NULL
 * when memory is out, and then the tensor is the caller's still. Its version,
 * ndim and shape must have been tested. */
dlp_00000000_LOCAL dlp_00000000_object* dlp_00000000_object_new(void* tensor, int legacy, uint64_t flags);

/* Deletes a tensor that no object took over. */
dlp_00000000_LOCAL void dlp_00000000_delete_any(void* tensor, int legacy);

dlp_00000000_LOCAL void dlp_00000000_object_retain(dlp_00000000_object* o);
dlp_00000000_LOCAL void dlp_00000000_object_release(dlp_00000000_object* o);

/* Makes a managed tensor that holds a reference to the object; NULL when memory
 * is out. */
dlp_00000000_LOCAL DLManagedTensorVersioned* dlp_00000000_object_managed(dlp_00000000_object* o);

/* Tells whether somebody else holds a reference too. */
dlp_00000000_LOCAL int dlp_00000000_object_shared(dlp_00000000_object* o);

/* What a table is made of beside the defaults in C. Nonzero functions of given
 * replace defaults; the bits of hooks, 1 << dlp_00000000_OP_..., select Go. */
struct dlp_00000000_plan {
  uint32_t hooks;
  int32_t offset;  /* bytes into a py_object to the address of ours; 0: it is ours */
  uintptr_t raise; /* SetError for what has none, or 0 */
};

/* Makes table number i, from 1 to dlp_00000000_TABLES, once. It lives as long as
 * the process. */
dlp_00000000_LOCAL const DLPackExchangeAPI* dlp_00000000_table_new(int i, struct dlp_00000000_plan plan,
                                                                   const DLPackExchangeAPI* given);

/* Gives the table that has the defaults alone. */
dlp_00000000_LOCAL const DLPackExchangeAPI* dlp_00000000_table_plain(void);

/* The hooks, in Go. A failure is REFUSED, with a kind and a message. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_allocate(int table, DLTensor* prototype);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_managed(int table, uintptr_t object);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_wrap(int table, DLManagedTensorVersioned* tensor);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_borrow(int table, uintptr_t object, DLTensor* out);
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_hook_stream(int table, DLDevice device);

#endif
