/*
 * Timelines of threads: see segments.h.
 *
 * A sweep over starts with one stack of open events per type: the top is the one that began last, and events
 * that have ended are popped when they reach the top. An event adds at most two segments and one gap, so this is linear.
 *
 * Gaps are segments, too, until all samples are there that they may belong to.
 */
#include "scope/segments.h"

#include <string.h>

#define GAP LODE_EVENT_TYPES /* type of a segment in which no event is; its event is LODE_NONE */

/* An event that has begun, and when it is over. */
struct lode_open_event {
	uint64_t over;
	uint32_t event;
	uint32_t unused;
};

void lode_segments_release(struct lode_segments *line)
{
	lode_free(line->items);
	memset(line, 0, sizeof(*line));
}

void lode_segment_sweep_release(struct lode_segment_sweep *sweep)
{
	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		lode_free(sweep->open[type].items);
	memset(sweep, 0, sizeof(*sweep));
}

/* When the thread could run again: the time on the run queue belongs to the wait or preemption before it. */
uint64_t lode_event_over(const struct lode_events *events, int type, uint32_t event)
{
	if (type == LODE_CALL)
		return lode_add_saturating(events->t[event], events->delay[event]);
	if (type == LODE_WAIT)
		return lode_add_saturating(lode_event_end(events, event), events->delay[event]);
	return lode_event_end(events, event);
}

static int add_segment(struct lode_segments *line, uint64_t start, uint64_t end, int type, uint32_t event)
{
	struct lode_segment *last = line->count ? &line->items[line->count - 1] : NULL;

	if (last && last->end == start && last->event == event && last->type == (uint32_t)type) {
		last->end = end;
		return 0;
	}
	return LODE_APPEND(line->items, line->count, line->capacity,
			   (struct lode_segment){ .start = start,
						  .end = end,
						  .event = event,
						  .type = (uint32_t)type });
}

/* The type whose open event covers `now`; -1 when none does. */
static int covering(struct lode_segment_sweep *sweep, uint64_t now)
{
	static const int by_rank[LODE_EVENT_TYPES] = { LODE_WAIT, LODE_CALL, LODE_RUN };

	for (int rank = 0; rank < LODE_EVENT_TYPES; rank++) {
		int type = by_rank[rank];
		struct lode_open_events *pile = &sweep->open[type];

		while (pile->count && pile->items[pile->count - 1].over <= now)
			pile->count--;
		if (pile->count)
			return type;
	}
	return -1;
}

/* Segments from `now` to `until`, in which no event begins. */
static int fill(struct lode_segment_sweep *sweep, struct lode_segments *line, uint64_t now, uint64_t until)
{
	int type;

	while (now < until && (type = covering(sweep, now)) >= 0) {
		const struct lode_open_events *pile = &sweep->open[type];
		const struct lode_open_event *top = &pile->items[pile->count - 1];
		uint64_t end = top->over < until ? top->over : until;

		if (add_segment(line, now, end, type, top->event) < 0)
			return LODE_SYSTEM;
		now = end;
	}
	/* Before its first event and after its last one a thread may not have been there. */
	if (now < until && line->count && until != UINT64_MAX)
		return add_segment(line, now, until, GAP, LODE_NONE);
	return 0;
}

static int open_event(const struct lode_scope_index *index, struct lode_segment_sweep *sweep, int type,
		      uint32_t event)
{
	struct lode_open_events *pile = &sweep->open[type];

	return LODE_APPEND(pile->items, pile->count, pile->capacity,
			   (struct lode_open_event){
				   .over = lode_event_over(&index->stream->events[type], type, event),
				   .event = event });
}

/* The type whose next event begins first; -1 when none is left. */
static int beginning(const struct lode_scope_index *index, const size_t next[], const size_t ends[],
		     uint64_t *start)
{
	int first = -1;

	for (int type = 0; type < LODE_EVENT_TYPES; type++) {
		uint64_t t;

		if (next[type] >= ends[type])
			continue;
		t = index->stream->events[type].t[index->lists[type].events[next[type]]];
		if (first < 0 || t < *start) {
			first = type;
			*start = t;
		}
	}
	return first;
}

/* The event of the first sample; LODE_NONE: there is none. */
static uint32_t first_sample(const struct lode_segments *line)
{
	for (size_t i = 0; i < line->count; i++)
		if (line->items[i].type == LODE_RUN)
			return line->items[i].event;
	return LODE_NONE;
}

/* Gives gaps in which the thread ran to samples, and drops the others. */
static int settle_gaps(const struct lode_scope_index *index, size_t group, struct lode_segments *line)
{
	int ran = index->followed[group] && !index->thinned;
	uint32_t sample = ran ? first_sample(line) : LODE_NONE;
	size_t count = line->count;

	if (count && line->items[count - 1].type == GAP)
		count--;
	line->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct lode_segment segment = line->items[i];

		if (segment.type == LODE_RUN && ran)
			sample = segment.event;
		if (segment.type == GAP && (sample == LODE_NONE || segment.end - segment.start > index->longest_gap))
			continue;
		if (segment.type == GAP)
			segment = (struct lode_segment){ segment.start, segment.end, sample, LODE_RUN };
		/* As many as there were, at most: there is room. */
		if (add_segment(line, segment.start, segment.end, (int)segment.type, segment.event) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

int lode_segments_make(const struct lode_scope_index *index, struct lode_segment_sweep *sweep, size_t group,
		       struct lode_segments *line)
{
	size_t next[LODE_EVENT_TYPES] = { 0 }, ends[LODE_EVENT_TYPES] = { 0 };
	uint64_t now = 0, start = 0;
	int type;

	line->count = 0;
	for (type = 0; type < LODE_EVENT_TYPES; type++) {
		sweep->open[type].count = 0;
		if (!index->lists[type].starts)
			continue;
		next[type] = index->lists[type].starts[group];
		ends[type] = index->lists[type].starts[group + 1];
	}
	while ((type = beginning(index, next, ends, &start)) >= 0) {
		uint32_t event = index->lists[type].events[next[type]];

		lode_scope_fetch(index, type, next[type]++, ends[type]);
		if (fill(sweep, line, now, start) < 0 || open_event(index, sweep, type, event) < 0)
			return LODE_SYSTEM;
		now = start;
	}
	if (fill(sweep, line, now, UINT64_MAX) < 0)
		return LODE_SYSTEM;
	return settle_gaps(index, group, line);
}
