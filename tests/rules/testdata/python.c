/* A Python module's results for a tensor: the verdicts come from its exceptions, and the numbers
 * from the resulting tensor. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include "measure.h"

#include <dlpackgen_python.h>

static DLManagedTensorVersioned* given; /* the next result of __dlpack__() */
static PyObject *module, *producer;

static PyObject* dlpack(PyObject* self, PyObject* args, PyObject* keywords) {
  (void)self, (void)args, (void)keywords;
  return PyCapsule_New(given, "dltensor_versioned", NULL);
}

static PyObject* dlpack_device(PyObject* self, PyObject* nothing) {
  const DLDevice device = given->dl_tensor.device;
  (void)self, (void)nothing;
  return Py_BuildValue("(ii)", (int)device.device_type, (int)device.device_id);
}

static int make_producer(void) {
  static PyMethodDef methods[] = {
      {"__dlpack__", (PyCFunction)(void (*)(void))dlpack, METH_VARARGS | METH_KEYWORDS, NULL},
      {"__dlpack_device__", dlpack_device, METH_NOARGS, NULL},
      {NULL, NULL, 0, NULL},
  };
  PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, NULL}};
  PyType_Spec spec = {"producer", (int)sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject* type = PyType_FromSpec(&spec);
  producer = type ? PyObject_CallNoArgs(type) : NULL;
  return producer ? 0 : -1;
}

static int make_module(void) {
  static struct dlpackgen_module own;
  static PyMethodDef none[] = {{NULL, NULL, 0, NULL}};
  PyModuleDef* definition = (PyModuleDef*)dlpackgen_module_init(&own, "rules", NULL, none, NULL);
  PyObject* machinery = PyImport_ImportModule("importlib.machinery");
  PyObject* spec = machinery ? PyObject_CallMethod(machinery, "ModuleSpec", "sO", "rules", Py_None) : NULL;
  module = spec ? PyModule_FromDefAndSpec(definition, spec) : NULL;
  return module ? PyModule_ExecDef(module, definition) : -1;
}

static int start_python(const wchar_t* home) {
  PyConfig config;
  if (Py_IsInitialized()) return 0;
  PyConfig_InitIsolatedConfig(&config);
  PyConfig_SetString(&config, &config.home, home);
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) return -1;
  PyEval_SaveThread();
  return 0;
}

/* Returns 0 if it can measure from now on. */
int start(const char* home) {
  wchar_t wide[4096];
  if (mbstowcs(wide, home, 4096) >= 4096 || start_python(wide)) return -1;
  const PyGILState_STATE gil = PyGILState_Ensure();
  const int failed = make_module() || make_producer();
  if (failed) PyErr_Print();
  PyGILState_Release(gil);
  return failed;
}

/* Returns the text of the exception, and clears it. */
static void said(char* text, size_t size) {
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  PyObject* words = value ? PyObject_Str(value) : NULL;
  snprintf(text, size, "%s", words ? PyUnicode_AsUTF8(words) : "nothing");
  Py_XDECREF(words), Py_XDECREF(kind), Py_XDECREF(value), Py_XDECREF(trace);
}

/* The code for the message of an exception; -1 for none. */
static int64_t code_of(const DLTensor* t, const char* text) {
  for (int code = DLPACKGEN_ERROR_NULL; code < 256; code++) {
    char room[512];
    struct dlpackgen_message sentence = dlpackgen_message_in(room, sizeof room);
    dlpackgen_put_invalid(&sentence, t, (dlpackgen_error_code)code);
    if (strstr(text, room)) return code;
  }
  return -1;
}

static void put_numbers(const DLTensor* t, uint64_t flags, measured* found) {
  int64_t compact[DLPACKGEN_MAX_NDIM];
  dlpackgen_size(t->ndim, t->shape, &found->count);
  if (dlpackgen_nbytes(t, flags, &found->bytes) != DLPACKGEN_OK) found->bytes = -1;
  dlpackgen_byte_range(t, flags, &found->low, &found->high);
  found->strides = 0;
  if (!given->dl_tensor.strides && dlpackgen_compact_strides(t->ndim, t->shape, compact) != DLPACKGEN_OK) return;
  for (int32_t i = 0; i < t->ndim; i++) found->strides = hashed(found->strides, t->strides[i]);
}

/* A tensor like m in CPU memory, with sufficient alignment. A handle is any number, but at some
 * numbers as addresses the tensor would be invalid. */
static DLManagedTensorVersioned at_ease(const DLManagedTensorVersioned* m) {
  DLManagedTensorVersioned copy = *m;
  const int is_handle = copy.dl_tensor.data && dlpackgen_device_is_opaque((int32_t)copy.dl_tensor.device.device_type);
  copy.dl_tensor.device = (DLDevice){kDLCPU, 0};
  if (is_handle) copy.dl_tensor.data = (void*)(UINTPTR_MAX >> 16);
  copy.dl_tensor.data = (void*)((uintptr_t)copy.dl_tensor.data & ~(uintptr_t)15);
  copy.dl_tensor.byte_offset &= ~UINT64_C(15);
  return copy;
}

/* The module's message when it takes ownership of the tensor: "" on success. */
static void take(DLManagedTensorVersioned* m, uint32_t flags, char* text, size_t size, measured* found) {
  given = m;
  DLManagedTensorVersioned* taken = dlpackgen_from_py_object_no_sync(module, producer, flags);
  text[0] = 0;
  if (!taken) said(text, size);
  else if (found) put_numbers(&taken->dl_tensor, taken->flags, found);
  dlpackgen_delete(taken);
}

/* The alignment check of an odd address; 1 if it is sufficient. */
static int64_t alignment(DLManagedTensorVersioned m) {
  static const char words[] = " is not aligned to ";
  char text[1024];
  m.dl_tensor.data = (char*)m.dl_tensor.data + 1;
  take(&m, 0, text, sizeof text, NULL);
  const char* found = strstr(text, words);
  return found ? atoll(found + sizeof words - 1) : text[0] ? -1 : 1;
}

static int64_t overlap(DLManagedTensorVersioned m) {
  char text[1024];
  take(&m, DLPACKGEN_WRITABLE, text, sizeof text, NULL);
  return strstr(text, DLPACKGEN_OVERLAPPING) ? 1 : text[0] ? -1 : 0;
}

/* The message of a function whose parameter requires a layout: "" if it accepts the tensor. */
static void call_with(DLManagedTensorVersioned* m, uint8_t layout, char* text, size_t size, measured* found) {
  const struct dlpackgen_parameter parameter = {.name = "x", .layout = layout, .leading_dims = 1};
  const struct dlpackgen_function function = {"f", &parameter, 1, 0, {0}};
  DLPACKGEN_CALL_OF(call, 1);
  call_site.checked = NULL; /* the previous function was released */
  given = m;
  text[0] = 0;
  if (dlpackgen_call_begin(&call, module, &function, &producer, 1, NULL)) {
    said(text, size);
    return;
  }
  if (found) put_numbers(&call.arguments[0].tensor, call.arguments[0].flags, found);
  dlpackgen_call_end(&call);
}

/* Whether a call accepts the tensor for a parameter with this layout; -1 for another exception than
 * the expected one. */
static int64_t has_layout(DLManagedTensorVersioned m, uint8_t layout, const char* expected) {
  char text[1024];
  call_with(&m, layout, text, sizeof text, NULL);
  return strstr(text, expected) ? 0 : text[0] ? -1 : 1;
}

/* Returns whether a call accepts the tensor in one pass, as row-major and with a named type. */
static int fits(const DLManagedTensorVersioned* m) {
  const DLTensor* t = &m->dl_tensor;
  struct dlpackgen_parameter parameter = {.name = "x", .ndim = (uint8_t)t->ndim};
  if (t->ndim < 0 || t->ndim > DLPACKGEN_MAX_NDIM || (t->ndim && !t->strides)) return 0;
  if (!dlpackgen_dtype_name(dlpackgen_dtype_of(t))) return 0;
  parameter.dtypes[0] = dlpackgen_dtype_of(t);
  return dlpackgen_tensor_fits(&parameter, 0, t, m->flags, (struct dlpackgen_bindings){NULL, NULL});
}

static int same_numbers(const measured* a, const measured* b) {
  return a->count == b->count && a->bytes == b->bytes && a->low == b->low && a->high == b->high &&
         a->strides == b->strides;
}

static void measure_taken(const DLManagedTensorVersioned* m, measured* found) {
  DLManagedTensorVersioned easy = at_ease(m);
  measured in_call = *found;
  char text[1024];
  call_with(&easy, DLPACKGEN_LAYOUT_ANY, text, sizeof text, &in_call);
  if (text[0] || !same_numbers(&in_call, found)) found->count = -2;
  found->alignment = found->count ? alignment(easy) : 0;
  found->overlap = overlap(easy);
  found->row_major = has_layout(easy, DLPACKGEN_LAYOUT_C_CONTIGUOUS, "expected a C-contiguous tensor");
  found->inner = has_layout(easy, DLPACKGEN_LAYOUT_INNER_CONTIGUOUS, "expected a contiguous last dimension");
  found->any_order = has_layout(easy, DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER,
                                "expected a tensor that is contiguous in some order of its dimensions");
  if (fits(m) && !found->row_major) found->row_major = -2;
}

/* The verdict of a call, which accepts only the CPU here, equals the verdict for owned tensors. */
static void compare_verdicts(DLManagedTensorVersioned own, measured* found) {
  char text[1024];
  if (own.dl_tensor.device.device_type != kDLCPU) return;
  call_with(&own, DLPACKGEN_LAYOUT_ANY, text, sizeof text, NULL);
  if (code_of(&own.dl_tensor, text) != found->strict || fits(&own)) found->strict = -2;
}

static void measure_held(const DLManagedTensorVersioned* m, measured* found) {
  DLManagedTensorVersioned own = *m;
  char text[1024];
  take(&own, 0, text, sizeof text, found);
  if (strstr(text, " is not aligned to ")) {
    own = at_ease(m);
    own.dl_tensor.device = m->dl_tensor.device;
    take(&own, 0, text, sizeof text, found);
  }
  found->strict = text[0] ? code_of(&m->dl_tensor, text) : 0;
  if (found->strict) compare_verdicts(*m, found);
  else measure_taken(&own, found);
}

void measure(const DLManagedTensorVersioned* m, measured* found) {
  const PyGILState_STATE gil = PyGILState_Ensure();
  *found = (measured){0};
  measure_held(m, found);
  PyGILState_Release(gil);
}

static int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                    void (*set_error)(void*, const char*, const char*)) {
  (void)prototype, (void)context, (void)set_error;
  *out = given;
  return 0;
}

int64_t accepts(DLManagedTensorVersioned* made, const DLTensor* requested) {
  static const DLPackExchangeAPI table = {.managed_tensor_allocator = allocate};
  const PyGILState_STATE gil = PyGILState_Ensure();
  DLManagedTensorVersioned* result = NULL;
  given = made;
  const int accepted = dlpackgen_allocate_by_table(&table, requested, &result) == 0;
  dlpackgen_delete(result);
  PyErr_Clear();
  PyGILState_Release(gil);
  return accepted;
}
