
/* Opens a library at run time, runs initialization once, and detects a fork. Part of the backend's
 * C file. */
#ifndef DLPACKGEN_DEVICE_LIBRARY_H_
#define DLPACKGEN_DEVICE_LIBRARY_H_

#include "device_error.h"

#if defined(_WIN32)

#include <windows.h>

/* Only system folders and the program's folder are searched, not the current one. */
static void* device_open(const char* name, char* why, size_t capacity) {
  HMODULE found = LoadLibraryExA(name, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
  if (!found) snprintf(why, capacity, "%s: Windows error %lu", name, (unsigned long)GetLastError());
  return (void*)found;
}

static void* device_opened(const char* name) { return (void*)GetModuleHandleA(name); }

static void* device_symbol(void* library, const char* name) {
  FARPROC found = GetProcAddress((HMODULE)library, name);
  void* out = NULL;
  memcpy(&out, &found, sizeof out);
  return out;
}

static BOOL CALLBACK device_call(PINIT_ONCE once, PVOID work, PVOID* context) {
  (void)once, (void)context;
  (*(void (**)(void))work)();
  return TRUE;
}

static void device_once(void (*work)(void)) {
  static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
  InitOnceExecuteOnce(&once, device_call, (PVOID)&work, NULL);
}

static void device_at_fork(void (*child)(void)) { (void)child; }

static DWORD WINAPI device_detached(void* argument) {
  void (*work)(void);
  memcpy(&work, &argument, sizeof work);
  work();
  return 0;
}

static inline int device_detach(void (*work)(void)) {
  void* argument;
  memcpy(&argument, &work, sizeof argument);
  HANDLE thread = CreateThread(NULL, 0, device_detached, argument, 0, NULL);
  if (thread) CloseHandle(thread);
  return thread != NULL;
}

#else

#include <dlfcn.h>
#include <pthread.h>

/* Its symbols are not global, and it is never closed, because drivers leave threads and handlers
 * behind. */
static void* device_open(const char* name, char* why, size_t capacity) {
  void* found = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  const char* text = found ? NULL : dlerror();
  if (!found) snprintf(why, capacity, "%s", text ? text : name);
  return found;
}

/* Returns a library that is open already, or NULL. */
static void* device_opened(const char* name) { return dlopen(name, RTLD_NOLOAD | RTLD_NOW); }

static void* device_symbol(void* library, const char* name) { return dlsym(library, name); }

static void device_once(void (*work)(void)) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, work);
}

/* A handler has no cost per call, unlike a query of the process id. */
static void device_at_fork(void (*child)(void)) { pthread_atfork(NULL, NULL, child); }

static inline void* device_detached(void* argument) {
  void (*work)(void);
  memcpy(&work, &argument, sizeof work);
  work();
  return NULL;
}

/* Starts a thread for some work; returns whether it was started. */
static inline int device_detach(void (*work)(void)) {
  pthread_t thread;
  void* argument;
  memcpy(&argument, &work, sizeof argument);
  if (pthread_create(&thread, NULL, device_detached, argument)) return 0;
  (void)pthread_detach(thread);
  return 1;
}

#endif

/* Opens the first available library of several, but prefers one that is already open: two versions
 * of a driver in one process cannot use each other's memory. */
static inline void* device_open_one(const char* const* names, char* why, size_t capacity) {
  void* found = NULL;
  for (const char* const* name = names; *name && !found; name++) found = device_opened(*name);
  for (const char* const* name = names; *name && !found; name++) found = device_open(*name, why, capacity);
  return found;
}

#endif /* DLPACKGEN_DEVICE_LIBRARY_H_ */
