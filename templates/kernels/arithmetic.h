/* 64-bit integer arithmetic for the expressions in descriptions of kernels. A failed operation
 * records its error once, and returns 0. */
#ifndef DLPACKGEN_KERNELS_ARITHMETIC_H_
#define DLPACKGEN_KERNELS_ARITHMETIC_H_

#include <dlpackgen/message.h>
#include <dlpackgen/rules.h>
#include <stdint.h>

/* The reason why an expression has no value. */
enum { DLPACKGEN_OVERFLOWS = 1, DLPACKGEN_DIVIDES_BY_ZERO = 2 };

DLPACKGEN_PART inline int64_t dlpackgen_no_value(int* bad, int why) {
  if (!*bad) *bad = why;
  return 0;
}

DLPACKGEN_PART inline int64_t dlpackgen_add(int64_t a, int64_t b, int* bad) {
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return dlpackgen_no_value(bad, DLPACKGEN_OVERFLOWS);
  return a + b;
}

DLPACKGEN_PART inline int64_t dlpackgen_subtract(int64_t a, int64_t b, int* bad) {
  if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b) return dlpackgen_no_value(bad, DLPACKGEN_OVERFLOWS);
  return a - b;
}

DLPACKGEN_PART inline int64_t dlpackgen_multiply(int64_t a, int64_t b, int* bad) {
  const uint64_t x = dlpackgen_magnitude_(a), y = dlpackgen_magnitude_(b);
  const uint64_t most = (uint64_t)INT64_MAX + ((a < 0) != (b < 0));
  if (x && y > most / x) return dlpackgen_no_value(bad, DLPACKGEN_OVERFLOWS);
  return (int64_t)((uint64_t)a * (uint64_t)b);
}

DLPACKGEN_PART inline int64_t dlpackgen_negate(int64_t a, int* bad) { return dlpackgen_subtract(0, a, bad); }

/* Rounds down, as Python does. */
DLPACKGEN_PART inline int64_t dlpackgen_floor_divide(int64_t a, int64_t b, int* bad) {
  if (b == 0) return dlpackgen_no_value(bad, DLPACKGEN_DIVIDES_BY_ZERO);
  if (b == -1) return dlpackgen_negate(a, bad);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Has the sign of the divisor, as in Python. */
DLPACKGEN_PART inline int64_t dlpackgen_modulo(int64_t a, int64_t b, int* bad) {
  if (b == 0) return dlpackgen_no_value(bad, DLPACKGEN_DIVIDES_BY_ZERO);
  if (b == -1) return 0;
  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}

DLPACKGEN_PART inline int64_t dlpackgen_least(int64_t a, int64_t b) { return a < b ? a : b; }

DLPACKGEN_PART inline int64_t dlpackgen_greatest(int64_t a, int64_t b) { return a > b ? a : b; }

#endif /* DLPACKGEN_KERNELS_ARITHMETIC_H_ */
