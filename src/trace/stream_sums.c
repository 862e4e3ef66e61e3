/*
 * Sums of a stream's events: see stream_sums.h.
 *
 * Events are put in order of what they are summed by, so that equal ones are neighbours. Sums have no time of their own;
 * they are laid out one after another, which keeps a thread from being in two states at once.
 */
#include "trace/stream_sums.h"

#include <stdlib.h>
#include <string.h>

/* An event with what it is summed by. */
struct row {
	uint32_t key[5]; /* thread, type, stack, name, object */
	uint64_t cost, delay;
};

enum { THREAD, TYPE, STACK, NAME, OBJECT };

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	for (int i = 0; i <= OBJECT; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

static void fill_rows(const struct lode_stream *stream, struct row *rows)
{
	for (uint32_t type = 0; type < LODE_EVENT_TYPES; type++) {
		const struct lode_events *events = &stream->events[type];

		for (size_t i = 0; i < events->count; i++)
			*rows++ = (struct row){
				.key = { events->thread[i], type, events->stack[i], events->name[i],
					 lode_events_object(events, i) },
				.cost = lode_events_cost(events, i),
				.delay = lode_weighted(events->delay[i], lode_events_weight(events, i)),
			};
	}
}

/* Adds equal neighbours up. Returns how many rows are left. */
static size_t sum_rows(struct row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept && compare_rows(&rows[kept - 1], &rows[i]) == 0) {
			rows[kept - 1].cost = lode_add_saturating(rows[kept - 1].cost, rows[i].cost);
			rows[kept - 1].delay = lode_add_saturating(rows[kept - 1].delay, rows[i].delay);
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

static int add_rows(struct lode_stream *sums, const struct row *rows, size_t count, uint64_t first)
{
	uint64_t t = first;

	for (size_t i = 0; i < count; i++) {
		struct lode_event event = { .t = t,
					    .cost = rows[i].cost,
					    .delay = rows[i].delay,
					    .thread = rows[i].key[THREAD],
					    .stack = rows[i].key[STACK],
					    .name = rows[i].key[NAME],
					    .object = rows[i].key[OBJECT],
					    .waker = LODE_NONE,
					    .holder = LODE_NONE,
					    .cpu = LODE_NO_CPU };

		if (i && rows[i - 1].key[THREAD] != rows[i].key[THREAD])
			event.t = t = first;
		if (lode_stream_add_event(sums, (enum lode_event_type)rows[i].key[TYPE], &event) < 0)
			return LODE_SYSTEM;
		t = lode_add_saturating(t, lode_add_saturating(event.cost, event.delay));
	}
	return lode_stream_sort(sums);
}

int lode_stream_sum(const struct lode_stream *stream, struct lode_stream *sums)
{
	size_t count = lode_stream_event_count(stream);
	struct row *rows = lode_calloc(count + 1, sizeof(*rows));
	uint64_t first, last;
	int code = rows ? lode_stream_copy_head(sums, stream, NULL) : LODE_SYSTEM;

	if (!code) {
		fill_rows(stream, rows);
		qsort(rows, count, sizeof(*rows), compare_rows);
		lode_stream_span(stream, &first, &last);
		sums->symptom_count = 0;
		code = add_rows(sums, rows, sum_rows(rows, count), first);
	}
	lode_free(rows);
	return code < 0 ? code : lode_stream_set_number(sums, LODE_SUMS_ATTRIBUTE, count);
}
