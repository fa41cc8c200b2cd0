/* Hostile tensors for dlpackgen_python, from producers' objects: lent by a table, by a trusted one,
 * exported by one, and in both kinds of capsule. Python is embedded. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include "hostile.h"

#include "../module/untrusted.h"

static struct hostile now;
/* In addition to the other producers: one of a type that passes for paddle.Tensor, which has no
 * flags, and uses the fast checks of most calls. */
enum { TRUSTED = UNTRUSTED, ALL_UNTRUSTED };

static PyObject *module, *producers[ALL_UNTRUSTED];

/* The called functions: hold() checks the requirements of each. */
#define ALL_DTYPES {0}
static const struct dlpackgen_parameter anything[] = {
    {.name = "x", .leading_dims = 1, .dtypes = ALL_DTYPES, .devices = {-1}}};
static const struct dlpackgen_parameter floats[] = {
    {.name = "x", .leading_dims = 1, .dtypes = {DLPACKGEN_DTYPE_FLOAT32, DLPACKGEN_DTYPE_FLOAT64}}};
static const struct dlpackgen_parameter written[] = {{.name = "x",
                                                      .leading_dims = 1,
                                                      .writable = 1,
                                                      .layout = DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER,
                                                      .dtypes = {DLPACKGEN_DTYPE_FLOAT32, DLPACKGEN_DTYPE_INT8}}};
static const struct dlpackgen_parameter square[] = {{.name = "x",
                                                     .ndim = 2,
                                                     .layout = DLPACKGEN_LAYOUT_INNER_CONTIGUOUS,
                                                     .dtypes = {DLPACKGEN_DTYPE_FLOAT32},
                                                     .shape = {DLPACKGEN_DIM(0), DLPACKGEN_DIM(0)}}};
static const struct dlpackgen_function functions[] = {
    {.name = "anything", .parameters = anything, .nparameters = 1, .takes_stream = 1},
    {.name = "floats", .parameters = floats, .nparameters = 1},
    {.name = "written", .parameters = written, .nparameters = 1},
    {.name = "square", .parameters = square, .nparameters = 1},
    {.name = "streamless", .parameters = anything, .nparameters = 1},
};

/* Untrusted producers that cannot declare that they are writable count as read-only. */
static uint64_t flags_of(int untrusted) {
  if (untrusted == LEGACY) return DLPACK_FLAG_BITMASK_READ_ONLY;
  return now.managed.flags;
}

/* Accepted tensors are valid, and meet the requirements of the parameter. */
static void hold(const struct dlpackgen_parameter* p, const struct dlpackgen_argument* a, int untrusted) {
  const DLTensor* t = &a->tensor;
  CLAIM(hostile_fault(t, a->flags, 0) == DLPACKGEN_OK);
  const struct hostile_facts f = hostile_learn(t, a->flags);
  CLAIM(t->data || f.count == 0);
  if (f.count && t->device.device_type == kDLCPU) CLAIM(hostile_is_aligned(t));
  CLAIM(!p->writable || !(flags_of(untrusted) & DLPACK_FLAG_BITMASK_READ_ONLY));
  if (p->layout == DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER && f.count) CLAIM(f.below + f.above + 1 == f.count);
  if (p->ndim == 2) CLAIM(t->ndim == 2 && t->shape[0] == t->shape[1]);
  if (p->ndim == 2 && f.count > 1) CLAIM(t->strides[1] == 1);
  if (p->dtypes[0]) CLAIM(t->device.device_type == kDLCPU && t->dtype.lanes == 1 && t->dtype.bits >= 8);
  hostile_walk(&now, t, &f);
}

static int is_empty(const DLTensor* t) {
  for (int32_t i = 0; i < t->ndim; i++)
    if (t->shape[i] == 0) return 1;
  return 0;
}

/* Tensors that must be accepted: valid ones, if only alignment is required. */
static int must_pass(int untrusted) {
  const uint64_t flags = untrusted == LEGACY ? 0 : now.managed.flags;
  if (untrusted != LEGACY && untrusted != LENDS && now.managed.version.major != DLPACK_MAJOR_VERSION) return 0;
  if (untrusted == LENDS && now.managed.version.major != DLPACK_MAJOR_VERSION && now.managed.dl_tensor.dtype.bits < 8)
    return 0;
  const DLTensor* t = &now.managed.dl_tensor;
  return t->device.device_type == kDLCPU && hostile_fault(t, flags, DLPACKGEN_ACCEPT_NULL_STRIDES) == DLPACKGEN_OK &&
         (is_empty(t) || hostile_is_aligned(t));
}

/* Begins a call in the other form, with inlined checks for its function. */
static int begin_inlined(struct dlpackgen_call* call, PyObject* const* untrusted, int how) {
  switch (how) {
    case 0: return dlpackgen_call_begin_inline(call, module, &functions[0], untrusted, 1, NULL);
    case 1: return dlpackgen_call_begin_inline(call, module, &functions[1], untrusted, 1, NULL);
    case 2: return dlpackgen_call_begin_inline(call, module, &functions[2], untrusted, 1, NULL);
    case 3: return dlpackgen_call_begin_inline(call, module, &functions[3], untrusted, 1, NULL);
    default: return dlpackgen_call_begin_inline(call, module, &functions[4], untrusted, 1, NULL);
  }
}

/* Takes the current exception: its type and its text, new references, or NULL. */
static PyObject* take_error(PyObject** text) {
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  *text = kind ? PyObject_Str(value) : NULL;
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return kind;
}

/* Both forms accept the same tensors, and report the same errors. */
static void compare_ways(PyObject* untrusted, int how) {
  DLPACKGEN_CALL_OF(call, 1);
  DLPACKGEN_CALL_OF(other, 1);
  PyObject *text, *other_text;
  const int failed = dlpackgen_call_begin(&call, module, &functions[how], &untrusted, 1, NULL);
  PyObject* kind = take_error(&text);
  CLAIM(begin_inlined(&other, &untrusted, how) == failed);
  PyObject* other_kind = take_error(&other_text);
  CLAIM(kind == other_kind && (!kind || PyUnicode_Compare(text, other_text) == 0));
  if (!failed) {
    hold(functions[how].parameters, &other.arguments[0], LENDS);
    dlpackgen_call_end(&call);
    dlpackgen_call_end(&other);
  }
  Py_XDECREF(kind);
  Py_XDECREF(text);
  Py_XDECREF(other_kind);
  Py_XDECREF(other_text);
}

static void call_with(PyObject* untrusted, int which, const struct dlpackgen_function* function) {
  DLPACKGEN_CALL_OF(call, 1);
  const int failed = dlpackgen_call_begin(&call, module, function, &untrusted, 1, NULL);
  CLAIM(!failed == !PyErr_Occurred());
  if (!failed) {
    hold(function->parameters, &call.arguments[0], which);
    dlpackgen_call_end(&call);
  } else {
    CLAIM(!PyErr_ExceptionMatches(PyExc_MemoryError) && !PyErr_ExceptionMatches(PyExc_SystemError));
    CLAIM(function != &functions[0] || !must_pass(which));
    PyErr_Clear();
  }
}

static void take_from(PyObject* untrusted, int which, int writable) {
  DLManagedTensorVersioned* taken =
      dlpackgen_from_py_object_no_sync(module, untrusted, writable ? DLPACKGEN_WRITABLE : 0);
  CLAIM(!taken == !!PyErr_Occurred());
  if (!taken) {
    CLAIM(!PyErr_ExceptionMatches(PyExc_MemoryError));
    PyErr_Clear();
    return;
  }
  CLAIM(!writable || !(flags_of(which) & DLPACK_FLAG_BITMASK_READ_ONLY));
  CLAIM(hostile_fault(&taken->dl_tensor, taken->flags, 0) == DLPACKGEN_OK);
  const struct hostile_facts f = hostile_learn(&taken->dl_tensor, taken->flags);
  hostile_walk(&now, &taken->dl_tensor, &f);
  Py_XDECREF(dlpackgen_export_object(module, taken));
}

static PyObject* make_module(void) {
  static struct dlpackgen_module fuzzed;
  return dlpackgen_module_init(&fuzzed, "fuzzed", "", NULL, NULL);
}

static PyObject* make_trusted(void) {
  PyObject* type = make_strange_type(LENDS);
  CLAIM(PyObject_SetAttrString(PyImport_AddModule("paddle"), "Tensor", type) == 0);
  return PyObject_CallNoArgs(type);
}

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc, (void)argv;
  PyImport_AppendInittab("fuzzed", make_module);
  Py_InitializeEx(0);
  module = PyImport_ImportModule("fuzzed");
  for (int i = 0; i < UNTRUSTED; i++) producers[i] = PyObject_CallNoArgs(make_strange_type(i));
  producers[TRUSTED] = make_trusted();
  CLAIM(module && !PyErr_Occurred());
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  hostile_make(&now, bytes, size);
  const int chosen = now.choice % ALL_UNTRUSTED, how = now.choice / ALL_UNTRUSTED % 8;
  const int which = chosen == TRUSTED ? LENDS : chosen;
  if (chosen == TRUSTED) now.managed.flags = 0;
  strange = now.managed;
  if (how < 5 && chosen == TRUSTED) compare_ways(producers[chosen], how);
  if (how < 5) call_with(producers[chosen], which, &functions[how]);
  else take_from(producers[chosen], which, how == 6);
  CLAIM(alive == 0 && !PyErr_Occurred());
  hostile_free(&now);
  return 0;
}
