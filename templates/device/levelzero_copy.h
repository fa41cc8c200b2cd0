
/* Copies on command lists. Part of the backend's C file. */
#ifndef DLPACKGEN_LEVELZERO_COPY_H_
#define DLPACKGEN_LEVELZERO_COPY_H_

#include "levelzero_memory.h"
#include "usm_copy.h"

/* Appends a copy after all existing commands of the list, and before all later ones. */
static driver_result levelzero_append(const struct levelzero_stream* stream, void* to, const void* from, size_t bytes) {
  driver_result result = stream->in_order ? 0 : levelzero_barrier(stream, NULL, NULL);
  if (result) return result;
  if (stream->busy) levelzero_lock(stream->busy);
  result = levelzero.driver.copy(stream->list, to, from, bytes, NULL, 0, NULL);
  if (stream->busy) levelzero_unlock(stream->busy);
  return result || stream->in_order ? result : levelzero_barrier(stream, NULL, NULL);
}

static int levelzero_finish_copy(driver_result result, const struct levelzero_stream* stream, size_t bytes, int waits,
                                 dlpackgen_backend_error* error) {
  if (!result && waits) result = levelzero.driver.list_synchronize(stream->list, UINT64_MAX);
  return result ? levelzero_fail(error, result, DEVICE_TEXT_COPY, (unsigned long long)bytes) : DLPACKGEN_BACKEND_OK;
}

/* Returns whether the device of a list can access memory directly. */
static int levelzero_can_access(int32_t root, const struct usm_memory* memory) {
  uint8_t can = 0;
  if (memory->ordinal < 0 || memory->ordinal == root || memory->kind == USM_SHARED) return 1;
  if (levelzero_platform_of(memory->ordinal) != levelzero_platform_of(root)) return 0;
  return !levelzero.driver.device_peer(levelzero.roots[root].device, levelzero.roots[memory->ordinal].device, &can) &&
         can;
}

/* Copies between two devices if the stream's device cannot access one of them. The copy goes
 * through the host, each half on a list of the memory's device. The function waits for both. */
static int levelzero_copy_staged(const struct usm_side* to, const struct usm_side* from, size_t bytes,
                                 const struct levelzero_stream* stream, dlpackgen_backend_error* error) {
  struct levelzero_stream there = {NULL, from->memory.ordinal, 1, NULL}, here = {NULL, to->memory.ordinal, 1, NULL};
  if (there.root < 0) there.root = stream->root;
  if (here.root < 0) here.root = stream->root;
  there.busy = &levelzero.roots[there.root].busy, here.busy = &levelzero.roots[here.root].busy;
  void* buffer = malloc(bytes);
  if (!buffer)
    return device_fail(error, DLPACKGEN_BACKEND_OUT_OF_MEMORY, "copy: out of host memory for a buffer of %llu bytes",
                       (unsigned long long)bytes);
  int code = levelzero_own_list(there.root, &there.list, error);
  if (!code) code = levelzero_own_list(here.root, &here.list, error);
  if (!code) code = levelzero_finish_copy(0, stream, bytes, 1, error);
  if (!code)
    code = levelzero_finish_copy(levelzero_append(&there, buffer, from->start, bytes), &there, bytes, 1, error);
  if (!code) code = levelzero_finish_copy(levelzero_append(&here, to->start, buffer, bytes), &here, bytes, 1, error);
  free(buffer);
  return code;
}

static int usm_move(const struct usm_side* to, const struct usm_side* from, size_t bytes,
                    const dlpackgen_stream* stream, int waits, dlpackgen_backend_error* error) {
  struct levelzero_stream open;
  const int code = levelzero_open_stream(stream, &open, error);
  if (code) return code;
  if (!levelzero_can_access(open.root, &to->memory) || !levelzero_can_access(open.root, &from->memory))
    return levelzero_copy_staged(to, from, bytes, &open, error);
  return levelzero_finish_copy(levelzero_append(&open, to->start, from->start, bytes), &open, bytes, waits, error);
}

#endif /* DLPACKGEN_LEVELZERO_COPY_H_ */
