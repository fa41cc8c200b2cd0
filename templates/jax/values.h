/* The arguments of a kernel between its callers and its checks: XLA's frames, and kernels_jax.py,
 * which checks shapes and dtypes while JAX traces. Part of kernels_jax.c. */
#ifndef DLPACKGEN_JAX_VALUES_H_
#define DLPACKGEN_JAX_VALUES_H_

/* What a parameter is to XLA. */
enum dlpackgen_jax_kind {
  DLPACKGEN_JAX_TENSOR,
  DLPACKGEN_JAX_INTEGER,
  DLPACKGEN_JAX_REAL,
  DLPACKGEN_JAX_TRUTH,
  DLPACKGEN_JAX_NUMBER, /* an integer, or real where the dtype of the call is */
  DLPACKGEN_JAX_TEXT,
  DLPACKGEN_JAX_INTEGERS,
  DLPACKGEN_JAX_REALS,
};

struct dlpackgen_jax_parameter {
  uint8_t kind;
  bool is_optional, is_written, is_column_major;
  int attribute; /* its place among the attributes */
};

/* What came for a parameter. kernels_jax.py declares the same. */
struct dlpackgen_jax_value {
  void* items;   /* the tensor, the text, or those of a list; NULL for None */
  int64_t count; /* of a list */
  int64_t integer;
  double real;
  int64_t is_given;
  union {
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
  } narrow; /* a scalar that may be None, in the type that C takes */
};

#define DLPACKGEN_JAX_NDIM (sizeof((struct dlpackgen_result*)0)->shape / sizeof(int64_t))

#if defined(_WIN32)
#define DLPACKGEN_JAX_API __declspec(dllexport)
#else
#define DLPACKGEN_JAX_API __attribute__((visibility("default")))
#endif

#endif /* DLPACKGEN_JAX_VALUES_H_ */
