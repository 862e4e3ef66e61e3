/* In which states (scope/states.h) the threads were whose latencies were read. */
#ifndef LODE_TASKS_LATENCY_STATES_H
#define LODE_TASKS_LATENCY_STATES_H

#include "scope/states.h"
#include "tasks/latency_options.h"

/*
 * By state: ns per stream, of all threads that fit `where` (scope/where.h) together. Reads all events; where there are more
 * than `most`, nothing, and the states stay as they are.
 */
int lode_latency_states(struct lode_latency_reading *reading, const char *const *where, struct lode_work *work,
			uint64_t most, uint64_t states[LODE_STATES], struct lode_error *error);

#endif
