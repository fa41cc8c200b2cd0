/* What must be C: capsules, whose destructor Python may run at any time, also
 * with an error pending. Python's functions are looked up in the process that
 * loaded this library, so it is built without Python and serves every version. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include "_cgo_export.h"
#include "dlpack.h"

/* Python stores the pointers to these names, not copies. */
static const char fresh[] = "dltensor", used[] = "used_dltensor";
static const char fresh_versioned[] = "dltensor_versioned", used_versioned[] = "used_dltensor_versioned";

typedef void (*destructor)(void* capsule);
static struct {
  void* (*make)(void* pointer, const char* name, destructor destroy);
  void* (*pointer)(void* capsule, const char* name);
  int (*valid)(void* capsule, const char* name);
  int (*rename)(void* capsule, const char* name);
  void (*raise)(void* exception, const char* text);
  void** buffer_error;
} python;

/* Finds what Python has; false outside of Python. */
bool gonumpy_open(void) {
  *(void**)&python.make = dlsym(RTLD_DEFAULT, "PyCapsule_New");
  *(void**)&python.pointer = dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer");
  *(void**)&python.valid = dlsym(RTLD_DEFAULT, "PyCapsule_IsValid");
  *(void**)&python.rename = dlsym(RTLD_DEFAULT, "PyCapsule_SetName");
  *(void**)&python.raise = dlsym(RTLD_DEFAULT, "PyErr_SetString");
  python.buffer_error = dlsym(RTLD_DEFAULT, "PyExc_BufferError");
  return python.make && python.pointer && python.valid && python.rename && python.raise && python.buffer_error;
}

void gonumpy_raise(const char* text) { python.raise(*python.buffer_error, text); }

/* A consumer renames a capsule when it takes the tensor; only a tensor that
 * nobody took is left to the capsule. */
static void destroy(void* capsule) {
  if (python.valid(capsule, fresh_versioned)) {
    DLManagedTensorVersioned* tensor = python.pointer(capsule, fresh_versioned);
    if (tensor->deleter) tensor->deleter(tensor);
  } else if (python.valid(capsule, fresh)) {
    DLManagedTensor* tensor = python.pointer(capsule, fresh);
    if (tensor->deleter) tensor->deleter(tensor);
  }
}

/* Puts a matrix into a new capsule; NULL with an exception. */
void* gonumpy_give(uintptr_t handle, bool versioned) {
  void* tensor = gonumpyGive(handle, versioned);
  return tensor ? python.make(tensor, versioned ? fresh_versioned : fresh, destroy) : NULL;
}

/* Takes the tensor out of a capsule; 0 with an exception. */
uintptr_t gonumpy_take(void* capsule) {
  bool versioned = python.valid(capsule, fresh_versioned);
  if (!versioned && !python.valid(capsule, fresh)) {
    gonumpy_raise("not a capsule with a tensor, or one whose tensor was taken");
    return 0;
  }
  void* tensor = python.pointer(capsule, versioned ? fresh_versioned : fresh);
  if (python.rename(capsule, versioned ? used_versioned : used)) return 0;
  return gonumpyTake(tensor, versioned);
}
