/* The declarations of macOS's C library that the C sources of the callers and Python's headers
 * need; macOS's own headers require its SDK. The test includes this file instead of each standard
 * header. */
#ifndef CALLERS_MACOS_H_
#define CALLERS_MACOS_H_
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define assert(condition) ((void)(condition))
#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_LOCAL 4
#define RTLD_GLOBAL 8
#define RTLD_NOLOAD 16
#define RTLD_DEFAULT ((void*)-2)
#define PTHREAD_MUTEX_INITIALIZER {0x32AAABA7, {0}}

typedef long ssize_t;
typedef long time_t;
typedef struct __sFILE FILE;
typedef struct {
  long sig;
  char opaque[56];
} pthread_mutex_t;
struct stat;
struct tm;

void* calloc(size_t count, size_t size);
void* malloc(size_t size);
void* realloc(void* block, size_t size);
int posix_memalign(void** block, size_t alignment, size_t size);
void* aligned_alloc(size_t alignment, size_t size);
void free(void* block);
void abort(void);
double strtod(const char* text, char** end);
int atoi(const char* text);
char* getenv(const char* name);
void* memcpy(void* to, const void* from, size_t size);
void* memmove(void* to, const void* from, size_t size);
void* memset(void* at, int value, size_t size);
int memcmp(const void* one, const void* other, size_t size);
void* memchr(const void* in, int c, size_t size);
char* strchr(const char* text, int c);
char* strrchr(const char* text, int c);
char* strcpy(char* to, const char* from);
char* strdup(const char* text);
char* strstr(const char* text, const char* part);
int strcmp(const char* one, const char* other);
int strncmp(const char* one, const char* other, size_t size);
size_t strcspn(const char* text, const char* ends);
size_t strlen(const char* text);
int snprintf(char* to, size_t size, const char* format, ...);
double floor(double x);
double fmod(double x, double y);
void* dlopen(const char* path, int mode);
void* dlsym(void* handle, const char* name);
int dlclose(void* handle);
char* dlerror(void);
int pthread_mutex_lock(pthread_mutex_t* lock);
int pthread_mutex_unlock(pthread_mutex_t* lock);

/* signal.h */
#define SIGSEGV 11
#define SA_ONSTACK 0x0001
struct sigaction {
  union {
    void (*__sa_handler)(int);
    void (*__sa_sigaction)(int, struct __siginfo*, void*);
  } __sigaction_u;
  unsigned sa_mask;
  int sa_flags;
};
int sigaction(int, const struct sigaction* __restrict, struct sigaction* __restrict);

#endif
