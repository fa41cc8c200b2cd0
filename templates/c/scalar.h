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

/** The kind of a scalar. Operators of torch in Python pass the numbers of the first five. */
enum dlpackgen_scalar_kind {
  DLPACKGEN_SCALAR_INTEGER,
  DLPACKGEN_SCALAR_REAL,
  DLPACKGEN_SCALAR_TRUTH,   /**< a bool */
  DLPACKGEN_SCALAR_NATURAL, /**< an unsigned integer, which may be above the range of int64 */
  DLPACKGEN_SCALAR_COMPLEX,
  DLPACKGEN_SCALAR_HUGE, /**< an integer outside the ranges of int64 and uint64 */
  DLPACKGEN_SCALAR_OTHER /**< not a number */
};

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

/** Returns whether a dtype of scalars is a float; the others are integers and bool. */
static inline bool dlpackgen_is_real(DLDataType dtype) { return dtype.code == kDLFloat || dtype.code == kDLBfloat; }

/**
 * Returns the name of a scalar's type if the dtype rejects all scalars of this kind, or NULL: no
 * dtype accepts complex numbers, only floats accept floats, and no integer accepts bools.
 */
static inline const char* dlpackgen_rejected_type(DLDataType dtype, enum dlpackgen_scalar_kind kind) {
  if (kind == DLPACKGEN_SCALAR_COMPLEX) return "complex";
  if (dlpackgen_is_real(dtype)) return NULL;
  if (kind == DLPACKGEN_SCALAR_REAL) return "float";
  return kind == DLPACKGEN_SCALAR_TRUTH && dtype.code != kDLBool ? "bool" : NULL;
}

/**
 * Returns whether a dtype can represent a number of a kind that it accepts. `integer`: the bits of
 * an integer or a bool; `real`: the nearest double.
 */
static inline bool dlpackgen_represents(DLDataType dtype, enum dlpackgen_scalar_kind kind, int64_t integer,
                                        double real) {
  if (dlpackgen_is_real(dtype)) return dlpackgen_represents_real(dtype, real);
  if (kind == DLPACKGEN_SCALAR_NATURAL && integer < 0) return dtype.code == kDLUInt && dtype.bits == 64;
  return dlpackgen_represents_integer(dtype, integer);
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
