/**
 * \file parameter.h
 * Tables that describe the requirements of a function on its arguments. Messages, checks and
 * callers share them. C11 and C++17.
 */
#ifndef DLPACKGEN_PARAMETER_H_
#define DLPACKGEN_PARAMETER_H_

#include <dlpackgen/names.h>
#include <dlpackgen/rules.h>
#include <stdint.h>

/* Limits, which messages contain too. */
#define DLPACKGEN_MOST_PARAMETERS 32
#define DLPACKGEN_LAST_SYMBOL 7

enum {
  DLPACKGEN_MAX_PARAMETERS = DLPACKGEN_MOST_PARAMETERS,
  DLPACKGEN_MAX_DTYPES = 16,
  DLPACKGEN_MAX_EXTENTS = 8,
  DLPACKGEN_MAX_DIMS = DLPACKGEN_LAST_SYMBOL + 1,
  DLPACKGEN_MAX_DEVICES = 4
};

/** The kind of a parameter. */
enum dlpackgen_kind {
  DLPACKGEN_KIND_TENSOR = 0,
  DLPACKGEN_KIND_INT = 1,   /**< in Python, any object with __index__, in 64 bits */
  DLPACKGEN_KIND_FLOAT = 2, /**< in Python, any object with __float__ */
  DLPACKGEN_KIND_BOOL = 3   /**< true or false */
};

/** The required layout of a tensor. */
enum dlpackgen_layout {
  DLPACKGEN_LAYOUT_ANY = 0,                  /**< any strides */
  DLPACKGEN_LAYOUT_C_CONTIGUOUS = 1,         /**< row-major without gaps */
  DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER = 2, /**< without gaps, dimensions in any order */
  DLPACKGEN_LAYOUT_INNER_CONTIGUOUS = 3      /**< only the last dimension without gaps */
};

/** In a shape: an extent that is not checked, which is the default. */
#define DLPACKGEN_ANY 0
/** In a shape: the extent 0, which by itself means DLPACKGEN_ANY. */
#define DLPACKGEN_EXTENT_ZERO (-1)
/** In a shape: an extent that must be equal wherever the symbol is used; the symbol is 0 to 7. */
#define DLPACKGEN_DIM(which) (-2 - (which))
/** In parameter.devices: all device types. */
#define DLPACKGEN_ANY_DEVICE (-1)

/** For same_dtype_as and same_shape_as: the parameter with an index, counted from 0. */
#define DLPACKGEN_PARAM(index) ((index) + 1)

/** One parameter of a function. Fields that an initializer omits are 0. */
struct dlpackgen_parameter {
  const char* name;
  uint8_t kind;          /**< an enum dlpackgen_kind */
  uint8_t optional;      /**< it may be omitted, or be None */
  uint8_t writable;      /**< the function writes to the tensor; read-only tensors are rejected */
  uint8_t layout;        /**< an enum dlpackgen_layout */
  uint8_t same_dtype_as; /**< DLPACKGEN_PARAM(i): the dtype of an earlier parameter; 0: any */
  uint8_t same_shape_as; /**< DLPACKGEN_PARAM(i): the shape of an earlier parameter; 0: any */
  uint8_t ndim;          /**< dimensions */
  uint8_t leading_dims;  /**< additional leading dimensions are allowed */
  /**
   * The accepted dtypes, DLPACKGEN_DTYPE_FLOAT32 ..., terminated by 0; all dtypes if the first is
   * 0.
   */
  uint32_t dtypes[DLPACKGEN_MAX_DTYPES];
  /**
   * The last ndim extents: numbers, DLPACKGEN_DIM(0), DLPACKGEN_ANY (0) or DLPACKGEN_EXTENT_ZERO.
   * If ndim exceeds DLPACKGEN_MAX_EXTENTS, only the extents of the last dimensions.
   */
  int64_t shape[DLPACKGEN_MAX_EXTENTS];
  /** The accepted device types, terminated by 0; only the CPU if the first is 0. */
  int32_t devices[DLPACKGEN_MAX_DEVICES];
  int64_t int_default;  /**< of an optional int or bool */
  double float_default; /**< of an optional float */
};

/** A function and its parameters. It must outlive all calls. */
struct dlpackgen_function {
  const char* name;
  const struct dlpackgen_parameter* parameters;
  uint8_t nparameters; /**< at most DLPACKGEN_MAX_PARAMETERS */
  /**
   * In Python, the function has the additional keyword argument stream: an int as for __dlpack__,
   * or None.
   */
  uint8_t takes_stream;
  /** The names of the symbols in shapes, for messages; the default for NULL is s0, s1 ... */
  const char* dim_names[DLPACKGEN_MAX_DIMS];
};

/**
 * Initializes the name, the parameters (an array) and their number in the initializer of a function
 * (C, C++20), as in `= {DLPACKGEN_FUNCTION("add", parameters), .takes_stream = 1}`.
 */
#define DLPACKGEN_FUNCTION(function, table) \
  .name = function, .parameters = table, .nparameters = (uint8_t)(sizeof(table) / sizeof((table)[0]))

#endif /* DLPACKGEN_PARAMETER_H_ */
