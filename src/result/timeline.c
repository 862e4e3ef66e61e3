/*
 * Timeline: see timeline.h.
 *
 * An event may cover many slices, and there may be millions of them, so each is
 * added in constant time: its parts of the first and last slice to these, and to
 * `whole` a +1 where it begins to fill slices and a -1 where it ends; the sum
 * over `whole` up to a slice is then the number of events that fill it.
 */
#include "result/timeline.h"

#include "base/error.h"
#include "base/memory.h"
#include "result/field_rows.h"

#include <string.h>

int lode_timeline_init(struct lode_timeline *line, uint64_t first, uint64_t last, size_t count)
{
	memset(line, 0, sizeof(*line));
	line->first = first;
	line->count = count;
	line->slice = (last - first) / count + 1;
	line->run = lode_calloc(count, 4 * sizeof(*line->run));
	if (!line->run)
		return LODE_SYSTEM;
	line->wait = line->run + count;
	line->whole = line->wait + count;
	return 0;
}

void lode_timeline_release(struct lode_timeline *line)
{
	lode_free(line->run);
	memset(line, 0, sizeof(*line));
}

/* The slice of a time; times outside belong to the first or the last one. */
static size_t slice_of(const struct lode_timeline *line, uint64_t t)
{
	uint64_t slice = t > line->first ? (t - line->first) / line->slice : 0;

	return slice < line->count ? (size_t)slice : line->count - 1;
}

void lode_timeline_add(struct lode_timeline *line, int is_wait, uint64_t t, uint64_t cost)
{
	uint64_t *part = is_wait ? line->wait : line->run;
	uint64_t *whole = is_wait ? line->whole + line->count : line->whole;
	uint64_t end = t + cost < t ? UINT64_MAX : t + cost;
	size_t from = slice_of(line, t);
	size_t to = slice_of(line, end);

	if (from == to) {
		part[from] += cost;
		return;
	}
	part[from] += line->first + (from + 1) * line->slice - t;
	part[to] += end - (line->first + to * line->slice);
	whole[from + 1] += 1;
	whole[to] -= 1;
}

static void finish(const struct lode_timeline *line, uint64_t *part, const uint64_t *whole)
{
	uint64_t filling = 0;

	for (size_t i = 0; i < line->count; i++) {
		filling += whole[i];
		part[i] += filling * line->slice;
	}
}

void lode_timeline_finish(struct lode_timeline *line)
{
	finish(line, line->run, line->whole);
	finish(line, line->wait, line->whole + line->count);
}

#define TABLE_OF struct lode_timeline_fields
static const struct lode_field rows[] = {
	FIELD_U64(first_t, "Start of the first slice."),
	FIELD_U64(slice_ns, "Length of a slice."),
	FIELD_NUMBERS(run_ns, "CPU time a slice."),
	FIELD_NUMBERS(wait_ns, "Waiting a slice."),
};
const struct lode_fields lode_timeline_fields = FIELD_TABLE("Timeline", rows);
#undef TABLE_OF

struct lode_timeline_fields lode_timeline_fields_of(const struct lode_timeline *line)
{
	return (struct lode_timeline_fields){ line->first, line->slice, lode_list_of(line->run, line->count),
					      lode_list_of(line->wait, line->count) };
}
