/*
 * The vDSO of this machine. Private to src/symbols/.
 */
#ifndef LODE_SYMBOLS_VDSO_H
#define LODE_SYMBOLS_VDSO_H

#include <stddef.h>

/* A copy of our own vDSO, to be freed; NULL when there is none, or (with a size) when memory has run out. */
char *lode_vdso_copy(size_t *size);

#endif
