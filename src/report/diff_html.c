/*
 * The result of lode diff as a page and as a graph: see diff_report.h.
 */
#include "report/diff_report.h"

#include "base/memory.h"
#include "base/units.h"
#include "report/call_tree.h"
#include "report/heat.h"
#include "report/html.h"

#include <stdio.h>
#include <string.h>

struct page {
	const struct lode_diff_report *report;
	struct lode_buffer *buffer;
	struct lode_buffer text; /* room for a frame's text */
	struct lode_diff_functions functions;
};

static void put_text(struct page *page, const char *text)
{
	lode_html_text(page->buffer, text, strlen(text));
}

static void put_frame(struct page *page, uint32_t node)
{
	const struct lode_dictionary *dictionary = page->report->diff->dictionary;

	lode_buffer_clear(&page->text);
	lode_frames_text(&dictionary->frames, dictionary->tree.nodes[node].frame, &page->text);
	if (page->text.size)
		lode_html_text(page->buffer, page->text.bytes, page->text.size);
	page->buffer->failed |= page->text.failed;
}

static const char *signed_text(int64_t number, char text[LODE_UNITS_TEXT])
{
	char plain[LODE_UNITS_TEXT];

	lode_duration_text(number < 0 ? -(uint64_t)number : (uint64_t)number, plain);
	snprintf(text, LODE_UNITS_TEXT, "%c%.30s", number < 0 ? '-' : '+', plain);
	return text;
}

/* ---- the head ---- */

static void put_side(struct page *page, const char *title, const struct lode_diff_side *side)
{
	char streams[LODE_UNITS_TEXT], events[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer,
			  "<tr><th><i class=key style=\"background:var(--%s);margin-left:0\"></i>%s<td>",
			  title, title);
	put_text(page, side->corpus);
	if (side->streams) {
		lode_buffer_byte(page->buffer, ' ');
		put_text(page, side->streams);
	}
	lode_buffer_print(page->buffer, "<td class=n>streams: %s<td class=n>events: %s\n",
			  lode_count_text(side->latency->stream_count, streams),
			  lode_count_text(side->latency->input.events, events));
}

static void put_cause(struct page *page)
{
	const struct lode_root_cause *cause = &page->report->diff->cause;
	char more[LODE_UNITS_TEXT];

	if (!cause->node) {
		lode_buffer_text(page->buffer, lode_diff_is_sure(page->report->diff)
						       ? "<p>No path by itself surely takes more.</p>\n"
						       : "<p>No cause is named: nothing is sure.</p>\n");
		return;
	}
	lode_buffer_print(page->buffer, "<p>%s <b><code>",
			  cause->sure ? "Look first at" : "A guess, as nothing is sure:");
	put_frame(page, cause->node);
	lode_buffer_print(page->buffer, "</code></b>, %s: %s a stream", lode_layer_words(cause->layer),
			  signed_text(cause->more, more));
	if (cause->caller) {
		lode_buffer_print(page->buffer, "; %s by <code>",
				  cause->is_new ? "never before called" : "called");
		put_frame(page, cause->caller);
		lode_buffer_text(page->buffer, "</code>");
	}
	lode_buffer_text(page->buffer, ".</p>\n");
}

static void put_layers(struct page *page)
{
	const struct lode_diff *diff = page->report->diff;
	size_t nodes = diff->dictionary->tree.count;
	uint64_t base[LODE_LAYERS], slow[LODE_LAYERS];
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], c[LODE_UNITS_TEXT];

	if (lode_layer_sums(diff->dictionary, diff->base, nodes, base) < 0 ||
	    lode_layer_sums(diff->dictionary, diff->slow, nodes, slow) < 0) {
		page->buffer->failed = 1;
		return;
	}
	lode_buffer_text(page->buffer,
			 "<table><tr><th>layer<th class=n>base<th class=n>slow<th class=n>more\n");
	for (int i = 0; i < LODE_LAYERS; i++)
		if (base[i] || slow[i])
			lode_buffer_print(
				page->buffer, "<tr><th>%s<td class=n>%s<td class=n>%s<td class=n>%s\n",
				lode_layer_name((enum lode_layer)i), lode_duration_text(base[i], a),
				lode_duration_text(slow[i], b), signed_text((int64_t)(slow[i] - base[i]), c));
	lode_buffer_text(page->buffer,
			 "</table>\n<p class=dim>All times are per stream. Time in the kernel and the "
			 "C library counts for the layer that called them.</p>\n");
}

static void put_head(struct page *page)
{
	const struct lode_diff_report *report = page->report;
	char text[LODE_UNITS_TEXT];

	lode_buffer_text(page->buffer, "<h1>");
	put_text(page, report->slow.corpus);
	lode_buffer_print(page->buffer, ": %s a stream</h1>\n<table>\n",
			  signed_text(report->diff->difference, text));
	put_side(page, "base", &report->base);
	put_side(page, "slow", &report->slow);
	lode_buffer_text(page->buffer, "</table>\n");
	lode_buffer_text(page->buffer, "<p>Chance: ");
	lode_diff_chance_words(report, page->buffer);
	lode_buffer_text(page->buffer, ".</p>\n");
	put_cause(page);
	if (report->distance && report->distance->path)
		lode_buffer_print(page->buffer, "<p>Against the truth: p_min = %zu, f_min = %zu.</p>\n",
				  report->distance->path, report->distance->function);
	else if (report->distance)
		lode_buffer_text(page->buffer, "<p>Against the truth: no path has such a function.</p>\n");
	put_layers(page);
}

/* ---- the pictures ---- */

static void put_heat(struct page *page, const struct lode_diff_chosen *chosen)
{
	struct lode_heat heat;

	if (lode_heat_of_diff(&heat, page->report, chosen) < 0)
		page->buffer->failed = 1;
	if (!page->buffer->failed && heat.count) {
		lode_buffer_text(
			page->buffer,
			"<h2>Paths that take more</h2>\n<p class=dim>A row is a path, a cell a function, "
			"from "
			"the root to the leaf; its colour is what it takes more by itself. 0 is the hottest "
			"function of the row, the others have their distance from it. The name is that of "
			"the "
			"last function before the kernel and the C library.</p>\n<div class=wide>\n");
		lode_heat_svg(&heat, page->buffer);
		lode_buffer_text(page->buffer, "</div>\n");
	}
	lode_heat_release(&heat);
}

static struct lode_call_tree_input tree_input(const struct lode_diff_report *report, uint64_t least,
					      int unfolded)
{
	const struct lode_diff *diff = report->diff;

	return (struct lode_call_tree_input){
		.dictionary = diff->dictionary,
		.own = {diff->base, diff->slow},
		.node_count = diff->dictionary->tree.count,
		.fits = report->fits,
		.known = diff->known,
		.cause = diff->cause.node,
		.least = least,
		.unfolded = unfolded,
	};
}

static void put_tree(struct page *page, uint64_t least, int unfolded)
{
	struct lode_call_tree_input input = tree_input(page->report, least, unfolded);
	struct lode_call_tree tree;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], c[LODE_UNITS_TEXT];

	if (lode_call_tree_make(&tree, &input) < 0)
		page->buffer->failed = 1;
	if (!page->buffer->failed && tree.count) {
		lode_buffer_print(
			page->buffer,
			"<h2>Calls of both sides</h2>\n<p class=dim>%s of %s contexts: those that take %s or "
			"more with all they call, on either side. Lines are as thick as that is; the thinner "
			"lies on the thicker.",
			lode_count_text(tree.shown, a), lode_count_text(tree.contexts, b),
			lode_duration_text(least, c));
		lode_buffer_text(page->buffer,
				 "<i class=key style=\"background:var(--slow)\"></i>slow"
				 "<i class=key style=\"background:var(--base)\"></i>base</p>\n");
		lode_call_tree_html(&tree, page->buffer);
	}
	lode_call_tree_release(&tree);
}

void lode_diff_dot(const struct lode_diff_report *report, uint64_t least, int unfolded,
		   struct lode_buffer *buffer)
{
	struct lode_call_tree_input input = tree_input(report, least, unfolded);
	struct lode_call_tree tree;

	if (lode_call_tree_make(&tree, &input) < 0)
		buffer->failed = 1;
	else
		lode_call_tree_dot(&tree, report->slow.corpus, buffer);
	lode_call_tree_release(&tree);
}

/* ---- paths ---- */

static void put_functions(struct page *page, const struct lode_diff_path *path)
{
	const struct lode_diff *diff = page->report->diff;
	char more[LODE_UNITS_TEXT], base[LODE_UNITS_TEXT], slow[LODE_UNITS_TEXT];

	if (lode_diff_functions_of(diff, path, &page->functions) < 0)
		page->buffer->failed = 1;
	lode_buffer_text(page->buffer,
			 "<table><tr><th class=n>more<th class=n>base<th class=n>slow<th>function\n");
	for (size_t i = 0; !page->buffer->failed && i < page->functions.count; i++) {
		uint32_t node = page->functions.items[i].node;
		int64_t delta = lode_diff_delta(diff, node);

		lode_buffer_print(page->buffer, "<tr><td class=n>%s<td class=n>%s<td class=n>%s<td><code>",
				  delta ? signed_text(delta, more) : "",
				  !diff->known[node] ? "new"
				  : diff->base[node] ? lode_duration_text(diff->base[node], base)
						     : "",
				  diff->slow[node] ? lode_duration_text(diff->slow[node], slow) : "");
		put_frame(page, node);
		lode_buffer_text(page->buffer, "</code>\n");
	}
	lode_buffer_text(page->buffer, "</table>\n");
}

static void put_path(struct page *page, const struct lode_diff_choice *choice, int64_t widest)
{
	const struct lode_diff *diff = page->report->diff;
	const struct lode_diff_path *path = choice->path;
	char cost[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer,
			  "<details><summary><span class=dim>%zu</span><b>%s</b><span class=bar><i "
			  "style=\"width:%.2f%%\"></i></span><span></span><span></span><span class=leaf>",
			  choice->rank, signed_text(path->cost, cost),
			  100 * (double)path->cost / (double)(widest > 0 ? widest : 1));
	put_frame(page, lode_stack_who(diff->dictionary, path->hottest));
	lode_buffer_text(page->buffer, "</span></summary>\n<p>");
	if (diff->chance.tested)
		lode_buffer_print(page->buffer, "%s (p = %.2g). ",
				  lode_diff_path_is_sure(path) ? "Surely takes more" : "May take more by chance",
				  path->p);
	if (diff->base_means)
		lode_buffer_text(page->buffer, "Its cost is of means, a call; the times below are per stream. ");
	if (path->is_new)
		lode_buffer_text(page->buffer, "The base does not have this path. ");
	if (choice->alike)
		lode_buffer_print(page->buffer, "%zu more paths have the same hottest function.",
				  choice->alike);
	lode_buffer_text(page->buffer, "</p>\n");
	put_functions(page, path);
	lode_buffer_text(page->buffer, "</details>\n");
}

void lode_diff_html(const struct lode_diff_report *report, uint64_t least, int unfolded,
		    struct lode_buffer *buffer)
{
	struct page page = {.report = report, .buffer = buffer};
	struct lode_diff_chosen chosen = {0};

	if (lode_diff_choose(report, 0, &chosen) < 0)
		buffer->failed = 1;
	lode_html_begin(buffer, report->slow.corpus);
	put_head(&page);
	put_heat(&page, &chosen);
	put_tree(&page, least, unfolded);
	if (chosen.count)
		lode_buffer_text(buffer, "<h2>Paths</h2>\n");
	for (size_t i = 0; i < chosen.count; i++)
		put_path(&page, &chosen.items[i], chosen.items[0].path->cost);
	lode_html_end(buffer);
	lode_buffer_release(&page.text);
	lode_diff_functions_release(&page.functions);
	lode_diff_chosen_release(&chosen);
}
