
/* What conformance.c needs from the vendor to test order: streams, and work that does not end
 * before it may. Part of conformance.c. */
#ifndef DLPACKGEN_CONFORMANCE_HOOKS_H_
#define DLPACKGEN_CONFORMANCE_HOOKS_H_

#include <stdint.h>

/* The functions of struct vendor_impl whose driver calls `reject` makes fail. */
enum conformance_call {
  CONFORMANCE_NOTHING, /* the driver works again */
  CONFORMANCE_POINTER,
  CONFORMANCE_TAKE,
  CONFORMANCE_OWNER,
  CONFORMANCE_MARK,
  CONFORMANCE_WAIT,
  CONFORMANCE_COPY,
  CONFORMANCE_FINISH
};

/* What `foreign` returns where there is no further stream. */
enum { CONFORMANCE_NO_MORE = -77077 };

/* Every function returns 0 for success. A hook that is NULL leaves tests out. Without `open`,
 * `close`, `hold`, `release` or `live` the exit status is 77; the others are optional.
 * Devices are ordinals. The driver runs when a hook is called. */
struct conformance_hooks {
  /* Creates a stream beside the default one; `close` destroys it, maybe with work pending. */
  int (*open)(int32_t device, void** stream);
  void (*close)(int32_t device, void* stream);

  /* Queues work on a stream, the default one for NULL, that does not end before `release`:
   * a kernel that polls a flag of the host, or a wait for an event that the host signals.
   * Work that ends by itself after some time will not do. */
  int (*hold)(int32_t device, void* stream, void** gate);

  /* Ends the work of `hold`, once, on any thread. `failed` is 1 only where `fails` is:
   * the work then ends with an error. */
  void (*release)(void* gate, int failed);

  /* Counts what the driver keeps for the backend: allocations, marks, streams that it
   * retained. Only differences matter. */
  int64_t (*live)(void);

  /* Creates a stream that the backend must reject, such as one of another context or one
   * that runs its work out of order; `close` destroys it. There may be several, counted
   * from 0; CONFORMANCE_NO_MORE says that this number is too large. */
  int (*foreign)(int32_t device, int number, void** stream);

  /* Makes the driver's calls behind one function fail, all others work. */
  int (*reject)(enum conformance_call call);

  int fails;  /* 1: work can fail without harm to other streams, and `release` lets it */
  int owners; /* 1: the backend knows the device of a stream */
  int defers; /* 1: freed memory may stay known to the driver, as in a pool, or be forgotten
               * before the work on it ends, as by stream-ordered frees */
};

#endif /* DLPACKGEN_CONFORMANCE_HOOKS_H_ */
