
/* The parts of Level Zero's structs that the backend uses. Part of the backend's C file. */
#ifndef DLPACKGEN_LEVELZERO_TYPES_H_
#define DLPACKGEN_LEVELZERO_TYPES_H_

#include "device_driver.h"

struct levelzero_properties {
  int type; /* DRIVER_struct_device */
  void* next;
  int kind; /* DRIVER_type_gpu */
  uint32_t vendor, device, flags, subdevice, rate;
  uint64_t largest;
  uint32_t contexts, priority, threads, width, units, subslices, slices;
  uint64_t resolution;
  uint32_t bits, kernel_bits;
  uint8_t uuid[16];
  char name[256];
};

struct levelzero_list_desc {
  int type; /* DRIVER_struct_queue */
  const void* next;
  uint32_t ordinal, index, flags;
  int mode, priority;
};

struct levelzero_pool_desc {
  int type; /* DRIVER_struct_pool */
  const void* next;
  uint32_t flags, count;
};

struct levelzero_event_desc {
  int type; /* DRIVER_struct_event */
  const void* next;
  uint32_t index, signal, wait;
};

struct levelzero_memory_desc {
  int type; /* DRIVER_struct_memory */
  const void* next;
  uint32_t flags, ordinal;
};

struct levelzero_allocation {
  int type; /* DRIVER_struct_allocation */
  void* next;
  int kind; /* DRIVER_memory_device */
  uint64_t id, page;
};

struct levelzero_free_desc {
  int type; /* DRIVER_struct_free */
  const void* next;
  uint32_t policy;
};

#endif /* DLPACKGEN_LEVELZERO_TYPES_H_ */
