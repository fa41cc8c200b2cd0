/* The loops of gufuncs that call a kernel, and their registration. Part of kernels_ufunc.c. */
#ifndef DLPACKGEN_UFUNC_LOOP_H_
#define DLPACKGEN_UFUNC_LOOP_H_

#include "numpy_abi.h"
#include "operands.h"

#if defined(_WIN32)
#define DLPACKGEN_UFUNC_API __declspec(dllexport)
#else
#define DLPACKGEN_UFUNC_API __attribute__((visibility("default")))
#endif

/* The NumPy type with 64 bits; arrays of the other type are cast to it. */
enum {
  DLPACKGEN_NUMPY_INT64 = sizeof(long) == 8 ? DLPACKGEN_NUMPY_LONG : DLPACKGEN_NUMPY_LONG_LONG,
  DLPACKGEN_NUMPY_UINT64 = sizeof(long) == 8 ? DLPACKGEN_NUMPY_UNSIGNED_LONG : DLPACKGEN_NUMPY_UNSIGNED_LONG_LONG,
};

/* The size of a message in bytes. */
enum { DLPACKGEN_UFUNC_SENTENCE = 4096 };

/* A gufunc. NumPy keeps pointers to its members. */
struct dlpackgen_ufunc_kernel {
  const char *name, *signature, *doc;
  const struct dlpackgen_ufunc_operand* operands; /* the inputs, then the outputs */
  int inputs, outputs, loops;
  bool joins; /* `...` may have an additional dimension */
  void** functions;
  void** data; /* the dtypes of each loop */
  const char* types;
};

/* Calls the kernel with one tensor for each operand. Returns a status, and a message. */
typedef int dlpackgen_ufunc_call(const struct dlpackgen_ufunc_tensor* operands, struct dlpackgen_message* message);

/* The arguments of a loop. */
struct dlpackgen_ufunc_loop {
  const struct dlpackgen_ufunc_kernel* kernel;
  dlpackgen_ufunc_call* call;
  const DLDataType* dtypes; /* of the operands */
  char** passed;
  const intptr_t *sizes, *steps;
};

/* Raises an error. NumPy runs loops without the GIL, and runs further ones after an error. */
static void dlpackgen_ufunc_raise(int status, const char* sentence) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* class = PyExc_RuntimeError;
  switch (status) {
#define DLPACKGEN_UFUNC_CLASS(name, exception, number) \
  case DLPACKGEN_STATUS_##name: class = PyExc_##exception; break;
    DLPACKGEN_STATUSES(DLPACKGEN_UFUNC_CLASS)
#undef DLPACKGEN_UFUNC_CLASS
  }
  if (!PyErr_Occurred()) PyErr_SetString(class, sentence);
  PyGILState_Release(state);
}

/* Describes the operands of a loop. */
static int dlpackgen_ufunc_begin(const struct dlpackgen_ufunc_loop* loop, struct dlpackgen_ufunc_tensor* all,
                                 struct dlpackgen_message* message) {
  const int count = loop->kernel->inputs + loop->kernel->outputs;
  const intptr_t* core = loop->steps + count;
  int status = DLPACKGEN_STATUS_OK;
  for (int i = 0; i < count; i++) all[i].block = NULL;
  for (int i = 0; i < count && !status; i++) {
    const struct dlpackgen_ufunc_operand* const operand = &loop->kernel->operands[i];
    status = dlpackgen_ufunc_describe(operand, loop->dtypes[i], loop->passed[i], loop->sizes + 1, loop->steps[i], core,
                                      &all[i], message);
    core += operand->ndim;
  }
  return status;
}

/* Returns the byte range of an operand without core dimensions. */
static void dlpackgen_ufunc_range(const struct dlpackgen_ufunc_loop* loop, int i, uintptr_t* low, uintptr_t* end) {
  const intptr_t extent = loop->steps[i] * (loop->sizes[0] - 1);
  *low = (uintptr_t)loop->passed[i] + (uintptr_t)(extent < 0 ? extent : 0);
  *end = (uintptr_t)loop->passed[i] + (uintptr_t)(extent < 0 ? 0 : extent) + (uintptr_t)loop->dtypes[i].bits / 8;
}

static bool dlpackgen_ufunc_overlap(const struct dlpackgen_ufunc_loop* loop, int i, int j) {
  uintptr_t low[2], end[2];
  dlpackgen_ufunc_range(loop, i, &low[0], &end[0]);
  dlpackgen_ufunc_range(loop, j, &low[1], &end[1]);
  return low[0] < end[1] && low[1] < end[0];
}

/* Finds outputs that overlap inputs, which NumPy permits for operands without core dimensions: it
 * then runs element by element, as in y += x and in a reduction. Returns false if the order of
 * elements matters. */
static bool dlpackgen_ufunc_find_shared(const struct dlpackgen_ufunc_loop* loop, struct dlpackgen_ufunc_tensor* all) {
  const struct dlpackgen_ufunc_kernel* const kernel = loop->kernel;
  bool is_free = true;
  for (int o = kernel->inputs; o < kernel->inputs + kernel->outputs; o++) {
    for (int i = 0; i < kernel->inputs && kernel->operands[o].ndim + kernel->operands[i].ndim == 0; i++) {
      if (!dlpackgen_ufunc_overlap(loop, o, i)) continue;
      all[o].is_shared = true;
      is_free = is_free && loop->passed[i] == loop->passed[o] && loop->steps[i] == loop->steps[o];
    }
  }
  return is_free;
}

/* Allocates memory for outputs that overlap inputs, because the kernel may write before it
 * reads. */
static int dlpackgen_ufunc_unshare(const struct dlpackgen_ufunc_loop* loop, struct dlpackgen_ufunc_tensor* all,
                                   struct dlpackgen_message* message) {
  int status = DLPACKGEN_STATUS_OK;
  for (int o = loop->kernel->inputs; o < loop->kernel->inputs + loop->kernel->outputs && !status; o++) {
    if (!all[o].is_shared || all[o].block) continue;
    all[o].core = &loop->steps[o]; /* if the call covers all elements */
    status = dlpackgen_ufunc_prepare_copy(&loop->kernel->operands[o], &all[o], message);
  }
  return status;
}

/* Copies outputs to NumPy's memory. */
static void dlpackgen_ufunc_return(const struct dlpackgen_ufunc_loop* loop, const struct dlpackgen_ufunc_tensor* all) {
  for (int o = loop->kernel->inputs; o < loop->kernel->inputs + loop->kernel->outputs; o++)
    if (all[o].block) dlpackgen_ufunc_copy(&all[o], 0, all[o].passed, all[o].tensor.data, true);
}

/* Runs the loop as one call, if its operands with one more dimension are valid tensors for the
 * kernel. */
static bool dlpackgen_ufunc_join(const struct dlpackgen_ufunc_loop* loop, struct dlpackgen_ufunc_tensor* all) {
  const struct dlpackgen_ufunc_kernel* const kernel = loop->kernel;
  const int count = kernel->inputs + kernel->outputs;
  bool fits = kernel->joins && loop->sizes[0] > 1;
  int led = 0;
  for (; led < count && fits; led++)
    fits = !all[led].block && dlpackgen_ufunc_lead(&kernel->operands[led], loop->sizes[0], loop->steps[led], &all[led]);
  for (int i = 0; i < led && !fits; i++) dlpackgen_ufunc_unlead(kernel->operands[i].ndim, &all[i]);
  return fits;
}

/* Calls the kernel for one element of the loop. */
static int dlpackgen_ufunc_element(const struct dlpackgen_ufunc_loop* loop, struct dlpackgen_ufunc_tensor* all,
                                   struct dlpackgen_message* message) {
  const struct dlpackgen_ufunc_operand* const operands = loop->kernel->operands;
  const int count = loop->kernel->inputs + loop->kernel->outputs;
  for (int i = 0; i < count; i++) {
    if (!all[i].block) all[i].tensor.data = all[i].passed;
    else if (!operands[i].is_written) dlpackgen_ufunc_copy(&all[i], 0, all[i].passed, all[i].tensor.data, false);
  }
  const int status = loop->call(all, message);
  if (!status) dlpackgen_ufunc_return(loop, all);
  for (int i = 0; i < count; i++) all[i].passed += loop->steps[i];
  return status;
}

/* Runs a loop; all has room for each operand. */
static void dlpackgen_ufunc_run(const struct dlpackgen_ufunc_loop* loop, struct dlpackgen_ufunc_tensor* all) {
  char text[DLPACKGEN_UFUNC_SENTENCE];
  struct dlpackgen_message message = dlpackgen_message_in(text, sizeof text);
  int status = dlpackgen_ufunc_begin(loop, all, &message);
  const bool is_joined = !status && dlpackgen_ufunc_find_shared(loop, all) && dlpackgen_ufunc_join(loop, all);
  if (!status) status = dlpackgen_ufunc_unshare(loop, all, &message);
  if (!status && is_joined) {
    status = loop->call(all, &message);
    if (!status) dlpackgen_ufunc_return(loop, all);
  } else {
    for (intptr_t i = 0; i < loop->sizes[0] && !status; i++) status = dlpackgen_ufunc_element(loop, all, &message);
  }
  for (int i = 0; i < loop->kernel->inputs + loop->kernel->outputs; i++) free(all[i].block);
  if (DLPACKGEN_RARE(status)) dlpackgen_ufunc_raise(status, text);
}

/* Registration */

/* Looks up NumPy's function that creates gufuncs, or sets an exception. */
static dlpackgen_numpy_from_loops dlpackgen_ufunc_find(void) {
  dlpackgen_numpy_from_loops made = NULL;
  PyObject* module = PyImport_ImportModule("numpy._core._multiarray_umath");
  if (!module && PyErr_ExceptionMatches(PyExc_ImportError)) {
    PyErr_Clear();
    module = PyImport_ImportModule("numpy.core._multiarray_umath"); /* before NumPy 2 */
  }
  PyObject* const capsule = module ? PyObject_GetAttrString(module, "_UFUNC_API") : NULL;
  void** const table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
  if (table) memcpy(&made, &table[DLPACKGEN_NUMPY_FROM_LOOPS_SLOT], sizeof made);
  Py_XDECREF(capsule);
  Py_XDECREF(module);
  return made;
}

/* Creates a gufunc, or sets an exception. */
static PyObject* dlpackgen_ufunc_new(const struct dlpackgen_ufunc_kernel* kernel) {
  const dlpackgen_numpy_from_loops make = dlpackgen_ufunc_find();
  return make ? make(kernel->functions, kernel->data, kernel->types, kernel->loops, kernel->inputs, kernel->outputs,
                     DLPACKGEN_NUMPY_NONE, kernel->name, kernel->doc, 0, kernel->signature)
              : NULL;
}

#endif /* DLPACKGEN_UFUNC_LOOP_H_ */
