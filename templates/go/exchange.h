
/* The calls of a foreign exchange table from exchange.go and view.go: one crossing per call. Not
 * part of the package's interface. */
#ifndef dlp_00000000_EXCHANGE_H
#define dlp_00000000_EXCHANGE_H

#include "shared.h"

enum {
  dlp_00000000_VIEW_NDIM = 64, /* MaxNDim of Go */
  dlp_00000000_PASSED_NDIM = 8 /* more extents are passed in memory of Go */
};

/* The functions of a table, as failures name them. */
enum {
  dlp_00000000_OP_ALLOCATE,
  dlp_00000000_OP_MANAGED,
  dlp_00000000_OP_WRAP,
  dlp_00000000_OP_BORROW,
  dlp_00000000_OP_STREAM
};

enum {
  dlp_00000000_REJECTED, /* the function returned an error */
  dlp_00000000_NOTHING,  /* it returned success, but gave nothing */
  dlp_00000000_VERSION,  /* it gave a tensor of another major version */
  dlp_00000000_NO_MEMORY /* of ours */
};

/* A failure. The receiver frees it. Without a failure, the pointer is NULL, so results fit in two
 * registers. */
typedef struct dlp_00000000_failure {
  uint32_t why, op;
  size_t index;         /* of the object */
  char *kind, *message; /* NULL where the table gave none */
} dlp_00000000_failure;

dlp_00000000_LOCAL void dlp_00000000_forget(dlp_00000000_failure* f);

/* Makes a failure that is REJECTED. It takes over the texts, which are malloc'd. */
dlp_00000000_LOCAL dlp_00000000_failure* dlp_00000000_rejection(uint32_t op, char* kind, char* message);

/* The result of a call: an address where nothing failed. */
struct dlp_00000000_answer {
  uintptr_t value;
  dlp_00000000_failure* failure;
};

/* Reports the current error of this thread, such as Python's, by one call of SetError. It must not
 * clear that error. */
typedef void (*dlp_00000000_explain)(void* error_ctx,
                                     void (*SetError)(void* error_ctx, const char* kind, const char* message));

/* The callee: a table, and an explain function or 0. Numbers, since cgo would
 * test pointer arguments for Go memory behind them. */
struct dlp_00000000_callee {
  uintptr_t table, explain;
};

/* A view of one object; View in Go. It lies in Go's memory, hence no pointers. */
struct dlp_00000000_view {
  uintptr_t object; /* what to borrow; 0 in a view that holds nothing */
  uintptr_t owner;  /* the managed tensor where the table cannot lend, or 0 */
  uintptr_t stream;
  uint64_t flags;
  DLTensor tensor; /* shape and strides are copies, in dims */
  int64_t dims[2 * dlp_00000000_VIEW_NDIM];
};

/* Extents as an argument. */
struct dlp_00000000_extents {
  int64_t n[dlp_00000000_PASSED_NDIM];
};

/* Fills count views, words being the first of them, each with the stream of its
 * device. On a failure some may hold tensors, to be given back. */
dlp_00000000_LOCAL dlp_00000000_failure* dlp_00000000_borrow(struct dlp_00000000_callee to, uint64_t* words,
                                                             size_t count);

/* Deletes the tensors that count views own. Some views may own none. */
dlp_00000000_LOCAL void dlp_00000000_give_back(uint64_t* words, size_t count);

/* Returns a managed tensor that the caller owns. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_managed(struct dlp_00000000_callee to, uintptr_t object);

/* Returns an object for a tensor, of which nothing is left to the caller, also on a failure. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_wrap(struct dlp_00000000_callee to, uintptr_t tensor,
                                                                int legacy, uint64_t flags);

/* Returns a new managed tensor. The extents are in many where they are too many for few; many is
 * NULL otherwise. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_allocate(struct dlp_00000000_callee to, DLDataType dtype,
                                                                    DLDevice device, int32_t ndim,
                                                                    struct dlp_00000000_extents few, int64_t* many);

/* Returns the stream on which the producer works. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_stream(struct dlp_00000000_callee to, DLDevice device);

#endif
