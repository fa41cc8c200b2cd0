
/* Tensors of the host that another process may use as well, on Linux. The memory
 * is a memfd, which has no name in any folder; its descriptor travels over a Unix
 * socket of the caller's. The kernel counts descriptors and mappings of it, and frees it
 * with the last one, however that process ends: nothing else counts, and nothing is
 * left behind.
 *
 * A peer is not trusted. What arrives is rejected unless its size is sealed, since
 * touching memory that a peer cut off is a SIGBUS; what it says of itself is copied
 * once, and only the copy is checked and used. The elements are the peer's to change
 * at any time, unless they were copied: check no value where it lies. */
#ifndef DLPACKGEN_SHM_H_
#define DLPACKGEN_SHM_H_

#include "dlpackgen_backend.h"

/* Another name for the one symbol that is exported, for programs that hold two copies. */
#ifndef DLPACKGEN_SHM_ENTRY
#define DLPACKGEN_SHM_ENTRY dlpackgen_shm
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DLPACKGEN_SHM_ABI_VERSION 1

/* What goes wrong besides a dlpackgen_backend_code; `driver_code` is errno, or 0. */
enum dlpackgen_shm_code {
  /* The socket does not block and is not ready, its time is up, or a signal came
   * (driver_code is EINTR). Nothing was sent or taken: call again. */
  DLPACKGEN_SHM_WOULD_BLOCK = 64,
  DLPACKGEN_SHM_CLOSED = 65,          /* the peer closed its end, or is dead */
  DLPACKGEN_SHM_SOCKET = 66,          /* no Unix socket, or the kernel rejects it */
  DLPACKGEN_SHM_INVALID_MESSAGE = 67, /* not one byte with one descriptor; also none, as packets may be */
  DLPACKGEN_SHM_DESCRIPTOR = 68,      /* not of a memfd in ordinary pages */
  DLPACKGEN_SHM_NOT_SEALED = 69,      /* a peer could still change the size */
  DLPACKGEN_SHM_SIZE = 70,            /* not the size of what the header says */
  DLPACKGEN_SHM_HEADER = 71           /* breaks a rule of DLPack, or was not made here */
};

/* Flags of send. */
enum {
  /* No process may write to it unless it mapped it before: a receiver gets it
   * with DLPack's READ_ONLY, in memory that cannot be made writable. The sender
   * still may. Not for a tensor that was sent without. */
  DLPACKGEN_SHM_READ_ONLY = 1
};

/* The table. It is never freed and never changes. All functions may be called from
 * any thread, and in a child of fork. */
typedef struct dlpackgen_shm_table {
  size_t size;          /* sizeof(dlpackgen_shm_table) as the backend has it */
  uint32_t abi_version; /* DLPACKGEN_SHM_ABI_VERSION; read nothing else of a table with another one */
  uint32_t reserved;

  /* The table of every device. There is one, kDLCPU with the id 0, without streams:
   * None is the only one, and all work is done when a call returns. Its alloc gives
   * tensors that can be sent, with elements of 0; each holds a descriptor. */
  const dlpackgen_backend* device;

  /* Sends a tensor of alloc or receive, which stays the caller's: any DLTensor over
   * all of its memory, as another library made it. The first time fixes its size for
   * ever. It blocks as the socket does, and raises no SIGPIPE. */
  int (*send)(int socket, const DLTensor* tensor, uint32_t flags, dlpackgen_backend_error* error);

  /* Takes one tensor that a peer sent, and maps it; its pages are read when they are
   * touched. The caller owns it, as one of alloc. What is rejected is taken off the
   * socket and closed; no descriptor is left, whatever came. */
  int (*receive)(int socket, DLManagedTensorVersioned** tensor, dlpackgen_backend_error* error);
} dlpackgen_shm_table;

const dlpackgen_shm_table* DLPACKGEN_SHM_ENTRY(void);

#ifdef __cplusplus
}
#endif

#endif /* DLPACKGEN_SHM_H_ */
