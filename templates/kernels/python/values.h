/* What modules of described kernels need beside the base: arguments by place and name, the kinds of
 * argument that tables do not have, copies, and results. */
#ifndef DLPACKGEN_PYTHON_VALUES_H_
#define DLPACKGEN_PYTHON_VALUES_H_

#if defined(__GNUC__)
#define DLPACKGEN_VALUE __attribute__((unused)) static
#else
#define DLPACKGEN_VALUE static
#endif

/* Arguments */

/* Gives the place of a name among so many, or -1. */
DLPACKGEN_VALUE int dlpackgen_place_of_name(const char* const* names, int count, PyObject* name) {
  for (int i = 0; i < count; i++)
    if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0) return i;
  return -1;
}

/* Puts one argument where its name belongs. */
DLPACKGEN_VALUE int dlpackgen_place_named(const char* function, const char* const* names, int count, PyObject* name,
                                          PyObject* value, PyObject** given) {
  const int i = dlpackgen_place_of_name(names, count, name);
  if (i >= 0 && !given[i]) {
    given[i] = value;
    return 0;
  }
  PyErr_Format(PyExc_TypeError,
               i < 0 ? "%s() got an unexpected keyword argument '%U'" : "%s() got two values for argument '%U'",
               function, name);
  return -1;
}

/* Sorts what came by its place in the names; those behind `positional` come by name alone. What did
 * not come is NULL. */
DLPACKGEN_VALUE int dlpackgen_place_all(const char* function, const char* const* names, int positional, int count,
                                        PyObject* const* arguments, Py_ssize_t came, PyObject* keywords,
                                        PyObject** given) {
  const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
  if (came > positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes %d argument%s, got %zd", function, positional, positional == 1 ? "" : "s",
                 came);
    return -1;
  }
  for (int i = 0; i < count; i++) given[i] = i < came ? arguments[i] : NULL;
  for (Py_ssize_t k = 0; k < named; k++)
    if (dlpackgen_place_named(function, names, count, PyTuple_GetItem(keywords, k), arguments[came + k], given))
      return -1;
  return 0;
}

/* Spreads a tuple out= over so many results. */
DLPACKGEN_VALUE int dlpackgen_spread(const char* function, PyObject* out, int count, PyObject** given) {
  for (int i = 0; i < count; i++) given[i] = NULL;
  if (!out || out == Py_None) return 0;
  if (!PyTuple_Check(out) || PyTuple_Size(out) != count) {
    PyErr_Format(PyExc_TypeError, "%s(): argument 'out': expected a tuple of %d tensors, each may be None", function,
                 count);
    return -1;
  }
  for (int i = 0; i < count; i++) given[i] = PyTuple_GetItem(out, i);
  return 0;
}

/* Begins a call; a stream, where there is one, goes on by its name. */
DLPACKGEN_VALUE int dlpackgen_begin_placed(struct dlpackgen_call* call, PyObject* module,
                                           const struct dlpackgen_function* function, PyObject** given,
                                           PyObject* stream) {
  if (!stream) return dlpackgen_call_begin(call, module, function, given, function->nparameters, NULL);
  PyObject* const names = Py_BuildValue("(s)", "stream");
  given[function->nparameters] = stream;
  const int failed = names ? dlpackgen_call_begin(call, module, function, given, function->nparameters, names) : -1;
  Py_XDECREF(names);
  return failed;
}

/* Reports a value of the wrong type. Gives -1. */
DLPACKGEN_VALUE int dlpackgen_other_kind(const struct dlpackgen_call* call, int i, PyObject* value,
                                         const char* expected) {
  PyObject* const name = PyType_GetName(Py_TYPE(value));
  if (name) dlpackgen_argument_error(call, i, PyExc_TypeError, "expected %s, got %U", expected, name);
  Py_XDECREF(name);
  return -1;
}

/* Reads an integer of at most 64 bits: whatever has __index__, but no bool. */
DLPACKGEN_VALUE int dlpackgen_read_integer(const struct dlpackgen_call* call, int i, PyObject* value,
                                           const char* expected, int64_t* number) {
  PyObject* const index = PyBool_Check(value) ? NULL : PyNumber_Index(value);
  if (!index && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
  PyErr_Clear();
  if (!index) return dlpackgen_other_kind(call, i, value, expected);
  *number = (int64_t)PyLong_AsLongLong(index);
  Py_DECREF(index);
  if (*number != -1 || !PyErr_Occurred()) return 0;
  PyErr_Clear();
  return dlpackgen_argument_error(call, i, PyExc_OverflowError, "expected a number of at most 64 bits");
}

/* Reads a float: whatever has __float__, but no text. */
DLPACKGEN_VALUE int dlpackgen_read_real(const struct dlpackgen_call* call, int i, PyObject* value, const char* expected,
                                        double* number) {
  *number = PyFloat_AsDouble(value);
  if (*number != -1 || !PyErr_Occurred()) return 0;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
  PyErr_Clear();
  return dlpackgen_other_kind(call, i, value, expected);
}

/* Reads a scalar of an integer dtype of so many bits. */
DLPACKGEN_VALUE int dlpackgen_read_bits(const struct dlpackgen_call* call, int i, PyObject* value, const char* dtype,
                                        int bits, int is_signed, int64_t* number) {
  if (bits == 64 && !is_signed) {
    const unsigned long long all = PyLong_Check(value) ? PyLong_AsUnsignedLongLong(value) : 0;
    if (!PyLong_Check(value) || PyBool_Check(value)) return dlpackgen_other_kind(call, i, value, dtype);
    *number = (int64_t)all;
    if (all != (unsigned long long)-1 || !PyErr_Occurred()) return 0;
    PyErr_Clear();
    return dlpackgen_argument_error(call, i, PyExc_OverflowError, "%s does not hold %R", dtype, value);
  }
  if (dlpackgen_read_integer(call, i, value, dtype, number)) return -1;
  const int64_t low = is_signed ? -((int64_t)1 << (bits - 1) >> (bits == 64)) : 0;
  const int64_t high = bits == 64 ? INT64_MAX : ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
  if (bits == 64 || (*number >= low && *number <= high)) return 0;
  return dlpackgen_argument_error(call, i, PyExc_OverflowError, "%s does not hold %lld", dtype, (long long)*number);
}

/* Reads a scalar of a float dtype, whose largest number is given. */
DLPACKGEN_VALUE int dlpackgen_read_within(const struct dlpackgen_call* call, int i, PyObject* value, const char* dtype,
                                          double most, double* number) {
  if (dlpackgen_read_real(call, i, value, dtype, number)) return -1;
  if (*number != *number || *number - *number != 0 || (*number <= most && *number >= -most)) return 0;
  return dlpackgen_argument_error(call, i, PyExc_OverflowError, "%s does not hold %R", dtype, value);
}

/* Reads a text without NUL: it lives as long as its object. */
DLPACKGEN_VALUE int dlpackgen_read_text(const struct dlpackgen_call* call, int i, PyObject* value, const char** text) {
  Py_ssize_t length = 0;
  if (!PyUnicode_Check(value)) return dlpackgen_other_kind(call, i, value, "str");
  *text = PyUnicode_AsUTF8AndSize(value, &length);
  if (!*text) return -1;
  if (strlen(*text) == (size_t)length) return 0;
  return dlpackgen_argument_error(call, i, PyExc_ValueError, "expected a text without NUL");
}

/* A list of numbers of one kind. */
struct dlpackgen_numbers {
  void* items;
  int64_t count;
};

/* Reads a list or a tuple of numbers of 8 bytes. */
DLPACKGEN_VALUE int dlpackgen_read_numbers(const struct dlpackgen_call* call, int i, PyObject* value, int are_real,
                                           struct dlpackgen_numbers* numbers) {
  const char* const expected = are_real ? "a list of float" : "a list of int";
  if (!PyList_Check(value) && !PyTuple_Check(value)) return dlpackgen_other_kind(call, i, value, expected);
  PyObject* const items = PySequence_Tuple(value);
  if (!items) return -1;
  const Py_ssize_t count = PyTuple_Size(items);
  int failed = 0;
  numbers->items = PyMem_Malloc((size_t)count * sizeof(int64_t) + 1);
  numbers->count = (int64_t)count;
  if (!numbers->items) PyErr_NoMemory(), failed = -1;
  for (Py_ssize_t n = 0; n < count && !failed; n++) {
    PyObject* const item = PyTuple_GetItem(items, n);
    if (are_real) failed = dlpackgen_read_real(call, i, item, expected, (double*)numbers->items + n);
    else failed = dlpackgen_read_integer(call, i, item, expected, (int64_t*)numbers->items + n);
  }
  Py_DECREF(items);
  return failed;
}

/* Checks and results */

/* A scalar result whose dtype the call decides. */
union dlpackgen_scalar {
  int64_t as_int64_t;
  int32_t as_int32_t;
  int16_t as_int16_t;
  int8_t as_int8_t;
  uint64_t as_uint64_t;
  uint32_t as_uint32_t;
  uint16_t as_uint16_t;
  uint8_t as_uint8_t;
  float as_float;
  double as_double;
  bool as_bool;
};

/* Room for a sentence. */
enum { DLPACKGEN_VALUE_TEXT = 4096 };

/* Raises what a check or a kernel says. Gives -1. */
DLPACKGEN_VALUE int dlpackgen_raise_status(int status, const struct dlpackgen_message* message) {
  PyObject* kind = PyExc_RuntimeError;
  switch (status) {
#define DLPACKGEN_STATUS(name, exception, number) \
  case number: kind = PyExc_##exception; break;
    DLPACKGEN_STATUSES(DLPACKGEN_STATUS)
#undef DLPACKGEN_STATUS
    default: break;
  }
  PyObject* const text = PyUnicode_DecodeUTF8(message->text, (Py_ssize_t)strlen(message->text), "replace");
  if (text) PyErr_SetObject(kind, text);
  Py_XDECREF(text);
  return -1;
}

/* Copies elements of so many bytes, dimension by dimension, into a C-contiguous block. */
DLPACKGEN_VALUE char* dlpackgen_copy_elements(const DLTensor* from, int32_t d, const char* at, size_t bytes, char* to) {
  if (d == from->ndim) {
    memcpy(to, at, bytes);
    return to + bytes;
  }
  for (int64_t i = 0; i < from->shape[d]; i++)
    to = dlpackgen_copy_elements(from, d + 1, at + i * from->strides[d] * (int64_t)bytes, bytes, to);
  return to;
}

/* Makes a C-contiguous copy of a tensor in the host's memory, where it is none: what others cannot
 * have stays as it is, and the check says so. */
DLPACKGEN_VALUE int dlpackgen_make_contiguous(const DLTensor** tensor, DLManagedTensorVersioned** copy) {
  const DLTensor* const from = *tensor;
  const size_t bits = (size_t)from->dtype.bits * from->dtype.lanes;
  if (dlpackgen_is_contiguous(from) || bits % 8 != 0) return 0;
  if (!dlpackgen_device_is_host_readable((int32_t)from->device.device_type)) return 0;
  *copy = dlpackgen_allocate(from->dtype, from->ndim, from->shape);
  if (!*copy) return -1;
  dlpackgen_copy_elements(from, 0, (const char*)from->data + from->byte_offset, bits / 8,
                          (char*)(*copy)->dl_tensor.data);
  *tensor = &(*copy)->dl_tensor;
  return 0;
}

/* Puts a result into a tuple; takes the reference over. */
DLPACKGEN_VALUE int dlpackgen_add_result(PyObject* results, int i, PyObject* result) {
  return result ? PyTuple_SetItem(results, i, result) : -1;
}

#endif /* DLPACKGEN_PYTHON_VALUES_H_ */
