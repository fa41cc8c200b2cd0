/* The functions that ONNX Runtime calls to describe an operator and its nodes. */
#ifndef DLPACKGEN_ONNXRUNTIME_OPERATOR_H_
#define DLPACKGEN_ONNXRUNTIME_OPERATOR_H_

#include "attributes.h"

static const struct dlpackgen_ort_operator* dlpackgen_ort_of(const struct dlpackgen_onnxruntime_custom_op* op) {
  return (const struct dlpackgen_ort_operator*)(const void*)op;
}

DLPACKGEN_ORT void dlpackgen_ort_destroy(void* kernel) {
  struct dlpackgen_ort_node* const node = kernel;
  for (int i = 0; i < node->op->attribute_count; i++) free(node->values[i].block);
  free(node);
}

DLPACKGEN_ORT void* dlpackgen_ort_create(const struct dlpackgen_onnxruntime_custom_op* host,
                                         const dlpackgen_ort_api* api, const void* info, void** kernel) {
  const struct dlpackgen_ort_operator* const op = dlpackgen_ort_of(host);
  char text[DLPACKGEN_ORT_SENTENCE];
  struct dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  struct dlpackgen_ort_node* const node =
      calloc(1, sizeof *node + (size_t)op->attribute_count * sizeof(struct dlpackgen_ort_value));
  if (!node) return dlpackgen_ort_fail(api, DLPACKGEN_STATUS_MEMORY_ERROR, "no memory for the attributes of a node");
  node->api = api;
  node->op = op;
  int status = DLPACKGEN_STATUS_OK;
  for (int i = 0; i < op->attribute_count && !status; i++)
    status = dlpackgen_ort_read(api, info, &op->attributes[i], &node->values[i], &message);
  if (!status) {
    *kernel = node;
    return NULL;
  }
  dlpackgen_ort_destroy(node);
  return dlpackgen_ort_fail(api, status, text);
}

static const char* dlpackgen_ort_name(const struct dlpackgen_onnxruntime_custom_op* op) {
  return dlpackgen_ort_of(op)->name;
}

static const char* dlpackgen_ort_provider(const struct dlpackgen_onnxruntime_custom_op* op) {
  (void)op;
  return "CPUExecutionProvider";
}

static size_t dlpackgen_ort_inputs(const struct dlpackgen_onnxruntime_custom_op* op) {
  return (size_t)dlpackgen_ort_of(op)->input_count;
}

/* The kernel's check reports a wrong dtype, in its message. */
static int dlpackgen_ort_input_type(const struct dlpackgen_onnxruntime_custom_op* op, size_t i) {
  (void)op;
  (void)i;
  return DLPACKGEN_ONNXRUNTIME_UNDEFINED;
}

static int dlpackgen_ort_input_need(const struct dlpackgen_onnxruntime_custom_op* op, size_t i) {
  return dlpackgen_ort_of(op)->inputs[i] ? DLPACKGEN_ONNXRUNTIME_OPTIONAL : DLPACKGEN_ONNXRUNTIME_REQUIRED;
}

static size_t dlpackgen_ort_outputs(const struct dlpackgen_onnxruntime_custom_op* op) {
  return (size_t)dlpackgen_ort_of(op)->output_count;
}

static int dlpackgen_ort_output_type(const struct dlpackgen_onnxruntime_custom_op* op, size_t i) {
  return dlpackgen_ort_of(op)->outputs[i].type;
}

static int dlpackgen_ort_output_need(const struct dlpackgen_onnxruntime_custom_op* op, size_t i) {
  (void)op;
  (void)i;
  return DLPACKGEN_ONNXRUNTIME_REQUIRED;
}

static int dlpackgen_ort_memory(const struct dlpackgen_onnxruntime_custom_op* op, size_t i) {
  (void)op;
  (void)i;
  return 0; /* the memory of the execution provider's tensors */
}

static int dlpackgen_ort_first_version(const struct dlpackgen_onnxruntime_custom_op* op) {
  (void)op;
  return 1;
}

static int dlpackgen_ort_last_version(const struct dlpackgen_onnxruntime_custom_op* op) {
  (void)op;
  return INT32_MAX;
}

/* Types before a call */

/* ONNX Runtime does not pass its functions to type inference. */
static const dlpackgen_ort_api* dlpackgen_ort_functions;

/* Several threads may create sessions concurrently. */
#if defined(__GNUC__)
#define DLPACKGEN_ORT_NEXT(count) __atomic_fetch_add(count, 1, __ATOMIC_RELAXED)
#else
#include <intrin.h>
#define DLPACKGEN_ORT_NEXT(count) _InterlockedExchangeAdd(count, 1)
#endif

/* Counts the names that were given to dimensions. */
static long dlpackgen_ort_names;

/* Determines the number of dimensions of an output: -1 if the model does not specify it. */
DLPACKGEN_ORT void* dlpackgen_ort_rank(const struct dlpackgen_ort_form* form, void* context, int64_t* rank) {
  const dlpackgen_ort_api* const api = dlpackgen_ort_functions;
  void* info = NULL;
  size_t count = 0;
  *rank = form->extents;
  if (form->input_of_rank < 0) return NULL;
  void* error = api->ShapeInferContext_GetInputTypeShape(context, (size_t)form->input_of_rank, &info);
  if (!error) error = api->GetDimensionsCount(info, &count);
  if (error) return error;
  /* An input without a shape counts as one of rank 0. */
  if (count == 0 || (int64_t)count < form->extents_of_input || count > DLPACKGEN_MAX_NDIM) *rank = -1;
  else *rank += (int64_t)count - form->extents_of_input;
  return NULL;
}

/* Assigns a unique name to a dimension: ONNX Runtime treats dimensions of the same name as equal,
 * and a model may have operators of several libraries. */
DLPACKGEN_ORT void dlpackgen_ort_put_name(struct dlpackgen_message* name) {
  dlpackgen_put(name, "dlpackgen_");
  dlpackgen_put_address(name, (uintptr_t)&dlpackgen_ort_names);
  dlpackgen_put(name, "_");
  dlpackgen_put_integer(name, (int64_t)DLPACKGEN_ORT_NEXT(&dlpackgen_ort_names));
}

/* Describes an output by its type and its number of dimensions. */
DLPACKGEN_ORT void* dlpackgen_ort_form(void* info, int type, size_t rank) {
  const dlpackgen_ort_api* const api = dlpackgen_ort_functions;
  int64_t extents[2 * DLPACKGEN_MAX_NDIM];
  char texts[2 * DLPACKGEN_MAX_NDIM][64];
  const char* symbols[2 * DLPACKGEN_MAX_NDIM];
  for (size_t d = 0; d < rank; d++) {
    struct dlpackgen_message name = dlpackgen_message_in(texts[d], sizeof texts[d]);
    dlpackgen_ort_put_name(&name);
    extents[d] = -1;
    symbols[d] = texts[d];
  }
  void* error = api->SetTensorElementType(info, type);
  if (!error) error = api->SetDimensions(info, extents, rank);
  return error ? error : api->SetSymbolicDimensions(info, symbols, rank);
}

/* Infers the type of an output that has the type of an input. */
DLPACKGEN_ORT void* dlpackgen_ort_infer_one(const struct dlpackgen_ort_form* form, void* context, size_t place) {
  const dlpackgen_ort_api* const api = dlpackgen_ort_functions;
  int64_t rank = 0;
  int type = 0;
  void *input = NULL, *output = NULL;
  void* error = dlpackgen_ort_rank(form, context, &rank);
  if (error || rank < 0 || rank >= 2 * DLPACKGEN_MAX_NDIM) return error;
  error = api->ShapeInferContext_GetInputTypeShape(context, (size_t)form->input_of_type, &input);
  if (!error) error = api->GetTensorElementType(input, &type);
  if (!error) error = api->CreateTensorTypeAndShapeInfo(&output);
  if (error) return error;
  error = dlpackgen_ort_form(output, type, (size_t)rank);
  if (!error) error = api->ShapeInferContext_SetOutputTypeShape(context, place, output);
  api->ReleaseTensorTypeAndShapeInfo(output);
  return error;
}

static void* dlpackgen_ort_infer(const struct dlpackgen_onnxruntime_custom_op* host, void* context) {
  const struct dlpackgen_ort_operator* const op = dlpackgen_ort_of(host);
  void* error = NULL;
  for (int i = 0; i < op->output_count && !error; i++)
    if (op->outputs[i].input_of_type >= 0) error = dlpackgen_ort_infer_one(&op->outputs[i], context, (size_t)i);
  return error;
}

/* The functions of an operator. Only the last one differs between operators. */
#define DLPACKGEN_ORT_OPERATOR(compute)                  \
  {.version = DLPACKGEN_ORT_API,                         \
   .GetName = dlpackgen_ort_name,                        \
   .GetExecutionProviderType = dlpackgen_ort_provider,   \
   .GetInputType = dlpackgen_ort_input_type,             \
   .GetInputTypeCount = dlpackgen_ort_inputs,            \
   .GetOutputType = dlpackgen_ort_output_type,           \
   .GetOutputTypeCount = dlpackgen_ort_outputs,          \
   .KernelDestroy = dlpackgen_ort_destroy,               \
   .GetInputCharacteristic = dlpackgen_ort_input_need,   \
   .GetOutputCharacteristic = dlpackgen_ort_output_need, \
   .GetInputMemoryType = dlpackgen_ort_memory,           \
   .CreateKernelV2 = dlpackgen_ort_create,               \
   .InferOutputShapeFn = dlpackgen_ort_infer,            \
   .GetStartVersion = dlpackgen_ort_first_version,       \
   .GetEndVersion = dlpackgen_ort_last_version,          \
   .KernelComputeV2 = compute}

#endif /* DLPACKGEN_ONNXRUNTIME_OPERATOR_H_ */
