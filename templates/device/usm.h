
/* What the backend has beside the table of every device: unified shared memory, which
 * DLPack calls kDLOneAPI, is numbered by SYCL, and may be the host's.
 *
 * `device_id` is the position of the root device, of which the owner of the memory is
 * a part or the whole, in sycl::device::get_devices(). Memory is a device's own,
 * allocated under the default context of its platform, as libraries share it. There
 * are two implementations: dlpackgen_oneapi.c, over Level Zero, which is found at run
 * time, and dlpackgen_oneapi_sycl.cpp, over SYCL. Compile one of them. */
#ifndef DLPACKGEN_USM_H_
#define DLPACKGEN_USM_H_

#include "dlpackgen_backend.h"

/* Another name for the symbol, for programs that hold two copies. */
#ifndef DLPACKGEN_USM_ENTRY
#define DLPACKGEN_USM_ENTRY dlpackgen_usm
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DLPACKGEN_USM_ABI_VERSION 1

/* What the handle of a stream is. NULL is a stream of the backend's own, in order, one
 * for each device; DLPack's numbers but -1 are handles. */
enum dlpackgen_usm_handles {
  /* A ze_command_list_handle_t, immediate, of the default context. Level Zero wants
   * that one thread at a time uses it. */
  DLPACKGEN_USM_LEVEL_ZERO = 1,
  /* A sycl::queue *, which stays its giver's. SYCL does not tell the bounds of memory:
   * `base` and `size` of an answer are 0, and copies beyond the end are not noticed. */
  DLPACKGEN_USM_SYCL = 2
};

/* Flags of check_tensor: memory shared with the host and the host's own are taken too. */
enum { DLPACKGEN_USM_ALL_KINDS = 1 };

/* The id of a device of Level Zero. */
typedef struct dlpackgen_usm_id {
  void* device; /* ze_device_handle_t of a root device */
  int32_t id;   /* its position in sycl::device::get_devices() */
  int32_t reserved;
} dlpackgen_usm_id;

/* The table. It is never freed and never changes. All functions may be called from
 * any thread. */
typedef struct dlpackgen_usm_table {
  size_t size;          /* sizeof(dlpackgen_usm_table) as the backend has it */
  uint32_t abi_version; /* DLPACKGEN_USM_ABI_VERSION; read nothing else of a table with another one */
  uint32_t handles;     /* dlpackgen_usm_handles */

  /* Takes memory of devices alone, as torch does; the table of the backend's own header. */
  const dlpackgen_backend* device_only;

  /* The same, and it takes memory shared with the host and the host's own as well, as
   * dpnp makes it. Both allocate memory of devices. */
  const dlpackgen_backend* all_kinds;

  /* Gives the id of a device by its position among those that device_count counts. */
  int (*id)(int32_t ordinal, int32_t* id, dlpackgen_backend_error* error);

  /* Tells how SYCL numbers the devices, once; the same again does no harm. Level Zero
   * does not know: unless ONEAPI_DEVICE_SELECTOR is level_zero:* or level_zero:gpu, whatever takes
   * or gives an id fails until then. Devices that are not named have no id; no two devices have the
   * same one. NULL and 0: no other library of this program uses SYCL, and the ids are those of
   * Level Zero; 0 with anything but NULL is rejected, as it says neither. Over SYCL it does
   * nothing. */
  int (*set_device_ids)(const dlpackgen_usm_id* ids, size_t count, dlpackgen_backend_error* error);

  /* Checks the memory of a tensor of another library before it is used: the driver says
   * whose it is, and the tensor must say the same. `flags` is 0 for memory of devices
   * alone; `memory` may be NULL. A tensor without elements is fine on any device. */
  int (*check_tensor)(const DLTensor* tensor, uint32_t flags, dlpackgen_pointer_attributes* memory,
                      dlpackgen_backend_error* error);
} dlpackgen_usm_table;

const dlpackgen_usm_table* DLPACKGEN_USM_ENTRY(void);

#ifdef __cplusplus
}
#endif

#endif /* DLPACKGEN_USM_H_ */
