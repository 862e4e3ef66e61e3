/*
 * The two sides of lode diff: which streams they are, and their latencies.
 */
#ifndef LODE_TASKS_DIFF_SIDES_H
#define LODE_TASKS_DIFF_SIDES_H

#include "tasks/gate_options.h"
#include "tasks/latency_options.h"
#include "latency/diff.h"
#include "scope/states.h"

/* Which streams make a side. */
struct lode_side_settings {
	struct lode_option_list where;
	struct lode_option_list streams;
};

struct lode_diff_settings {
	struct lode_latency_settings latency;
	struct lode_side_settings base;
	struct lode_side_settings slow;
	struct lode_option_list modules; /* `NEW=OLD` */
	const char *new_paths;
	struct lode_option_list truth;
	int guess;
	int exit_code;
	struct lode_gate_settings gate;
};

struct lode_diff_sides {
	struct lode_latency_reading base;
	struct lode_latency_reading slow;
	uint64_t base_states[LODE_STATES]; /* ns per stream, of all its threads */
	uint64_t slow_states[LODE_STATES];
	char *base_streams; /* how they were chosen; NULL: all of them */
	char *slow_streams;
};

/* Reads both sides as the operands and the settings of the call say. Release in either case. */
int lode_diff_sides_read(struct lode_diff_sides *sides, const struct lode_call *call, struct lode_work *work,
			 struct lode_error *error);
void lode_diff_sides_release(struct lode_diff_sides *sides);

#endif
