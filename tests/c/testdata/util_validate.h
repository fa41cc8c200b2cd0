/* The results of dlpackgen_validate() for tensors with one mistake: a part of util.c. */

/* One mistake at a time in a valid tensor of 3 x 4 float32. */
static dlpackgen_error_code validate_with(void (*spoil)(DLTensor*), uint64_t flags, unsigned int options) {
  int64_t shape[2] = {3, 4}, strides[2] = {4, 1};
  DLTensor t = tensor(2, shape, strides);
  spoil(&t);
  return dlpackgen_validate(&t, flags, options);
}

static void sound(DLTensor* t) { (void)t; }
static void scalar(DLTensor* t) { t->ndim = 0, t->shape = NULL, t->strides = NULL; }
static void negative_ndim(DLTensor* t) { t->ndim = -1; }
static void largest_ndim(DLTensor* t) { t->ndim = INT32_MAX; }
static void just_too_many(DLTensor* t) { t->ndim = DLPACKGEN_MAX_NDIM + 1; }
static void no_shape(DLTensor* t) { t->shape = NULL; }
static void neither(DLTensor* t) { t->shape = NULL, t->strides = NULL; }
static void negative_extent(DLTensor* t) { t->shape[1] = -4; }
static void smallest_extent(DLTensor* t) { t->shape[0] = INT64_MIN; }
static void no_strides(DLTensor* t) { t->strides = NULL; }
static void too_many(DLTensor* t) { t->shape[0] = INT64_MAX; }
static void too_many_bytes(DLTensor* t) { t->ndim = 1, t->shape[0] = INT64_MAX / 2, t->strides[0] = 1; }
static void far_stride(DLTensor* t) { t->strides[0] = INT64_MAX; }
static void farthest_back(DLTensor* t) { t->strides[0] = INT64_MIN; }
static void reversed(DLTensor* t) { t->strides[0] = -4; }
static void below_zero(DLTensor* t) { t->data = (void*)(uintptr_t)4, t->strides[0] = -4; }
static void near_the_top(DLTensor* t) { t->data = (void*)(UINTPTR_MAX - 8); }
static void no_data(DLTensor* t) { t->data = NULL; }
static void empty(DLTensor* t) { t->data = NULL, t->shape[0] = 0; }
static void empty_and_huge(DLTensor* t) { t->shape[0] = 0, t->shape[1] = INT64_MAX, t->strides[0] = INT64_MIN; }
static void largest_offset(DLTensor* t) { t->byte_offset = UINT64_MAX; }
static void wrapping_offset(DLTensor* t) { t->byte_offset = (uint64_t)(0 - (uintptr_t)memory); }
static void past_the_end(DLTensor* t) { t->byte_offset = UINTPTR_MAX - (uintptr_t)memory - 47; }
static void at_the_end(DLTensor* t) { t->byte_offset = UINTPTR_MAX - (uintptr_t)memory - 48; }
static void no_lanes(DLTensor* t) { t->dtype.lanes = 0; }
static void no_bits(DLTensor* t) { t->dtype.bits = 0; }
static void wide_fp4(DLTensor* t) { t->dtype = dtype(kDLFloat4_e2m1fn, 8, 1); }
static void right_fp4(DLTensor* t) { t->dtype = dtype(kDLFloat4_e2m1fn, 4, 2); }
static void wide_fp6(DLTensor* t) { t->dtype = dtype(kDLFloat6_e2m3fn, 8, 1); }
static void wide_other_fp6(DLTensor* t) { t->dtype = dtype(kDLFloat6_e3m2fn, 4, 1); }
static void right_fp6(DLTensor* t) { t->dtype = dtype(kDLFloat6_e3m2fn, 6, 1); }
static void wide_fp8(DLTensor* t) { t->dtype = dtype(kDLFloat8_e4m3fn, 16, 1); }
static void narrow_bool(DLTensor* t) { t->dtype = dtype(kDLBool, 1, 1); }
static void unknown_code(DLTensor* t) { t->dtype.code = 200; }
static void unassigned_device(DLTensor* t) { t->device.device_type = (DLDeviceType)5; }
static void unknown_device(DLTensor* t) { t->device.device_type = (DLDeviceType)4711, t->byte_offset = 64; }
static void unknown_reversed(DLTensor* t) { unknown_device(t), reversed(t); }
static void unknown_before(DLTensor* t) { unknown_reversed(t), t->byte_offset = 16; }
static void opaque(DLTensor* t) { t->device.device_type = kDLOpenCL, t->data = (void*)memory; }
static void opaque_before(DLTensor* t) { opaque(t), reversed(t), t->byte_offset = 31; }
static void opaque_at_start(DLTensor* t) { opaque(t), reversed(t), t->byte_offset = 32; }
static void opaque_wraps(DLTensor* t) { opaque(t), t->byte_offset = UINT64_MAX - 8; }

static void test_validate(void) {
  const struct {
    void (*spoil)(DLTensor*);
    unsigned int options;
    dlpackgen_error_code error;
  } cases[] = {
      {sound, 0, DLPACKGEN_OK},
      {scalar, 0, DLPACKGEN_OK},
      {negative_ndim, 0, DLPACKGEN_ERROR_NDIM},
      {largest_ndim, 0, DLPACKGEN_ERROR_NDIM},
      {just_too_many, 0, DLPACKGEN_ERROR_NDIM},
      {no_shape, 0, DLPACKGEN_ERROR_SHAPE_NULL},
      {neither, 0, DLPACKGEN_ERROR_SHAPE_NULL},
      {neither, DLPACKGEN_ACCEPT_NULL_STRIDES, DLPACKGEN_ERROR_SHAPE_NULL},
      {negative_extent, 0, DLPACKGEN_ERROR_EXTENT},
      {smallest_extent, 0, DLPACKGEN_ERROR_EXTENT},
      {no_strides, 0, DLPACKGEN_ERROR_STRIDES_NULL},
      {no_strides, DLPACKGEN_ACCEPT_NULL_STRIDES, DLPACKGEN_OK},
      {too_many, 0, DLPACKGEN_ERROR_TOO_LARGE},
      {too_many_bytes, 0, DLPACKGEN_ERROR_TOO_LARGE},
      {far_stride, 0, DLPACKGEN_ERROR_TOO_LARGE},
      {farthest_back, 0, DLPACKGEN_ERROR_TOO_LARGE},
      {reversed, 0, DLPACKGEN_OK},
      {below_zero, 0, DLPACKGEN_ERROR_OUT_OF_RANGE},
      {near_the_top, 0, DLPACKGEN_ERROR_OUT_OF_RANGE},
      {no_data, 0, DLPACKGEN_ERROR_DATA_NULL},
      {empty, 0, DLPACKGEN_OK},
      {empty_and_huge, 0, DLPACKGEN_OK},
      {largest_offset, 0, DLPACKGEN_ERROR_OUT_OF_RANGE},
      {wrapping_offset, 0, DLPACKGEN_ERROR_OUT_OF_RANGE},
      {past_the_end, 0, DLPACKGEN_ERROR_OUT_OF_RANGE},
      {at_the_end, 0, sizeof(void*) == 4 ? DLPACKGEN_OK : DLPACKGEN_ERROR_OUT_OF_RANGE},
      {no_lanes, 0, DLPACKGEN_ERROR_LANES},
      {no_bits, 0, DLPACKGEN_ERROR_BITS},
      {wide_fp4, 0, DLPACKGEN_ERROR_BITS},
      {right_fp4, 0, DLPACKGEN_OK},
      {wide_fp6, 0, DLPACKGEN_ERROR_BITS},
      {wide_other_fp6, 0, DLPACKGEN_ERROR_BITS},
      {right_fp6, 0, DLPACKGEN_OK},
      {wide_fp8, 0, DLPACKGEN_ERROR_BITS},
      {narrow_bool, 0, DLPACKGEN_ERROR_BITS},
      {unknown_code, 0, DLPACKGEN_ERROR_CODE},
      {unknown_code, DLPACKGEN_ACCEPT_UNKNOWN_CODE, DLPACKGEN_OK},
      {unassigned_device, 0, DLPACKGEN_ERROR_DEVICE},
      {unknown_device, 0, DLPACKGEN_ERROR_DEVICE},
      {unknown_device, DLPACKGEN_ACCEPT_UNKNOWN_DEVICE, DLPACKGEN_OK},
      {unknown_reversed, DLPACKGEN_ACCEPT_UNKNOWN_DEVICE, DLPACKGEN_OK},
      {unknown_before, DLPACKGEN_ACCEPT_UNKNOWN_DEVICE, DLPACKGEN_ERROR_OUT_OF_RANGE},
      {opaque, 0, DLPACKGEN_OK},
      {opaque_before, 0, DLPACKGEN_ERROR_OUT_OF_RANGE},
      {opaque_at_start, 0, DLPACKGEN_OK},
      {opaque_wraps, 0, DLPACKGEN_ERROR_OUT_OF_RANGE},
  };
  size_t i;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const dlpackgen_error_code got = validate_with(cases[i].spoil, 0, cases[i].options);
    CHECK(got == cases[i].error);
    if (got != cases[i].error) printf("case %d: %s\n", (int)i, dlpackgen_error_string(got));
  }
  CHECK(dlpackgen_validate(NULL, 0, 0) == DLPACKGEN_ERROR_NULL);
}

static void test_validate_versioned(void) {
  int64_t shape[1] = {3};
  DLManagedTensorVersioned m;
  memset(&m, 0, sizeof m);
  m.version.major = DLPACK_MAJOR_VERSION;
  m.version.minor = DLPACK_MINOR_VERSION;
  m.dl_tensor = tensor(1, shape, NULL);
  CHECK(dlpackgen_validate_versioned(&m, 0) == DLPACKGEN_ERROR_STRIDES_NULL);
  m.version.minor = 1;
  CHECK(dlpackgen_validate_versioned(&m, 0) == DLPACKGEN_OK);
  m.version.major = DLPACK_MAJOR_VERSION + 1;
  CHECK(dlpackgen_validate_versioned(&m, 0) == DLPACKGEN_ERROR_VERSION);
  m.version.major = 0;
  CHECK(dlpackgen_validate_versioned(&m, 0) == DLPACKGEN_ERROR_VERSION);
  CHECK(dlpackgen_validate_versioned(NULL, 0) == DLPACKGEN_ERROR_NULL);
  /* 2^63 - 1 elements of 4 bits, plus one byte: out of range only if each takes a byte. */
  m.version.major = DLPACK_MAJOR_VERSION;
  shape[0] = INT64_MAX;
  m.dl_tensor.device.device_type = kDLOpenCL;
  m.dl_tensor.dtype = dtype(kDLInt, 4, 1);
  m.dl_tensor.byte_offset = 1;
  CHECK(dlpackgen_validate_versioned(&m, 0) == DLPACKGEN_OK);
  m.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  CHECK(dlpackgen_validate_versioned(&m, 0) == DLPACKGEN_ERROR_OUT_OF_RANGE);
}
