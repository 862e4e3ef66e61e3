/* Releases of locks: see lock_releases.h. They are sorted once, so that each is found by bisection. */
#include "scope/lock_releases.h"

#include "base/bisect.h"
#include "base/starts_with.h"
#include "trace/objects.h"

#include <stdlib.h>
#include <string.h>

/* Releases that are passed over in search of one to the holder itself. */
#define MAX_PASSED 256

/* The process whose lock a wait is for; 0: all share it. */
static uint32_t process_of(const struct lode_lock_releases *releases, const struct lode_stream *stream,
			   uint32_t wait)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT];

	if (releases->locks[waits->object[wait]] == LODE_SHARED_LOCK)
		return 0;
	return stream->threads[waits->thread[wait]].pid;
}

struct sorting {
	const struct lode_lock_releases *releases;
	const struct lode_stream *stream;
};

/* By lock, then by end. */
static int compare_releases(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const struct lode_stream *stream = sorting->stream;
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint64_t a_end = lode_event_end(waits, a), b_end = lode_event_end(waits, b);

	if (waits->object[a] != waits->object[b])
		return waits->object[a] < waits->object[b] ? -1 : 1;
	if (process_of(sorting->releases, stream, a) != process_of(sorting->releases, stream, b))
		return process_of(sorting->releases, stream, a) < process_of(sorting->releases, stream, b) ? -1 : 1;
	if (a_end != b_end)
		return a_end < b_end ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int is_lock(const char *object)
{
	enum lode_object_kind kind = lode_object_kind_of(object);

	return kind == LODE_OBJECT_LOCK || kind == LODE_OBJECT_GIL;
}

static int is_vague(const char *object)
{
	return !*lode_object_name(object) || strstr(object, LODE_LOCK_ENTERED_IN);
}

static int is_shared(const char *object)
{
	return lode_starts_with(lode_object_name(object), LODE_LOCK_ON_FILE);
}

/* Whether a thread other than its own ended the wait. */
static int is_release(const struct lode_scope_index *index, uint32_t wait)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];

	return waits->waker[wait] != LODE_NONE &&
	       index->groups[waits->waker[wait]] != index->groups[waits->thread[wait]] &&
	       !lode_wake_ends_chain(index, wait);
}

int lode_lock_releases_make(struct lode_lock_releases *releases, const struct lode_scope_index *index)
{
	const struct lode_strings *strings = &index->stream->dictionary->frames.strings;
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];
	struct sorting sorting = { releases, index->stream };

	memset(releases, 0, sizeof(*releases));
	if (!lode_events_have_objects(waits))
		return 0;
	releases->locks = lode_calloc(strings->count + 1, 1);
	releases->waits = lode_calloc(waits->count + 1, sizeof(*releases->waits));
	if (!releases->locks || !releases->waits)
		return LODE_SYSTEM;
	for (uint32_t i = 1; i < strings->count; i++) {
		const char *object = lode_strings_get(strings, i);

		if (is_lock(object))
			releases->locks[i] = is_vague(object)    ? LODE_VAGUE_LOCK
					     : is_shared(object) ? LODE_SHARED_LOCK
								 : 1;
	}
	for (uint32_t i = 0; i < waits->count; i++)
		if (releases->locks[waits->object[i]] && is_release(index, i))
			releases->waits[releases->count++] = i;
	qsort_r(releases->waits, releases->count, sizeof(*releases->waits), compare_releases, &sorting);
	return 0;
}

void lode_lock_releases_release(struct lode_lock_releases *releases)
{
	lode_free(releases->waits);
	lode_free(releases->locks);
	memset(releases, 0, sizeof(*releases));
}

/* Whether release `other` comes before all of `wait`'s lock at `x` and later. */
static int is_before(const struct lode_lock_releases *releases, const struct lode_stream *stream, uint32_t other,
		     uint32_t wait, uint64_t x)
{
	const struct lode_events *waits = &stream->events[LODE_WAIT];

	if (waits->object[other] != waits->object[wait])
		return waits->object[other] < waits->object[wait];
	if (process_of(releases, stream, other) != process_of(releases, stream, wait))
		return process_of(releases, stream, other) < process_of(releases, stream, wait);
	return lode_event_end(waits, other) < x;
}

uint32_t lode_lock_release_before(const struct lode_lock_releases *releases, const struct lode_scope_index *index,
				  uint32_t wait, uint32_t group, uint64_t low, uint64_t x)
{
	const struct lode_stream *stream = index->stream;
	const struct lode_events *waits = &stream->events[LODE_WAIT];
	size_t at, passed = 0;

	if (!releases->count)
		return LODE_NONE;
	at = LODE_BISECT(i, 0, releases->count, is_before(releases, stream, releases->waits[i], wait, x));
	for (; at && passed < MAX_PASSED; at--, passed++) {
		uint32_t found = releases->waits[at - 1];

		if (waits->object[found] != waits->object[wait] ||
		    process_of(releases, stream, found) != process_of(releases, stream, wait) ||
		    lode_event_end(waits, found) <= low)
			break;
		if (releases->locks[waits->object[wait]] != LODE_VAGUE_LOCK ||
		    index->groups[waits->thread[found]] == group)
			return found;
	}
	return LODE_NONE;
}

int lode_waits_for_same_lock(const struct lode_lock_releases *releases, const struct lode_scope_index *index,
			     uint32_t wait, uint32_t other)
{
	const struct lode_events *waits = &index->stream->events[LODE_WAIT];

	return releases->locks && waits->object[wait] == waits->object[other] &&
	       releases->locks[waits->object[wait]] && releases->locks[waits->object[wait]] != LODE_VAGUE_LOCK &&
	       process_of(releases, index->stream, wait) == process_of(releases, index->stream, other);
}
