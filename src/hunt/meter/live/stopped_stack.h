/*
 * The stack of a thread that does not run, from its registers and the memory of its
 * process (process/process_unwinder.h).
 */
#ifndef LODE_HUNT_METER_LIVE_STOPPED_STACK_H
#define LODE_HUNT_METER_LIVE_STOPPED_STACK_H

#include "hunt/meter/live/thread_stops.h"
#include "hunt/meter/live/stopped_registers.h"

struct lode_stopped_stack;

/* Reads what the process has mapped, and its unwind tables; NULL when memory has run out. */
struct lode_stopped_stack *lode_stopped_stack_create(uint32_t pid);
void lode_stopped_stack_destroy(struct lode_stopped_stack *unwinder);
/* Fills `frames`, leaf first. Returns how many, at most `limit`. */
size_t lode_stopped_stack_walk(struct lode_stopped_stack *unwinder, const struct lode_registers *registers,
			       struct lode_stop_frame *frames, size_t limit);

#endif
