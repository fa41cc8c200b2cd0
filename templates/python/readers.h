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
#ifndef DLPACKGEN_PYTHON_ADOPTED_H_
#define DLPACKGEN_PYTHON_ADOPTED_H_

#include <Python.h>
#include <dlpackgen/parameter.h>

/** The numbers of the scratch memory that borrow() may write to. */
#define DLPACKGEN_SCRATCH (2 * DLPACKGEN_MAX_NDIM)

/** What recognize() returns. */
enum { DLPACKGEN_TYPE_OTHER = 0, DLPACKGEN_TYPE_DERIVED = 1, DLPACKGEN_TYPE_EXACT = 2 };

/** One row: a type, and how its objects are read. */
struct dlpackgen_adopted {
  /**
   * Where the type is found, "numpy" and "ndarray". The module is looked for in
   * sys.modules and never imported. Only objects of exactly this type are
   * borrowed from.
   */
  const char *module, *type;

  /**
   * Compares a type with this one: DLPACKGEN_TYPE_EXACT, DLPACKGEN_TYPE_DERIVED or
   * DLPACKGEN_TYPE_OTHER, or -1 with an exception. Required where borrow() follows
   * pointers in the object: it must not rely on names that Python code can change.
   * NULL: the type is the one found under the names above.
   */
  int (*recognize)(PyObject* type);

  /**
   * Looks at the type once, before the first borrow in a module: 1 to adopt it,
   * 0 to leave its objects to the other routes, -1 with an exception, for which
   * the call fails and the next one asks again. Several modules of one process
   * may ask, each in its own copy of this code. It may run any code: it is called
   * before a call reads its first argument. NULL, or with the environment variable
   * DLPACKGEN_NO_NATIVE_READERS set: the type is never adopted, and the row is there
   * for reject() alone.
   */
  int (*open)(PyObject* type);

  /**
   * Fills *out with a view that is good until control returns to Python: 0, or
   * -1 with an exception, or 1 to leave this one object to the other routes (the
   * type's exchange table, or __dlpack__), which do not ask reject() then. shape
   * and strides lie in scratch, which has DLPACKGEN_SCRATCH numbers: other threads
   * may change those of the object. data may be NULL
   * where there are no elements; the caller rejects what has elements and no data,
   * and checks everything that its parameter says, so nothing of that needs to be
   * looked at here. *flags is 0 before, and gets DLPack's flags. With writable,
   * what must not be written to is rejected with BufferError; without, it gets
   * DLPACK_FLAG_BITMASK_READ_ONLY.
   */
  int (*borrow)(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags);

  /**
   * Asked about each object whose type derives from this one but is not this
   * one: 0 to let the other routes read it, -1 with an exception to reject it.
   * Objects of the type itself are asked about too where open() gave 0.
   * May be NULL: nothing is rejected.
   */
  int (*reject)(PyObject* object);

  /**
   * The stream on which the library works now on a device that is not the CPU:
   * 0, or -1 with an exception. NULL: the exchange table on the type is asked,
   * where there is one, as torch has from 2.10 on.
   */
  int (*stream)(DLDevice device, void** stream);

  /**
   * Called instead of borrow() when the memory must outlive the call: as borrow(),
   * but what it needs beyond a reference to the object must be held by *keep, a
   * new reference to anything, or NULL for the object itself. May be NULL, and
   * then borrow() is used: a reference to the object must keep its memory.
   */
  int (*hold)(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags, PyObject** keep);

  /**
   * 1 when borrow() may run code of Python or let other threads run, as what
   * waits for a result does. Such arguments are read before the others, since
   * what then runs may change a tensor whose shape was looked at already.
   */
  int yields;

  /**
   * Asks about an object that the type's exchange table has described what such
   * a table does not look at, where a module has registered the table although
   * this one is adopted: 0, or -1 with an exception. The tensor is validated and has
   * strides. Runs no code of Python. May be NULL, and then the object is asked by its
   * methods.
   */
  int (*guard)(PyObject* object, const DLTensor* tensor);

  /**
   * Allocates memory for a result on a device that is not the CPU, for work on the
   * stream that the library works on now: a new reference to what keeps the memory, and
   * its address, or NULL with an exception. Needs stream(). May be NULL: the type has an
   * exchange table that allocates, or none can.
   */
  PyObject* (*allocate)(DLDevice device, int64_t bytes, void** data);
};

#endif /* DLPACKGEN_PYTHON_ADOPTED_H_ */
