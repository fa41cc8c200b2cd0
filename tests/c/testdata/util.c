/* Tests of dlpackgen/tensor.h, as C99 and as C++11: tables of cases, including hostile ones, and a
 * comparison of span and layout with a count of single bytes. */
#include <dlpackgen/tensor.h>
#include <stdio.h>
#include <string.h>

static int checked, failed;

#define CHECK(condition) check((condition) ? 1 : 0, __LINE__, #condition)

static void check(int holds, int line, const char* text) {
  ++checked;
  if (holds) return;
  ++failed;
  if (failed <= 20) printf("util.c:%d: %s\n", line, text);
}

static DLDataType dtype(int code, int bits, int lanes) {
  DLDataType type;
  type.code = (uint8_t)code;
  type.bits = (uint8_t)bits;
  type.lanes = (uint16_t)lanes;
  return type;
}

static char memory[4096];

static DLTensor tensor(int32_t ndim, int64_t* shape, int64_t* strides) {
  DLTensor t;
  memset(&t, 0, sizeof t);
  t.data = memory;
  t.device.device_type = kDLCPU;
  t.ndim = ndim;
  t.dtype = dtype(kDLFloat, 32, 1);
  t.shape = shape;
  t.strides = strides;
  return t;
}

static const int64_t huge = INT64_MAX;

static void test_count(void) {
  static const struct {
    int32_t ndim;
    int64_t shape[3];
    dlpackgen_error_code error;
    int64_t count;
  } cases[] = {
      {0, {0, 0, 0}, DLPACKGEN_OK, 1},
      {1, {7, 0, 0}, DLPACKGEN_OK, 7},
      {3, {2, 3, 5}, DLPACKGEN_OK, 30},
      {3, {2, 0, 5}, DLPACKGEN_OK, 0},
      {3, {INT64_MAX, INT64_MAX, 0}, DLPACKGEN_OK, 0},
      {1, {INT64_MAX, 0, 0}, DLPACKGEN_OK, INT64_MAX},
      {2, {INT64_MAX, 1, 0}, DLPACKGEN_OK, INT64_MAX},
      {2, {INT64_MAX, 2, 0}, DLPACKGEN_ERROR_TOO_LARGE, -1},
      {3, {3037000500, 3037000500, 1}, DLPACKGEN_ERROR_TOO_LARGE, -1},
      {2, {(int64_t)1 << 32, (int64_t)1 << 32, 0}, DLPACKGEN_ERROR_TOO_LARGE, -1},
      {2, {3, -1, 0}, DLPACKGEN_ERROR_EXTENT, -1},
      {3, {0, INT64_MIN, 0}, DLPACKGEN_ERROR_EXTENT, -1},
      {-1, {0, 0, 0}, DLPACKGEN_ERROR_NDIM, -1},
  };
  size_t i;
  int64_t count;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    count = -1;
    CHECK(dlpackgen_size(cases[i].ndim, cases[i].shape, &count) == cases[i].error);
    CHECK(count == cases[i].count);
  }
  CHECK(dlpackgen_size(0, NULL, &count) == DLPACKGEN_OK && count == 1);
  CHECK(dlpackgen_size(1, NULL, &count) == DLPACKGEN_ERROR_SHAPE_NULL);
}

static void test_nbytes(void) {
  const uint64_t padded = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  const struct {
    int64_t count;
    int code, bits, lanes;
    uint64_t flags;
    dlpackgen_error_code error;
    int64_t bytes;
  } cases[] = {
      {3, kDLFloat, 32, 1, 0, DLPACKGEN_OK, 12},
      {3, kDLFloat, 32, 4, 0, DLPACKGEN_OK, 48},
      {3, kDLComplex, 128, 1, 0, DLPACKGEN_OK, 48},
      {0, kDLFloat, 32, 1, 0, DLPACKGEN_OK, 0},
      {3, kDLFloat4_e2m1fn, 4, 1, 0, DLPACKGEN_OK, 2},
      {3, kDLFloat4_e2m1fn, 4, 1, padded, DLPACKGEN_OK, 3},
      {3, kDLFloat4_e2m1fn, 4, 2, 0, DLPACKGEN_OK, 3},
      {8, kDLFloat6_e2m3fn, 6, 1, 0, DLPACKGEN_OK, 6},
      {9, kDLFloat6_e2m3fn, 6, 1, 0, DLPACKGEN_OK, 7},
      {9, kDLFloat6_e2m3fn, 6, 1, padded, DLPACKGEN_OK, 9},
      {9, kDLUInt, 1, 1, 0, DLPACKGEN_OK, 2},
      {3, kDLUInt, 8, 1, padded, DLPACKGEN_OK, 3},
      {3, kDLInt, 12, 1, 0, DLPACKGEN_OK, 6},
      {3, kDLInt, 255, 65535, 0, DLPACKGEN_OK, 3 * (((int64_t)255 * 65535 + 7) / 8)},
      {huge, kDLInt, 8, 1, 0, DLPACKGEN_OK, INT64_MAX},
      {huge, kDLInt, 4, 1, 0, DLPACKGEN_OK, INT64_MAX / 2 + 1},
      {huge, kDLInt, 16, 1, 0, DLPACKGEN_ERROR_TOO_LARGE, -1},
      {huge / 4 + 1, kDLFloat, 32, 1, 0, DLPACKGEN_ERROR_TOO_LARGE, -1},
      {huge / 4, kDLFloat, 32, 1, 0, DLPACKGEN_OK, INT64_MAX - 3},
  };
  size_t i;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    int64_t shape = cases[i].count, bytes = -1;
    DLTensor t = tensor(1, &shape, NULL);
    t.dtype = dtype(cases[i].code, cases[i].bits, cases[i].lanes);
    CHECK(dlpackgen_nbytes(&t, cases[i].flags, &bytes) == cases[i].error);
    CHECK(bytes == cases[i].bytes);
  }
}

static void test_alignment(void) {
  static const struct {
    int code, bits, lanes, alignment;
  } cases[] = {
      {kDLUInt, 8, 1, 1},     {kDLInt, 16, 1, 2},      {kDLFloat, 32, 4, 4},   {kDLFloat, 64, 1, 8},
      {kDLFloat, 128, 1, 16}, {kDLBfloat, 16, 1, 2},   {kDLComplex, 32, 1, 2}, {kDLComplex, 33, 1, 1},
      {kDLComplex, 64, 1, 4}, {kDLComplex, 128, 1, 8}, {18, 32, 1, 2},         {kDLFloat4_e2m1fn, 4, 2, 1},
      {kDLInt, 12, 1, 1},     {kDLInt, 24, 1, 1},      {kDLInt, 255, 1, 1},
  };
  size_t i;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    CHECK(dlpackgen_alignment(dtype(cases[i].code, cases[i].bits, cases[i].lanes)) == cases[i].alignment);
}

static void test_compact_strides(void) {
  int64_t shape[3] = {2, 3, 5}, strides[3] = {-1, -1, -1}, empty[3] = {2, 0, 5}, large[3] = {2, INT64_MAX, 2},
          bad[1] = {-2};
  CHECK(dlpackgen_compact_strides(3, shape, strides) == DLPACKGEN_OK);
  CHECK(strides[0] == 15 && strides[1] == 5 && strides[2] == 1);
  CHECK(dlpackgen_compact_strides(3, empty, strides) == DLPACKGEN_OK);
  CHECK(strides[0] == 5 && strides[1] == 5 && strides[2] == 1);
  CHECK(dlpackgen_compact_strides(0, NULL, NULL) == DLPACKGEN_OK);
  CHECK(dlpackgen_compact_strides(3, large, strides) == DLPACKGEN_ERROR_TOO_LARGE);
  CHECK(dlpackgen_compact_strides(1, bad, strides) == DLPACKGEN_ERROR_EXTENT);
  CHECK(dlpackgen_compact_strides(-1, shape, strides) == DLPACKGEN_ERROR_NDIM);
  CHECK(dlpackgen_compact_strides(1, NULL, strides) == DLPACKGEN_ERROR_SHAPE_NULL);
  CHECK(dlpackgen_compact_strides(1, shape, NULL) == DLPACKGEN_ERROR_STRIDES_NULL);
}

/* The real properties of an array, from visiting its elements: at most 3 dimensions, extents up to
 * 3 and strides up to 4, so within 24 elements on both sides of the first one. */
enum { REACH = 24 };

struct visited {
  int64_t low, high; /* bytes, from the first element */
  int dense, row_major, collides;
};

static struct visited visit(const DLTensor* t, int element_bits) {
  struct visited v = {0, 0, 1, 1, 0};
  int hits[2 * REACH + 1] = {0};
  int64_t index[3] = {0, 0, 0}, count = 1, n, first = 0, last = 0;
  int i;
  for (i = 0; i < 3; ++i) count *= t->shape[i];
  for (n = 0; n < count; ++n) {
    const int64_t at = index[0] * t->strides[0] + index[1] * t->strides[1] + index[2] * t->strides[2];
    const int64_t low = at * element_bits, high = low + element_bits;
    const int64_t low_byte = (low + 8 * 1024) / 8 - 1024, high_byte = (high + 7 + 8 * 1024) / 8 - 1024;
    if (n == 0 || low_byte < v.low) v.low = low_byte;
    if (n == 0 || high_byte > v.high) v.high = high_byte;
    if (at < first) first = at;
    if (at > last) last = at;
    if (at != n) v.row_major = 0;
    if (hits[at + REACH]++) v.dense = 0, v.collides = 1;
    for (i = 2; i >= 0 && ++index[i] == t->shape[i]; --i) index[i] = 0;
  }
  if (last - first + 1 != count && count > 0) v.dense = 0;
  return v;
}

/* The rule of dlpackgen_may_overlap, for dimensions that are sorted first. */
static int crosses(const DLTensor* t) {
  int64_t steps[3], lengths[3], covered = 0;
  int count = 0, i, k;
  if (t->shape[0] * t->shape[1] * t->shape[2] == 0) return 0;
  for (i = 0; i < 3; ++i) {
    const int64_t step = t->strides[i] < 0 ? -t->strides[i] : t->strides[i];
    if (t->shape[i] < 2) continue;
    for (k = count++; k > 0 && steps[k - 1] > step; --k) steps[k] = steps[k - 1], lengths[k] = lengths[k - 1];
    steps[k] = step, lengths[k] = t->shape[i];
  }
  for (i = 0; i < count; covered += (lengths[i] - 1) * steps[i], ++i)
    if (steps[i] <= covered) return 1;
  return 0;
}

static void test_against_visits(void) {
  static const int widths[3] = {4, 6, 16};
  int64_t shape[3], strides[3], low, high;
  int which, s, d;
  for (which = 0; which < 3; ++which) {
    for (s = 0; s < 4 * 4 * 4; ++s) {
      for (d = 0; d < 9 * 9 * 9; ++d) {
        DLTensor t = tensor(3, shape, strides);
        struct visited want;
        shape[0] = s % 4, shape[1] = s / 4 % 4, shape[2] = s / 16;
        strides[0] = d % 9 - 4, strides[1] = d / 9 % 9 - 4, strides[2] = d / 81 - 4;
        t.dtype = dtype(kDLInt, widths[which], 1);
        want = visit(&t, widths[which]);
        CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_OK);
        CHECK(low == want.low && high == want.high);
        CHECK(dlpackgen_is_contiguous_any_order(&t) == want.dense);
        CHECK(dlpackgen_is_contiguous(&t) == want.row_major);
        CHECK(dlpackgen_may_overlap(&t) == crosses(&t) && (crosses(&t) || !want.collides));
      }
    }
  }
}

static void test_order(void) {
  int64_t shape[2] = {3, 4}, row[2] = {4, 1}, column[2] = {1, 3}, ones[2] = {1, 1}, any[2] = {77, -5}, bad[2] = {3, -4};
  DLTensor t = tensor(2, shape, row);
  CHECK(dlpackgen_is_contiguous(&t) && dlpackgen_is_contiguous_any_order(&t));
  t.strides = column;
  CHECK(!dlpackgen_is_contiguous(&t) && dlpackgen_is_contiguous_any_order(&t));
  t.strides = NULL;
  CHECK(dlpackgen_is_contiguous(&t) && dlpackgen_is_contiguous_any_order(&t));
  t.shape = ones, t.strides = any;
  CHECK(dlpackgen_is_contiguous(&t) && dlpackgen_is_contiguous_any_order(&t));
  t.shape = bad, t.strides = row;
  CHECK(!dlpackgen_is_contiguous(&t) && !dlpackgen_is_contiguous_any_order(&t));
  t = tensor(0, NULL, NULL);
  CHECK(dlpackgen_is_contiguous(&t) && dlpackgen_is_contiguous_any_order(&t));
}

static void test_overlap_and_rows(void) {
  static const struct {
    int64_t shape[2], strides[2];
    int overlaps, inner;
  } cases[] = {
      {{3, 4}, {4, 1}, 0, 1},
      {{3, 4}, {0, 1}, 1, 1},
      {{3, 4}, {1, 1}, 1, 1},
      {{3, 4}, {7, 1}, 0, 1},
      {{3, 4}, {8, 2}, 0, 0},
      {{3, 4}, {INT64_MAX, INT64_MIN}, 1, 0},
      {{0, 4}, {INT64_MAX, INT64_MIN}, 0, 1},
      {{1, 1}, {0, 0}, 0, 1},
      {{3, 1}, {8, 2}, 0, 1},
      {{2, 2}, {INT64_MAX, -3}, 0, 0}, /* valid, and covers more than 63 bits */
      {{INT64_MAX, 2}, {4, 1}, 1, 1},  /* as from torch, whose strides are unchecked */
  };
  size_t i;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    int64_t shape[2], strides[2];
    DLTensor t = tensor(2, shape, strides);
    memcpy(shape, cases[i].shape, sizeof shape), memcpy(strides, cases[i].strides, sizeof strides);
    CHECK(dlpackgen_may_overlap(&t) == cases[i].overlaps && dlpackgen_is_inner_contiguous(&t) == cases[i].inner);
    t.strides = NULL;
    CHECK(!dlpackgen_may_overlap(&t) && dlpackgen_is_inner_contiguous(&t));
  }
}

static void test_span(void) {
  int64_t shape[2] = {3, 4}, row[2] = {4, 1}, far[2] = {INT64_MAX, 1}, back[2] = {INT64_MIN, 1}, low, high;
  DLTensor t = tensor(2, shape, row);
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_OK && low == 0 && high == 48);
  t.strides = NULL;
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_OK && low == 0 && high == 48);
  row[0] = -4;
  t.strides = row;
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_OK && low == -32 && high == 16);
  t.dtype = dtype(kDLFloat4_e2m1fn, 4, 1);
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_OK && low == -4 && high == 2);
  CHECK(dlpackgen_byte_range(&t, DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED, &low, &high) == DLPACKGEN_OK &&
        low == -8 && high == 4);
  t.strides = far;
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_ERROR_TOO_LARGE);
  t.strides = back;
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_ERROR_TOO_LARGE);
  shape[0] = 1;
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_OK && low == 0 && high == 2);
  shape[0] = 2, far[0] = huge / 2;
  t.strides = far, t.dtype = dtype(kDLInt, 8, 1);
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_OK && high == huge / 2 + 4);
  far[0] = huge - 3;
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_ERROR_TOO_LARGE);
  t.dtype = dtype(kDLInt, 16, 1), far[0] = -(huge / 2) - 1;
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_ERROR_TOO_LARGE);
  t.ndim = -1;
  CHECK(dlpackgen_byte_range(&t, 0, &low, &high) == DLPACKGEN_ERROR_NDIM);
}

#include "util_validate.h"

static int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                    void (*SetError)(void*, const char*, const char*)) {
  (void)prototype, (void)out, (void)error_ctx, (void)SetError;
  return -1;
}
static int from_object(void* object, DLManagedTensorVersioned** out) { return (void)object, (void)out, -1; }
static int to_object(DLManagedTensorVersioned* managed, void** out) { return (void)managed, (void)out, -1; }
static int stream(DLDeviceType type, int32_t id, void** out) { return (void)type, (void)id, (void)out, -1; }

static DLPackExchangeAPI table(uint32_t major, DLPackExchangeAPIHeader* previous) {
  DLPackExchangeAPI api;
  memset(&api, 0, sizeof api);
  api.header.version.major = major;
  api.header.prev_api = previous;
  api.managed_tensor_allocator = allocate;
  api.managed_tensor_from_py_object_no_sync = from_object;
  api.managed_tensor_to_py_object_no_sync = to_object;
  api.current_work_stream = stream;
  return api;
}

static void test_find_exchange_api(void) {
  const uint32_t ours = DLPACK_MAJOR_VERSION;
  DLPackExchangeAPI one = table(ours, NULL), two = table(ours + 1, &one.header), three = table(ours + 2, &two.header);
  DLPackExchangeAPI older = table(ours - 1, NULL), ring = table(ours + 1, NULL), spoilt;
  const DLPackExchangeAPI* found = &older;
  CHECK(dlpackgen_find_exchange_api(&one.header, &found) == DLPACKGEN_OK && found == &one);
  CHECK(dlpackgen_find_exchange_api(&three.header, &found) == DLPACKGEN_OK && found == &one);
  CHECK(dlpackgen_find_exchange_api(&older.header, &found) == DLPACKGEN_ERROR_NO_EXCHANGE_API && found == NULL);
  CHECK(dlpackgen_find_exchange_api(NULL, &found) == DLPACKGEN_ERROR_NULL && found == NULL);
  ring.header.prev_api = &ring.header;
  CHECK(dlpackgen_find_exchange_api(&ring.header, &found) == DLPACKGEN_ERROR_NO_EXCHANGE_API && found == NULL);
  spoilt = one, spoilt.managed_tensor_allocator = NULL;
  CHECK(dlpackgen_find_exchange_api(&spoilt.header, &found) == DLPACKGEN_ERROR_EXCHANGE_SLOT && found == NULL);
  spoilt = one, spoilt.managed_tensor_from_py_object_no_sync = NULL;
  CHECK(dlpackgen_find_exchange_api(&spoilt.header, &found) == DLPACKGEN_ERROR_EXCHANGE_SLOT);
  spoilt = one, spoilt.managed_tensor_to_py_object_no_sync = NULL;
  CHECK(dlpackgen_find_exchange_api(&spoilt.header, &found) == DLPACKGEN_ERROR_EXCHANGE_SLOT);
  spoilt = one, spoilt.current_work_stream = NULL;
  CHECK(dlpackgen_find_exchange_api(&spoilt.header, &found) == DLPACKGEN_ERROR_EXCHANGE_SLOT);
  CHECK(one.dltensor_from_py_object_no_sync == NULL);
}

static void test_dtypes_of_requests(void) {
  const DLDataType vector = {kDLInt, 12, 3}, empty = {kDLInt, 0, 0}, wide = {kDLBool, 32, 0},
                   no_lanes = {kDLBool, 8, 0}, unknown = {99, 8, 1};
  CHECK(dlpackgen_validate_dtype(vector) == DLPACKGEN_OK);
  CHECK(dlpackgen_validate_dtype(empty) == DLPACKGEN_ERROR_BITS);
  CHECK(dlpackgen_validate_dtype(wide) == DLPACKGEN_ERROR_BITS);
  CHECK(dlpackgen_validate_dtype(no_lanes) == DLPACKGEN_ERROR_LANES);
  CHECK(dlpackgen_validate_dtype(unknown) == DLPACKGEN_ERROR_CODE);
}

static void test_codes(void) {
  CHECK(strcmp(dlpackgen_device_type_name(kDLCUDA), "kDLCUDA") == 0);
  CHECK(strcmp(dlpackgen_type_code_name(kDLFloat4_e2m1fn), "kDLFloat4_e2m1fn") == 0);
  CHECK(!dlpackgen_device_type_name(5) && !dlpackgen_device_type_name(-1) && !dlpackgen_type_code_name(255));
  CHECK(dlpackgen_device_is_host_readable(kDLCPU) && dlpackgen_device_is_host_readable(kDLCUDAHost));
  CHECK(dlpackgen_device_is_host_readable(kDLROCMHost) && dlpackgen_device_is_host_readable(kDLCUDAManaged));
  CHECK(!dlpackgen_device_is_host_readable(kDLCUDA) && !dlpackgen_device_is_host_readable(4711));
  CHECK(dlpackgen_device_is_host(kDLCPU) && dlpackgen_device_is_host(kDLROCMHost) &&
        !dlpackgen_device_is_host(kDLCUDAManaged));
  CHECK(dlpackgen_device_is_managed(kDLCUDAManaged) && !dlpackgen_device_is_managed(kDLCUDA) &&
        dlpackgen_device_owner(kDLCUDAHost) == kDLCUDA);
  CHECK(dlpackgen_device_id_is_zero(kDLCPU) && dlpackgen_device_id_is_zero(kDLCUDAManaged) &&
        !dlpackgen_device_id_is_zero(kDLCUDA) && !dlpackgen_device_id_is_zero(4711));
  CHECK(dlpackgen_device_owner(kDLROCMHost) == kDLROCM && dlpackgen_device_owner(4711) == 4711);
  CHECK(dlpackgen_strides_may_be_null(1) && !dlpackgen_strides_may_be_null(2));
  CHECK(!dlpackgen_device_is_opaque(kDLCUDA) && dlpackgen_device_is_opaque(kDLMetal) &&
        dlpackgen_device_is_opaque(4711));
}

static void test_error_text(void) {
  int i, j;
  for (i = 0; i <= DLPACKGEN_ERROR_EXCHANGE_SLOT; ++i) {
    CHECK(strcmp(dlpackgen_error_string((dlpackgen_error_code)i), "unknown error") != 0);
    for (j = 0; j < i; ++j)
      CHECK(strcmp(dlpackgen_error_string((dlpackgen_error_code)i), dlpackgen_error_string((dlpackgen_error_code)j)) !=
            0);
  }
#ifndef __cplusplus /* if such an enum is impossible */
  CHECK(strcmp(dlpackgen_error_string((dlpackgen_error_code)(DLPACKGEN_ERROR_EXCHANGE_SLOT + 1)), "unknown error") ==
        0);
#endif
}

int main(void) {
  test_count();
  test_nbytes();
  test_alignment();
  test_compact_strides();
  test_order();
  test_span();
  test_overlap_and_rows();
  test_against_visits();
  test_validate();
  test_validate_versioned();
  test_find_exchange_api();
  test_dtypes_of_requests();
  test_codes();
  test_error_text();
  printf("%d checks, %d failed\n", checked, failed);
  return failed != 0;
}
