/*
 * The result of lode mine as a page: a bar for each cluster, which opens to its
 * frames, its variants and where to look.
 */
#include "base/units.h"
#include "report/html.h"
#include "report/mine_report.h"

#include <string.h>

#define EXAMPLES 5

struct page {
	const struct lode_mine_report *report;
	struct lode_buffer *buffer;
	struct lode_buffer text; /* room for a frame's text */
};

static void put_text(struct page *page, const char *text)
{
	lode_html_text(page->buffer, text, strlen(text));
}

static void put_frame(struct page *page, uint32_t frame)
{
	lode_buffer_clear(&page->text);
	lode_frames_text(&page->report->area->dictionary.frames, frame, &page->text);
	page->buffer->failed |= page->text.failed;
	if (!page->text.failed)
		lode_html_text(page->buffer, page->text.bytes, page->text.size);
}

static const char *kind_word(const struct page *page)
{
	if (page->report->options->both)
		return "events";
	return page->report->options->kind == LODE_RUN ? "samples" : "waits";
}

static void put_rows(struct page *page, const char *title, uint64_t events, uint64_t cost, const char *note)
{
	char count[LODE_UNITS_TEXT], time[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "<tr><th>%s<td class=n>%s %s<td class=n>%s<td>%s\n", title,
			  lode_count_text(events, count), kind_word(page), lode_duration_text(cost, time), note);
}

static void put_head(struct page *page)
{
	const struct lode_mine_report *report = page->report;
	const struct lode_area *area = report->area;
	enum lode_event_type kind = report->options->kind;
	char text[LODE_UNITS_TEXT], other[LODE_UNITS_TEXT];

	lode_buffer_text(page->buffer, "<h1>");
	put_text(page, report->corpus);
	lode_buffer_print(page->buffer, ": %s, scope %s</h1>\n<table>\n", kind_word(page), lode_scope_name(area->scope));
	put_rows(page, "input", area->input_events[kind], area->input_cost[kind], "");
	put_rows(page, "area", area->rows[kind].events, area->rows[kind].cost, "");
	if (area->idle[kind].events)
		put_rows(page, "idle", area->idle[kind].events, area->idle[kind].cost, "kept apart");
	if (kind == LODE_WAIT && area->work.events)
		put_rows(page, "for work", area->work.events, area->work.cost, "waiting for work, kept apart");
	lode_buffer_print(page->buffer, "</table><p>%s streams, ", lode_count_text(area->stream_count, text));
	lode_buffer_print(page->buffer, "threshold %s, %s patterns in ",
			  lode_duration_text(report->options->threshold, text),
			  lode_count_text(report->mined->patterns.count, other));
	lode_buffer_print(page->buffer, "%s clusters, ranked by %s",
			  lode_count_text(report->mined->clusters.count, text), lode_rank_name(report->options->rank));
	if (report->mined->patterns.end != LODE_MINER_COMPLETE)
		lode_buffer_text(page->buffer, ". <b>Stopped early: there are more patterns.</b>");
	if (report->options->fold_recursion)
		lode_buffer_text(page->buffer, ". Of a recursive function only the first call counts");
	if (lode_mine_shown(report) < report->mined->clusters.count)
		lode_buffer_print(page->buffer, ". The first %zu are shown", lode_mine_shown(report));
	lode_buffer_text(page->buffer, ".</p>\n");
}

/* ---- a cluster ---- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The bar: cost as a share of the costliest cluster's interval, with its own interval as a whisker. */
static void put_bar(struct page *page, const struct lode_metrics *metrics, uint64_t widest)
{
	double low = percent(metrics->low, widest);
	double high = percent(metrics->high < widest ? metrics->high : widest, widest);

	lode_buffer_print(page->buffer, "<span class=bar><i style=\"width:%.2f%%\"></i>"
					"<u style=\"left:%.2f%%;width:%.2f%%\"></u></span>",
			  percent(metrics->cost, widest), low, high - low);
}

static void put_summary(struct page *page, size_t i, uint64_t widest)
{
	const struct lode_mined *mined = page->report->mined;
	const struct lode_metrics *metrics = &mined->cluster_groups[i].metrics;
	uint64_t whole = page->report->area->rows[page->report->options->kind].cost;
	char cost[LODE_UNITS_TEXT], share[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "<summary><span class=dim>%zu</span><b>%s %s</b>", i + 1,
			  lode_duration_text(metrics->cost, cost), lode_share_text(metrics->cost, whole, share));
	put_bar(page, metrics, widest);
	lode_buffer_text(page->buffer, "<span></span><span></span><span class=leaf>");
	if (mined->common_length[i])
		put_frame(page, mined->common[i][mined->common_length[i] - 1]);
	lode_buffer_text(page->buffer, "</span></summary>\n");
}

static void put_metrics(struct page *page, size_t i)
{
	const struct lode_mined_group *group = &page->report->mined->cluster_groups[i];
	const struct lode_metrics *metrics = &group->metrics;
	char a[LODE_UNITS_TEXT], b[LODE_UNITS_TEXT];

	lode_buffer_text(page->buffer, "<p>");
	if (metrics->sure)
		lode_buffer_print(page->buffer, "95%% between %s and %s; ", lode_duration_text(metrics->low, a),
				  lode_duration_text(metrics->high, b));
	lode_buffer_print(page->buffer, "%s streams, %s ", lode_count_text(metrics->streams, a),
			  lode_count_text(metrics->events, b));
	lode_buffer_print(page->buffer, "%s of %s on average; %zu patterns; id <code>%s</code></p>\n", kind_word(page),
			  lode_duration_text(metrics->average, a), page->report->mined->clusters.items[i].count, group->id);
}

static void put_variant(struct page *page, const struct lode_mine_variant *variant, size_t patterns)
{
	lode_buffer_print(page->buffer, "<div class=variant>%u of %zu: ", variant->patterns, patterns);
	if (!variant->length)
		lode_buffer_text(page->buffer, "nothing");
	for (uint32_t i = 0; i < variant->length; i++) {
		if (i)
			lode_buffer_text(page->buffer, " → ");
		put_frame(page, variant->frames[i]);
	}
	lode_buffer_text(page->buffer, "</div>\n");
}

static void put_frames(struct page *page, size_t i)
{
	const struct lode_mined *mined = page->report->mined;
	struct lode_mine_variants variants = { 0 };
	size_t at = 0;

	if (lode_mine_find_variants(page->report, i, &variants) < 0)
		page->buffer->failed = 1;
	lode_buffer_text(page->buffer, "<code>");
	for (size_t gap = 0; gap <= mined->common_length[i]; gap++) {
		for (; at < variants.count && variants.items[at].gap == gap; at++)
			put_variant(page, &variants.items[at], mined->clusters.items[i].count);
		if (gap == mined->common_length[i])
			break;
		lode_buffer_text(page->buffer, "<div class=frame>");
		put_frame(page, mined->common[i][gap]);
		lode_buffer_text(page->buffer, "</div>\n");
	}
	lode_buffer_text(page->buffer, "</code>");
	lode_mine_variants_release(&variants);
}

static void put_examples(struct page *page, size_t i)
{
	const struct lode_strings *strings = &page->report->area->dictionary.frames.strings;
	struct lode_mine_example examples[EXAMPLES];
	size_t count = lode_mine_examples(page->report, i, EXAMPLES, examples);
	char cost[LODE_UNITS_TEXT], longest[LODE_UNITS_TEXT], at[LODE_UNITS_TEXT];

	lode_buffer_text(page->buffer, "<table><tr><th>stream<th>host<th class=n>cost there<th class=n>longest"
				       "<th class=n>at<th class=n>thread\n");
	for (size_t k = 0; k < count; k++) {
		const struct lode_area_row *row = examples[k].row;
		uint64_t first = examples[k].stream->first_t;

		lode_buffer_text(page->buffer, "<tr><td>");
		put_text(page, lode_strings_get(strings, examples[k].stream->name));
		lode_buffer_text(page->buffer, "<td>");
		put_text(page, lode_strings_get(strings, examples[k].stream->host));
		lode_buffer_print(page->buffer, "<td class=n>%s<td class=n>%s<td class=n>+%s<td class=n>%u\n",
				  lode_duration_text(examples[k].cost, cost), lode_duration_text(row->longest, longest),
				  lode_duration_text(row->longest_t > first ? row->longest_t - first : 0, at),
				  row->longest_thread);
	}
	lode_buffer_text(page->buffer, "</table>\n");
}

void lode_mine_html(const struct lode_mine_report *report, struct lode_buffer *buffer)
{
	struct page page = { .report = report, .buffer = buffer };
	size_t shown = lode_mine_shown(report);
	uint64_t widest = 1;

	for (size_t i = 0; i < shown; i++) {
		const struct lode_metrics *metrics = &report->mined->cluster_groups[i].metrics;
		/* An interval of few streams is wide; a page of whiskers would have no bars. */
		uint64_t most = lode_add_saturating(metrics->cost, metrics->cost / 2);
		uint64_t width = metrics->high < most ? metrics->high : most;

		widest = width > widest ? width : widest;
	}
	lode_html_begin(buffer, report->corpus);
	put_head(&page);
	for (size_t i = 0; i < shown; i++) {
		lode_buffer_print(buffer, "<details%s>", i < 3 ? " open" : "");
		put_summary(&page, i, widest);
		put_metrics(&page, i);
		put_frames(&page, i);
		put_examples(&page, i);
		lode_buffer_text(buffer, "</details>\n");
	}
	lode_html_end(buffer);
	lode_buffer_release(&page.text);
}
