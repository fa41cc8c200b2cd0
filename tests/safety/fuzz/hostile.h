/* Hostile tensors, generated from a fuzzer's bytes, and the properties of accepted ones. They are
 * recomputed in 128 bits, so that both cannot contain the same mistake. For C and C++.
 *
 * The test defines the release's numbers from the spec: HOSTILE_CODES and HOSTILE_DEVICES. */
#ifndef HOSTILE_H_
#define HOSTILE_H_

#include <dlpackgen/tensor.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (0)

enum { HOSTILE_BUFFER = 4096, HOSTILE_MOST_WALKED = 64 };

struct hostile {
  DLManagedTensorVersioned managed; /* shape and strides have exactly ndim numbers each */
  const char* buffer;               /* the memory to which data may point */
  unsigned int options;             /* of dlpackgen_validate() */
  int choice;                       /* for the harness */
  const uint8_t *next, *end;
};

static inline uint64_t hostile_raw(struct hostile* h, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) value = value << 8 | (h->next < h->end ? *h->next++ : 0);
  return value;
}

static inline int hostile_byte(struct hostile* h) { return (int)hostile_raw(h, 1); }

/* A number: mostly small, otherwise near a limit, otherwise any. */
static inline int64_t hostile_number(struct hostile* h) {
  const int kind = hostile_byte(h);
  if (kind < 160) return kind % 6;
  if (kind < 180) return -(int64_t)(kind % 6);
  if (kind < 240) return (int64_t)((UINT64_C(1) << (kind % 64)) + (uint64_t)(kind / 60) - 3);
  if (kind < 244) return INT64_MIN + kind % 2;
  if (kind < 248) return INT64_MAX - kind % 2;
  return (int64_t)hostile_raw(h, 8);
}

/* ndim numbers without further readable memory after them. Products of powers of two wrap to 0,
 * which looks harmless. */
static inline int64_t* hostile_numbers(struct hostile* h, int32_t ndim, int powers) {
  const size_t count = ndim < 0 || ndim > DLPACKGEN_MAX_NDIM ? 0 : (size_t)ndim;
  int64_t* made = (int64_t*)malloc(count * sizeof *made);
  for (size_t i = 0; i < count; i++) made[i] = powers ? INT64_C(1) << hostile_byte(h) % 33 : hostile_number(h);
  return made;
}

static inline DLDataType hostile_dtype(struct hostile* h) {
  static const DLDataType known[] = {{2, 32, 1}, {2, 64, 1}, {0, 8, 1},  {1, 16, 1},      {6, 8, 1},
                                     {5, 64, 1}, {17, 4, 1}, {17, 4, 2}, {15, 6, 1},      {2, 32, 4},
                                     {0, 1, 1},  {1, 3, 3},  {4, 16, 1}, {0, 255, 65535}, {7, 8, 1}};
  const int kind = hostile_byte(h);
  DLDataType made = known[kind % 15];
  if (kind < 200) return made;
  made.code = (uint8_t)hostile_byte(h);
  made.bits = (uint8_t)hostile_byte(h);
  made.lanes = (uint16_t)hostile_raw(h, 2);
  return made;
}

static inline void* hostile_data(struct hostile* h) {
  const int kind = hostile_byte(h);
  if (kind < 180) return (char*)(uintptr_t)h->buffer + (kind % 4) * (HOSTILE_BUFFER / 4);
  if (kind < 200) return NULL;
  return (void*)(uintptr_t)hostile_raw(h, 8); /* never read: only memory in the buffer is */
}

/* Most tensors are row-major; otherwise, code after the layout checks would not be reached. */
static inline void hostile_layout(struct hostile* h, DLTensor* t) {
  const int kind = hostile_byte(h);
  t->ndim = kind < 230 ? kind % 6 : kind < 240 ? kind % 66 : (int32_t)hostile_raw(h, 4);
  const int layout = hostile_byte(h);
  t->shape = layout % 64 == 63 ? NULL : hostile_numbers(h, t->ndim, layout % 16 == 5);
  t->strides = layout % 64 == 62 ? NULL : hostile_numbers(h, t->ndim, 0);
  if (layout % 4 == 1 && t->shape && t->strides && t->ndim > 0 && t->ndim <= DLPACKGEN_MAX_NDIM)
    (void)dlpackgen_compact_strides(t->ndim, t->shape, t->strides);
}

/* Zeros that are never written, between redzones of the sanitizer. */
static inline const char* hostile_buffer(void) {
  static char* buffer;
  if (!buffer) buffer = (char*)calloc(1, HOSTILE_BUFFER);
  return buffer;
}

static inline void hostile_make(struct hostile* h, const uint8_t* bytes, size_t size) {
  DLTensor* t = &h->managed.dl_tensor;
  memset(h, 0, sizeof *h);
  h->next = bytes;
  h->end = bytes + size;
  h->buffer = hostile_buffer();
  h->choice = hostile_byte(h);
  h->options = (unsigned int)hostile_byte(h) % 8;
  hostile_layout(h, t);
  t->dtype = hostile_dtype(h);
  t->data = hostile_data(h);
  const int device = hostile_byte(h), offset = hostile_byte(h), flags = hostile_byte(h), version = hostile_byte(h);
  t->device.device_type = (DLDeviceType)(device < 220 ? 1 : device < 240 ? device % 24 : (int32_t)hostile_raw(h, 4));
  t->byte_offset = offset < 128 ? 0 : offset < 250 ? (uint64_t)offset : hostile_raw(h, 8);
  h->managed.flags = flags < 250 ? (uint64_t)(flags % 8) : hostile_raw(h, 8);
  h->managed.version.major = version < 250 ? DLPACK_MAJOR_VERSION : (uint32_t)hostile_raw(h, 4);
  h->managed.version.minor = (uint32_t)(version % 5);
}

static inline void hostile_free(struct hostile* h) {
  free(h->managed.dl_tensor.shape);
  free(h->managed.dl_tensor.strides);
}

/* Properties of a tensor, in numbers that cannot wrap. */
struct hostile_facts {
  unsigned __int128 count, below, above; /* elements; limited to 2^120 */
  unsigned __int128 low, high;           /* bytes before and after the first element */
  uint64_t bits;
};

static inline unsigned __int128 hostile_times(unsigned __int128 a, unsigned __int128 b) {
  const unsigned __int128 most = (unsigned __int128)1 << 120;
  return b && a > most / b ? most : a * b;
}

static inline int64_t hostile_stride(const DLTensor* t, int32_t d) {
  int64_t stride = 1;
  if (t->strides) return t->strides[d];
  for (int32_t i = t->ndim; --i > d;) stride *= t->shape[i];
  return stride;
}

/* A type code: whether the release has it, its only width or 0, and the parts of an element. */
struct hostile_code {
  int code, is_known, bits, parts;
};

/* Returns the properties of a type code; those of an integer for a code that no release has. */
static inline struct hostile_code hostile_code_of(int code) {
  static const struct hostile_code all[] = {HOSTILE_CODES};
  const struct hostile_code other = {code, 0, 0, 1};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].code == code) return all[i];
  return other;
}

static inline int hostile_is_device(int type) {
  static const int all[] = {HOSTILE_DEVICES};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i] == type) return 1;
  return 0;
}

/* The required alignment of elements: their size or the size of a complex number's parts, unless it
 * is not a power of two. An odd number of bits has no two parts. */
static inline uint64_t hostile_alignment(DLDataType dtype) {
  const int is_complex = hostile_code_of(dtype.code).parts == 2;
  const unsigned int bits = is_complex && dtype.bits % 2 == 0 ? dtype.bits / 2U : dtype.bits;
  for (unsigned int bytes = 1; bytes <= 16; bytes *= 2)
    if (bits == 8 * bytes) return bytes;
  return 1;
}

/* For tensors with elements, whose data is an address. */
static inline int hostile_is_aligned(const DLTensor* t) {
  const unsigned __int128 address = (unsigned __int128)(uintptr_t)t->data + t->byte_offset;
  return address % hostile_alignment(t->dtype) == 0;
}

/* The shape has no negative extent. */
static inline struct hostile_facts hostile_learn(const DLTensor* t, uint64_t flags) {
  struct hostile_facts f = {1, 0, 0, 0, 0, (uint64_t)t->dtype.bits * t->dtype.lanes};
  int empty = 0;
  if (t->dtype.bits >= 8 || flags & 4) f.bits = (f.bits + 7) / 8 * 8;
  for (int32_t i = 0; i < t->ndim; i++) {
    f.count = hostile_times(f.count, (uint64_t)t->shape[i]);
    empty |= t->shape[i] == 0;
  }
  if (empty) f.count = 0;
  if (f.count == 0) return f;
  for (int32_t i = 0; t->strides && i < t->ndim; i++) {
    const __int128 stride = t->strides[i];
    const unsigned __int128 size = (unsigned __int128)(stride < 0 ? -stride : stride);
    *(stride < 0 ? &f.below : &f.above) += hostile_times((uint64_t)t->shape[i] - 1, size);
  }
  if (!t->strides) f.above = f.count - 1;
  f.low = (hostile_times(f.below, f.bits) + 7) / 8;
  f.high = (hostile_times(f.above + 1, f.bits) + 7) / 8;
  return f;
}

/* The position of an element, by the index in each dimension, in bits from the first. */
static inline __int128 hostile_place(const DLTensor* t, const int64_t* index, uint64_t bits) {
  __int128 place = 0;
  for (int32_t d = 0; d < t->ndim; d++) place += (__int128)index[d] * hostile_stride(t, d);
  return place * (__int128)bits;
}

/* Advances to the next element; in a large tensor, only to the ends of each dimension. */
static inline int hostile_advance(const DLTensor* t, int64_t* index, int corners) {
  for (int32_t d = t->ndim; d-- > 0;) {
    index[d] = corners && index[d] == 0 ? t->shape[d] - 1 : index[d] + 1;
    if (index[d] < t->shape[d] && index[d] > 0) return 1;
    index[d] = 0;
  }
  return 0;
}

/* Returns whether the byte range of a tensor is in the harness's own buffer. */
static inline int hostile_is_mine(const struct hostile* h, const DLTensor* t, const struct hostile_facts* f) {
  const uintptr_t buffer = (uintptr_t)h->buffer, data = (uintptr_t)t->data;
  if (t->device.device_type != kDLCPU || data < buffer || data > buffer + HOSTILE_BUFFER) return 0;
  const unsigned __int128 first = (unsigned __int128)(data - buffer) + t->byte_offset;
  return first >= f->low && first + f->high <= HOSTILE_BUFFER;
}

/* Visits an accepted tensor: each element is in the byte range, and if the memory is ours, it is
 * read under the sanitizer. */
static inline void hostile_walk(const struct hostile* h, const DLTensor* t, const struct hostile_facts* f) {
  int64_t index[DLPACKGEN_MAX_NDIM] = {0};
  const int mine = hostile_is_mine(h, t, f), corners = f->count > HOSTILE_MOST_WALKED;
  int left = HOSTILE_MOST_WALKED;
  if (f->count == 0) return;
  do {
    const __int128 place = hostile_place(t, index, f->bits);
    CLAIM(place >= -(__int128)f->low * 8);
    CLAIM(place + (__int128)f->bits <= (__int128)f->high * 8);
    if (!mine) continue;
    const char* first = (const char*)t->data + t->byte_offset;
    const int64_t from = (int64_t)(place >= 0 ? place / 8 : -((-place + 7) / 8));
    const int64_t last = (int64_t)((place + (__int128)f->bits - 1 + ((__int128)1 << 80)) / 8 - ((__int128)1 << 77));
    CLAIM(*(volatile const char*)(first + from) == 0 && *(volatile const char*)(first + last) == 0);
  } while (--left && hostile_advance(t, index, corners));
}

/* The first mistake, by DLPack's rules and in the order of the validators. Each rule of validation
 * has a condition here. */
static inline int hostile_fault(const DLTensor* t, uint64_t flags, unsigned int options) {
  const unsigned __int128 most = INT64_MAX;
  const struct hostile_code code = hostile_code_of(t->dtype.code);
  if (t->ndim < 0 || t->ndim > DLPACKGEN_MAX_NDIM) return DLPACKGEN_ERROR_NDIM;
  if (t->ndim && !t->shape) return DLPACKGEN_ERROR_SHAPE_NULL;
  if (t->ndim && !t->strides && !(options & 1)) return DLPACKGEN_ERROR_STRIDES_NULL;
  for (int32_t i = 0; i < t->ndim; i++)
    if (t->shape[i] < 0) return DLPACKGEN_ERROR_EXTENT;
  const struct hostile_facts f = hostile_learn(t, flags);
  if (f.count > most) return DLPACKGEN_ERROR_TOO_LARGE;
  if (!(options & 4) && !code.is_known) return DLPACKGEN_ERROR_CODE;
  if (!t->dtype.bits || (code.bits && t->dtype.bits != code.bits)) return DLPACKGEN_ERROR_BITS;
  if (!t->dtype.lanes) return DLPACKGEN_ERROR_LANES;
  const int device = (int)t->device.device_type;
  if (!(options & 2) && !hostile_is_device(device)) return DLPACKGEN_ERROR_DEVICE;
  if (f.count == 0) return DLPACKGEN_OK;
  if (f.below > most || f.above > most || f.low > most || f.high > most) return DLPACKGEN_ERROR_TOO_LARGE;
  if (!t->data) return DLPACKGEN_ERROR_DATA_NULL;
  if (f.high + t->byte_offset > most) return DLPACKGEN_ERROR_OUT_OF_RANGE;
  const unsigned __int128 start = !dlpackgen_device_is_opaque(device) ? (uintptr_t)t->data : 0;
  if (start + t->byte_offset + f.high > UINTPTR_MAX || start + t->byte_offset < f.low)
    return DLPACKGEN_ERROR_OUT_OF_RANGE;
  return DLPACKGEN_OK;
}

#endif
