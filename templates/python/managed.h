/* Managed tensors: the owners of their memory, and their deleters. Part of dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_MANAGED_H_
#define DLPACKGEN_PYTHON_MANAGED_H_

#include "depth.h"

/* A tensor with its owner in one block; shape and strides follow. */
struct dlpackgen_holder {
  DLManagedTensorVersioned tensor; /* the first, so that both have one address */
  PyObject* object;                /* a reference, or NULL */
  DLManagedTensorVersioned* versioned;
  DLManagedTensor* legacy;
  struct dlpackgen_holder* next; /* that waits to be freed, or NULL */
};

static void dlpackgen_drop(PyObject* object) {
  /* False from the beginning of interpreter shutdown: a thread that then requests the GIL hangs or
   * is killed, so the tensor is leaked. */
  if (!Py_IsInitialized()) return;
  PyGILState_STATE gil = PyGILState_Ensure();
  struct dlpackgen_pending pending = dlpackgen_suspend();
  Py_DECREF(object);
  dlpackgen_resume(pending);
  PyGILState_Release(gil);
}

/* Deletes with the GIL held. A foreign deleter may clear the current exception. */
static void dlpackgen_delete_quietly(DLManagedTensorVersioned* versioned, DLManagedTensor* legacy) {
  struct dlpackgen_pending pending = dlpackgen_suspend();
  if (versioned && versioned->deleter) versioned->deleter(versioned);
  if (legacy && legacy->deleter) legacy->deleter(legacy);
  dlpackgen_resume(pending);
}

/* Deletes with or without the GIL. A thread without a Python thread state has no exception to keep,
 * and neither does any thread after Python has shut down. */
static void dlpackgen_delete_anywhere(DLManagedTensorVersioned* versioned, DLManagedTensor* legacy) {
  if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) {
    if (versioned && versioned->deleter) versioned->deleter(versioned);
    if (legacy && legacy->deleter) legacy->deleter(legacy);
    return;
  }
  PyGILState_STATE gil = PyGILState_Ensure();
  dlpackgen_delete_quietly(versioned, legacy);
  PyGILState_Release(gil);
}

static void dlpackgen_end_holder(struct dlpackgen_holder* holder) {
  if (holder->versioned || holder->legacy) dlpackgen_delete_anywhere(holder->versioned, holder->legacy);
  if (holder->object) dlpackgen_drop(holder->object);
  free(holder);
}

/* The number of nested deleters of holders on this thread, and the holders that wait for them.
 * Freeing a view of a view of a view would otherwise need as many nested calls. */
struct dlpackgen_ends {
  int nested;
  struct dlpackgen_holder* waiting;
};
DLPACKGEN_OF_THREAD struct dlpackgen_ends dlpackgen_ends;

static void dlpackgen_let_go(struct dlpackgen_holder* holder) {
  struct dlpackgen_ends* const ends = &dlpackgen_ends;
  if (ends->nested == DLPACKGEN_MOST_ENDS) {
    holder->next = ends->waiting;
    ends->waiting = holder;
    return;
  }
  ends->nested++;
  dlpackgen_end_holder(holder);
  while (ends->nested == 1 && ends->waiting) {
    struct dlpackgen_holder* const next = ends->waiting;
    ends->waiting = next->next;
    dlpackgen_end_holder(next);
  }
  ends->nested--;
}

static void dlpackgen_holder_deleter(DLManagedTensorVersioned* self) {
  dlpackgen_let_go((struct dlpackgen_holder*)self);
}

/* Deletes with the GIL held, which is not acquired again if only an object is released. */
static void dlpackgen_delete_here(DLManagedTensorVersioned* versioned, DLManagedTensor* legacy) {
  struct dlpackgen_holder* const holder = (struct dlpackgen_holder*)versioned;
  const int is_holder = versioned && versioned->deleter == dlpackgen_holder_deleter;
  if (!is_holder || !holder->object || holder->versioned || holder->legacy) {
    dlpackgen_delete_quietly(versioned, legacy);
    return;
  }
  struct dlpackgen_pending pending = dlpackgen_suspend();
  Py_DECREF(holder->object);
  free(holder);
  dlpackgen_resume(pending);
}

DLPACKGEN_PYTHON_API void dlpackgen_delete(DLManagedTensorVersioned* tensor) {
  if (!tensor || !tensor->deleter) return;
  if (tensor->deleter == dlpackgen_holder_deleter) dlpackgen_let_go((struct dlpackgen_holder*)tensor);
  else dlpackgen_delete_anywhere(tensor, NULL);
}

/* Copies shape and strides to 2 * ndim numbers, which may already contain the strides, and makes
 * the tensor point there. */
static dlpackgen_error_code dlpackgen_copy_metadata(DLTensor* tensor, int64_t* numbers) {
  int64_t strides[DLPACKGEN_MAX_NDIM];
  const size_t size = (size_t)tensor->ndim * sizeof *numbers;
  if (tensor->ndim == 0) return DLPACKGEN_OK;
  if (tensor->strides) memcpy(strides, tensor->strides, size);
  memmove(numbers, tensor->shape, size);
  if (!tensor->strides) {
    memset(strides, 0, size);
    /* If the product of extents is too large, the tensor is empty, and its strides have no meaning,
     * or the validator rejects it. */
    const dlpackgen_error_code error = dlpackgen_compact_strides(tensor->ndim, numbers, strides);
    if (error != DLPACKGEN_OK && error != DLPACKGEN_ERROR_TOO_LARGE) return error;
  }
  memcpy(numbers + tensor->ndim, strides, size);
  tensor->shape = numbers;
  tensor->strides = numbers + tensor->ndim;
  return DLPACKGEN_OK;
}

/* Returns whether a library such as JAX numbers several devices of host memory, which have the id 0
 * in DLPack. Managed memory keeps its id: the producer may have streams on that device. */
static int dlpackgen_has_needless_id(DLDevice device) {
  const int32_t type = (int32_t)device.device_type;
  return device.device_id != 0 && dlpackgen_device_id_is_zero(type) && dlpackgen_device_is_host(type);
}

/* Creates a holder without an owner. Its data may follow its numbers. */
static struct dlpackgen_holder* dlpackgen_new_holder(const DLTensor* view, uint64_t flags, size_t extra) {
  const size_t numbers = 2 * (size_t)view->ndim * sizeof(int64_t);
  struct dlpackgen_holder* made = (struct dlpackgen_holder*)malloc(sizeof *made + numbers + extra);
  if (!made) return NULL;
  memset(made, 0, sizeof *made);
  made->tensor.version.major = DLPACK_MAJOR_VERSION;
  made->tensor.version.minor = DLPACK_MINOR_VERSION;
  made->tensor.deleter = dlpackgen_holder_deleter;
  made->tensor.flags = flags;
  made->tensor.dl_tensor = *view;
  if (dlpackgen_has_needless_id(view->device)) made->tensor.dl_tensor.device.device_id = 0;
  if (dlpackgen_copy_metadata(&made->tensor.dl_tensor, (int64_t*)(made + 1)) == DLPACKGEN_OK) return made;
  free(made);
  return NULL;
}

DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_from_owner(PyObject* owner, const DLTensor* view,
                                                                    uint64_t flags) {
  if (view->ndim < 0 || view->ndim > DLPACKGEN_MAX_NDIM) {
    PyErr_Format(PyExc_ValueError, "a tensor has 0 to %d dimensions, not %d", DLPACKGEN_MAX_NDIM, (int)view->ndim);
    return NULL;
  }
  struct dlpackgen_holder* made = dlpackgen_new_holder(view, flags, 0);
  if (!made) {
    PyErr_NoMemory();
    return NULL;
  }
  Py_INCREF(owner);
  made->object = owner;
  return &made->tensor;
}

/* Wraps an unversioned tensor. Its strides are made explicit, and properties that it cannot express
 * get the safe value. Takes ownership on success. */
static DLManagedTensorVersioned* dlpackgen_modern(DLManagedTensorVersioned* versioned, DLManagedTensor* legacy) {
  const DLTensor* view = versioned ? &versioned->dl_tensor : &legacy->dl_tensor;
  const uint64_t flags = versioned ? versioned->flags : (uint64_t)DLPACK_FLAG_BITMASK_READ_ONLY;
  struct dlpackgen_holder* made = dlpackgen_new_holder(view, flags, 0);
  if (!made) {
    PyErr_NoMemory();
    return NULL;
  }
  made->versioned = versioned;
  made->legacy = legacy;
  return &made->tensor;
}

/* Replaces NULL strides with explicit ones, because a consumer of a tensor of 1.2 or newer may use
 * them without a check. Takes ownership on success. */
static DLManagedTensorVersioned* dlpackgen_with_strides(DLManagedTensorVersioned* tensor) {
  if (tensor->dl_tensor.ndim == 0 || tensor->dl_tensor.strides) return tensor;
  const dlpackgen_error_code error = dlpackgen_validate_versioned(tensor, DLPACKGEN_ACCEPT_NULL_STRIDES);
  if (error == DLPACKGEN_OK) return dlpackgen_modern(tensor, NULL);
  PyErr_Format(PyExc_BufferError, "it is not a valid DLPack tensor: %s", dlpackgen_error_string(error));
  return NULL;
}

enum { DLPACKGEN_ALIGNMENT = DLPACKGEN_DATA_ALIGNMENT };

/* The address in a holder's block at which its data begins. */
static void* dlpackgen_own_data(struct dlpackgen_holder* holder) {
  const uintptr_t after = (uintptr_t)((int64_t*)(holder + 1) + 2 * holder->tensor.dl_tensor.ndim);
  return (void*)((after + DLPACKGEN_ALIGNMENT - 1) / DLPACKGEN_ALIGNMENT * DLPACKGEN_ALIGNMENT);
}

DLPACKGEN_PYTHON_API DLManagedTensorVersioned* dlpackgen_allocate(DLDataType dtype, int32_t ndim,
                                                                  const int64_t* shape) {
  DLTensor view;
  int64_t bytes = 0;
  memset(&view, 0, sizeof view);
  view.device.device_type = kDLCPU;
  view.dtype = dtype;
  view.ndim = ndim;
  view.shape = (int64_t*)(uintptr_t)shape;
  dlpackgen_error_code error = ndim > DLPACKGEN_MAX_NDIM ? DLPACKGEN_ERROR_NDIM : dlpackgen_nbytes(&view, 0, &bytes);
  if (error == DLPACKGEN_OK) error = dlpackgen_validate_dtype(dtype);
  if (error == DLPACKGEN_OK && (uint64_t)bytes > PTRDIFF_MAX / 2) error = DLPACKGEN_ERROR_TOO_LARGE;
  if (error != DLPACKGEN_OK) {
    PyErr_Format(PyExc_ValueError, "cannot create the tensor: %s", dlpackgen_error_string(error));
    return NULL;
  }
  struct dlpackgen_holder* made = dlpackgen_new_holder(&view, 0, bytes ? (size_t)bytes + DLPACKGEN_ALIGNMENT : 0);
  if (!made) {
    PyErr_NoMemory();
    return NULL;
  }
  if (bytes) made->tensor.dl_tensor.data = dlpackgen_own_data(made);
  return &made->tensor;
}

#endif
