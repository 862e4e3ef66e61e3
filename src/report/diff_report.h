/*
 * The result of lode diff for programs, and what its text shares with it.
 */
#ifndef LODE_REPORT_DIFF_REPORT_H
#define LODE_REPORT_DIFF_REPORT_H

#include "base/output.h"
#include "latency/diff.h"

struct lode_diff_side {
	const char *corpus; /* its path */
	const struct lode_latency *latency;
};

struct lode_diff_report {
	struct lode_diff_side base;
	struct lode_diff_side slow;
	const struct lode_diff *diff;
	const uint8_t *fits; /* by node: --match lets it through; NULL: all */
	size_t top;	     /* paths to show; 0: all */
};

/* A function of a path. */
struct lode_diff_function {
	uint32_t node;
	uint32_t rank; /* by what it takes more, from 1; of equal ones the one nearer the leaf first */
};

/* The functions of a path, root first. A zeroed struct is empty, and it is used again for the next path. */
struct lode_diff_functions {
	struct lode_diff_function *items;
	size_t count;
	size_t capacity;
};

/* Returns 0 or LODE_SYSTEM. */
int lode_diff_functions_of(const struct lode_diff *diff, uint32_t leaf,
			   struct lode_diff_functions *functions);
void lode_diff_functions_release(struct lode_diff_functions *functions);

/* Writes the JSON of the contract; it leaves as it is made. */
int lode_diff_json(const struct lode_diff_report *report, struct lode_output *output,
		   struct lode_error *error);
/*
 * Writes folded stacks with two values each, own latency in the base and in the slow
 * streams, ns per stream, as tools for differential flame graphs take them.
 */
int lode_diff_folded(const struct lode_diff_report *report, struct lode_output *output,
		     struct lode_notes *notes, struct lode_error *error);

#endif
