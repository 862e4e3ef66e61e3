/*
 * A thread's timeline: disjoint segments, each of one event, in order of time. Between them nothing is known.
 * Private to src/scope/.
 *
 * A wait's segment includes the time on the run queue after it; a preemption is nothing else. A sample
 * represents time that may not have been its own, so it often overlaps the wait or preemption
 * after it; these were measured, so they win. Of several events of one type the one that began last does.
 *
 * What a wait or preemption takes from a sample is missing behind it, until the next sample. If the kernel counted what the thread
 * did, and every wait was recorded, the thread ran in such a gap. It is the last sample's before it, be that in front of waits, or
 * else the first one's: over many gaps each stack gets its share, and a thread runs for as long as the kernel counted. With
 * the nearest samples, what lies in the middle of short stretches would have most of their ends, too. A gap of more than
 * LODE_UNSAMPLED_PERIODS (scope_index.h) stays one, since an event may be missing there.
 */
#ifndef LODE_SCOPE_SEGMENTS_H
#define LODE_SCOPE_SEGMENTS_H

#include "scope/scope_index.h"

struct lode_segment {
	uint64_t start;
	uint64_t end;
	uint32_t event;
	uint32_t type; /* enum lode_event_type; LODE_CALL: a preemption */
};

/* A zeroed struct is an empty timeline. */
struct lode_segments {
	struct lode_segment *items;
	size_t count;
	size_t capacity;
};

/* Events that have begun and are not over, with the latest on top. */
struct lode_open_events {
	struct lode_open_event *items;
	size_t count;
	size_t capacity;
};

/* Memory that timelines made one after the other share. */
struct lode_segment_sweep {
	struct lode_open_events open[LODE_EVENT_TYPES];
};

/* Fills `line`, which is emptied first, with the timeline of thread group `group`. Returns 0 or LODE_SYSTEM. */
int lode_segments_make(const struct lode_scope_index *index, struct lode_segment_sweep *sweep, size_t group,
		       struct lode_segments *line);
void lode_segments_release(struct lode_segments *line);
void lode_segment_sweep_release(struct lode_segment_sweep *sweep);

/* When an event was over, with the time on the run queue after it. */
uint64_t lode_event_over(const struct lode_events *events, int type, uint32_t event);

#endif
