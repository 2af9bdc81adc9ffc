// The part of the C library that the interface to Classhook needs; sdk.c implements it.
#ifndef CLASSHOOK_STRING_H
#define CLASSHOOK_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *one, const void *other, size_t size);
size_t strlen(const char *text);

#endif
