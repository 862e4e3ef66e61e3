/* The events of a pattern or cluster as text: see mine_text.h. */
#include "base/memory.h"
#include "base/safe_text.h"
#include "base/units.h"
#include "text/mine_text.h"

/* Events of one stream that are shown; the rest is counted. */
#define SHOWN 20

/* What there is of the stream besides the events that were shown. */
void lode_mine_events_end(struct lode_mine_events_text *listing)
{
	char cost[LODE_UNITS_TEXT];

	if (listing->stream == LODE_NONE)
		return;
	if (listing->events > SHOWN)
		lode_buffer_print(listing->buffer, "  and %llu more\n",
				  (unsigned long long)(listing->events - SHOWN));
	lode_buffer_print(listing->buffer, "  %s%llu in all, %s%s\n", lode_style(listing->look, LODE_DIM),
			  (unsigned long long)listing->events, lode_duration_text(listing->cost, cost),
			  lode_style(listing->look, LODE_PLAIN));
}

static void begin_stream(struct lode_mine_events_text *listing, uint32_t stream)
{
	const struct lode_strings *strings = &listing->area->dictionary.frames.strings;

	lode_mine_events_end(listing);
	listing->stream = stream;
	listing->events = listing->cost = 0;
	lode_buffer_print(listing->buffer, "%s", lode_style(listing->look, LODE_BOLD));
	lode_text_safe(listing->buffer, lode_strings_get(strings, listing->area->streams[stream].name));
	lode_buffer_print(listing->buffer, "%s\n", lode_style(listing->look, LODE_PLAIN));
}

int lode_mine_event_text(void *context, const struct lode_area_event *event)
{
	struct lode_mine_events_text *listing = context;
	uint64_t first = listing->area->streams[event->stream].first_t;
	char cost[LODE_UNITS_TEXT];

	if (listing->stream != event->stream)
		begin_stream(listing, event->stream);
	listing->cost = lode_add_saturating(listing->cost, event->cost);
	if (listing->events++ >= SHOWN)
		return 0;
	lode_buffer_print(listing->buffer, "  t %llu  +%.6f s  %8s  thread %u ", (unsigned long long)event->t,
			  (double)(event->t > first ? event->t - first : 0) / 1e9,
			  lode_duration_text(event->cost, cost), event->tid);
	lode_text_safe(listing->buffer, event->thread);
	lode_buffer_byte(listing->buffer, '\n');
	return 0;
}
