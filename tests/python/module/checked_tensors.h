/* Functions that create, own and export tensors: a part of checked.c. */

/* like(which, dtype, shape, byte, x, flags=0) creates a tensor with x's library and fills it,
 * unless the byte is negative. With the flag for padded elements, each has whole bytes. */
static PyObject* like(PyObject* module, PyObject* args) {
  DLPACKGEN_CALL_OF(call, 1);
  int which, byte;
  unsigned dtype;
  unsigned long long flags = 0;
  PyObject *list, *x;
  int64_t shape[DLPACKGEN_MAX_NDIM + 1] = {0}, bytes = 0;
  if (!PyArg_ParseTuple(args, "iIO!iO|K", &which, &dtype, &PyList_Type, &list, &byte, &x, &flags)) return NULL;
  const int32_t ndim = (int32_t)PyList_Size(list);
  for (int32_t i = 0; i < ndim; i++) shape[i] = PyLong_AsLongLong(PyList_GetItem(list, i));
  if (BEGIN(&call, module, &functions[which], &x, 1, NULL)) return NULL;
  const DLDataType type = {(uint8_t)(dtype & 255), (uint8_t)(dtype >> 8 & 255), (uint16_t)(dtype >> 16)};
  const DLDataType whole = {kDLUInt, 8, (uint16_t)(dlpackgen_element_bits(type, flags) / 8)};
  DLManagedTensorVersioned* made = dlpackgen_new_empty(&call, 0, flags ? whole : type, ndim, shape);
  PyObject* out = NULL;
  if (made) made->dl_tensor.dtype = type, made->flags |= flags;
  if (byte >= 0 && made && dlpackgen_nbytes(&made->dl_tensor, flags, &bytes) == DLPACKGEN_OK && bytes)
    memset((char*)made->dl_tensor.data + made->dl_tensor.byte_offset, byte, (size_t)bytes);
  if (made) out = dlpackgen_to_py_object(&call, 0, made);
  dlpackgen_call_end(&call);
  return out;
}

/* of_object(x, ndim) returns a tensor of one uint8 that x keeps alive. */
static PyObject* of_object(PyObject* module, PyObject* args) {
  static uint8_t one = 1;
  int64_t shape[DLPACKGEN_MAX_NDIM];
  PyObject* x;
  int ndim;
  if (!PyArg_ParseTuple(args, "Oi", &x, &ndim)) return NULL;
  for (int i = 0; i < DLPACKGEN_MAX_NDIM; i++) shape[i] = 1;
  const DLTensor view = {&one, {kDLCPU, 0}, ndim, {kDLUInt, 8, 1}, shape, NULL, 0};
  DLManagedTensorVersioned* made = dlpackgen_from_owner(x, &view, 0);
  return made ? dlpackgen_export_object(module, made) : NULL;
}

/* like_on(which, dtype, shape, x) allocates memory on x's device, on stream 5. */
static PyObject* like_on(PyObject* module, PyObject* args) {
  DLPACKGEN_CALL_OF(call, 1);
  int which;
  unsigned dtype;
  PyObject *list, *x, *given[2];
  int64_t shape[DLPACKGEN_MAX_NDIM + 1] = {0};
  if (!PyArg_ParseTuple(args, "iIO!O", &which, &dtype, &PyList_Type, &list, &x)) return NULL;
  for (int32_t i = 0; i < (int32_t)PyList_Size(list); i++) shape[i] = PyLong_AsLongLong(PyList_GetItem(list, i));
  PyObject* names = Py_BuildValue("(s)", "stream");
  given[0] = x;
  given[1] = PyLong_FromLong(5);
  const int failed = BEGIN(&call, module, &functions[which], given, 1, names);
  Py_XDECREF(names);
  Py_XDECREF(given[1]);
  if (failed) return NULL;
  const DLDataType type = {(uint8_t)(dtype & 255), (uint8_t)(dtype >> 8 & 255), (uint16_t)(dtype >> 16)};
  DLManagedTensorVersioned* made = dlpackgen_new_empty(&call, 0, type, (int32_t)PyList_Size(list), shape);
  dlpackgen_delete(made);
  dlpackgen_call_end(&call);
  return made ? Py_BuildValue("") : NULL;
}

/* use_device(capsule, stream) sets a backend; its stream is used if no library reports one, or none
 * for None. */
static PyObject* use_device(PyObject* module, PyObject* args) {
  static void* handle;
  static const dlpackgen_stream_source source = {NULL, NULL, &handle, 1};
  PyObject *capsule, *stream;
  if (!PyArg_ParseTuple(args, "OO", &capsule, &stream)) return NULL;
  const dlpackgen_backend* table = dlpackgen_backend_from_capsule(capsule);
  if (!table) return NULL;
  if (stream != Py_None) handle = PyLong_AsVoidPtr(stream);
  if (dlpackgen_use_backend(module, table, stream == Py_None ? NULL : &source)) return NULL;
  return Py_BuildValue("");
}

/* device_capsule(type) returns the backend of a device, for other modules. */
static PyObject* device_capsule(PyObject* module, PyObject* type) {
  const DLDevice device = {(DLDeviceType)PyLong_AsLong(type), 0};
  return dlpackgen_backend_to_capsule(dlpackgen_backend_for(module, device));
}

static const char held[] = "held";

static void release_held(PyObject* capsule) {
  dlpackgen_delete((DLManagedTensorVersioned*)PyCapsule_GetPointer(capsule, held));
}

/* take(x, writable) owns a tensor; described() describes it. */
static PyObject* take(PyObject* module, PyObject* args) {
  int writable;
  PyObject* x;
  if (!PyArg_ParseTuple(args, "Oi", &x, &writable)) return NULL;
  DLManagedTensorVersioned* tensor = dlpackgen_from_py_object_no_sync(module, x, writable ? DLPACKGEN_WRITABLE : 0);
  PyObject* capsule = tensor ? PyCapsule_New(tensor, held, release_held) : NULL;
  if (!capsule) dlpackgen_delete(tensor);
  return capsule;
}

/* delete_during(x, unlocked, pending) deletes a tensor, optionally without the GIL, and with an
 * exception set. */
static PyObject* delete_during(PyObject* module, PyObject* args) {
  PyObject* x;
  int unlocked, pending;
  if (!PyArg_ParseTuple(args, "Oii", &x, &unlocked, &pending)) return NULL;
  DLManagedTensorVersioned* tensor = dlpackgen_from_py_object_no_sync(module, x, 0);
  if (!tensor) return NULL;
  if (pending) PyErr_SetString(PyExc_KeyError, "on its way");
  if (!unlocked) dlpackgen_delete(tensor);
  else {
    Py_BEGIN_ALLOW_THREADS dlpackgen_delete(tensor);
    Py_END_ALLOW_THREADS
  }
  return pending ? NULL : Py_BuildValue("");
}

static PyObject* described(PyObject* module, PyObject* capsule) {
  DLManagedTensorVersioned* tensor = (DLManagedTensorVersioned*)PyCapsule_GetPointer(capsule, held);
  (void)module;
  return tensor ? describe_tensor(&tensor->dl_tensor, tensor->flags, 1) : NULL;
}

/* give(x, flags, byte_offset) returns a Tensor of x, with those flags. */
static PyObject* give(PyObject* module, PyObject* args) {
  unsigned long long flags;
  PyObject* x;
  if (!PyArg_ParseTuple(args, "OK", &x, &flags)) return NULL;
  DLManagedTensorVersioned* tensor = dlpackgen_from_py_object_no_sync(module, x, 0);
  if (!tensor) return NULL;
  tensor->flags = flags;
  return dlpackgen_export_object(module, tensor);
}

/* give_bare(address, where) exports a tensor unchanged: 0 as an object, 1 in a capsule, 2 in a
 * capsule with the old struct. */
static PyObject* give_bare(PyObject* module, PyObject* args) {
  PyObject* address;
  int where;
  if (!PyArg_ParseTuple(args, "Oi", &address, &where)) return NULL;
  DLManagedTensorVersioned* tensor = (DLManagedTensorVersioned*)PyLong_AsVoidPtr(address);
  return where ? dlpackgen_export_capsule(tensor, where == 1 ? DLPACKGEN_VERSIONED : 0)
               : dlpackgen_export_object(module, tensor);
}

/* zeros(dtype, shape) returns a Tensor in new memory. */
static PyObject* zeros(PyObject* module, PyObject* args) {
  unsigned dtype;
  PyObject* list;
  int64_t shape[DLPACKGEN_MAX_NDIM + 1] = {0}, bytes = 0;
  if (!PyArg_ParseTuple(args, "IO!", &dtype, &PyList_Type, &list)) return NULL;
  const int32_t ndim = (int32_t)PyList_Size(list);
  for (int32_t i = 0; i < ndim && i <= DLPACKGEN_MAX_NDIM; i++) shape[i] = PyLong_AsLongLong(PyList_GetItem(list, i));
  const DLDataType type = {(uint8_t)(dtype & 255), (uint8_t)(dtype >> 8 & 255), (uint16_t)(dtype >> 16)};
  DLManagedTensorVersioned* tensor = dlpackgen_allocate(type, ndim, shape);
  if (tensor && dlpackgen_nbytes(&tensor->dl_tensor, 0, &bytes) == DLPACKGEN_OK && bytes)
    memset(tensor->dl_tensor.data, 0, (size_t)bytes);
  return tensor ? dlpackgen_export_object(module, tensor) : NULL;
}

static PyObject* enroll(PyObject* module, PyObject* args) {
  PyObject *type, *address;
  if (!PyArg_ParseTuple(args, "OO", &type, &address)) return NULL;
  if (dlpackgen_register_exchange_api(module, type, (const DLPackExchangeAPI*)PyLong_AsVoidPtr(address))) return NULL;
  return Py_BuildValue("");
}
