/* What the backend knows of the platform, for clusm_impl.c and its tests. */
#ifndef CLUSM_STATE_H_
#define CLUSM_STATE_H_

#include "vendor_impl.h"

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64 };

/* The functions of the extension, which the platform gives by name. */
struct usm {
  void*(DRIVER_CALL* on_device)(driver_context, driver_device, const uint64_t*, size_t, unsigned, int*);
  void*(DRIVER_CALL* shared)(driver_context, driver_device, const uint64_t*, size_t, unsigned, int*);
  int(DRIVER_CALL* free)(driver_context, void*);
  int(DRIVER_CALL* info)(driver_context, const void*, unsigned, size_t, void*, size_t*);
  int(DRIVER_CALL* copy)(driver_queue, unsigned, void*, const void*, size_t, unsigned, const driver_event*,
                         driver_event*);
};

/* Written by start alone, before anybody else is called. */
struct clusm_state {
  const struct driver* driver;
  driver_context context;
  driver_device devices[MAX_DEVICES];
  driver_queue queues[MAX_DEVICES]; /* the streams that None stands for */
  unsigned count;
  struct usm usm;
};

#if defined(__GNUC__) && !defined(_WIN32)
__attribute__((visibility("hidden")))
#endif
extern struct clusm_state clusm;

#endif /* CLUSM_STATE_H_ */
