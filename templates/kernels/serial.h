/* A lock for kernels that run one call at a time. It uses the system's lock, without
 * initialization. */
#ifndef DLPACKGEN_KERNELS_SERIAL_H_
#define DLPACKGEN_KERNELS_SERIAL_H_

#if defined(_WIN32)
#include <windows.h>

typedef SRWLOCK dlpackgen_lock;
#define DLPACKGEN_LOCK_INIT SRWLOCK_INIT
static void dlpackgen_lock_acquire(dlpackgen_lock* lock) { AcquireSRWLockExclusive(lock); }
static void dlpackgen_lock_release(dlpackgen_lock* lock) { ReleaseSRWLockExclusive(lock); }
#else
#include <pthread.h>

typedef pthread_mutex_t dlpackgen_lock;
#define DLPACKGEN_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
static void dlpackgen_lock_acquire(dlpackgen_lock* lock) { (void)pthread_mutex_lock(lock); }
static void dlpackgen_lock_release(dlpackgen_lock* lock) { (void)pthread_mutex_unlock(lock); }
#endif

/* The other threads do not exist in a child of fork, but one of them may hold a lock, so the
 * child's locks are reset. Not on macOS, which would call the handler even after the library was
 * unloaded. */
#if defined(__unix__) && defined(__GNUC__)
static void dlpackgen_lock_begin(dlpackgen_lock* lock) { (void)pthread_mutex_init(lock, NULL); }
#define DLPACKGEN_AT_FORK(begin) \
  __attribute__((constructor)) static void begin##_at_fork(void) { (void)pthread_atfork(NULL, NULL, begin); }
#endif

#endif /* DLPACKGEN_KERNELS_SERIAL_H_ */
