/* The arguments of a kernel, which Python passes to the checks while a host traces, to check shapes
 * and dtypes. */
#ifndef DLPACKGEN_TRACED_VALUES_H_
#define DLPACKGEN_TRACED_VALUES_H_

#include <dlpackgen/scalar.h>

/* The argument for a parameter. Python declares the same struct. */
struct dlpackgen_traced_value {
  void* items;   /* the tensor, the text, or the numbers of a list; NULL for None */
  int64_t count; /* of a list */
  int64_t integer;
  double real;
  int64_t is_present;
  union dlpackgen_scalar narrow; /* a scalar that may be None, in its C type */
};

#if defined(_WIN32)
#define DLPACKGEN_TRACED_API __declspec(dllexport)
#else
#define DLPACKGEN_TRACED_API __attribute__((visibility("default")))
#endif

#endif /* DLPACKGEN_TRACED_VALUES_H_ */
