/*
 * The critical path: what kept a thread from finishing earlier. scope.h says what it is; the
 * paper only names it (StackMine, IV).
 *
 * What a thread did at each moment is its timeline (segments.h), made once per thread when the path
 * first reaches it.
 *
 * The walk only goes back in time. A stack of steps, one for each thread that is being walked,
 * replaces recursion: stepping into a waker pushes one, reaching the start of the wait pops it.
 * A wait is stepped into at its end only (or where t1 cuts it), and the walk is at each moment
 * once, so each wait is stepped into at most once: the walk ends, and it is linear in the
 * segments it passes. (Where a wait was interrupted and tried again, who ended it at last is walked from the interruption on, and
 * others from the middle of their waits: each thread once at that moment.) In each thread a cursor follows the walk, so that coming back to a thread
 * is a short search from where it was left.
 *
 * Of a wait for a lock, the waker is walked only back to the release that precedes its own: until then another
 * thread had the lock (lock_releases.h). That one is walked in its place, in the same step.
 *
 * Where nothing is recorded for a waker's thread, it may have been running between two samples,
 * so the time belongs to the wait that led there. In a thinned recording the waker may also have
 * been in a wait that was not recorded: such time is unknown.
 */
#include "scope/lock_releases.h"
#include "scope/retried_waits.h"
#include "scope/segments.h"

#include "base/bisect.h"

struct timeline {
	struct lode_segments segments;
	size_t cursor;  /* segments from here on begin at the walk's moment or later, */
	uint64_t visit; /* if the walk with this number was here */
	uint8_t made;
	uint8_t walked; /* a step is on it */
};

/* A thread that is being walked back to `low`; where `release` is a wait, the waker of that from its end on. */
struct step {
	uint64_t low;
	uint32_t group;
	uint32_t wait;    /* the wait that was stepped into; LODE_NONE for the symptom's thread */
	uint32_t release; /* the wait that ended when the thread could get the lock; LODE_NONE: none is known */
	/*
	 * If the wait that was stepped into is not over at this moment, because it was tried again or an outer one was: the thread's
	 * own wait, in which the walk arrives then, may go on for longer, too. Else UINT64_MAX.
	 */
	uint64_t early;
};

struct lode_timelines {
	struct timeline *groups;
	struct lode_segment_sweep sweep;
	struct step *steps;
	size_t step_count;
	size_t step_capacity;
	uint64_t visits;
	uint32_t *wakers; /* by wait (retried_waits.h); NULL: each has its own */
	struct lode_lock_releases releases;
};

void lode_timelines_free(struct lode_timelines *timelines, size_t group_count)
{
	if (!timelines)
		return;
	for (size_t i = 0; i < group_count; i++)
		lode_segments_release(&timelines->groups[i].segments);
	lode_segment_sweep_release(&timelines->sweep);
	lode_free(timelines->groups);
	lode_free(timelines->steps);
	lode_free(timelines->wakers);
	lode_lock_releases_release(&timelines->releases);
	lode_free(timelines);
}

static int make(struct lode_scope_index *index)
{
	struct lode_timelines *timelines;

	if (index->timelines)
		return 0;
	timelines = lode_calloc(1, sizeof(*timelines));
	if (!timelines)
		return LODE_SYSTEM;
	timelines->groups = lode_calloc(index->group_count + 1, sizeof(*timelines->groups));
	if (!timelines->groups || lode_retried_waits(index, &timelines->wakers) < 0 ||
	    lode_lock_releases_make(&timelines->releases, index) < 0) {
		lode_timelines_free(timelines, 0);
		return LODE_SYSTEM;
	}
	index->timelines = timelines;
	return 0;
}

/* ---- a thread's timeline ---- */

static int make_line(const struct lode_scope_index *index, size_t group)
{
	struct timeline *line = &index->timelines->groups[group];

	if (line->made)
		return 0;
	if (lode_segments_make(index, &index->timelines->sweep, group, &line->segments) < 0)
		return LODE_SYSTEM;
	line->made = 1;
	return 0;
}

/* ---- the walk ---- */

struct walk {
	const struct lode_scope_index *index;
	struct lode_timelines *timelines;
	uint64_t end; /* t1 */
	uint64_t x;   /* everything after it is done */
	uint64_t unknown;
	struct lode_parts *parts;
	struct lode_parts *stepped; /* may be NULL */
	size_t first;               /* of this walk's parts, */
	size_t first_of_step;       /* of those since a thread was stepped into or left, and */
	size_t first_stepped;       /* of its waits */
};

static uint64_t woken_at(const struct walk *walk, uint32_t wait)
{
	return lode_event_end(&walk->index->stream->events[LODE_WAIT], wait);
}

/* Whether two parts that touch are one: not where a wait ends and its time on the run queue begins. */
static int same_part(const struct walk *walk, const struct lode_part *later, const struct lode_part *part)
{
	uint64_t end = part->t + part->cost;

	return later->type == part->type && later->event == part->event && later->t == end &&
	       later->unsampled == part->unsampled &&
	       (part->type != LODE_WAIT || end != woken_at(walk, part->event));
}

/* Puts `part`, which ends here, on the path. */
static int take_part(struct walk *walk, const struct lode_part *part)
{
	struct lode_parts *parts = walk->parts;
	struct lode_part *later = parts->count > walk->first_of_step ? &parts->items[parts->count - 1] : NULL;

	walk->x = part->t;
	if (!later || !same_part(walk, later, part))
		return LODE_APPEND(parts->items, parts->count, parts->capacity, *part);
	later->t = part->t;
	later->cost += part->cost;
	return 0;
}

/* The path from `from` to here is this event's. */
static int take(struct walk *walk, int type, uint32_t event, uint64_t from)
{
	const struct lode_part part = { .t = from, .cost = walk->x - from, .event = event, .type = (uint8_t)type };

	return take_part(walk, &part);
}

/* Whether the step's thread ran at the walk's moment, of which none of its events tells (segments.h): it has no samples then. */
static int runs_unsampled(const struct walk *walk, const struct step *step)
{
	const struct lode_segments *line = &walk->timelines->groups[step->group].segments;
	size_t after = walk->timelines->groups[step->group].cursor;

	return walk->index->followed[step->group] && after && after < line->count &&
	       line->items[after].start - line->items[after - 1].end <= walk->index->longest_gap;
}

/* The thread did nothing that is known from `from` to here. */
static int follow_gap(struct walk *walk, const struct step *step, uint64_t from)
{
	struct lode_part part = { .t = from, .cost = walk->x - from, .event = step->wait, .type = LODE_WAIT };

	if (step->wait != LODE_NONE && !walk->index->thinned) {
		part.unsampled = (uint8_t)runs_unsampled(walk, step);
		return take_part(walk, &part);
	}
	walk->unknown += walk->x - from;
	walk->x = from;
	return 0;
}

/* The step's thread is walked from here on. */
static int enter(struct walk *walk, struct step *step)
{
	struct lode_timelines *timelines = walk->timelines;
	struct timeline *line = &timelines->groups[step->group];

	if (make_line(walk->index, step->group) < 0)
		return LODE_SYSTEM;
	if (line->visit != timelines->visits) {
		line->visit = timelines->visits;
		line->cursor = line->segments.count;
	}
	line->walked = 1;
	walk->first_of_step = walk->parts->count;
	step->release = step->wait == LODE_NONE
				? LODE_NONE
				: lode_lock_release_before(&timelines->releases, walk->index, step->wait,
							   step->group, step->low, walk->x);
	return 0;
}

static int step_into(struct walk *walk, uint32_t group, uint32_t wait, uint64_t low)
{
	struct lode_timelines *timelines = walk->timelines;
	struct step step = { .low = low, .group = group, .wait = wait, .early = UINT64_MAX };

	if (wait != LODE_NONE &&
	    (walk->x < woken_at(walk, wait) || lode_wait_is_retried(walk->index, timelines->wakers, wait)))
		step.early = walk->x;
	if (LODE_GROW(timelines->steps, timelines->step_capacity, timelines->step_count + 1) < 0 ||
	    enter(walk, &step) < 0)
		return LODE_SYSTEM;
	timelines->steps[timelines->step_count++] = step;
	return 0;
}

static int step_out(struct walk *walk)
{
	struct step *step = &walk->timelines->steps[--walk->timelines->step_count];

	walk->timelines->groups[step->group].walked = 0;
	walk->first_of_step = walk->parts->count;
	if (!walk->stepped || step->wait == LODE_NONE)
		return 0;
	/* How long it was is filled in at the end, unless the walk came to its middle. */
	return lode_parts_add(walk->stepped, LODE_WAIT, step->wait, step->low,
			      step->early == UINT64_MAX ? 0 : step->early - step->low);
}

/* The walk has reached a release of the lock: goes on in the thread that had it until then. */
static int change_holder(struct walk *walk)
{
	struct lode_timelines *timelines = walk->timelines;
	struct step *step = &timelines->steps[timelines->step_count - 1];
	uint32_t group = walk->index->groups[walk->index->stream->events[LODE_WAIT].waker[step->release]];

	if (group != step->group && timelines->groups[group].walked) {
		/* One that waits meanwhile cannot have had it. */
		step->release = LODE_NONE;
		return take(walk, LODE_WAIT, step->wait, step->low);
	}
	timelines->groups[step->group].walked = 0;
	step->group = group;
	return enter(walk, step);
}

/* The thread whose doing ended a wait; LODE_NONE: none did, or it is unknown. */
static uint32_t ended_by(const struct lode_scope_index *index, uint32_t wait)
{
	if (index->timelines->wakers)
		return index->timelines->wakers[wait];
	return lode_wake_ends_chain(index, wait) ? LODE_NONE : index->stream->events[LODE_WAIT].waker[wait];
}

static uint32_t waker_of(const struct walk *walk, uint32_t wait)
{
	return ended_by(walk->index, wait);
}

/* Whether the walk goes on in the waker of `wait`, at whose blocked time it is. */
static int leads_on(const struct walk *walk, uint32_t wait)
{
	const struct lode_timelines *timelines = walk->timelines;
	uint32_t waker = waker_of(walk, wait);

	if (waker == LODE_NONE || timelines->groups[walk->index->groups[waker]].walked)
		return 0;
	return walk->x == woken_at(walk, wait) || walk->x == walk->end ||
	       walk->x == timelines->steps[timelines->step_count - 1].early;
}

static int follow_wait(struct walk *walk, uint32_t wait, uint64_t from)
{
	uint64_t woken = woken_at(walk, wait);

	if (walk->x > woken)
		return take(walk, LODE_WAIT, wait, from > woken ? from : woken);
	if (!leads_on(walk, wait))
		return take(walk, LODE_WAIT, wait, from);
	return step_into(walk, walk->index->groups[waker_of(walk, wait)], wait, from);
}

/* The last segment that begins before the walk's moment, or NULL. */
static const struct lode_segment *segment_before(struct timeline *line, uint64_t x)
{
	size_t high = line->cursor, low, stride = 1;

	/* Longer and longer strides back, then a search between the last two. */
	while (stride <= high && line->segments.items[high - stride].start >= x) {
		high -= stride;
		stride *= 2;
	}
	low = stride <= high ? high - stride + 1 : 0;
	line->cursor = LODE_BISECT(i, low, high, line->segments.items[i].start < x);
	return line->cursor ? &line->segments.items[line->cursor - 1] : NULL;
}

/* How far back the step's present thread is walked. */
static uint64_t walked_to(const struct walk *walk, const struct step *step)
{
	return step->release == LODE_NONE ? step->low : woken_at(walk, step->release);
}

static uint32_t connection_of(const struct walk *walk, uint32_t wait)
{
	return walk->index->connections
		       ? walk->index->connections[walk->index->stream->events[LODE_WAIT].name[wait]]
		       : 0;
}

/*
 * Whether the thread waits itself for the lock that it should have had: then it is not known who had it. Or for the
 * connection to the host that waits for it: then a message is on its way.
 */
static int waits_for_it(const struct walk *walk, const struct step *step, uint32_t wait)
{
	if (step->wait == LODE_NONE || walk->x > woken_at(walk, wait))
		return 0;
	return lode_waits_for_same_lock(&walk->timelines->releases, walk->index, step->wait, wait) ||
	       (connection_of(walk, wait) && connection_of(walk, wait) == connection_of(walk, step->wait));
}

static int walk_back(struct walk *walk, const struct step *step)
{
	const struct lode_segment *segment = segment_before(&walk->timelines->groups[step->group], walk->x);
	uint64_t low = walked_to(walk, step), from;

	if (!segment || segment->end <= low)
		return follow_gap(walk, step, low);
	if (segment->end < walk->x)
		return follow_gap(walk, step, segment->end);
	from = segment->start > low ? segment->start : low;
	if (segment->type == LODE_WAIT && waits_for_it(walk, step, segment->event))
		return take(walk, LODE_WAIT, step->wait, from);
	if (segment->type == LODE_WAIT)
		return follow_wait(walk, segment->event, from);
	return take(walk, (int)segment->type, segment->event, from);
}

static int walk_all(struct walk *walk, const struct lode_symptom *symptom)
{
	struct lode_timelines *timelines = walk->timelines;

	timelines->visits++;
	if (step_into(walk, walk->index->groups[symptom->thread], LODE_NONE, symptom->t0) < 0)
		return LODE_SYSTEM;
	while (timelines->step_count) {
		struct step step = timelines->steps[timelines->step_count - 1];

		int code = walk->x <= step.low                 ? step_out(walk)
			   : walk->x <= walked_to(walk, &step) ? change_holder(walk)
							       : walk_back(walk, &step);

		if (code < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* After a failure: as if the walk had not been. */
static void give_up(struct walk *walk)
{
	struct lode_timelines *timelines = walk->timelines;

	while (timelines->step_count)
		timelines->groups[timelines->steps[--timelines->step_count].group].walked = 0;
	walk->parts->count = walk->first;
	if (walk->stepped)
		walk->stepped->count = walk->first_stepped;
}

/* In the order of time. Waits were left by their starts, an inner one before the one around it. */
static void finish(struct walk *walk)
{
	lode_parts_reverse(walk->parts, walk->first);
	if (!walk->stepped)
		return;
	lode_parts_reverse(walk->stepped, walk->first_stepped);
	for (size_t i = walk->first_stepped; i < walk->stepped->count; i++) {
		struct lode_part *part = &walk->stepped->items[i];
		uint64_t woken = woken_at(walk, part->event);

		if (!part->cost)
			part->cost = (woken < walk->end ? woken : walk->end) - part->t;
	}
}

int lode_critical_path(struct lode_scope_index *index, const struct lode_symptom *symptom, struct lode_parts *parts,
		       struct lode_parts *stepped, uint64_t *unknown, struct lode_error *error)
{
	struct walk walk = {
		.index = index,
		.end = symptom->t1,
		.x = symptom->t1,
		.parts = parts,
		.first = parts->count,
		.stepped = stepped,
		.first_stepped = stepped ? stepped->count : 0,
	};

	*unknown = 0;
	if (symptom->thread >= index->stream->thread_count)
		return lode_fail(error, LODE_BAD_INPUT, "a symptom names a thread that is not there");
	if (make(index) < 0)
		return lode_fail_memory(error);
	walk.timelines = index->timelines;
	if (walk_all(&walk, symptom) < 0) {
		give_up(&walk);
		return lode_fail_memory(error);
	}
	finish(&walk);
	*unknown = walk.unknown;
	return 0;
}

uint32_t lode_walked_thread(const struct lode_scope_index *index, uint32_t wait, uint64_t t)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];
	uint32_t thread = index->timelines ? ended_by(index, wait) : LODE_NONE, release;
	uint64_t x = lode_event_end(waits, wait);

	while (thread != LODE_NONE) {
		release = lode_lock_release_before(&index->timelines->releases, index, wait, index->groups[thread],
						   t, x);
		if (release == LODE_NONE)
			return thread;
		thread = waits->waker[release];
		x = lode_event_end(waits, release);
	}
	return LODE_NONE;
}
