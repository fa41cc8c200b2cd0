/*
 * Queries torch's objects in Python if they are not read through the shim: subclasses, other
 * devices, and versions that lack a function.
 */
#ifndef DLPACKGEN_PYTHON_READER_TORCH_SUBCLASS_H_
#define DLPACKGEN_PYTHON_READER_TORCH_SUBCLASS_H_

#include "reader_torch_shim.h"

/* Selects when a tensor that requires grad is rejected: while grad mode is on (changes would then
 * be missing from the gradients), always, or never. A module selects it by defining
 * DLPACKGEN_TORCH_REJECTS_GRAD before it includes this header. */
#define DLPACKGEN_WHILE_ON 0
#define DLPACKGEN_ALWAYS 1
#define DLPACKGEN_NEVER 2
#ifndef DLPACKGEN_TORCH_REJECTS_GRAD
#define DLPACKGEN_TORCH_REJECTS_GRAD DLPACKGEN_WHILE_ON
#endif

#define DLPACKGEN_TORCH_GRAD "it requires grad, but autograd would not record this call: pass detach()"
#define DLPACKGEN_TORCH_GRAD_ON DLPACKGEN_TORCH_GRAD ", or call this under torch.no_grad()"
#define DLPACKGEN_TORCH_WRAPPED \
  "it has no memory of its own: it is nested, or a wrapper inside of vmap, grad, jvp or functionalize"

/* Returns the truth value of an object, and releases it: 1, 0, or -1 with an exception. */
static int dlpackgen_torch_truth(PyObject* answer) {
  const int is_true = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return is_true;
}

DLPACKGEN_SLOW static int dlpackgen_torch_query(PyObject* object, const char* method) {
  return dlpackgen_torch_truth(PyObject_CallMethod(object, method, NULL));
}

DLPACKGEN_SLOW static int dlpackgen_torch_attribute(PyObject* object, const char* name) {
  return dlpackgen_torch_truth(PyObject_GetAttrString(object, name));
}

/* Reports a wrong attribute. */
DLPACKGEN_SLOW static int dlpackgen_torch_reject_attribute(PyObject* object, const char* name, const char* why) {
  PyObject* value = PyObject_GetAttrString(object, name);
  if (value) {
    dlpackgen_reject("its %s %S %s", name, value, why);
    Py_DECREF(value);
  }
  return -1;
}

/* Looked up by name, because the module torch may have been replaced. */
DLPACKGEN_SLOW static int dlpackgen_torch_check_strided(PyObject* object) {
  PyObject* layout = PyObject_GetAttrString(object, "layout");
  const int is_strided = layout ? dlpackgen_is_text(PyObject_Str(layout), "torch.strided") : -1;
  Py_XDECREF(layout);
  if (is_strided < 0) return -1;
  return is_strided ? 0 : dlpackgen_torch_reject_attribute(object, "layout", DLPACKGEN_TEXT_NO_STRIDES);
}

/* Returns torch.Tensor for a type that derives from it: a borrowed reference, or NULL, with an
 * exception only if a lookup failed. */
static PyObject* dlpackgen_torch_tensor(PyObject* type) {
  PyObject *base = dlpackgen_torch_base(type), *next;
  if (!base || dlpackgen_torch_is_known()) return base ? *dlpackgen_torch.tensor : NULL;
  while ((next = (PyObject*)PyType_GetSlot((PyTypeObject*)type, Py_tp_base)) != base) type = next;
  return type;
}

/* Whether a type runs its own code instead of torch's, so its objects may have no memory, or values
 * that differ from it: 1, 0, or -1 with an exception. */
static int dlpackgen_torch_has_dispatch(PyObject* type) {
  PyObject* tensor = dlpackgen_torch_tensor(type);
  PyObject* own = tensor ? PyObject_GetAttrString(type, "__torch_dispatch__") : NULL;
  PyObject* disabled = own ? PyObject_GetAttrString(tensor, "__torch_dispatch__") : NULL;
  const int has = disabled ? own != disabled : -1;
  Py_XDECREF(disabled);
  Py_XDECREF(own);
  return tensor || PyErr_Occurred() ? has : 0;
}

static int dlpackgen_torch_reject_dispatch(PyObject* type) {
  PyObject* name = PyObject_GetAttrString(type, "__qualname__");
  if (name) {
    dlpackgen_reject("it is a %S, a subclass of torch.Tensor that defines __torch_dispatch__: wrap in torch.ops", name);
    Py_DECREF(name);
  }
  return -1;
}

static int dlpackgen_torch_reject_bits(PyObject* object) {
  int bit = dlpackgen_torch_query(object, "is_neg");
  if (bit != 0) return bit < 0 ? -1 : dlpackgen_reject(DLPACKGEN_TEXT_NEGATED);
  bit = dlpackgen_torch_query(object, "is_conj");
  return bit > 0 ? dlpackgen_reject(DLPACKGEN_TEXT_CONJUGATED) : bit;
}

/* If torch's own module is not available, grad mode counts as on. */
static int dlpackgen_torch_grad_is_on(PyObject* object) {
  PyObject *base, *module;
  int is_on = 1;
  if (dlpackgen_torch_is_known()) return dlpackgen_torch.call.grad_mode();
  base = dlpackgen_torch_base((PyObject*)Py_TYPE(object));
  module = base ? dlpackgen_torch_module(base) : NULL;
  if (module) is_on = dlpackgen_torch_query(module, "is_grad_enabled");
  else if (PyErr_Occurred()) is_on = -1;
  Py_XDECREF(module);
  return is_on;
}

static int dlpackgen_torch_reject_grad(PyObject* object) {
  int required = 0;
  if (DLPACKGEN_TORCH_REJECTS_GRAD == DLPACKGEN_NEVER) return 0;
  required = dlpackgen_torch_attribute(object, "requires_grad");
  if (required <= 0) return required;
  if (DLPACKGEN_TORCH_REJECTS_GRAD == DLPACKGEN_ALWAYS) return dlpackgen_reject(DLPACKGEN_TORCH_GRAD);
  required = dlpackgen_torch_grad_is_on(object);
  return required > 0 ? dlpackgen_reject(DLPACKGEN_TORCH_GRAD_ON) : required;
}

DLPACKGEN_SLOW static int dlpackgen_torch_reject_short(uint64_t needs, uint64_t bytes) {
  return dlpackgen_reject("it needs %llu bytes of storage, but its storage was resized to %llu",
                          (unsigned long long)needs, (unsigned long long)bytes);
}

/* Returns the number that a method returns, or 0 with an exception. */
static uint64_t dlpackgen_torch_count(PyObject* object, const char* method) {
  PyObject* answer = object && !PyErr_Occurred() ? PyObject_CallMethod(object, method, NULL) : NULL;
  const uint64_t count = answer ? PyLong_AsUnsignedLongLong(answer) : 0;
  Py_XDECREF(answer);
  return PyErr_Occurred() ? 0 : count;
}

/* Returns the number of elements from the first to the last one in memory, which is 0 for an empty
 * tensor, or 0 with an exception. */
static uint64_t dlpackgen_torch_extent(PyObject* object) {
  PyObject* sizes = PyObject_CallMethod(object, "size", NULL);
  PyObject* strides = sizes ? PyObject_CallMethod(object, "stride", NULL) : NULL;
  const bool fits = strides && PyTuple_Check(sizes) && PyTuple_Check(strides);
  const Py_ssize_t count = fits ? PyTuple_Size(sizes) : 0;
  uint64_t span = fits && PyTuple_Size(strides) == count;
  for (Py_ssize_t i = 0; span != 0 && i < count; i++) {
    const uint64_t size = PyLong_AsUnsignedLongLong(PyTuple_GetItem(sizes, i));
    const uint64_t stride = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongLong(PyTuple_GetItem(strides, i));
    span = size == 0 || PyErr_Occurred() ? 0 : span + (size - 1) * stride;
  }
  Py_XDECREF(strides);
  Py_XDECREF(sizes);
  return span;
}

/* Rejects a tensor whose storage was resized to less than it needs. A tensor without a storage is
 * left to its exporter. */
static int dlpackgen_torch_reject_storage(PyObject* object) {
  PyObject* storage = PyObject_CallMethod(object, "untyped_storage", NULL);
  uint64_t bytes = 0, needs = 0;
  if (!storage && PyErr_ExceptionMatches(PyExc_RuntimeError)) {
    PyErr_Clear();
    return 0;
  }
  bytes = dlpackgen_torch_count(storage, "nbytes");
  if (storage && !PyErr_Occurred()) needs = dlpackgen_torch_extent(object);
  if (needs != 0) needs += dlpackgen_torch_count(object, "storage_offset");
  if (needs != 0) needs *= dlpackgen_torch_count(object, "element_size");
  Py_XDECREF(storage);
  if (PyErr_Occurred()) return -1;
  return needs <= bytes ? 0 : dlpackgen_torch_reject_short(needs, bytes);
}

/* Rejects tensors that torch's exchange table and __dlpack__ export with wrong values or without
 * memory. */
DLPACKGEN_SLOW static int dlpackgen_torch_reject(PyObject* object) {
  const int dispatches = dlpackgen_torch_has_dispatch((PyObject*)Py_TYPE(object));
  int is_meta;
  if (dispatches != 0) return dispatches < 0 ? -1 : dlpackgen_torch_reject_dispatch((PyObject*)Py_TYPE(object));
  is_meta = dlpackgen_torch_attribute(object, "is_meta");
  if (is_meta != 0) return is_meta < 0 ? -1 : dlpackgen_reject("its device is meta, where tensors have no memory");
  if (dlpackgen_torch_check_strided(object) < 0) return -1;
  if (dlpackgen_torch_reject_bits(object) < 0) return -1;
  if (dlpackgen_torch_reject_storage(object) < 0) return -1;
  return dlpackgen_torch_reject_grad(object);
}

#endif /* DLPACKGEN_PYTHON_READER_TORCH_SUBCLASS_H_ */
