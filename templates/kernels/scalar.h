/* Scalars from hosts other than Python: checks their type and range against the description of a
 * kernel. Needs only libc. */
#ifndef DLPACKGEN_KERNELS_SCALAR_H_
#define DLPACKGEN_KERNELS_SCALAR_H_

#include <dlpackgen/checker.h>
#include <dlpackgen/scalar.h>

/* Not every kernel uses all functions. */
#if defined(__GNUC__)
#define DLPACKGEN_SCALAR __attribute__((unused)) static
#else
#define DLPACKGEN_SCALAR static
#endif

/* The status for a number that its dtype cannot represent, in addition to those of
 * <dlpackgen/message.h>. */
enum { DLPACKGEN_STATUS_OVERFLOW = 64 };

/* A scalar from a host. */
struct dlpackgen_scalar_argument {
  enum dlpackgen_scalar_kind kind;
  int64_t integer;      /* the bits of a NATURAL; 0 or 1 for a TRUTH */
  double real;          /* the nearest double, if the scalar is a number */
  const char* name;     /* of its type, in messages */
  const int64_t* words; /* of a HUGE, the least significant first, in two's complement */
  size_t count;
};

/* The maximum number of words of a number in messages. */
enum { DLPACKGEN_SCALAR_WORDS = 16 };

/* Divides a number of several 32-bit words by 10, and returns the remainder. */
static uint32_t dlpackgen_divide_by_10(uint32_t* digits, size_t count) {
  uint64_t rest = 0;
  for (size_t i = count; i-- > 0;) {
    rest = rest << 32 | digits[i];
    digits[i] = (uint32_t)(rest / 10);
    rest %= 10;
  }
  return (uint32_t)rest;
}

static int dlpackgen_is_zero(const uint32_t* digits, size_t count) {
  while (count > 0)
    if (digits[--count]) return 0;
  return 1;
}

/* Adds an integer of any size. */
DLPACKGEN_SLOW static void dlpackgen_put_huge(struct dlpackgen_message* message, const int64_t* words, size_t count) {
  uint32_t digits[2 * DLPACKGEN_SCALAR_WORDS];
  char text[20 * DLPACKGEN_SCALAR_WORDS + 1];
  char* first = text + sizeof text - 1;
  if (count == 0 || count > DLPACKGEN_SCALAR_WORDS) {
    dlpackgen_put(message, DLPACKGEN_TEXT_LARGE);
    return;
  }
  const int negative = words[count - 1] < 0;
  uint64_t carry = (uint64_t)negative;
  for (size_t i = 0; i < count; i++) {
    const uint64_t word = negative ? ~(uint64_t)words[i] + carry : (uint64_t)words[i];
    carry = carry && word == 0;
    digits[2 * i] = (uint32_t)word;
    digits[2 * i + 1] = (uint32_t)(word >> 32);
  }
  *first = 0;
  do *--first = (char)('0' + dlpackgen_divide_by_10(digits, 2 * count));
  while (!dlpackgen_is_zero(digits, 2 * count));
  if (negative) dlpackgen_put(message, "-");
  dlpackgen_put(message, first);
}

/* Adds a scalar that is a number. */
DLPACKGEN_SLOW static void dlpackgen_put_scalar(struct dlpackgen_message* message,
                                                const struct dlpackgen_scalar_argument* value) {
  switch (value->kind) {
    case DLPACKGEN_SCALAR_REAL: dlpackgen_put_real(message, value->real); break;
    case DLPACKGEN_SCALAR_NATURAL: dlpackgen_put_digits(message, (uint64_t)value->integer, 10); break;
    case DLPACKGEN_SCALAR_HUGE: dlpackgen_put_huge(message, value->words, value->count); break;
    default: dlpackgen_put_integer(message, value->integer); break;
  }
}

DLPACKGEN_SLOW static int dlpackgen_not_represented(const struct dlpackgen_site* at, const char* dtype,
                                                    const struct dlpackgen_scalar_argument* value,
                                                    struct dlpackgen_message* message) {
  dlpackgen_put_site(message, at);
  dlpackgen_put(message, dtype);
  dlpackgen_put(message, DLPACKGEN_TEXT_OUT_OF_RANGE);
  dlpackgen_put_scalar(message, value);
  return DLPACKGEN_STATUS_OVERFLOW;
}

/* Reads an integer of an integer dtype with the given number of bits; bool has 1. */
DLPACKGEN_SCALAR int dlpackgen_scalar_bits(const struct dlpackgen_site* at,
                                           const struct dlpackgen_scalar_argument* value, const char* dtype, int bits,
                                           int is_signed, int64_t* number, struct dlpackgen_message* message) {
  const uint64_t digits = (uint64_t)value->integer;
  const int negative = value->kind == DLPACKGEN_SCALAR_INTEGER && value->integer < 0;
  int holds;
  switch (value->kind) {
    case DLPACKGEN_SCALAR_TRUTH:
      if (bits != 1) return dlpackgen_bad_type(at, dtype, value->name, message);
      holds = 1;
      break;
    case DLPACKGEN_SCALAR_INTEGER:
      if (is_signed) holds = (negative ? ~digits : digits) >> (bits - 1) == 0;
      else holds = !negative && (bits == 64 || digits >> bits == 0);
      break;
    case DLPACKGEN_SCALAR_NATURAL: holds = bits == 64 && !is_signed; break;
    case DLPACKGEN_SCALAR_HUGE: holds = 0; break;
    default: return dlpackgen_bad_type(at, dtype, value->name, message);
  }
  if (!holds) return dlpackgen_not_represented(at, dtype, value, message);
  *number = value->integer;
  return DLPACKGEN_STATUS_OK;
}

/* Reads a 64-bit integer, which may be a bool. */
DLPACKGEN_SCALAR int dlpackgen_scalar_integer(const struct dlpackgen_site* at,
                                              const struct dlpackgen_scalar_argument* value, int64_t* number,
                                              struct dlpackgen_message* message) {
  if (value->kind != DLPACKGEN_SCALAR_INTEGER && value->kind != DLPACKGEN_SCALAR_TRUTH) {
    if (value->kind == DLPACKGEN_SCALAR_NATURAL || value->kind == DLPACKGEN_SCALAR_HUGE)
      return dlpackgen_not_represented(at, "int64", value, message);
    return dlpackgen_bad_type(at, "int", value->name, message);
  }
  *number = value->integer;
  return DLPACKGEN_STATUS_OK;
}

/* Reads a number as a double. */
DLPACKGEN_SCALAR int dlpackgen_scalar_real(const struct dlpackgen_site* at,
                                           const struct dlpackgen_scalar_argument* value, const char* dtype,
                                           double* number, struct dlpackgen_message* message) {
  if (value->kind == DLPACKGEN_SCALAR_OTHER) return dlpackgen_bad_type(at, dtype, value->name, message);
  if (value->kind == DLPACKGEN_SCALAR_HUGE && value->real - value->real != 0)
    return dlpackgen_not_represented(at, dtype, value, message);
  *number = value->real;
  return DLPACKGEN_STATUS_OK;
}

/* Reads a number of a float dtype with the given maximum. */
DLPACKGEN_SCALAR int dlpackgen_scalar_within(const struct dlpackgen_site* at,
                                             const struct dlpackgen_scalar_argument* value, const char* dtype,
                                             double most, double* number, struct dlpackgen_message* message) {
  const int status = dlpackgen_scalar_real(at, value, dtype, number, message);
  if (status || *number != *number || *number - *number != 0 || (*number <= most && *number >= -most)) return status;
  return dlpackgen_not_represented(at, dtype, value, message);
}

/* Reads a bool. */
DLPACKGEN_SCALAR int dlpackgen_scalar_truth(const struct dlpackgen_site* at,
                                            const struct dlpackgen_scalar_argument* value, bool* truth,
                                            struct dlpackgen_message* message) {
  if (value->kind != DLPACKGEN_SCALAR_TRUTH) return dlpackgen_bad_type(at, "bool", value->name, message);
  *truth = value->integer != 0;
  return DLPACKGEN_STATUS_OK;
}

#endif /* DLPACKGEN_KERNELS_SCALAR_H_ */
