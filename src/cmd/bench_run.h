/* Runs of `lode bench`: a command, started without a terminal and timed from its start to its end. */
#ifndef LODE_CMD_BENCH_RUN_H
#define LODE_CMD_BENCH_RUN_H

#include "base/error.h"

#include <sched.h>
#include <stdint.h>

/* A command as words, NULL-terminated. */
struct lode_bench_program {
	const char *name; /* for messages: "A", "B", "--setup" */
	char *text;       /* the command with its input */
	char *copy;       /* of it, which the words point into */
	char **words;
};

/* What one run took. */
struct lode_bench_run {
	uint64_t time; /* ns from start to end */
	uint64_t cpu;  /* ns of CPU time, with all processes that it waited for */
	int alone;     /* it had one thread and no child whenever it was looked at, a thousand times a second */
};

/*
 * `command` is split at blanks, or given to the shell where it has characters that mean something to one. `input` (NULL:
 * none) takes the place of each {}, or comes last. Release in either case.
 */
int lode_bench_program_make(struct lode_bench_program *program, const char *name, const char *command,
			    const char *input, struct lode_error *error);
void lode_bench_program_release(struct lode_bench_program *program);

/*
 * Runs it on the processors `cpus` (NULL: on any), its input and output being /dev/null. `looks`: also find out whether
 * it is alone, which disturbs it a little. Fails where it cannot be started, or ends with anything but 0.
 */
int lode_bench_run(const struct lode_bench_program *program, const cpu_set_t *cpus, int looks,
		   struct lode_bench_run *run, struct lode_error *error);

/* Reads `0-3,5`; each must be a processor that this process may use. */
int lode_bench_cpus(const char *text, cpu_set_t *cpus, struct lode_error *error);

#endif
