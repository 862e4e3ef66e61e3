/*
 * The result of lode diff, its JSON, and what its text shares with that.
 */
#ifndef LODE_RESULT_DIFF_REPORT_H
#define LODE_RESULT_DIFF_REPORT_H

#include "base/output.h"
#include "latency/diff.h"
#include "latency/paper_ranking.h"
#include "result/call_tree_fields.h"
#include "result/checks.h"
#include "scope/states.h"

struct lode_diff_side {
	const char *corpus;  /* its path */
	const char *streams; /* how its streams were chosen, in brackets; NULL: all of them */
	const struct lode_latency *latency;
	const uint64_t *states; /* by state: ns per stream, of all its threads */
};

struct lode_diff_report {
	struct lode_diff_side base;
	struct lode_diff_side slow;
	const struct lode_diff *diff;
	const uint8_t *fits;                       /* by node: --match lets it through; NULL: all */
	size_t top;                                /* paths to show; 0: all */
	const struct lode_diff_distance *distance; /* from the truth; NULL: it was not given */
	const struct lode_gate *gate;              /* rules that were judged; NULL: none */
	const struct lode_checks *checks;          /* what they came to, in words */
	int for_page;                              /* JSON has what a page needs besides: facts about frames */
	const struct lode_idle_rules *rules;       /* which frames say nothing */
	uint64_t least;                            /* ns: calls that take less are left out of the tree of calls */
};

/* A path that is shown, and how many behind it have the same hottest function. */
struct lode_diff_choice {
	const struct lode_diff_path *path;
	size_t rank;
	size_t alike;
};

/* The paths to show to people: those that take more, of those with the same hottest function the first. */
struct lode_diff_chosen {
	struct lode_diff_choice *items;
	size_t count;
	size_t capacity;
};

/* Chooses at most `report->top`; with `all` every path is shown by itself. Returns 0 or LODE_SYSTEM. */
int lode_diff_choose(const struct lode_diff_report *report, int all, struct lode_diff_chosen *chosen);
void lode_diff_chosen_release(struct lode_diff_chosen *chosen);

/*
 * Appends a sentence or two, without a newline, on what the streams can show: that nothing differs beyond
 * chance and what they would have shown, how many streams it takes, or how often sure claims are wrong.
 */
void lode_diff_chance_words(const struct lode_diff_report *report, struct lode_buffer *buffer);

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
int lode_diff_functions_of(const struct lode_diff *diff, const struct lode_diff_path *path,
			   struct lode_diff_functions *functions);
/* What times of paths are of: `a stream`, or with means `a call`. */
const char *lode_diff_per(const struct lode_diff *diff);
void lode_diff_functions_release(struct lode_diff_functions *functions);

/* The same as of latencies (latency_report.h), with both sides. */
int lode_diff_tree(const struct lode_diff_report *report, uint64_t least, int unfolded,
		   struct lode_call_tree *tree);
int lode_diff_calls(const struct lode_diff_report *report, struct lode_call_tree_part *part);
/* Behind the last path that is shown; those before it that do not fit are not. */
size_t lode_diff_paths_end(const struct lode_diff_report *report);

/* Writes the JSON of the contract; it leaves as it is made. */
int lode_diff_json(const struct lode_diff_report *report, struct lode_output *output, struct lode_error *error);

#endif
