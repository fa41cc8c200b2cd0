/* The state of a module: Python constants, and the cached access methods of types. Part of
 * dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_STATE_H_
#define DLPACKGEN_PYTHON_STATE_H_

#include <dlpackgen/message.h>
#include "api.h"

#if defined(__GNUC__)
#define DLPACKGEN_LOAD(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define DLPACKGEN_STORE(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#define DLPACKGEN_CLAIM(place) (__atomic_exchange_n(place, 1, __ATOMIC_ACQ_REL) == 0)
#else
/* Requires the GIL: such compilers cannot build free-threaded modules. */
#define DLPACKGEN_LOAD(place) (*(place))
#define DLPACKGEN_STORE(place, value) (*(place) = (value))
#define DLPACKGEN_CLAIM(place) (*(place) ? 0 : (*(place) = 1))
#endif

/* Locks an object if there is no GIL. */
#if defined(Py_GIL_DISABLED) && defined(Py_BEGIN_CRITICAL_SECTION)
#define DLPACKGEN_BEGIN_CRITICAL_SECTION(object) Py_BEGIN_CRITICAL_SECTION(object)
#define DLPACKGEN_END_CRITICAL_SECTION() Py_END_CRITICAL_SECTION()
#else
#define DLPACKGEN_BEGIN_CRITICAL_SECTION(object) {
#define DLPACKGEN_END_CRITICAL_SECTION() }
#endif

/* Queries that some types need for each object, because neither tables nor capsules contain the
 * answer. */
enum {
  dlpackgen_query_neg = 1,
  dlpackgen_query_conj = 2,
  dlpackgen_query_grad = 4,
  dlpackgen_query_mask = 8,
  dlpackgen_query_stop = 16,
  dlpackgen_query_dense = 32
};

/* The access method of a type. Immutable once it is published. */
struct dlpackgen_access {
  PyObject* type;                                  /* a strong reference, so that no other type gets its address */
  const struct dlpackgen_native_reader* reader;    /* reads them */
  const struct dlpackgen_native_reader* rejecting; /* may reject them */
  const DLPackExchangeAPI* api;
  const DLPackExchangeAPI* makes;                         /* allocates tensors, also through its bases; or NULL */
  int (*guard)(PyObject* object, const DLTensor* tensor); /* checks what the table does not; or NULL */
  int (*plain)(PyObject* object); /* reports, without running code, that no queries are needed; or NULL */
  uint8_t queries;
  uint8_t yields;  /* reading runs Python code */
  uint8_t trusted; /* its table runs no Python code, and borrowed memory is writable */
};

/* A backend for the devices of a type, and the source of their streams. */
struct dlpackgen_backend_entry {
  const dlpackgen_backend* table;
  const dlpackgen_stream_source* source;
};

/* In dlpackgen_call.owns: libraries must wait for the work of the call. */
#define DLPACKGEN_ORDER_PENDING (UINT64_C(1) << DLPACKGEN_MAX_PARAMETERS)

/* A type has two slots. If both are occupied, it evicts the first. */
enum { DLPACKGEN_CACHE_BITS = 6, DLPACKGEN_CACHE = 1 << DLPACKGEN_CACHE_BITS };

struct dlpackgen_state {
  struct dlpackgen_state* older; /* of the existing modules */
  struct dlpackgen_access* cache[DLPACKGEN_CACHE];
  struct dlpackgen_access* registered[DLPACKGEN_MAX_REGISTERED];   /* never evicted */
  struct dlpackgen_backend_entry backends[DLPACKGEN_MAX_BACKENDS]; /* ends at an entry without a table */
  PyObject* tensor;                                                /* the module's own type */
  /* Names, and the arguments of __dlpack__. */
  PyObject *dlpack, *dlpack_device, *is_neg, *is_conj, *requires_grad, *stop_gradient, *is_dense;
  PyObject *array_namespace, *from_dlpack;
  PyObject *max_version, *stream, *nothing, *version, *keywords;
};

/* NULL if the object is not a module of this library. */
DLPACKGEN_FAST struct dlpackgen_state* dlpackgen_state_of(PyObject* module) {
  return (struct dlpackgen_state*)PyModule_GetState(module);
}

DLPACKGEN_FAST size_t dlpackgen_hash(const void* type) {
  return (size_t)(((uint64_t)(uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - DLPACKGEN_CACHE_BITS));
}

/* All objects of the state, for the garbage collector. */
static PyObject** dlpackgen_constant(struct dlpackgen_state* state, int i) {
  PyObject** all[] = {
      &state->tensor,        &state->dlpack,        &state->dlpack_device, &state->is_neg,          &state->is_conj,
      &state->requires_grad, &state->stop_gradient, &state->is_dense,      &state->array_namespace, &state->from_dlpack,
      &state->max_version,   &state->stream,        &state->nothing,       &state->version,         &state->keywords,
  };
  return i < (int)(sizeof all / sizeof *all) ? all[i] : NULL;
}

static int dlpackgen_make_names(struct dlpackgen_state* state) {
  const struct {
    PyObject** place;
    const char* text;
  } names[] = {
      {&state->dlpack, "__dlpack__"},
      {&state->dlpack_device, "__dlpack_device__"},
      {&state->is_neg, "is_neg"},
      {&state->is_conj, "is_conj"},
      {&state->requires_grad, "requires_grad"},
      {&state->stop_gradient, "stop_gradient"},
      {&state->is_dense, "is_dense"},
      {&state->array_namespace, "__array_namespace__"},
      {&state->from_dlpack, "from_dlpack"},
      {&state->max_version, "max_version"},
      {&state->stream, "stream"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    *names[i].place = PyUnicode_InternFromString(names[i].text);
    if (!*names[i].place) return -1;
  }
  return 0;
}

static int dlpackgen_make_constants(struct dlpackgen_state* state) {
  if (dlpackgen_make_names(state)) return -1;
  state->nothing = PyTuple_New(0);
  if (state->nothing) state->version = Py_BuildValue("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  if (state->version) state->keywords = Py_BuildValue("{sO}", "max_version", state->version);
  return state->keywords ? 0 : -1;
}

static void dlpackgen_free_access(struct dlpackgen_access* access) {
  PyObject* type = access->type;
  free(access);
  Py_DECREF(type); /* may run code that calls this function again */
}

#endif
