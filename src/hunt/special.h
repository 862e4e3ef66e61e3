/*
 * Special functions: those that wait by spinning, and those that tell that frames
 * were left by an exception.
 */
#ifndef LODE_HUNT_SPECIAL_H
#define LODE_HUNT_SPECIAL_H

#include "symbols/code.h"

/*
 * Calls `each` for the functions of a binary that wait for others, and use the CPU
 * while they do; `message` says where their arguments tell what for (messages.h).
 */
int lode_special_waiting(const struct lode_code *code,
			 int (*each)(void *context, uint32_t function, uint32_t message), void *context);
/* Whether other binaries get any of these functions from the file at `path`; quick. */
int lode_special_is_in(const char *path);
/* The function that is called where an exception has been caught; LODE_NONE: not here. */
uint32_t lode_special_catch(const struct lode_code *code);

#endif
