/* The part of modules of described kernels that the base lacks: positional and keyword arguments,
 * kinds of arguments that tables do not have, copies, and results. */
#ifndef DLPACKGEN_PYTHON_VALUES_H_
#define DLPACKGEN_PYTHON_VALUES_H_

#include <dlpackgen/scalar.h>

#if defined(__GNUC__)
#define DLPACKGEN_VALUE __attribute__((unused)) static
#else
#define DLPACKGEN_VALUE static
#endif

/* Inlining in each function saves time, but increases the size. */
#if defined(__OPTIMIZE_SIZE__)
#define DLPACKGEN_COPIED DLPACKGEN_VALUE
#else
#define DLPACKGEN_COPIED DLPACKGEN_FAST
#endif

/* Arguments */

/* Stores each argument at the index of its name. Most calls have no keywords and no missing
 * arguments. */
DLPACKGEN_FAST int dlpackgen_arrange_inline(const struct dlpackgen_names* names, PyObject* const* arguments,
                                            Py_ssize_t count, PyObject* keywords, PyObject** passed) {
  if (DLPACKGEN_RARE(keywords != NULL || count != names->positional))
    return dlpackgen_arrange(names, arguments, count, keywords, passed);
  for (int i = 0; i < names->positional; i++) passed[i] = arguments[i];
  for (int i = names->positional; i <= names->count; i++) passed[i] = NULL;
  return 0;
}

/* Reports an out= that is no tuple, or has another size. Returns -1. */
DLPACKGEN_SLOW static int dlpackgen_no_spread(const char* function, PyObject* out, int count) {
  PyObject* const got =
      PyTuple_Check(out) ? PyUnicode_FromFormat("%zd", PyTuple_Size(out)) : PyType_GetName(Py_TYPE(out));
  if (got)
    PyErr_Format(PyExc_TypeError, "%s(): argument 'out': expected a tuple of %d tensors, got %U", function, count, got);
  Py_XDECREF(got);
  return -1;
}

/* Assigns a tuple out= to the given number of results. */
DLPACKGEN_VALUE int dlpackgen_spread(const char* function, PyObject* out, int count, PyObject** passed) {
  for (int i = 0; i < count; i++) passed[i] = NULL;
  if (!out || out == Py_None) return 0;
  if (!PyTuple_Check(out) || PyTuple_Size(out) != count) return dlpackgen_no_spread(function, out, count);
  for (int i = 0; i < count; i++) passed[i] = PyTuple_GetItem(out, i);
  return 0;
}

/* Returns whether an argument may be on its device, and records the source of the stream there. */
DLPACKGEN_SLOW static int dlpackgen_is_placed_at_once(struct dlpackgen_argument* a, const struct dlpackgen_parameter* p,
                                                      const struct dlpackgen_means* means) {
  a->private_.reader = means->reader;
  a->private_.api = means->api;
  a->private_.guard = means->guard;
  return dlpackgen_accepts_device(p, (int32_t)a->tensor.device.device_type);
}

/* Determines the stream of a call with tensors outside host memory. Returns 1, or 0 if the base
 * must do this, because it reports an error, or queries a backend about the memory. */
DLPACKGEN_SLOW static int dlpackgen_settles_at_once(struct dlpackgen_call* call) {
  return !call->private_.state->backends[0].table && dlpackgen_settle(call, 0) == 0;
}

/* Reads all arguments if that runs no foreign code, without checking the tensors, which the
 * kernel's checks do. Returns 1, or 0 if the base must read them. Acquires nothing that must be
 * released. */
DLPACKGEN_COPIED int dlpackgen_reads_all(struct dlpackgen_call* call, PyObject* module,
                                         const struct dlpackgen_function* function, PyObject* const* passed) {
  struct dlpackgen_means means = {NULL, NULL, NULL, NULL, NULL, NULL};
  int elsewhere = 0;
  dlpackgen_start(call, module, function);
  DLPACKGEN_UNROLLED
  for (int i = 0; i < function->nparameters; i++) {
    const struct dlpackgen_parameter* const p = &function->parameters[i];
    struct dlpackgen_argument* const a = &call->arguments[i];
    if (DLPACKGEN_RARE(!dlpackgen_reads_unchecked(call, i, p, passed[i], &means))) return 0;
    if (p->kind != DLPACKGEN_KIND_TENSOR || !a->object) continue;
    if (DLPACKGEN_RARE(a->tensor.device.device_type != kDLCPU)) {
      if (dlpackgen_is_cpu_only(p) || !dlpackgen_is_placed_at_once(a, p, &means)) return 0;
      elsewhere = 1;
    }
  }
  return !elsewhere || dlpackgen_settles_at_once(call);
}

/* Begins a call through the base; a stream is passed as a keyword. */
DLPACKGEN_SLOW static int dlpackgen_begin_usually(struct dlpackgen_call* call, PyObject* module,
                                                  const struct dlpackgen_function* function, PyObject** passed,
                                                  PyObject* stream) {
  PyErr_Clear();
  if (!stream) return dlpackgen_call_begin(call, module, function, passed, function->nparameters, NULL);
  PyObject* const names = Py_BuildValue("(s)", "stream");
  passed[function->nparameters] = stream;
  const int failed = names ? dlpackgen_call_begin(call, module, function, passed, function->nparameters, names) : -1;
  Py_XDECREF(names);
  return failed;
}

/* Begins a call. `unchecked`: the kernel's checks receive every tensor unchanged. */
DLPACKGEN_FAST int dlpackgen_begin_placed(struct dlpackgen_call* call, PyObject* module,
                                          const struct dlpackgen_function* function, PyObject** passed,
                                          PyObject* stream, int unchecked) {
  if (unchecked && !stream && dlpackgen_reads_all(call, module, function, passed)) return 0;
  return dlpackgen_begin_usually(call, module, function, passed, stream);
}

/* Reports a value of the wrong type. Returns -1. */
DLPACKGEN_VALUE int dlpackgen_other_kind(struct dlpackgen_call* call, int i, PyObject* value, const char* expected) {
  call->arguments[i].object = value;
  return dlpackgen_wrong_scalar(call, i, expected);
}

/* Reports why a value was not converted. Returns -1. */
DLPACKGEN_VALUE int dlpackgen_not_read(struct dlpackgen_call* call, int i, PyObject* value, const char* expected) {
  call->arguments[i].object = value;
  return dlpackgen_not_converted(call, i, expected);
}

/* Reads an integer of at most 64 bits: any object with __index__ except a bool. */
DLPACKGEN_VALUE int dlpackgen_read_integer(struct dlpackgen_call* call, int i, PyObject* value, const char* expected,
                                           int64_t* number) {
  long long all = 0;
  if (PyBool_Check(value)) return dlpackgen_other_kind(call, i, value, expected);
  if (dlpackgen_to_integer(call, i, value, expected, strcmp(expected, "int") ? expected : "int64", &all)) return -1;
  *number = (int64_t)all;
  return 0;
}

/* Reads a float: any object with __float__ except a text. */
DLPACKGEN_VALUE int dlpackgen_read_real(struct dlpackgen_call* call, int i, PyObject* value, const char* expected,
                                        double* number) {
  *number = PyFloat_AsDouble(value);
  if (*number != -1 || !PyErr_Occurred()) return 0;
  call->arguments[i].object = value;
  return dlpackgen_no_real(call, i, expected);
}

/* Clears the exception of a failed conversion. Returns 0, or -1 if the exception must be
 * propagated. */
DLPACKGEN_VALUE int dlpackgen_not_so(const struct dlpackgen_call* call, int i) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return dlpackgen_about(call->function, i);
  PyErr_Clear();
  return 0;
}

/* Converts a scalar that has the dtype of a tensor to an int, a float or a bool; an object that is
 * not a number is unchanged. The tensors are read afterwards, and reading the result runs no code
 * that could change them. `maybe_bool`: the dtype may be bool. */
DLPACKGEN_VALUE int dlpackgen_make_plain(const struct dlpackgen_call* call, int i, PyObject* value, int maybe_bool,
                                         PyObject** plain) {
  if (!value) return 0;
  if (!dlpackgen_is_plain(value) && PyIndex_Check(value)) *plain = PyNumber_Index(value);
  if (PyErr_Occurred() && dlpackgen_not_so(call, i)) return -1;
  if (!*plain && !dlpackgen_is_plain(value) && maybe_bool) {
    const int truth = dlpackgen_bool_of(call, i, value);
    if (truth < 0) return -1;
    if (truth < 2) *plain = PyBool_FromLong(truth);
  }
  if (!*plain && !dlpackgen_is_plain(value)) {
    const double real = PyFloat_AsDouble(value);
    if (real != -1 || !PyErr_Occurred()) *plain = PyFloat_FromDouble(real);
    if (!*plain && dlpackgen_not_so(call, i)) return -1;
  }
  if (!*plain) *plain = Py_NewRef(value);
  return 0;
}

/* Reports that a plain scalar does not have a dtype, with the original object; returns 0 if it may
 * have it. */
DLPACKGEN_VALUE int dlpackgen_check_plain(struct dlpackgen_call* call, int i, PyObject* value, PyObject* plain,
                                          int is_real, const char* dtype) {
  if (dlpackgen_is_plain(plain) && (is_real || !PyFloat_CheckExact(plain))) return 0;
  return dlpackgen_other_kind(call, i, value, dtype);
}

/* Reads an integer of uint64, and stores its bits. */
DLPACKGEN_VALUE int dlpackgen_read_natural(struct dlpackgen_call* call, int i, PyObject* value, const char* dtype,
                                           int64_t* number) {
  if (PyBool_Check(value)) return dlpackgen_other_kind(call, i, value, dtype);
  PyObject* const index = PyNumber_Index(value);
  if (!index) return dlpackgen_not_read(call, i, value, dtype);
  const unsigned long long all = PyLong_AsUnsignedLongLong(index);
  int failed = 0;
  *number = (int64_t)all;
  if (all == (unsigned long long)-1 && PyErr_Occurred()) {
    PyErr_Clear();
    failed = dlpackgen_out_of_range(call, i, dtype, index);
  }
  Py_DECREF(index);
  return failed;
}

/* Reads a scalar of an integer dtype with the given number of bits. */
DLPACKGEN_VALUE int dlpackgen_read_bits(struct dlpackgen_call* call, int i, PyObject* value, const char* dtype,
                                        int bits, int is_signed, int64_t* number) {
  if (bits == 64 && !is_signed) return dlpackgen_read_natural(call, i, value, dtype, number);
  if (bits == 1 && PyBool_Check(value)) {
    *number = value == Py_True;
    return 0;
  }
  if (dlpackgen_read_integer(call, i, value, dtype, number)) return -1;
  if (bits == 64) return 0;
  const int64_t above = (int64_t)1 << (is_signed ? bits - 1 : bits);
  if (*number >= (is_signed ? -above : 0) && *number < above) return 0;
  return dlpackgen_argument_error(call, i, PyExc_OverflowError, "%s" DLPACKGEN_TEXT_OUT_OF_RANGE "%lld", dtype,
                                  (long long)*number);
}

/* Reads a scalar of a float dtype, whose largest number is given. A foreign type's __index__ is
 * called once, for the number and for the message. */
DLPACKGEN_VALUE int dlpackgen_read_within(struct dlpackgen_call* call, int i, PyObject* value, const char* dtype,
                                          double most, double* number) {
  if (!PyLong_Check(value) && PyIndex_Check(value) && !PyType_GetSlot(Py_TYPE(value), Py_nb_float)) {
    PyObject* const index = PyNumber_Index(value);
    const int failed =
        index ? dlpackgen_read_within(call, i, index, dtype, most, number) : dlpackgen_not_read(call, i, value, dtype);
    Py_XDECREF(index);
    return failed;
  }
  if (dlpackgen_read_real(call, i, value, dtype, number)) return -1;
  if (*number != *number || *number - *number != 0 || (*number <= most && *number >= -most)) return 0;
  PyObject* read = PyIndex_Check(value) ? PyNumber_Index(value) : NULL;
  if (PyErr_Occurred() && dlpackgen_not_so(call, i)) return -1;
  if (!read) read = PyFloat_FromDouble(*number);
  if (read) dlpackgen_out_of_range(call, i, dtype, read);
  Py_XDECREF(read);
  return -1;
}

/* Reads a text without NUL, which exists as long as its object. A lone surrogate has no UTF-8. */
DLPACKGEN_VALUE int dlpackgen_read_text(struct dlpackgen_call* call, int i, PyObject* value, const char** text) {
  Py_ssize_t length = 0;
  if (!PyUnicode_Check(value)) return dlpackgen_other_kind(call, i, value, "str");
  *text = PyUnicode_AsUTF8AndSize(value, &length);
  if (!*text && !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
  if (!*text) {
    PyErr_Clear();
    return dlpackgen_argument_error(call, i, PyExc_ValueError, "expected a string that UTF-8 can encode, got %A",
                                    value);
  }
  if (strlen(*text) == (size_t)length) return 0;
  return dlpackgen_argument_error(call, i, PyExc_ValueError, DLPACKGEN_TEXT_NUL);
}

/* A list of numbers of one kind. */
struct dlpackgen_numbers {
  void* items;
  int64_t count;
};

/* Raises the current exception again, with the same class and the index of the list item. Returns
 * -1. */
DLPACKGEN_SLOW static int dlpackgen_about_item(const struct dlpackgen_call* call, int i, Py_ssize_t n) {
  char buffer[DLPACKGEN_SENTENCE];
  struct dlpackgen_message where = dlpackgen_message_in(buffer, sizeof buffer);
  const struct dlpackgen_site at = dlpackgen_site_of(call->function, i);
  struct dlpackgen_pending former = dlpackgen_catch();
  PyObject* const kind = dlpackgen_kind_of(former.value);
  if (!kind) {
    dlpackgen_resume(former);
    return -1;
  }
  dlpackgen_put_site(&where, &at);
  PyObject* const site = dlpackgen_message_text(&where);
  PyObject* const all = site ? dlpackgen_exception_text(former.value) : NULL;
  PyObject* const text = all ? PyUnicode_Substring(all, PyUnicode_GetLength(site), PyUnicode_GetLength(all)) : NULL;
  if (text) PyErr_Format(kind, "%Uitem %zd: %U", site, n, text);
  Py_XDECREF(text);
  Py_XDECREF(all);
  Py_XDECREF(site);
  dlpackgen_chain(kind, &former);
  return -1;
}

/* Returns whether an object is a collections.abc.Sequence but not a text: 1, 0, or -1 with an
 * exception. */
DLPACKGEN_SLOW static int dlpackgen_is_sequence(PyObject* value) {
  if (PyUnicode_Check(value) || PyBytes_Check(value)) return 0;
  PyObject* const module = PyImport_ImportModule("collections.abc");
  PyObject* const sequence = module ? PyObject_GetAttrString(module, "Sequence") : NULL;
  const int is = sequence ? PyObject_IsInstance(value, sequence) : -1;
  Py_XDECREF(sequence);
  Py_XDECREF(module);
  return is;
}

/* Reads a sequence of numbers of 8 bytes. */
DLPACKGEN_VALUE int dlpackgen_read_numbers(struct dlpackgen_call* call, int i, PyObject* value, int are_real,
                                           struct dlpackgen_numbers* numbers) {
  const char* const expected = are_real ? DLPACKGEN_TEXT_FLOATS : DLPACKGEN_TEXT_INTS;
  const int is = PyList_Check(value) || PyTuple_Check(value) ? 1 : dlpackgen_is_sequence(value);
  if (is < 0) return dlpackgen_about(call->function, i);
  if (!is) return dlpackgen_other_kind(call, i, value, expected);
  PyObject* const items = PySequence_Tuple(value);
  if (!items) return dlpackgen_about(call->function, i);
  const Py_ssize_t count = PyTuple_Size(items);
  int failed = 0;
  numbers->items = PyMem_Malloc((size_t)count * sizeof(int64_t) + 1);
  numbers->count = (int64_t)count;
  if (!numbers->items) PyErr_NoMemory(), failed = -1;
  for (Py_ssize_t n = 0; n < count && !failed; n++) {
    PyObject* const item = PyTuple_GetItem(items, n);
    if (are_real) failed = dlpackgen_read_real(call, i, item, "float", (double*)numbers->items + n);
    else failed = dlpackgen_read_integer(call, i, item, "int", (int64_t*)numbers->items + n);
    if (failed) failed = dlpackgen_about_item(call, i, n);
  }
  Py_DECREF(items);
  return failed;
}

/* Checks and results */

/* Makes a C-contiguous copy of a tensor in host memory that is not contiguous. A tensor that cannot
 * be copied, or has a wrong dtype, is unchanged, and the check reports it. */
DLPACKGEN_VALUE int dlpackgen_make_contiguous(const struct dlpackgen_call* call, int i, const DLTensor** tensor,
                                              DLManagedTensorVersioned** copy) {
  const struct dlpackgen_parameter* const p = &call->function->parameters[i];
  const DLTensor* const from = *tensor;
  const size_t item = dlpackgen_item_of(from, 0);
  if (dlpackgen_is_contiguous(from) || item == 0) return 0;
  if (!dlpackgen_accepts_dtype(p, dlpackgen_dtype_of(from))) return 0;
  *copy = dlpackgen_allocate(from->dtype, from->ndim, from->shape);
  if (!*copy) {
    PyErr_Clear();
    return dlpackgen_argument_error(call, i, PyExc_MemoryError, DLPACKGEN_TEXT_NO_COPY);
  }
  dlpackgen_copy_along(0, from, (char*)(*copy)->dl_tensor.data, (const char*)from->data + from->byte_offset, item);
  *tensor = &(*copy)->dl_tensor;
  return 0;
}

/* Returns whether every version of NumPy has a dtype, and so the other libraries. */
DLPACKGEN_VALUE int dlpackgen_is_of_numpy(DLDataType dtype) {
  if (dtype.lanes != 1) return 0;
  switch (dtype.code) {
    case kDLBool: return dtype.bits == 8;
    case kDLInt:
    case kDLUInt: return dtype.bits >= 8 && dtype.bits <= 64;
    case kDLFloat: return dtype.bits >= 16 && dtype.bits <= 64;
    case kDLComplex: return dtype.bits == 64 || dtype.bits == 128;
    default: return 0;
  }
}

/* Returns whether the library of an argument has a dtype: 1, 0, or -1 with an exception. It
 * allocates an empty tensor, for which memory suffices: PyTorch reports a missing dtype as
 * MemoryError. */
DLPACKGEN_VALUE int dlpackgen_has_dtype(struct dlpackgen_call* call, int like, DLDataType dtype) {
  const int64_t none = 0;
  DLManagedTensorVersioned* const made = dlpackgen_new_empty(call, like, dtype, 1, &none);
  PyObject* const object = made ? dlpackgen_to_py_object(call, like, made) : NULL;
  if (!object && !PyErr_ExceptionMatches(PyExc_Exception)) return -1;
  if (!object) PyErr_Clear();
  Py_XDECREF(object);
  return object != NULL;
}

/* Raises TypeError for a result whose dtype an argument's library lacks. Returns 0 if it has
 * that dtype, or cannot create a tensor of uint8 either, or -1 with an exception. */
DLPACKGEN_VALUE int dlpackgen_check_has_dtype(struct dlpackgen_call* call, int like, const char* result,
                                              DLDataType dtype) {
  const DLDataType bytes = {kDLUInt, 8, 1};
  char buffer[64];
  struct dlpackgen_message text = dlpackgen_message_in(buffer, sizeof buffer);
  const int has = dlpackgen_has_dtype(call, like, dtype);
  const int lacks = has ? has - 1 : dlpackgen_has_dtype(call, like, bytes);
  if (lacks <= 0) return has < 0 || lacks < 0 ? -1 : 0;
  dlpackgen_put_dtype(&text, DLPACKGEN_DTYPE(dtype.code, dtype.bits, dtype.lanes));
  PyErr_Format(PyExc_TypeError,
               "%s(): result '%s': expected a dtype that the library of '%s' supports, got %s: pass an array of "
               "another library, or memory as out=",
               call->function->name, result, call->function->parameters[like].name, buffer);
  return -1;
}

/* Returns whether an exception is a MemoryError without a text, such as Python's own. */
DLPACKGEN_VALUE int dlpackgen_is_silent(PyObject* exception) {
  PyObject* arguments = NULL;
  if (!PyErr_GivenExceptionMatches(exception, PyExc_MemoryError)) return 0;
  const int found = dlpackgen_find(exception, "args", &arguments);
  if (found < 0) PyErr_Clear();
  const int is_silent = found > 0 && PyTuple_Check(arguments) && PyTuple_Size(arguments) == 0;
  Py_XDECREF(arguments);
  return is_silent;
}

/* Replaces the exception of a result that could not be made, if its dtype is the reason or if it
 * has no text. For the dtypes of every library, nothing more is allocated. */
DLPACKGEN_VALUE void dlpackgen_explain_result(struct dlpackgen_call* call, int like, const char* result,
                                              DLDataType dtype) {
  struct dlpackgen_pending former = dlpackgen_catch();
  if (dlpackgen_is_silent(former.value)) {
    dlpackgen_drop_pending(&former);
    PyErr_Format(PyExc_MemoryError, "%s(): result '%s': no memory", call->function->name, result);
    return;
  }
  if (dlpackgen_is_of_numpy(dtype)) {
    dlpackgen_resume(former);
    return;
  }
  const int is_plain = PyErr_GivenExceptionMatches(former.value, PyExc_Exception);
  if (is_plain && dlpackgen_check_has_dtype(call, like, result, dtype)) dlpackgen_chain(PyExc_TypeError, &former);
  else dlpackgen_resume(former);
}

/* Reports a dtype that NumPy lacks before the kernel runs and writes to arguments. Other libraries
 * allocate the memory, and report it then. */
DLPACKGEN_VALUE int dlpackgen_check_of_numpy(struct dlpackgen_call* call, int like, const char* result,
                                             DLDataType dtype) {
  struct dlpackgen_maker by;
  if (dlpackgen_is_of_numpy(dtype)) return 0;
  if (dlpackgen_find_maker(call, like, &by)) return -1;
  if (by.api || by.known != &dlpackgen_reader_numpy) return 0;
  return dlpackgen_check_has_dtype(call, like, result, dtype) ? -1 : dlpackgen_check_again(call);
}

/* Provides the memory of a result: that of out=, if present, or new memory of an argument's
 * library. `out` is the index of out= in the call, or -1 for a result that is not returned. */
DLPACKGEN_VALUE int dlpackgen_allocate_result(struct dlpackgen_call* call, int like, int out, const char* name,
                                              const struct dlpackgen_result* wanted, DLManagedTensorVersioned** made,
                                              DLTensor** result) {
  if (out >= 0 && call->arguments[out].object) {
    *result = &call->arguments[out].tensor;
    return 0;
  }
  if (out >= 0 && dlpackgen_check_of_numpy(call, like, name, wanted->dtype)) return -1;
  *made = dlpackgen_new_empty(call, like, wanted->dtype, wanted->ndim, wanted->shape);
  if (!*made) {
    dlpackgen_explain_result(call, like, name, wanted->dtype);
    return -1;
  }
  *result = &(*made)->dl_tensor;
  return 0;
}

/* Returns a new reference to the object of an allocated tensor, whose ownership it takes, or to
 * out=. */
DLPACKGEN_VALUE PyObject* dlpackgen_result_object(struct dlpackgen_call* call, int like, int out, const char* name,
                                                  DLManagedTensorVersioned** made) {
  DLManagedTensorVersioned* const tensor = *made;
  *made = NULL;
  if (!tensor) return Py_NewRef(call->arguments[out].object);
  const DLDataType dtype = tensor->dl_tensor.dtype;
  PyObject* const object = dlpackgen_to_py_object(call, like, tensor);
  if (!object) dlpackgen_explain_result(call, like, name, dtype);
  return object;
}

/* Creates a tuple of results, all of which exist. */
DLPACKGEN_VALUE PyObject* dlpackgen_pack(PyObject* const* objects, int count) {
  PyObject* const tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; i++) PyTuple_SetItem(tuple, i, Py_NewRef(objects[i]));
  return tuple;
}

/* Releases the remaining results. */
DLPACKGEN_VALUE void dlpackgen_drop_results(PyObject* const* objects, int count) {
  for (int i = 0; i < count; i++) Py_XDECREF(objects[i]);
}

#endif /* DLPACKGEN_PYTHON_VALUES_H_ */
