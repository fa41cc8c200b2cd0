/* Modules: multi-phase initialization, per-module state, main interpreter only. Part of
 * dlpackgen_python.c. */
#ifndef DLPACKGEN_PYTHON_MODULE_H_
#define DLPACKGEN_PYTHON_MODULE_H_

#include "result.h"

static int dlpackgen_traverse(PyObject* module, visitproc visit, void* arg) {
  struct dlpackgen_state* state = dlpackgen_state_of(module);
  for (int i = 0; state && dlpackgen_constant(state, i); i++) Py_VISIT(*dlpackgen_constant(state, i));
  for (int i = 0; state && i < DLPACKGEN_CACHE; i++)
    if (state->cache[i]) Py_VISIT(state->cache[i]->type);
  for (int i = 0; state && i < DLPACKGEN_MAX_REGISTERED; i++)
    if (state->registered[i]) Py_VISIT(state->registered[i]->type);
  return 0;
}

static void dlpackgen_clear_cache(struct dlpackgen_access** routes, int count) {
  for (int i = 0; i < count; i++) {
    struct dlpackgen_access* old = routes[i];
    DLPACKGEN_STORE(&routes[i], NULL);
    if (old) dlpackgen_free_access(old);
  }
}

static int dlpackgen_clear(PyObject* module) {
  struct dlpackgen_state* state = dlpackgen_state_of(module);
  if (!state) return 0;
  dlpackgen_unlist_module(state);
  for (int i = 0; dlpackgen_constant(state, i); i++) Py_CLEAR(*dlpackgen_constant(state, i));
  dlpackgen_clear_cache(state->cache, DLPACKGEN_CACHE);
  dlpackgen_clear_cache(state->registered, DLPACKGEN_MAX_REGISTERED);
  return 0;
}

static void dlpackgen_free_module(void* module) { dlpackgen_clear((PyObject*)module); }

/* Subinterpreters are rejected: by a slot in 3.12 and newer, by this check before. */
static int dlpackgen_reject_subinterpreter(void) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return 0;
  PyErr_SetString(PyExc_ImportError, "this module works only in the main interpreter");
  return -1;
}

static struct dlpackgen_module* dlpackgen_module_of(PyModuleDef* definition) {
  return (struct dlpackgen_module*)((char*)definition - offsetof(struct dlpackgen_module, private_.definition));
}

static int dlpackgen_exec(PyObject* module) {
  struct dlpackgen_state* state = dlpackgen_state_of(module);
  struct dlpackgen_module* own = dlpackgen_module_of(PyModule_GetDef(module));
  if (dlpackgen_reject_subinterpreter() || dlpackgen_check_functions(own->functions)) return -1;
  if (dlpackgen_make_constants(state)) return -1;
  state->tensor = dlpackgen_make_type(module);
  if (!state->tensor || PyModule_AddObjectRef(module, "Tensor", state->tensor)) return -1;
  dlpackgen_list_module(state);
  return own->private_.exec ? own->private_.exec(module) : 0;
}

/* The slots of newer Python versions, by number, because 3.11 does not define their names. */
enum { DLPACKGEN_SLOT_INTERPRETERS = 3 };

DLPACKGEN_PYTHON_API PyObject* dlpackgen_module_init(struct dlpackgen_module* module, const char* name, const char* doc,
                                                     PyMethodDef* methods, int (*exec)(PyObject* module)) {
  PyModuleDef_Slot* slot = module->private_.slots;
  PyModuleDef* definition = &module->private_.definition;
  if (!definition->m_name) {
    const PyModuleDef_Base base = PyModuleDef_HEAD_INIT;
    definition->m_base = base;
  }
  definition->m_name = name;
  definition->m_doc = doc;
  definition->m_size = (Py_ssize_t)sizeof(struct dlpackgen_state);
  definition->m_methods = methods;
  definition->m_slots = slot;
  definition->m_traverse = dlpackgen_traverse;
  definition->m_clear = dlpackgen_clear;
  definition->m_free = dlpackgen_free_module;
  module->private_.exec = exec;
  slot->slot = Py_mod_exec;
  slot++->value = (void*)(uintptr_t)dlpackgen_exec;
  if (Py_Version >= 0x030C0000) {
    slot->slot = DLPACKGEN_SLOT_INTERPRETERS;
    slot++->value = NULL; /* Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED */
  }
  slot->slot = 0;
  slot->value = NULL;
  return PyModuleDef_Init(definition);
}

#endif
