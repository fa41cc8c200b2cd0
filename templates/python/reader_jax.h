/*
 * Reads JAX arrays on the CPU, and rejects tracers, which have no values.
 */
#ifndef DLPACKGEN_PYTHON_READER_JAX_H_
#define DLPACKGEN_PYTHON_READER_JAX_H_

#include "reader_buffer.h"

static int dlpackgen_jax_open(PyObject* type) {
  (void)type;
  return 1;
}

/* Returns 1 for an array whose memory was deleted, 0, or -1 with an exception. */
static int dlpackgen_jax_is_deleted(PyObject* object) {
  PyObject* answer = PyObject_CallMethod(object, "is_deleted", NULL);
  const int is_deleted = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  return is_deleted;
}

/* Called after the buffer protocol has failed. Returns 1 if __dlpack__ must export or reject the
 * array, as for dtypes such as bfloat16 and for arrays on a GPU, or -1 with an exception. */
static int dlpackgen_jax_without_buffer(PyObject* object) {
  if (!PyErr_ExceptionMatches(PyExc_BufferError)) return -1;
  PyErr_Clear();
  const int is_deleted = dlpackgen_jax_is_deleted(object);
  if (is_deleted > 0) return dlpackgen_reject("it was deleted, or donated to a function");
  return is_deleted < 0 ? -1 : 1;
}

static int dlpackgen_jax_reject_write(void) {
  return dlpackgen_reject("JAX arrays are immutable, but the parameter is writable");
}

/* The buffer protocol waits until the values are computed, unlike unsafe_buffer_pointer(). */
static int dlpackgen_jax_borrow(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags) {
  if (writable) return dlpackgen_jax_reject_write();
  const int result = dlpackgen_buffer_borrow(object, 0, out, scratch, flags);
  return result < 0 ? dlpackgen_jax_without_buffer(object) : result;
}

/* As long as the view exists, JAX neither deletes the array nor donates its memory. */
static int dlpackgen_jax_retain(PyObject* object, int writable, DLTensor* out, int64_t* scratch, uint64_t* flags,
                                PyObject** keep) {
  *keep = NULL;
  if (writable) return dlpackgen_jax_reject_write();
  const int result = dlpackgen_buffer_retain(object, out, scratch, flags, keep);
  return result < 0 ? dlpackgen_jax_without_buffer(object) : result;
}

static int dlpackgen_jax_reject_tracer(PyObject* object) {
  PyObject* name = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__name__");
  if (!name) return -1;
  dlpackgen_reject(
      "it is a JAX tracer (%S), which has no values: call this outside of jit, vmap and grad, or through "
      "jax.pure_callback",
      name);
  Py_DECREF(name);
  return -1;
}

static const struct dlpackgen_native_reader dlpackgen_reader_jax = {
    "jaxlib._jax", "ArrayImpl", NULL, dlpackgen_jax_open, dlpackgen_jax_borrow, NULL, NULL, dlpackgen_jax_retain, 1,
    NULL,          NULL,
};

/* The same type in jaxlib before 0.6. */
static const struct dlpackgen_native_reader dlpackgen_reader_jax_before_0_6 = {
    "jaxlib.xla_extension",
    "ArrayImpl",
    NULL,
    dlpackgen_jax_open,
    dlpackgen_jax_borrow,
    NULL,
    NULL,
    dlpackgen_jax_retain,
    1,
    NULL,
    NULL,
};

static const struct dlpackgen_native_reader dlpackgen_reader_jax_tracer = {
    "jax._src.core", "Tracer", NULL, NULL, NULL, dlpackgen_jax_reject_tracer, NULL, NULL, 0, NULL, NULL,
};

#endif /* DLPACKGEN_PYTHON_READER_JAX_H_ */
