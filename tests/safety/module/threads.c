/* Tensors of dlpackgen_python on threads that Python does not know: pools that are released before
 * their tensors, deleters that need the GIL, and concurrent calls. For ThreadSanitizer, in an
 * embedded Python. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#include <dlpackgen_python.h>

#include <pthread.h>

#include "untrusted.h"

enum { THREADS = 4, ROUNDS = 400, SLOTS = 8 };

#define CLAIM(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (0)

static PyObject* module;
static DLManagedTensorVersioned* slots[SLOTS];

/* A pool: any thread returns tensors to it, and the last one frees it. */
struct pool {
  pthread_mutex_t lock;
  DLManagedTensorVersioned* idle[SLOTS];
  int count, users;
};

static long pooled; /* live blocks of pools */

static void leave(struct pool* pool) {
  pthread_mutex_lock(&pool->lock);
  const int last = --pool->users == 0;
  pthread_mutex_unlock(&pool->lock);
  if (!last) return;
  for (int i = 0; i < pool->count; i++) free(pool->idle[i]);
  __atomic_sub_fetch(&pooled, pool->count + 1, __ATOMIC_RELAXED);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

static void come_back(DLManagedTensorVersioned* self) {
  struct pool* pool = (struct pool*)self->manager_ctx;
  pthread_mutex_lock(&pool->lock);
  pool->idle[pool->count++] = self;
  pthread_mutex_unlock(&pool->lock);
  leave(pool);
}

static struct pool* open_pool(void) {
  struct pool* pool = (struct pool*)calloc(1, sizeof *pool);
  pthread_mutex_init(&pool->lock, NULL);
  pool->users = 1;
  __atomic_add_fetch(&pooled, 1, __ATOMIC_RELAXED);
  return pool;
}

static DLManagedTensorVersioned* from_pool(struct pool* pool) {
  pthread_mutex_lock(&pool->lock);
  DLManagedTensorVersioned* made = pool->count ? pool->idle[--pool->count] : NULL;
  pool->users++;
  pthread_mutex_unlock(&pool->lock);
  if (!made) {
    made = (DLManagedTensorVersioned*)malloc(sizeof *made);
    __atomic_add_fetch(&pooled, 1, __ATOMIC_RELAXED);
  }
  *made = strange;
  made->manager_ctx = pool;
  made->deleter = come_back;
  return made;
}

/* Passes a tensor to the next thread, and takes the previous one. */
static DLManagedTensorVersioned* swap(unsigned slot, DLManagedTensorVersioned* tensor) {
  return __atomic_exchange_n(&slots[slot % SLOTS], tensor, __ATOMIC_ACQ_REL);
}

static DLManagedTensorVersioned* make_one(struct pool* pool, unsigned round) {
  static const int64_t shape[] = {2, 3};
  const DLDataType dtype = {kDLFloat, 32, 1};
  if (round % 3 == 0) return from_pool(pool);
  if (round % 3 == 1) return dlpackgen_allocate(dtype, 2, shape);
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *type = make_strange_type((int)(round % UNTRUSTED)), *x = PyObject_CallNoArgs(type);
  DLManagedTensorVersioned* taken = dlpackgen_from_py_object_no_sync(module, x, 0);
  PyObject* given = dlpackgen_export_object(module, taken);
  taken = dlpackgen_from_py_object_no_sync(module, given, 0); /* its deleter needs the GIL */
  Py_DECREF(given);
  Py_DECREF(x);
  Py_DECREF(type);
  PyGILState_Release(gil);
  return taken;
}

static void* work(void* number) {
  const unsigned first = (unsigned)(uintptr_t)number;
  for (unsigned round = first; round < first + ROUNDS; round++) {
    struct pool* pool = open_pool();
    DLManagedTensorVersioned* mine = make_one(pool, round);
    CLAIM(mine && mine->dl_tensor.shape[1] == 3);
    DLManagedTensorVersioned* theirs = swap(round, mine);
    leave(pool); /* its tensor may live long */
    if (theirs) CLAIM(theirs->dl_tensor.shape[0] == 2);
    dlpackgen_delete(theirs);
  }
  return NULL;
}

static PyObject* make_module(void) {
  static struct dlpackgen_module threads;
  return dlpackgen_module_init(&threads, "threads", "", NULL, NULL);
}

int main(void) {
  static float data[6];
  static int64_t shape[] = {2, 3}, strides[] = {3, 1};
  pthread_t all[THREADS];
  PyImport_AppendInittab("threads", make_module);
  Py_InitializeEx(0);
  module = PyImport_ImportModule("threads");
  CLAIM(module);
  strange.version.major = DLPACK_MAJOR_VERSION;
  strange.version.minor = DLPACK_MINOR_VERSION;
  strange.dl_tensor = (DLTensor){data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
  PyThreadState* state = PyEval_SaveThread();
  for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&all[i], NULL, work, (void*)(i * 7));
  for (int i = 0; i < THREADS; i++) pthread_join(all[i], NULL);
  for (unsigned i = 0; i < SLOTS; i++) dlpackgen_delete(swap(i, NULL));
  PyEval_RestoreThread(state);
  CLAIM(pooled == 0 && alive == 0 && !PyErr_Occurred());
  puts("all given back");
  return 0;
}
