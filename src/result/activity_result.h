/* What threads did (scope/activity.h) as plain values (fields.h). */
#ifndef LODE_RESULT_ACTIVITY_RESULT_H
#define LODE_RESULT_ACTIVITY_RESULT_H

#include "result/fields.h"
#include "scope/activity.h"

struct lode_activity_process {
	const char *process;
	uint64_t processes;
	uint64_t threads;
	uint64_t interval_ns;
	uint64_t running_ns;
	int is_sampled;
	uint64_t running_user_ns;
	uint64_t running_kernel_ns;
	uint64_t ready_ns;
	struct lode_written waiting_ns;
	uint64_t idle_ns;
	uint64_t not_recorded_ns;
};

struct lode_activity_longest {
	const char *stream;
	uint32_t tid;
	uint64_t t;
};

struct lode_activity_loop {
	const char *process;
	const char *thread;
	const char *frame;
	uint64_t count;
	uint64_t time_ns;
	uint64_t median_ns;
	uint64_t p95_ns;
	uint64_t p99_ns;
	uint64_t longest_ns;
	struct lode_activity_longest longest;
};

/* A part of a result. */
struct lode_activity_result {
	int any; /* it was asked for */
	struct lode_list states;
	struct lode_list requests;
	const struct lode_activity *activity; /* from here on: what the lists are made from */
	const struct lode_corpus_list *list;
};

extern const struct lode_fields lode_activity_part_fields;

/* `activity` NULL: there is none. `result` must not move. */
void lode_activity_result_make(struct lode_activity_result *result, const struct lode_activity *activity,
			       const struct lode_corpus_list *list);
/* The time of states that are waits, but idle ones, as an object; `ns` by state. */
struct lode_written lode_written_waits(const uint64_t *ns);
/* The time of all states that occur, as an object. NULL: there is none. */
struct lode_written lode_written_states(const uint64_t *ns);

#endif
