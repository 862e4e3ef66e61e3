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
		.own = {diff->base, diff->slow},
		.node_count = diff->dictionary->tree.count,
		.fits = report->fits,
		.known = diff->known,
		.cause = diff->cause.node,
		.least = least,
		.unfolded = unfolded,
	};

	return lode_call_tree_make(tree, &input);
}

static void put_facts(const struct lode_diff_report *report, const struct lode_call_tree *tree,
		      struct lode_json *json)
{
	const struct lode_dictionary *dictionary = report->diff->dictionary;
	uint8_t *marks = lode_calloc(dictionary->frames.count + 1, 1);
	size_t shown = 0;

	for (size_t i = 0; marks && i < tree->count; i++)
		lode_frame_facts_mark(&dictionary->tree, tree->items[i].last, marks);
	for (size_t i = 0; marks && i < report->diff->path_count && (!report->top || shown < report->top); i++) {
		uint32_t leaf = report->diff->paths[i].leaf;

		if (report->fits && !report->fits[leaf])
			continue;
		lode_frame_facts_mark(&dictionary->tree, leaf, marks);
		shown++;
	}
	if (marks)
		lode_frame_facts_json(json, &dictionary->frames, marks, report->page);
	else
		json->buffer->failed = 1;
	lode_free(marks);
}

void lode_diff_page_json(const struct lode_diff_report *report, struct lode_json *json)
{
	struct lode_call_tree tree;

	lode_json_object(json);
	if (lode_diff_tree(report, report->least, 1, &tree) < 0) {
		json->buffer->failed = 1;
	} else {
		lode_json_key(json, "tree");
		lode_call_tree_json(&tree, json);
		put_facts(report, &tree, json);
	}
	lode_json_object_end(json);
	lode_call_tree_release(&tree);
}
