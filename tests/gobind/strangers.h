/* Exchange tables and objects in C, as strangers to the Go bindings, and calls of
 * a table's functions as C makes them. */
#include <stddef.h>
#include <stdint.h>

#include "dlpack.h"

enum { STRANGER_NDIM = 80 };

/* An object of the tables here: two rows of three float32, until a test spoils
 * it. Counts are by atomic operations. */
typedef struct stranger {
  DLTensor tensor;
  int64_t shape[STRANGER_NDIM];
  int64_t strides[STRANGER_NDIM];
  float data[6];
  uint32_t major, minor; /* of its managed tensors */
  uint64_t flags;
  int fails;   /* its functions return this */
  int nothing; /* its functions return success, and give nothing */
  int borrowed, owned, deleted;
} stranger;

stranger* stranger_new(void);
int stranger_count(int* counter);

/* What functions do that get no object. */
enum {
  BEHAVE,
  FAIL_TOLD_ONCE,
  FAIL_TOLD_TWICE,
  FAIL_UNTOLD,
  FAIL_TOLD_NULL,
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

/* A table with all functions of strangers, which lives for ever; NULL when
 * memory is out. */
DLPackExchangeAPI* strange_table(void);

/* A header whose page ends right behind it. */
DLPackExchangeAPIHeader* header_alone(uint32_t major);

/* What dlpackgen/tensor.h says of a chain of tables: 0 for a table that can be used,
 * which *found then is. */
int find_table(const DLPackExchangeAPIHeader* newest, const DLPackExchangeAPI** found);

/* An explain function: it reads what failing functions leave on their thread. */
int explain_calls(void);
void explain_pending(void* error_ctx, void (*SetError)(void* error_ctx, const char* kind, const char* message));

/* A Raise function for produced tables: counts, and keeps the last texts. */
void raise_error(void* error_ctx, const char* kind, const char* message);
typedef struct told {
  int times;
  char kind[64], message[256];
} told;
told take_raised(void);

/* Calls of a table. */
int call_borrow(const DLPackExchangeAPI* api, uintptr_t object, DLTensor* out);
int call_managed(const DLPackExchangeAPI* api, uintptr_t object, DLManagedTensorVersioned** out);
int call_wrap(const DLPackExchangeAPI* api, DLManagedTensorVersioned* tensor, void** out);
int call_stream(const DLPackExchangeAPI* api, int32_t type, int32_t id, void** out);
int call_allocate(const DLPackExchangeAPI* api, DLTensor* prototype, DLManagedTensorVersioned** out, told* t);
int call_allocate_silently(const DLPackExchangeAPI* api, DLTensor* prototype, DLManagedTensorVersioned** out);

/* Calls view, managed, deleter, allocator and deleter, that many times on each
 * of that many threads that Go never made; gives the number of failures. */
int call_on_threads(const DLPackExchangeAPI* api, uintptr_t object, int rounds, int threads);

/* An object that holds another's address behind a head, as Python's do. */
typedef struct embedded {
  void* head[2];
  uintptr_t object;
} embedded;
