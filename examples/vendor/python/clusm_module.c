/* The backend as a module for Python: memory of OpenCL devices in tensors that any library
 * takes by DLPack, and functions that work on the caller's queue. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include "clusm/clusm_state.h"
#include "clusm/dlpackgen_clusm.h"

static PyObject* failed(const dlpackgen_backend_error* error) {
  PyErr_SetString(error->code == DLPACKGEN_BACKEND_OUT_OF_MEMORY ? PyExc_MemoryError : PyExc_RuntimeError, error->text);
  return NULL;
}

/* empty(n, device=0): a tensor of n float32. */
static PyObject* empty(PyObject* module, PyObject* args) {
  dlpackgen_allocation request = {sizeof request, {kDLExtDev, 0}, {kDLFloat, 32, 1}, 1, NULL, NULL, 0};
  dlpackgen_backend_error error;
  DLManagedTensorVersioned* made = NULL;
  long long count;
  int device = 0;
  if (!PyArg_ParseTuple(args, "L|i", &count, &device)) return NULL;
  const int64_t shape[] = {count};
  request.device.device_id = device;
  request.shape = shape;
  if (dlpackgen_clusm()->allocate(&request, &made, &error)) return failed(&error);
  return dlpackgen_export_object(module, made);
}

static const struct dlpackgen_parameter copy_parameters[] = {
    {.name = "x",
     .ndim = 1,
     .shape = {DLPACKGEN_DIM(0)},
     .dtypes = {DLPACKGEN_DTYPE_FLOAT32},
     .layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS,
     .devices = {kDLExtDev}},
    {.name = "out",
     .ndim = 1,
     .shape = {DLPACKGEN_DIM(0)},
     .dtypes = {DLPACKGEN_DTYPE_FLOAT32},
     .layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS,
     .devices = {kDLExtDev},
     .writable = 1},
};
static const struct dlpackgen_parameter load_parameters[] = {
    {.name = "x",
     .ndim = 1,
     .shape = {DLPACKGEN_DIM(0)},
     .dtypes = {DLPACKGEN_DTYPE_FLOAT32},
     .layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS},
    {.name = "out",
     .ndim = 1,
     .shape = {DLPACKGEN_DIM(0)},
     .dtypes = {DLPACKGEN_DTYPE_FLOAT32},
     .layout = DLPACKGEN_LAYOUT_C_CONTIGUOUS,
     .devices = {kDLExtDev},
     .writable = 1},
};
static const struct dlpackgen_function copy_function = {
    .name = "copy", .parameters = copy_parameters, .nparameters = 2, .takes_stream = 1};
static const struct dlpackgen_function load_function = {
    .name = "load", .parameters = load_parameters, .nparameters = 2, .takes_stream = 1};

/* Queues a copy from the first argument to the second. */
static PyObject* copy_by(const struct dlpackgen_function* function, PyObject* module, PyObject* const* args,
                         Py_ssize_t count, PyObject* keywords) {
  dlpackgen_backend_error error;
  DLPACKGEN_CALL_OF(call, 2);
  if (dlpackgen_call_begin(&call, module, function, args, count, keywords)) return NULL;
  const dlpackgen_stream stream = {call.stream, call.device, 0, 0};
  const int code = dlpackgen_clusm()->copy(&call.arguments[1].tensor, &call.arguments[0].tensor, &stream, &error);
  dlpackgen_call_end(&call);
  if (code) return failed(&error);
  Py_RETURN_NONE;
}

static PyObject* copy(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return copy_by(&copy_function, module, args, count, keywords);
}

static PyObject* load(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return copy_by(&load_function, module, args, count, keywords);
}

static PyObject* devices(PyObject* module, PyObject* nothing) {
  dlpackgen_backend_error error;
  int32_t count = 0;
  (void)module, (void)nothing;
  return dlpackgen_clusm()->device_count(&count, &error) ? failed(&error) : PyLong_FromLong(count);
}

/* queue(device=0): the address of a new queue, for stream=. */
static PyObject* queue(PyObject* module, PyObject* args) {
  dlpackgen_driver_info info = DLPACKGEN_DRIVER_INFO_INIT;
  dlpackgen_backend_error error;
  int device = 0, result = 0;
  (void)module;
  if (!PyArg_ParseTuple(args, "|i", &device)) return NULL;
  if (dlpackgen_clusm()->probe(&info, &error)) return failed(&error);
  if (device < 0 || device >= info.devices) return PyErr_Format(PyExc_ValueError, "there is no device %d", device);
  void* made = clusm.driver->queue(clusm.context, clusm.devices[device], NULL, &result);
  return made ? PyLong_FromVoidPtr(made) : PyErr_Format(PyExc_RuntimeError, "OpenCL returns %d", result);
}

/* Reads the number of a stream on a device. */
static int stream_of(int device, long long number, dlpackgen_stream* stream) {
  const DLDevice where = {kDLExtDev, device};
  dlpackgen_backend_error error;
  const int64_t read = number;
  if (dlpackgen_clusm()->stream_from_dlpack(where, &read, stream, &error)) return failed(&error), -1;
  return 0;
}

/* order(consumer, producer, device=0): lets one stream wait for another. */
static PyObject* order(PyObject* module, PyObject* args) {
  dlpackgen_stream consumer, producer;
  dlpackgen_backend_error error;
  long long later, earlier;
  int device = 0;
  (void)module;
  if (!PyArg_ParseTuple(args, "LL|i", &later, &earlier, &device)) return NULL;
  if (stream_of(device, later, &consumer) || stream_of(device, earlier, &producer)) return NULL;
  if (dlpackgen_clusm()->stream_wait(&consumer, &producer, &error)) return failed(&error);
  Py_RETURN_NONE;
}

/* finish(stream, device=0): waits for the work of a stream, without the GIL. */
static PyObject* finish(PyObject* module, PyObject* args) {
  dlpackgen_stream stream;
  dlpackgen_backend_error error;
  long long number;
  int device = 0, code;
  (void)module;
  if (!PyArg_ParseTuple(args, "L|i", &number, &device) || stream_of(device, number, &stream)) return NULL;
  Py_BEGIN_ALLOW_THREADS code = dlpackgen_clusm()->stream_synchronize(&stream, &error);
  Py_END_ALLOW_THREADS if (code) return failed(&error);
  Py_RETURN_NONE;
}

static PyObject* context(PyObject* module, PyObject* nothing) {
  (void)module, (void)nothing;
  return PyLong_FromVoidPtr(clusm.context);
}

/* backend(): the table, for other modules, such as clusm_torch. */
static PyObject* backend(PyObject* module, PyObject* nothing) {
  (void)module, (void)nothing;
  return dlpackgen_backend_to_capsule(dlpackgen_clusm());
}

/* Where no library tells its stream, work is done on the default one. */
static int use_clusm(PyObject* module) {
  static const dlpackgen_stream_source source = {NULL, NULL, NULL, 0};
  return dlpackgen_use_backend(module, dlpackgen_clusm(), &source);
}

PyMODINIT_FUNC PyInit_clusm(void) {
  static PyMethodDef methods[] = {
      {"empty", empty, METH_VARARGS, "empty(n, device=0): a tensor of n float32 on a device."},
      DLPACKGEN_METHOD("copy", copy, "copy(x, out, stream=None): queues a copy on a device."),
      DLPACKGEN_METHOD("load", load, "load(x, out, stream=None): copies from the host to a device."),
      {"devices", devices, METH_NOARGS, "devices(): the number of devices."},
      {"queue", queue, METH_VARARGS, "queue(device=0): the address of a new queue, for stream=."},
      {"order", order, METH_VARARGS, "order(consumer, producer, device=0): lets one stream wait for another."},
      {"finish", finish, METH_VARARGS, "finish(stream, device=0): waits for the work of a stream."},
      {"context", context, METH_NOARGS, "context(): the address of the OpenCL context."},
      {"backend", backend, METH_NOARGS, "backend(): the table of the backend, in a capsule."},
      {NULL, NULL, 0, NULL},
  };
  static struct dlpackgen_module module;
  return dlpackgen_module_init(&module, "clusm", "Memory and queues of OpenCL devices.", methods, use_clusm);
}
