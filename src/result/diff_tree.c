/*
 * The calls of both sides of lode diff as one tree, for pages and graphs: see
 * diff_report.h.
 */
#include "result/diff_report.h"

#include "base/memory.h"

int lode_diff_tree(const struct lode_diff_report *report, uint64_t least, int unfolded, struct lode_call_tree *tree)
{
	const struct lode_diff *diff = report->diff;
	struct lode_call_tree_input input = {
		.dictionary = diff->dictionary,
		.own = { diff->base, diff->slow },
		.node_count = diff->dictionary->tree.count,
		.fits = report->fits,
		.known = diff->known,
		.cause = diff->cause.node,
		.least = least,
		.unfolded = unfolded,
	};

	return lode_call_tree_make(tree, &input);
}

size_t lode_diff_paths_end(const struct lode_diff_report *report)
{
	const struct lode_diff *diff = report->diff;
	size_t shown = 0, end = 0;

	for (; end < diff->path_count && (!report->top || shown < report->top); end++)
		shown += !report->fits || report->fits[diff->paths[end].leaf];
	return end;
}

static void mark_paths(const struct lode_diff_report *report, uint8_t *marks)
{
	size_t end = lode_diff_paths_end(report);

	for (size_t i = 0; marks && i < end; i++) {
		uint32_t leaf = report->diff->paths[i].leaf;

		if (!report->fits || report->fits[leaf])
			lode_frame_facts_mark(&report->diff->dictionary->tree, leaf, marks);
	}
}

int lode_diff_calls(const struct lode_diff_report *report, struct lode_call_tree_part *part)
{
	uint8_t *marks = report->for_page ? lode_calloc(report->diff->dictionary->frames.count + 1, 1) : NULL;
	struct lode_call_tree tree;

	mark_paths(report, marks);
	if (lode_diff_tree(report, report->least, 1, &tree) < 0)
		return lode_call_tree_part_fail(part, &tree, marks);
	return lode_call_tree_part_make(part, &tree, report->for_page ? report->rules : NULL, marks);
}
