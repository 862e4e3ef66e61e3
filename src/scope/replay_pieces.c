/*
 * Pieces of threads: see replay_pieces.h. They are made from the timelines (segments.h), one event after the other.
 *
 * Samples are taken now and then, so a thread also ran in the gaps between its events, if the kernel followed its scheduling.
 * What it ran there is what its last sample before says (segments.h). Timelines know of gaps between events; those in front of
 * the first and behind the last one, where the thread is known to have run, are filled here in the same way, as all are in recordings
 * that are thinned.
 */
#include "scope/replay_pieces.h"

#include "base/bisect.h"
#include "scope/segments.h"

struct maker {
	const struct lode_piece_source *source;
	struct lode_pieces *pieces;
	int is_followed; /* the scheduling of this thread */
};

static int add(struct maker *maker, uint64_t start, uint64_t end, enum lode_piece_kind kind, uint32_t event)
{
	struct lode_pieces *pieces = maker->pieces;

	if (end <= start)
		return 0;
	return LODE_APPEND(pieces->items, pieces->count, pieces->capacity,
			   (struct lode_piece){ .start = start, .end = end, .event = event, .kind = kind });
}

/* Which sample a gap belongs to is settled later. */
static int add_gap(struct maker *maker, uint64_t start, uint64_t end)
{
	int ran = maker->is_followed && end > start && end - start <= maker->source->index->longest_gap;

	return add(maker, start, end, ran ? LODE_PIECE_RUN : LODE_PIECE_PLAIN, LODE_NONE);
}

static int add_time(void *context, uint32_t thread, uint64_t time)
{
	(void)thread;
	*(uint64_t *)context += time;
	return 0;
}

/* On the run queue from `start` to `end`: behind recorded threads, after everything else that kept it there. */
static int add_ready(struct maker *maker, uint64_t start, uint64_t end, enum lode_event_type type, uint32_t event)
{
	uint64_t behind = 0;

	if (end <= start)
		return 0;
	if (maker->source->processors)
		lode_processors_visit(maker->source->processors, type, event, start, end, add_time, &behind);
	if (behind > end - start)
		behind = end - start;
	if (add(maker, start, end - behind, type == LODE_WAIT ? LODE_PIECE_WOKEN : LODE_PIECE_PREEMPTED, event) < 0)
		return LODE_SYSTEM;
	return add(maker, end - behind, end, LODE_PIECE_QUEUED, event);
}

static int add_wait(struct maker *maker, const struct lode_segment *segment)
{
	const struct lode_events *waits = &maker->source->index->stream->events[LODE_WAIT];
	uint64_t woken = lode_event_end(waits, segment->event);
	uint64_t blocked = woken < segment->end ? woken : segment->end;

	/* Where a wait is inside of another, only its last part ends when it is ended. */
	if (add(maker, segment->start, blocked, blocked == woken ? LODE_PIECE_BLOCKED : LODE_PIECE_PLAIN,
		segment->event) < 0)
		return LODE_SYSTEM;
	return add_ready(maker, blocked > segment->start ? blocked : segment->start, segment->end, LODE_WAIT,
			 segment->event);
}

static int add_segment(struct maker *maker, const struct lode_segment *segment)
{
	switch (segment->type) {
	case LODE_RUN:
		return add(maker, segment->start, segment->end, LODE_PIECE_RUN, segment->event);
	case LODE_WAIT:
		return add_wait(maker, segment);
	default:
		return add_ready(maker, segment->start, segment->end, LODE_CALL, segment->event);
	}
}

static int is_sample(const struct lode_piece *piece)
{
	return piece->kind == LODE_PIECE_RUN && piece->event != LODE_NONE;
}

/* Gives each gap its sample; those in front of the first one have that. */
static void assign_gaps(struct lode_pieces *pieces)
{
	uint32_t last = LODE_NONE;

	for (size_t i = 0; last == LODE_NONE && i < pieces->count; i++)
		if (is_sample(&pieces->items[i]))
			last = pieces->items[i].event;
	for (size_t i = 0; i < pieces->count; i++) {
		struct lode_piece *piece = &pieces->items[i];

		if (is_sample(piece))
			last = piece->event;
		else if (piece->kind == LODE_PIECE_RUN)
			piece->event = last;
	}
}

static int make_group(struct maker *maker, const struct lode_segments *line, uint64_t from, uint64_t to)
{
	uint64_t now = line->count ? line->items[0].start : from;

	if (add_gap(maker, from < now ? from : now, now) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < line->count; i++) {
		if (add_gap(maker, now, line->items[i].start) < 0 || add_segment(maker, &line->items[i]) < 0)
			return LODE_SYSTEM;
		now = line->items[i].end;
	}
	if (add_gap(maker, now, to) < 0)
		return LODE_SYSTEM;
	assign_gaps(maker->pieces);
	return 0;
}

struct lode_pieces *lode_pieces_make(const struct lode_piece_source *source, const uint64_t *from,
				     const uint64_t *to)
{
	size_t count = source->index->group_count;
	struct lode_pieces *pieces = lode_calloc(count + 1, sizeof(*pieces));
	struct lode_segment_sweep sweep = { 0 };
	struct lode_segments line = { 0 };
	int code = pieces ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < count; i++) {
		struct maker maker = { source, &pieces[i], source->index->followed[i] };

		code = lode_segments_make(source->index, &sweep, i, &line);
		if (!code)
			code = make_group(&maker, &line, from[i], to[i]);
	}
	lode_segments_release(&line);
	lode_segment_sweep_release(&sweep);
	if (!code)
		return pieces;
	lode_pieces_free(pieces, count);
	return NULL;
}

void lode_pieces_free(struct lode_pieces *pieces, size_t count)
{
	for (size_t i = 0; pieces && i < count; i++)
		lode_free(pieces[i].items);
	lode_free(pieces);
}

size_t lode_piece_at(const struct lode_pieces *pieces, uint64_t t)
{
	return LODE_BISECT(i, 0, pieces->count, pieces->items[i].end < t);
}
