/*
 * Functions of libtorch by their names, in the torch that the program has loaded already: one
 * binary serves many versions. Those that begin with aoti_torch_ or torch_ are its C shim, which
 * PyTorch keeps stable. The shim does not tell whether a tensor requires a gradient or has a
 * tangent, and does not record that a tensor was written: exported functions of C++ do.
 */
#ifndef DLPACKGEN_TORCHSHIM_LIBRARY_H_
#define DLPACKGEN_TORCHSHIM_LIBRARY_H_

#include <dlpackgen/checker.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "loaded.h"

/* A value on a stack of the shim: a number by its bits, or a handle. */
typedef uint64_t dlpackgen_shim_cell;
typedef void (*dlpackgen_shim_boxed)(dlpackgen_shim_cell* stack, uint64_t arguments, uint64_t results);

/* Those that give int32_t give 0 where they succeed. A handle of a tensor is the address of an
 * at::Tensor, whose only member points to the TensorImpl. */
struct dlpackgen_shim_functions {
  int32_t (*library_fragment)(const char* name, const char* file, uint32_t line, void** library);
  int32_t (*library_impl)(const char* name, const char* key, const char* file, uint32_t line, void** library);
  int32_t (*define)(void* library, const char* schema);
  int32_t (*implement)(void* library, const char* name, dlpackgen_shim_boxed call, uint64_t version);
  uint64_t (*version)(void);
  void (*check)(bool condition, const char* function, const char* file, uint32_t line, const char* message);
  int32_t (*get_const_data)(void* handle, const void** data);
  int32_t (*get_mutable_data)(void* handle, void** data);
  int32_t (*get_dim)(void* handle, int64_t* dim);
  int32_t (*get_sizes)(void* handle, int64_t** sizes);
  int32_t (*get_strides)(void* handle, int64_t** strides);
  int32_t (*get_dtype)(void* handle, int32_t* dtype);
  int32_t (*get_device_type)(void* handle, int32_t* type);
  int32_t (*get_device_index)(void* handle, int32_t* index);
  int32_t (*get_storage_size)(void* handle, int64_t* bytes);
  int32_t (*get_storage_offset)(void* handle, int64_t* elements);
  int32_t (*empty_strided)(int64_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                           int32_t device_type, int32_t device_index, void** handle);
  int32_t (*copy)(void* to, void* from, int32_t non_blocking);
  int32_t (*delete_tensor)(void* handle);
  int32_t (*list_size)(void* list, size_t* size);
  int32_t (*list_item)(void* list, size_t index, dlpackgen_shim_cell* item);
  int32_t (*delete_list)(void* list);
  int32_t (*string_length)(void* string, size_t* length);
  int32_t (*string_data)(void* string, const char** data);
  int32_t (*delete_string)(void* string);
  bool (*grad_mode)(void);
  bool (*requires_grad)(const void* impl);
  void* (*tangent)(const void* impl, uint64_t level, const void* handle); /* gives a handle */
  int32_t (*is_defined)(void* handle, bool* is_defined);
  bool (*is_inference)(const void* handle);
  bool (*inference_mode)(void);
  void (*bump_version)(const void* handle);
  int32_t (*device_cpu)(void);
  int32_t (*device_cuda)(void);
  /* The rest may be NULL. */
  int32_t (*device_xpu)(void);
  int32_t (*device_mps)(void);
  int32_t (*device_other)(void);
  int32_t (*delete_optional)(dlpackgen_shim_cell* value); /* from 2.13 on */
  void (*operator_delete)(void* memory);                  /* what C++ deletes it by before */
  int32_t (*device_guard)(int32_t index, void** guard);
  int32_t (*delete_guard)(void* guard);
  int32_t (*current_stream)(int32_t index, void** stream);
  int32_t (*native_handle)(void* stream, void** handle); /* from 2.13 on */
  int32_t (*delete_stream)(void* stream);
  int32_t (*cuda_stream)(int32_t index, void** handle);
  const char* (*last_error)(void); /* from 2.13 on */
};

#define DLPACKGEN_SHIM_SLOT(member) offsetof(struct dlpackgen_shim_functions, member)

/* Takes an uint64_t, which is another type of C++ on macOS. */
#if defined(__APPLE__) /* untested */
#define DLPACKGEN_SHIM_TANGENT "_ZNK3c1010TensorImpl8_fw_gradEyRKN2at10TensorBaseE"
#else
#define DLPACKGEN_SHIM_TANGENT "_ZNK3c1010TensorImpl8_fw_gradEmRKN2at10TensorBaseE"
#endif

static const struct dlpackgen_loaded_name dlpackgen_shim_names[] = {
    {"aoti_torch_library_init_fragment", DLPACKGEN_SHIM_SLOT(library_fragment), false},
    {"aoti_torch_library_init_impl", DLPACKGEN_SHIM_SLOT(library_impl), false},
    {"aoti_torch_library_def", DLPACKGEN_SHIM_SLOT(define), false},
    {"torch_library_impl", DLPACKGEN_SHIM_SLOT(implement), false},
    {"aoti_torch_abi_version", DLPACKGEN_SHIM_SLOT(version), false},
    {"aoti_torch_check", DLPACKGEN_SHIM_SLOT(check), false},
    {"torch_get_const_data_ptr", DLPACKGEN_SHIM_SLOT(get_const_data), false},
    {"torch_get_mutable_data_ptr", DLPACKGEN_SHIM_SLOT(get_mutable_data), false},
    {"aoti_torch_get_dim", DLPACKGEN_SHIM_SLOT(get_dim), false},
    {"aoti_torch_get_sizes", DLPACKGEN_SHIM_SLOT(get_sizes), false},
    {"aoti_torch_get_strides", DLPACKGEN_SHIM_SLOT(get_strides), false},
    {"aoti_torch_get_dtype", DLPACKGEN_SHIM_SLOT(get_dtype), false},
    {"aoti_torch_get_device_type", DLPACKGEN_SHIM_SLOT(get_device_type), false},
    {"aoti_torch_get_device_index", DLPACKGEN_SHIM_SLOT(get_device_index), false},
    {"aoti_torch_get_storage_size", DLPACKGEN_SHIM_SLOT(get_storage_size), false},
    {"aoti_torch_get_storage_offset", DLPACKGEN_SHIM_SLOT(get_storage_offset), false},
    {"aoti_torch_empty_strided", DLPACKGEN_SHIM_SLOT(empty_strided), false},
    {"aoti_torch_copy_", DLPACKGEN_SHIM_SLOT(copy), false},
    {"aoti_torch_delete_tensor_object", DLPACKGEN_SHIM_SLOT(delete_tensor), false},
    {"torch_list_size", DLPACKGEN_SHIM_SLOT(list_size), false},
    {"torch_list_get_item", DLPACKGEN_SHIM_SLOT(list_item), false},
    {"torch_delete_list", DLPACKGEN_SHIM_SLOT(delete_list), false},
    {"torch_string_length", DLPACKGEN_SHIM_SLOT(string_length), false},
    {"torch_string_c_str", DLPACKGEN_SHIM_SLOT(string_data), false},
    {"torch_delete_string", DLPACKGEN_SHIM_SLOT(delete_string), false},
    {"aoti_torch_grad_mode_is_enabled", DLPACKGEN_SHIM_SLOT(grad_mode), false},
    {"_ZNK3c1010TensorImpl13requires_gradEv", DLPACKGEN_SHIM_SLOT(requires_grad), false},
    {DLPACKGEN_SHIM_TANGENT, DLPACKGEN_SHIM_SLOT(tangent), false},
    {"aoti_torch_is_defined", DLPACKGEN_SHIM_SLOT(is_defined), false},
    {"_ZN2at6native12is_inferenceERKNS_6TensorE", DLPACKGEN_SHIM_SLOT(is_inference), false},
    {"_ZN3c1013InferenceMode10is_enabledEv", DLPACKGEN_SHIM_SLOT(inference_mode), false},
    {"_ZN5torch8autograd4impl12bump_versionERKN2at6TensorE", DLPACKGEN_SHIM_SLOT(bump_version), false},
    {"aoti_torch_device_type_cpu", DLPACKGEN_SHIM_SLOT(device_cpu), false},
    {"aoti_torch_device_type_cuda", DLPACKGEN_SHIM_SLOT(device_cuda), false},
    {"aoti_torch_device_type_xpu", DLPACKGEN_SHIM_SLOT(device_xpu), true},
    {"aoti_torch_device_type_mps", DLPACKGEN_SHIM_SLOT(device_mps), true},
    {"aoti_torch_device_type_privateuse1", DLPACKGEN_SHIM_SLOT(device_other), true},
    {"torch_delete_stable_ivalue", DLPACKGEN_SHIM_SLOT(delete_optional), true},
    {"_ZdlPv", DLPACKGEN_SHIM_SLOT(operator_delete), true},
    {"aoti_torch_create_device_guard", DLPACKGEN_SHIM_SLOT(device_guard), true},
    {"aoti_torch_delete_device_guard", DLPACKGEN_SHIM_SLOT(delete_guard), true},
    {"aoti_torch_get_current_stream", DLPACKGEN_SHIM_SLOT(current_stream), true},
    {"torch_stream_native_handle", DLPACKGEN_SHIM_SLOT(native_handle), true},
    {"aoti_torch_delete_stream", DLPACKGEN_SHIM_SLOT(delete_stream), true},
    {"aoti_torch_get_current_cuda_stream", DLPACKGEN_SHIM_SLOT(cuda_stream), true},
    {"torch_exception_get_what_without_backtrace", DLPACKGEN_SHIM_SLOT(last_error), true},
};

/* What is known of the torch in this process. Written once, before an operator is registered. */
struct dlpackgen_shim {
  struct dlpackgen_shim_functions call;
  DLDataType dtypes[DLPACKGEN_TORCH_DTYPES]; /* by torch's number; lanes is 0 for others */
  int32_t cpu, cuda, xpu, mps, other;
  DLDeviceType gpu; /* what cuda is called here: ROCm's torch has the same name for its devices */
};
static struct dlpackgen_shim dlpackgen_shim;

static const char* dlpackgen_shim_link(void* library) {
  const size_t count = sizeof dlpackgen_shim_names / sizeof *dlpackgen_shim_names;
  return dlpackgen_loaded_link(library, dlpackgen_shim_names, count, &dlpackgen_shim.call);
}

/* A dtype by its name in torch, and the function of the shim that gives its number. */
struct dlpackgen_shim_dtype {
  const char *name, *function;
  DLDataType dtype;
};

static void dlpackgen_shim_learn_dtypes(void* library, const struct dlpackgen_shim_dtype* all, size_t count) {
  for (size_t i = 0; i < count; i++)
    dlpackgen_loaded_learn(library, all[i].function, all[i].dtype, dlpackgen_shim.dtypes);
}

/* Gives torch's number of a dtype, or -1. */
static int32_t dlpackgen_shim_number_of(DLDataType dtype) {
  for (int32_t i = 0; i < DLPACKGEN_TORCH_DTYPES; i++) {
    const DLDataType known = dlpackgen_shim.dtypes[i];
    if (known.lanes == dtype.lanes && known.bits == dtype.bits && known.code == dtype.code) return i;
  }
  return -1;
}

static int32_t dlpackgen_shim_device(int32_t (*number_of)(void)) { return number_of ? number_of() : -1; }

static void dlpackgen_shim_learn_devices(bool is_rocm) {
  const struct dlpackgen_shim_functions* const call = &dlpackgen_shim.call;
  dlpackgen_shim.cpu = dlpackgen_shim_device(call->device_cpu);
  dlpackgen_shim.cuda = dlpackgen_shim_device(call->device_cuda);
  dlpackgen_shim.xpu = dlpackgen_shim_device(call->device_xpu);
  dlpackgen_shim.mps = dlpackgen_shim_device(call->device_mps);
  dlpackgen_shim.other = dlpackgen_shim_device(call->device_other);
  dlpackgen_shim.gpu = is_rocm ? kDLROCM : kDLCUDA;
}

/* DLPack's type of a device of torch's; 0 where it has none. */
static DLDeviceType dlpackgen_shim_device_type(int32_t type) {
  if (type == dlpackgen_shim.cpu) return kDLCPU;
  if (type == dlpackgen_shim.cuda) return dlpackgen_shim.gpu;
  if (type == dlpackgen_shim.xpu) return kDLOneAPI;
  if (type == dlpackgen_shim.mps) return kDLMetal;
  return type == dlpackgen_shim.other ? kDLExtDev : (DLDeviceType)0;
}

#endif /* DLPACKGEN_TORCHSHIM_LIBRARY_H_ */
