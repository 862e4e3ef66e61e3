/*
 * Names of threads and processes that differ only in a number at the end: `indexer-0` and `indexer-12` are workers of one kind.
 * GPUs are not alike: `gpu0` is a device.
 */
#ifndef LODE_TRACE_NUMBERED_NAMES_H
#define LODE_TRACE_NUMBERED_NAMES_H

#include <stddef.h>

/* How long a name is without the number at its end: all of it where there is none, or nothing else. */
size_t lode_name_without_number(const char *name, size_t length);
/* Whether two names are equal but for these numbers. A name without one is only like itself: `cc1` is no `cc`. */
int lode_names_are_alike(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
