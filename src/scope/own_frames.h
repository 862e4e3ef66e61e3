/*
 * A program's own functions, as opposed to those that say what it does but not where: of the kernel, of the system's
 * libraries, of a language's runtime, and ways of waiting.
 *
 * Where a stack has functions of a script that is the program's own, they are what people can change; else
 * the functions of the program and of libraries that are only its own; else those of libraries that many programs use, or
 * of packages that were installed. That it is in main says nothing while there is anything else.
 */
#ifndef LODE_SCOPE_OWN_FRAMES_H
#define LODE_SCOPE_OWN_FRAMES_H

#include "scope/idle.h"

/* By node: the innermost node above it, or it, of the first kind that there is; 0: none. The caller frees it; NULL: no memory. */
uint32_t *lode_own_nodes(const struct lode_dictionary *dictionary, const struct lode_idle_stacks *idle);
/* Whether it is main or the like: that a program is in there says nothing. */
int lode_function_starts_program(const char *function);

#endif
