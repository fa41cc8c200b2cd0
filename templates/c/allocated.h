/* Compares a tensor that a library has allocated with the request. Part of rules.h. */
#ifndef DLPACKGEN_ALLOCATED_H_
#define DLPACKGEN_ALLOCATED_H_

/* Returns whether two devices are equal. managed: the first is managed memory, which every device
 * can access. Its ids are not compared, because producers disagree on them: DLPack specifies 0, and
 * CuPy exports the device of the allocation. */
DLPACKGEN_CONSTEXPR int dlpackgen_same_device_(DLDevice a, DLDevice b, int managed) {
  return a.device_type == b.device_type && (managed || a.device_id == b.device_id);
}

/* The first property in which an allocated tensor differs from the requested one. */
typedef enum dlpackgen_difference_ {
  DLPACKGEN_DIFFERS_NOT_ = 0,
  DLPACKGEN_DIFFERS_DTYPE_,
  DLPACKGEN_DIFFERS_NDIM_,
  DLPACKGEN_DIFFERS_SHAPE_,
  DLPACKGEN_DIFFERS_DEVICE_,
  DLPACKGEN_DIFFERS_READ_ONLY_, /* new memory must be writable */
  DLPACKGEN_DIFFERS_PADDED_,    /* a request has no flags, so its narrow elements are packed */
  DLPACKGEN_DIFFERS_STRIDES_
} dlpackgen_difference_;

/* Compares the strides of two tensors of the same valid shape; NULL means compact and row-major.
 * The strides of extents below 2, and all strides of an empty tensor, have no meaning. */
DLPACKGEN_CONSTEXPR int dlpackgen_strides_differ_(const DLTensor* made, const DLTensor* requested,
                                                  dlpackgen_mismatch_* mismatch) {
  uint64_t compact = 1;
  int differ = 0;
  int32_t i = 0;
  for (i = made->ndim; i-- > 0;) {
    const int64_t usual = DLPACKGEN_RULES_CAST(int64_t, compact);
    const int64_t wanted = requested->strides ? requested->strides[i] : usual;
    const int64_t got = made->strides ? made->strides[i] : usual;
    if (made->shape[i] == 0) return 0;
    if (made->shape[i] != 1 && wanted != got) {
      dlpackgen_fail_(mismatch, DLPACKGEN_OK, wanted, got, i);
      differ = 1;
    }
    /* It fits, unless an extent of 0 follows. */
    (void)dlpackgen_extend_stride_(&compact, made->shape[i]);
  }
  return differ;
}

/*
 * Compares a valid tensor that a library has allocated with the request, whose strides may be NULL.
 * The caller writes to the result, and relies on every property. managed: the requested device type
 * is managed memory. *mismatch receives the numbers of a difference in ndim, shape or strides.
 */
DLPACKGEN_CONSTEXPR dlpackgen_difference_ dlpackgen_differs_(const DLTensor* made, uint64_t flags,
                                                             const DLTensor* requested, int managed,
                                                             dlpackgen_mismatch_* mismatch) {
  const DLDataType got = made->dtype, wanted = requested->dtype;
  int32_t i = 0;
  if (got.code != wanted.code || got.bits != wanted.bits || got.lanes != wanted.lanes) return DLPACKGEN_DIFFERS_DTYPE_;
  dlpackgen_fail_(mismatch, DLPACKGEN_OK, requested->ndim, made->ndim, -1);
  if (made->ndim != requested->ndim) return DLPACKGEN_DIFFERS_NDIM_;
  while (i < made->ndim && made->shape[i] == requested->shape[i]) ++i;
  if (i < made->ndim) {
    dlpackgen_fail_(mismatch, DLPACKGEN_OK, requested->shape[i], made->shape[i], i);
    return DLPACKGEN_DIFFERS_SHAPE_;
  }
  if (!dlpackgen_same_device_(requested->device, made->device, managed)) return DLPACKGEN_DIFFERS_DEVICE_;
  if ((flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) return DLPACKGEN_DIFFERS_READ_ONLY_;
  if (got.bits < DLPACKGEN_PACKED_BELOW && (flags & DLPACKGEN_PADDED_FLAG) != 0) return DLPACKGEN_DIFFERS_PADDED_;
  return dlpackgen_strides_differ_(made, requested, mismatch) ? DLPACKGEN_DIFFERS_STRIDES_ : DLPACKGEN_DIFFERS_NOT_;
}

#endif /* DLPACKGEN_ALLOCATED_H_ */
