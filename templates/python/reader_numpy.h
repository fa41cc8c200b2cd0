/*
 * Reads numpy.ndarray through the fields of the object, without calling NumPy. The offsets of these
 * fields are part of NumPy's stable ABI, and are compared once with the values that NumPy returns
 * in Python. If they differ, arrays are read through the buffer protocol.
 */
#ifndef DLPACKGEN_PYTHON_READER_NUMPY_H_
#define DLPACKGEN_PYTHON_READER_NUMPY_H_

#include "reader_buffer.h"
#include "reader_elements.h"
#include "reader_types.h"

/* The first fields of an array. */
struct dlpackgen_np_array {
  PyObject head;
  char* data;
  int ndim;
  Py_ssize_t *shape, *strides;
  PyObject *base, *dtype;
  int flags;
};

/* The first fields of a dtype; later fields differ between NumPy 1 and 2. */
struct dlpackgen_np_dtype {
  PyObject head;
  PyObject* type;
  char kind, letter, byte_order, unused;
  int number;
};

/* Flags of an array. The second one marks views for which NumPy will forbid writing. */
#define DLPACKGEN_NP_WRITEABLE 0x400U
#define DLPACKGEN_NP_WARN_ON_WRITE 0x80000000U

static inline char dlpackgen_np_other_order(void) { return dlpackgen_little_endian() ? '>' : '<'; }

static inline const struct dlpackgen_np_array* dlpackgen_np_fields(PyObject* object) {
  return (const struct dlpackgen_np_array*)(const void*)object;
}

static inline const struct dlpackgen_np_dtype* dlpackgen_np_dtype_of(PyObject* object) {
  return (const struct dlpackgen_np_dtype*)(const void*)dlpackgen_np_fields(object)->dtype;
}

/* Compares two objects and releases them. Returns 1, 0, or -1 with an exception. */
static int dlpackgen_np_same(PyObject* a, PyObject* b) {
  const int equal = a && b ? PyObject_RichCompareBool(a, b, Py_EQ) : -1;
  Py_XDECREF(a);
  Py_XDECREF(b);
  return equal;
}

/* Compares an attribute of an attribute with a number, as above. */
static int dlpackgen_np_matches(PyObject* object, const char* outer, const char* inner, long number) {
  PyObject* between = PyObject_GetAttrString(object, outer);
  PyObject* answer = between ? PyObject_GetAttrString(between, inner) : NULL;
  Py_XDECREF(between);
  return dlpackgen_np_same(answer, PyLong_FromLong(number));
}

/* Returns the address of the first element and whether it is read-only. */
static PyObject* dlpackgen_np_query_data(PyObject* object) {
  PyObject* described = PyObject_GetAttrString(object, "__array_interface__");
  PyObject* answer = described ? PyMapping_GetItemString(described, "data") : NULL;
  Py_XDECREF(described);
  return answer;
}

static PyObject* dlpackgen_np_data(const struct dlpackgen_np_array* a) {
  const int writable = ((unsigned int)a->flags & DLPACKGEN_NP_WRITEABLE) != 0;
  return Py_BuildValue("(NO)", PyLong_FromVoidPtr(a->data), writable ? Py_False : Py_True);
}

/* Whether the fields that are used as pointers are pointers. The dtype is an object that Python can
 * compare, and NumPy keeps strides in one block with the shape. */
static int dlpackgen_np_pointers_agree(PyObject* object) {
  const struct dlpackgen_np_array* a = dlpackgen_np_fields(object);
  PyObject* dtype = PyObject_GetAttrString(object, "dtype");
  if (!dtype) return -1;
  Py_DECREF(dtype);
  return dtype == a->dtype && a->ndim == 2 && a->strides == a->shape + 2;
}

static int dlpackgen_np_numbers_agree(PyObject* object) {
  const struct dlpackgen_np_array* a = dlpackgen_np_fields(object);
  const struct dlpackgen_np_dtype* d = dlpackgen_np_dtype_of(object);
  const int native = d->byte_order != dlpackgen_np_other_order();
  return dlpackgen_np_same(PyObject_GetAttrString(object, "shape"), Py_BuildValue("(nn)", a->shape[0], a->shape[1])) >
             0 &&
         dlpackgen_np_same(PyObject_GetAttrString(object, "strides"),
                           Py_BuildValue("(nn)", a->strides[0], a->strides[1])) > 0 &&
         dlpackgen_np_same(dlpackgen_np_query_data(object), dlpackgen_np_data(a)) > 0 &&
         dlpackgen_np_matches(object, "flags", "num", a->flags) > 0 &&
         dlpackgen_np_matches(object, "dtype", "num", d->number) > 0 &&
         dlpackgen_np_matches(object, "dtype", "isnative", native) > 0;
}

/* Whether the fields of an array match NumPy's attributes, and its dtype has the expected size. */
static int dlpackgen_np_agrees(PyObject* object) {
  const struct dlpackgen_element* element;
  if (dlpackgen_np_pointers_agree(object) <= 0 || !dlpackgen_np_numbers_agree(object)) return 0;
  element = dlpackgen_np_element(dlpackgen_np_dtype_of(object)->number);
  return element && dlpackgen_np_matches(object, "dtype", "itemsize", 1L << element->shift) > 0;
}

/* Verifies an array of 2 x 3 with a gap after each element and row. */
static int dlpackgen_np_try(PyObject* type, const char* dtype, PyObject* memory) {
  PyObject* array = PyObject_CallFunction(type, "(ii)sOi(ii)", 2, 3, dtype, memory, 16, 112, 32);
  const int agrees = array && dlpackgen_np_agrees(array);
  Py_XDECREF(array);
  return agrees;
}

static int dlpackgen_np_try_all(PyObject* type, PyObject* memory) {
  static const char letters[] = "?bBhHiIlLqQefdFD";
  const char swapped[] = {dlpackgen_np_other_order(), 'd', 0};
  int agree = dlpackgen_np_try(type, swapped, memory);
  for (const char* letter = letters; agree && *letter; letter++) {
    const char dtype[] = {*letter, 0};
    agree = dlpackgen_np_try(type, dtype, memory);
  }
  return agree;
}

/* Whether the objects of a type are large enough to contain the fields. */
static int dlpackgen_np_has_data(PyObject* type, size_t size) {
  PyObject* basic = PyObject_GetAttrString(type, "__basicsize__");
  const Py_ssize_t actual = basic ? PyLong_AsSsize_t(basic) : -1;
  Py_XDECREF(basic);
  return actual >= (Py_ssize_t)size;
}

static int dlpackgen_np_is_large_enough(PyObject* type) {
  PyObject* array = PyObject_CallFunction(type, "i", 0);
  PyObject* dtype = array ? PyObject_GetAttrString(array, "dtype") : NULL;
  const int large = dtype && dlpackgen_np_has_data(type, sizeof(struct dlpackgen_np_array)) &&
                    dlpackgen_np_has_data((PyObject*)Py_TYPE(dtype), sizeof(struct dlpackgen_np_dtype));
  Py_XDECREF(dtype);
  Py_XDECREF(array);
  return large;
}

static int dlpackgen_np_recognize(PyObject* type) {
  PyObject* base = dlpackgen_c_base(type, "numpy", "ndarray");
  if (!base) return PyErr_Occurred() ? -1 : DLPACKGEN_TYPE_OTHER;
  return base == type ? DLPACKGEN_TYPE_EXACT : DLPACKGEN_TYPE_DERIVED;
}

/* Set once the fields have been verified, and never cleared, because other threads may be reading
 * it. */
static int dlpackgen_np_proven;

static int dlpackgen_np_open(PyObject* type) {
  PyObject* writable = PyByteArray_FromStringAndSize(NULL, 256);
  PyObject* read_only = PyBytes_FromStringAndSize(NULL, 256);
  const int proven = writable && read_only && dlpackgen_np_is_large_enough(type) &&
                     dlpackgen_np_try_all(type, writable) && dlpackgen_np_try_all(type, read_only);
  if (proven) DLPACKGEN_STORE(&dlpackgen_np_proven, 1);
  Py_XDECREF(writable);
  Py_XDECREF(read_only);
  if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_MemoryError)) return -1; /* tried again with memory */
  PyErr_Clear(); /* without NumPy's attributes, nothing is verified */
  return 1;
}

#define DLPACKGEN_NP_SWAPPED "is not in native byte order: pass a.astype(a.dtype.newbyteorder('='))"

/* Reports why a dtype is not supported. */
DLPACKGEN_SLOW static int dlpackgen_np_reject(PyObject* object, const char* why) {
  PyObject* dtype = PyObject_GetAttrString(object, "dtype");
  if (dtype) {
    dlpackgen_reject("its dtype %S %s", dtype, why);
    Py_DECREF(dtype);
  }
  return -1;
}

static int dlpackgen_np_reject_kind(PyObject* object, char kind) {
  switch (kind) {
    case 'O': return dlpackgen_np_reject(object, "holds Python objects, which DLPack does not support");
    case 'S':
    case 'U':
    case 'T': return dlpackgen_np_reject(object, "is text, which DLPack does not support");
    case 'V':
      return dlpackgen_np_reject(object,
                                 "is structured, which DLPack does not support: pass one of its "
                                 "fields");
    case 'M':
    case 'm':
      return dlpackgen_np_reject(object,
                                 "is a date or time, which DLPack does not support: pass "
                                 ".view('int64')");
    default: return dlpackgen_np_reject(object, "is a long double, which DLPack does not support: convert it");
  }
}

/* Handles an array whose elements have no C type. Returns 1, or -1 with the reason. */
DLPACKGEN_SLOW static int dlpackgen_np_no_element(PyObject* object) {
  const struct dlpackgen_np_dtype* d = dlpackgen_np_dtype_of(object);
  if (d->number == DLPACKGEN_NP_VARIABLE_TEXT) return dlpackgen_np_reject_kind(object, 'T');
  /* Only NumPy can export a dtype of another package, if at all. */
  if (d->number >= DLPACKGEN_NP_EXTENSIONS) return 1;
  return dlpackgen_np_reject_kind(object, d->kind);
}

DLPACKGEN_FAST int dlpackgen_np_read(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags) {
  const struct dlpackgen_np_array* a = dlpackgen_np_fields(object);
  const struct dlpackgen_np_dtype* d = dlpackgen_np_dtype_of(object);
  const struct dlpackgen_element* element = dlpackgen_np_element(d->number);
  const unsigned int state = (unsigned int)a->flags;
  struct dlpackgen_memory memory;
  if (!element) return dlpackgen_np_no_element(object);
  if (d->byte_order == dlpackgen_np_other_order()) return dlpackgen_np_reject(object, DLPACKGEN_NP_SWAPPED);
  memory.data = a->data;
  memory.ndim = a->ndim;
  memory.shape = a->shape;
  memory.strides = a->strides;
  memory.read_only = (state & DLPACKGEN_NP_WRITEABLE) == 0 || (state & DLPACKGEN_NP_WARN_ON_WRITE) != 0;
  return dlpackgen_describe(&memory, element, writable, out, scratch, flags);
}

static int dlpackgen_np_borrow(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags) {
  if (DLPACKGEN_LOAD(&dlpackgen_np_proven)) return dlpackgen_np_read(object, writable, out, scratch, flags);
  return dlpackgen_buffer_borrow(object, writable, out, scratch, flags);
}

/* A matrix, a recarray or a memmap is exported like an array. Only the export of a masked array
 * loses information: the mask. */
static int dlpackgen_np_reject_subclass(PyObject* object) {
  const int has_mask = PyObject_HasAttrString((PyObject*)Py_TYPE(object), "mask") &&
                       PyObject_HasAttrString((PyObject*)Py_TYPE(object), "filled");
  if (!has_mask) return 0;
  return dlpackgen_reject("it is a masked array, but DLPack has no masks: pass a.filled(...)");
}

static const struct dlpackgen_native_reader dlpackgen_reader_numpy = {
    "numpy",
    "ndarray",
    dlpackgen_np_recognize,
    dlpackgen_np_open,
    dlpackgen_np_borrow,
    dlpackgen_np_reject_subclass,
    NULL,
    NULL,
    0,
    NULL,
    NULL,
};

#endif /* DLPACKGEN_PYTHON_READER_NUMPY_H_ */
