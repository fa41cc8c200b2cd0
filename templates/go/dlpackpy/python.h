
/* What this package uses of Python, and what its files in C and Go share. Not
 * part of the package's interface. */
#ifndef dlp_00000000_py_PYTHON_H
#define dlp_00000000_py_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlpack.h"

/* Hidden, so that two extension modules with this package in one process keep
 * each to its own state. ELF would merge them by name. */
#ifdef _WIN32
#define dlp_00000000_py_LOCAL
#else
#define dlp_00000000_py_LOCAL __attribute__((visibility("hidden")))
#endif

/* Objects are only pointed to: what is inside of them differs between versions
 * and builds of Python. */
typedef struct dlp_00000000_py_object PyObject;
typedef intptr_t Py_ssize_t;
typedef void (*PyCapsule_Destructor)(PyObject*);
typedef PyObject* (*PyCFunction)(PyObject*, PyObject*);

/* The structs by which types, functions and modules are declared; part of
 * Python's stable ABI. A module's begins with an object, whose size varies. */
typedef struct {
  const char* name;
  PyCFunction call;
  int flags;
  const char* doc;
} PyMethodDef;

typedef struct {
  int slot;
  void* value;
} PyType_Slot;

typedef struct {
  const char* name;
  int basicsize, itemsize;
  unsigned flags;
  PyType_Slot* slots;
} PyType_Spec;

typedef struct {
  PyObject* (*init)(void);
  Py_ssize_t index;
  PyObject* copy;
  const char *name, *doc;
  Py_ssize_t size;
  PyMethodDef* methods;
  void *slots, *traverse, *clear, *free;
} PyModuleDef;

enum {
  METH_VARARGS = 1,
  METH_KEYWORDS = 2,
  METH_NOARGS = 4,
  METH_FASTCALL = 0x80,
  Py_tp_dealloc = 52,
  Py_tp_doc = 56,
  Py_tp_methods = 64,
  Py_TPFLAGS_DISALLOW_INSTANTIATION = 1 << 7,
  TYPE_SUBCLASS_BIT = 31, /* of the flags of a type whose objects are types */
  PYTHON_ABI_VERSION = 3
};

/* The functions, as X(result, name, arguments), all of Python's stable ABI. They
 * are looked up in the process: this package is built and linked without Python. */
#define dlp_00000000_py_FUNCTIONS(X)                                                        \
  X(void, Py_IncRef, (PyObject*)) /* this one and the next take NULL too */                 \
  X(void, Py_DecRef, (PyObject*))                                                           \
  X(PyObject*, PyObject_Type, (PyObject*))                                                  \
  X(PyObject*, PyObject_Str, (PyObject*))                                                   \
  X(PyObject*, PyObject_GetAttr, (PyObject*, PyObject*))                                    \
  X(PyObject*, PyObject_GetAttrString, (PyObject*, const char*))                            \
  X(int, PyObject_SetAttrString, (PyObject*, const char*, PyObject*))                       \
  X(PyObject*, PyObject_VectorcallMethod, (PyObject*, PyObject* const*, size_t, PyObject*)) \
  X(int, PyObject_IsTrue, (PyObject*))                                                      \
  X(void, PyObject_Free, (void*))                                                           \
  X(unsigned long, PyType_GetFlags, (PyObject*))                                            \
  X(int, PyType_IsSubtype, (PyObject*, PyObject*))                                          \
  X(PyObject*, PySys_GetObject, (const char*))                                              \
  X(int, Py_EnterRecursiveCall, (const char*))                                              \
  X(void, Py_LeaveRecursiveCall, (void))                                                    \
  X(PyObject*, PyMapping_GetItemString, (PyObject*, const char*))                           \
  X(int, PyMapping_HasKeyString, (PyObject*, const char*))                                  \
  X(PyObject*, PyErr_Occurred, (void))                                                      \
  X(void, PyErr_SetObject, (PyObject*, PyObject*))                                          \
  X(void, PyErr_Clear, (void))                                                              \
  X(void, PyErr_Fetch, (PyObject**, PyObject**, PyObject**))                                \
  X(void, PyErr_Restore, (PyObject*, PyObject*, PyObject*))                                 \
  X(void, PyErr_NormalizeException, (PyObject**, PyObject**, PyObject**))                   \
  X(int, PyException_SetTraceback, (PyObject*, PyObject*))                                  \
  X(void, PyException_SetCause, (PyObject*, PyObject*))                                     \
  X(int, PyErr_ExceptionMatches, (PyObject*))                                               \
  X(void, PyErr_SetString, (PyObject*, const char*))                                        \
  X(PyObject*, PyErr_Format, (PyObject*, const char*, ...))                                 \
  X(PyObject*, PyErr_NoMemory, (void))                                                      \
  X(PyObject*, PyCapsule_New, (void*, const char*, PyCapsule_Destructor))                   \
  X(void*, PyCapsule_GetPointer, (PyObject*, const char*))                                  \
  X(int, PyCapsule_IsValid, (PyObject*, const char*))                                       \
  X(int, PyCapsule_SetName, (PyObject*, const char*))                                       \
  X(PyObject*, PyLong_FromLongLong, (long long))                                            \
  X(long long, PyLong_AsLongLong, (PyObject*))                                              \
  X(void*, PyLong_AsVoidPtr, (PyObject*))                                                   \
  X(PyObject*, PyFloat_FromDouble, (double))                                                \
  X(double, PyFloat_AsDouble, (PyObject*))                                                  \
  X(PyObject*, PyBool_FromLong, (long))                                                     \
  X(PyObject*, PyUnicode_FromStringAndSize, (const char*, Py_ssize_t))                      \
  X(PyObject*, PyUnicode_InternFromString, (const char*))                                   \
  X(const char*, PyUnicode_AsUTF8AndSize, (PyObject*, Py_ssize_t*))                         \
  X(PyObject*, PyTuple_New, (Py_ssize_t))                                                   \
  X(Py_ssize_t, PyTuple_Size, (PyObject*))                                                  \
  X(PyObject*, PyTuple_GetItem, (PyObject*, Py_ssize_t))                                    \
  X(int, PyTuple_SetItem, (PyObject*, Py_ssize_t, PyObject*))                               \
  X(int, PyArg_ParseTupleAndKeywords, (PyObject*, PyObject*, const char*, char**, ...))     \
  X(PyObject*, PyModule_Create2, (PyModuleDef*, int))                                       \
  X(void*, PyModule_GetState, (PyObject*))                                                  \
  X(PyObject*, PyCFunction_NewEx, (PyMethodDef*, PyObject*, PyObject*))                     \
  X(PyObject*, PyType_FromSpec, (PyType_Spec*))                                             \
  X(PyObject*, PyType_GenericAlloc, (PyObject*, Py_ssize_t))                                \
  X(void*, PyEval_SaveThread, (void))                                                       \
  X(void, PyEval_RestoreThread, (void*))

struct dlp_00000000_py_python {
#define DECLARE(result, name, arguments) result(*name) arguments;
  dlp_00000000_py_FUNCTIONS(DECLARE)
#undef DECLARE
      PyObject* None,
      *Int, *Float, *Bool;
  int (*finalizing)(void); /* may be NULL */
  size_t head;             /* bytes of an object without fields */
};
extern dlp_00000000_py_LOCAL struct dlp_00000000_py_python dlp_00000000_py_python;

/* Finds the above. Where something is missing, gives its name and, in a Python,
 * sets an ImportError. Needs the GIL, like all that follows but the deleters. */
dlp_00000000_py_LOCAL const char* dlp_00000000_py_open(void);

/* Returns a built-in exception by its name; RuntimeError for an unknown one. */
dlp_00000000_py_LOCAL PyObject* dlp_00000000_py_exception(const char* name);

/* An exception that was pending, with its type's name and its text, malloc'd. */
struct dlp_00000000_py_raised {
  uintptr_t exception; /* a new reference; 0 when none was pending */
  char *kind, *text;   /* NULL where memory is out */
};
dlp_00000000_py_LOCAL struct dlp_00000000_py_raised dlp_00000000_py_fetch(void);

/* Raises an exception by its name, with a cause or 0. */
dlp_00000000_py_LOCAL void dlp_00000000_py_raise(const char* kind, const char* text, uintptr_t cause);

dlp_00000000_py_LOCAL bool dlp_00000000_py_pending(void);
dlp_00000000_py_LOCAL void dlp_00000000_py_clear(void);

/* Gives up the GIL, and takes it back. */
dlp_00000000_py_LOCAL void* dlp_00000000_py_unlock(void);
dlp_00000000_py_LOCAL void dlp_00000000_py_lock(void* state);

/* Objects come from Go and go there as numbers: cgo would test pointers for Go
 * memory behind them. What the following return with an exception set is 0,
 * false or NULL. */

/* Makes a module, with the type of tensors in it; and one of its functions, by a
 * number that Go knows it by. The texts must stay. */
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_module(const char* name, const char* doc, const char* tensor);
dlp_00000000_py_LOCAL bool dlp_00000000_py_add(uintptr_t module, const char* home, const char* name, const char* doc,
                                               uintptr_t function);

/* How to read a tensor from an argument. */
struct dlp_00000000_py_route {
  uintptr_t type;     /* of the object, a reference */
  uintptr_t table;    /* the exchange table of exactly that type; 0 without one */
  uintptr_t lender;   /* the table that lent the argument, and what it lent: a */
  uintptr_t lent;     /* DLTensor in Go's memory; while its bit in the call is set */
  uint64_t flags;     /* that the object requires, whatever the tensor declares */
  bool quiet;         /* the table runs no code of Python to lend a tensor */
  bool may_conjugate; /* complex elements must be asked about */
  bool may_be_sparse; /* the table is not to be used where is_dense() is false */
  bool asked;         /* about complex elements */
};

/* A call of a function by Python, in the frame of which it lies. */
enum { dlp_00000000_py_ARGUMENTS = 32 };
struct dlp_00000000_py_call {
  uintptr_t function;
  PyObject* const* arguments;
  intptr_t count;
  uint64_t routed, lent; /* a bit for each argument */
  int32_t changed;       /* 1 + a borrowed argument whose memory is no longer what was lent; else 0 */
  struct dlp_00000000_py_route routes[dlp_00000000_py_ARGUMENTS];
};

/* Compares each borrowed argument with what its table lends now, and remembers one that changed. To
 * be called, without an exception set, after whatever may have run Python code and before Go goes
 * on. */
dlp_00000000_py_LOCAL void dlp_00000000_py_recheck(uintptr_t call);

/* Gives up the references that a call holds, after which its routes are void. */
dlp_00000000_py_LOCAL void dlp_00000000_py_forget(struct dlp_00000000_py_call* call);

/* Conversions. Those to Python give new references, those from Python take an argument. */
struct dlp_00000000_py_int {
  int64_t value;
  bool failed;
};
struct dlp_00000000_py_float {
  double value;
  bool failed;
};
struct dlp_00000000_py_text {
  const char* bytes; /* of the object; NULL with an exception */
  intptr_t size;
};
dlp_00000000_py_LOCAL struct dlp_00000000_py_int dlp_00000000_py_to_int(uintptr_t call, intptr_t i);
dlp_00000000_py_LOCAL struct dlp_00000000_py_float dlp_00000000_py_to_float(uintptr_t call, intptr_t i);
dlp_00000000_py_LOCAL struct dlp_00000000_py_text dlp_00000000_py_to_text(uintptr_t object);
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_none(void);
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_same(uintptr_t object);
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_from_bool(bool value);
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_from_int(int64_t value);
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_from_float(double value);
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_from_text(const char* bytes, intptr_t size);
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_new_tuple(intptr_t size);
dlp_00000000_py_LOCAL void dlp_00000000_py_put(uintptr_t tuple, intptr_t i,
                                               uintptr_t element); /* takes the element's reference */
dlp_00000000_py_LOCAL void dlp_00000000_py_drop(uintptr_t object);

/* The function in Go. Returns a new reference. */
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_run(struct dlp_00000000_py_call* call);

/* Makes what the following need, once. */
dlp_00000000_py_LOCAL bool dlp_00000000_py_make_constants(void);

/* Fills routes of arguments, whose objects are asked what DLPack cannot say; gives the
 * number of those that it could fill. */
dlp_00000000_py_LOCAL intptr_t dlp_00000000_py_find_routes(uintptr_t call, intptr_t first, intptr_t count);

/* Checks, after Python code may have run, that arguments have the types still by which their routes
 * were found, and all that is borrowed; gives the number of those that have. */
dlp_00000000_py_LOCAL intptr_t dlp_00000000_py_settle(uintptr_t call, intptr_t first, intptr_t count);

/* Checks that the memory of a complex tensor has the values that it stands for. */
dlp_00000000_py_LOCAL bool dlp_00000000_py_not_conjugated(uintptr_t call, intptr_t i);

/* A tensor of an argument for its new owner, one of the two: from a table or, where that
 * is 0, from a capsule. */
struct dlp_00000000_py_taken {
  void *versioned, *legacy;
};
dlp_00000000_py_LOCAL struct dlp_00000000_py_taken dlp_00000000_py_take(uintptr_t call, intptr_t i, uintptr_t table);

/* What the type of tensors is made of: package dlpack's table for its own
 * objects, the function that releases one, and the table for Python's objects. */
dlp_00000000_py_LOCAL void dlp_00000000_py_prepare(const DLPackExchangeAPI* inner, void* release,
                                                   const DLPackExchangeAPI* table);
dlp_00000000_py_LOCAL PyObject* dlp_00000000_py_tensor_type(const char* name); /* made once; a borrowed reference */

/* Makes a tensor of Python of an object of package dlpack, whose reference it
 * takes, also when it fails. */
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_give(uintptr_t object, uint64_t flags);

/* Whether objects of a type are tensors of this package, and the flags of one. */
dlp_00000000_py_LOCAL bool dlp_00000000_py_is_own(PyObject* type);
dlp_00000000_py_LOCAL uint64_t dlp_00000000_py_flags(PyObject* object);

/* The functions of the table for Python's objects, and its SetError. */
dlp_00000000_py_LOCAL int dlp_00000000_py_managed(void* object, DLManagedTensorVersioned** out);
dlp_00000000_py_LOCAL int dlp_00000000_py_wrap(DLManagedTensorVersioned* tensor, void** out);
dlp_00000000_py_LOCAL int dlp_00000000_py_borrow(void* object, DLTensor* out);
dlp_00000000_py_LOCAL void dlp_00000000_py_set_error(void* unused, const char* kind, const char* message);

#endif
