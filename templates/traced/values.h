/* The arguments of a kernel between its callers and its checks. Python fills them while a host
 * traces, to check shapes and dtypes. */
#ifndef DLPACKGEN_TRACED_VALUES_H_
#define DLPACKGEN_TRACED_VALUES_H_

/* What came for a parameter. checks.py declares the same. */
struct dlpackgen_traced_value {
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

#if defined(_WIN32)
#define DLPACKGEN_TRACED_API __declspec(dllexport)
#else
#define DLPACKGEN_TRACED_API __attribute__((visibility("default")))
#endif

#endif /* DLPACKGEN_TRACED_VALUES_H_ */
