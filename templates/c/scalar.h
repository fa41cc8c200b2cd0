/**
 * \file scalar.h
 * Checks whether a dtype can represent a number, and formats numbers for messages. C11 and C++17.
 */
#ifndef DLPACKGEN_SCALAR_H_
#define DLPACKGEN_SCALAR_H_

#include <dlpackgen/message.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A scalar whose dtype depends on the call, as the corresponding C type. */
union dlpackgen_scalar {
  int64_t as_int64_t;
  int32_t as_int32_t;
  int16_t as_int16_t;
  int8_t as_int8_t;
  uint64_t as_uint64_t;
  uint32_t as_uint32_t;
  uint16_t as_uint16_t;
  uint8_t as_uint8_t;
  float as_float;
  double as_double;
  bool as_bool;
};

/** The largest finite value of a float of 16, 32 or 64 bits. */
static inline double dlpackgen_largest(DLDataType dtype) {
  if (dtype.bits == 64) return 1.7976931348623157e308;
  if (dtype.code == kDLBfloat) return 3.3895313892515355e38;
  return dtype.bits == 16 ? 65504 : 3.4028234663852886e38;
}

/** Returns whether such a float can represent a number, which is true for infinities and NaN. */
static inline bool dlpackgen_represents_real(DLDataType dtype, double number) {
  const double most = dlpackgen_largest(dtype);
  return (number >= -most && number <= most) || !(number - number == 0);
}

/** Returns whether an integer dtype, or bool, can represent a number. */
static inline bool dlpackgen_represents_integer(DLDataType dtype, int64_t number) {
  const bool is_signed = dtype.code == kDLInt;
  const int bits = dtype.code == kDLBool ? 1 : dtype.bits - (is_signed ? 1 : 0);
  const uint64_t digits = (uint64_t)number;
  if (number < 0) return is_signed && ~digits >> bits == 0;
  return bits == 64 || digits >> bits == 0;
}

/** Adds a float with the fewest digits that identify it, like Python's repr(). */
DLPACKGEN_SLOW static void dlpackgen_put_real(struct dlpackgen_message* message, double number) {
  char text[64];
  int digits = 1;
  do snprintf(text, sizeof text, "%.*e", digits - 1, number);
  while (strtod(text, NULL) != number && ++digits < 18);
  const int exponent = atoi(strchr(text, 'e') + 1);
  if (exponent >= -4 && exponent < 16)
    snprintf(text, sizeof text, "%.*f", digits > exponent + 1 ? digits - 1 - exponent : 1, number);
  dlpackgen_put(message, text);
}

/** Adds that a dtype cannot represent a number; the caller adds the number. */
DLPACKGEN_SLOW static void dlpackgen_put_out_of_range(struct dlpackgen_message* message, DLDataType dtype) {
  dlpackgen_put_dtype(message, DLPACKGEN_DTYPE(dtype.code, dtype.bits, dtype.lanes));
  dlpackgen_put(message, DLPACKGEN_TEXT_OUT_OF_RANGE);
}

#endif /* DLPACKGEN_SCALAR_H_ */
