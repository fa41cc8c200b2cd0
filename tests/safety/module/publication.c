/* Threads without the GIL look up types while another thread sees them for the first time and
 * registers tables, like in a Python without a GIL: they find only complete entries. */
#define DLPACKGEN_PYTHON_IMPLEMENTATION
#define Py_GIL_DISABLED 1
#include <dlpackgen_python.h>

#include <pthread.h>

enum { THREADS = 3, TYPES = 40 };

static struct dlpackgen_state state;
static PyObject* types[TYPES];
static PyObject* registered[DLPACKGEN_MAX_REGISTERED];
static DLPackExchangeAPI tables[DLPACKGEN_MAX_REGISTERED];
static int wrong;

/* Returns the number of known types, and counts wrong entries. */
static int look(int* faults) {
  int found = 0;
  for (int i = 0; i < TYPES; i++) {
    const struct dlpackgen_access* access = dlpackgen_cached(&state, types[i]);
    if (!access) continue;
    found++;
    *faults += access->type != types[i] || access->api || access->makes || access->reader || !access->yields ||
               access->trusted;
  }
  for (int i = 0; i < DLPACKGEN_MAX_REGISTERED; i++) {
    const DLPackExchangeAPI* api = dlpackgen_registered(&state, registered[i]);
    *faults += api && api != &tables[i];
    found += api != NULL;
  }
  return found;
}

/* Counts wrong properties of torch, if any are known. */
static int look_at_torch(void) {
  int faults = 0;
  for (int i = 0; dlpackgen_torch_is_known() && i < DLPACKGEN_TORCH_DTYPES; i++)
    faults += dlpackgen_torch.dtypes[i].lanes != 7 || dlpackgen_torch.words.plain != 7;
  return faults;
}

/* The first lookup of each thread with a torch tensor. */
static void* meet_torch(void* nothing) {
  struct dlpackgen_torch_known found;
  (void)nothing;
  memset(&found, 0, sizeof found);
  for (int i = 0; i < DLPACKGEN_TORCH_DTYPES; i++) found.dtypes[i].lanes = 7;
  found.words.plain = 7;
  dlpackgen_torch_publish(&found);
  __atomic_fetch_add(&wrong, look_at_torch() || !dlpackgen_torch_is_known(), __ATOMIC_RELAXED);
  return NULL;
}

static void* reader(void* ended) {
  int faults = 0;
  while (!__atomic_load_n((int*)ended, __ATOMIC_ACQUIRE)) {
    look(&faults);
    faults += look_at_torch();
  }
  __atomic_fetch_add(&wrong, faults, __ATOMIC_RELAXED);
  return NULL;
}

/* Lookups of types are slow, so that other threads could see incomplete entries. */
static const char slow[] =
    "import time\n"
    "class Slow(type):\n"
    "    def __getattr__(cls, name):\n"
    "        time.sleep(0.001)\n"
    "        raise AttributeError(name)\n";

static int make_types(void) {
  PyObject* main = PyRun_SimpleString(slow) ? NULL : PyImport_AddModule("__main__");
  PyObject* kind = main ? PyObject_GetAttrString(main, "Slow") : NULL;
  for (int i = 0; kind && i < TYPES; i++) types[i] = PyObject_CallFunction(kind, "s(){}", "T");
  for (int i = 0; kind && i < DLPACKGEN_MAX_REGISTERED; i++) registered[i] = PyObject_CallFunction(kind, "s(){}", "R");
  return !kind || PyErr_Occurred() ? -1 : 0;
}

int main(void) {
  pthread_t threads[THREADS], meeting[THREADS];
  int ended = 0, faults = 0;
  Py_InitializeEx(0);
  if (make_types()) return 2;
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, reader, &ended);
  for (int i = 0; i < THREADS; i++) pthread_create(&meeting[i], NULL, meet_torch, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(meeting[i], NULL);
  for (int i = 0; i < TYPES; i++) {
    if (!dlpackgen_look_up(&state, types[i])) return 2;
    if (i < DLPACKGEN_MAX_REGISTERED && dlpackgen_enter(&state, i, registered[i], &tables[i])) return 2;
  }
  __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("%s\n", wrong == 0 && look(&faults) > DLPACKGEN_MAX_REGISTERED && faults == 0 ? "all whole" : "some are not");
  return 0;
}
