/* The worst actions of other threads between two steps of a call: one consumes the same capsule,
 * which is possible without the GIL, and one resizes the tensor whose storage is being read, as
 * torch does without the GIL. */
#include <Python.h>

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define Py_GIL_DISABLED 1
#undef Py_BEGIN_CRITICAL_SECTION
#undef Py_END_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) \
  {                                       \
    (void)(object), pthread_mutex_lock(&section);
#define Py_END_CRITICAL_SECTION() \
  pthread_mutex_unlock(&section); \
  }

static pthread_mutex_t section = PTHREAD_MUTEX_INITIALIZER;

/* Waits until all other threads have reached this point, where the capsule is not consumed yet. */
static void* slow_pointer(PyObject* capsule, const char* name) {
  void* pointer = PyCapsule_GetPointer(capsule, name);
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  return pointer;
}
#define PyCapsule_GetPointer slow_pointer

#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

enum { THREADS = 4 };

static pthread_barrier_t together;

static void* take(void* capsule) {
  pthread_barrier_wait(&together);
  return dlpackgen_open_named((PyObject*)capsule, dlpackgen_versioned_fresh, dlpackgen_versioned_used);
}

/* One of several threads receives the tensor of a capsule. */
static int is_taken_once(void) {
  static DLManagedTensorVersioned tensor;
  PyObject* capsule = PyCapsule_New(&tensor, dlpackgen_versioned_fresh, NULL);
  pthread_t threads[THREADS];
  void* got;
  int took = 0;
  pthread_barrier_init(&together, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, take, capsule);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], &got), took += got != NULL;
  Py_DECREF(capsule);
  return took == 1;
}

/* A tensor of 2 x 3 numbers in 24 bytes, which grows when its storage is queried. */
static int64_t sizes[2], strides[2];
static float numbers[6];

static void start(void) { sizes[0] = 2, sizes[1] = 3, strides[0] = 3, strides[1] = 1; }

static int32_t get_number(void* handle, int32_t* number) { return (void)handle, *number = 0, 0; }
static int32_t get_dim(void* handle, int64_t* dim) { return (void)handle, *dim = 2, 0; }
static int32_t get_sizes(void* handle, int64_t** out) { return (void)handle, *out = sizes, 0; }
static int32_t get_strides(void* handle, int64_t** out) { return (void)handle, *out = strides, 0; }
static int32_t get_data(void* handle, void** out) { return (void)handle, *out = numbers, 0; }
static int32_t get_offset(void* handle, int64_t* out) { return (void)handle, *out = 0, 0; }
static bool is_never(const void* handle) { return (void)handle, false; }
static int32_t get_storage(void* handle, int64_t* bytes) {
  (void)handle;
  sizes[0] = 1000;
  *bytes = sizeof numbers;
  return 0;
}

static int is_as_it_was(const DLTensor* tensor, const int64_t* scratch) {
  return tensor->shape == scratch && tensor->shape[0] == 2 && tensor->shape[1] == 3 && tensor->strides[0] == 3 &&
         sizes[0] == 1000;
}

/* The call receives the tensor that was compared with the storage, through torch's shim. */
static int is_checked_as_copied(void) {
  const struct dlpackgen_torch_functions call = {.get_data = get_data,
                                                 .get_dim = get_dim,
                                                 .get_sizes = get_sizes,
                                                 .get_strides = get_strides,
                                                 .get_dtype = get_number,
                                                 .get_device_type = get_number,
                                                 .get_storage_size = get_storage,
                                                 .get_storage_offset = get_offset,
                                                 .get_layout = get_number,
                                                 .is_neg = is_never,
                                                 .is_conj = is_never,
                                                 .requires_grad = is_never};
  uint64_t impl = 1;
  void* object[8] = {[4] = &impl};
  int64_t scratch[DLPACKGEN_SCRATCH];
  DLTensor out;
  dlpackgen_torch.call = call;
  dlpackgen_torch.dtypes[0] = (DLDataType){kDLFloat, 32, 1};
  dlpackgen_torch.handle = 4 * (ptrdiff_t)sizeof(void*);
  start();
  return dlpackgen_torch_read_by_shim((PyObject*)(void*)object, 0, &out, scratch) == 0 && is_as_it_was(&out, scratch);
}

static int grows(PyObject* object, const DLTensor* tensor) {
  int64_t bytes;
  (void)object, (void)tensor;
  return get_storage(NULL, &bytes);
}

/* The same through a table, whose tensors a guard queries. */
static int is_guarded_as_copied(void) {
  const struct dlpackgen_means means = {.guard = grows};
  struct dlpackgen_argument a = {.tensor = {numbers, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, sizes, strides, 0}};
  int64_t scratch[DLPACKGEN_SCRATCH];
  start();
  return dlpackgen_is_steady(&a, &means, scratch) == 1 && is_as_it_was(&a.tensor, scratch);
}

int main(void) {
  Py_InitializeEx(0);
  if (!is_taken_once()) puts("a capsule was taken twice");
  if (!is_checked_as_copied()) puts("what was checked has changed");
  if (!is_guarded_as_copied()) puts("what was guarded has changed");
  puts("ended");
  return 0;
}
