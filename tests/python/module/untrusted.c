/* Producers and consumers that violate the rules, each as a script requests. An object's attribute
 * desc describes its tensor. */
#include <Python.h>

#include <dlpack/dlpack.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long alive;    /* live managed tensors */
static int careless;  /* the effect of deleters on exceptions: 1 clears them, 2 sets one */
static long calls[5]; /* of the table: allocate, own, wrap, borrow, stream */
static void* stream;

static PyObject* item(PyObject* desc, const char* key) {
  PyObject* value = PyDict_GetItemString(desc, key);
  return value == Py_None ? NULL : value;
}

static long long number(PyObject* desc, const char* key, long long otherwise) {
  PyObject* value = item(desc, key);
  return value ? (long long)PyLong_AsUnsignedLongLongMask(value) : otherwise;
}

/* Copies a list; NULL for None. */
static int64_t* list(PyObject* desc, const char* key) {
  PyObject* from = item(desc, key);
  const Py_ssize_t count = from ? PyList_Size(from) : 0;
  int64_t* made = from ? (int64_t*)malloc(((size_t)count + 1) * sizeof *made) : NULL;
  for (Py_ssize_t i = 0; i < count; i++) made[i] = PyLong_AsLongLong(PyList_GetItem(from, i));
  return made;
}

/* Fills a tensor; shape and strides are malloc'd. */
static void fill(DLTensor* t, PyObject* desc) {
  PyObject* shape = item(desc, "shape");
  const unsigned dtype = (unsigned)number(desc, "dtype", 2 | 32 << 8 | 1 << 16);
  t->data = (void*)(uintptr_t)number(desc, "data", 0);
  t->device.device_type = (DLDeviceType)number(desc, "device", 1);
  t->device.device_id = (int32_t)number(desc, "device_id", 0);
  t->ndim = (int32_t)number(desc, "ndim", shape ? (long long)PyList_Size(shape) : 0);
  t->dtype.code = (uint8_t)(dtype & 255);
  t->dtype.bits = (uint8_t)(dtype >> 8 & 255);
  t->dtype.lanes = (uint16_t)(dtype >> 16);
  t->shape = list(desc, "shape");
  t->strides = list(desc, "strides");
  t->byte_offset = (uint64_t)number(desc, "offset", 0);
}

static void let_go(DLTensor* t) {
  free(t->shape);
  free(t->strides);
  __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
  if (careless) PyErr_Clear();
  if (careless == 2) PyErr_SetString(PyExc_OSError, "of a deleter");
}

static void delete_versioned(DLManagedTensorVersioned* self) {
  let_go(&self->dl_tensor);
  free(self);
}

static void delete_legacy(DLManagedTensor* self) {
  let_go(&self->dl_tensor);
  free(self);
}

static DLManagedTensorVersioned* make_versioned(PyObject* desc) {
  DLManagedTensorVersioned* made = (DLManagedTensorVersioned*)calloc(1, sizeof *made);
  fill(&made->dl_tensor, desc);
  made->version.major = (uint32_t)number(desc, "major", DLPACK_MAJOR_VERSION);
  made->version.minor = (uint32_t)number(desc, "minor", DLPACK_MINOR_VERSION);
  made->flags = (uint64_t)number(desc, "flags", 0);
  made->deleter = number(desc, "no_deleter", 0) ? NULL : delete_versioned;
  __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
  return made;
}

static void destroy(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    DLManagedTensorVersioned* tensor = (DLManagedTensorVersioned*)PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (tensor->deleter) tensor->deleter(tensor);
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    DLManagedTensor* tensor = (DLManagedTensor*)PyCapsule_GetPointer(capsule, "dltensor");
    tensor->deleter(tensor);
  }
}

/* capsule(desc) uses the versioned struct, legacy(desc) the old one. */
static PyObject* make_capsule(PyObject* module, PyObject* desc) {
  (void)module;
  DLManagedTensorVersioned* made = make_versioned(desc);
  PyObject* capsule = PyCapsule_New(made, "dltensor_versioned", destroy);
  if (!capsule) delete_versioned(made);
  return capsule;
}

static PyObject* legacy(PyObject* module, PyObject* desc) {
  DLManagedTensor* made = (DLManagedTensor*)calloc(1, sizeof *made);
  (void)module;
  fill(&made->dl_tensor, desc);
  made->deleter = delete_legacy;
  __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
  PyObject* capsule = PyCapsule_New(made, "dltensor", destroy);
  if (!capsule) delete_legacy(made);
  return capsule;
}

static PyObject* get_alive(PyObject* module, PyObject* nothing) {
  (void)module, (void)nothing;
  return PyLong_FromLong(alive);
}

/* careless(how) makes deleters clear the current exception, or set another one. */
static PyObject* be_careless(PyObject* module, PyObject* how) {
  (void)module;
  careless = (int)PyLong_AsLong(how);
  return Py_BuildValue("");
}

/* The table: object.desc["fault"] selects the failure. */

static PyObject* desc_of(void* object) {
  PyObject* desc = PyObject_GetAttrString((PyObject*)object, "desc");
  Py_XDECREF(desc); /* the object retains it */
  return desc;
}

static int fails(PyObject* desc, const char* how) {
  PyObject* fault = desc ? item(desc, "fault") : NULL;
  return fault && PyUnicode_CompareWithASCIIString(fault, how) == 0;
}

static int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                    void (*set_error)(void*, const char*, const char*)) {
  calls[0]++;
  (void)prototype, (void)out;
  set_error(context, "MemoryError", "the untrusted has no memory");
  return -1;
}

static int own(void* object, DLManagedTensorVersioned** out) {
  PyObject* desc = desc_of(object);
  calls[1]++;
  if (!desc || fails(desc, "own silently")) return -1;
  *out = fails(desc, "own nothing") ? NULL : make_versioned(desc);
  if (fails(desc, "own and raise")) PyErr_SetString(PyExc_RuntimeError, "left behind");
  return 0;
}

/* Allocates in its own bytes, with the requested mistake: 1 another shape, 2 read-only, 3 no
 * tensor, 4 without strides, 5 of another dtype, 6 with gaps, 7 on another device, 8 valid but with
 * an exception, 9 what it derives from the prototype. Or fails: 10 like cuda.core, 11 without a
 * reason, 12 with exhausted memory, 13 with an interrupt. */
static int allocates_wrongly;

static int rejects_to_allocate(void* context, void (*set_error)(void*, const char*, const char*)) {
  if (allocates_wrongly == 10) set_error(context, "NotImplementedError", "the untrusted has no allocator");
  if (allocates_wrongly == 12) set_error(context, "MemoryError", "the untrusted has no memory");
  if (allocates_wrongly == 13) PyErr_SetNone(PyExc_KeyboardInterrupt);
  return -1;
}
static char room[4096];

static int allocate_for(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                        void (*set_error)(void*, const char*, const char*)) {
  DLManagedTensorVersioned* made = NULL;
  calls[0]++;
  *out = NULL;
  if (allocates_wrongly >= 10) return rejects_to_allocate(context, set_error);
  if (allocates_wrongly == 3) return 0;
  if (allocates_wrongly == 9) prototype->shape[0] = 1;
  made = (DLManagedTensorVersioned*)calloc(1, sizeof *made);
  made->version.major = DLPACK_MAJOR_VERSION;
  made->version.minor = DLPACK_MINOR_VERSION;
  made->deleter = delete_versioned;
  made->flags = allocates_wrongly == 2 ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  made->dl_tensor = *prototype;
  made->dl_tensor.data = room;
  made->dl_tensor.shape = (int64_t*)malloc(sizeof(int64_t));
  made->dl_tensor.strides = (int64_t*)malloc(sizeof(int64_t));
  made->dl_tensor.shape[0] = prototype->shape[0] + (allocates_wrongly == 1);
  made->dl_tensor.strides[0] = 1 + (allocates_wrongly == 6);
  if (allocates_wrongly == 5) made->dl_tensor.dtype.code = kDLInt;
  if (allocates_wrongly == 7) made->dl_tensor.device.device_id++;
  if (allocates_wrongly == 4) {
    free(made->dl_tensor.strides);
    made->dl_tensor.strides = NULL;
  }
  __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
  *out = made;
  if (allocates_wrongly == 8) PyErr_SetString(PyExc_RuntimeError, "left behind");
  return 0;
}

static PyObject* allocate_wrongly(PyObject* module, PyObject* how) {
  (void)module;
  allocates_wrongly = (int)PyLong_AsLong(how);
  return Py_BuildValue("");
}

/* Wraps nothing; or in a capsule: 1 valid, 2 with an exception. */
static int wraps;

static int wrap(DLManagedTensorVersioned* tensor, void** out) {
  calls[2]++;
  if (!wraps) {
    PyErr_SetString(PyExc_RuntimeError, "the untrusted wraps nothing");
    return -1;
  }
  *out = PyCapsule_New(tensor, "dltensor_versioned", destroy);
  if (wraps == 2) PyErr_SetString(PyExc_RuntimeError, "left behind");
  return *out ? 0 : -1;
}

static PyObject* wrap_as(PyObject* module, PyObject* how) {
  (void)module;
  wraps = (int)PyLong_AsLong(how);
  return Py_BuildValue("");
}

/* A lent tensor has no owner: it is valid until the next tensor, or some later one. */
enum { MOST_LENT = 80 };
static int64_t lent[17][2][MOST_LENT];
static unsigned lent_for_longer;

static int lend(void* object, DLTensor* out, int64_t (*room_for)[MOST_LENT]) {
  PyObject* desc = desc_of(object);
  calls[3]++;
  if (!desc || fails(desc, "borrow silently")) return -1;
  fill(out, desc);
  if (fails(desc, "borrow and raise")) PyErr_SetString(PyExc_RuntimeError, "left behind");
  for (int i = 0; i < 2; i++) {
    int64_t** part = i ? &out->strides : &out->shape;
    PyObject* from = item(desc, i ? "strides" : "shape");
    const size_t count = from ? (size_t)PyList_Size(from) : 0;
    if (*part && count <= MOST_LENT) memcpy(room_for[i], *part, count * sizeof **part);
    free(*part);
    if (*part) *part = room_for[i];
  }
  return 0;
}

static int borrow(void* object, DLTensor* out) { return lend(object, out, lent[16]); }
static int borrow_for_longer(void* object, DLTensor* out) { return lend(object, out, lent[lent_for_longer++ % 16]); }

static int current_stream(DLDeviceType device_type, int32_t device_id, void** out) {
  calls[4]++;
  (void)device_type, (void)device_id;
  if (!stream) *out = NULL;
  else *out = stream == (void*)-1 ? NULL : stream;
  return stream == (void*)-1 ? -1 : 0;
}

/* The stream of another library. */
static int other_stream(DLDeviceType device_type, int32_t device_id, void** out) {
  calls[4]++;
  (void)device_type, (void)device_id;
  *out = (char*)stream + 0x1000;
  return 0;
}

static DLPackExchangeAPI plain = {{{1, 3}, NULL}, allocate, own, wrap, borrow, current_stream};
static DLPackExchangeAPI lends_nothing = {{{1, 3}, NULL}, allocate, own, wrap, NULL, current_stream};
static DLPackExchangeAPI newer = {{{2, 0}, NULL}, NULL, NULL, NULL, NULL, NULL};
static DLPackExchangeAPI newer_and_ours = {{{2, 0}, &plain.header}, NULL, NULL, NULL, NULL, NULL};
static DLPackExchangeAPI incomplete = {{{1, 3}, NULL}, NULL, own, wrap, borrow, current_stream};

static DLPackExchangeAPI allocates = {{{1, 3}, NULL}, allocate_for, own, wrap, borrow, current_stream};
static DLPackExchangeAPI streams = {{{1, 3}, NULL}, allocate, own, wrap, borrow, other_stream};

static DLPackExchangeAPI lends_for_longer = {{{1, 3}, NULL}, allocate, own, wrap, borrow_for_longer, current_stream};

static PyObject* table(PyObject* module, PyObject* which) {
  DLPackExchangeAPI* tables[] = {&plain,      &lends_nothing, &newer,   &newer_and_ours,
                                 &incomplete, &allocates,     &streams, &lends_for_longer};
  (void)module;
  return PyCapsule_New(tables[PyLong_AsLong(which)], "dlpack_exchange_api", NULL);
}

static PyObject* address(PyObject* module, PyObject* of) {
  (void)module;
  return PyLong_FromVoidPtr(PyCapsule_GetPointer(of, "dlpack_exchange_api"));
}

/* pops(**keywords) empties its keyword dictionary; popped() returns the total number of removed
 * keywords. */
static long all_popped;

static PyObject* pops(PyObject* module, PyObject* args, PyObject* keywords) {
  (void)module, (void)args;
  all_popped += (long)PyDict_Size(keywords);
  PyDict_Clear(keywords);
  return Py_BuildValue("");
}

static PyObject* popped(PyObject* module, PyObject* nothing) {
  (void)module, (void)nothing;
  return PyLong_FromLong(all_popped);
}

/* counted() returns the calls of the table's functions so far. */
static PyObject* counted(PyObject* module, PyObject* nothing) {
  (void)module, (void)nothing;
  return Py_BuildValue("(lllll)", calls[0], calls[1], calls[2], calls[3], calls[4]);
}

static PyObject* set_stream(PyObject* module, PyObject* value) {
  (void)module;
  stream = PyLong_AsVoidPtr(value);
  return Py_BuildValue("");
}

/* Consumers */

/* consume(capsule) takes ownership of the tensor, and returns its address. */
static PyObject* consume(PyObject* module, PyObject* from) {
  (void)module;
  const char* fresh = PyCapsule_IsValid(from, "dltensor_versioned") ? "dltensor_versioned" : "dltensor";
  void* tensor = PyCapsule_GetPointer(from, fresh);
  if (!tensor || PyCapsule_SetName(from, fresh[8] ? "used_dltensor_versioned" : "used_dltensor")) return NULL;
  return PyLong_FromVoidPtr(tensor);
}

static void* delete_in_thread(void* tensor) {
  DLManagedTensorVersioned* versioned = (DLManagedTensorVersioned*)tensor;
  if (versioned->deleter) versioned->deleter(versioned);
  return &alive; /* a thread that Python ends stops in the deleter */
}

/* release(address) deletes with the GIL; release_in_thread(address) on a thread that Python does
 * not know. */
static PyObject* release(PyObject* module, PyObject* tensor) {
  (void)module;
  delete_in_thread(PyLong_AsVoidPtr(tensor));
  return Py_BuildValue("");
}

static PyObject* release_in_thread(PyObject* module, PyObject* tensor) {
  pthread_t thread;
  void* of = PyLong_AsVoidPtr(tensor);
  (void)module;
  Py_BEGIN_ALLOW_THREADS pthread_create(&thread, NULL, delete_in_thread, of);
  pthread_join(thread, NULL);
  Py_END_ALLOW_THREADS return Py_BuildValue("");
}

static void* at_the_end[64];
static int count_at_the_end;

static void release_at_the_end(void) {
  for (int i = 0; i < count_at_the_end; i++) delete_in_thread(at_the_end[i]);
  if (count_at_the_end) fputs("released after the end\n", stderr);
}

/* release_late(address) deletes after Python has ended. */
static PyObject* release_late(PyObject* module, PyObject* tensor) {
  (void)module;
  if (!count_at_the_end) atexit(release_at_the_end);
  at_the_end[count_at_the_end++] = PyLong_AsVoidPtr(tensor);
  return Py_BuildValue("");
}

/* release_ending(address) deletes on another thread while Python ends, which its caller causes. */
static PyObject* release_ending(PyObject* module, PyObject* tensor) {
  pthread_t thread;
  (void)module;
  pthread_create(&thread, NULL, delete_in_thread, PyLong_AsVoidPtr(tensor));
  void* ended = NULL;
  pthread_join(thread, &ended); /* with the GIL: it must not be needed */
  if (ended == &alive) return Py_BuildValue("");
  fputs("Python has ended the thread\n", stderr);
  _exit(3);
}

/* flags(address), shape(address) of a tensor with a version. */
static PyObject* look(PyObject* module, PyObject* tensor) {
  const DLManagedTensorVersioned* t = (DLManagedTensorVersioned*)PyLong_AsVoidPtr(tensor);
  (void)module;
  return Py_BuildValue("(IIKiLLK)", t->version.major, t->version.minor, (unsigned long long)t->flags,
                       (int)t->dl_tensor.ndim, t->dl_tensor.ndim ? (long long)t->dl_tensor.shape[0] : -1,
                       t->dl_tensor.ndim && t->dl_tensor.strides ? (long long)t->dl_tensor.strides[0] : -1,
                       (unsigned long long)(uintptr_t)t->dl_tensor.data);
}

static void ignore_error(void* context, const char* kind, const char* message) {
  PyErr_Format(PyExc_RuntimeError, "%s: %s", kind, message);
  *(int*)context += 1;
}

/* allocate(table, device, dtype, shape) uses a table; wrap_by(table, address). */
static PyObject* allocate_by(PyObject* module, PyObject* args) {
  PyObject *of, *desc;
  DLTensor prototype;
  DLManagedTensorVersioned* made = NULL;
  int errors = 0;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO", &of, &desc)) return NULL;
  fill(&prototype, desc);
  const DLPackExchangeAPI* api = (const DLPackExchangeAPI*)PyCapsule_GetPointer(of, "dlpack_exchange_api");
  const int failed =
      api->managed_tensor_allocator(&prototype, &made, &errors, item(desc, "no_set_error") ? NULL : ignore_error);
  free(prototype.shape);
  free(prototype.strides);
  if (failed && !errors) return PyLong_FromLong(-1);
  return failed ? NULL : PyLong_FromVoidPtr(made);
}

static PyObject* by_table(PyObject* module, PyObject* args) {
  const char* what;
  PyObject *of, *object;
  DLManagedTensorVersioned* made = NULL;
  DLTensor view;
  void* out = NULL;
  (void)module;
  if (!PyArg_ParseTuple(args, "sOO", &what, &of, &object)) return NULL;
  const DLPackExchangeAPI* api = (const DLPackExchangeAPI*)PyCapsule_GetPointer(of, "dlpack_exchange_api");
  if (what[0] == 'o')
    return api->managed_tensor_from_py_object_no_sync(object, &made) ? NULL : PyLong_FromVoidPtr(made);
  if (what[0] == 'b') return api->dltensor_from_py_object_no_sync(object, &view) ? NULL : PyLong_FromVoidPtr(view.data);
  if (what[0] == 'l')
    return api->dltensor_from_py_object_no_sync(object, &view)
               ? NULL
               : PyLong_FromLongLong(view.strides ? view.strides[0] : -1);
  if (what[0] == 's')
    return api->current_work_stream((DLDeviceType)PyLong_AsLong(object), 0, &out) ? NULL : PyLong_FromVoidPtr(out);
  return api->managed_tensor_to_py_object_no_sync((DLManagedTensorVersioned*)PyLong_AsVoidPtr(object), &out)
             ? NULL
             : (PyObject*)out;
}

static PyMethodDef methods[] = {
    {"capsule", make_capsule, METH_O, ""},
    {"legacy", legacy, METH_O, ""},
    {"alive", get_alive, METH_NOARGS, ""},
    {"careless", be_careless, METH_O, ""},
    {"table", table, METH_O, ""},
    {"address", address, METH_O, ""},
    {"allocate_wrongly", allocate_wrongly, METH_O, ""},
    {"wrap_as", wrap_as, METH_O, ""},
    {"pops", (PyCFunction)(void (*)(void))pops, METH_VARARGS | METH_KEYWORDS, ""},
    {"popped", popped, METH_NOARGS, ""},
    {"counted", counted, METH_NOARGS, ""},
    {"set_stream", set_stream, METH_O, ""},
    {"consume", consume, METH_O, ""},
    {"release", release, METH_O, ""},
    {"release_in_thread", release_in_thread, METH_O, ""},
    {"release_late", release_late, METH_O, ""},
    {"release_ending", release_ending, METH_O, ""},
    {"look", look, METH_O, ""},
    {"allocate_by", allocate_by, METH_VARARGS, ""},
    {"by_table", by_table, METH_VARARGS, ""},
    {NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit_untrusted(void) {
  static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "untrusted", NULL, -1, methods, NULL, NULL, NULL, NULL};
  return PyModule_Create(&module);
}
