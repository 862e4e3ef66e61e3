/*
 * The tree of calls of lode latency, for pages and graphs: see latency_report.h.
 */
#include "result/latency_report.h"

#include "base/memory.h"

#include <string.h>

/* Contexts that a page shows regardless of their cost. */
#define FIRST 10

/* By node: whether a context that fits goes through it. NULL when memory has run out. */
static uint8_t *find_fitting(const struct lode_latency_report *report)
{
	uint8_t *fits = lode_calloc(report->latency->node_count, 1);

	for (size_t i = 0; fits && i < report->contexts->count; i++)
		fits[report->contexts->nodes[i]] = 1;
	return fits;
}

int lode_latency_tree(const struct lode_latency_report *report, uint64_t least, int unfolded,
		      struct lode_call_tree *tree)
{
	const struct lode_latency *latency = report->latency;
	uint8_t *fits = find_fitting(report);
	struct lode_call_tree_input input = {
		.dictionary = &latency->dictionary,
		.own = { NULL, latency->own },
		.node_count = latency->node_count,
		.fits = fits,
		.least = least,
		.unfolded = unfolded,
	};
	int code;

	memset(tree, 0, sizeof(*tree));
	if (!fits)
		return LODE_SYSTEM;
	code = lode_call_tree_make(tree, &input);
	tree->fits = fits;
	return code;
}

size_t lode_latency_page_top(const struct lode_latency_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->contexts->count; i++)
		count += report->latency->own[report->contexts->nodes[i]] >= report->least;
	return count > FIRST ? count : FIRST;
}

int lode_latency_calls(const struct lode_latency_report *report, struct lode_call_tree_part *part)
{
	const struct lode_dictionary *dictionary = &report->latency->dictionary;
	uint8_t *marks = report->for_page ? lode_calloc(dictionary->frames.count + 1, 1) : NULL;
	struct lode_call_tree tree;

	for (size_t i = 0; marks && i < lode_latency_shown(report); i++)
		lode_frame_facts_mark(&dictionary->tree, report->contexts->nodes[i], marks);
	if (lode_latency_tree(report, report->least, 1, &tree) < 0)
		return lode_call_tree_part_fail(part, &tree, marks);
	return lode_call_tree_part_make(part, &tree, report->for_page ? report->rules : NULL, marks);
}
