/* The attributes of an ONNX node, and the conversion of messages to statuses of ONNX Runtime. */
#ifndef DLPACKGEN_ONNXRUNTIME_ATTRIBUTES_H_
#define DLPACKGEN_ONNXRUNTIME_ATTRIBUTES_H_

#include <dlpackgen/checker.h>
#include <kernels.h>
#include <stdlib.h>
#include <string.h>
#include "onnxruntime_abi.h"

/* Not every kernel uses all functions. */
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

/* The version of the table: ONNX Runtime before 1.24 fails to infer types if two inputs are
 * missing, or ends the process. Then the size of a message. */
enum { DLPACKGEN_ORT_API = 24, DLPACKGEN_ORT_SENTENCE = 4096 };

typedef struct dlpackgen_onnxruntime_api dlpackgen_ort_api;

enum dlpackgen_ort_kind {
  DLPACKGEN_ORT_INT,
  DLPACKGEN_ORT_FLOAT,
  DLPACKGEN_ORT_BOOL,
  DLPACKGEN_ORT_STR,
  DLPACKGEN_ORT_INTS,
  DLPACKGEN_ORT_FLOATS
};

/* An attribute: its type, and its default value. */
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
  int there; /* the value is not None */
  int64_t integer;
  double real;
  bool truth;
  const char* text;
  const int64_t* integers;
  const double* reals;
  int64_t count;
  void* block; /* of the text or the list */
};

/* The information about an output before a call: its type, or the input that has this type; and its
 * number of dimensions: `extents`, plus the dimensions that an input has beyond its
 * `extents_of_input`. */
struct dlpackgen_ort_form {
  int type;
  int input_of_type;
  int extents;
  int input_of_rank; /* -1: there are no more */
  int extents_of_input;
};

/* An operator: the struct for ONNX Runtime, followed by the data of this library. */
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

/* Releases an error, and returns whether there was none. */
DLPACKGEN_ORT int dlpackgen_ort_worked(const dlpackgen_ort_api* api, void* error) {
  if (error) api->ReleaseStatus(error);
  return !error;
}

/* Allocates memory for a text or a list: at least one byte, so that NULL indicates a failure. */
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
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_VALUE_ERROR, DLPACKGEN_TEXT_NUL);
}

/* Returns the name of the type of an attribute that is not a list; NULL for others. */
DLPACKGEN_ORT const char* dlpackgen_ort_scalar_type(const dlpackgen_ort_api* api, const void* info, const char* name) {
  int64_t integer;
  float real;
  size_t size = 0;
  if (dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_int64(info, name, &integer))) return "int";
  if (dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_float(info, name, &real))) return "float";
  if (dlpackgen_ort_worked(api, api->KernelInfoGetAttribute_string(info, name, NULL, &size))) return "str";
  return NULL;
}

/* Counts the integers and the floats of a list: 0 if the attribute is not a list. ONNX Runtime
 * returns other attributes as lists without items. */
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
  if (!dlpackgen_ort_count(api, info, at->argument, &count, &reals)) return -1;
  if (reals) {
    message->item = 1;
    return dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, "expected int, got float");
  }
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

/* ONNX has only 32-bit floats, which are converted to doubles here, from the last one to the
 * first. */
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

/* Reads an attribute with the expected type. Returns a status, or -1 if the node has no such
 * attribute. */
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

/* Returns the name of the type of an attribute; NULL if the node does not have it. */
DLPACKGEN_SLOW static const char* dlpackgen_ort_type(const dlpackgen_ort_api* api, const void* info,
                                                     const struct dlpackgen_ort_attribute* attribute) {
  const char* const name = attribute->site.argument;
  const char* const scalar = dlpackgen_ort_scalar_type(api, info, name);
  size_t size = 0;
  if (scalar) return scalar;
  if (!dlpackgen_ort_worked(api, api->KernelInfoGetAttributeArray_int64(info, name, NULL, &size))) return NULL;
  return attribute->kind == DLPACKGEN_ORT_INTS ? "float" : "list"; /* of an item that is not an int */
}

/* Reads an attribute of a node, or uses its default. */
DLPACKGEN_ORT int dlpackgen_ort_read(const dlpackgen_ort_api* api, const void* info,
                                     const struct dlpackgen_ort_attribute* attribute, struct dlpackgen_ort_value* value,
                                     struct dlpackgen_message* message) {
  static const char* const expected[] = {"int", "float", "bool", "str", DLPACKGEN_TEXT_INTS, DLPACKGEN_TEXT_FLOATS};
  const int status = dlpackgen_ort_expected(api, info, attribute, value, message);
  value->there = 1;
  if (status >= 0) return status;
  const char* const type = dlpackgen_ort_type(api, info, attribute);
  if (type) return dlpackgen_bad_type(&attribute->site, expected[attribute->kind], type, message);
  if (attribute->required)
    return dlpackgen_fail(message, &attribute->site, DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_MISSING);
  value->there = attribute->there;
  value->integer = attribute->integer;
  value->real = attribute->real;
  value->truth = attribute->integer != 0;
  value->text = attribute->text;
  return DLPACKGEN_STATUS_OK;
}

#endif /* DLPACKGEN_ONNXRUNTIME_ATTRIBUTES_H_ */
