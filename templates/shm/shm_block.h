
/* The tensors of this process, indexed by address. Part of the backend's C file. */
#ifndef DLPACKGEN_SHM_BLOCK_H_
#define DLPACKGEN_SHM_BLOCK_H_

#include "device_allocation.h"
#include "dlpackgen_tensor.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* The offset of the elements in a memfd: after the header, on a separate page. */
enum { SHM_DATA = 4096 };

/* A tensor of this backend and its extents, in one block of private memory, which no peer can
 * access. */
struct shm_block {
  DLManagedTensorVersioned tensor;
  int fd;     /* -1 without elements */
  void* base; /* of the mapping */
  size_t size;
  struct shm_block *previous, *next;
  int64_t extents[];
};

static struct {
  pthread_mutex_t lock;
  pthread_once_t once;
  struct shm_block* first;
} shm_blocks = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_ONCE_INIT, NULL};

static void shm_lock(void) { (void)pthread_mutex_lock(&shm_blocks.lock); }

static void shm_unlock(void) { (void)pthread_mutex_unlock(&shm_blocks.lock); }

/* A child of fork has a consistent list, and a free lock. */
static void shm_at_fork(void) { (void)pthread_atfork(shm_lock, shm_unlock, shm_unlock); }

static void shm_link(struct shm_block* block) {
  (void)pthread_once(&shm_blocks.once, shm_at_fork);
  shm_lock();
  block->next = shm_blocks.first;
  if (block->next) block->next->previous = block;
  shm_blocks.first = block;
  shm_unlock();
}

static void shm_unlink_block(struct shm_block* block) {
  shm_lock();
  if (block->next) block->next->previous = block->previous;
  if (block->previous) block->previous->next = block->next;
  if (shm_blocks.first == block) shm_blocks.first = block->next;
  shm_unlock();
}

/* Returns the block whose elements contain an address, or NULL. It is valid as long as the caller
 * owns the tensor. */
static struct shm_block* shm_find(const void* pointer) {
  struct shm_block* block;
  shm_lock();
  for (block = shm_blocks.first; block; block = block->next) {
    const uintptr_t data = (uintptr_t)block->base + SHM_DATA;
    if ((uintptr_t)pointer >= data && (uintptr_t)pointer - data < block->size - SHM_DATA) break;
  }
  shm_unlock();
  return block;
}

static void shm_delete(DLManagedTensorVersioned* tensor) {
  struct shm_block* block = (struct shm_block*)tensor;
  const int before = errno;
  if (!tensor) return;
  if (block->base) {
    shm_unlink_block(block);
    (void)munmap(block->base, block->size);
    (void)close(block->fd);
  }
  free(block);
  errno = before;
}

/* Creates a block without shared memory; NULL if host memory is exhausted. */
static struct shm_block* shm_block_of(const char* what, const dlpackgen_allocation* r, uint64_t flags,
                                      dlpackgen_backend_error* error) {
  struct shm_block* block = device_new_block(what, r, sizeof *block, error);
  if (!block) return NULL;
  device_describe(&block->tensor, r, block->extents, shm_delete);
  block->tensor.flags = flags;
  block->fd = -1;
  return block;
}

/* Maps the memory of a descriptor into a block, and adds the block to the list. */
static void shm_own(struct shm_block* block, int fd, void* base, size_t size) {
  block->fd = fd;
  block->base = base;
  block->size = size;
  block->tensor.dl_tensor.data = (char*)base + SHM_DATA;
  shm_link(block);
}

/* Fills an error with the kernel's error. */
static int shm_fail(dlpackgen_backend_error* error, int code, int native, const char* what) {
  (void)device_fail(error, code, "%s: ", what);
  if (error) {
    error->driver_code = native;
    device_add(error, strerror(native));
  }
  return code;
}

#endif /* DLPACKGEN_SHM_BLOCK_H_ */
