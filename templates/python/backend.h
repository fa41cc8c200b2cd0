/* Uses backends through the table of dlpackgen_backend.h: the owner of a tensor's memory, stream
 * ordering, and memory for results. A driver is loaded for the first tensor on its device. Part of
 * dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_BACKEND_H_
#define DLPACKGEN_PYTHON_BACKEND_H_

#include "check.h"

static const char dlpackgen_backend_capsule[] = "dlpackgen_backend";

/* Checks that a table has the compiled version, and reads nothing else of other versions. */
static int dlpackgen_check_backend(const dlpackgen_backend* table) {
  if (table && table->abi_version == DLPACKGEN_BACKEND_ABI_VERSION && table->size >= sizeof *table) return 0;
  PyErr_Format(PyExc_ValueError, "the backend's table has version %u, expected %u",
               table ? (unsigned)table->abi_version : 0U, (unsigned)DLPACKGEN_BACKEND_ABI_VERSION);
  return -1;
}

DLPACKGEN_PYTHON_API const dlpackgen_backend* dlpackgen_backend_from_capsule(PyObject* capsule) {
  const dlpackgen_backend* table = (const dlpackgen_backend*)PyCapsule_GetPointer(capsule, dlpackgen_backend_capsule);
  return table && dlpackgen_check_backend(table) == 0 ? table : NULL;
}

DLPACKGEN_PYTHON_API PyObject* dlpackgen_backend_to_capsule(const dlpackgen_backend* table) {
  if (dlpackgen_check_backend(table)) return NULL;
  return PyCapsule_New((void*)(uintptr_t)table, dlpackgen_backend_capsule, NULL);
}

DLPACKGEN_PYTHON_API int dlpackgen_use_backend(PyObject* module, const dlpackgen_backend* table,
                                               const dlpackgen_stream_source* source) {
  struct dlpackgen_state* state = dlpackgen_state_of(module);
  int i = 0;
  if (dlpackgen_check_backend(table)) return -1;
  while (i < DLPACKGEN_MAX_BACKENDS && state->backends[i].table &&
         state->backends[i].table->device_type != table->device_type)
    i++;
  if (i == DLPACKGEN_MAX_BACKENDS) {
    PyErr_Format(PyExc_RuntimeError, "too many backends: at most %d", (int)DLPACKGEN_MAX_BACKENDS);
    return -1;
  }
  state->backends[i].table = table;
  state->backends[i].source = source;
  return 0;
}

/* Returns the device type whose backend handles the memory of another type. */
static int32_t dlpackgen_family(DLDevice device) { return dlpackgen_device_owner((int32_t)device.device_type); }

/* Finds the backend for a device; NULL if the module uses none. */
static const struct dlpackgen_backend_entry* dlpackgen_backend_of(const struct dlpackgen_state* state,
                                                                  DLDevice device) {
  for (int i = 0; i < DLPACKGEN_MAX_BACKENDS && state->backends[i].table; i++)
    if (state->backends[i].table->device_type == dlpackgen_family(device)) return &state->backends[i];
  return NULL;
}

/* The same, for a device with its own streams. Pinned and managed memory has none. */
static const struct dlpackgen_backend_entry* dlpackgen_streams_at(const struct dlpackgen_state* state,
                                                                  DLDevice device) {
  return dlpackgen_family(device) == (int32_t)device.device_type ? dlpackgen_backend_of(state, device) : NULL;
}

DLPACKGEN_PYTHON_API const dlpackgen_backend* dlpackgen_backend_for(PyObject* module, DLDevice device) {
  const struct dlpackgen_backend_entry* found = dlpackgen_backend_of(dlpackgen_state_of(module), device);
  return found ? found->table : NULL;
}

static dlpackgen_stream dlpackgen_stream_at(DLDevice device, void* handle) {
  dlpackgen_stream stream = {handle, device, 0, 0};
  return stream;
}

/* The exception for an error of a backend. */
static PyObject* dlpackgen_backend_kind(int code) {
  switch (code) {
    case DLPACKGEN_BACKEND_OUT_OF_MEMORY: return PyExc_MemoryError;
    case DLPACKGEN_BACKEND_CONTEXT_MISMATCH:
    case DLPACKGEN_BACKEND_NOT_MAPPED:
    case DLPACKGEN_BACKEND_NOT_LINEAR:
    case DLPACKGEN_BACKEND_MEMORY_MISMATCH: return PyExc_BufferError;
    default: return PyExc_RuntimeError;
  }
}

static int dlpackgen_backend_failed(const struct dlpackgen_call* call, int i, const dlpackgen_backend_error* error) {
  return dlpackgen_argument_error(call, i, dlpackgen_backend_kind(error->code), "%s", error->text);
}

/* Owners of memory */

/* Compares the declared device of the memory at an address with the device according to the driver.
 * They differ, for example, after the memory was freed. */
static int dlpackgen_check_address(const struct dlpackgen_call* call, int i, const dlpackgen_backend* table,
                                   const char* address, dlpackgen_pointer_attributes* info) {
  const DLDevice device = call->arguments[i].tensor.device;
  dlpackgen_backend_error error;
  char declared[32], found[32];
  if (table->pointer_attributes(address, info, &error)) return dlpackgen_backend_failed(call, i, &error);
  if (dlpackgen_same_device(info->device, device)) return 0;
  return dlpackgen_argument_error(
      call, i, PyExc_BufferError,
      "its declared device %s does not match the driver's %s for memory %p; it may have been freed",
      dlpackgen_device_text(device, declared), dlpackgen_device_text(info->device, found), (const void*)address);
}

/* Queries the driver about the first byte of the elements and, if they extend beyond its
 * allocation, about the last byte. Memory may consist of several mapped allocations, such as
 * torch's expandable segments, and drivers report one at a time. */
DLPACKGEN_SLOW static int dlpackgen_check_owner(const struct dlpackgen_call* call, int i,
                                                const dlpackgen_backend* table, int64_t low, int64_t high) {
  const DLTensor* const tensor = &call->arguments[i].tensor;
  const char* const first = (const char*)tensor->data + tensor->byte_offset + low;
  const char* const last = first + (high - low) - 1;
  dlpackgen_pointer_attributes info = DLPACKGEN_POINTER_ATTRIBUTES_INIT, end = DLPACKGEN_POINTER_ATTRIBUTES_INIT;
  if (dlpackgen_check_address(call, i, table, first, &info)) return -1;
  if (info.bytes == 0 || last < (const char*)info.base + info.bytes) return 0;
  return dlpackgen_check_address(call, i, table, last, &end);
}

/* Queries the drivers about all tensors outside the CPU. Returns 0, or -1 with an exception. */
static int dlpackgen_check_owners(const struct dlpackgen_call* call) {
  for (int i = 0; call->private_.state->backends[0].table && i < call->function->nparameters; i++) {
    const struct dlpackgen_argument* a = &call->arguments[i];
    int64_t low, high;
    if (call->function->parameters[i].kind != DLPACKGEN_KIND_TENSOR || !a->object) continue;
    if (a->tensor.device.device_type == kDLCPU) continue;
    const struct dlpackgen_backend_entry* found = dlpackgen_backend_of(call->private_.state, a->tensor.device);
    if (!found || dlpackgen_byte_range(&a->tensor, a->flags, &low, &high) != DLPACKGEN_OK || low == high) continue;
    if (dlpackgen_check_owner(call, i, found->table, low, high)) return -1;
  }
  return 0;
}

/* Streams */

/* Makes the call's stream wait for the work on the stream of an argument's library. Returns 1, 0
 * without a backend, or -1 with an exception. After the call, the library's stream waits for the
 * call's stream. */
static int dlpackgen_wait_for(struct dlpackgen_call* call, int i) {
  const struct dlpackgen_backend_entry* found = dlpackgen_streams_at(call->private_.state, call->private_.device);
  struct dlpackgen_argument* a = &call->arguments[i];
  dlpackgen_backend_error error;
  if (!found) return 0;
  const dlpackgen_stream ours = dlpackgen_stream_at(call->private_.device, call->stream);
  const dlpackgen_stream theirs = dlpackgen_stream_at(call->private_.device, call->private_.other);
  if (found->table->stream_wait(&ours, &theirs, &error)) return dlpackgen_backend_failed(call, i, &error);
  a->private_.waits = 1;
  a->private_.producer_stream = call->private_.other;
  call->private_.owns |= DLPACKGEN_ORDER_PENDING;
  return 1;
}

/* Makes the streams of libraries wait for the work of the call. The caller does not check the
 * result, so errors are reported as unraisable exceptions, like those of destructors. */
DLPACKGEN_SLOW static void dlpackgen_order_back(struct dlpackgen_call* call) {
  const struct dlpackgen_backend_entry* found = dlpackgen_streams_at(call->private_.state, call->private_.device);
  const dlpackgen_stream ours = dlpackgen_stream_at(call->private_.device, call->stream);
  call->private_.owns &= ~DLPACKGEN_ORDER_PENDING;
  for (int i = 0; found && i < call->function->nparameters; i++) {
    struct dlpackgen_argument* a = &call->arguments[i];
    dlpackgen_backend_error error;
    if (call->function->parameters[i].kind != DLPACKGEN_KIND_TENSOR || !a->object || !a->private_.waits) continue;
    const dlpackgen_stream theirs = dlpackgen_stream_at(call->private_.device, a->private_.producer_stream);
    if (found->table->stream_wait(&theirs, &ours, &error) == DLPACKGEN_BACKEND_OK) continue;
    struct dlpackgen_pending pending = dlpackgen_suspend();
    dlpackgen_backend_failed(call, i, &error);
    PyErr_WriteUnraisable(call->module);
    dlpackgen_resume(pending);
  }
}

/* Queries the program's stream for a device if no library reports one. Returns 1 if there is one, 0
 * if not, or -1 with an exception. */
static int dlpackgen_query_source(struct dlpackgen_call* call, int i, DLDevice device, void** stream) {
  const struct dlpackgen_backend_entry* found = dlpackgen_streams_at(call->private_.state, device);
  dlpackgen_stream reported;
  dlpackgen_backend_error error;
  if (!found || !found->source) return 0;
  if (found->table->current_work_stream(found->source, device, &reported, &error))
    return dlpackgen_backend_failed(call, i, &error);
  *stream = reported.handle;
  return 1;
}

/* Memory */

/* Allocates memory for a result whose library has no allocator, for use on the call's stream. */
static DLManagedTensorVersioned* dlpackgen_allocate_by_backend(const struct dlpackgen_call* call,
                                                               const dlpackgen_backend* table,
                                                               const DLTensor* requested) {
  const dlpackgen_allocation request = {
      sizeof request, requested->device, requested->dtype, requested->ndim, requested->shape, call->stream, 0};
  dlpackgen_backend_error error;
  DLManagedTensorVersioned* made = NULL;
  if (table->allocate(&request, &made, &error) == DLPACKGEN_BACKEND_OK) return made;
  PyErr_SetString(dlpackgen_backend_kind(error.code), error.text);
  return NULL;
}

#endif
