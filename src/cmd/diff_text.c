/*
 * The result of lode diff for people: the function to look at first, the heat map of the
 * first paths (the paper's Figure 7), and the paths, function by function.
 */
#include "base/memory.h"
#include "base/units.h"
#include "cmd/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEAR	  6  /* functions next to the leaf that are always shown */
#define HOT_SHARE 20 /* functions with a twentieth of what the hottest takes more are, too */
#define DISTANCE  3  /* neighbours of the hottest function that are marked in the heat map */
#define CELL	  3  /* columns of a function there */

/* A path that is shown, and how many behind it have the same hottest node. */
struct shown {
	const struct lode_diff_path *path;
	size_t rank;
	size_t alike;
};

struct page {
	const struct lode_diff_report *report;
	const struct lode_terminal *terminal;
	struct lode_buffer *buffer;
	struct lode_buffer text; /* room for a frame's text */
	struct lode_diff_functions functions;
	struct shown *shown;
	size_t shown_count;
	size_t shown_capacity;
	int64_t hottest; /* what the hottest of all functions that are shown takes more */
	int all_frames;
};

static const char *style(const struct page *page, enum lode_style which)
{
	return lode_style(page->terminal, which);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void put_frame(struct page *page, uint32_t node)
{
	const struct lode_dictionary *dictionary = page->report->diff->dictionary;

	lode_buffer_clear(&page->text);
	lode_frames_text(&dictionary->frames, dictionary->tree.nodes[node].frame, &page->text);
	lode_buffer_byte(&page->text, '\0');
	page->buffer->failed |= page->text.failed;
	if (!page->text.failed)
		lode_text_safe(page->buffer, page->text.bytes);
}

/* `+30ms`, `-250us`. */
static const char *signed_text(int64_t number, char text[LODE_UNITS_TEXT])
{
	char plain[LODE_UNITS_TEXT];

	lode_duration_text(number < 0 ? -(uint64_t)number : (uint64_t)number, plain);
	snprintf(text, LODE_UNITS_TEXT, "%c%.30s", number < 0 ? '-' : '+', plain);
	return text;
}

/* ---- which paths ---- */

static struct shown *shown_with(struct page *page, uint32_t hottest)
{
	for (size_t i = 0; i < page->shown_count; i++)
		if (page->shown[i].path->hottest == hottest)
			return &page->shown[i];
	return NULL;
}

static void choose_paths(struct page *page)
{
	const struct lode_diff_report *report = page->report;
	const struct lode_diff *diff = report->diff;

	for (size_t i = 0; i < diff->path_count && !page->buffer->failed; i++) {
		const struct lode_diff_path *path = &diff->paths[i];
		struct shown *same;

		if (path->cost <= 0 || (report->fits && !report->fits[path->leaf]))
			continue;
		same = page->all_frames ? NULL : shown_with(page, path->hottest);
		if (same) {
			same->alike++;
			continue;
		}
		if (report->top && page->shown_count == report->top)
			continue;
		if (lode_grow(&page->shown, &page->shown_capacity, page->shown_count + 1,
			      sizeof(*page->shown)) < 0)
			page->buffer->failed = 1;
		else
			page->shown[page->shown_count++] = (struct shown){ path, i + 1, 0 };
		if (lode_diff_delta(diff, path->hottest) > page->hottest)
			page->hottest = lode_diff_delta(diff, path->hottest);
	}
}

/* ---- the head ---- */

static void put_side(struct page *page, const char *title, const struct lode_diff_side *side)
{
	char streams[LODE_UNITS_TEXT], events[LODE_UNITS_TEXT];

	lode_buffer_print(page->buffer, "%-10s", title);
	lode_text_safe(page->buffer, side->corpus);
	lode_buffer_print(
		page->buffer, ": %s stream%s, %s event%s\n",
		lode_count_text(side->latency->stream_count, streams), plural(side->latency->stream_count),
		lode_count_text(side->latency->input.events, events), plural(side->latency->input.events));
}

static void put_cause(struct page *page)
{
	const struct lode_root_cause *cause = &page->report->diff->cause;
	char more[LODE_UNITS_TEXT];

	if (!cause->node) {
		lode_buffer_text(page->buffer, "cause     none: no path takes more than in the base\n");
		return;
	}
	lode_buffer_print(page->buffer, "cause     %s", style(page, LODE_BOLD));
	put_frame(page, cause->node);
	lode_buffer_print(page->buffer, "%s, %s; %s", style(page, LODE_PLAIN), lode_layer_words(cause->layer),
			  signed_text(cause->more, more));
	if (cause->caller) {
		lode_buffer_text(page->buffer, cause->is_new ? "; never before called by " : "; called by ");
		put_frame(page, cause->caller);
	}
	lode_buffer_byte(page->buffer, '\n');
}

static void put_head(struct page *page)
{
	const struct lode_diff_report *report = page->report;
	char text[LODE_UNITS_TEXT], other[LODE_UNITS_TEXT];
	size_t sure = 0;

	put_side(page, "base", &report->base);
	put_side(page, "slow", &report->slow);
	lode_buffer_print(page->buffer, "differ    %s a stream", signed_text(report->diff->difference, text));
	for (size_t i = 0; i < report->diff->path_count; i++)
		sure += report->diff->paths[i].q < LODE_DIFF_LEVEL && report->diff->paths[i].cost > 0;
	if (report->diff->tested)
		lode_buffer_print(
			page->buffer, "; %s of %s path%s surely take%s more, others may by chance\n",
			lode_count_text(sure, text), lode_count_text(report->diff->path_count, other),
			plural(report->diff->path_count), sure == 1 ? "s" : "");
	else
		lode_buffer_text(page->buffer,
				 "; too few streams to tell it from chance (four a side would do)\n");
	put_cause(page);
}

/* ---- the heat map ---- */

/* From 0, nothing, to 4: by powers of ten below the hottest function of all paths that are shown. */
static int heat_of(const struct page *page, uint32_t node)
{
	double delta = (double)lode_diff_delta(page->report->diff, node);
	double level = delta > 0 ? 4 + log10(delta / (double)page->hottest) : 0;

	return level <= 0 ? delta > 0 : level < 1 ? 1 : (int)ceil(level);
}

static void put_cell(struct page *page, uint32_t node, size_t at, size_t hottest)
{
	static const char signs[] = " .-+#";
	static const enum lode_style styles[] = { LODE_DIM, LODE_BLUE, LODE_GREEN, LODE_YELLOW, LODE_RED };
	size_t distance = at > hottest ? at - hottest : hottest - at;
	int heat = heat_of(page, node);

	lode_buffer_text(page->buffer, style(page, styles[heat]));
	lode_buffer_byte(page->buffer, signs[heat]);
	lode_buffer_byte(page->buffer, distance <= DISTANCE ? (char)('0' + distance) : signs[heat]);
	lode_buffer_text(page->buffer, style(page, LODE_PLAIN));
	lode_buffer_byte(page->buffer, ' ');
}

static void put_row(struct page *page, const struct shown *shown)
{
	size_t cells = page->terminal->width > 60 ? (page->terminal->width - 10) / CELL : 16;
	size_t hottest = 0, first = 0;

	if (lode_diff_functions_of(page->report->diff, shown->path->leaf, &page->functions) < 0) {
		page->buffer->failed = 1;
		return;
	}
	for (size_t i = 0; i < page->functions.count; i++)
		if (page->functions.items[i].node == shown->path->hottest)
			hottest = i;
	/* What does not fit is left out at the root, but never the hottest. */
	if (page->functions.count > cells)
		first = page->functions.count - cells < hottest ? page->functions.count - cells : hottest;
	lode_buffer_print(page->buffer, "  #%-4zu%c ", shown->rank, first ? '<' : ' ');
	for (size_t i = first; i < page->functions.count && i < first + cells; i++)
		put_cell(page, page->functions.items[i].node, i, hottest);
	lode_buffer_print(page->buffer, "%s\n", first + cells < page->functions.count ? ">" : "");
}

static void put_map(struct page *page)
{
	char text[LODE_UNITS_TEXT];

	if (!page->shown_count)
		return;
	lode_buffer_print(page->buffer,
			  "\nheat      functions from root to leaf; the hottest is 0, its neighbours are "
			  "numbered by distance\n"
			  "          # up to %s more, + up to a tenth of it, - a hundredth, . less\n",
			  lode_duration_text((uint64_t)page->hottest, text));
	for (size_t i = 0; i < page->shown_count; i++)
		put_row(page, &page->shown[i]);
}

/* ---- paths ---- */

static void put_function(struct page *page, const struct lode_diff_function *function)
{
	const struct lode_diff *diff = page->report->diff;
	char more[LODE_UNITS_TEXT], base[LODE_UNITS_TEXT], slow[LODE_UNITS_TEXT], mark[16] = "";
	int64_t delta = lode_diff_delta(diff, function->node);
	int hottest = function->rank == 1 && delta > 0;

	if (function->rank <= 3 && delta > 0)
		snprintf(mark, sizeof(mark), "%u", function->rank);
	lode_buffer_print(page->buffer, "  %s%1s %8s %8s %8s  ", hottest ? style(page, LODE_RED) : "", mark,
			  signed_text(delta, more),
			  diff->known[function->node] ? lode_duration_text(diff->base[function->node], base)
						      : "new",
			  lode_duration_text(diff->slow[function->node], slow));
	put_frame(page, function->node);
	lode_buffer_print(page->buffer, "%s\n", hottest ? style(page, LODE_PLAIN) : "");
}

static int matters(const struct page *page, const struct shown *shown, size_t at)
{
	const struct lode_diff *diff = page->report->diff;
	int64_t delta = lode_diff_delta(diff, page->functions.items[at].node);

	return page->all_frames || !at || at + NEAR >= page->functions.count ||
	       delta > lode_diff_delta(diff, shown->path->hottest) / HOT_SHARE ||
	       page->functions.items[at].node == page->report->diff->cause.node;
}

static void put_gap(struct page *page, unsigned *hidden)
{
	if (*hidden)
		lode_buffer_print(page->buffer, "                                 %s%s %u caller%s%s\n",
				  style(page, LODE_DIM), page->terminal->utf8 ? "…" : "...", *hidden,
				  plural(*hidden), style(page, LODE_PLAIN));
	*hidden = 0;
}

static void put_path(struct page *page, const struct shown *shown)
{
	const struct lode_diff_path *path = shown->path;
	char text[LODE_UNITS_TEXT];
	unsigned hidden = 0;

	if (lode_diff_functions_of(page->report->diff, path->leaf, &page->functions) < 0) {
		page->buffer->failed = 1;
		return;
	}
	lode_buffer_print(page->buffer, "\n%s#%zu  %s a stream%s%s", style(page, LODE_BOLD), shown->rank,
			  signed_text(path->cost, text), style(page, LODE_PLAIN),
			  path->is_new ? ", new" : "");
	if (page->report->diff->tested)
		lode_buffer_print(page->buffer,
				  path->q < LODE_DIFF_LEVEL ? ", surely (p = %.2g)"
							    : ", maybe by chance (p = %.2g)",
				  path->p);
	if (shown->alike)
		lode_buffer_print(page->buffer, "; %zu more path%s with the same hottest function",
				  shown->alike, plural(shown->alike));
	lode_buffer_print(page->buffer, "\n  %s      more     base     slow  function%s\n",
			  style(page, LODE_DIM), style(page, LODE_PLAIN));
	for (size_t i = 0; i < page->functions.count; i++) {
		if (!matters(page, shown, i)) {
			hidden++;
			continue;
		}
		put_gap(page, &hidden);
		put_function(page, &page->functions.items[i]);
	}
}

void lode_diff_text(const struct lode_diff_report *report, int all_frames,
		    const struct lode_terminal *terminal, struct lode_buffer *buffer)
{
	struct page page = {
		.report = report, .terminal = terminal, .buffer = buffer, .all_frames = all_frames
	};

	choose_paths(&page);
	put_head(&page);
	put_map(&page);
	for (size_t i = 0; i < page.shown_count; i++)
		put_path(&page, &page.shown[i]);
	lode_buffer_release(&page.text);
	lode_diff_functions_release(&page.functions);
	lode_free(page.shown);
}
