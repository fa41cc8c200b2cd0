/* Reads any object with the buffer protocol. */
#ifndef DLPACKGEN_PYTHON_READER_BUFFER_H_
#define DLPACKGEN_PYTHON_READER_BUFFER_H_

#include <string.h>
#include "reader_elements.h"

/* Skips a mark of the native byte order; returns NULL for the other byte order. */
static const char* dlpackgen_buffer_native_format(const char* format) {
  if (*format == '@' || *format == '=' || *format == (dlpackgen_little_endian() ? '<' : '>')) return format + 1;
  return *format == '<' || *format == '>' || *format == '!' ? NULL : format;
}

/* Returns the type code of a format without its mark, or -1. */
static int dlpackgen_buffer_code(const char* format) {
  const int is_complex = *format == 'Z';
  const char type = format[is_complex];
  if (type == 0 || format[is_complex + 1] != 0) return -1;
  if (is_complex) return strchr("fd", type) ? kDLComplex : -1;
  if (type == '?') return kDLBool;
  if (strchr("bhilqn", type)) return kDLInt;
  if (strchr("BHILQN", type)) return kDLUInt;
  return strchr("efd", type) ? kDLFloat : -1;
}

/* Reads the byte order and type of a buffer's elements. Returns 1, or 0 for unsupported formats. */
static int dlpackgen_buffer_element(const Py_buffer* view, struct dlpackgen_element* element) {
  const char* format = dlpackgen_buffer_native_format(view->format ? view->format : "B");
  const int code = format ? dlpackgen_buffer_code(format) : -1;
  unsigned char shift = 0;
  while (shift < 4 && ((Py_ssize_t)1 << shift) < view->itemsize) shift++;
  if (code < 0 || view->itemsize != (Py_ssize_t)1 << shift) return 0;
  element->dtype.code = (uint8_t)code;
  element->dtype.bits = (uint8_t)(8 << shift);
  element->dtype.lanes = 1;
  element->shift = shift;
  return 1;
}

static int dlpackgen_buffer_describe(const Py_buffer* view, int writable, DLTensor* out, int64_t* scratch,
                                     uint64_t* flags) {
  struct dlpackgen_memory memory;
  struct dlpackgen_element element;
  if (!dlpackgen_buffer_element(view, &element)) return 1;
  memory.data = (char*)view->buf;
  memory.ndim = view->ndim;
  memory.shape = view->shape;
  memory.strides = view->strides;
  memory.read_only = view->readonly;
  return dlpackgen_describe(&memory, &element, writable, out, scratch, flags);
}

static int dlpackgen_buffer_borrow(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags) {
  Py_buffer view;
  int result;
  if (PyObject_GetBuffer(object, &view, PyBUF_RECORDS_RO) < 0) return -1;
  result = dlpackgen_buffer_describe(&view, writable, out, scratch, flags);
  PyBuffer_Release(&view);
  return result;
}

/* Releases a view with the capsule that owns it. */
static void dlpackgen_buffer_let_go(PyObject* capsule) {
  Py_buffer* view = (Py_buffer*)PyCapsule_GetPointer(capsule, NULL);
  PyBuffer_Release(view);
  free(view);
}

/* The same, and retains the view in a capsule. A memoryview would take twice the time, and would
 * request the buffer again. */
static int dlpackgen_buffer_retain(PyObject* object, DLTensor* out, int64_t* scratch, uint64_t* flags,
                                   PyObject** keep) {
  Py_buffer* view = (Py_buffer*)malloc(sizeof *view);
  PyObject* capsule = NULL;
  int result = -1;
  if (!view) PyErr_NoMemory();
  else if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) == 0) {
    capsule = PyCapsule_New(view, NULL, dlpackgen_buffer_let_go);
    if (capsule) result = dlpackgen_buffer_describe(view, 0, out, scratch, flags);
    else PyBuffer_Release(view);
  }
  if (!capsule) free(view);
  if (result == 0) *keep = capsule;
  else Py_XDECREF(capsule);
  return result;
}

#endif /* DLPACKGEN_PYTHON_READER_BUFFER_H_ */
