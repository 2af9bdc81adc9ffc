// The part of the C library that the interface to Classhook needs; sdk.c implements it.
#ifndef CLASSHOOK_STDLIB_H
#define CLASSHOOK_STDLIB_H

#include <stddef.h>

// Memory lasts until the next class is shown; what `configure` takes lasts as long as the plugin does.
void *malloc(size_t size);
void *realloc(void *memory, size_t size);
void free(void *memory);
_Noreturn void abort(void);

#endif
