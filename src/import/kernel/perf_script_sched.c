/* Scheduler's events of `perf script`: see perf_script_sched.h. */
#include "import/kernel/perf_script_sched.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>

void lode_script_sched_release(struct lode_script_sched *sched)
{
	lode_free(sched->events);
	*sched = (struct lode_script_sched){ 0 };
}

int lode_script_sched_add(struct lode_script_sched *sched, const struct lode_script_sched_event *event)
{
	if (LODE_APPEND(sched->events, sched->count, sched->capacity, *event) < 0)
		return LODE_SYSTEM;
	sched->events[sched->count - 1].ordinal = sched->count - 1;
	return 0;
}

static int compare_events(const void *left, const void *right)
{
	const struct lode_script_sched_event *a = left, *b = right;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static void sort_events(struct lode_script_sched *sched)
{
	for (size_t i = 1; i < sched->count; i++) {
		if (sched->events[i].t < sched->events[i - 1].t) {
			qsort(sched->events, sched->count, sizeof(*sched->events), compare_events);
			return;
		}
	}
}

/* The thread with this tid, named if it has no name yet; LODE_NONE for the idle thread. */
static uint32_t find_thread(struct lode_stream *stream, uint32_t tid, uint32_t comm)
{
	uint32_t thread = tid ? lode_stream_tid(stream, tid) : LODE_NONE;

	if (thread != LODE_NONE && !stream->threads[thread].name)
		stream->threads[thread].name = comm;
	return thread;
}

static void feed(struct lode_sched *joiner, struct lode_stream *stream, const struct lode_script_sched_event *event)
{
	uint32_t next = find_thread(stream, event->next, event->comm);

	if (event->is_waking)
		lode_sched_waking(joiner, event->t, event->thread, event->stack, next);
	else
		lode_sched_switch(joiner, event->t, event->cpu, find_thread(stream, event->previous, 0),
				  event->state, event->stack, next);
}

int lode_script_sched_join(struct lode_script_sched *sched, struct lode_stream *stream, struct lode_notes *notes,
			   uint64_t end)
{
	struct lode_sched *joiner;
	int code;

	if (!sched->count)
		return 0;
	joiner = lode_sched_create(stream, notes);
	if (!joiner)
		return LODE_SYSTEM;
	sort_events(sched);
	for (size_t i = 0; i < sched->count && !stream->failed; i++)
		feed(joiner, stream, &sched->events[i]);
	code = lode_sched_finish(joiner, end);
	lode_sched_destroy(joiner);
	return code;
}
