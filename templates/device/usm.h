
/* Additional functions of the oneAPI backend. Unified shared memory, kDLOneAPI in DLPack, has
 * device ids from SYCL, and may be host memory.
 *
 * `device_id` is the position of the owner's root device in sycl::device::get_devices(). Memory is
 * device memory, allocated in the default context of its platform, which libraries share. There are
 * two implementations: dlpackgen_oneapi.c, over Level Zero, which is loaded at run time, and
 * dlpackgen_oneapi_sycl.cpp, over SYCL. Compile one of them. */
#ifndef DLPACKGEN_USM_H_
#define DLPACKGEN_USM_H_

#include "dlpackgen_backend.h"

/* A different symbol name, for programs that contain two copies. */
#ifndef DLPACKGEN_USM_ENTRY
#define DLPACKGEN_USM_ENTRY dlpackgen_usm
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DLPACKGEN_USM_ABI_VERSION 1

/* The type of a stream's handle. NULL is the backend's own in-order stream for each device.
 * DLPack's numbers except -1 are handles. */
enum dlpackgen_usm_handles {
  /* An immediate ze_command_list_handle_t of the default context. Level Zero requires that only one
   * thread at a time uses it. */
  DLPACKGEN_USM_LEVEL_ZERO = 1,
  /* A sycl::queue *, owned by the caller. SYCL does not report the bounds of memory: `base` and
   * `size` are 0, and copies beyond the end are not detected. */
  DLPACKGEN_USM_SYCL = 2
};

/* Flags of check_tensor: shared and host memory is accepted too. */
enum { DLPACKGEN_USM_ALL_KINDS = 1 };

/* The id of a Level Zero device. */
typedef struct dlpackgen_usm_id {
  void* device; /* ze_device_handle_t of a root device */
  int32_t id;   /* its position in sycl::device::get_devices() */
  int32_t reserved;
} dlpackgen_usm_id;

/* The table. It is never freed and never changes. All functions may be called from
 * any thread. */
typedef struct dlpackgen_usm_table {
  size_t size;          /* sizeof(dlpackgen_usm_table) in the backend */
  uint32_t abi_version; /* DLPACKGEN_USM_ABI_VERSION; if it differs, read nothing else of the table */
  uint32_t handles;     /* dlpackgen_usm_handles */

  /* Accepts only device memory, like torch; the table of the backend's own header. */
  const dlpackgen_backend* device_only;

  /* Also accepts shared and host memory, as dpnp allocates it. Both tables allocate device
   * memory. */
  const dlpackgen_backend* all_kinds;

  /* Returns the id of a device by its position among the devices of device_count. */
  int (*id)(int32_t ordinal, int32_t* id, dlpackgen_backend_error* error);

  /* Sets SYCL's device ids, once; repeating the same ids is allowed. Level Zero does not report
   * them: until this call, every function with an id fails, unless ONEAPI_DEVICE_SELECTOR is
   * level_zero:* or level_zero:gpu. Devices that are not listed have no id; ids must be unique.
   * NULL and 0 declare that no other library of this program uses SYCL: the ids are then those
   * of Level Zero. 0 with a pointer other than NULL is rejected. Over SYCL, the function does
   * nothing. */
  int (*set_device_ids)(const dlpackgen_usm_id* ids, size_t count, dlpackgen_backend_error* error);

  /* Checks the memory of a tensor of another library before it is used: the tensor must declare the
   * device that the driver reports. `flags` is 0 to accept only device memory; `memory` may be
   * NULL. An empty tensor is accepted on any device. */
  int (*check_tensor)(const DLTensor* tensor, uint32_t flags, dlpackgen_pointer_attributes* memory,
                      dlpackgen_backend_error* error);
} dlpackgen_usm_table;

const dlpackgen_usm_table* DLPACKGEN_USM_ENTRY(void);

#ifdef __cplusplus
}
#endif

#endif /* DLPACKGEN_USM_H_ */
