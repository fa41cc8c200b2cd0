/* What the operators of all kernels share: how ONNX Runtime's attributes and tensors become values of
 * C, and how a sentence becomes its status. */
#ifndef DLPACKGEN_ONNXRUNTIME_VALUES_H_
#define DLPACKGEN_ONNXRUNTIME_VALUES_H_

#include <dlpackgen/arguments.h>
#include <kernels.h>
#include <stdlib.h>
#include <string.h>
#include "onnxruntime_abi.h"

/* Not every kernel uses every part. */
#if defined(__GNUC__)
#define DLPACKGEN_ORT __attribute__((unused)) static
#else
#define DLPACKGEN_ORT static
#endif

#if defined(_WIN32)
#define DLPACKGEN_ORT_EXPORT __declspec(dllexport)
#else
#define DLPACKGEN_ORT_EXPORT __attribute__((visibility("default")))
#endif

/* The oldest version of the table of functions that has all of them, and the bytes of a sentence. */
enum { DLPACKGEN_ORT_API = 17, DLPACKGEN_ORT_SENTENCE = 1024 };

typedef struct dlpackgen_onnxruntime_api dlpackgen_ort_api;

/* Attributes */

enum dlpackgen_ort_kind {
  DLPACKGEN_ORT_INT,
  DLPACKGEN_ORT_FLOAT,
  DLPACKGEN_ORT_BOOL,
  DLPACKGEN_ORT_STR,
  DLPACKGEN_ORT_INTS,
  DLPACKGEN_ORT_FLOATS
};

/* An attribute: what it is, and its value where a node has none. */
struct dlpackgen_ort_attribute {
  struct dlpackgen_site site;
  int kind;
  int required;
  int there; /* the default is a value */
  int64_t integer;
  double real;
  const char* text;
};

/* The value of an attribute. */
struct dlpackgen_ort_value {
  int there; /* it is not None */
  int64_t integer;
  double real;
  bool truth;
  const char* text;
  const int64_t* integers;
  const double* reals;
  int64_t count;
  void* block; /* of the text or the list */
};

/* What is known of an output before a call: its type, or the input that has it; and its dimensions,
 * where they are `extents` more than those of an input behind its own `extents_of_input`. */
struct dlpackgen_ort_form {
  int type;
  int input_of_type;
  int extents;
  int input_of_rank; /* -1: there are no more */
  int extents_of_input;
};

/* An operator: what ONNX Runtime reads, and behind it what this library does. */
struct dlpackgen_ort_operator {
  struct dlpackgen_onnxruntime_custom_op host;
  const char* domain;
  const char* name;
  const struct dlpackgen_ort_attribute* attributes;
  const int* inputs; /* whether each is optional */
  const struct dlpackgen_ort_form* outputs;
  int attribute_count, input_count, output_count;
};

/* A node of a model. */
struct dlpackgen_ort_node {
  const dlpackgen_ort_api* api;
  const struct dlpackgen_ort_operator* op;
  struct dlpackgen_ort_value values[];
};

DLPACKGEN_SLOW static void* dlpackgen_ort_fail(const dlpackgen_ort_api* api, int status, const char* text) {
  switch (status) {
    case DLPACKGEN_STATUS_TYPE_ERROR:
    case DLPACKGEN_STATUS_VALUE_ERROR:
    case DLPACKGEN_STATUS_BUFFER_ERROR:
    case DLPACKGEN_STATUS_INDEX_ERROR: return api->CreateStatus(DLPACKGEN_ONNXRUNTIME_INVALID_ARGUMENT, text);
    case DLPACKGEN_STATUS_NOT_IMPLEMENTED_ERROR: return api->CreateStatus(DLPACKGEN_ONNXRUNTIME_NOT_IMPLEMENTED, text);
    default: return api->CreateStatus(DLPACKGEN_ONNXRUNTIME_FAIL, text);
  }
}

/* Drops an error, and tells whether there was none. */
DLPACKGEN_ORT int dlpackgen_ort_worked(const dlpackgen_ort_api* api, void* error) {
  if (error) api->ReleaseStatus(error);
  return !error;
}

/* Makes room for a text or a list: at least one byte, so that NULL is a failure. */
DLPACKGEN_ORT int dlpackgen_ort_room(struct dlpackgen_ort_value* value, size_t count, size_t size,
                                     const struct dlpackgen_site* at, struct dlpackgen_message* message) {
  value->block = count < SIZE_MAX / size ? calloc(count + 1, size) : NULL;
  if (value->block) return DLPACKGEN_STATUS_OK;
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_MEMORY_ERROR, "no memory for its value");
}

DLPACKGEN_ORT int dlpackgen_ort_text(const dlpackgen_ort_api* api, const void* info, const struct dlpackgen_site* at,
                                     struct dlpackgen_ort_value* value, struct dlpackgen_message* message) {
  size_t size = 0;
  if (!dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_string(info, at->argument, NULL, &size))) return -1;
  const int status = dlpackgen_ort_room(value, size, 1, at, message);
  if (status) return status;
  if (!dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_string(info, at->argument, value->block, &size)))
    return -1;
  value->text = value->block;
  if (size == 0 || strlen(value->text) == size - 1) return DLPACKGEN_STATUS_OK;
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, "expected a text without NUL");
}

/* Names the type of an attribute that is no list; NULL for others. */
DLPACKGEN_ORT const char* dlpackgen_ort_scalar_type(const dlpackgen_ort_api* api, const void* info, const char* name) {
  int64_t integer;
  float real;
  size_t size = 0;
  if (dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_int64(info, name, &integer))) return "int";
  if (dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_float(info, name, &real))) return "float";
  if (dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_string(info, name, NULL, &size))) return "str";
  return NULL;
}

/* Counts the integers and the floats of a list: 0 where the attribute is no list. ONNX Runtime gives
 * other attributes as lists without items. */
DLPACKGEN_ORT int dlpackgen_ort_count(const dlpackgen_ort_api* api, const void* info, const char* name,
                                      size_t* integers, size_t* reals) {
  *integers = *reals = 0;
  if (!dlpackgen_ort_worked(api, api->KernelInfoGetAttributeArray_int64(info, name, NULL, integers))) return 0;
  if (!dlpackgen_ort_worked(api, api->KernelInfoGetAttributeArray_float(info, name, NULL, reals))) return 0;
  return !dlpackgen_ort_scalar_type(api, info, name);
}

DLPACKGEN_ORT int dlpackgen_ort_integers(const dlpackgen_ort_api* api, const void* info,
                                         const struct dlpackgen_site* at, struct dlpackgen_ort_value* value,
                                         struct dlpackgen_message* message) {
  size_t count = 0, reals = 0;
  if (!dlpackgen_ort_count(api, info, at->argument, &count, &reals) || reals) return -1;
  const int status = dlpackgen_ort_room(value, count, sizeof(int64_t), at, message);
  if (status) return status;
  if (!dlpackgen_ort_worked(api, api->KernelInfoGetAttributeArray_int64(info, at->argument, value->block, &count)))
    return -1;
  value->integers = value->block;
  value->count = (int64_t)count;
  return DLPACKGEN_STATUS_OK;
}

/* Reads integers as doubles. */
DLPACKGEN_ORT int dlpackgen_ort_whole(const dlpackgen_ort_api* api, const void* info, const struct dlpackgen_site* at,
                                      struct dlpackgen_ort_value* value, struct dlpackgen_message* message) {
  const int status = dlpackgen_ort_integers(api, info, at, value, message);
  if (status) return status;
  double* const reals = value->block;
  for (int64_t i = 0; i < value->count; i++) {
    const double one = (double)value->integers[i];
    memcpy(&reals[i], &one, sizeof one);
  }
  value->reals = reals;
  return DLPACKGEN_STATUS_OK;
}

/* ONNX has floats of 32 bits alone, which become doubles here from the last one on. */
DLPACKGEN_ORT int dlpackgen_ort_reals(const dlpackgen_ort_api* api, const void* info, const struct dlpackgen_site* at,
                                      struct dlpackgen_ort_value* value, struct dlpackgen_message* message) {
  size_t count = 0, integers = 0;
  if (!dlpackgen_ort_count(api, info, at->argument, &integers, &count)) return -1;
  if (integers) return dlpackgen_ort_whole(api, info, at, value, message);
  const int status = dlpackgen_ort_room(value, count, sizeof(double), at, message);
  if (status) return status;
  if (!dlpackgen_ort_worked(api, api->KernelInfoGetAttributeArray_float(info, at->argument, value->block, &count)))
    return -1;
  double* const reals = value->block;
  for (size_t i = count; i-- > 0;) {
    float one;
    memcpy(&one, (const char*)value->block + i * sizeof one, sizeof one);
    const double wide = (double)one;
    memcpy(&reals[i], &wide, sizeof wide);
  }
  value->reals = reals;
  value->count = (int64_t)count;
  return DLPACKGEN_STATUS_OK;
}

/* Reads an attribute as what it should be: a status, or -1 where the node has no such one. */
DLPACKGEN_ORT int dlpackgen_ort_expected(const dlpackgen_ort_api* api, const void* info,
                                         const struct dlpackgen_ort_attribute* attribute,
                                         struct dlpackgen_ort_value* value, struct dlpackgen_message* message) {
  const struct dlpackgen_site* const at = &attribute->site;
  const int is_integer =
      dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_int64(info, at->argument, &value->integer));
  float real = 0;
  switch (attribute->kind) {
    case DLPACKGEN_ORT_INT: return is_integer ? DLPACKGEN_STATUS_OK : -1;
    case DLPACKGEN_ORT_BOOL:
      value->truth = value->integer == 1;
      return is_integer && (value->integer == 0 || value->integer == 1) ? DLPACKGEN_STATUS_OK : -1;
    case DLPACKGEN_ORT_FLOAT:
      value->real = (double)value->integer;
      if (is_integer) return DLPACKGEN_STATUS_OK;
      if (!dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_float(info, at->argument, &real))) return -1;
      value->real = (double)real;
      return DLPACKGEN_STATUS_OK;
    case DLPACKGEN_ORT_STR: return dlpackgen_ort_text(api, info, at, value, message);
    case DLPACKGEN_ORT_INTS: return dlpackgen_ort_integers(api, info, at, value, message);
    default: return dlpackgen_ort_reals(api, info, at, value, message);
  }
}

/* Names the type of an attribute; NULL where the node has none. */
DLPACKGEN_SLOW static const char* dlpackgen_ort_type(const dlpackgen_ort_api* api, const void* info,
                                                     const struct dlpackgen_ort_attribute* attribute) {
  const char* const name = attribute->site.argument;
  const char* const scalar = dlpackgen_ort_scalar_type(api, info, name);
  size_t size = 0;
  if (scalar) return scalar;
  if (!dlpackgen_ort_worked(api, api->KernelInfoGetAttributeArray_int64(info, name, NULL, &size))) return NULL;
  return attribute->kind == DLPACKGEN_ORT_INTS ? "float" : "list"; /* of an item that is no int */
}

/* Reads an attribute of a node, or takes its default. */
DLPACKGEN_ORT int dlpackgen_ort_read(const dlpackgen_ort_api* api, const void* info,
                                     const struct dlpackgen_ort_attribute* attribute, struct dlpackgen_ort_value* value,
                                     struct dlpackgen_message* message) {
  static const char* const expected[] = {"int", "float", "bool", "str", "a list of int", "a list of float"};
  const int status = dlpackgen_ort_expected(api, info, attribute, value, message);
  value->there = 1;
  if (status >= 0) return status;
  const char* const type = dlpackgen_ort_type(api, info, attribute);
  if (type) return dlpackgen_bad_type(&attribute->site, expected[attribute->kind], type, message);
  if (attribute->required)
    return dlpackgen_fail(message, &attribute->site, DLPACKGEN_STATUS_TYPE_ERROR, "it is missing");
  value->there = attribute->there;
  value->integer = attribute->integer;
  value->real = attribute->real;
  value->truth = attribute->integer != 0;
  value->text = attribute->text;
  return DLPACKGEN_STATUS_OK;
}

/* What ONNX Runtime calls */

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

/* The kernel's check reports a wrong dtype, in its sentence. */
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
  return 0; /* where the execution provider has its tensors */
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

/* ONNX Runtime passes its functions to what infers types by no argument. */
static const dlpackgen_ort_api* dlpackgen_ort_functions;

/* Finds the number of dimensions of an output: -1 where the model does not tell. */
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

/* Describes an output by its type and its number of dimensions. Each dimension has a name that no
 * other has: ONNX Runtime takes those of one name for equal. */
DLPACKGEN_ORT void* dlpackgen_ort_form(void* info, int type, size_t rank) {
  static unsigned names;
  const dlpackgen_ort_api* const api = dlpackgen_ort_functions;
  int64_t extents[2 * DLPACKGEN_MAX_NDIM];
  char texts[2 * DLPACKGEN_MAX_NDIM][32];
  const char* symbols[2 * DLPACKGEN_MAX_NDIM];
  for (size_t d = 0; d < rank; d++) {
    struct dlpackgen_message name = dlpackgen_message_in(texts[d], sizeof texts[d]);
    dlpackgen_put(&name, "dlpackgen_");
    dlpackgen_put_integer(&name, names++);
    extents[d] = -1;
    symbols[d] = texts[d];
  }
  void* error = api->SetTensorElementType(info, type);
  if (!error) error = api->SetDimensions(info, extents, rank);
  return error ? error : api->SetSymbolicDimensions(info, symbols, rank);
}

/* Infers the type of an output that has that of an input. */
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

/* The functions of an operator, which differ in the last one alone. */
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

/* Tensors */

/* A tensor of a call, with room for its shape. */
struct dlpackgen_ort_tensor {
  DLTensor tensor;
  int64_t shape[DLPACKGEN_MAX_NDIM + 1], strides[DLPACKGEN_MAX_NDIM + 1];
  void* block; /* of a result that callers do not get */
};

/* Finds the dtype of a type of ONNX: 0 where DLPack has none. */
DLPACKGEN_ORT int dlpackgen_ort_dtype(int type, DLDataType* dtype) {
  static const DLDataType dtypes[] = {
      [DLPACKGEN_ONNXRUNTIME_FLOAT32] = {kDLFloat, 32, 1},
      [DLPACKGEN_ONNXRUNTIME_UINT8] = {kDLUInt, 8, 1},
      [DLPACKGEN_ONNXRUNTIME_INT8] = {kDLInt, 8, 1},
      [DLPACKGEN_ONNXRUNTIME_UINT16] = {kDLUInt, 16, 1},
      [DLPACKGEN_ONNXRUNTIME_INT16] = {kDLInt, 16, 1},
      [DLPACKGEN_ONNXRUNTIME_INT32] = {kDLInt, 32, 1},
      [DLPACKGEN_ONNXRUNTIME_INT64] = {kDLInt, 64, 1},
      [DLPACKGEN_ONNXRUNTIME_BOOL] = {kDLBool, 8, 1},
      [DLPACKGEN_ONNXRUNTIME_FLOAT16] = {kDLFloat, 16, 1},
      [DLPACKGEN_ONNXRUNTIME_FLOAT64] = {kDLFloat, 64, 1},
      [DLPACKGEN_ONNXRUNTIME_UINT32] = {kDLUInt, 32, 1},
      [DLPACKGEN_ONNXRUNTIME_UINT64] = {kDLUInt, 64, 1},
      [DLPACKGEN_ONNXRUNTIME_COMPLEX64] = {kDLComplex, 64, 1},
      [DLPACKGEN_ONNXRUNTIME_COMPLEX128] = {kDLComplex, 128, 1},
      [DLPACKGEN_ONNXRUNTIME_BFLOAT16] = {kDLBfloat, 16, 1},
      [DLPACKGEN_ONNXRUNTIME_FLOAT8_E4M3FN] = {kDLFloat8_e4m3fn, 8, 1},
      [DLPACKGEN_ONNXRUNTIME_FLOAT8_E4M3FNUZ] = {kDLFloat8_e4m3fnuz, 8, 1},
      [DLPACKGEN_ONNXRUNTIME_FLOAT8_E5M2] = {kDLFloat8_e5m2, 8, 1},
      [DLPACKGEN_ONNXRUNTIME_FLOAT8_E5M2FNUZ] = {kDLFloat8_e5m2fnuz, 8, 1},
  };
  if (type < 0 || (size_t)type >= sizeof dtypes / sizeof *dtypes || dtypes[type].bits == 0) return 0;
  *dtype = dtypes[type];
  return 1;
}

/* Makes a C-contiguous tensor on the CPU of a shape that is there. */
DLPACKGEN_ORT void dlpackgen_ort_lay_out(struct dlpackgen_ort_tensor* made, DLDataType dtype, int32_t ndim) {
  memset(&made->tensor, 0, sizeof made->tensor);
  made->tensor.device.device_type = kDLCPU;
  made->tensor.dtype = dtype;
  made->tensor.ndim = ndim;
  made->tensor.shape = made->shape;
  made->tensor.strides = made->strides;
  (void)dlpackgen_compact_strides(ndim, made->shape, made->strides);
}

/* Reads dtype and shape of a tensor: an error of the host, or a status. */
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
    *status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, "more dimensions than 64");
    return NULL;
  }
  if (!dlpackgen_ort_dtype(type, &dtype)) {
    *status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, "no dtype here for the ONNX type ");
    dlpackgen_put_integer(message, type);
    return NULL;
  }
  error = api->GetDimensions(info, made->shape, rank);
  if (!error) dlpackgen_ort_lay_out(made, dtype, (int32_t)rank);
  return error;
}

/* Reads an input; *tensor is NULL for one that the node leaves out. */
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
    if (!optional) *status = dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, "it is missing");
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

/* Makes memory for a result that callers do not get. */
DLPACKGEN_ORT int dlpackgen_ort_saved(const struct dlpackgen_site* at, const struct dlpackgen_result* wanted,
                                      struct dlpackgen_ort_tensor* made, struct dlpackgen_message* message) {
  const size_t line = 256; /* the largest alignment that a description demands */
  size_t bytes = (size_t)(wanted->dtype.bits * wanted->dtype.lanes + 7) / 8;
  for (int32_t d = 0; d < wanted->ndim; d++) {
    made->shape[d] = wanted->shape[d];
    if (wanted->shape[d] && bytes > (SIZE_MAX - line) / (size_t)wanted->shape[d])
      return dlpackgen_fail(message, at, DLPACKGEN_STATUS_MEMORY_ERROR, "no memory for it");
    bytes *= (size_t)wanted->shape[d];
  }
  dlpackgen_ort_lay_out(made, wanted->dtype, wanted->ndim);
  made->block = malloc(bytes + line);
  if (!made->block) return dlpackgen_fail(message, at, DLPACKGEN_STATUS_MEMORY_ERROR, "no memory for it");
  made->tensor.data = (void*)(((uintptr_t)made->block + line - 1) / line * line);
  return DLPACKGEN_STATUS_OK;
}

/* Registration */

/* Adds the operators of a domain. ONNX Runtime keeps a domain as long as its sessions, and reports
 * no end of them: domains are not freed. */
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

#endif /* DLPACKGEN_ONNXRUNTIME_VALUES_H_ */
