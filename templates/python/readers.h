/**
 * \file readers.h
 * The interface of native readers, for libraries without an exchange table or with a slow or
 * incorrect one. DLPack's own functions have no storage for flags and for computed strides, so
 * native readers have a different signature.
 *
 * All functions are called with the GIL held. Their exceptions contain only the mistake ("its byte
 * order is not the machine's"): the caller prepends "f(): argument 'b' (2nd): ". They raise
 * BufferError for a tensor that cannot be read, and TypeError for any other object.
 */
#ifndef DLPACKGEN_PYTHON_READERS_H_
#define DLPACKGEN_PYTHON_READERS_H_

#include <Python.h>
#include <dlpackgen/parameter.h>

/** The numbers of the scratch memory that borrow() may write to. */
#define DLPACKGEN_SCRATCH (2 * DLPACKGEN_MAX_NDIM)

/** The results of recognize(). */
enum { DLPACKGEN_TYPE_OTHER = 0, DLPACKGEN_TYPE_DERIVED = 1, DLPACKGEN_TYPE_EXACT = 2 };

/** A native reader: a type, and the functions that read its objects. */
struct dlpackgen_native_reader {
  /**
   * The module and the name of the type, such as "numpy" and "ndarray". The module is looked up in
   * sys.modules and never imported. Only objects of exactly this type are borrowed.
   */
  const char *module, *type;

  /**
   * Compares a type with this one: DLPACKGEN_TYPE_EXACT, DLPACKGEN_TYPE_DERIVED or
   * DLPACKGEN_TYPE_OTHER, or -1 with an exception. Required if borrow() follows pointers in the
   * object. The function must not rely on names that Python code can change. NULL: the type is
   * looked up under the names above.
   */
  int (*recognize)(PyObject* type);

  /**
   * Called once per module, before the first borrow. Returns 1 if borrow() reads the type, 0 if the
   * other access methods do, or -1 with an exception: the call then fails, and the next call tries
   * again. Several modules of one process may call it, each in its own copy of this code. It may
   * run any code, because it is called before a call reads its first argument. If it is NULL, or if
   * the environment variable DLPACKGEN_NO_NATIVE_READERS is set, borrow() is never used, and only
   * reject() applies.
   */
  int (*open)(PyObject* type);

  /**
   * Fills *out with a view that is valid until control returns to Python. Returns 0, or -1 with an
   * exception, or 1 to leave this object to the other access methods (the type's exchange table, or
   * __dlpack__), for which reject() is then not called. shape and strides are stored in scratch,
   * which has DLPACKGEN_SCRATCH numbers, because other threads may change those of the object. data
   * may be NULL if there are no elements. The caller rejects a tensor with elements but without
   * data, and checks all requirements of the parameter. *flags is initially 0, and receives
   * DLPack's flags. With writable, read-only memory is rejected with BufferError; without, it gets
   * DLPACK_FLAG_BITMASK_READ_ONLY.
   */
  int (*borrow)(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags);

  /**
   * Called for each object of a derived type. Returns 0 if the other access methods may read it, or
   * -1 with an exception to reject it. If open() returned 0, it is also called for objects of the
   * type itself. May be NULL: nothing is rejected.
   */
  int (*reject)(PyObject* object);

  /**
   * The library's current stream on a device other than the CPU: 0, or -1 with an exception. NULL:
   * the type's exchange table is queried, if there is one. torch has one from 2.10 on.
   */
  int (*stream)(DLDevice device, void** stream);

  /**
   * Called instead of borrow() if the memory must outlive the call. Like borrow(), but *keep must
   * retain everything that the memory needs besides the object: it is a new reference to any
   * object, or NULL for the object itself. May be NULL, and then borrow() is used: a reference to
   * the object must keep its memory alive.
   */
  int (*retain)(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags, PyObject** keep);

  /**
   * 1 if borrow() may run Python code or let other threads run, for example while it waits for a
   * result. Such arguments are read before the others, because that code may change a tensor whose
   * shape was already read.
   */
  int yields;

  /**
   * Checks the properties of an object that an exchange table does not check, if a module has
   * registered a table although this reader is in use. Returns 0, or -1 with an exception. The
   * tensor is validated and has strides. The function runs no Python code. May be NULL, and then
   * the object's methods are called.
   */
  int (*guard)(PyObject* object, const DLTensor* tensor);

  /**
   * Allocates memory for a result on a device other than the CPU, for work on the library's current
   * stream. Returns a new reference to the object that owns the memory, and its address, or NULL
   * with an exception. Requires stream(). May be NULL: the type's exchange table allocates, or
   * nothing does.
   */
  PyObject* (*allocate)(DLDevice device, int64_t bytes, void** data);
};

#endif /* DLPACKGEN_PYTHON_READERS_H_ */
