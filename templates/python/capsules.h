/* Capsules: requests them through __dlpack__, consumes them once, and exports them. Part of
 * dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_CAPSULES_H_
#define DLPACKGEN_PYTHON_CAPSULES_H_

#include "access.h"

/* A tensor from a capsule: one of the two structs, for its new owner. */
struct dlpackgen_received {
  DLManagedTensorVersioned* versioned;
  DLManagedTensor* legacy;
};

/* Calls __dlpack__ without a version, after it raised TypeError. If it fails again, the first
 * exception may be the reason, and is kept as the context. */
static PyObject* dlpackgen_call_older_dlpack(struct dlpackgen_state* state, PyObject* method, PyObject* stream) {
  struct dlpackgen_pending first = dlpackgen_catch(), second;
  PyObject* keywords = stream ? Py_BuildValue("{OO}", state->stream, stream) : NULL;
  PyObject* capsule = stream && !keywords ? NULL : PyObject_Call(method, state->nothing, keywords);
  Py_XDECREF(keywords);
  if (!capsule) {
    second = dlpackgen_catch();
    if (first.value != second.value) PyException_SetContext(second.value, Py_NewRef(first.value));
    dlpackgen_resume(second);
  }
  dlpackgen_drop_pending(&first);
  return capsule;
}

/* Calls __dlpack__ with the newest supported version and, if there is one, the number of a stream.
 * Producers before DLPack 1.0 do not support the version, and raise TypeError. */
static PyObject* dlpackgen_call_dlpack(struct dlpackgen_state* state, PyObject* method, PyObject* stream) {
  PyObject* keywords = PyDict_Copy(state->keywords); /* a producer in C receives this dict and may
                                                      * change it */
  PyObject* capsule = NULL;
  if (!keywords) return NULL;
  if (!stream || PyDict_SetItem(keywords, state->stream, stream) == 0)
    capsule = PyObject_Call(method, state->nothing, keywords);
  Py_DECREF(keywords);
  if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
  return dlpackgen_call_older_dlpack(state, method, stream);
}

/* Returns the result of __dlpack__, as a new reference. */
static PyObject* dlpackgen_request_capsule(struct dlpackgen_state* state, PyObject* object, PyObject* stream) {
  PyObject* method = PyObject_GetAttr(object, state->dlpack);
  if (!method) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
      dlpackgen_not_exported(object);
      return NULL;
    }
    PyErr_Clear();
    PyObject* name = PyType_GetName(Py_TYPE(object));
    if (name) PyErr_Format(PyExc_TypeError, "expected a tensor, got %U, which has no __dlpack__", name);
    Py_XDECREF(name);
    return NULL;
  }
  PyObject* capsule = dlpackgen_call_dlpack(state, method, stream);
  Py_DECREF(method);
  if (!capsule) dlpackgen_not_exported(object);
  return capsule;
}

/* Consumes a capsule by renaming it, and returns its pointer. Returns NULL, without an exception,
 * if the capsule has another name. If threads without a GIL consume one capsule concurrently,
 * exactly one of them succeeds. */
static void* dlpackgen_open_named(PyObject* capsule, const char* fresh, const char* used) {
  void* tensor = NULL;
  DLPACKGEN_BEGIN_CRITICAL_SECTION(capsule);
  if (PyCapsule_IsValid(capsule, fresh)) {
    tensor = PyCapsule_GetPointer(capsule, fresh);
    if (PyCapsule_SetName(capsule, used)) tensor = NULL;
  }
  DLPACKGEN_END_CRITICAL_SECTION();
  return tensor;
}

/* Returns the tensor of a capsule, which is consumed. */
static int dlpackgen_open_capsule(PyObject* capsule, struct dlpackgen_received* imported) {
  imported->versioned =
      (DLManagedTensorVersioned*)dlpackgen_open_named(capsule, dlpackgen_versioned_fresh, dlpackgen_versioned_used);
  if (imported->versioned) return 0;
  imported->legacy = (DLManagedTensor*)dlpackgen_open_named(capsule, dlpackgen_legacy_fresh, dlpackgen_legacy_used);
  if (imported->legacy) return 0;
  PyErr_SetString(PyExc_BufferError, DLPACKGEN_TEXT_NO_CAPSULE);
  return -1;
}

/* Returns the tensor from __dlpack__ without validating it: 0, or -1 with an exception. If it has
 * another major version, only its deleter may be used. */
static int dlpackgen_import_capsule(struct dlpackgen_state* state, PyObject* object, PyObject* stream,
                                    struct dlpackgen_received* imported) {
  PyObject* capsule = dlpackgen_request_capsule(state, object, stream);
  imported->versioned = NULL;
  imported->legacy = NULL;
  if (!capsule) return -1;
  const int opened = dlpackgen_open_capsule(capsule, imported);
  Py_DECREF(capsule);
  if (opened) return -1;
  if (imported->versioned && imported->versioned->version.major != DLPACK_MAJOR_VERSION) {
    PyErr_Format(PyExc_BufferError, "its tensor has DLPack version %u.%u, expected %u.%u",
                 imported->versioned->version.major, imported->versioned->version.minor, DLPACK_MAJOR_VERSION,
                 DLPACK_MINOR_VERSION);
    dlpackgen_delete_quietly(imported->versioned, NULL);
    return -1;
  }
  return 0;
}

/* A consumer renames the capsule when it consumes the tensor. Otherwise, the capsule frees the
 * tensor, possibly while an exception is being propagated. */
static void dlpackgen_destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, dlpackgen_versioned_fresh))
    dlpackgen_delete_quietly((DLManagedTensorVersioned*)PyCapsule_GetPointer(capsule, dlpackgen_versioned_fresh), NULL);
  else if (PyCapsule_IsValid(capsule, dlpackgen_legacy_fresh))
    dlpackgen_delete_quietly(NULL, (DLManagedTensor*)PyCapsule_GetPointer(capsule, dlpackgen_legacy_fresh));
}

static void dlpackgen_legacy_deleter(DLManagedTensor* self) {
  dlpackgen_delete((DLManagedTensorVersioned*)self->manager_ctx);
  free(self);
}

/* The old struct cannot express these flags, which must not be lost. */
static DLManagedTensor* dlpackgen_to_legacy(DLManagedTensorVersioned* tensor) {
  if (tensor->flags & ~(uint64_t)DLPACK_FLAG_BITMASK_IS_COPIED) {
    PyErr_SetString(PyExc_BufferError, DLPACKGEN_TEXT_LEGACY);
    return NULL;
  }
  DLManagedTensor* made = (DLManagedTensor*)malloc(sizeof *made);
  if (!made) {
    PyErr_NoMemory();
    return NULL;
  }
  made->dl_tensor = tensor->dl_tensor;
  made->manager_ctx = tensor;
  made->deleter = dlpackgen_legacy_deleter;
  return made;
}

DLPACKGEN_PYTHON_API PyObject* dlpackgen_export_capsule(DLManagedTensorVersioned* tensor, uint32_t flags) {
  const int versioned = (flags & DLPACKGEN_VERSIONED) != 0;
  DLManagedTensorVersioned* whole = versioned ? dlpackgen_with_strides(tensor) : NULL;
  DLManagedTensor* legacy = versioned ? NULL : dlpackgen_to_legacy(tensor);
  PyObject* capsule = NULL;
  if (whole) capsule = PyCapsule_New(whole, dlpackgen_versioned_fresh, dlpackgen_destroy_capsule);
  else if (legacy) capsule = PyCapsule_New(legacy, dlpackgen_legacy_fresh, dlpackgen_destroy_capsule);
  if (!capsule && legacy) dlpackgen_delete_quietly(NULL, legacy);
  else if (!capsule) dlpackgen_delete_quietly(whole ? whole : tensor, NULL);
  return capsule;
}

#endif
