/**
 * \file parameter.h
 * What a function demands of its arguments, as tables that messages, checks and
 * callers share. C11 and C++17.
 */
#ifndef DLPACKGEN_PARAMETER_H_
#define DLPACKGEN_PARAMETER_H_

#include <dlpackgen/names.h>
#include <stdint.h>

/* Numbers that messages tell, too. */
#define DLPACKGEN_MOST_PARAMETERS 32
#define DLPACKGEN_LAST_SYMBOL 7

enum {
  DLPACKGEN_MAX_PARAMETERS = DLPACKGEN_MOST_PARAMETERS,
  DLPACKGEN_MAX_DTYPES = 16,
  DLPACKGEN_MAX_EXTENTS = 8,
  DLPACKGEN_MAX_DIMS = DLPACKGEN_LAST_SYMBOL + 1,
  DLPACKGEN_MAX_DEVICES = 4
};

/** The most dimensions of a tensor; DLPACKGEN_MAX_NDIM of tensor.h. */
#define DLPACKGEN_MAX_NDIM 64

/** What a parameter takes. */
enum dlpackgen_kind {
  DLPACKGEN_KIND_TENSOR = 0,
  DLPACKGEN_KIND_INT = 1,   /**< in Python, whatever has __index__, in 64 bits */
  DLPACKGEN_KIND_FLOAT = 2, /**< in Python, whatever has __float__ */
  DLPACKGEN_KIND_BOOL = 3   /**< true or false */
};

/** How the elements of a tensor must lie. */
enum dlpackgen_layout {
  DLPACKGEN_LAYOUT_ANY = 0,                  /**< anyhow */
  DLPACKGEN_LAYOUT_C_CONTIGUOUS = 1,         /**< one after the other, the last dimension fastest */
  DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER = 2, /**< without gaps, in any order of the dimensions */
  DLPACKGEN_LAYOUT_INNER_CONTIGUOUS = 3      /**< the last dimension without gaps, the others anyhow */
};

/** In a shape: an extent that is not checked, as where nothing is written. */
#define DLPACKGEN_ANY 0
/** In a shape: the extent 0, which by itself means DLPACKGEN_ANY. */
#define DLPACKGEN_EXTENT_ZERO (-1)
/** An extent that must be the same wherever the symbol stands; which is 0 to 7. */
#define DLPACKGEN_DIM(which) (-2 - (which))
/** A device type in parameter.devices: all of them. */
#define DLPACKGEN_ANY_DEVICE (-1)

/** For same_dtype_as and same_shape_as: the parameter of an index, counted from 0. */
#define DLPACKGEN_PARAM(index) ((index) + 1)

/** One parameter of a function. What is left out of an initializer is 0. */
struct dlpackgen_parameter {
  const char* name;
  uint8_t kind;          /**< an enum dlpackgen_kind */
  uint8_t optional;      /**< it may be left out, or be None */
  uint8_t writable;      /**< a tensor that is written to: read-only ones are rejected */
  uint8_t layout;        /**< an enum dlpackgen_layout */
  uint8_t same_dtype_as; /**< DLPACKGEN_PARAM(i): its dtype is that of an earlier parameter; 0: any */
  uint8_t same_shape_as; /**< DLPACKGEN_PARAM(i): its shape is that of an earlier parameter; 0: any */
  uint8_t ndim;          /**< dimensions */
  uint8_t leading_dims;  /**< there may be further dimensions before these */
  /**
   * The types of elements that it takes, DLPACKGEN_DTYPE_FLOAT32 ..., up to a 0; all when the first
   * is 0.
   */
  uint32_t dtypes[DLPACKGEN_MAX_DTYPES];
  /**
   * The last rank extents: numbers, DLPACKGEN_DIM(0), DLPACKGEN_ANY (0) or DLPACKGEN_EXTENT_ZERO.
   * Beyond DLPACKGEN_MAX_EXTENTS dimensions, those of the last ones alone.
   */
  int64_t shape[DLPACKGEN_MAX_EXTENTS];
  /** The device types that it takes, up to a 0; the CPU alone when the first is 0. */
  int32_t devices[DLPACKGEN_MAX_DEVICES];
  int64_t int_default;  /**< of an optional int or bool */
  double float_default; /**< of an optional float */
};

/** A function and its parameters. Must be kept as long as what calls it. */
struct dlpackgen_function {
  const char* name;
  const struct dlpackgen_parameter* parameters;
  uint8_t nparameters; /**< at most DLPACKGEN_MAX_PARAMETERS */
  /**
   * In Python, the function lets go of the GIL while it works: shape and strides are
   * copied before they are checked, so that no other thread can change what was
   * checked. Otherwise they are used where they are.
   */
  uint8_t releases_gil;
  /**
   * In Python, it takes a further argument stream, by keyword: an int as __dlpack__ takes it, or
   * None.
   */
  uint8_t takes_stream;
  /** The names of the symbols in shapes, for messages; where one is NULL, it is s0, s1 ... */
  const char* dim_names[DLPACKGEN_MAX_DIMS];
};

/**
 * The name, the parameters (an array) and their number, for the initializer of a function (C,
 * C++20), as in `= {DLPACKGEN_FUNCTION("add", parameters), .releases_gil = 1}`.
 */
#define DLPACKGEN_FUNCTION(function, table) \
  .name = function, .parameters = table, .nparameters = (uint8_t)(sizeof(table) / sizeof((table)[0]))

#endif /* DLPACKGEN_PARAMETER_H_ */
