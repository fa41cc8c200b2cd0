//go:build ignore && cgo && !(386 || arm || mips || mipsle || wasm)

#include "python.h"

#include "dlpackgen_codes.h"
#include "texts.h"

#define py dlp_00000000_py_python
#define BufferError dlp_00000000_py_exception("BufferError")
#define TypeError dlp_00000000_py_exception("TypeError")
#define AttributeError dlp_00000000_py_exception("AttributeError")
#define KeyError dlp_00000000_py_exception("KeyError")

typedef struct dlp_00000000_py_call call;
typedef struct dlp_00000000_py_access access;

/* Unless a comment excludes it, functions of this file may run Python code, which may resize, free
 * or retype the objects of other arguments. Therefore, operations that run code come first, tensors
 * are borrowed afterwards, and earlier borrowed tensors are compared again. */

/* The cached properties of a type. The strong reference to the type prevents reuse of its
 * address. */
struct entry {
  PyObject* type;
  uintptr_t table;
  bool quiet; /* the table lends tensors without running Python code */
  bool can_negate, can_conjugate, has_grad, has_mask, has_dense;
};

/* Each type has one slot, and evicts the previous type in it. Guarded by the GIL. */
enum { CACHE_BITS = 6 };
static struct entry cache[1 << CACHE_BITS];

static struct entry* place_of(PyObject* type) {
  return &cache[((uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - CACHE_BITS)];
}

/* Returns an attribute, or NULL without an exception if it is missing, or NULL with an
 * exception. */
static PyObject* optional(PyObject* object, const char* name) {
  PyObject* value = py.PyObject_GetAttrString(object, name);
  if (!value && py.PyErr_ExceptionMatches(AttributeError)) py.PyErr_Clear();
  return value;
}

/* The same for the entry of a mapping. */
static PyObject* optional_entry(PyObject* mapping, const char* key) {
  PyObject* value = py.PyMapping_GetItemString(mapping, key);
  if (!value && py.PyErr_ExceptionMatches(KeyError)) py.PyErr_Clear();
  return value;
}

/* Also returns false with an exception, even an earlier one. */
static bool has(PyObject* object, const char* name) {
  PyObject* value = py.PyErr_Occurred() ? NULL : optional(object, name);
  if (!value) return false;
  py.Py_DecRef(value);
  return true;
}

/* Reads a table's address from a capsule; 0 for any other object. An int, as in DLPack 1.2, is not
 * used: it cannot be verified to be an address. */
static uintptr_t address_of(PyObject* value) {
  static const char name[] = DLPACKGEN_CAPSULE_EXCHANGE_API;
  return py.PyCapsule_IsValid(value, name) ? (uintptr_t)py.PyCapsule_GetPointer(value, name) : 0;
}

/* Looks up a table of the type itself: an inherited table does not take changes of the derived type
 * into account. Also returns 0 with an exception. */
static uintptr_t table_of(PyObject* type) {
  static const char name[] = DLPACKGEN_ATTRIBUTE_EXCHANGE_API;
  PyObject* own = optional(type, "__dict__");
  PyObject* entry = own ? optional_entry(own, name) : NULL;
  PyObject* value = entry ? optional(type, name) : NULL;
  uintptr_t table = value ? address_of(value) : 0;
  py.Py_DecRef(own);
  py.Py_DecRef(entry);
  py.Py_DecRef(value);
  return table;
}

/* Returns an attribute of an imported module; NULL, with or without an exception, if there is
 * none. */
static PyObject* imported(const char* module, const char* name) {
  PyObject* modules = py.PySys_GetObject("modules"); /* borrowed */
  PyObject* found = modules ? optional_entry(modules, module) : NULL;
  PyObject* value = found ? optional(found, name) : NULL;
  py.Py_DecRef(found);
  return value;
}

static bool derives(PyObject* type, PyObject* base) {
  PyObject* kind = py.PyObject_Type(base);
  bool is_type = py.PyType_GetFlags(kind) >> TYPE_SUBCLASS_BIT & 1;
  py.Py_DecRef(kind);
  return is_type && py.PyType_IsSubtype(type, base);
}

/* Returns whether a type is the real torch.Tensor, whose table only reads C++ objects. Also returns
 * false with an exception. */
static bool is_torch(PyObject* type) {
  PyObject* tensor = imported("torch", "Tensor");
  PyObject* base = tensor == type ? imported("torch._C", "TensorBase") : NULL;
  bool is = base && derives(type, base);
  py.Py_DecRef(tensor);
  py.Py_DecRef(base);
  return is;
}

/* Determines the properties of a type. False with an exception. */
static bool study(struct entry* made) {
  PyObject* type = made->type;
  made->table = table_of(type);
  if (py.PyErr_Occurred()) return false;
  made->quiet = made->table && (dlp_00000000_py_is_own(type) || is_torch(type));
  made->can_negate = has(type, "is_neg");
  made->can_conjugate = has(type, "is_conj");
  made->has_grad = has(type, "requires_grad");
  made->has_mask = has(type, "mask") && has(type, "filled");
  made->has_dense = made->table && !made->quiet && has(type, "is_dense");
  return !py.PyErr_Occurred();
}

/* Stores a type in its slot. Its properties are complete before, and the evicted type is released
 * afterwards, because both may run code that calls this function again. False with an exception. */
static bool learn(PyObject* type) {
  struct entry made = {.type = type}, *place = place_of(type);
  if (!study(&made)) return false;
  PyObject* old = place->type;
  py.Py_IncRef(type);
  *place = made;
  py.Py_DecRef(old);
  return true;
}

/* Copies the properties of an object's type, with a reference to the type; false with an
 * exception. */
static bool known(PyObject* object, struct entry* out) {
  PyObject* type = py.PyObject_Type(object);
  if (!type) return false;
  const struct entry* place = place_of(type);
  bool fine = true;
  while (fine && place->type != type) fine = learn(type);
  if (fine) *out = *place;
  else py.Py_DecRef(type);
  return fine;
}

/* Names, as objects that Python keeps, and the arguments of __dlpack__. */
static struct {
  PyObject *dlpack, *is_neg, *is_conj, *is_dense, *requires_grad;
  PyObject *keywords, *version;
} constant;

bool dlp_00000000_py_make_constants(void) {
  if (constant.version) return true;
  constant.dlpack = py.PyUnicode_InternFromString("__dlpack__");
  constant.is_neg = py.PyUnicode_InternFromString("is_neg");
  constant.is_conj = py.PyUnicode_InternFromString("is_conj");
  constant.is_dense = py.PyUnicode_InternFromString("is_dense");
  constant.requires_grad = py.PyUnicode_InternFromString("requires_grad");
  constant.keywords = py.PyTuple_New(1);
  constant.version = py.PyTuple_New(2);
  if (py.PyErr_Occurred()) return false;
  py.PyTuple_SetItem(constant.keywords, 0, py.PyUnicode_InternFromString("max_version"));
  py.PyTuple_SetItem(constant.version, 0, py.PyLong_FromLongLong(DLPACK_MAJOR_VERSION));
  py.PyTuple_SetItem(constant.version, 1, py.PyLong_FromLongLong(DLPACK_MINOR_VERSION));
  return !py.PyErr_Occurred();
}

/* Converts a result to a truth value, and releases it: 1, 0, or -1 with an exception. */
static int truth(PyObject* answer) {
  if (!answer) return -1;
  int is_true = py.PyObject_IsTrue(answer);
  py.Py_DecRef(answer);
  return is_true;
}

static int query(PyObject* object, PyObject* method) {
  return truth(py.PyObject_VectorcallMethod(method, &object, 1, NULL));
}

static bool reject(const char* why) {
  py.PyErr_SetString(BufferError, why);
  return false;
}

/* Some tensors have values that differ from their memory, which neither tables nor capsules
 * report. */
static bool plain(PyObject* object, const struct entry* type) {
  if (type->has_mask) return reject(DLPACKGEN_TEXT_MASKED);
  int negated = type->can_negate ? query(object, constant.is_neg) : 0;
  if (negated > 0) return reject(DLPACKGEN_TEXT_NEGATED);
  return negated == 0;
}

/* Automatic differentiation does not notice writes to a tensor, and would compute wrong gradients.
 * Tensors that require a gradient are therefore read-only. False with an exception. */
static bool grad_flags(PyObject* object, uint64_t* flags) {
  int required = truth(py.PyObject_GetAttr(object, constant.requires_grad));
  if (required > 0) *flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  return required >= 0;
}

/* Stores the properties of a type as the access method of an argument, and steals the reference to
 * the type. */
static void fill_access(call* c, intptr_t i, const struct entry* type) {
  const uint64_t bit = UINT64_C(1) << i;
  access* r = &c->accesses[i];
  const uintptr_t old = c->has_access & bit ? r->type : 0;
  if (c->borrowed & bit && old != (uintptr_t)type->type) c->changed = (int32_t)i + 1;
  c->has_access |= bit;
  r->type = (uintptr_t)type->type;
  r->table = type->table;
  r->flags = 0;
  r->may_conjugate = type->can_conjugate;
  r->may_be_sparse = type->has_dense;
  r->requested = false;
  /* Only the package's own tensors without flags can be lent. */
  r->quiet = type->quiet && !(dlp_00000000_py_is_own(type->type) && dlp_00000000_py_flags(c->arguments[i]));
  py.Py_DecRef((PyObject*)old);
}

static bool find_access(call* c, intptr_t i) {
  PyObject* object = c->arguments[i];
  struct entry type;
  if (!known(object, &type)) return false;
  fill_access(c, i, &type);
  return plain(object, &type) && (!type.has_grad || grad_flags(object, &c->accesses[i].flags));
}

void dlp_00000000_py_forget(call* c) {
  for (intptr_t i = 0; c->has_access >> i; i++)
    if (c->has_access >> i & 1) py.Py_DecRef((PyObject*)c->accesses[i].type);
}

/* Runs no code: the object has a reference to its type. */
static bool has_type(const call* c, intptr_t i) {
  PyObject* type = py.PyObject_Type(c->arguments[i]);
  py.Py_DecRef(type);
  return (uintptr_t)type == c->accesses[i].type;
}

static bool retyped(const call* c, intptr_t i) { return !has_type(c, i) && !reject(DLPACKGEN_TEXT_OTHER_TYPE); }

static bool same_numbers(const int64_t* a, const int64_t* b, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    if (a[i] != b[i]) return false;
  return true;
}

static bool same_tensor(const DLTensor* a, const DLTensor* b) {
  if (a->data != b->data || a->byte_offset != b->byte_offset || a->ndim != b->ndim) return false;
  if (a->device.device_type != b->device.device_type || a->device.device_id != b->device.device_id) return false;
  if (a->dtype.code != b->dtype.code || a->dtype.bits != b->dtype.bits || a->dtype.lanes != b->dtype.lanes)
    return false;
  if (a->ndim > 0 && !a->strides != !b->strides) return false;
  return same_numbers(a->shape, b->shape, a->ndim) && (!a->strides || same_numbers(a->strides, b->strides, a->ndim));
}

/* Runs no code: only tables that run no code lend tensors. */
static bool exports_the_same(const call* c, intptr_t i) {
  const access* r = &c->accesses[i];
  const DLPackExchangeAPI* table = (const DLPackExchangeAPI*)r->exported_by;
  DLTensor now = {0};
  if (!has_type(c, i)) return false;
  if (!table->dltensor_from_py_object_no_sync(c->arguments[i], &now))
    return same_tensor(&now, (const DLTensor*)r->borrowed);
  py.PyErr_Clear();
  return false;
}

void dlp_00000000_py_recheck(uintptr_t address) {
  call* c = (void*)address;
  for (intptr_t i = 0; c->borrowed >> i && !c->changed; i++)
    if (c->borrowed >> i & 1 && !exports_the_same(c, i)) c->changed = (int32_t)i + 1;
}

intptr_t dlp_00000000_py_settle(uintptr_t address, intptr_t first, intptr_t count) {
  call* c = (void*)address;
  intptr_t found = 0;
  if (c->borrowed) dlp_00000000_py_recheck(address);
  while (found < count && !retyped(c, first + found)) found++;
  return found;
}

intptr_t dlp_00000000_py_find_accesses(uintptr_t address, intptr_t first, intptr_t count) {
  intptr_t found = 0;
  while (found < count && find_access((void*)address, first + found)) found++;
  return found < count ? found : dlp_00000000_py_settle(address, first, count);
}

bool dlp_00000000_py_not_conjugated(uintptr_t address, intptr_t i) {
  call* c = (void*)address;
  int conjugated = query(c->arguments[i], constant.is_conj);
  c->accesses[i].requested = true;
  if (conjugated > 0) return reject(DLPACKGEN_TEXT_CONJUGATED);
  return conjugated == 0;
}

/* Reports that an object is not a tensor, unless the AttributeError came from inside its
 * __dlpack__. */
static void explain(PyObject* object) {
  PyObject *kind, *value, *trace;
  py.PyErr_Fetch(&kind, &value, &trace);
  if (has(object, "__dlpack__")) {
    py.PyErr_Restore(kind, value, trace);
    return;
  }
  py.Py_DecRef(kind);
  py.Py_DecRef(value);
  py.Py_DecRef(trace);
  py.PyErr_SetString(TypeError, "it is not a tensor: it has no __dlpack__");
}

/* Calls __dlpack__; producers before DLPack 1.0 do not have the argument. */
static PyObject* capsule_of(PyObject* object) {
  PyObject* arguments[] = {object, constant.version};
  PyObject* capsule = py.PyObject_VectorcallMethod(constant.dlpack, arguments, 1, constant.keywords);
  if (!capsule && py.PyErr_ExceptionMatches(TypeError)) {
    py.PyErr_Clear();
    capsule = py.PyObject_VectorcallMethod(constant.dlpack, arguments, 1, NULL);
  }
  if (!capsule && py.PyErr_ExceptionMatches(AttributeError)) explain(object);
  return capsule;
}

typedef struct dlp_00000000_py_imported taken;

static taken import_from_table(const DLPackExchangeAPI* table, PyObject* object) {
  DLManagedTensorVersioned* made = NULL;
  taken none = {0};
  if (table->managed_tensor_from_py_object_no_sync(object, &made)) return none;
  if (!made) reject("its exchange table reported success without a tensor");
  return (taken){made, NULL};
}

static taken import_from_capsule(PyObject* object) {
  /* Python stores the pointers to these names, not copies. */
  static const char fresh[] = DLPACKGEN_CAPSULE, used[] = DLPACKGEN_CAPSULE_USED;
  static const char fresh_versioned[] = DLPACKGEN_CAPSULE_VERSIONED;
  static const char used_versioned[] = DLPACKGEN_CAPSULE_VERSIONED_USED;
  taken made = {0};
  PyObject* capsule = capsule_of(object);
  if (!capsule) return made;
  if (py.PyCapsule_IsValid(capsule, fresh_versioned)) {
    void* tensor = py.PyCapsule_GetPointer(capsule, fresh_versioned);
    if (py.PyCapsule_SetName(capsule, used_versioned) == 0) made.versioned = tensor;
  } else if (py.PyCapsule_IsValid(capsule, fresh)) {
    void* tensor = py.PyCapsule_GetPointer(capsule, fresh);
    if (py.PyCapsule_SetName(capsule, used) == 0) made.legacy = tensor;
  } else {
    reject(DLPACKGEN_TEXT_NO_CAPSULE);
  }
  py.Py_DecRef(capsule);
  return made;
}

taken dlp_00000000_py_import(uintptr_t address, intptr_t i, uintptr_t table) {
  const call* c = (void*)address;
  PyObject* object = c->arguments[i];
  /* Paddle's table assumes that each tensor is dense and has memory. */
  int fits = table && c->accesses[i].may_be_sparse ? query(object, constant.is_dense) : table != 0;
  if (fits < 0 || retyped(c, i)) return (taken){0};
  return fits ? import_from_table((const DLPackExchangeAPI*)table, object) : import_from_capsule(object);
}
