/*
 * The result of lode diff for people: the function to look at first, the heat map of the
 * first paths (the paper's Figure 7), and the paths, function by function.
 */
#include "base/memory.h"
#include "base/safe_text.h"
#include "base/units.h"
#include "text/checks_text.h"
#include "text/diff_text.h"
#include "text/latency_lines.h"
#include "text/grid.h"

#include <stdlib.h>
#include <math.h>
#include <stdio.h>

#define HOT_SHARE 20 /* functions with a twentieth of what the hottest takes more are shown */

struct page {
	const struct lode_diff_report *report;
	struct lode_lines lines;
	struct lode_buffer *buffer;
	struct lode_grid grid; /* of the functions of a path */
	struct lode_diff_functions functions;
	struct lode_diff_chosen chosen;
	uint32_t *nodes; /* of the path's functions, and whether each is shown */
	uint8_t *shown;
	size_t nodes_capacity;
	size_t shown_capacity;
	int all_frames;
};

static const struct lode_grid_column columns[] = {
	{ "", 2, 1 },     { "more", 1, 8 },     { "all", 1, 8 }, { "base", 1, 8 },
	{ "slow", 1, 8 }, { "function", 2, 0 }, { NULL, 0, 0 },
};

static const char *style(const struct page *page, enum lode_style which)
{
	return lode_style(page->lines.look, which);
}

/* `+30ms`, `-250us`. */
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

	lode_buffer_print(page->buffer, "%-10s", title);
	lode_text_safe(page->buffer, side->corpus);
	if (side->streams) {
		lode_buffer_byte(page->buffer, ' ');
		lode_text_safe(page->buffer, side->streams);
	}
	lode_buffer_print(page->buffer, ": %s stream%s, %s event%s",
			  lode_count_text(side->latency->stream_count, streams),
			  lode_plural(side->latency->stream_count),
			  lode_count_text(side->latency->input.events, events),
			  lode_plural(side->latency->input.events));
	/* A second in each of two threads is more than a program of 0.6 s seems to have. */
	if (side->latency->input.threads > side->latency->stream_count)
		lode_buffer_print(page->buffer, " of %s threads; times are sums over a stream's threads",
				  lode_count_text(side->latency->input.threads, events));
	lode_buffer_byte(page->buffer, '\n');
}

static void put_no_cause(struct page *page)
{
	const struct lode_diff *diff = page->report->diff;
	struct lode_buffer *buffer = page->buffer;

	lode_buffer_text(buffer, "cause     none: ");
	if (diff->difference > 0 && diff->no_cause == LODE_CAUSE_TOTAL_UNSURE) {
		lode_lines_frame(&page->lines, diff->cause_hint);
		lode_buffer_text(buffer, " surely takes more, but the runs as a whole maybe by chance ('--guess' "
					 "names a cause anyway)\n");
		return;
	}
	if (!diff->path_count || diff->paths[0].cost <= 0)
		lode_buffer_text(buffer, "no path takes more than in the base\n");
	else if (diff->no_cause == LODE_CAUSE_NOT_SLOWER && !lode_diff_is_sure(diff))
		lode_buffer_text(buffer, "no significant difference\n");
	else if (diff->no_cause == LODE_CAUSE_NOT_SLOWER)
		lode_buffer_text(buffer, "the runs do not take more time than those of the base\n");
	else if (diff->no_cause == LODE_CAUSE_MOVED)
		lode_buffer_text(buffer, "what takes more was only moved: its callers take no more than before\n");
	else if (lode_diff_is_sure(diff))
		lode_buffer_text(buffer, "the runs take more, but no function by itself surely does\n");
	else
		lode_buffer_text(buffer, "no significant difference ('--guess' names the likeliest anyway)\n");
}

static void put_cause(struct page *page)
{
	const struct lode_root_cause *cause = &page->report->diff->cause;
	char more[LODE_UNITS_TEXT];

	if (!cause->node) {
		put_no_cause(page);
		return;
	}
	lode_buffer_print(page->buffer, "%-10s%s", cause->sure ? "cause" : "guess", style(page, LODE_BOLD));
	lode_lines_frame(&page->lines, cause->node);
	lode_buffer_print(page->buffer, "%s, %s; %s per stream\n", style(page, LODE_PLAIN),
			  lode_layer_words(cause->layer), signed_text(cause->more, more));
	if (cause->caller) {
		lode_buffer_text(page->buffer,
				 cause->is_new ? "          never before called by " : "          called by ");
		lode_lines_frame(&page->lines, cause->caller);
		lode_buffer_byte(page->buffer, '\n');
	}
}

/* "Probably" is what a test of the whole run alone says, beside which nothing else was tested. */
static const char *total_words(const struct lode_diff *diff)
{
	if (diff->difference > 0 && diff->chance.q < LODE_DIFF_LEVEL)
		return "surely";
	return lode_diff_total_is_confirmed(diff) ? "probably" : "maybe by chance";
}

static void put_differ(struct page *page)
{
	const struct lode_diff *diff = page->report->diff;
	char text[LODE_UNITS_TEXT], other[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "differ    %s per stream", signed_text(diff->difference, text));
	if (diff->chance.tested)
		lode_buffer_print(page->buffer, ", %s (p = %.2g); %s of %s path%s surely take%s more",
				  total_words(diff), diff->chance.p, lode_count_text(diff->chance.sure_paths, text),
				  lode_count_text(diff->path_count, other), lode_plural(diff->path_count),
				  diff->chance.sure_paths == 1 ? "s" : "");
	lode_buffer_text(page->buffer, "\nchance    ");
	lode_diff_chance_words(page->report, page->buffer);
	lode_buffer_byte(page->buffer, '\n');
}

/* States that take more or less, by a hundredth of all time that counts, in the order of what they take more. */
static void put_states(struct page *page)
{
	const uint64_t *base = page->report->base.states, *slow = page->report->slow.states;
	uint64_t all = 0, waits = 0;
	unsigned done = 0;
	const char *lead = "states    ";
	char text[LODE_UNITS_TEXT];

	for (int state = 0; base && slow && state < LODE_STATES; state++)
		if (lode_state_counts((enum lode_state)state)) {
			all = lode_add_saturating(all, lode_add_saturating(base[state], slow[state]));
			waits |= state == LODE_STATE_RUNNING ? 0 : base[state] | slow[state];
		}
	for (int rest = waits ? LODE_STATES : 0; rest--;) {
		int64_t most = INT64_MIN;
		int next = 0;

		for (int state = 0; state < LODE_STATES; state++)
			if (!(done & 1u << state) && (int64_t)(slow[state] - base[state]) > most) {
				most = (int64_t)(slow[state] - base[state]);
				next = state;
			}
		done |= 1u << next;
		if (!lode_state_counts((enum lode_state)next) || !most || (uint64_t)llabs(most) < all / 100)
			continue;
		lode_buffer_print(page->buffer, "%s%s %s", lead, lode_state_name((enum lode_state)next),
				  signed_text(most, text));
		lead = ", ";
	}
	lode_buffer_text(page->buffer, *lead == ',' ? " per stream\n" : "");
}

static void put_distance(struct page *page)
{
	const struct lode_diff_distance *distance = page->report->distance;

	if (distance && distance->path)
		lode_buffer_print(page->buffer, "truth     p_min = %zu, f_min = %zu\n", distance->path,
				  distance->function);
	else if (distance)
		lode_buffer_text(page->buffer, "truth     no path has such a function\n");
}

static void put_head(struct page *page)
{
	const struct lode_diff_report *report = page->report;

	if (report->checks)
		lode_checks_lines(report->checks, page->lines.look, page->buffer);
	put_side(page, "base", &report->base);
	put_side(page, "slow", &report->slow);
	put_differ(page);
	put_states(page);
	lode_lines_layers(&page->lines, report->diff->slow, report->diff->base,
			  report->diff->dictionary->tree.count);
	put_cause(page);
	put_distance(page);
}

static void put_heat(struct page *page)
{
	struct lode_heat heat;

	if (lode_heat_of_diff(&heat, page->report, &page->chosen, page->chosen.count) < 0)
		page->buffer->failed = 1;
	else
		lode_lines_heat(&page->lines, &heat);
	lode_heat_release(&heat);
}

/* ---- paths ---- */

/* `1.2ms`, `-30us`; nothing for 0. */
static const char *mean_text(double mean, char text[LODE_UNITS_TEXT])
{
	char plain[LODE_UNITS_TEXT];

	if (fabs(mean) < 0.5)
		return "";
	lode_duration_text((uint64_t)fmin(fabs(mean) + 0.5, 1e19), plain);
	snprintf(text, LODE_UNITS_TEXT, "%s%.30s", mean < 0 ? "-" : "", plain);
	return text;
}

/* A row; `texts`: more, all, base, slow. */
static void put_row(struct page *page, const struct lode_diff_function *function, int takes_more,
		    const char *const *texts)
{
	char mark[16] = "";

	if (function->rank <= 3 && takes_more)
		snprintf(mark, sizeof(mark), "%u", function->rank);
	lode_grid_text(&page->grid, mark);
	for (int i = 0; i < 4; i++)
		lode_grid_text(&page->grid, texts[i]);
	lode_grid_open(&page->grid);
	lode_lines_frame(&page->lines, function->node);
	lode_grid_end(&page->grid);
}

/* Means have no sum with all that is called. */
static void put_means(struct page *page, const struct lode_diff_function *function,
		      const struct lode_diff_path *path)
{
	const struct lode_diff *diff = page->report->diff;
	uint32_t node = function->node;
	double more = lode_diff_gain(diff, path, node);
	char texts[3][LODE_UNITS_TEXT];

	put_row(page, function, more > 0,
		(const char *const[]){ mean_text(more, texts[0]), "",
				       diff->known[node] ? mean_text(diff->base_means[node], texts[1]) : "new",
				       mean_text(diff->slow_means[node], texts[2]) });
}

static void put_function(struct page *page, const struct lode_diff_function *function)
{
	const struct lode_diff *diff = page->report->diff;
	uint32_t node = function->node;
	int64_t delta = lode_diff_delta(diff, node), all = diff->more[node];
	char texts[4][LODE_UNITS_TEXT];

	if (function->rank == 1 && delta > 0)
		lode_grid_style(&page->grid, page->lines.look, LODE_RED);
	put_row(page, function, delta > 0,
		(const char *const[]){ delta ? signed_text(delta, texts[0]) : "",
				       all ? signed_text(all, texts[1]) : "",
				       !diff->known[node] ? "new"
				       : diff->base[node] ? lode_duration_text(diff->base[node], texts[2])
							  : "",
				       diff->slow[node] ? lode_duration_text(diff->slow[node], texts[3]) : "" });
}

static int matters(const struct page *page, const struct lode_diff_choice *choice, uint32_t node)
{
	const struct lode_diff *diff = page->report->diff;

	return page->all_frames || node == diff->cause.node || node == diff->cause.caller ||
	       lode_diff_gain(diff, choice->path, node) >
		       lode_diff_gain(diff, choice->path, choice->path->hottest) / HOT_SHARE;
}

/* The functions of the path, and which of them are shown. */
static int choose_functions(struct page *page, const struct lode_diff_choice *choice)
{
	struct lode_diff_functions *functions = &page->functions;

	if (lode_diff_functions_of(page->report->diff, choice->path, functions) < 0 ||
	    lode_grow(&page->nodes, &page->nodes_capacity, functions->count, sizeof(*page->nodes)) < 0 ||
	    lode_grow(&page->shown, &page->shown_capacity, functions->count, sizeof(*page->shown)) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < functions->count; i++) {
		page->nodes[i] = functions->items[i].node;
		page->shown[i] = (uint8_t)matters(page, choice, page->nodes[i]);
	}
	lode_lines_choose(page->report->diff->dictionary, page->nodes, functions->count, page->shown);
	return 0;
}

/* A function takes less in all its contexts than in one of them where time was moved between them. */
static void put_alike(struct page *page, const struct lode_diff_choice *choice)
{
	const struct lode_diff *diff = page->report->diff;
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "\n    %zu more path%s with the same hottest function", choice->alike,
			  lode_plural(choice->alike));
	if (!diff->base_means)
		lode_buffer_print(page->buffer, "; in all contexts it takes %s per stream",
				  signed_text(lode_diff_function_of(diff, choice->path->hottest)->more, text));
}

static void put_title(struct page *page, const struct lode_diff_choice *choice)
{
	const struct lode_diff_path *path = choice->path;
	char text[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "\n%s#%zu  %s %s%s%s", style(page, LODE_BOLD), choice->rank,
			  signed_text(path->cost, text), lode_diff_per(page->report->diff),
			  style(page, LODE_PLAIN), path->is_new ? ", new" : "");
	if (page->report->diff->chance.tested)
		lode_buffer_print(page->buffer,
				  lode_diff_path_is_sure(path) ? ", surely (p = %.2g)"
							       : ", maybe by chance (p = %.2g)",
				  path->p);
	lode_buffer_text(page->buffer, "  ");
	lode_lines_who(&page->lines, lode_stack_who(page->report->diff->dictionary, path->hottest));
	if (choice->alike)
		put_alike(page, choice);
	lode_buffer_byte(page->buffer, '\n');
	lode_grid_style(&page->grid, page->lines.look, LODE_DIM);
	lode_grid_titles(&page->grid);
}

static void put_path(struct page *page, const struct lode_diff_choice *choice)
{
	size_t hidden = 0;

	if (choose_functions(page, choice) < 0) {
		page->buffer->failed = 1;
		return;
	}
	put_title(page, choice);
	for (size_t i = 0; i < page->functions.count; i++) {
		if (!page->shown[i]) {
			hidden++;
			continue;
		}
		lode_lines_gap(&page->lines, page->nodes, i - hidden, i, 41);
		if (page->report->diff->base_means)
			put_means(page, &page->functions.items[i], choice->path);
		else
			put_function(page, &page->functions.items[i]);
		hidden = 0;
	}
}

void lode_diff_text(const struct lode_diff_report *report, int all_frames, const struct lode_look *look,
		    struct lode_buffer *buffer)
{
	struct page page = {
		.report = report,
		.lines = { .dictionary = report->diff->dictionary, .look = look, .buffer = buffer },
		.buffer = buffer,
		.grid = { .buffer = buffer, .columns = columns },
		.all_frames = all_frames,
	};

	if (lode_diff_choose(report, all_frames, &page.chosen) < 0)
		buffer->failed = 1;
	put_head(&page);
	if (!report->diff->base_means)
		put_heat(&page); /* which is of times per stream */
	for (size_t i = 0; i < page.chosen.count; i++)
		put_path(&page, &page.chosen.items[i]);
	lode_diff_functions_release(&page.functions);
	lode_diff_chosen_release(&page.chosen);
	lode_free(page.nodes);
	lode_free(page.shown);
}
