/* From errors of the code to those of the library's callers, and structs of theirs that may be older than ours. */
#ifndef LODE_LIBRARY_PUBLIC_ERROR_H
#define LODE_LIBRARY_PUBLIC_ERROR_H

#include "base/error.h"

#include <lode/error.h>
#include <stddef.h>

/* Hands over code and sentence; `to` may be NULL. Returns the public code. */
int lode_public_error(struct liblode_error *to, int code, const struct lode_error *from);
/*
 * Copies `whole`, whose first field is its size, to a caller's struct as far as that reaches. Returns 0, or
 * LIBLODE_USAGE when the caller did not set its size.
 */
int lode_public_copy(void *to, const void *whole, size_t whole_size);

#endif
