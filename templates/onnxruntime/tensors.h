/* Converts inputs and outputs of ONNX Runtime to tensors, and registers operators. */
#ifndef DLPACKGEN_ONNXRUNTIME_TENSORS_H_
#define DLPACKGEN_ONNXRUNTIME_TENSORS_H_

#include "attributes.h"
#include "block.h"
#include "dtypes.h"

/* A tensor of a call, with room for its shape. */
struct dlpackgen_ort_tensor {
  DLTensor tensor;
  int64_t shape[DLPACKGEN_MAX_NDIM + 1], strides[DLPACKGEN_MAX_NDIM + 1];
  void* block; /* of a result that callers do not receive */
};

/* Sets a C-contiguous tensor on the CPU with an existing shape. */
DLPACKGEN_ORT void dlpackgen_ort_lay_out(struct dlpackgen_ort_tensor* made, DLDataType dtype, int32_t ndim) {
  memset(&made->tensor, 0, sizeof made->tensor);
  made->tensor.device.device_type = kDLCPU;
  made->tensor.dtype = dtype;
  made->tensor.ndim = ndim;
  made->tensor.shape = made->shape;
  made->tensor.strides = made->strides;
  (void)dlpackgen_compact_strides(ndim, made->shape, made->strides);
}

/* Reads dtype and shape of a tensor. Returns an error of the host, or sets a status. */
DLPACKGEN_ORT void* dlpackgen_ort_describe(const dlpackgen_ort_api* api, const void* info,
                                           const struct dlpackgen_site* at, struct dlpackgen_ort_tensor* made,
                                           int* status, struct dlpackgen_message* message) {
  int type = 0;
  size_t rank = 0;
  DLDataType dtype = {0, 0, 0};
  void* error = api->GetTensorElementType(info, &type);
  if (!error) error = api->GetDimensionsCount(info, &rank);
  if (error) return error;
  if (rank > DLPACKGEN_MAX_NDIM) {
    *status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR,
                             "more than " DLPACKGEN_QUOTE(DLPACKGEN_MAX_NDIM) " dimensions");
    return NULL;
  }
  if (!dlpackgen_ort_dtype(type, &dtype)) {
    *status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, "unsupported ONNX type ");
    dlpackgen_put_integer(message, type);
    return NULL;
  }
  error = api->GetDimensions(info, made->shape, rank);
  if (!error) dlpackgen_ort_lay_out(made, dtype, (int32_t)rank);
  return error;
}

/* Reads an input; *tensor is NULL if the node omits it. */
DLPACKGEN_ORT void* dlpackgen_ort_input(const dlpackgen_ort_api* api, const void* context, size_t place, int optional,
                                        const struct dlpackgen_site* at, struct dlpackgen_ort_tensor* made,
                                        const DLTensor** tensor, int* status, struct dlpackgen_message* message) {
  const void* value = NULL;
  void* info = NULL;
  *tensor = NULL;
  if (*status) return NULL;
  void* error = api->KernelContext_GetInput(context, place, &value);
  if (error) return error;
  if (!value) {
    if (!optional) *status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_MISSING);
    return NULL;
  }
  error = api->GetTensorTypeAndShape(value, &info);
  if (error) return error;
  error = dlpackgen_ort_describe(api, info, at, made, status, message);
  api->ReleaseTensorTypeAndShapeInfo(info);
  if (error || *status) return error;
  *tensor = &made->tensor;
  return api->GetTensorMutableData((void*)(uintptr_t)value, &made->tensor.data);
}

/* Allocates an output, which is a result. */
DLPACKGEN_ORT void* dlpackgen_ort_output(const dlpackgen_ort_api* api, void* context, size_t place,
                                         const struct dlpackgen_result* wanted, struct dlpackgen_ort_tensor* made) {
  void* value = NULL;
  for (int32_t d = 0; d < wanted->ndim; d++) made->shape[d] = wanted->shape[d];
  dlpackgen_ort_lay_out(made, wanted->dtype, wanted->ndim);
  void* const error = api->KernelContext_GetOutput(context, place, made->shape, (size_t)wanted->ndim, &value);
  return error ? error : api->GetTensorMutableData(value, &made->tensor.data);
}

/* Allocates an output of rank 0, which is a scalar result. */
DLPACKGEN_ORT void* dlpackgen_ort_scalar(const dlpackgen_ort_api* api, void* context, size_t place, void** data) {
  static const int64_t none[1] = {0};
  void* value = NULL;
  void* const error = api->KernelContext_GetOutput(context, place, none, 0, &value);
  return error ? error : api->GetTensorMutableData(value, data);
}

/* Allocates memory for a result that is not returned to callers. */
DLPACKGEN_ORT int dlpackgen_ort_saved(const struct dlpackgen_site* at, const struct dlpackgen_result* wanted,
                                      struct dlpackgen_ort_tensor* made, struct dlpackgen_message* message) {
  for (int32_t d = 0; d < wanted->ndim; d++) made->shape[d] = wanted->shape[d];
  dlpackgen_ort_lay_out(made, wanted->dtype, wanted->ndim);
  made->block = dlpackgen_allocate_block(&made->tensor, &made->tensor.data);
  if (!made->block) return dlpackgen_fail(message, at, DLPACKGEN_STATUS_MEMORY_ERROR, DLPACKGEN_TEXT_NO_MEMORY);
  return DLPACKGEN_STATUS_OK;
}

/* Registration */

/* Adds the operators of a domain. Domains are not freed, because ONNX Runtime uses them as long as
 * its sessions, and does not report when these end. */
DLPACKGEN_ORT void* dlpackgen_ort_add(const dlpackgen_ort_api* api, void* options, const char* name,
                                      const struct dlpackgen_ort_operator* const* all, int count) {
  void* domain = NULL;
  void* error = api->CreateCustomOpDomain(name, &domain);
  for (int i = 0; i < count && !error; i++)
    if (strcmp(all[i]->domain, name) == 0) error = api->CustomOpDomain_Add(domain, &all[i]->host);
  if (!error) error = api->AddCustomOpDomain(options, domain);
  if (error && domain) api->ReleaseCustomOpDomain(domain);
  return error;
}

#endif /* DLPACKGEN_ONNXRUNTIME_TENSORS_H_ */
