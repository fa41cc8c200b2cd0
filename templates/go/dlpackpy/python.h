
/* The functions of Python that this package uses, and declarations that its C and Go files share.
 * Not part of the package's interface. */
#ifndef dlp_00000000_py_PYTHON_H
#define dlp_00000000_py_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlpack.h"

/* Hidden, so that two extension modules with this package in one process each keep their own state.
 * ELF would merge symbols of the same name. */
#ifdef _WIN32
#define dlp_00000000_py_LOCAL
#else
#define dlp_00000000_py_LOCAL __attribute__((visibility("hidden")))
#endif

/* Objects are opaque, because their contents differ between versions and builds of Python. */
typedef struct dlp_00000000_py_object PyObject;
typedef intptr_t Py_ssize_t;
typedef void (*PyCapsule_Destructor)(PyObject*);
typedef PyObject* (*PyCFunction)(PyObject*, PyObject*);

/* The structs that declare types, functions and modules; part of Python's stable ABI. The struct of
 * a module begins with an object, whose size varies. */
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
  X(void, Py_IncRef, (PyObject*)) /* this function and the next accept NULL */              \
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

/* Looks up the functions above. If one is missing, returns its name and, in a Python process, sets
 * an ImportError. Needs the GIL, like all following functions except the deleters. */
dlp_00000000_py_LOCAL const char* dlp_00000000_py_open(void);

/* Returns a built-in exception by its name; RuntimeError for an unknown one. */
dlp_00000000_py_LOCAL PyObject* dlp_00000000_py_exception(const char* name);

/* An exception that was pending, with its type's name and its text, malloc'd. */
struct dlp_00000000_py_raised {
  uintptr_t exception; /* a new reference; 0 if none was pending */
  char *kind, *text;   /* NULL if memory is exhausted */
};
dlp_00000000_py_LOCAL struct dlp_00000000_py_raised dlp_00000000_py_fetch(void);

/* Raises an exception by its name, with a cause or 0. */
dlp_00000000_py_LOCAL void dlp_00000000_py_raise(const char* kind, const char* text, uintptr_t cause);

dlp_00000000_py_LOCAL bool dlp_00000000_py_pending(void);
dlp_00000000_py_LOCAL void dlp_00000000_py_clear(void);

/* Releases the GIL, and acquires it again. */
dlp_00000000_py_LOCAL void* dlp_00000000_py_unlock(void);
dlp_00000000_py_LOCAL void dlp_00000000_py_lock(void* state);

/* Objects are passed between C and Go as numbers: cgo would check pointers for Go memory behind
 * them. With an exception set, the following functions return 0, false or NULL. */

/* Create a module with the type of tensors, and one of its functions, which has a number in Go. The
 * texts must outlive both. */
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_module(const char* name, const char* doc, const char* tensor);
dlp_00000000_py_LOCAL bool dlp_00000000_py_add(uintptr_t module, const char* home, const char* name, const char* doc,
                                               uintptr_t function);

/* How to read a tensor from an argument. */
struct dlp_00000000_py_access {
  uintptr_t type;        /* of the object, a reference */
  uintptr_t table;       /* the exchange table of exactly that type; 0 without one */
  uintptr_t exported_by; /* the table that lent the argument, and the lent tensor: a */
  uintptr_t borrowed;    /* DLTensor in Go's memory; while its bit in the call is set */
  uint64_t flags;        /* that the object requires, independently of the tensor's flags */
  bool quiet;            /* the table lends tensors without running Python code */
  bool may_conjugate;    /* complex elements must be queried */
  bool may_be_sparse;    /* the table must not be used if is_dense() is false */
  bool requested;        /* about complex elements */
};

/* A call of a function by Python; the struct is in the frame of the called C function. */
enum { dlp_00000000_py_ARGUMENTS = 32 };
struct dlp_00000000_py_call {
  uintptr_t function;
  PyObject* const* arguments;
  intptr_t count;
  uint64_t has_access, borrowed; /* a bit for each argument */
  int32_t changed;               /* 1 + the index of a borrowed argument whose memory has changed; else 0 */
  struct dlp_00000000_py_access accesses[dlp_00000000_py_ARGUMENTS];
};

/* Borrows each borrowed argument again, compares the tensors, and records a changed one. Must be
 * called, without an exception set, after Python code may have run and before Go continues. */
dlp_00000000_py_LOCAL void dlp_00000000_py_recheck(uintptr_t call);

/* Releases the references of a call, which invalidates its access methods. */
dlp_00000000_py_LOCAL void dlp_00000000_py_forget(struct dlp_00000000_py_call* call);

/* Conversions. Conversions to Python return new references; conversions from Python have an
 * argument. */
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
                                               uintptr_t element); /* steals the element's reference */
dlp_00000000_py_LOCAL void dlp_00000000_py_drop(uintptr_t object);

/* The function in Go. Returns a new reference. */
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_run(struct dlp_00000000_py_call* call);

/* Initializes the following functions, once. */
dlp_00000000_py_LOCAL bool dlp_00000000_py_make_constants(void);

/* Determines the access methods of arguments. Objects are queried for properties that DLPack
 * does not have. Returns the number of arguments with an access method. */
dlp_00000000_py_LOCAL intptr_t dlp_00000000_py_find_accesses(uintptr_t call, intptr_t first, intptr_t count);

/* After Python code may have run, checks that arguments still have the types of their access
 * methods, and checks all borrowed tensors. Returns the number of arguments with unchanged
 * types. */
dlp_00000000_py_LOCAL intptr_t dlp_00000000_py_settle(uintptr_t call, intptr_t first, intptr_t count);

/* Checks that the values in the memory of a complex tensor are those of the tensor. */
dlp_00000000_py_LOCAL bool dlp_00000000_py_not_conjugated(uintptr_t call, intptr_t i);

/* An owned tensor of an argument, as one of the two structs: from a table or, if that is 0, from a
 * capsule. */
struct dlp_00000000_py_imported {
  void *versioned, *legacy;
};
dlp_00000000_py_LOCAL struct dlp_00000000_py_imported dlp_00000000_py_import(uintptr_t call, intptr_t i,
                                                                             uintptr_t table);

/* The parts of the type of tensors: package dlpack's table for its own objects, the function that
 * releases an object, and the table for Python objects. */
dlp_00000000_py_LOCAL void dlp_00000000_py_prepare(const DLPackExchangeAPI* inner, void* release,
                                                   const DLPackExchangeAPI* table);
dlp_00000000_py_LOCAL PyObject* dlp_00000000_py_tensor_type(const char* name); /* created once; a borrowed reference */

/* Creates a Python tensor from an object of package dlpack, and steals its reference, also on
 * failure. */
dlp_00000000_py_LOCAL uintptr_t dlp_00000000_py_export(uintptr_t object, uint64_t flags);

/* Return whether objects of a type are tensors of this package, and the flags of a tensor. */
dlp_00000000_py_LOCAL bool dlp_00000000_py_is_own(PyObject* type);
dlp_00000000_py_LOCAL uint64_t dlp_00000000_py_flags(PyObject* object);

/* The functions of the table for Python's objects, and its SetError. */
dlp_00000000_py_LOCAL int dlp_00000000_py_managed(void* object, DLManagedTensorVersioned** out);
dlp_00000000_py_LOCAL int dlp_00000000_py_wrap(DLManagedTensorVersioned* tensor, void** out);
dlp_00000000_py_LOCAL int dlp_00000000_py_borrow(void* object, DLTensor* out);
dlp_00000000_py_LOCAL void dlp_00000000_py_set_error(void* unused, const char* kind, const char* message);

#endif
