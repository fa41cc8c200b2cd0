
/* Determines the owner of the memory at an address, by querying the driver. Part of the backend's
 * file. */
#ifndef DLPACKGEN_USM_POINTER_H_
#define DLPACKGEN_USM_POINTER_H_

#include "device_allocation.h"
#include "dlpackgen_usm.h"

enum usm_kind { USM_UNKNOWN, USM_HOST, USM_DEVICE, USM_SHARED };

/* The information about an address. Host memory has no owner: its id is that of the first device of
 * its context. */
struct usm_memory {
  enum usm_kind kind;
  int32_t ordinal;
  size_t size;
  const void* base;
  int32_t id;
};

static const struct usm_memory usm_unknown = {USM_UNKNOWN, -1, 0, NULL, 0};

/* The functions of an implementation. Each returns a code, except usm_query_device_memory, which
 * returns whether it has filled the result for device memory, without an error. */
static int usm_ready(dlpackgen_backend_error* error);
static int usm_check_id(const char* what, int32_t id, dlpackgen_backend_error* error);
static int usm_query_memory(const char* what, const void* pointer, int32_t hint, struct usm_memory* memory,
                            dlpackgen_backend_error* error);

static int usm_query_device_memory(const void* pointer, dlpackgen_pointer_attributes* info);

/* Rejects memory that the host can access, like torch. */
static int usm_check_kind(const char* what, const void* pointer, const struct usm_memory* memory, int all_kinds,
                          dlpackgen_backend_error* error) {
  if (all_kinds || memory->kind == USM_DEVICE || memory->kind == USM_UNKNOWN) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_HOST_MEMORY,
                     "%s %p is %s, but only device memory is accepted here; "
                     "allocate device memory, or use the table that accepts every kind",
                     what, pointer, memory->kind == USM_HOST ? "the host's" : "shared with the host");
}

static void usm_return_attributes(const struct usm_memory* memory, dlpackgen_pointer_attributes* info) {
  const DLDevice known = {(DLDeviceType)BACKEND_device, memory->id}, cpu = {kDLCPU, 0};
  device_return_attributes(memory->kind ? known : cpu, memory->kind ? memory->ordinal : -1, memory->base, memory->size,
                           info);
}

static int usm_info(const void* pointer, int all_kinds, dlpackgen_pointer_attributes* info,
                    dlpackgen_backend_error* error) {
  struct usm_memory memory;
  int code = usm_ready(error);
  if (!code) code = device_check_pointer(pointer, info, error);
  if (code) return code;
  code = usm_query_memory("pointer_attributes: the memory", pointer, 0, &memory, error);
  if (!code) code = usm_check_kind("pointer_attributes: the memory", pointer, &memory, all_kinds, error);
  if (!code) usm_return_attributes(&memory, info);
  return code;
}

static int usm_pointer_attributes(const void* pointer, dlpackgen_pointer_attributes* info,
                                  dlpackgen_backend_error* error) {
  return usm_query_device_memory(pointer, info) ? DLPACKGEN_BACKEND_OK : usm_info(pointer, 0, info, error);
}

static int usm_pointer_attributes_all(const void* pointer, dlpackgen_pointer_attributes* info,
                                      dlpackgen_backend_error* error) {
  return usm_query_device_memory(pointer, info) ? DLPACKGEN_BACKEND_OK : usm_info(pointer, 1, info, error);
}

/* Compares the driver's information with the declared device of a tensor. Host memory belongs to no
 * device. */
static int usm_check_declared(const char* what, const void* start, DLDevice declared, const struct usm_memory* memory,
                              dlpackgen_backend_error* error) {
  if (memory->kind == USM_UNKNOWN)
    return device_fail(error, USM_UNKNOWN_CODE,
                       "%s: %p is not memory under the default context of a platform; "
                       "it was freed, or allocated under another context: allocate it under the default one",
                       what, start);
  if (memory->ordinal < 0 || memory->id == declared.device_id) return DLPACKGEN_BACKEND_OK;
  return device_fail(error, DLPACKGEN_BACKEND_MEMORY_MISMATCH,
                     "%s declares device %d, but the memory %p is of device %d in the order of SYCL", what,
                     (int)declared.device_id, start, (int)memory->id);
}

/* Checks a tensor that declares memory of the backend. */
static int usm_check_owner(const char* what, const DLTensor* t, int all_kinds, struct usm_memory* memory,
                           dlpackgen_backend_error* error) {
  const char* start = (const char*)t->data + t->byte_offset;
  int code = usm_check_id(what, t->device.device_id, error);
  if (!code) code = usm_query_memory(what, start, t->device.device_id, memory, error);
  if (!code) code = usm_check_declared(what, start, t->device, memory, error);
  return code ? code : usm_check_kind(what, start, memory, all_kinds, error);
}

static int usm_check_tensor(const DLTensor* tensor, uint32_t flags, dlpackgen_pointer_attributes* info,
                            dlpackgen_backend_error* error) {
  struct usm_memory memory = usm_unknown;
  uint64_t count = 0;
  int code = usm_ready(error);
  if (!code && info) code = device_check_attributes("check_tensor", info, error);
  if (!code && (!tensor || (flags & ~(uint32_t)DLPACKGEN_USM_ALL_KINDS)))
    code = device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "check_tensor: %s",
                       tensor ? "unknown flags; expected DLPACKGEN_USM_ALL_KINDS" : DEVICE_TEXT_NO_TENSOR);
  if (!code && (int)tensor->device.device_type != BACKEND_device)
    code = device_fail(error, DLPACKGEN_BACKEND_INVALID_DEVICE_TYPE,
                       "check_tensor: the tensor declares device type %d, but %s has %d",
                       (int)tensor->device.device_type, BACKEND_TITLE, BACKEND_device);
  if (!code) code = device_elements("check_tensor", tensor->ndim, tensor->shape, &count, error);
  if (code) return code;
  if (count && !tensor->data)
    return device_fail(error, DLPACKGEN_BACKEND_INVALID_ARGUMENT, "check_tensor: a tensor with elements has no data");
  code = count ? usm_check_owner("check_tensor: the tensor", tensor, flags == DLPACKGEN_USM_ALL_KINDS, &memory, error)
               : usm_check_id("check_tensor", tensor->device.device_id, error);
  if (code || !info) return code;
  usm_return_attributes(&memory, info);
  if (!count) info->device = tensor->device;
  return DLPACKGEN_BACKEND_OK;
}

#endif /* DLPACKGEN_USM_POINTER_H_ */
