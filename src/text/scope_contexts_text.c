/* Which requests or queries the thread of a symptom worked on: the line of scope_words.h. */
#include "base/units.h"
#include "text/scope_words.h"

#include <stdlib.h>

/* Most that are named, and the least share of the symptom that is. */
#define MAX_CONTEXTS 3
#define MIN_SHARE    20 /* contexts below 1/20 are left out */

struct context_time {
	uint32_t context;
	uint64_t cost;
};

struct context_times {
	struct context_time *items;
	size_t count;
	size_t capacity;
};

static int compare_contexts(const void *left, const void *right)
{
	const struct context_time *a = left, *b = right;

	return a->context < b->context ? -1 : a->context > b->context;
}

/* Costliest first. */
static int compare_costs(const void *left, const void *right)
{
	const struct context_time *a = left, *b = right;

	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return compare_contexts(a, b);
}

/* Returns how many there are. */
static size_t join_contexts(struct context_time *times, size_t count)
{
	size_t kept = 0;

	qsort(times, count, sizeof(*times), compare_contexts);
	for (size_t i = 0; i < count; i++) {
		if (kept && times[kept - 1].context == times[i].context)
			times[kept - 1].cost = lode_add_saturating(times[kept - 1].cost, times[i].cost);
		else
			times[kept++] = times[i];
	}
	qsort(times, kept, sizeof(*times), compare_costs);
	return kept;
}

static void add(struct lode_scope_page *page, struct context_times *times, uint32_t context, uint64_t cost)
{
	struct context_time one = { context, cost };

	if (context && LODE_APPEND(times->items, times->count, times->capacity, one) < 0)
		page->buffer->failed = 1;
}

/* Adds the time of a line of the thread itself: a wait, whatever others did meanwhile, or the samples of a run. */
static void add_line(struct lode_scope_page *page, const struct lode_scope_line *line, struct context_times *times)
{
	const struct lode_events *events = page->report->stream.events;

	if (line->type == LODE_LINE_STEP || line->type == LODE_LINE_WAIT)
		add(page, times, lode_events_context(&events[LODE_WAIT], line->event), line->length);
	for (size_t i = line->first; line->type == LODE_LINE_RUN && i <= line->last; i++) {
		const struct lode_part *part = &page->found->parts.items[i];

		add(page, times, lode_events_context(&events[part->type], part->event), part->cost);
	}
}

void lode_put_contexts(struct lode_scope_page *page, const struct lode_scope_lines *lines)
{
	uint64_t length = page->found->symptom.t1 - page->found->symptom.t0;
	struct context_times times = { 0 };
	char share[LODE_UNITS_TEXT];
	size_t i;

	for (i = 0; i < lines->count; i++)
		if (!lines->items[i].depth)
			add_line(page, &lines->items[i], &times);
	times.count = times.count ? join_contexts(times.items, times.count) : 0;
	for (i = 0; i < times.count && i < MAX_CONTEXTS && times.items[i].cost >= length / MIN_SHARE; i++) {
		lode_buffer_text(page->buffer, i ? ", " : "  while serving ");
		lode_put_string(page, times.items[i].context);
		lode_buffer_print(page->buffer, " (%s)", lode_share_text(times.items[i].cost, length, share));
	}
	if (i)
		lode_buffer_byte(page->buffer, '\n');
	lode_free(times.items);
}
