
/* The result of a call, for the Go package: each of its files that call C includes this header,
 * because cgo compiles their preambles separately. Programs in C and C++ do not need it. */
#ifndef DLPACKGEN_DEVICE_ANSWER_H_
#define DLPACKGEN_DEVICE_ANSWER_H_

#include "dlpackgen_backend.h"

/* It contains no pointers for Go's garbage collector, so it may be in Go memory, and cgo need not
 * scan it. */
typedef struct answer {
  dlpackgen_backend_error error;
  int64_t version;
  int32_t devices, type, id, ordinal, unordered;
  uintptr_t base, size, handle, tensor;
} answer;

/* Returns the information about an address. */
static inline void answer_pointer(answer* a, const dlpackgen_pointer_attributes* p) {
  a->type = (int32_t)p->device.device_type, a->id = p->device.device_id, a->ordinal = p->ordinal;
  a->base = (uintptr_t)p->base, a->size = p->bytes;
}

#endif /* DLPACKGEN_DEVICE_ANSWER_H_ */
