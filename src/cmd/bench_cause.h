/* What makes one command of `lode bench` slower than the other: both are recorded some times, and compared. */
#ifndef LODE_CMD_BENCH_CAUSE_H
#define LODE_CMD_BENCH_CAUSE_H

#include "cmd/bench_run.h"
#include "result/bench_result.h"
#include "tasks/long_task.h"

struct lode_bench_recording {
	const struct lode_bench_program *programs; /* A, B */
	const struct lode_bench_program *setup;    /* NULL: there is none */
	const char *corpus; /* where the streams go; NULL: into a folder that is removed again */
	uint64_t runs;      /* of each */
	uint64_t seed;
	int faster; /* B takes less: what it takes less is wanted */
};

/*
 * Records and compares; fills `recorded`, the cause or why there is none. That recording is not possible is no error,
 * but a reason. Returns 0 or a negative code.
 */
int lode_bench_find_cause(const struct lode_call *call, const struct lode_progress *progress,
			  const struct lode_bench_recording *recording, struct lode_bench_result *result,
			  struct lode_error *error);
void lode_bench_cause_release(struct lode_bench_cause *cause);

#endif
