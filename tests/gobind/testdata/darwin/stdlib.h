/* What the C of the bindings needs of the C library of macOS, whose own headers
 * no other system may have. */
#include <stddef.h>

void *calloc(size_t count, size_t size);
void *malloc(size_t size);
void free(void *block);
void abort(void);
