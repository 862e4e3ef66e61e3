/*
 * A program's own functions, as opposed to those that say what it does but not where: of the kernel, of the system's
 * libraries, of a language's runtime, and ways of waiting.
 *
 * Where a stack has functions of a script that is the program's own, they are what people can change; else
 * the functions of the program and of libraries that are only its own; else those of libraries that many programs use, or
 * of packages that were installed. That it is in main says nothing while there is anything else. Of a GPU it is the kernel.
 */
#ifndef LODE_SCOPE_OWN_FRAMES_H
#define LODE_SCOPE_OWN_FRAMES_H

#include "scope/idle.h"

/* How much a function says about where a program is; the later, the more. */
enum lode_own {
	LODE_OWN_SYSTEM, /* nothing: how it does something */
	LODE_OWN_RUNTIME, /* of what runs a script, where none of its functions is: while it starts, or waits for a request */
	LODE_OWN_LIBRARY, /* a library that others use as well, or where the program starts */
	LODE_OWN_PROGRAM,
	LODE_OWN_SCRIPT, /* a function of a script that the program runs */
	LODE_OWN_GPU,    /* what a GPU runs, whoever launched it */
	LODE_OWNS,
};

/* "system", "runtime", "library", "program", "script", "gpu". */
const char *lode_own_name(enum lode_own own);
/*
 * What functions of a module say, but for those that are ways of waiting or only call others (LODE_OWN_SYSTEM) and those that
 * start the program (LODE_OWN_LIBRARY). `has_javascript`: lode_frames_have_javascript.
 */
enum lode_own lode_own_of_module(const struct lode_frames *frames, uint32_t module, int has_javascript);

/* By node: the innermost node above it, or it, of the first kind that there is; 0: none. The caller frees it; NULL: no memory. */
uint32_t *lode_own_nodes(const struct lode_dictionary *dictionary, const struct lode_idle_stacks *idle);
/* Whether it is main or the like: that a program is in there says nothing. */
int lode_function_starts_program(const char *function);

#endif
