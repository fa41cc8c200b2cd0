/* A module that reports its arguments: the tests compare them with the libraries' own reports. */
#define _POSIX_C_SOURCE 200809L
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include <string.h>
#include <unistd.h>

/* Any tensor. */
#define ANY(verb, writes)                                                                      \
  static const struct dlpackgen_parameter verb##_parameters[] = {                              \
      {.name = "x", .leading_dims = 1, .devices = {DLPACKGEN_ANY_DEVICE}, .writable = writes}, \
  };                                                                                           \
  static const struct dlpackgen_function verb##_function = {DLPACKGEN_FUNCTION(#verb, verb##_parameters)};

ANY(read, 0)
ANY(write, 1)

static PyObject* numbers(int32_t count, const int64_t* values) {
  PyObject* tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple && i < count; i++) PyTuple_SetItem(tuple, i, PyLong_FromLongLong(values[i]));
  return tuple;
}

/* (address, shape, strides, dtype, device, flags) */
static PyObject* describe(const DLTensor* t, uint64_t flags) {
  char* first = (char*)t->data + t->byte_offset;
  return Py_BuildValue("(NNN(iii)(ii)K)", PyLong_FromVoidPtr(t->data ? first : NULL), numbers(t->ndim, t->shape),
                       t->strides ? numbers(t->ndim, t->strides) : PyTuple_New(0), t->dtype.code, t->dtype.bits,
                       t->dtype.lanes, (int)t->device.device_type, t->device.device_id, (unsigned long long)flags);
}

/* Copies the elements from one dimension on, in row-major order; returns the next position. */
static char* gather(const DLTensor* t, int32_t dimension, const char* from, size_t size, char* to) {
  if (dimension == t->ndim) {
    memcpy(to, from, size);
    return to + size;
  }
  for (int64_t i = 0; i < t->shape[dimension]; i++)
    to = gather(t, dimension + 1, from + i * t->strides[dimension] * (int64_t)size, size, to);
  return to;
}

/* Elements that share bytes are returned as stored. */
static PyObject* elements(const DLTensor* t, uint64_t flags) {
  const int shared =
      t->dtype.bits < 8 && t->dtype.bits * t->dtype.lanes % 8 && !(flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);
  const char* first = (const char*)t->data + t->byte_offset;
  int64_t size = 0;
  PyObject* bytes;
  if (dlpackgen_nbytes(t, flags, &size) != DLPACKGEN_OK) return PyErr_Format(PyExc_ValueError, "what a shape");
  bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  if (bytes && size > 0 && shared) memcpy(PyBytes_AsString(bytes), first, (size_t)size);
  else if (bytes && size > 0)
    gather(t, 0, first, ((size_t)t->dtype.bits * t->dtype.lanes + 7) / 8, PyBytes_AsString(bytes));
  return bytes;
}

/* Returns (description, bytes of the elements), optionally after other threads could run. */
static PyObject* answer(const struct dlpackgen_function* function, int unlocked, PyObject* self,
                        PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  PyObject* result;
  DLPACKGEN_CALL_OF(call, 1);
  if (dlpackgen_call_begin(&call, self, function, arguments, count, keywords) < 0) return NULL;
  if (unlocked) PyEval_RestoreThread(PyEval_SaveThread());
  result = Py_BuildValue("(NN)", describe(&call.arguments[0].tensor, call.arguments[0].flags),
                         elements(&call.arguments[0].tensor, call.arguments[0].flags));
  dlpackgen_call_end(&call);
  return result;
}

#define VERB(verb, function, unlocked)                                                                             \
  static PyObject* call_##verb(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) { \
    return answer(&function, unlocked, self, arguments, count, keywords);                                          \
  }

VERB(read, read_function, 0)
VERB(write, write_function, 0)
VERB(read_unlocked, read_function, 1)
VERB(write_unlocked, write_function, 1)

/* Returns the elements of a tensor after it has sent a byte to a socket, the last argument, and
 * received one. */
static PyObject* read_later(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  const int socket = (int)PyLong_AsLong(arguments[--count]);
  PyObject* result;
  char byte = 0;
  int failed;
  DLPACKGEN_CALL_OF(call, 1);
  if (dlpackgen_call_begin(&call, self, &read_function, arguments, count, keywords) < 0) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  failed = write(socket, &byte, 1) != 1 || read(socket, &byte, 1) != 1;
  Py_END_ALLOW_THREADS;
  result = failed ? PyErr_SetFromErrno(PyExc_OSError) : elements(&call.arguments[0].tensor, call.arguments[0].flags);
  dlpackgen_call_end(&call);
  return result;
}

/* Returns the elements of a tensor after the module's meanwhile() was called. */
static PyObject* read_after(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  PyObject* result = NULL;
  DLPACKGEN_CALL_OF(call, 1);
  if (dlpackgen_call_begin(&call, self, &read_function, arguments, count, keywords) < 0) return NULL;
  PyObject* ran = PyObject_CallMethod(self, "meanwhile", NULL);
  if (ran) result = elements(&call.arguments[0].tensor, call.arguments[0].flags);
  Py_XDECREF(ran);
  dlpackgen_call_end(&call);
  return result;
}

/* Returns the elements of the first of two tensors. */
static PyObject* read_first(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  static const struct dlpackgen_parameter parameters[] = {{.name = "x", .leading_dims = 1},
                                                          {.name = "y", .leading_dims = 1}};
  static const struct dlpackgen_function function = {DLPACKGEN_FUNCTION("read_first", parameters)};
  PyObject* result;
  DLPACKGEN_CALL(call, parameters);
  if (dlpackgen_call_begin(&call, self, &function, arguments, count, keywords) < 0) return NULL;
  result = elements(&call.arguments[0].tensor, call.arguments[0].flags);
  dlpackgen_call_end(&call);
  return result;
}

/* Returns the number to add to the original address of a tensor. */
static PyObject* byte_offset(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  uint64_t offset;
  DLPACKGEN_CALL_OF(call, 1);
  if (dlpackgen_call_begin(&call, self, &read_function, arguments, count, keywords) < 0) return NULL;
  offset = call.arguments[0].tensor.byte_offset;
  dlpackgen_call_end(&call);
  return PyLong_FromUnsignedLongLong(offset);
}

/* Fills a contiguous tensor with a byte. */
static PyObject* fill(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  int64_t size = 0;
  DLPACKGEN_CALL_OF(call, 1);
  if (dlpackgen_call_begin(&call, self, &write_function, arguments, count, keywords) < 0) return NULL;
  if (dlpackgen_nbytes(&call.arguments[0].tensor, 0, &size) == DLPACKGEN_OK)
    memset((char*)call.arguments[0].tensor.data + call.arguments[0].tensor.byte_offset, 1, (size_t)size);
  dlpackgen_call_end(&call);
  Py_RETURN_NONE;
}

/* Returns an object of the module's own type over another library's tensor. */
static PyObject* export(PyObject* self, PyObject* object) {
  DLManagedTensorVersioned* tensor = dlpackgen_from_py_object_no_sync(self, object, 0);
  return tensor ? dlpackgen_export_object(self, tensor) : NULL;
}

static int unpack(PyObject* tuple, int64_t* numbers) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++) numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
  return PyErr_Occurred() ? -1 : 0;
}

/* make(memory, dtype, shape, strides, byte_offset, flags): a new tensor over a bytearray. */
static PyObject* make(PyObject* self, PyObject* args) {
  PyObject *memory, *shape, *strides;
  int64_t numbers[2 * DLPACKGEN_MAX_NDIM];
  unsigned long long flags;
  DLManagedTensorVersioned* tensor;
  DLTensor view = {.device = {kDLCPU, 0}, .shape = numbers, .strides = numbers + DLPACKGEN_MAX_NDIM};
  int code, bits, lanes;
  unsigned int offset;
  if (!PyArg_ParseTuple(args, "O(iii)OOIK", &memory, &code, &bits, &lanes, &shape, &strides, &offset, &flags))
    return NULL;
  if (unpack(shape, view.shape) < 0 || unpack(strides, view.strides) < 0) return NULL;
  view.data = PyByteArray_AsString(memory);
  view.ndim = (int32_t)PyTuple_Size(shape);
  view.dtype = (DLDataType){(uint8_t)code, (uint8_t)bits, (uint16_t)lanes};
  view.byte_offset = offset;
  tensor = dlpackgen_from_owner(memory, &view, flags);
  return tensor ? dlpackgen_export_object(self, tensor) : NULL;
}

static PyObject* describe_words(const struct dlpackgen_torch_words* words) {
  return Py_BuildValue("(IIIIKKK)", words->keys, words->storage, words->offset, words->bytes,
                       (unsigned long long)words->usual, (unsigned long long)words->plain,
                       (unsigned long long)words->gpu);
}

/* The found positions of the words in torch's objects: (keys, storage, offset, bytes, usual keys,
 * plain keys, those on CUDA). */
static PyObject* torch_fields(PyObject* self, PyObject* nothing) {
  (void)self, (void)nothing;
  return describe_words(&dlpackgen_torch.words);
}

/* The positions that would be found in a struct dlpackgen_torch_seen at an address. */
static PyObject* find_torch_words(PyObject* self, PyObject* address) {
  struct dlpackgen_torch_seen seen;
  struct dlpackgen_torch_words words = {0};
  (void)self;
  memcpy(&seen, PyLong_AsVoidPtr(address), sizeof seen);
  dlpackgen_torch_find_words(&seen, &words);
  return describe_words(&words);
}

static int64_t* told[2];

static int32_t tell_sizes(void* handle, int64_t** sizes) {
  (void)handle;
  *sizes = told[0];
  return told[0] ? 0 : 1;
}

static int32_t tell_strides(void* handle, int64_t** strides) {
  (void)handle;
  *strides = told[1];
  return told[1] ? 0 : 1;
}

/* Returns whether a shim is accepted that reports sizes and strides at these byte offsets of an
 * object; a negative number simulates a failure. */
static PyObject* believes_torch_sizes(PyObject* self, PyObject* args) {
  static const struct dlpackgen_torch_functions shim = {.get_sizes = tell_sizes, .get_strides = tell_strides};
  static uint64_t object[64];
  struct dlpackgen_torch_seen seen;
  int sizes, strides;
  (void)self;
  if (!PyArg_ParseTuple(args, "ii", &sizes, &strides)) return NULL;
  told[0] = sizes < 0 ? NULL : (int64_t*)(void*)((char*)object + sizes);
  told[1] = strides < 0 ? NULL : (int64_t*)(void*)((char*)object + strides);
  return dlpackgen_torch_see_sizes(&shim, object, &seen) ? Py_NewRef(Py_False)
                                                         : Py_BuildValue("(II)", seen.sizes, seen.end);
}

static PyMethodDef methods[] = {
    DLPACKGEN_METHOD("read", call_read, NULL),
    DLPACKGEN_METHOD("write", call_write, NULL),
    DLPACKGEN_METHOD("read_unlocked", call_read_unlocked, NULL),
    DLPACKGEN_METHOD("write_unlocked", call_write_unlocked, NULL),
    DLPACKGEN_METHOD("read_later", read_later, NULL),
    DLPACKGEN_METHOD("read_after", read_after, NULL),
    DLPACKGEN_METHOD("read_first", read_first, NULL),
    DLPACKGEN_METHOD("byte_offset", byte_offset, NULL),
    DLPACKGEN_METHOD("fill", fill, NULL),
    {"export", export, METH_O, NULL},
    {"make", make, METH_VARARGS, NULL},
    {"torch_fields", torch_fields, METH_NOARGS, NULL},
    {"find_torch_words", find_torch_words, METH_O, NULL},
    {"believes_torch_sizes", believes_torch_sizes, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct dlpackgen_module module;

PyMODINIT_FUNC PyInit_clients(void) { return dlpackgen_module_init(&module, "clients", NULL, methods, NULL); }
