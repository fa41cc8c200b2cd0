/* tvm-ffi functions with unusual behaviour. */
#include <stddef.h>
#include <stdint.h>

#define ODD(name)                                                                                             \
  __attribute__((visibility("default"))) int __tvm_ffi_##name(void* self, const int64_t* args, int32_t count, \
                                                              int64_t* result)

/* The error is set in the environment, like Python's. */
ODD(elsewhere) {
  (void)self, (void)args, (void)count, (void)result;
  return -2;
}

ODD(silent) {
  (void)self, (void)args, (void)count, (void)result;
  return -1;
}

/* Calls the first argument, a Function, with the second one as a movable reference. */
ODD(moves) {
  int (*call)(void*, const int64_t*, int32_t, int64_t*) =
      *(int (**)(void*, const int64_t*, int32_t, int64_t*))(args[1] + 24);
  int64_t object = args[3];
  const int64_t moved[2] = {10, (int64_t)(intptr_t)&object};
  (void)self, (void)count;
  return call((void*)(intptr_t)args[1], moved, 1, result);
}

/* Returns a C string. */
ODD(names) {
  (void)self, (void)args, (void)count;
  result[0] = 8;
  result[1] = (int64_t)(intptr_t)"a name";
  return 0;
}
