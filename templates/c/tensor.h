/**
 * \file tensor.h
 * Functions for producers and consumers: size, strides and byte range of a tensor, validation of
 * tensors from untrusted producers, and the search for an exchange table.
 *
 * C99 and C++11. The functions allocate no memory, call no library, keep no state and do not write
 * to tensors, so any thread may call them at any time. Sizes are in bytes unless documented as
 * numbers of elements. Sizes above 63 bits are reported as DLPACKGEN_ERROR_TOO_LARGE instead of
 * wrapping around.
 */
#ifndef DLPACKGEN_TENSOR_H_
#define DLPACKGEN_TENSOR_H_

#include <dlpack/dlpack.h>

/* Every dlpack.h has the same guard, so another copy may have been included first. */
#ifndef DLPACK_MAJOR_VERSION
#if DLPACK_VERSION == 80
#error "this file needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.8"
#elif DLPACK_VERSION == 70
#error "this file needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.7"
#elif DLPACK_VERSION == 60
#error "this file needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.6"
#else
#error "this file needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 0.5 or older"
#endif
#elif DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 0
#error "this file needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 1.0"
#elif DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION == 1
#error "this file needs DLPack 1.2 or newer; the <dlpack/dlpack.h> that was included first is 1.1"
#elif DLPACK_MAJOR_VERSION != 1
#error "this file needs DLPack 1; the <dlpack/dlpack.h> that was included first has a different major version"
#endif

#include <dlpackgen/codes.h>
#include <dlpackgen/rules.h>
#include <stddef.h>
#include <stdint.h>

/* Options of dlpackgen_validate(): exceptions from the rules that a consumer accepts. */

/** Accept NULL strides, which mean compact and row-major, and were legal before 1.2. */
#define DLPACKGEN_ACCEPT_NULL_STRIDES 1U
/** Accept device types that this release does not define. Their data counts as a handle. */
#define DLPACKGEN_ACCEPT_UNKNOWN_DEVICE 2U
/** Accept type codes that this release does not define. Their size follows from bits and lanes. */
#define DLPACKGEN_ACCEPT_UNKNOWN_CODE 4U

/* Casts without warnings in C and C++. */
#ifdef __cplusplus
#define DLPACKGEN_TENSOR_CAST(type, value) static_cast<type>(value)
#define DLPACKGEN_TENSOR_TABLE(header) reinterpret_cast<const DLPackExchangeAPI*>(header)
#else
#define DLPACKGEN_TENSOR_CAST(type, value) ((type)(value))
#define DLPACKGEN_TENSOR_TABLE(header) ((const DLPackExchangeAPI*)(const void*)(header))
#endif

/**
 * Validates the dtype of a request, by the rules of dlpackgen_validate(): the type code is known,
 * the bits match it, and there is a lane.
 */
static inline dlpackgen_error_code dlpackgen_validate_dtype(DLDataType dtype) {
  dlpackgen_mismatch_ mismatch = {-1, 0, 0};
  return dlpackgen_check_dtype_(dtype, dlpackgen_type_code_name(dtype.code) != DLPACKGEN_CODES_NULL, &mismatch);
}

/* dlpackgen_validate(), with the details of an error. */
static inline dlpackgen_error_code dlpackgen_validate_(const DLTensor* tensor, uint64_t flags, unsigned int options,
                                                       dlpackgen_mismatch_* mismatch) {
  dlpackgen_limits_ limits = {DLPACKGEN_MAX_NDIM, 0, 0, 0, 0};
  int32_t device_type = 0;
  if (!tensor) return DLPACKGEN_ERROR_NULL;
  device_type = DLPACKGEN_TENSOR_CAST(int32_t, tensor->device.device_type);
  limits.null_strides = (options & DLPACKGEN_ACCEPT_NULL_STRIDES) != 0;
  limits.known_code = dlpackgen_type_code_name(tensor->dtype.code) || (options & DLPACKGEN_ACCEPT_UNKNOWN_CODE) != 0;
  limits.known_device = dlpackgen_device_type_name(device_type) || (options & DLPACKGEN_ACCEPT_UNKNOWN_DEVICE) != 0;
  limits.has_addresses = !dlpackgen_device_is_opaque(device_type);
  return dlpackgen_check_tensor_(tensor, flags, &limits, mismatch);
}

/**
 * Validates a tensor from an untrusted producer against the rules of DLPack. Loops over the shape
 * and strides of a valid tensor neither overflow nor leave the address space. The function reads
 * the struct, shape and strides, but not the data. It cannot determine whether pointers are valid
 * or how large the buffer is.
 *
 * \param flags    DLManagedTensorVersioned.flags; 0 for a DLManagedTensor.
 * \param options  0, or a sum of the DLPACKGEN_ACCEPT_ bits. A DLManagedTensor has no version, so
 *                 its consumers should pass DLPACKGEN_ACCEPT_NULL_STRIDES.
 * \return the first mismatch found.
 */
static inline dlpackgen_error_code dlpackgen_validate(const DLTensor* tensor, uint64_t flags, unsigned int options) {
  dlpackgen_mismatch_ mismatch = {-1, 0, 0};
  return dlpackgen_validate_(tensor, flags, options, &mismatch);
}

/**
 * Validates a versioned tensor. Its version and flags are taken into account, and NULL strides are
 * accepted from producers older than 1.2.
 */
static inline dlpackgen_error_code dlpackgen_validate_versioned(const DLManagedTensorVersioned* managed,
                                                                unsigned int options) {
  if (!managed) return DLPACKGEN_ERROR_NULL;
  if (managed->version.major != DLPACK_MAJOR_VERSION) return DLPACKGEN_ERROR_VERSION;
  if (dlpackgen_strides_may_be_null(managed->version.minor)) options |= DLPACKGEN_ACCEPT_NULL_STRIDES;
  return dlpackgen_validate(&managed->dl_tensor, managed->flags, options);
}

/**
 * Finds the exchange table of this header's major version. The search starts at the newest table,
 * which a Python type provides, and follows prev_api over at most DLPACKGEN_MAX_EXCHANGE_APIS
 * tables.
 *
 * \param api  receives the table, which is valid until the process ends; NULL if the result is not
 *             DLPACKGEN_OK.
 *
 * All functions of the table are set, except possibly dltensor_from_py_object_no_sync.
 */
static inline dlpackgen_error_code dlpackgen_find_exchange_api(const DLPackExchangeAPIHeader* newest,
                                                               const DLPackExchangeAPI** api) {
  const DLPackExchangeAPIHeader* header = newest;
  int visited;
  *api = DLPACKGEN_CODES_NULL;
  if (!newest) return DLPACKGEN_ERROR_NULL;
  for (visited = 0; header && visited < DLPACKGEN_MAX_EXCHANGE_APIS; ++visited) {
    if (header->version.major == DLPACK_MAJOR_VERSION) {
      const DLPackExchangeAPI* found = DLPACKGEN_TENSOR_TABLE(header);
      if (!found->managed_tensor_allocator || !found->managed_tensor_from_py_object_no_sync ||
          !found->managed_tensor_to_py_object_no_sync || !found->current_work_stream)
        return DLPACKGEN_ERROR_EXCHANGE_SLOT;
      *api = found;
      return DLPACKGEN_OK;
    }
    header = header->prev_api;
  }
  return DLPACKGEN_ERROR_NO_EXCHANGE_API;
}

#undef DLPACKGEN_TENSOR_CAST
#undef DLPACKGEN_TENSOR_TABLE

#endif /* DLPACKGEN_TENSOR_H_ */
