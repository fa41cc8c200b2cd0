/* Producers in C: objects that export the tensor strange, each in a different form. For files that
 * include dlpackgen_python.h. */
#ifndef UNTRUSTED_H_
#define UNTRUSTED_H_

#include <stdlib.h>

enum { LENDS, GIVES, VERSIONED, LEGACY, UNTRUSTED };

static DLManagedTensorVersioned strange; /* the original of their copies */
static long alive;                       /* exported and not deleted */

static void delete_versioned(DLManagedTensorVersioned* self) {
  alive--;
  free(self);
}

static void delete_legacy(DLManagedTensor* self) {
  alive--;
  free(self);
}

static DLManagedTensorVersioned* make_versioned(void) {
  DLManagedTensorVersioned* made = (DLManagedTensorVersioned*)malloc(sizeof *made);
  if (!made) {
    PyErr_NoMemory();
    return NULL;
  }
  *made = strange;
  made->deleter = delete_versioned;
  alive++;
  return made;
}

static int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                    void (*set_error)(void*, const char*, const char*)) {
  (void)prototype, (void)out;
  set_error(context, "MemoryError", "untrusted producers allocate nothing");
  return -1;
}

static int give(void* object, DLManagedTensorVersioned** out) {
  (void)object;
  *out = make_versioned();
  return *out ? 0 : -1;
}

static int lend(void* object, DLTensor* out) {
  (void)object;
  *out = strange.dl_tensor;
  return 0;
}

static int wrap(DLManagedTensorVersioned* tensor, void** out) {
  (void)tensor, (void)out;
  PyErr_SetString(PyExc_RuntimeError, "untrusted producers wrap nothing");
  return -1;
}

static int stream(DLDeviceType type, int32_t id, void** out) {
  (void)type, (void)id;
  *out = NULL;
  return 0;
}

static const DLPackExchangeAPI lending = {{{1, 3}, NULL}, allocate, give, wrap, lend, stream};
static const DLPackExchangeAPI giving = {{{1, 3}, NULL}, allocate, give, wrap, NULL, stream};

static void destroy(PyObject* capsule) {
  void* tensor = NULL;
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    delete_versioned((DLManagedTensorVersioned*)tensor);
  } else if (PyCapsule_IsValid(capsule, "dltensor"))
    delete_legacy((DLManagedTensor*)PyCapsule_GetPointer(capsule, "dltensor"));
}

static PyObject* to_versioned(PyObject* self, PyObject* args, PyObject* keywords) {
  DLManagedTensorVersioned* made = make_versioned();
  (void)self, (void)args, (void)keywords;
  PyObject* capsule = made ? PyCapsule_New(made, "dltensor_versioned", destroy) : NULL;
  if (made && !capsule) delete_versioned(made);
  return capsule;
}

static PyObject* to_legacy(PyObject* self, PyObject* args, PyObject* keywords) {
  DLManagedTensor* made = (DLManagedTensor*)calloc(1, sizeof *made);
  (void)self, (void)args, (void)keywords;
  if (!made) return PyErr_NoMemory();
  made->dl_tensor = strange.dl_tensor;
  made->deleter = delete_legacy;
  alive++;
  PyObject* capsule = PyCapsule_New(made, "dltensor", destroy);
  if (!capsule) delete_legacy(made);
  return capsule;
}

static PyObject* device(PyObject* self, PyObject* nothing) {
  (void)self, (void)nothing;
  return Py_BuildValue("(ii)", (int)strange.dl_tensor.device.device_type, 0);
}

/* Creates a type of untrusted producers of one kind; a new reference. */
static PyObject* make_strange_type(int kind) {
  static PyMethodDef none[] = {{NULL, NULL, 0, NULL}};
  static PyMethodDef methods[][3] = {
      {{"__dlpack__", (PyCFunction)(void (*)(void))to_versioned, METH_VARARGS | METH_KEYWORDS, ""},
       {"__dlpack_device__", device, METH_NOARGS, ""},
       {NULL, NULL, 0, NULL}},
      {{"__dlpack__", (PyCFunction)(void (*)(void))to_legacy, METH_VARARGS | METH_KEYWORDS, ""},
       {"__dlpack_device__", device, METH_NOARGS, ""},
       {NULL, NULL, 0, NULL}},
  };
  PyType_Slot slots[] = {{Py_tp_methods, kind < VERSIONED ? none : methods[kind == LEGACY]}, {0, NULL}};
  PyType_Spec spec = {"strange.UntrustedProducer", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type || kind >= VERSIONED) return type;
  void* table = (void*)(uintptr_t)(kind == LENDS ? &lending : &giving);
  PyObject* capsule = PyCapsule_New(table, "dlpack_exchange_api", NULL);
  if (!capsule || PyObject_SetAttrString(type, "__dlpack_c_exchange_api__", capsule)) Py_CLEAR(type);
  Py_XDECREF(capsule);
  return type;
}

#endif
