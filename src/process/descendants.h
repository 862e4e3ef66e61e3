/* The processes that a process has started, directly or not. */
#ifndef LODE_PROCESS_DESCENDANTS_H
#define LODE_PROCESS_DESCENDANTS_H

#include <stdint.h>

/* The parent of a process; 0: it is gone. */
uint32_t lode_process_parent(uint32_t pid);
/*
 * Calls `each` with the pids of all descendants of a process that live, parents before their children, until it returns something else than
 * 0. Returns that, 0, or LODE_SYSTEM when memory has run out.
 */
int lode_process_descendants(uint32_t pid, int (*each)(void *context, uint32_t pid), void *context);

#endif
