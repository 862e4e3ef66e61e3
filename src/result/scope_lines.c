/*
 * From a critical path to the lines people read: see scope.h.
 *
 * The parts and the waits that were stepped into are gone through side by side in
 * order of time. Waits nest like brackets, so a stack of the open ones gives each
 * part its depth. Samples of a thread in a row become one line; so does the time
 * between two of them when it is shorter than a sample represents.
 */
#include "result/scope_lines.h"

#include "base/id_array.h"
#include "base/memory.h"

#include <stdlib.h>

struct maker {
	const struct lode_stream *stream;
	const struct lode_scope_found *found;
	struct lode_scope_lines *lines;
	size_t *open; /* pile of stepped waits around the current moment */
	size_t open_count;
	size_t next;  /* stepped wait */
	uint64_t now; /* up to here all is in lines */
};

static int add_line(struct maker *maker, const struct lode_scope_line *line)
{
	struct lode_scope_lines *lines = maker->lines;

	if (LODE_GROW(lines->items, lines->capacity, lines->count + 1) < 0)
		return LODE_SYSTEM;
	lines->items[lines->count] = *line;
	lines->items[lines->count++].depth = (uint32_t)maker->open_count;
	return 0;
}

static uint64_t end_of(const struct lode_part *part)
{
	return part->t + part->cost;
}

/* Leaves the waits that are over and enters those that begin now. */
static int follow_steps(struct maker *maker)
{
	const struct lode_parts *stepped = &maker->found->stepped;

	while (maker->open_count && end_of(&stepped->items[maker->open[maker->open_count - 1]]) <= maker->now)
		maker->open_count--;
	for (; maker->next < stepped->count && stepped->items[maker->next].t <= maker->now; maker->next++) {
		const struct lode_part *step = &stepped->items[maker->next];
		struct lode_scope_line line = {
			.type = LODE_LINE_STEP,
			.thread = maker->stream->events[LODE_WAIT].thread[step->event],
			.event = step->event,
			.t = step->t,
			.length = step->cost,
		};

		if (add_line(maker, &line) < 0)
			return LODE_SYSTEM;
		maker->open[maker->open_count++] = maker->next;
	}
	return 0;
}

static int add_unknown(struct maker *maker, uint64_t until)
{
	struct lode_scope_line line = {
		.type = LODE_LINE_UNKNOWN,
		.thread = maker->found->symptom.thread,
		.t = maker->now,
		.length = until - maker->now,
	};

	maker->now = until;
	return line.length ? add_line(maker, &line) : 0;
}

static enum lode_scope_line_type type_of(const struct maker *maker, const struct lode_part *part)
{
	const struct lode_parts *stepped = &maker->found->stepped;

	if (part->type == LODE_RUN)
		return LODE_LINE_RUN;
	if (lode_part_is_ready(maker->stream, part))
		return LODE_LINE_QUEUED;
	if (maker->open_count && stepped->items[maker->open[maker->open_count - 1]].event == part->event)
		return LODE_LINE_UNSEEN;
	return LODE_LINE_WAIT;
}

static int is_gap(const struct lode_scope_line *line)
{
	return line->type == LODE_LINE_UNSEEN || line->type == LODE_LINE_UNKNOWN;
}

/* The line of runs that this sample goes on, or NULL; a short gap between is taken in. */
static struct lode_scope_line *line_before(struct maker *maker, const struct lode_scope_line *line, uint64_t sample)
{
	struct lode_scope_lines *lines = maker->lines;
	struct lode_scope_line *last = lines->count ? &lines->items[lines->count - 1] : NULL;
	uint64_t gap = 0;

	if (last && lines->count > 1 && is_gap(last) && last->depth == maker->open_count && last->length <= sample) {
		gap = last->length;
		last--;
	}
	if (!last || last->type != LODE_LINE_RUN || last->depth != maker->open_count ||
	    maker->stream->threads[last->thread].tid != maker->stream->threads[line->thread].tid ||
	    last->t + last->length + gap != line->t)
		return NULL;
	lines->count = (size_t)(last - lines->items) + 1;
	last->length += gap;
	last->unseen += gap;
	return last;
}

static int add_part(struct maker *maker, size_t i)
{
	const struct lode_part *part = &maker->found->parts.items[i];
	const struct lode_events *events = &maker->stream->events[part->type];
	struct lode_scope_line line = {
		.type = type_of(maker, part),
		.thread = events->thread[part->event],
		.event = part->event,
		.t = part->t,
		.length = part->cost,
		.first = i,
		.last = i,
	};
	struct lode_scope_line *before = NULL;

	if (line.type == LODE_LINE_RUN)
		before = line_before(maker, &line, events->cost[part->event]);
	maker->now = end_of(part);
	if (!before)
		return add_line(maker, &line);
	before->length += line.length;
	before->last = i;
	return 0;
}

static int make(struct maker *maker)
{
	const struct lode_parts *parts = &maker->found->parts;

	for (size_t i = 0; i < parts->count; i++) {
		/* Time is unknown in the symptom's own thread alone, where no step is open. */
		if (follow_steps(maker) < 0 || add_unknown(maker, parts->items[i].t) < 0 ||
		    follow_steps(maker) < 0 || add_part(maker, i) < 0)
			return LODE_SYSTEM;
	}
	if (follow_steps(maker) < 0)
		return LODE_SYSTEM;
	return add_unknown(maker, maker->found->symptom.t1);
}

/* ---- which are shown ---- */

/* Longest first; of equal ones the earlier: so a step comes before all it holds. */
static int compare_lines(const void *left, const void *right, void *context)
{
	const struct lode_scope_line *lines = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (lines[a].length != lines[b].length)
		return lines[a].length > lines[b].length ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int choose(struct lode_scope_lines *lines, size_t most)
{
	uint32_t *order = lode_ids_sorted(lines->count, compare_lines, lines->items);

	if (!order)
		return LODE_SYSTEM;
	for (size_t i = 0; i < lines->count; i++)
		lines->items[order[i]].shown = !most || i < most;
	lode_free(order);
	return 0;
}

int lode_scope_lines_make(struct lode_scope_lines *lines, const struct lode_scope_report *report,
			  const struct lode_scope_found *found, size_t most)
{
	struct maker maker = {
		.stream = &report->stream,
		.found = found,
		.lines = lines,
		.open = lode_calloc(found->stepped.count + 1, sizeof(*maker.open)),
		.now = found->symptom.t0,
	};
	int code = maker.open ? make(&maker) : LODE_SYSTEM;

	lode_free(maker.open);
	return code < 0 ? code : choose(lines, most);
}
