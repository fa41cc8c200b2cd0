
/* The hooks that a vendor implements so that conformance.c can test the order of work: streams, and
 * work that ends only when it is released. The file with a backend's hooks includes this header. */
#ifndef DLPACKGEN_CONFORMANCE_HOOKS_H_
#define DLPACKGEN_CONFORMANCE_HOOKS_H_

#include <stdint.h>

/* The functions of struct vendor_impl whose driver calls can be made to fail with `reject`. */
enum conformance_call {
  CONFORMANCE_NOTHING, /* the driver works again */
  CONFORMANCE_POINTER,
  CONFORMANCE_ALLOCATE,
  CONFORMANCE_OWNER,
  CONFORMANCE_MARK,
  CONFORMANCE_WAIT,
  CONFORMANCE_COPY,
  CONFORMANCE_SYNCHRONIZE
};

/* The result of `foreign` if there are no more streams. */
enum { CONFORMANCE_NO_MORE = -77077 };

/* Every function returns 0 for success. If a hook is NULL, its tests are omitted. Without `open`,
 * `close`, `hold`, `release` or `live` the exit status is 77; the others are optional. Devices are
 * ordinals. The driver is started when a hook is called. */
struct conformance_hooks {
  /* Creates an additional stream; `close` destroys it, possibly with pending work. */
  int (*open)(int32_t device, void** stream);
  void (*close)(int32_t device, void* stream);

  /* Queues work on a stream, or on the default stream for NULL. The work must not end before
   * `release`: use a kernel that polls a flag of the host, or a wait for an event that the host
   * signals, but no work that ends after some time. */
  int (*hold)(int32_t device, void* stream, void** gate);

  /* Ends the work of `hold`, once, on any thread. `failed` is 1 only if `fails` is 1: the work then
   * ends with an error. */
  void (*release)(void* gate, int failed);

  /* Counts the objects that the driver holds for the backend: allocations, marks, retained streams.
   * Only differences matter. */
  int64_t (*live)(void);

  /* Creates a stream that the backend must reject, such as a stream of another context or one that
   * runs its work out of order; `close` destroys it. There may be several, counted from 0; return
   * CONFORMANCE_NO_MORE for a number that is too large. */
  int (*foreign)(int32_t device, int number, void** stream);

  /* Makes the driver calls of one function fail, and all others succeed. */
  int (*reject)(enum conformance_call call);

  int fails;  /* 1: work can fail without affecting other streams, through `release` */
  int owners; /* 1: the backend can determine the device of a stream */
  int defers; /* 1: the driver may still know freed memory, as in a pool, or forget it before the
               * work on it ends, as in stream-ordered frees */
};

#endif /* DLPACKGEN_CONFORMANCE_HOOKS_H_ */
