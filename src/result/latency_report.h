/*
 * The result of lode latency, and its JSON.
 */
#ifndef LODE_RESULT_LATENCY_REPORT_H
#define LODE_RESULT_LATENCY_REPORT_H

#include "base/output.h"
#include "latency/contexts.h"
#include "scope/idle.h"
#include "result/call_tree_fields.h"
#include "result/stack_text.h"

struct lode_latency_report {
	const struct lode_latency *latency;
	const struct lode_contexts *contexts;
	size_t top;                          /* contexts to show; 0: all */
	const char *corpus;                  /* its path, for pages and pictures */
	int for_page;                        /* JSON has what a page needs besides: facts about frames */
	const struct lode_idle_rules *rules; /* which frames say nothing */
	const uint64_t *states;              /* of threads, by state, ns per stream; NULL: not asked for */
	uint64_t least;                      /* ns: calls that take less are left out of the tree of calls */
};

static inline size_t lode_latency_shown(const struct lode_latency_report *report)
{
	return report->top && report->top < report->contexts->count ? report->top : report->contexts->count;
}

/* Writes the JSON of the contract; it leaves as it is made. */
int lode_latency_json(const struct lode_latency_report *report, struct lode_output *output,
		      struct lode_error *error);

/* How many contexts a page shows: those that take at least `least` ns by themselves, and the first in any case. */
size_t lode_latency_page_top(const struct lode_latency_report *report);
/* The tree of calls as a part of the result. Returns 0 or LODE_SYSTEM; release it in either case. */
int lode_latency_calls(const struct lode_latency_report *report, struct lode_call_tree_part *part);

/*
 * The tree of all calls that take at least `least` ns (call_tree.h; `unfolded` as there). Returns 0
 * or LODE_SYSTEM; release in either case.
 */
int lode_latency_tree(const struct lode_latency_report *report, uint64_t least, int unfolded,
		      struct lode_call_tree *tree);

/*
 * Writes every instance, one line each, as JSON or in columns; of contexts that have a frame that fits one of
 * the globs `match` (NULL: all). They leave as they are made.
 */
int lode_latency_instances_write(struct lode_corpus *corpus, const struct lode_latency_options *options,
				 const char *const *match, int as_json, struct lode_output *output,
				 struct lode_error *error);

#endif
