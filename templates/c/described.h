/*
 * Checks the tables that describe functions. Their numbers are used as indices, and their texts are
 * printed. All mistakes are the table author's. C11 and C++17.
 */
#ifndef DLPACKGEN_DESCRIBED_H_
#define DLPACKGEN_DESCRIBED_H_

#include <dlpackgen/arguments.h>
#include <string.h>

/* Adds a field and its value: "its rank is 70". */
static inline void dlpackgen_put_field(struct dlpackgen_message* message, const char* field, int64_t value) {
  dlpackgen_put(message, "its ");
  dlpackgen_put(message, field);
  dlpackgen_put(message, " is ");
  dlpackgen_put_integer(message, value);
}

/* Reports a wrong field of a parameter. */
DLPACKGEN_SLOW static int dlpackgen_bad_field(const struct dlpackgen_function* function, int i, const char* field,
                                              int64_t value, const char* why, struct dlpackgen_message* message) {
  const struct dlpackgen_site at = dlpackgen_site_of(function, i);
  const int status = dlpackgen_fail(message, &at, DLPACKGEN_STATUS_SYSTEM_ERROR, "");
  dlpackgen_put_field(message, field, value);
  dlpackgen_put(message, why);
  return status;
}

/* Reports a wrong element of a field. */
DLPACKGEN_SLOW static int dlpackgen_bad_element(const struct dlpackgen_function* function, int i, const char* field,
                                                int n, int64_t value, const char* why,
                                                struct dlpackgen_message* message) {
  char buffer[32];
  struct dlpackgen_message element = dlpackgen_message_in(buffer, sizeof buffer);
  dlpackgen_put(&element, field);
  dlpackgen_put(&element, "[");
  dlpackgen_put_integer(&element, n);
  dlpackgen_put(&element, "]");
  return dlpackgen_bad_field(function, i, buffer, value, why, message);
}

/* Reports a name that is used twice or not allowed; number is the other parameter with that name,
 * counted from 1, or 0. */
DLPACKGEN_SLOW static int dlpackgen_bad_name(const struct dlpackgen_function* function, int i, int number,
                                             struct dlpackgen_message* message) {
  const struct dlpackgen_site at = dlpackgen_site_of(function, i);
  const int status = dlpackgen_fail(message, &at, DLPACKGEN_STATUS_SYSTEM_ERROR, "its name is also used by ");
  dlpackgen_put(message, number ? "parameter " : "the argument that takes_stream adds");
  if (number) dlpackgen_put_integer(message, number);
  return status;
}

/* Checks the number of another parameter, counted from 1, if set. */
static inline int dlpackgen_check_number(const struct dlpackgen_function* function, int i, const char* field,
                                         int number, struct dlpackgen_message* message) {
  if (number == 0) return DLPACKGEN_STATUS_OK;
  if (number > i)
    return dlpackgen_bad_field(function, i, field, number, ", which is not an earlier parameter, counted from 1",
                               message);
  if (function->parameters[number - 1].kind == DLPACKGEN_KIND_TENSOR) return DLPACKGEN_STATUS_OK;
  return dlpackgen_bad_field(function, i, field, number, ", but that parameter is not a tensor", message);
}

/* Checks the extents that are used. */
static inline int dlpackgen_check_shape(const struct dlpackgen_function* function, int i,
                                        struct dlpackgen_message* message) {
  const struct dlpackgen_parameter* const p = &function->parameters[i];
  for (int n = 0; n < p->ndim && n < DLPACKGEN_MAX_EXTENTS; n++)
    if (p->shape[n] <= DLPACKGEN_DIM(DLPACKGEN_MAX_DIMS))
      return dlpackgen_bad_element(
          function, i, "shape", n, p->shape[n],
          ", which is not an extent: a symbol is DLPACKGEN_DIM(0) to DLPACKGEN_DIM(" DLPACKGEN_QUOTE(
              DLPACKGEN_LAST_SYMBOL) ")",
          message);
  return DLPACKGEN_STATUS_OK;
}

/* Returns whether the rules of validation accept a dtype, on which the fast check relies. */
static inline int dlpackgen_is_dtype(uint32_t number) {
  const DLDataType dtype = {(uint8_t)(number & 0xff), (uint8_t)(number >> 8 & 0xff), (uint16_t)(number >> 16)};
  return dlpackgen_validate_dtype(dtype) == DLPACKGEN_OK;
}

/* Checks the dtypes and the device types. */
static inline int dlpackgen_check_types(const struct dlpackgen_function* function, int i,
                                        struct dlpackgen_message* message) {
  const struct dlpackgen_parameter* const p = &function->parameters[i];
  for (int n = 0; n < DLPACKGEN_MAX_DTYPES && p->dtypes[n]; n++)
    if (!dlpackgen_is_dtype(p->dtypes[n]))
      return dlpackgen_bad_element(function, i, "dtypes", n, p->dtypes[n],
                                   ", which is not a dtype such as DLPACKGEN_DTYPE_FLOAT32", message);
  for (int n = 0; n < DLPACKGEN_MAX_DEVICES && p->devices[n]; n++)
    if (p->devices[n] < DLPACKGEN_ANY_DEVICE)
      return dlpackgen_bad_element(function, i, "devices", n, p->devices[n], ", which is not a device type", message);
  return DLPACKGEN_STATUS_OK;
}

/* Checks the name of a parameter. */
static inline int dlpackgen_check_name(const struct dlpackgen_function* function, int i,
                                       struct dlpackgen_message* message) {
  const char* const name = function->parameters[i].name;
  if (!name || !*name) {
    dlpackgen_put(message, function->name);
    dlpackgen_put(message, "(): parameter ");
    dlpackgen_put_integer(message, i + 1);
    dlpackgen_put(message, " has no name");
    return DLPACKGEN_STATUS_SYSTEM_ERROR;
  }
  if (function->takes_stream && strcmp(name, "stream") == 0) return dlpackgen_bad_name(function, i, 0, message);
  for (int j = 0; j < i; j++)
    if (strcmp(function->parameters[j].name, name) == 0) return dlpackgen_bad_name(function, i, j + 1, message);
  return DLPACKGEN_STATUS_OK;
}

/* Checks the numbers of a parameter that have limits. */
static inline int dlpackgen_check_fields(const struct dlpackgen_function* function, int i,
                                         struct dlpackgen_message* message) {
  const struct dlpackgen_parameter* const p = &function->parameters[i];
  if (p->kind > DLPACKGEN_KIND_BOOL)
    return dlpackgen_bad_field(function, i, "kind", p->kind, ", which is not a dlpackgen_kind", message);
  if (p->layout > DLPACKGEN_LAYOUT_INNER_CONTIGUOUS)
    return dlpackgen_bad_field(function, i, "layout", p->layout, ", which is not a dlpackgen_layout", message);
  if (p->ndim > DLPACKGEN_MAX_NDIM)
    return dlpackgen_bad_field(function, i, "rank", p->ndim,
                               "; at most " DLPACKGEN_QUOTE(DLPACKGEN_MAX_NDIM) " is supported", message);
  return DLPACKGEN_STATUS_OK;
}

/* Checks the description of one parameter. */
static inline int dlpackgen_check_described(const struct dlpackgen_function* function, int i,
                                            struct dlpackgen_message* message) {
  const struct dlpackgen_parameter* const p = &function->parameters[i];
  int status = dlpackgen_check_name(function, i, message);
  if (!status) status = dlpackgen_check_fields(function, i, message);
  if (!status) status = dlpackgen_check_number(function, i, "same_dtype_as", p->same_dtype_as, message);
  if (!status) status = dlpackgen_check_number(function, i, "same_shape_as", p->same_shape_as, message);
  if (!status) status = dlpackgen_check_shape(function, i, message);
  if (!status) status = dlpackgen_check_types(function, i, message);
  return status;
}

/* Reports a mistake in the parameters of a function as a whole. */
DLPACKGEN_SLOW static int dlpackgen_bad_count(const struct dlpackgen_function* function, const char* why,
                                              struct dlpackgen_message* message) {
  dlpackgen_put(message, function->name);
  dlpackgen_put(message, "() has ");
  dlpackgen_put_integer(message, function->nparameters);
  dlpackgen_put(message, why);
  return DLPACKGEN_STATUS_SYSTEM_ERROR;
}

/** Checks the description of a function, except its parameters. */
static inline int dlpackgen_check_function(const struct dlpackgen_function* function,
                                           struct dlpackgen_message* message) {
  if (!function->name) {
    dlpackgen_put(message, "a function has no name");
    return DLPACKGEN_STATUS_SYSTEM_ERROR;
  }
  if (function->nparameters > DLPACKGEN_MAX_PARAMETERS)
    return dlpackgen_bad_count(
        function, " parameters; at most " DLPACKGEN_QUOTE(DLPACKGEN_MOST_PARAMETERS) " are supported", message);
  if (function->nparameters && !function->parameters)
    return dlpackgen_bad_count(function, " parameters, but no table of them", message);
  return DLPACKGEN_STATUS_OK;
}

/** Checks the parameters of a function whose other fields are valid. */
static inline int dlpackgen_check_parameters(const struct dlpackgen_function* function,
                                             struct dlpackgen_message* message) {
  int status = DLPACKGEN_STATUS_OK;
  for (int i = 0; !status && i < function->nparameters; i++) status = dlpackgen_check_described(function, i, message);
  return status;
}

/** Checks the description of a function once, before its arguments are checked. Returns a status,
 * and a message about the first mistake, which names the parameter and the field. */
DLPACKGEN_SLOW static int dlpackgen_check_description(const struct dlpackgen_function* function,
                                                      struct dlpackgen_message* message) {
  const int status = dlpackgen_check_function(function, message);
  return status ? status : dlpackgen_check_parameters(function, message);
}

#endif /* DLPACKGEN_DESCRIBED_H_ */
