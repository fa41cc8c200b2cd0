/* Like stdlib.h. */
#include <stddef.h>

void* memcpy(void* to, const void* from, size_t size);
void* memset(void* at, int value, size_t size);
int strcmp(const char* one, const char* other);
size_t strlen(const char* text);
