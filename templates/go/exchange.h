
/* The calls of a foreign exchange table from cgo.go: one crossing per call. Not part of the
 * package's interface. */
#ifndef dlp_00000000_EXCHANGE_H
#define dlp_00000000_EXCHANGE_H

#include "dlpackgen_rules.h"
#include "shared.h"

enum {
  dlp_00000000_VIEW_NDIM = DLPACKGEN_MAX_NDIM, /* MaxNDim, with which cgo.go compares it */
  dlp_00000000_PASSED_NDIM = 8                 /* more extents are passed in memory of Go */
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
  dlp_00000000_NOTHING,  /* it returned success without a result */
  dlp_00000000_VERSION,  /* it returned a tensor of another major version */
  dlp_00000000_NO_MEMORY /* of ours */
};

/* A failure. The receiver frees it. Without a failure, the pointer is NULL, so results fit in two
 * registers. */
typedef struct dlp_00000000_failure {
  uint32_t why, op;
  size_t index;         /* of the object */
  char *kind, *message; /* NULL if the table reported none */
} dlp_00000000_failure;

dlp_00000000_LOCAL void dlp_00000000_forget(dlp_00000000_failure* f);

/* Creates a REJECTED failure, which owns the malloc'd texts. */
dlp_00000000_LOCAL dlp_00000000_failure* dlp_00000000_rejection(uint32_t op, char* kind, char* message);

/* The result of a call: an address, unless it failed. */
struct dlp_00000000_answer {
  uintptr_t value;
  dlp_00000000_failure* failure;
};

/* Reports the current error of this thread, such as Python's, by one call of SetError. It must not
 * clear that error. */
typedef void (*dlp_00000000_explain)(void* error_ctx,
                                     void (*SetError)(void* error_ctx, const char* kind, const char* message));

/* The callee: a table, and an explain function or 0. They are numbers, because cgo would check
 * pointer arguments for Go memory behind them. */
struct dlp_00000000_callee {
  uintptr_t table, explain;
};

/* A view of one object; View in Go. It is in Go memory, so it contains no pointers. */
struct dlp_00000000_view {
  uintptr_t object; /* the object to borrow; 0 in an empty view */
  uintptr_t owner;  /* the managed tensor if the table cannot lend, or 0 */
  uintptr_t stream;
  uint64_t flags;
  DLTensor tensor; /* shape and strides are copies, in dims */
  int64_t dims[2 * dlp_00000000_VIEW_NDIM];
};

/* Extents as an argument. */
struct dlp_00000000_extents {
  int64_t n[dlp_00000000_PASSED_NDIM];
};

/* Fills count views, starting at words, each with the stream of its device. After a failure, some
 * views may own tensors, which must be released. */
dlp_00000000_LOCAL dlp_00000000_failure* dlp_00000000_borrow(struct dlp_00000000_callee to, uint64_t* words,
                                                             size_t count);

/* Deletes the tensors that count views own. Some views may own none. */
dlp_00000000_LOCAL void dlp_00000000_release_views(uint64_t* words, size_t count);

/* Returns a managed tensor that the caller owns. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_managed(struct dlp_00000000_callee to, uintptr_t object);

/* Returns an object for a tensor, and takes ownership of the tensor, also on failure. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_wrap(struct dlp_00000000_callee to, uintptr_t tensor,
                                                                int legacy, uint64_t flags);

/* Returns a new managed tensor. The extents are in many if they do not fit in few; otherwise many
 * is NULL. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_allocate(struct dlp_00000000_callee to, DLDataType dtype,
                                                                    DLDevice device, int32_t ndim,
                                                                    struct dlp_00000000_extents few, int64_t* many);

/* Returns the producer's current stream. */
dlp_00000000_LOCAL struct dlp_00000000_answer dlp_00000000_stream(struct dlp_00000000_callee to, DLDevice device);

#endif
