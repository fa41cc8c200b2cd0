
/* The backend as a Python module. Compile it with dlpackgen_shm.c and the headers of targets c and
 * python.
 *
 *   empty(shape, dtype)             a tensor that can be sent; dtype is (code, bits, lanes)
 *   send(socket, tensor, *, read_only=False)
 *                                   any object that shares all memory of such a tensor
 *   receive(socket)                 a tensor that a peer sent
 *
 * Tensors have __dlpack__. Received tensors that must not be written to are read-only. A socket
 * is an object with fileno(), or a file descriptor. Errors of the system are raised as OSError
 * with errno, or as its subclass such as BrokenPipeError. An invalid message of a peer raises
 * BufferError. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include "dlpackgen_shm.h"

#include <errno.h>

/* Sets the exception for an error; returns 1 if the call must be repeated. */
static int shm_raise(const dlpackgen_backend_error* error) {
  if (error->code == DLPACKGEN_SHM_WOULD_BLOCK && error->driver_code == EINTR) return PyErr_CheckSignals() == 0;
  PyObject* kind = error->code >= DLPACKGEN_SHM_INVALID_MESSAGE ? PyExc_BufferError : PyExc_ValueError;
  int native = error->code < DLPACKGEN_SHM_INVALID_MESSAGE ? error->driver_code : 0;
  if (error->code == DLPACKGEN_BACKEND_OUT_OF_MEMORY) kind = PyExc_MemoryError, native = 0;
  if (error->code == DLPACKGEN_SHM_CLOSED) native = EPIPE;
  if (error->code == DLPACKGEN_SHM_SOCKET && !native) native = ENOTSOCK;
  PyObject* value = native ? Py_BuildValue("(is)", native, error->text) : Py_BuildValue("(s)", error->text);
  if (value) PyErr_SetObject(native ? PyExc_OSError : kind, value);
  Py_XDECREF(value);
  return 0;
}

/* Reads extents; returns their number, or -1 with an exception. */
static int32_t shm_extents(PyObject* shape, int64_t* extents) {
  const Py_ssize_t n = PySequence_Size(shape);
  if (n > DLPACKGEN_MAX_NDIM)
    PyErr_Format(PyExc_ValueError, "empty(): the shape has more than %d dimensions", DLPACKGEN_MAX_NDIM);
  if (n < 0 || n > DLPACKGEN_MAX_NDIM) return -1;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* item = PySequence_GetItem(shape, i);
    extents[i] = item ? PyLong_AsLongLong(item) : -1;
    Py_XDECREF(item);
    if (PyErr_Occurred()) return -1;
  }
  return (int32_t)n;
}

static PyObject* shm_empty(PyObject* module, PyObject* arguments) {
  PyObject* shape;
  unsigned char code, bits;
  unsigned short lanes;
  int64_t extents[DLPACKGEN_MAX_NDIM];
  dlpackgen_backend_error error;
  DLManagedTensorVersioned* tensor = NULL;
  if (!PyArg_ParseTuple(arguments, "O(bbH):empty", &shape, &code, &bits, &lanes)) return NULL;
  const int32_t ndim = shm_extents(shape, extents);
  if (ndim < 0) return NULL;
  const dlpackgen_allocation request = {sizeof request, {kDLCPU, 0}, {code, bits, lanes}, ndim, extents, NULL, 0};
  if (DLPACKGEN_SHM_ENTRY()->device->allocate(&request, &tensor, &error)) {
    (void)shm_raise(&error);
    return NULL;
  }
  return dlpackgen_export_object(module, tensor);
}

static PyObject* shm_send_object(PyObject* module, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {(char*)"socket", (char*)"tensor", (char*)"read_only", NULL};
  PyObject *socket, *object;
  int read_only = 0, code, again = 1;
  dlpackgen_backend_error error;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|$p:send", names, &socket, &object, &read_only)) return NULL;
  const int fd = PyObject_AsFileDescriptor(socket);
  if (fd < 0) return NULL;
  DLManagedTensorVersioned* tensor = dlpackgen_from_py_object_no_sync(module, object, 0);
  if (!tensor) return NULL;
  do {
    Py_BEGIN_ALLOW_THREADS;
    code = DLPACKGEN_SHM_ENTRY()->send(fd, &tensor->dl_tensor, read_only ? DLPACKGEN_SHM_READ_ONLY : 0, &error);
    Py_END_ALLOW_THREADS;
    if (code) again = shm_raise(&error);
  } while (code && again);
  dlpackgen_delete(tensor);
  return code ? NULL : Py_NewRef(Py_None);
}

static PyObject* shm_receive_object(PyObject* module, PyObject* socket) {
  DLManagedTensorVersioned* tensor = NULL;
  dlpackgen_backend_error error;
  int code, again = 1;
  const int fd = PyObject_AsFileDescriptor(socket);
  if (fd < 0) return NULL;
  do {
    Py_BEGIN_ALLOW_THREADS;
    code = DLPACKGEN_SHM_ENTRY()->receive(fd, &tensor, &error);
    Py_END_ALLOW_THREADS;
    if (code) again = shm_raise(&error);
  } while (code && again);
  return code ? NULL : dlpackgen_export_object(module, tensor);
}

static PyMethodDef shm_methods[] = {
    {"empty", shm_empty, METH_VARARGS, "empty(shape, dtype): a tensor that can be sent; dtype is (code, bits, lanes)"},
    {"send", (PyCFunction)(void (*)(void))shm_send_object, METH_VARARGS | METH_KEYWORDS,
     "send(socket, tensor, *, read_only=False): sends all of such a tensor"},
    {"receive", shm_receive_object, METH_O, "receive(socket): the tensor that a peer sent"},
    {NULL, NULL, 0, NULL},
};

static struct dlpackgen_module shm_module;

PyMODINIT_FUNC PyInit_dlpackgen_shm(void) {
  return dlpackgen_module_init(&shm_module, "dlpackgen_shm", "Tensors that other processes share.", shm_methods, NULL);
}
