/* The result of lode coverage as text: see coverage_text.h. */
#include "text/coverage_text.h"

#include "base/safe_text.h"
#include "base/units.h"
#include "text/grid.h"

#include <stdio.h>
#include <string.h>

#define NAME_WIDTH   32
#define CHART_HEIGHT 12
#define CHART_WIDTH  64

/* What the pieces of the text write to. */
struct page {
	const struct lode_coverage_report *report;
	const struct lode_coverage *coverage;
	const struct lode_look *look;
	struct lode_buffer *buffer;
	size_t top;
};

static const char *share(const struct page *page, uint64_t cost, char text[LODE_UNITS_TEXT])
{
	return lode_share_text(cost, page->coverage->whole, text);
}

static void add_title(struct page *page, const char *title)
{
	lode_buffer_print(page->buffer, "\n%s%s%s\n", lode_style(page->look, LODE_BOLD), title,
			  lode_style(page->look, LODE_PLAIN));
}

/* What `--all` would show. */
static void add_rest(struct page *page, size_t count)
{
	if (count > page->top)
		lode_buffer_print(page->buffer, "  and %zu more; '--all' shows them\n", count - page->top);
}

/* ---- the numbers ---- */

static void add_summary(struct page *page)
{
	const struct lode_coverage *coverage = page->coverage;
	char part[LODE_UNITS_TEXT], cost[LODE_UNITS_TEXT], whole[LODE_UNITS_TEXT], count[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "coverage  %s%s%s: signatures match %s of %s %s\n",
			  lode_style(page->look, LODE_BOLD), share(page, coverage->cost, part),
			  lode_style(page->look, LODE_PLAIN), lode_duration_text(coverage->cost, cost),
			  lode_duration_text(coverage->whole, whole),
			  coverage->from_symptoms ? "that symptoms took"
						  : "that all its events cost (no symptoms are looked at)");
	lode_buffer_print(page->buffer, "scope     %s, %s streams\n", lode_scope_name(page->report->area->scope),
			  lode_count_text(page->report->area->stream_count, count));
	if (coverage->ignored)
		lode_buffer_print(page->buffer, "ignored   %zu signature%s\n", coverage->ignored,
				  lode_plural(coverage->ignored));
}

static void add_signatures(struct page *page)
{
	static const struct lode_grid_column columns[] = {
		{ "coverage", 2, 8 }, { "together", 2, 8 }, { "streams", 2, 8 }, { "cost", 2, 8 },
		{ "state", 2, -5 },   { "name", 2, 0 },     { NULL, 0, 0 },
	};
	struct lode_grid grid = { .buffer = page->buffer, .columns = columns };
	const struct lode_coverage *coverage = page->coverage;

	add_title(page, "signatures");
	lode_grid_titles(&grid);
	for (size_t i = 0; i < coverage->count && i < page->top; i++) {
		const struct lode_covering *item = &coverage->items[i];
		const struct lode_signature *signature = lode_coverage_signature(page->report, i);

		lode_grid_share(&grid, lode_coverage_cost(item), coverage->whole);
		lode_grid_share(&grid, item->cumulative, coverage->whole);
		lode_grid_count(&grid, item->streams);
		lode_grid_duration(&grid, lode_coverage_cost(item));
		lode_grid_text(&grid, lode_signature_state_name(signature->state));
		lode_grid_text(&grid, signature->name);
		lode_grid_end(&grid);
	}
	add_rest(page, coverage->count);
}

/* ---- streams to open ---- */

static void add_step(struct page *page, struct lode_grid *grid, const struct lode_opening_curve *curve,
		     const struct lode_opened *step)
{
	char order[LODE_UNITS_TEXT];

	snprintf(order, sizeof(order), "%llu", (unsigned long long)step->opened);
	lode_grid_text(grid, order);
	lode_grid_share(grid, step->cost, page->coverage->whole);
	lode_grid_text(grid, lode_coverage_stream(page->report, step->stream));
	for (size_t i = 0; i < step->count; i++) {
		lode_buffer_text(page->buffer, i ? ", " : "  ");
		lode_text_safe(page->buffer,
			       lode_coverage_signature(page->report, curve->revealed[step->first + i])->name);
	}
	lode_grid_end(grid);
}

static void add_streams(struct page *page)
{
	static const struct lode_grid_column columns[] = {
		{ "order", 2, 5 }, { "covered", 2, 8 }, { "stream", 2, -NAME_WIDTH },
		{ "shows", 2, 0 }, { NULL, 0, 0 },
	};
	struct lode_grid grid = { .buffer = page->buffer, .columns = columns };
	const struct lode_opening_curve *curve = &page->coverage->curves[LODE_OPENING_STACKMINE];

	if (!curve->count)
		return;
	add_title(page,
		  page->coverage->paper_order ? "streams to open, any for the next signature" : "streams to open");
	lode_grid_titles(&grid);
	for (size_t i = 0; i < curve->count && i < page->top; i++)
		add_step(page, &grid, curve, &curve->steps[i]);
	add_rest(page, curve->count);
}

static void add_level(struct lode_grid *grid, const struct lode_coverage *coverage,
		      const struct lode_coverage_level *level)
{
	lode_grid_share(grid, level->cost, coverage->whole);
	lode_grid_number(grid, level->streams[LODE_OPENING_STACKMINE], 0);
	lode_grid_number(grid, level->streams[LODE_OPENING_RANDOM], 1);
	lode_grid_number(grid, level->streams[LODE_OPENING_GREEDY_TOTAL], 0);
	lode_grid_number(grid, level->streams[LODE_OPENING_GREEDY_MAX], 0);
	lode_grid_end(grid);
}

static void add_levels(struct page *page)
{
	static const struct lode_grid_column columns[] = {
		{ "covered", 2, 8 },       { "StackMine", 2, 9 },   { "Random", 2, 8 },
		{ "Greedy-Total", 2, 12 }, { "Greedy-Max", 2, 10 }, { NULL, 0, 0 },
	};
	struct lode_grid grid = { .buffer = page->buffer, .columns = columns };
	const struct lode_coverage *coverage = page->coverage;

	if (!coverage->level_count)
		return;
	add_title(page, "streams that have to be opened, by order");
	lode_grid_titles(&grid);
	for (size_t i = 0; i < coverage->level_count && i < page->top; i++)
		add_level(&grid, coverage, &coverage->levels[i]);
	add_rest(page, coverage->level_count);
	lode_buffer_print(page->buffer,
			  "  on average StackMine opens %.1f%% of the streams of Random, %.1f%% of Greedy-Total, "
			  "%.1f%% of Greedy-Max\n",
			  100 * coverage->ratio[LODE_OPENING_RANDOM],
			  100 * coverage->ratio[LODE_OPENING_GREEDY_TOTAL],
			  100 * coverage->ratio[LODE_OPENING_GREEDY_MAX]);
}

/* ---- the chart ---- */

/* What an order has covered once this many streams are open. */
static uint64_t covered_after(const struct lode_coverage *coverage, enum lode_opening opening, double opened)
{
	uint64_t cost = 0;

	for (size_t i = 0; i < coverage->level_count && coverage->levels[i].streams[opening] <= opened; i++)
		cost = coverage->levels[i].cost;
	return cost;
}

static double most_streams(const struct lode_coverage *coverage)
{
	const struct lode_coverage_level *last = &coverage->levels[coverage->level_count - 1];
	double most = 0;

	for (int opening = 0; opening < LODE_OPENINGS; opening++)
		most = last->streams[opening] > most ? last->streams[opening] : most;
	return most;
}

/* A letter for each order where its curve goes; StackMine is on top. */
static void draw(const struct lode_coverage *coverage, double most, char cells[CHART_HEIGHT][CHART_WIDTH + 1])
{
	static const char letters[LODE_OPENINGS] = { 'S', 'R', 'T', 'M' };

	for (int row = 0; row < CHART_HEIGHT; row++) {
		memset(cells[row], ' ', CHART_WIDTH);
		cells[row][CHART_WIDTH] = '\0';
	}
	for (int opening = LODE_OPENINGS - 1; opening >= 0; opening--)
		for (int column = 0; column < CHART_WIDTH; column++) {
			double opened = 1 + (most - 1) * column / (CHART_WIDTH - 1);
			double height = (double)covered_after(coverage, (enum lode_opening)opening, opened) /
					(double)coverage->cost;

			cells[(int)((1 - height) * (CHART_HEIGHT - 1) + 0.5)][column] = letters[opening];
		}
}

static void add_chart(struct page *page)
{
	const struct lode_coverage *coverage = page->coverage;
	double most = coverage->level_count ? most_streams(coverage) : 0;
	char cells[CHART_HEIGHT][CHART_WIDTH + 1], label[32];

	if (most < 2)
		return;
	draw(coverage, most, cells);
	add_title(
		page,
		"coverage after opening this many streams (S StackMine, R Random, T Greedy-Total, M Greedy-Max)");
	for (int row = 0; row < CHART_HEIGHT; row++) {
		char part[LODE_UNITS_TEXT] = "";

		if (row == 0)
			share(page, coverage->cost, part);
		else if (row == CHART_HEIGHT - 1)
			snprintf(part, sizeof(part), "0%%");
		for (size_t end = CHART_WIDTH; end && cells[row][end - 1] == ' '; end--)
			cells[row][end - 1] = '\0';
		lode_buffer_print(page->buffer, "  %7s |%s\n", part, cells[row]);
	}
	lode_buffer_text(page->buffer, "          +");
	for (int column = 0; column < CHART_WIDTH; column++)
		lode_buffer_byte(page->buffer, '-');
	snprintf(label, sizeof(label), "%.0f streams", most);
	lode_buffer_print(page->buffer, "\n           1%*s\n", CHART_WIDTH - 1, label);
}

void lode_coverage_text(const struct lode_coverage_report *report, const struct lode_look *look, size_t top,
			struct lode_buffer *buffer)
{
	struct page page = { report, report->coverage, look, buffer, top };

	add_summary(&page);
	add_signatures(&page);
	add_streams(&page);
	add_levels(&page);
	add_chart(&page);
}
