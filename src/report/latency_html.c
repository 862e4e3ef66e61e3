/*
 * The result of lode latency as a page and as a graph: see latency_report.h.
 */
#include "report/latency_report.h"

#include "base/memory.h"
#include "base/units.h"
#include "latency/layer.h"
#include "report/call_tree.h"
#include "report/heat.h"
#include "report/html.h"

#include <string.h>

struct page {
	const struct lode_latency_report *report;
	struct lode_buffer *buffer;
	struct lode_buffer text; /* room for a frame's text */
};

static void put_text(struct page *page, const char *text)
{
	lode_html_text(page->buffer, text, strlen(text));
}

static void put_frame(struct page *page, uint32_t node)
{
	const struct lode_dictionary *dictionary = &page->report->latency->dictionary;

	lode_buffer_clear(&page->text);
	lode_frames_text(&dictionary->frames, dictionary->tree.nodes[node].frame, &page->text);
	if (page->text.size)
		lode_html_text(page->buffer, page->text.bytes, page->text.size);
	page->buffer->failed |= page->text.failed;
}

/* ---- the head ---- */

static void put_layers(struct page *page)
{
	const struct lode_latency *latency = page->report->latency;
	uint64_t sums[LODE_LAYERS];
	char time[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];

	if (lode_layer_sums(&latency->dictionary, latency->own, latency->node_count, sums) < 0) {
		page->buffer->failed = 1;
		return;
	}
	for (int i = 0; i < LODE_LAYERS; i++)
		if (sums[i])
			lode_buffer_print(page->buffer, "<tr><th>%s<td class=n>%s<td class=n>%s<td>\n",
					  lode_layer_name((enum lode_layer)i),
					  lode_duration_text(sums[i], time),
					  lode_share_text(sums[i], page->report->contexts->own, share));
}

static void put_head(struct page *page)
{
	const struct lode_latency *latency = page->report->latency;
	const struct lode_contexts *contexts = page->report->contexts;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], c[LODE_UNITS_TEXT];

	lode_buffer_text(page->buffer, "<h1>");
	put_text(page, page->report->corpus);
	lode_buffer_print(
		page->buffer,
		": how long functions take</h1>\n<p>Calls: %s, in %s contexts; inferred from events: %s",
		lode_count_text(latency->instances, a), lode_count_text(contexts->count, b),
		lode_count_text(latency->input.events, c));
	lode_buffer_print(page->buffer, ", threads: %s, streams: %s.</p>\n<table>\n",
			  lode_count_text(latency->input.threads, a),
			  lode_count_text(latency->stream_count, b));
	put_layers(page);
	if (contexts->idle)
		lode_buffer_print(page->buffer, "<tr><th>idle<td class=n>%s<td><td class=dim>kept apart\n",
				  lode_duration_text(contexts->idle, a));
	lode_buffer_text(page->buffer,
			 "</table>\n<p class=dim>Time in the kernel and the C library counts for "
			 "the layer that called them.</p>\n");
}

/* ---- the pictures ---- */

static void put_heat(struct page *page)
{
	struct lode_heat heat;

	if (lode_heat_of_latency(&heat, page->report) < 0)
		page->buffer->failed = 1;
	if (!page->buffer->failed && heat.count) {
		lode_buffer_text(
			page->buffer,
			"<h2>Hottest contexts</h2>\n<p class=dim>A row is a context, a cell a function, "
			"from the root to the leaf; its colour is the time that it takes by itself. 0 is "
			"the hottest function of the row, the others have their distance from it. The name "
			"is that of the last function before the kernel and the C library.</p>\n"
			"<div class=wide>\n");
		lode_heat_svg(&heat, page->buffer);
		lode_buffer_text(page->buffer, "</div>\n");
	}
	lode_heat_release(&heat);
}

/* By node: whether a context that fits goes through it. NULL when memory has run out. */
static uint8_t *find_fitting(const struct lode_latency_report *report)
{
	uint8_t *fits = lode_calloc(report->latency->node_count, 1);

	for (size_t i = 0; fits && i < report->contexts->count; i++)
		fits[report->contexts->nodes[i]] = 1;
	return fits;
}

static int make_tree(const struct lode_latency_report *report, uint64_t least, int unfolded,
		     struct lode_call_tree_input *input, struct lode_call_tree *tree)
{
	const struct lode_latency *latency = report->latency;
	uint8_t *fits = find_fitting(report);

	*input = (struct lode_call_tree_input){
		.dictionary = &latency->dictionary,
		.own = {NULL, latency->own},
		.node_count = latency->node_count,
		.fits = fits,
		.least = least,
		.unfolded = unfolded,
	};
	memset(tree, 0, sizeof(*tree));
	return fits ? lode_call_tree_make(tree, input) : LODE_SYSTEM;
}

static void release_tree(struct lode_call_tree_input *input, struct lode_call_tree *tree)
{
	lode_call_tree_release(tree);
	lode_free((void *)(uintptr_t)input->fits);
}

static void put_tree(struct page *page, uint64_t least, int unfolded)
{
	struct lode_call_tree_input input;
	struct lode_call_tree tree;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], c[LODE_UNITS_TEXT];

	if (make_tree(page->report, least, unfolded, &input, &tree) < 0)
		page->buffer->failed = 1;
	if (!page->buffer->failed && tree.count) {
		lode_buffer_print(
			page->buffer,
			"<h2>Calls</h2>\n<p class=dim>%s of %s contexts: those that take %s or more with "
			"all they call. Lines are as thick as what that is.</p>\n",
			lode_count_text(tree.shown, a), lode_count_text(tree.contexts, b),
			lode_duration_text(least, c));
		lode_call_tree_html(&tree, page->buffer);
	}
	release_tree(&input, &tree);
}

void lode_latency_dot(const struct lode_latency_report *report, uint64_t least, int unfolded,
		      struct lode_buffer *buffer)
{
	struct lode_call_tree_input input;
	struct lode_call_tree tree;

	if (make_tree(report, least, unfolded, &input, &tree) < 0)
		buffer->failed = 1;
	else
		lode_call_tree_dot(&tree, report->corpus, buffer);
	release_tree(&input, &tree);
}

/* ---- contexts ---- */

static void put_metrics(struct page *page, uint32_t node)
{
	const struct lode_latency *latency = page->report->latency;
	const struct lode_latency_node *sums = &latency->nodes[node];
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], c[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "<p>%s calls of %s; median %s, ", lode_count_text(sums->count, a),
			  lode_duration_text(sums->estimate / sums->count, b),
			  lode_duration_text(lode_latency_quantile(latency, node, 0.5), c));
	lode_buffer_print(page->buffer, "99%%: %s, longest %s. ",
			  lode_duration_text(lode_latency_quantile(latency, node, 0.99), a),
			  lode_duration_text(sums->longest, b));
	lode_buffer_print(page->buffer, "In all %s (95%%: %s to %s)", lode_duration_text(sums->estimate, a),
			  lode_duration_text(lode_latency_low(sums), b),
			  lode_duration_text(lode_latency_high(sums), c));
	if (sums->waited)
		lode_buffer_print(page->buffer, ", %s of it waiting",
				  lode_share_text(sums->waited, sums->estimate, a));
	lode_buffer_text(page->buffer, ".</p>\n");
}

/* Root first: the numbers of callers are smaller than those of their callees. */
static void put_functions(struct page *page, uint32_t leaf)
{
	const struct lode_latency *latency = page->report->latency;
	const struct lode_stack_tree *tree = &latency->dictionary.tree;
	uint32_t depth = lode_stack_tree_depth(tree, leaf);
	uint32_t *path = lode_calloc(depth + 1, sizeof(*path));
	char own[LODE_UNITS_TEXT], all[LODE_UNITS_TEXT];

	page->buffer->failed |= !path;
	for (uint32_t i = depth, node = leaf; path && i-- > 0; node = tree->nodes[node].parent)
		path[i] = node;
	lode_buffer_text(page->buffer, "<table><tr><th class=n>by itself<th class=n>in all<th>function\n");
	for (uint32_t i = 0; path && i < depth; i++) {
		lode_buffer_print(page->buffer, "<tr><td class=n>%s<td class=n>%s<td><code>",
				  latency->own[path[i]] ? lode_duration_text(latency->own[path[i]], own) : "",
				  lode_duration_text(latency->nodes[path[i]].estimate, all));
		put_frame(page, path[i]);
		lode_buffer_text(page->buffer, "</code>\n");
	}
	lode_buffer_text(page->buffer, "</table>\n");
	lode_free(path);
}

static void put_context(struct page *page, size_t i, uint64_t widest)
{
	const struct lode_latency *latency = page->report->latency;
	uint32_t node = page->report->contexts->nodes[i];
	char own[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer,
			  "<details><summary><span class=dim>%zu</span><b>%s %s</b><span class=bar><i "
			  "style=\"width:%.2f%%\"></i></span><span></span><span></span><span class=leaf>",
			  i + 1, lode_duration_text(latency->own[node], own),
			  lode_share_text(latency->own[node], page->report->contexts->own, share),
			  100 * (double)latency->own[node] / (double)(widest + !widest));
	put_frame(page, lode_stack_who(&latency->dictionary, node));
	if (lode_stack_who(&latency->dictionary, node) != node) {
		lode_buffer_text(page->buffer, " <span class=dim>… ");
		put_frame(page, node);
		lode_buffer_text(page->buffer, "</span>");
	}
	lode_buffer_text(page->buffer, "</span></summary>\n");
	put_metrics(page, node);
	put_functions(page, node);
	lode_buffer_text(page->buffer, "</details>\n");
}

void lode_latency_html(const struct lode_latency_report *report, uint64_t least, int unfolded,
		       struct lode_buffer *buffer)
{
	struct page page = {.report = report, .buffer = buffer};
	size_t shown = lode_latency_shown(report);

	lode_html_begin(buffer, report->corpus);
	put_head(&page);
	put_heat(&page);
	put_tree(&page, least, unfolded);
	if (shown)
		lode_buffer_text(buffer, "<h2>Contexts</h2>\n");
	for (size_t i = 0; i < shown; i++)
		put_context(&page, i, report->latency->own[report->contexts->nodes[0]]);
	lode_html_end(buffer);
	lode_buffer_release(&page.text);
}
