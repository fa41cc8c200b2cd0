/*
 * Checks the arguments of a call by the table of its function: a fast check of one tensor, a full
 * check of one tensor, and a check of all arguments. C11 and C++17.
 */
#ifndef DLPACKGEN_ARGUMENTS_H_
#define DLPACKGEN_ARGUMENTS_H_

#include <dlpackgen/check.h>
#include <string.h>

/** The values of symbols, while the arguments of a call are checked one after the other. */
struct dlpackgen_bindings {
  int64_t* extents; /**< DLPACKGEN_MAX_DIMS of them */
  uint8_t* bound;   /**< the argument that determined each, from 1; 0: none yet */
};

/** An argument, and the earlier arguments that it must match; NULL if none. */
struct dlpackgen_subject {
  const DLTensor* tensor;
  uint64_t flags; /**< DLPack's */
  const DLTensor *typed, *shaped;
};

/** Returns the name and position of an argument, for messages. */
static inline struct dlpackgen_site dlpackgen_site_of(const struct dlpackgen_function* function, int i) {
  struct dlpackgen_site site;
  site.function = function->name;
  site.argument = function->parameters[i].name;
  site.number = i;
  return site;
}

/** Returns whether a parameter accepts only the CPU. Its tensor may be on the CPU even if the call
 * runs on another device. */
DLPACKGEN_FAST int dlpackgen_is_cpu_only(const struct dlpackgen_parameter* p) {
  return p->devices[0] == 0 || (p->devices[0] == kDLCPU && p->devices[1] == 0);
}

DLPACKGEN_FAST int dlpackgen_accepts_dtype(const struct dlpackgen_parameter* p, uint32_t dtype) {
  return dlpackgen_is_among(p->dtypes, DLPACKGEN_MAX_DTYPES, dtype);
}

DLPACKGEN_FAST int dlpackgen_accepts_device(const struct dlpackgen_parameter* p, int32_t device_type) {
  return dlpackgen_is_served(p->devices, DLPACKGEN_MAX_DEVICES, device_type);
}

/* The fast check */

/* Returns whether an extent meets the requirement of a parameter, and sets its symbol. */
DLPACKGEN_FAST int dlpackgen_extent_fits(struct dlpackgen_bindings to, int i, int64_t wanted, int64_t extent) {
  const uint64_t symbol = (uint64_t)DLPACKGEN_DIM(0) - (uint64_t)wanted;
  if (wanted == DLPACKGEN_ANY) return 1;
  if (wanted >= DLPACKGEN_EXTENT_ZERO) return extent == (wanted > 0 ? wanted : 0);
  if (to.bound[symbol]) return to.extents[symbol] == extent;
  to.bound[symbol] = (uint8_t)(i + 1);
  to.extents[symbol] = extent;
  return 1;
}

/** Returns whether a tensor matches the earlier arguments that it must match. */
static inline int dlpackgen_others_fit(struct dlpackgen_subject of) {
  if (of.typed && dlpackgen_dtype_of(of.typed) != dlpackgen_dtype_of(of.tensor)) return 0;
  return !of.shaped || dlpackgen_has_shape(of.tensor, of.shaped);
}

/* dlpackgen_shape_fits() for a tensor with more dimensions than its parameter lists. */
DLPACKGEN_SLOW static int dlpackgen_more_fit(struct dlpackgen_bindings to, int i, const struct dlpackgen_parameter* p,
                                             const DLTensor* tensor) {
  uint64_t elements = 1;
  if (tensor->ndim < p->ndim || !p->leading_dims) return 0;
  const int32_t more = tensor->ndim - p->ndim;
  for (int32_t d = tensor->ndim; d-- > 0;) {
    if (!dlpackgen_dimension_fits_((uint64_t)tensor->shape[d], tensor->strides[d], &elements)) return 0;
    if (d >= more && !dlpackgen_extent_fits(to, i, p->shape[d - more], tensor->shape[d])) return 0;
  }
  return 1;
}

/* Returns whether shape and strides are those of a usual tensor (dlpackgen_dimension_fits_())
 * that meets the requirements. */
DLPACKGEN_FAST int dlpackgen_shape_fits(struct dlpackgen_bindings to, int i, const struct dlpackgen_parameter* p,
                                        const DLTensor* tensor) {
  const int64_t *const shape = tensor->shape, *const strides = tensor->strides;
  uint64_t elements = 1;
  if (DLPACKGEN_RARE(p->ndim > DLPACKGEN_MAX_EXTENTS)) return 0;
  if (DLPACKGEN_RARE(tensor->ndim != p->ndim)) return dlpackgen_more_fit(to, i, p, tensor);
  for (int64_t d = (int64_t)p->ndim - 1; d >= 0; d--) {
    if (DLPACKGEN_RARE(!dlpackgen_dimension_fits_((uint64_t)shape[d], strides[d], &elements))) return 0;
    if (DLPACKGEN_RARE(!dlpackgen_extent_fits(to, i, p->shape[d], shape[d]))) return 0;
  }
  return 1;
}

/**
 * Returns 1 if one pass shows that a tensor is valid and meets the requirements of its parameter,
 * except for the match with other arguments. This is possible for row-major tensors of named dtypes
 * in host memory, with shape and strides of at most DLPACKGEN_MAX_NDIM dimensions. After a result
 * of 0, symbols may have been set: call dlpackgen_unbind() and the full check.
 */
DLPACKGEN_FAST int dlpackgen_tensor_fits(const struct dlpackgen_parameter* p, int i, const DLTensor* tensor,
                                         uint64_t flags, struct dlpackgen_bindings to) {
  const uint32_t dtype = dlpackgen_dtype_of(tensor);
  if (DLPACKGEN_RARE(p->dtypes[0] == 0 || !dlpackgen_accepts_dtype(p, dtype))) return 0;
  if (DLPACKGEN_RARE(tensor->device.device_type != kDLCPU || !dlpackgen_accepts_device(p, kDLCPU))) return 0;
  if (DLPACKGEN_RARE(!dlpackgen_shape_fits(to, i, p, tensor))) return 0;
  if (DLPACKGEN_RARE((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) && p->writable) return 0;
  return dlpackgen_is_placed(tensor);
}

/** Resets the symbols that an argument has set. */
static inline void dlpackgen_unbind(struct dlpackgen_bindings to, int i) {
  for (int symbol = 0; symbol < DLPACKGEN_MAX_DIMS; symbol++)
    if (to.bound[symbol] == i + 1) to.bound[symbol] = 0;
}

/* The full check */

/** Returns the name of a symbol, for messages. */
static inline const char* dlpackgen_dim_text(const struct dlpackgen_function* function, int symbol, char buffer[16]) {
  if (function->dim_names[symbol]) return function->dim_names[symbol];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, 16);
  dlpackgen_put(&text, "s");
  dlpackgen_put_integer(&text, symbol);
  return buffer;
}

/* Sets a symbol, or compares an extent with its value. */
static inline int dlpackgen_bind(const struct dlpackgen_function* function, int i, const DLTensor* tensor,
                                 int dimension, int symbol, struct dlpackgen_bindings to,
                                 struct dlpackgen_message* message) {
  char buffer[16];
  if (to.bound[symbol]) {
    if (tensor->shape[dimension] == to.extents[symbol]) return DLPACKGEN_STATUS_OK;
    const struct dlpackgen_site at = dlpackgen_site_of(function, i);
    const struct dlpackgen_site like = dlpackgen_site_of(function, to.bound[symbol] - 1);
    return dlpackgen_check_symbol(&at, tensor, dimension, dlpackgen_dim_text(function, symbol, buffer),
                                  to.extents[symbol], &like, message);
  }
  to.bound[symbol] = (uint8_t)(i + 1);
  to.extents[symbol] = tensor->shape[dimension];
  return DLPACKGEN_STATUS_OK;
}

static inline int dlpackgen_check_extents(const struct dlpackgen_function* function, int i, const DLTensor* tensor,
                                          struct dlpackgen_bindings to, struct dlpackgen_message* message) {
  const struct dlpackgen_parameter* const p = &function->parameters[i];
  const struct dlpackgen_site at = dlpackgen_site_of(function, i);
  const int count = p->ndim < DLPACKGEN_MAX_EXTENTS ? p->ndim : (int)DLPACKGEN_MAX_EXTENTS;
  const int first = tensor->ndim - count;
  int status = DLPACKGEN_STATUS_OK;
  for (int d = 0; d < count && !status; d++) {
    const int64_t wanted = p->shape[d];
    if (wanted == DLPACKGEN_ANY) continue;
    if (wanted >= DLPACKGEN_EXTENT_ZERO)
      status = dlpackgen_check_extent(&at, tensor, first + d, wanted > 0 ? wanted : 0, message);
    else status = dlpackgen_bind(function, i, tensor, first + d, (int)(-2 - wanted), to, message);
  }
  return status;
}

/* Checks the requirements on dtype and shape. */
static inline int dlpackgen_check_form(const struct dlpackgen_function* function, int i, struct dlpackgen_subject of,
                                       struct dlpackgen_bindings to, struct dlpackgen_message* message) {
  const struct dlpackgen_parameter* const p = &function->parameters[i];
  const struct dlpackgen_site at = dlpackgen_site_of(function, i);
  struct dlpackgen_site like = at;
  int status = dlpackgen_check_dtype(&at, of.tensor, p->dtypes, DLPACKGEN_MAX_DTYPES, message);
  if (of.typed) like = dlpackgen_site_of(function, p->same_dtype_as - 1);
  if (!status && of.typed) status = dlpackgen_check_same_dtype(&at, of.tensor, &like, of.typed, message);
  if (!status) status = dlpackgen_check_rank(&at, of.tensor, p->ndim, p->leading_dims, message);
  if (!status) status = dlpackgen_check_extents(function, i, of.tensor, to, message);
  if (of.shaped) like = dlpackgen_site_of(function, p->same_shape_as - 1);
  if (!status && of.shaped) status = dlpackgen_check_same_shape(&at, of.tensor, &like, of.shaped, message);
  return status;
}

/* Checks the requirements on the memory. */
static inline int dlpackgen_check_device_of(const struct dlpackgen_function* function, int i, const DLTensor* tensor,
                                            struct dlpackgen_message* message) {
  const struct dlpackgen_parameter* const p = &function->parameters[i];
  const struct dlpackgen_site at = dlpackgen_site_of(function, i);
  int status = dlpackgen_check_layout_of(&at, tensor, p->layout, message);
  if (!status && p->writable) status = dlpackgen_check_overlap(&at, tensor, message);
  if (!status) status = dlpackgen_check_device(&at, tensor->device, p->devices, DLPACKGEN_MAX_DEVICES, message);
  if (!status) status = dlpackgen_check_memory(&at, tensor, message);
  if (!status) status = dlpackgen_check_alignment(&at, tensor, message);
  return status;
}

/**
 * Checks one valid tensor (dlpackgen_check_valid) by its parameter. Returns a status, and a message
 * about the first requirement that is not met.
 */
DLPACKGEN_SLOW static int dlpackgen_check_tensor(const struct dlpackgen_function* function, int i,
                                                 struct dlpackgen_subject of, struct dlpackgen_bindings to,
                                                 struct dlpackgen_message* message) {
  const struct dlpackgen_site at = dlpackgen_site_of(function, i);
  int status = DLPACKGEN_STATUS_OK;
  if (function->parameters[i].writable)
    status = dlpackgen_check_writable(&at, of.flags, message); /* first, as readers do */
  if (!status) status = dlpackgen_check_form(function, i, of, to, message);
  if (!status) status = dlpackgen_check_device_of(function, i, of.tensor, message);
  return status;
}

/* All of them */

/* Returns the index of the first tensor outside host memory, or -1. */
static inline int dlpackgen_first_elsewhere(const DLTensor* const* tensors, int count) {
  for (int i = 0; i < count; i++)
    if (tensors[i] && !dlpackgen_is_on_host(tensors[i]->device)) return i;
  return -1;
}

/**
 * Checks that all arguments are on one device, except those that accept only the CPU. The first
 * tensor outside host memory determines the device.
 *
 * \param tensors  NULL for an argument that is absent or not a tensor.
 * \param first    receives the index of the determining tensor, or -1.
 */
DLPACKGEN_SLOW static int dlpackgen_check_devices(const struct dlpackgen_function* function,
                                                  const DLTensor* const* tensors, int count, int* first,
                                                  struct dlpackgen_message* message) {
  int status = DLPACKGEN_STATUS_OK;
  *first = dlpackgen_first_elsewhere(tensors, count);
  for (int i = 0; *first >= 0 && i < count && !status; i++) {
    const struct dlpackgen_site at = dlpackgen_site_of(function, i), like = dlpackgen_site_of(function, *first);
    if (!tensors[i] || dlpackgen_is_cpu_only(&function->parameters[i])) continue;
    status = dlpackgen_check_same_device(&at, tensors[i]->device, &like, tensors[*first]->device, message);
  }
  return status;
}

/** Reports a missing required argument. */
DLPACKGEN_SLOW static int dlpackgen_missing(const struct dlpackgen_site* at, struct dlpackgen_message* message) {
  return dlpackgen_fail(message, at, DLPACKGEN_STATUS_TYPE_ERROR, DLPACKGEN_TEXT_MISSING);
}

/** Returns the tensor of the n-th parameter, counted from 1; NULL for 0. */
static inline const DLTensor* dlpackgen_peer(const DLTensor* const* tensors, int n) {
  return n ? tensors[n - 1] : DLPACKGEN_CODES_NULL;
}

/* Checks one tensor of a call. */
static inline int dlpackgen_check_one(const struct dlpackgen_function* function, int i, const DLTensor* const* tensors,
                                      uint64_t flags, struct dlpackgen_bindings to, struct dlpackgen_message* message) {
  const struct dlpackgen_parameter* const p = &function->parameters[i];
  const struct dlpackgen_site at = dlpackgen_site_of(function, i);
  struct dlpackgen_subject of;
  of.tensor = tensors[i];
  of.flags = flags;
  of.typed = dlpackgen_peer(tensors, p->same_dtype_as);
  of.shaped = dlpackgen_peer(tensors, p->same_shape_as);
  if (!of.tensor) return p->optional ? (int)DLPACKGEN_STATUS_OK : dlpackgen_missing(&at, message);
  const int status = dlpackgen_check_valid(&at, of.tensor, flags, message);
  return status ? status : dlpackgen_check_tensor(function, i, of, to, message);
}

/**
 * Checks all tensors of a call of a function whose description is valid
 * (dlpackgen_check_description). Returns a status, and a message about the first wrong tensor.
 *
 * \param tensors  one for each parameter; NULL if it is absent or not a tensor.
 * \param flags    the DLPack flags of each tensor, or NULL if all are 0.
 * \param extents  receives the values of the DLPACKGEN_MAX_DIMS symbols.
 */
static inline int dlpackgen_check_arguments(const struct dlpackgen_function* function, const DLTensor* const* tensors,
                                            const uint64_t* flags, int64_t* extents,
                                            struct dlpackgen_message* message) {
  uint8_t bound[DLPACKGEN_MAX_DIMS];
  struct dlpackgen_bindings to;
  int status = DLPACKGEN_STATUS_OK, first;
  memset(bound, 0, sizeof bound);
  to.extents = extents;
  to.bound = bound;
  for (int i = 0; i < function->nparameters && !status; i++)
    if (function->parameters[i].kind == DLPACKGEN_KIND_TENSOR)
      status = dlpackgen_check_one(function, i, tensors, flags ? flags[i] : 0, to, message);
  return status ? status : dlpackgen_check_devices(function, tensors, function->nparameters, &first, message);
}

#endif /* DLPACKGEN_ARGUMENTS_H_ */
