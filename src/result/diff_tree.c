/*
 * The calls of both sides of lode diff as one tree, for pages and graphs: see
 * diff_report.h.
 */
#include "result/diff_report.h"

#include "base/memory.h"
#include "result/frame_facts.h"

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

static void mark_paths(const struct lode_diff_report *report, uint8_t *marks)
{
	size_t shown = 0;

	for (size_t i = 0; marks && i < report->diff->path_count && (!report->top || shown < report->top); i++) {
		uint32_t leaf = report->diff->paths[i].leaf;

		if (report->fits && !report->fits[leaf])
			continue;
		lode_frame_facts_mark(&report->diff->dictionary->tree, leaf, marks);
		shown++;
	}
}

void lode_diff_tree_json(const struct lode_diff_report *report, struct lode_json *json)
{
	uint8_t *marks = report->page ? lode_calloc(report->diff->dictionary->frames.count + 1, 1) : NULL;
	struct lode_call_tree tree;

	mark_paths(report, marks);
	if (lode_diff_tree(report, report->least, 1, &tree) < 0)
		json->buffer->failed = 1;
	else
		lode_call_tree_result_json(&tree, report->page, marks, json);
	lode_call_tree_release(&tree);
	lode_free(marks);
}
