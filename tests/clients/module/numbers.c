/* Calls an undefined function for each of NumPy's numbers whose element differs from the C type on
 * this platform, where long has LONG bits. An optimizing compiler removes the calls that cannot
 * happen. */
#include <dlpackgen_python/reader_numbers.h>

#define IS(number, kind, width, size)                                                                   \
  {                                                                                                     \
    void wrong_##number(void);                                                                          \
    const struct dlpackgen_element* element = dlpackgen_np_element(number);                             \
    if (element->dtype.code != (kind) || element->dtype.bits != (width) || element->dtype.lanes != 1 || \
        1 << element->shift != (size))                                                                  \
      wrong_##number();                                                                                 \
  }

#define IS_NONE(number)                                 \
  {                                                     \
    void wrong_##number(void);                          \
    if (dlpackgen_np_element(number)) wrong_##number(); \
  }

void check(void);

void check(void) {
  IS(0, kDLBool, 8, 1)
  IS(1, kDLInt, 8, 1)
  IS(2, kDLUInt, 8, 1)
  IS(3, kDLInt, 16, 2)
  IS(4, kDLUInt, 16, 2)
  IS(5, kDLInt, 32, 4)
  IS(6, kDLUInt, 32, 4)
  IS(7, kDLInt, LONG, LONG / 8)
  IS(8, kDLUInt, LONG, LONG / 8)
  IS(9, kDLInt, 64, 8)
  IS(10, kDLUInt, 64, 8)
  IS(11, kDLFloat, 32, 4)
  IS(12, kDLFloat, 64, 8)
  IS_NONE(13)
  IS(14, kDLComplex, 64, 8)
  IS(15, kDLComplex, 128, 16)
  IS_NONE(16)
  IS_NONE(17)
  IS(23, kDLFloat, 16, 2)
  IS_NONE(24)
}
