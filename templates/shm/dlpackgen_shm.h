
/* Host tensors that processes share, on Linux. The memory is a memfd without a path, whose
 * descriptor is sent over a Unix socket of the caller. The operating system counts its descriptors
 * and mappings, and frees the memory with the last one, even if a process is killed.
 *
 * Peers are not trusted. Received memory is rejected unless its size is sealed, because access to
 * truncated memory raises SIGBUS. Its header is copied once, and only the copy is checked and used.
 * The peer can change elements at any time: copy a value before you check it. */
#ifndef DLPACKGEN_SHM_H_
#define DLPACKGEN_SHM_H_

#include "dlpackgen_backend.h"

/* A different name for the only exported symbol, for programs that contain two copies. */
#ifndef DLPACKGEN_SHM_ENTRY
#define DLPACKGEN_SHM_ENTRY dlpackgen_shm
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DLPACKGEN_SHM_ABI_VERSION 1

/* Errors in addition to dlpackgen_backend_code; `driver_code` is errno, or 0. */
enum dlpackgen_shm_code {
  /* The socket is non-blocking and not ready, a timeout expired, or a signal arrived (driver_code
   * is EINTR). Nothing was sent or received: call again. */
  DLPACKGEN_SHM_WOULD_BLOCK = 64,
  DLPACKGEN_SHM_CLOSED = 65,          /* the peer closed the connection, or ended */
  DLPACKGEN_SHM_SOCKET = 66,          /* no Unix socket, or the kernel rejects it */
  DLPACKGEN_SHM_INVALID_MESSAGE = 67, /* not one byte with one descriptor; includes empty packets */
  DLPACKGEN_SHM_DESCRIPTOR = 68,      /* not a memfd in ordinary pages */
  DLPACKGEN_SHM_NOT_SEALED = 69,      /* a peer could still change the size */
  DLPACKGEN_SHM_SIZE = 70,            /* not the size that the header declares */
  DLPACKGEN_SHM_HEADER = 71           /* violates a rule of DLPack, or was not created by this
                                       * backend */
};

/* Flags of send. */
enum {
  /* Only existing mappings may write: receivers get a tensor with DLPack's READ_ONLY flag, in
   * memory that cannot be made writable. The sender may still write. Not allowed for a tensor that
   * was sent without this flag. */
  DLPACKGEN_SHM_READ_ONLY = 1
};

/* The table. It is never freed and never changes. All functions may be called from
 * any thread, and in a child of fork. */
typedef struct dlpackgen_shm_table {
  size_t size;          /* sizeof(dlpackgen_shm_table) in the backend */
  uint32_t abi_version; /* DLPACKGEN_SHM_ABI_VERSION; if it differs, read nothing else of the table */
  uint32_t reserved;

  /* The backend table. There is one device, kDLCPU with id 0, without streams: None is the only
   * stream, and all work is done when a call returns. allocate returns tensors that can be sent,
   * with all elements 0; each holds a descriptor. */
  const dlpackgen_backend* device;

  /* Sends a tensor from allocate or receive, which the caller still owns. It may be any DLTensor
   * over all of its memory, such as one of another library. The first call fixes the size
   * permanently. The function blocks if the socket does, and raises no SIGPIPE. */
  int (*send)(int socket, const DLTensor* tensor, uint32_t flags, dlpackgen_backend_error* error);

  /* Receives one tensor from a peer, and maps it; pages are loaded on first access. The caller owns
   * it like a tensor from allocate. A rejected message is removed from the socket and closed,
   * without leaking a descriptor. */
  int (*receive)(int socket, DLManagedTensorVersioned** tensor, dlpackgen_backend_error* error);
} dlpackgen_shm_table;

const dlpackgen_shm_table* DLPACKGEN_SHM_ENTRY(void);

#ifdef __cplusplus
}
#endif

#endif /* DLPACKGEN_SHM_H_ */
