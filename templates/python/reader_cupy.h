/*
 * Reads cupy.ndarray through its public attributes. CuPy's own __dlpack__ rounds strides to whole
 * elements and omits the byte order (cupy/_core/dlpack.pyx of 14.2), so some arrays are exported
 * with wrong values. CuPy also has no exchange table, which would report its current stream.
 */
#ifndef DLPACKGEN_PYTHON_READER_CUPY_H_
#define DLPACKGEN_PYTHON_READER_CUPY_H_

#include "reader_numpy.h"

static int dlpackgen_cupy_open(PyObject* type) {
  (void)type;
  return 1;
}

/* Reads a tuple of numbers, one for each dimension. Returns their number, or -1. */
static int dlpackgen_cupy_numbers(PyObject* object, const char* name, Py_ssize_t numbers[DLPACKGEN_MAX_NDIM]) {
  PyObject* tuple = PyObject_GetAttrString(object, name);
  if (!tuple) return -1;
  Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
  if (count < 0) dlpackgen_reject("its %s is not a tuple", name);
  else if (count > DLPACKGEN_MAX_NDIM)
    count = dlpackgen_reject("it has %zd dimensions; at most %d are supported", count, DLPACKGEN_MAX_NDIM);
  for (Py_ssize_t i = 0; i < count; i++) numbers[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
  Py_DECREF(tuple);
  return PyErr_Occurred() ? -1 : (int)count;
}

/* Reads the device of CuPy's memory. CuPy queries the driver, which recognizes managed memory, and
 * reports whether it was built for ROCm. */
static int dlpackgen_cupy_device(PyObject* object, DLDevice* device) {
  int type = 0, id = 0;
  PyObject* pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
  if (!pair) return -1;
  if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) dlpackgen_reject(DLPACKGEN_TEXT_NO_DEVICE);
  else PyArg_ParseTuple(pair, "ii", &type, &id);
  Py_DECREF(pair);
  device->device_type = (DLDeviceType)type;
  /* DLPack has a single id for memory that all devices can access; CuPy returns the ordinal. */
  device->device_id = dlpackgen_device_id_is_zero(type) ? 0 : id;
  return PyErr_Occurred() ? -1 : 0;
}

/* Determines the element type from the dtype, which is a NumPy dtype. Returns 0, -1 with an
 * exception, or 1 for a dtype of another package, which only CuPy may be able to export. */
static int dlpackgen_cupy_element(PyObject* object, struct dlpackgen_element* element) {
  PyObject* dtype = PyObject_GetAttrString(object, "dtype");
  PyObject* number = dtype ? PyObject_GetAttrString(dtype, "num") : NULL;
  PyObject* native = number ? PyObject_GetAttrString(dtype, "isnative") : NULL;
  PyObject* kind = native ? PyObject_GetAttrString(dtype, "kind") : NULL;
  const char* letter = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
  const long which = letter ? PyLong_AsLong(number) : -1;
  const int is_native = letter && !PyErr_Occurred() ? PyObject_IsTrue(native) : -1;
  const struct dlpackgen_element* known = which > INT32_MAX ? NULL : dlpackgen_np_element((int)which);
  int result = -1;
  if (is_native < 0) result = -1;
  else if (!known && which >= DLPACKGEN_NP_EXTENSIONS) result = 1;
  else if (!known) dlpackgen_np_reject_kind(object, *letter);
  else if (!is_native) dlpackgen_np_reject(object, DLPACKGEN_NP_SWAPPED);
  else *element = *known, result = 0;
  Py_XDECREF(kind);
  Py_XDECREF(native);
  Py_XDECREF(number);
  Py_XDECREF(dtype);
  return result;
}

/* Describes an array through its attributes and those of `data`, a CuPy pointer object. */
static int dlpackgen_cupy_describe(PyObject* object, PyObject* pointer, DLTensor* out, int64_t* scratch,
                                   uint64_t* flags) {
  struct dlpackgen_memory memory = {NULL, 0, NULL, NULL, 0};
  struct dlpackgen_element element = DLPACKGEN_NP_NONE;
  Py_ssize_t shape[DLPACKGEN_MAX_NDIM], strides[DLPACKGEN_MAX_NDIM];
  PyObject* address = PyObject_GetAttrString(pointer, "ptr");
  memory.data = address ? (char*)PyLong_AsVoidPtr(address) : NULL;
  Py_XDECREF(address);
  if (PyErr_Occurred()) return -1;
  const int other = dlpackgen_cupy_element(object, &element);
  if (other) return other;
  memory.shape = shape;
  memory.strides = strides;
  memory.ndim = dlpackgen_cupy_numbers(object, "shape", shape);
  if (memory.ndim < 0) return -1;
  const int count = dlpackgen_cupy_numbers(object, "strides", strides);
  if (count < 0) return -1;
  if (count != memory.ndim) return dlpackgen_reject("it has %d dimensions and %d strides", memory.ndim, count);
  if (dlpackgen_describe(&memory, &element, 0, out, scratch, flags)) return -1;
  return dlpackgen_cupy_device(object, &out->device);
}

/* CuPy has no read-only arrays. The shape of an array may be changed in place, but not its
 * attribute data, so a reference to the array keeps the memory alive. */
static int dlpackgen_cupy_borrow(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags) {
  PyObject* pointer = PyObject_GetAttrString(object, "data");
  const int result = pointer ? dlpackgen_cupy_describe(object, pointer, out, scratch, flags) : -1;
  (void)writable;
  Py_XDECREF(pointer);
  return result;
}

/* A derived type is exported by CuPy's own method, so arrays that this method exports incorrectly
 * are rejected. */
static int dlpackgen_cupy_reject(PyObject* object) {
  int64_t scratch[DLPACKGEN_SCRATCH];
  DLTensor out;
  uint64_t flags = 0;
  return dlpackgen_cupy_borrow(object, 0, &out, scratch, &flags) < 0 ? -1 : 0;
}

/* CuPy's current stream on a device in this thread. Managed memory has no ordinal here: its stream
 * is that of the current device. */
static int dlpackgen_cupy_stream(DLDevice device, void** stream) {
  const int ordinal = dlpackgen_device_is_managed((int32_t)device.device_type) ? -1 : device.device_id;
  PyObject* ask = dlpackgen_imported("cupy.cuda", "get_current_stream");
  PyObject* current = ask ? PyObject_CallFunction(ask, "i", ordinal) : NULL;
  PyObject* handle = current ? PyObject_GetAttrString(current, "ptr") : NULL;
  *stream = handle ? PyLong_AsVoidPtr(handle) : NULL;
  const int reported = handle && !PyErr_Occurred();
  Py_XDECREF(handle);
  Py_XDECREF(current);
  Py_XDECREF(ask);
  return reported ? 0 : -1;
}

/* Calls a function of cupy.cuda with a number. */
static PyObject* dlpackgen_cupy_query(const char* name, long long number) {
  PyObject* function = dlpackgen_imported("cupy.cuda", name);
  PyObject* answer = function ? PyObject_CallFunction(function, "L", number) : NULL;
  Py_XDECREF(function);
  return answer;
}

/* Calls CuPy's current allocator, which the program may have set, on the current device. */
static PyObject* dlpackgen_cupy_allocate_here(int is_managed, int64_t bytes, void** data) {
  PyObject* memory = dlpackgen_cupy_query(is_managed ? "malloc_managed" : "alloc", bytes);
  PyObject* address = memory ? PyObject_GetAttrString(memory, "ptr") : NULL;
  *data = address ? PyLong_AsVoidPtr(address) : NULL;
  Py_XDECREF(address);
  if (memory && PyErr_Occurred()) Py_CLEAR(memory);
  return memory;
}

/* The device is current during the allocation, as in a `with` statement. */
static PyObject* dlpackgen_cupy_allocate(DLDevice device, int64_t bytes, void** data) {
  const int is_managed = dlpackgen_device_is_managed((int32_t)device.device_type);
  if (is_managed) return dlpackgen_cupy_allocate_here(1, bytes, data);
  PyObject* current = dlpackgen_cupy_query("Device", device.device_id);
  PyObject* entered = current ? PyObject_CallMethod(current, "__enter__", NULL) : NULL;
  PyObject* memory = entered ? dlpackgen_cupy_allocate_here(0, bytes, data) : NULL;
  if (entered) {
    struct dlpackgen_pending failed = dlpackgen_suspend();
    PyObject* left = PyObject_CallMethod(current, "__exit__", "OOO", Py_None, Py_None, Py_None);
    if (!left) PyErr_Clear();
    Py_XDECREF(left);
    dlpackgen_resume(failed);
  }
  Py_XDECREF(entered);
  Py_XDECREF(current);
  return memory;
}

static const struct dlpackgen_native_reader dlpackgen_reader_cupy = {
    "cupy",
    "ndarray",
    NULL,
    dlpackgen_cupy_open,
    dlpackgen_cupy_borrow,
    dlpackgen_cupy_reject,
    dlpackgen_cupy_stream,
    NULL,
    1,
    NULL,
    dlpackgen_cupy_allocate,
};

#endif /* DLPACKGEN_PYTHON_READER_CUPY_H_ */
