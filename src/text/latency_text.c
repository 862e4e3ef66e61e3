/*
 * The result of lode latency for people: the heat map of hot contexts, and in each the
 * hot functions.
 */
#include "base/memory.h"
#include "base/units.h"
#include "text/activity_text.h"
#include "text/latency_text.h"
#include "text/latency_lines.h"
#include "text/grid.h"
#include "latency/code_layer.h"

#include <stdio.h>

#define HOT_SHARE 20 /* callers with a twentieth of the context's own latency are shown */

struct page {
	const struct lode_latency_report *report;
	struct lode_lines lines;
	struct lode_buffer *buffer;
	struct lode_grid grid; /* of the functions of a context */
	int all_frames;
};

static const struct lode_grid_column columns[] = {
	{ "", 2, 1 }, { "own", 2, 8 }, { "all", 1, 8 }, { "function", 2, 0 }, { NULL, 0, 0 },
};

static const char *style(const struct page *page, enum lode_style which)
{
	return lode_style(page->lines.look, which);
}

/* ---- the head ---- */

/* Contexts without a latency of their own are shown only when all are. */
static size_t shown_contexts(const struct lode_latency_report *report)
{
	const struct lode_contexts *contexts = report->contexts;
	size_t count = lode_latency_shown(report);

	while (report->top && !contexts->means && count && !report->latency->own[contexts->nodes[count - 1]])
		count--;
	return count;
}

static void put_head(struct page *page)
{
	const struct lode_latency *latency = page->report->latency;
	const struct lode_contexts *contexts = page->report->contexts;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], c[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "input     %s event%s of %s thread%s in %s stream%s\n",
			  lode_count_text(latency->input.events, a), lode_plural(latency->input.events),
			  lode_count_text(latency->input.threads, b), lode_plural(latency->input.threads),
			  lode_count_text(latency->stream_count, c), lode_plural(latency->stream_count));
	lode_buffer_print(page->buffer, "inferred  %s call%s, %s\n", lode_count_text(latency->instances, a),
			  lode_plural(latency->instances), lode_duration_text(contexts->own, b));
	if (contexts->idle)
		lode_buffer_print(page->buffer, "idle      %s counted separately (--include-idle includes it)\n",
				  lode_duration_text(contexts->idle, a));
	if (page->report->states) {
		lode_buffer_text(page->buffer, "states    ");
		lode_state_shares_text(page->report->states, page->buffer);
		lode_buffer_byte(page->buffer, '\n');
	}
	lode_lines_layers(&page->lines, latency->own, NULL, latency->node_count);
	lode_buffer_print(page->buffer, "contexts  %s", lode_count_text(contexts->count, a));
	if (shown_contexts(page->report) < contexts->count)
		lode_buffer_print(page->buffer, ", the %s hottest are shown (--all shows all)",
				  lode_count_text(shown_contexts(page->report), b));
	lode_buffer_byte(page->buffer, '\n');
}

static void put_heat(struct page *page)
{
	struct lode_heat heat;

	if (lode_heat_of_latency(&heat, page->report, lode_latency_shown(page->report)) < 0)
		page->buffer->failed = 1;
	else
		lode_lines_heat(&page->lines, &heat);
	lode_heat_release(&heat);
}

/* ---- a context ---- */

static void put_mean(struct page *page, double mean)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "  own mean %s%s", mean < 0 ? "-" : "",
			  lode_duration_text((uint64_t)(mean < 0 ? -mean : mean), text));
}

static void put_title(struct page *page, size_t i)
{
	const struct lode_latency *latency = page->report->latency;
	const struct lode_contexts *contexts = page->report->contexts;
	uint32_t node = contexts->nodes[i];
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "\n%s#%zu  %s  %s%s", style(page, LODE_BOLD), i + 1,
			  lode_duration_text(latency->own[node], a),
			  lode_share_text(latency->own[node], contexts->own, b), style(page, LODE_PLAIN));
	if (contexts->means)
		put_mean(page, contexts->means[node]);
	lode_buffer_text(page->buffer, "  ");
	lode_lines_who(&page->lines, lode_stack_who(&latency->dictionary, node));
	lode_buffer_byte(page->buffer, '\n');
}

static void put_metrics(struct page *page, uint32_t node)
{
	const struct lode_latency *latency = page->report->latency;
	const struct lode_latency_node *sums = &latency->nodes[node];
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], c[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "    %s call%s of %s", lode_count_text(sums->count, a),
			  lode_plural(sums->count), lode_duration_text(sums->estimate / sums->count, b));
	if (sums->count > 1)
		lode_buffer_print(page->buffer, " (median %s, 99%%: %s, longest %s)",
				  lode_duration_text(lode_latency_quantile(latency, node, 0.5), a),
				  lode_duration_text(lode_latency_quantile(latency, node, 0.99), b),
				  lode_duration_text(sums->longest, c));
	lode_buffer_print(page->buffer, "\n    in all %s (95%%: %s to %s)", lode_duration_text(sums->estimate, a),
			  lode_duration_text(lode_latency_low(sums), b),
			  lode_duration_text(lode_latency_high(sums), c));
	if (sums->waited)
		lode_buffer_print(page->buffer, ", %s of it waiting",
				  lode_share_text(sums->waited, sums->estimate, a));
	lode_buffer_byte(page->buffer, '\n');
}

/* How many nodes of the path took more than this one by themselves: 0 for the hottest. */
static unsigned rank_in(const struct lode_latency *latency, uint32_t leaf, uint32_t node)
{
	const struct lode_stack_node *nodes = latency->dictionary.tree.nodes;
	unsigned rank = 0;

	for (; leaf; leaf = nodes[leaf].parent)
		rank += latency->own[leaf] > latency->own[node];
	return rank;
}

static void put_function(struct page *page, uint32_t leaf, uint32_t node)
{
	const struct lode_latency *latency = page->report->latency;
	unsigned rank = rank_in(latency, leaf, node);
	char own[LODE_UNITS_TEXT], mark[16] = "";

	if (rank < 3 && latency->own[node])
		snprintf(mark, sizeof(mark), "%u", rank + 1);
	if (!rank)
		lode_grid_style(&page->grid, page->lines.look, LODE_RED);
	lode_grid_text(&page->grid, mark);
	lode_grid_text(&page->grid, latency->own[node] ? lode_duration_text(latency->own[node], own) : "");
	lode_grid_duration(&page->grid, latency->nodes[node].estimate);
	lode_grid_open(&page->grid);
	lode_lines_frame(&page->lines, node);
	lode_grid_end(&page->grid);
}

static void put_lines(struct page *page, const uint32_t *path, uint8_t *shown, uint32_t depth)
{
	const uint64_t *own = page->report->latency->own;
	uint32_t leaf = path[depth - 1];
	size_t hidden = 0;

	for (uint32_t i = 0; i < depth; i++)
		shown[i] = page->all_frames || own[path[i]] >= own[leaf] / HOT_SHARE + 1;
	lode_lines_choose(&page->report->latency->dictionary, path, depth, shown);
	for (uint32_t i = 0; i < depth; i++) {
		if (!shown[i]) {
			hidden++;
			continue;
		}
		lode_lines_gap(&page->lines, path, i - hidden, i, 24);
		put_function(page, leaf, path[i]);
		hidden = 0;
	}
}

static void put_functions(struct page *page, uint32_t leaf)
{
	const struct lode_stack_tree *tree = &page->report->latency->dictionary.tree;
	uint32_t depth = lode_stack_tree_depth(tree, leaf);
	uint32_t *path = lode_calloc(depth + 1, sizeof(*path));
	uint8_t *shown = lode_calloc(depth + 1, 1);

	for (uint32_t node = leaf, at = depth; path && node; node = tree->nodes[node].parent)
		path[--at] = node;
	lode_grid_style(&page->grid, page->lines.look, LODE_DIM);
	lode_grid_titles(&page->grid);
	if (path && shown && depth)
		put_lines(page, path, shown, depth);
	page->buffer->failed |= !path || !shown;
	lode_free(path);
	lode_free(shown);
}

void lode_latency_text(const struct lode_latency_report *report, int all_frames, const struct lode_look *look,
		       struct lode_buffer *buffer)
{
	struct page page = {
		.report = report,
		.lines = { .dictionary = &report->latency->dictionary, .look = look, .buffer = buffer },
		.buffer = buffer,
		.grid = { .buffer = buffer, .columns = columns },
		.all_frames = all_frames,
	};

	put_head(&page);
	put_heat(&page);
	for (size_t i = 0; i < shown_contexts(report); i++) {
		put_title(&page, i);
		put_metrics(&page, report->contexts->nodes[i]);
		put_functions(&page, report->contexts->nodes[i]);
	}
}
