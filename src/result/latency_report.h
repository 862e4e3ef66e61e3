/*
 * The result of lode latency, and its JSON.
 */
#ifndef LODE_RESULT_LATENCY_REPORT_H
#define LODE_RESULT_LATENCY_REPORT_H

#include "base/output.h"
#include "base/json.h"
#include "latency/contexts.h"
#include "scope/idle.h"
#include "result/call_tree.h"
#include "result/stack_text.h"

struct lode_latency_report {
	const struct lode_latency *latency;
	const struct lode_contexts *contexts;
	size_t top;	    /* contexts to show; 0: all */
	const char *corpus; /* its path, for pages and pictures */
	/* Not NULL: for a page, which needs facts about frames besides. */
	const struct lode_idle_stacks *page;
	uint64_t least; /* ns: calls that take less are left out of the tree of calls */
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
/* Writes the last field of the JSON: `tree` or `page` (lode_call_tree_result_json). */
void lode_latency_tree_json(const struct lode_latency_report *report, struct lode_json *json);

/*
 * The tree of all calls that take at least `least` ns (call_tree.h; `unfolded` as there). Returns 0
 * or LODE_SYSTEM; release in either case.
 */
int lode_latency_tree(const struct lode_latency_report *report, uint64_t least, int unfolded,
		      struct lode_call_tree *tree);

/* Writes instances, one line each, as JSON or in columns; for lode_latency_instances to give them to. */
struct lode_instance_lines {
	struct lode_output *output;
	struct lode_error *error;
	const char *const *match; /* globs: only contexts that have a frame that fits */
	int json;
	int aggressive_end; /* as in struct lode_latency_options */
	const struct lode_stream *stream; /* whose turn it is, and what was made for it */
	struct lode_stack_text stacks;
	uint8_t *fits;
};

int lode_instance_lines_stream(void *context, const struct lode_stream *stream);
int lode_instance_lines_take(void *context, const struct lode_instance *instance);
void lode_instance_lines_release(struct lode_instance_lines *lines);

#endif
