/*
 * The result of lode latency for people: hot contexts, and in each the hot functions.
 */
#include "base/units.h"
#include "cmd/latency.h"

#include <stdio.h>

#define NEAR	  6  /* frames next to the leaf that are always shown */
#define HOT_SHARE 20 /* callers with a twentieth of the context's own latency are, too */

struct page {
	const struct lode_latency_report *report;
	const struct lode_terminal *terminal;
	struct lode_buffer *buffer;
	struct lode_buffer text; /* room for a frame's text */
	int all_frames;
};

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void put_frame(struct page *page, uint32_t frame)
{
	lode_buffer_clear(&page->text);
	lode_frames_text(&page->report->latency->dictionary.frames, frame, &page->text);
	lode_buffer_byte(&page->text, '\0');
	page->buffer->failed |= page->text.failed;
	if (!page->text.failed)
		lode_text_safe(page->buffer, page->text.bytes);
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
			  lode_count_text(latency->input.events, a), plural(latency->input.events),
			  lode_count_text(latency->input.threads, b), plural(latency->input.threads),
			  lode_count_text(latency->stream_count, c), plural(latency->stream_count));
	lode_buffer_print(page->buffer, "inferred  %s call%s, %s\n", lode_count_text(latency->instances, a),
			  plural(latency->instances), lode_duration_text(contexts->own, b));
	if (contexts->idle)
		lode_buffer_print(page->buffer, "idle      %s kept apart (--include-idle counts it)\n",
				  lode_duration_text(contexts->idle, a));
	lode_buffer_print(page->buffer, "contexts  %s", lode_count_text(contexts->count, a));
	if (shown_contexts(page->report) < contexts->count)
		lode_buffer_print(page->buffer, ", the %s hottest are shown (--all shows all)",
				  lode_count_text(shown_contexts(page->report), b));
	lode_buffer_byte(page->buffer, '\n');
}

/* ---- a context ---- */

static void put_mean(struct page *page, double mean)
{
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "  own mean %s%s", mean < 0 ? "-" : "",
			  lode_duration_text((uint64_t)(mean < 0 ? -mean : mean), text));
}

static void put_metrics(struct page *page, size_t i)
{
	const struct lode_latency *latency = page->report->latency;
	const struct lode_contexts *contexts = page->report->contexts;
	uint32_t node = contexts->nodes[i];
	const struct lode_latency_node *sums = &latency->nodes[node];
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT], c[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "\n%s#%zu  %s  %s%s", lode_style(page->terminal, LODE_BOLD), i + 1,
			  lode_duration_text(latency->own[node], a),
			  lode_share_text(latency->own[node], contexts->own, b),
			  lode_style(page->terminal, LODE_PLAIN));
	if (contexts->means)
		put_mean(page, contexts->means[node]);
	lode_buffer_print(page->buffer, "\n    %s call%s of %s", lode_count_text(sums->count, a),
			  plural(sums->count), lode_duration_text(sums->estimate / sums->count, b));
	if (sums->count > 1)
		lode_buffer_print(page->buffer, " (median %s, 99%%: %s, longest %s)",
				  lode_duration_text(lode_latency_quantile(latency, node, 0.5), a),
				  lode_duration_text(lode_latency_quantile(latency, node, 0.99), b),
				  lode_duration_text(sums->longest, c));
	lode_buffer_print(page->buffer, ", in all %s (95%%: %s to %s)", lode_duration_text(sums->estimate, a),
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
	char own[LODE_UNITS_TEXT], all[LODE_UNITS_TEXT], mark[16] = "";

	if (rank < 3 && latency->own[node])
		snprintf(mark, sizeof(mark), "%u", rank + 1);
	lode_buffer_print(page->buffer, "  %s%1s  %8s %8s  ",
			  rank ? "" : lode_style(page->terminal, LODE_RED), mark,
			  lode_duration_text(latency->own[node], own),
			  lode_duration_text(latency->nodes[node].estimate, all));
	put_frame(page, latency->dictionary.tree.nodes[node].frame);
	lode_buffer_print(page->buffer, "%s\n", rank ? "" : lode_style(page->terminal, LODE_PLAIN));
}

static int matters(const struct page *page, uint32_t leaf, uint32_t node, uint32_t above, uint32_t depth)
{
	const uint64_t *own = page->report->latency->own;

	return page->all_frames || above < NEAR || above + 1 == depth ||
	       own[node] >= own[leaf] / HOT_SHARE + 1;
}

static void put_gap(struct page *page, unsigned *hidden)
{
	if (*hidden)
		lode_buffer_print(page->buffer, "                        %s%s %u caller%s%s\n",
				  lode_style(page->terminal, LODE_DIM), page->terminal->utf8 ? "…" : "...",
				  *hidden, plural(*hidden), lode_style(page->terminal, LODE_PLAIN));
	*hidden = 0;
}

static void put_functions(struct page *page, uint32_t leaf)
{
	const struct lode_stack_tree *tree = &page->report->latency->dictionary.tree;
	uint32_t depth = lode_stack_tree_depth(tree, leaf);
	uint32_t *path = lode_calloc(depth + 1, sizeof(*path));
	unsigned hidden = 0;

	page->buffer->failed |= !path;
	for (uint32_t node = leaf, at = 0; path && node; node = tree->nodes[node].parent)
		path[at++] = node;
	lode_buffer_print(page->buffer, "  %s         own      all  function%s\n",
			  lode_style(page->terminal, LODE_DIM), lode_style(page->terminal, LODE_PLAIN));
	for (uint32_t above = depth; path && above-- > 0;) {
		if (!matters(page, leaf, path[above], above, depth)) {
			hidden++;
			continue;
		}
		put_gap(page, &hidden);
		put_function(page, leaf, path[above]);
	}
	lode_free(path);
}

void lode_latency_text(const struct lode_latency_report *report, int all_frames,
		       const struct lode_terminal *terminal, struct lode_buffer *buffer)
{
	struct page page = {
		.report = report, .terminal = terminal, .buffer = buffer, .all_frames = all_frames
	};

	put_head(&page);
	for (size_t i = 0; i < shown_contexts(report); i++) {
		put_metrics(&page, i);
		put_functions(&page, report->contexts->nodes[i]);
	}
	lode_buffer_release(&page.text);
}
