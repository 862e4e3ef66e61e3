/*
 * Unwinder: the stack of a thread that does not run, from its registers and the
 * memory of its process, by the unwind tables of what it has mapped (libdwfl),
 * and by frame pointers where there are none.
 */
#ifndef LODE_HUNT_UNWINDER_H
#define LODE_HUNT_UNWINDER_H

#include "hunt/stop.h"
#include "hunt/stop_registers.h"

struct lode_unwinder;

/* Reads what the process has mapped; NULL when memory has run out. Where nothing can be read, frame pointers
 * serve. */
struct lode_unwinder *lode_unwinder_create(uint32_t pid);
void lode_unwinder_destroy(struct lode_unwinder *unwinder);
/* Fills `frames`, leaf first. Returns how many. */
size_t lode_unwinder_walk(struct lode_unwinder *unwinder, uint32_t tid,
			  const struct lode_registers *registers, struct lode_stop_frame *frames,
			  size_t limit);

#endif
