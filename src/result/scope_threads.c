/* The threads of a scope: see scope_threads.h. */
#include "result/scope_threads.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t time_of(const struct lode_scope_thread *thread)
{
	uint64_t sum = 0;

	for (int type = 0; type < LODE_EVENT_TYPES; type++)
		sum = lode_add_saturating(sum, thread->cost[type]);
	return sum;
}

static int compare(const void *left, const void *right)
{
	const struct lode_scope_thread *a = left, *b = right;
	uint64_t x = time_of(a), y = time_of(b);

	if (x != y)
		return x > y ? -1 : 1;
	if (a->events != b->events)
		return a->events > b->events ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static uint32_t thread_of(const struct lode_stream *stream, const struct lode_part *part)
{
	return stream->events[part->type].thread[part->event];
}

static void add_up(struct lode_scope_threads *threads, const struct lode_stream *stream,
		   const struct lode_parts *parts)
{
	for (size_t i = 0; i < stream->thread_count; i++)
		threads->items[i].thread = (uint32_t)i;
	for (size_t i = 0; i < parts->count; i++) {
		const struct lode_part *part = &parts->items[i];
		struct lode_scope_thread *thread = &threads->items[thread_of(stream, part)];

		thread->events++;
		thread->cost[part->type] = lode_add_saturating(thread->cost[part->type], part->cost);
	}
	qsort(threads->items, stream->thread_count, sizeof(*threads->items), compare);
	while (threads->count < stream->thread_count && threads->items[threads->count].events)
		threads->count++;
}

/* Events of a graph may begin before the symptom, or end behind it. */
static void draw_part(struct lode_timeline *line, const struct lode_part *part, const struct lode_symptom *symptom)
{
	uint64_t end = lode_add_saturating(part->t, part->cost);
	uint64_t from = part->t > symptom->t0 ? part->t : symptom->t0, to = end < symptom->t1 ? end : symptom->t1;

	if (from < to && part->type != LODE_CALL)
		lode_timeline_add(line, part->type == LODE_WAIT, from, to - from);
}

static int draw(struct lode_scope_threads *threads, const struct lode_stream *stream,
		const struct lode_scope_found *found, size_t pictured, size_t slices)
{
	struct lode_timeline **lines = lode_calloc(stream->thread_count + 1, sizeof(*lines));
	int code = lines ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < pictured && i < threads->count; i++) {
		lines[threads->items[i].thread] = &threads->items[i].line;
		code = lode_timeline_init(&threads->items[i].line, found->symptom.t0, found->symptom.t1, slices);
	}
	for (size_t i = 0; !code && i < found->parts.count; i++) {
		struct lode_timeline *line = lines[thread_of(stream, &found->parts.items[i])];

		if (line)
			draw_part(line, &found->parts.items[i], &found->symptom);
	}
	for (size_t i = 0; !code && i < pictured && i < threads->count; i++)
		lode_timeline_finish(&threads->items[i].line);
	lode_free(lines);
	return code;
}

int lode_scope_threads_make(struct lode_scope_threads *threads, const struct lode_scope_report *report,
			    const struct lode_scope_found *found, size_t pictured, size_t slices)
{
	memset(threads, 0, sizeof(*threads));
	threads->items = lode_calloc(report->stream.thread_count + 1, sizeof(*threads->items));
	if (!threads->items)
		return LODE_SYSTEM;
	add_up(threads, &report->stream, &found->parts);
	return pictured ? draw(threads, &report->stream, found, pictured, slices) : 0;
}

void lode_scope_threads_release(struct lode_scope_threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		lode_timeline_release(&threads->items[i].line);
	lode_free(threads->items);
	memset(threads, 0, sizeof(*threads));
}
