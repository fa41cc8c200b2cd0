/*
 * NumPy's type numbers, which stand for C types. Their widths depend on the platform: NumPy's long
 * has 32 or 64 bits, as in C.
 */
#ifndef DLPACKGEN_PYTHON_READER_NUMBERS_H_
#define DLPACKGEN_PYTHON_READER_NUMBERS_H_

#include <dlpack/dlpack.h>
#include <stddef.h>

/* An element type that DLPack supports. Its size is a power of two. */
struct dlpackgen_element {
  DLDataType dtype;
  unsigned char shift; /* the size is 1 << shift */
};

#define DLPACKGEN_NP_SHIFT(type) (sizeof(type) == 8 ? 3 : sizeof(type) == 4 ? 2 : sizeof(type) == 2 ? 1 : 0)
#define DLPACKGEN_NP_ELEMENT(code, bits, shift) {{code, bits, 1}, shift}
#define DLPACKGEN_NP_INTEGER(code, type) DLPACKGEN_NP_ELEMENT(code, sizeof(type) * 8, DLPACKGEN_NP_SHIFT(type))
#define DLPACKGEN_NP_NONE {{0, 0, 0}, 0}

/* Indexed by NumPy's type number, which stands for a C type and not for a width. */
static const struct dlpackgen_element dlpackgen_np_elements[] = {
    DLPACKGEN_NP_ELEMENT(kDLBool, 8, 0),
    DLPACKGEN_NP_INTEGER(kDLInt, signed char),
    DLPACKGEN_NP_INTEGER(kDLUInt, unsigned char),
    DLPACKGEN_NP_INTEGER(kDLInt, short),
    DLPACKGEN_NP_INTEGER(kDLUInt, unsigned short),
    DLPACKGEN_NP_INTEGER(kDLInt, int),
    DLPACKGEN_NP_INTEGER(kDLUInt, unsigned int),
    DLPACKGEN_NP_INTEGER(kDLInt, long),
    DLPACKGEN_NP_INTEGER(kDLUInt, unsigned long),
    DLPACKGEN_NP_INTEGER(kDLInt, long long),
    DLPACKGEN_NP_INTEGER(kDLUInt, unsigned long long),
    DLPACKGEN_NP_ELEMENT(kDLFloat, 32, 2),
    DLPACKGEN_NP_ELEMENT(kDLFloat, 64, 3),
    DLPACKGEN_NP_NONE, /* long double */
    DLPACKGEN_NP_ELEMENT(kDLComplex, 64, 3),
    DLPACKGEN_NP_ELEMENT(kDLComplex, 128, 4),
    DLPACKGEN_NP_NONE, /* complex long double */
    DLPACKGEN_NP_NONE, /* objects */
    DLPACKGEN_NP_NONE, /* bytes */
    DLPACKGEN_NP_NONE, /* text */
    DLPACKGEN_NP_NONE, /* structures */
    DLPACKGEN_NP_NONE, /* dates */
    DLPACKGEN_NP_NONE, /* durations */
    DLPACKGEN_NP_ELEMENT(kDLFloat, 16, 1),
};

enum {
  DLPACKGEN_NP_NUMBERS = sizeof dlpackgen_np_elements / sizeof *dlpackgen_np_elements,
  DLPACKGEN_NP_EXTENSIONS = 256, /* the first number of a type of another package */
  DLPACKGEN_NP_VARIABLE_TEXT = 2056
};

/* The element of a number, or NULL. */
static inline const struct dlpackgen_element* dlpackgen_np_element(int number) {
  if (number < 0 || number >= DLPACKGEN_NP_NUMBERS) return NULL;
  return dlpackgen_np_elements[number].dtype.lanes ? &dlpackgen_np_elements[number] : NULL;
}

#endif /* DLPACKGEN_PYTHON_READER_NUMBERS_H_ */
