/* Exchange tables and objects in C, independent of the Go bindings, and calls of a table's
 * functions from C. */
#include <stddef.h>
#include <stdint.h>

#include "dlpack.h"

enum { UNTRUSTED_NDIM = 80 };

/* An object of these tables: two rows of three float32, which tests may damage. Counts are changed
 * by atomic operations. */
typedef struct untrusted {
  DLTensor tensor;
  int64_t shape[UNTRUSTED_NDIM];
  int64_t strides[UNTRUSTED_NDIM];
  float data[6];
  uint32_t major, minor; /* of its managed tensors */
  uint64_t flags;
  int fails;   /* its functions return this */
  int nothing; /* its functions return success without a result */
  int borrowed, owned, deleted;
} untrusted;

untrusted* untrusted_new(void);
int untrusted_count(int* counter);

/* The behaviour of functions without an object argument. */
enum {
  BEHAVE,
  FAIL_REPORTED_ONCE,
  FAIL_REPORTED_TWICE,
  FAIL_UNREPORTED,
  FAIL_REPORTED_NULL,
  TELL_AND_SUCCEED,
  GIVE_NOTHING,
  LIE,
  FAIL_AND_DELETE
};
typedef struct habits {
  int allocate, wrap, stream, explain;
} habits;
void set_habits(habits h);
int stream_calls(void);

/* A table with all functions of untrusted producers, which is never freed; NULL if memory is
 * exhausted. */
DLPackExchangeAPI* strange_table(void);

/* A header whose memory ends right after it. */
DLPackExchangeAPIHeader* header_alone(uint32_t major);

/* The result of dlpackgen/tensor.h for a chain of tables: 0 for a usable table, which *found
 * receives. */
int find_table(const DLPackExchangeAPIHeader* newest, const DLPackExchangeAPI** found);

/* An explain function: it reads the errors that failing functions leave on their thread. */
int explain_calls(void);
void explain_pending(void* error_ctx, void (*SetError)(void* error_ctx, const char* kind, const char* message));

/* A Raise function for produced tables: counts, and keeps the last texts. */
void raise_error(void* error_ctx, const char* kind, const char* message);
typedef struct reported {
  int times;
  char kind[64], message[256];
} reported;
reported take_raised(void);

/* Calls of a table. */
int call_borrow(const DLPackExchangeAPI* api, uintptr_t object, DLTensor* out);
int call_managed(const DLPackExchangeAPI* api, uintptr_t object, DLManagedTensorVersioned** out);
int call_wrap(const DLPackExchangeAPI* api, DLManagedTensorVersioned* tensor, void** out);
int call_stream(const DLPackExchangeAPI* api, int32_t type, int32_t id, void** out);
int call_allocate(const DLPackExchangeAPI* api, DLTensor* prototype, DLManagedTensorVersioned** out, reported* t);
int call_allocate_silently(const DLPackExchangeAPI* api, DLTensor* prototype, DLManagedTensorVersioned** out);

/* Calls view, managed, deleter, allocator and deleter, repeatedly on each of several threads that
 * Go did not create; returns the number of failures. */
int call_on_threads(const DLPackExchangeAPI* api, uintptr_t object, int rounds, int threads);

/* An object that contains another object's address after a header, like Python objects. */
typedef struct embedded {
  void* head[2];
  uintptr_t object;
} embedded;
