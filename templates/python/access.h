/* Access methods: determined once per type, then cached. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_ACCESS_H_
#define DLPACKGEN_PYTHON_ACCESS_H_

#include "managed.h"

/* Returns whether an object has an attribute: 1, 0, or -1 with an exception. */
static int dlpackgen_has(PyObject* object, const char* name) {
  PyObject* value;
  const int found = dlpackgen_find(object, name, &value);
  Py_XDECREF(value);
  return found;
}

/* Reads the address of a table from a capsule; NULL for any other object. Before DLPack 1.3,
 * libraries provided an int instead, which is not used: it cannot be verified to be the address of
 * a table. */
static const DLPackExchangeAPI* dlpackgen_table_in(PyObject* value) {
  const DLPackExchangeAPI* table = NULL;
  void* address = NULL;
  if (PyCapsule_IsValid(value, dlpackgen_table_capsule)) address = PyCapsule_GetPointer(value, dlpackgen_table_capsule);
  return dlpackgen_find_exchange_api((const DLPackExchangeAPIHeader*)address, &table) == DLPACKGEN_OK ? table : NULL;
}

/* Returns whether a mapping has a key: 1, 0, or -1 with an exception. PyMapping_HasKeyString()
 * returns 0 for any failure, such as exhausted memory. */
static int dlpackgen_defines(PyObject* mapping, const char* key) {
  PyObject* value = PyMapping_GetItemString(mapping, key);
  if (!value && !PyErr_ExceptionMatches(PyExc_KeyError)) return -1;
  if (!value) PyErr_Clear();
  Py_XDECREF(value);
  return value != NULL;
}

/* Looks up a table through one attribute of a type, if the type itself defines it. Returns 0, with
 * NULL if there is none, or -1 with an exception. */
static int dlpackgen_find_table(PyObject* type, PyObject* own, const char* name, const DLPackExchangeAPI** table) {
  PyObject* value = NULL;
  int found = dlpackgen_defines(own, name);
  *table = NULL;
  if (found > 0) found = dlpackgen_find(type, name, &value);
  if (found > 0) *table = dlpackgen_table_in(value);
  Py_XDECREF(value);
  return found < 0 ? -1 : 0;
}

/* Looks up a table of the type itself, as above. An inherited table does not take changes of the
 * derived type into account. */
static int dlpackgen_table_of(PyObject* type, const DLPackExchangeAPI** table) {
  PyObject* own;
  int failed = dlpackgen_find(type, "__dict__", &own);
  *table = NULL;
  if (failed <= 0) return failed;
  failed = dlpackgen_find_table(type, own, dlpackgen_table_attribute, table);
  if (!failed && !*table) failed = dlpackgen_find_table(type, own, dlpackgen_older_table_attribute, table);
  Py_DECREF(own);
  return failed;
}

/* Looks up a table that allocates tensors of an object's library, as above. An inherited table is
 * used too. */
static int dlpackgen_maker_of(PyObject* type, const DLPackExchangeAPI** table) {
  PyObject* bases = PyObject_GetAttrString(type, "__mro__");
  const Py_ssize_t count = bases && PyTuple_Check(bases) ? PyTuple_Size(bases) : 0;
  int failed = bases ? 0 : -1;
  *table = NULL;
  for (Py_ssize_t i = 0; i < count && !*table && !failed; i++)
    failed = dlpackgen_table_of(PyTuple_GetItem(bases, i), table);
  Py_XDECREF(bases);
  return failed;
}

/* Returns whether the table of Paddle's own type is trusted, as below: only if the tensors for
 * which it must not be used can be recognized beforehand without Python code. */
static int dlpackgen_trusts_paddle(struct dlpackgen_access* access, PyObject* paddle) {
  const uint8_t queries = dlpackgen_query_stop | dlpackgen_query_dense;
  if (!(access->queries & queries)) return 1;
  const int opened = dlpackgen_paddle_open(paddle);
  if (opened > 0) access->plain = dlpackgen_paddle_is_plain;
  return opened;
}

/* Returns whether a type's table runs no Python code and exports only writable memory: 1, 0, or -1
 * with an exception. This applies to torch and Paddle, whose tensors are never read-only. A
 * borrowed tensor has no read-only flag. */
static int dlpackgen_is_trusted(struct dlpackgen_access* access) {
  PyObject* paddle = dlpackgen_paddle_type(access->type);
  if (!paddle && PyErr_Occurred()) return -1;
  const int trusted = paddle ? dlpackgen_trusts_paddle(access, paddle) : 0;
  Py_XDECREF(paddle);
  if (paddle) return trusted;
  const int is_torch = dlpackgen_torch_recognize(access->type);
  return is_torch < 0 ? -1 : is_torch == DLPACKGEN_TYPE_EXACT;
}

/* Returns whether a table is trusted, as above: only if it is the table that the type itself
 * provides, not one that a module has registered for it. */
static int dlpackgen_trusts(struct dlpackgen_access* access) {
  const DLPackExchangeAPI* own;
  if (!access->api) return 0;
  if (dlpackgen_maker_of(access->type, &own)) return -1;
  return own == access->api ? dlpackgen_is_trusted(access) : 0;
}

/* Reads the module's own tensors. */
static int dlpackgen_borrow_own(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags);

/* They are read through their struct: no foreign code runs, no memory is allocated, and the flags
 * are known. */
static const struct dlpackgen_native_reader dlpackgen_reader_own = {
    NULL, NULL, NULL, NULL, dlpackgen_borrow_own, NULL, NULL, NULL, 0, NULL, NULL};

/* Compares a type with the type that a row's names currently refer to. */
static int dlpackgen_recognize_by_name(const struct dlpackgen_native_reader* table, PyObject* type) {
  PyObject* base;
  int is = dlpackgen_find_imported(table->module, table->type, &base) < 0 ? -1 : DLPACKGEN_TYPE_OTHER;
  if (base && PyType_Check(base) && PyType_IsSubtype((PyTypeObject*)type, (PyTypeObject*)base))
    is = base == type ? DLPACKGEN_TYPE_EXACT : DLPACKGEN_TYPE_DERIVED;
  Py_XDECREF(base);
  return is;
}

/* Compares a type with one native reader. Returns 1 if the other readers need not be compared, 0,
 * or -1 with an exception. */
static int dlpackgen_match_reader(struct dlpackgen_access* access, const struct dlpackgen_native_reader* table) {
  PyObject* const type = access->type;
  const int is = table->recognize ? table->recognize(type) : dlpackgen_recognize_by_name(table, type);
  int opened = 0;
  if (is == DLPACKGEN_TYPE_EXACT && table->open && dlpackgen_native_readers_are_on()) opened = table->open(type);
  if (is < 0 || opened < 0) return dlpackgen_failed(PyExc_RuntimeError, "a native reader could not be opened");
  if (opened) access->reader = table;
  else if (is != DLPACKGEN_TYPE_OTHER && table->reject && !access->rejecting) access->rejecting = table;
  return opened;
}

/* Returns whether a type has both attributes: 1, 0, or -1 with an exception. */
static int dlpackgen_has_both(PyObject* type, const char* first, const char* second) {
  const int has = dlpackgen_has(type, first);
  return has > 0 ? dlpackgen_has(type, second) : has;
}

/* Determines which methods of a type's objects must be called: for types like torch's or Paddle's,
 * and masked arrays. Native readers check these properties themselves. A foreign table is not
 * trusted to reject tensors without memory, so the methods are called before it. Returns 0, or -1
 * with an exception. */
static int dlpackgen_find_queries(struct dlpackgen_access* access) {
  PyObject* const type = access->type;
  const int signs = dlpackgen_has_both(type, "is_neg", "is_conj");
  const int grads = signs > 0 ? dlpackgen_has(type, "requires_grad") : signs;
  const int masks = grads < 0 ? -1 : dlpackgen_has_both(type, "mask", "filled");
  const int stops = masks < 0 ? -1 : dlpackgen_has(type, "stop_gradient");
  const int dense = stops < 0 ? -1 : access->api ? dlpackgen_has(type, "is_dense") : 0;
  if (dense < 0) return -1;
  if (signs > 0) access->queries |= dlpackgen_query_neg | dlpackgen_query_conj;
  if (grads > 0) access->queries |= dlpackgen_query_grad;
  if (masks > 0) access->queries |= dlpackgen_query_mask;
  if (stops > 0) access->queries |= dlpackgen_query_stop;
  if (dense > 0) access->queries |= dlpackgen_query_dense;
  return 0;
}

/* Returns the table that was registered for a type, or NULL. */
static const DLPackExchangeAPI* dlpackgen_registered(const struct dlpackgen_state* state, const PyObject* type) {
  for (int i = 0; i < DLPACKGEN_MAX_REGISTERED; i++) {
    const struct dlpackgen_access* known = DLPACKGEN_LOAD(&state->registered[i]);
    if (!known) break;
    if (known->type == type) return DLPACKGEN_LOAD(&known->api);
  }
  return NULL;
}

/* Assigns the table of Paddle's tensors to Paddle's parameters. Returns 0, or -1 with an
 * exception. */
static int dlpackgen_fill_paddle(struct dlpackgen_access* access) {
  PyObject* paddle = dlpackgen_paddle_type(access->type);
  if (!paddle) return PyErr_Occurred() ? -1 : 0;
  access->api = access->makes;
  Py_DECREF(paddle);
  return 0;
}

/* Looks up the tables that import and allocate objects of a type. Returns 0, or -1 with an
 * exception. */
static int dlpackgen_fill_tables(struct dlpackgen_access* access, const DLPackExchangeAPI* registered) {
  access->api = access->makes = registered;
  if (registered) return 0;
  if (dlpackgen_table_of(access->type, &access->api)) return -1;
  access->makes = access->api;
  if (access->api) return 0;
  if (dlpackgen_maker_of(access->type, &access->makes)) return -1;
  return access->makes ? dlpackgen_fill_paddle(access) : 0;
}

/* Looks up the native reader of a type. Returns 0, also if there is none, or -1 with an
 * exception. */
static int dlpackgen_find_reader(struct dlpackgen_access* access) {
  int found = 0;
  for (int i = 0; dlpackgen_native_readers[i] && !found; i++)
    found = dlpackgen_match_reader(access, dlpackgen_native_readers[i]);
  return found < 0 ? -1 : 0;
}

static int dlpackgen_fill_access(struct dlpackgen_state* state, struct dlpackgen_access* access) {
  const DLPackExchangeAPI* registered = dlpackgen_registered(state, access->type);
  if (dlpackgen_fill_tables(access, registered)) return -1;
  if (access->type == state->tensor) {
    access->reader = &dlpackgen_reader_own;
    if (!registered) access->api = NULL; /* which would have to report a stream */
  } else if (dlpackgen_find_reader(access)) return -1;
  if (dlpackgen_find_queries(access)) return -1;
  const int trusted = dlpackgen_trusts(access);
  if (trusted < 0) return -1;
  access->trusted = (uint8_t)trusted;
  if (registered && access->reader) {
    access->guard = access->reader->guard;
    access->reader = NULL;
  }
  if (access->guard) access->queries = 0;
  if (access->reader) access->yields = access->reader->yields != 0;
  else access->yields = !access->trusted || (access->queries && !access->plain) || access->rejecting;
  return 0;
}

static void dlpackgen_retire(struct dlpackgen_access* old) {
#ifdef Py_GIL_DISABLED
  (void)old; /* another thread may still be reading it; the cache is small */
#else
  dlpackgen_free_access(old);
#endif
}

/* Stores an access method in one of the two slots of its type. */
static void dlpackgen_publish(struct dlpackgen_state* state, struct dlpackgen_access* access) {
  struct dlpackgen_access** place = &state->cache[dlpackgen_hash(access->type)];
  struct dlpackgen_access** second = &state->cache[dlpackgen_hash(access->type) ^ 1];
  if (*place && (*place)->type != access->type && (!*second || (*second)->type == access->type)) place = second;
  struct dlpackgen_access* old = *place;
  DLPACKGEN_STORE(place, access);
  if (old) dlpackgen_retire(old);
}

/* Determines the access method of a new type. It is complete before it is published, because the
 * lookup may run code that calls this function again. */
static int dlpackgen_look_up_once(struct dlpackgen_state* state, PyObject* type) {
  struct dlpackgen_access* made = (struct dlpackgen_access*)calloc(1, sizeof *made);
  if (!made) {
    PyErr_NoMemory();
    return -1;
  }
  Py_INCREF(type);
  made->type = type;
  if (dlpackgen_fill_access(state, made)) {
    struct dlpackgen_pending pending = dlpackgen_catch();
    dlpackgen_free_access(made);
    dlpackgen_resume(pending);
    return -1;
  }
  dlpackgen_publish(state, made);
  return 0;
}

DLPACKGEN_FAST const struct dlpackgen_access* dlpackgen_cached(struct dlpackgen_state* state, PyObject* type) {
  const size_t place = dlpackgen_hash(type);
  const struct dlpackgen_access* access = DLPACKGEN_LOAD(&state->cache[place]);
  if (!DLPACKGEN_RARE(!access || access->type != type)) return access;
  access = DLPACKGEN_LOAD(&state->cache[place ^ 1]);
  return access && access->type == type ? access : NULL;
}

/* Releasing the evicted type may run code that evicts the new one. */
DLPACKGEN_SLOW static const struct dlpackgen_access* dlpackgen_look_up(struct dlpackgen_state* state, PyObject* type) {
  const struct dlpackgen_access* access = NULL;
  while (!access && dlpackgen_look_up_once(state, type) == 0) access = dlpackgen_cached(state, type);
  return access;
}

/* Returns the access method of an object's type. It is valid until the next call that may run
 * Python code, which may evict it. Returns NULL with an exception. */
DLPACKGEN_FAST const struct dlpackgen_access* dlpackgen_access_of(struct dlpackgen_state* state, PyObject* object) {
  PyObject* const type = (PyObject*)Py_TYPE(object);
  const struct dlpackgen_access* access = dlpackgen_cached(state, type);
  return DLPACKGEN_RARE(!access) ? dlpackgen_look_up(state, type) : access;
}

/* Removes a type from the cache, so that it is looked up again. */
static void dlpackgen_evict(struct dlpackgen_state* state, const PyObject* type) {
  const size_t place = dlpackgen_hash(type);
  for (size_t i = 0; i < 2; i++) {
    struct dlpackgen_access* old = state->cache[place ^ i];
    if (!old || old->type != type) continue;
    DLPACKGEN_STORE(&state->cache[place ^ i], NULL);
    dlpackgen_retire(old);
  }
}

/* Returns the slot of a registered type, or the first free slot, or DLPACKGEN_MAX_REGISTERED if
 * there is none. */
static int dlpackgen_place_of(const struct dlpackgen_state* state, const PyObject* type) {
  int i = 0;
  while (i < DLPACKGEN_MAX_REGISTERED && state->registered[i] && state->registered[i]->type != type) i++;
  return i;
}

/* Stores a type with a table in a free slot. */
static int dlpackgen_enter(struct dlpackgen_state* state, int place, PyObject* type, const DLPackExchangeAPI* table) {
  if (place == DLPACKGEN_MAX_REGISTERED) {
    PyErr_Format(PyExc_RuntimeError, "too many exchange tables: at most %d", (int)DLPACKGEN_MAX_REGISTERED);
    return -1;
  }
  struct dlpackgen_access* made = (struct dlpackgen_access*)calloc(1, sizeof *made);
  if (!made) {
    PyErr_NoMemory();
    return -1;
  }
  Py_INCREF(type);
  made->type = type;
  made->api = table;
  DLPACKGEN_STORE(&state->registered[place], made);
  return 0;
}

DLPACKGEN_PYTHON_API int dlpackgen_register_exchange_api(PyObject* module, PyObject* type,
                                                         const DLPackExchangeAPI* table) {
  struct dlpackgen_state* state = dlpackgen_state_of(module);
  const DLPackExchangeAPI* ours = NULL;
  const dlpackgen_error_code error = table ? dlpackgen_find_exchange_api(&table->header, &ours) : DLPACKGEN_ERROR_NULL;
  if (!PyType_Check(type)) {
    PyObject* name = PyType_GetName(Py_TYPE(type));
    if (name) PyErr_Format(PyExc_TypeError, "expected a type for the exchange table, got an object of %U", name);
    Py_XDECREF(name);
    return -1;
  }
  if (error != DLPACKGEN_OK)
    return dlpackgen_reject("this exchange table cannot be used: %s", dlpackgen_error_string(error));
  const int place = dlpackgen_place_of(state, type);
  if (place < DLPACKGEN_MAX_REGISTERED && state->registered[place])
    DLPACKGEN_STORE(&state->registered[place]->api, ours);
  else if (dlpackgen_enter(state, place, type, ours)) return -1;
  dlpackgen_evict(state, type);
  return 0;
}

#endif
