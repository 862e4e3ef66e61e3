/* Lives of threads: see thread_lives.h. */
#include "scope/thread_lives.h"

#include "scope/scope_index.h"

/* A thread with events nearer to the begin or the end of a recording may have lived longer. */
#define MARGIN_NS 2000000

static void widen(struct lode_thread_life *life, uint64_t first, uint64_t last)
{
	life->first = first < life->first ? first : life->first;
	life->last = last > life->last ? last : life->last;
}

static void add_events(struct lode_thread_life *lives, const uint32_t *groups, const struct lode_events *events,
		       struct lode_thread_life *all)
{
	if (!events->t || !events->thread)
		return;
	for (size_t i = 0; i < events->count; i++) {
		struct lode_thread_life *life = &lives[groups[events->thread[i]]];
		uint64_t t = events->t[i], end = events->cost ? lode_event_end(events, (uint32_t)i) : t;

		life->thread = events->thread[i];
		life->stack = life->stack || !events->stack ? life->stack : events->stack[i];
		widen(life, t, end);
		widen(all, t, end);
	}
}

struct lode_thread_life *lode_thread_lives(const struct lode_stream *stream, const uint32_t *groups,
					   size_t group_count)
{
	struct lode_thread_life *lives = lode_calloc(group_count + 1, sizeof(*lives));
	struct lode_thread_life all = { .first = UINT64_MAX };

	for (size_t i = 0; lives && i < group_count; i++)
		lives[i].first = UINT64_MAX;
	for (int type = 0; lives && type < LODE_EVENT_TYPES; type++)
		add_events(lives, groups, &stream->events[type], &all);
	for (size_t i = 0; lives && i < group_count; i++) {
		const struct lode_thread *thread = &stream->threads[lives[i].thread];

		if (lives[i].first == UINT64_MAX)
			continue;
		lives[i].whole = lode_thread_has_totals(thread) && thread->tid != thread->pid &&
				 lives[i].first - all.first > MARGIN_NS && all.last - lives[i].last > MARGIN_NS;
	}
	return lives;
}
