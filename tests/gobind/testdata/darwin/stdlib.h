/* The declarations of macOS's C library that the C of the bindings needs; its own headers may not
 * be used on other systems. */
#include <stddef.h>

void* calloc(size_t count, size_t size);
void* malloc(size_t size);
void free(void* block);
void abort(void);
