/*
 * A program's own functions, as opposed to those that say what it does but not where: of the kernel, of the system's
 * libraries, of a language's runtime, and ways of waiting.
 */
#ifndef LODE_SCOPE_OWN_FRAMES_H
#define LODE_SCOPE_OWN_FRAMES_H

#include "scope/idle.h"

/* By node: the innermost node above it, or it, of a program's own function; 0: none. The caller frees it; NULL: no memory. */
uint32_t *lode_own_nodes(const struct lode_dictionary *dictionary, const struct lode_idle_stacks *idle);

#endif
