/* Like stdlib.h. */
typedef struct _opaque_pthread_t* pthread_t;

int pthread_create(pthread_t* thread, const void* attributes, void* (*start)(void*), void* argument);
int pthread_join(pthread_t thread, void** value);
