/* Loops of many streams: see request_table.h. */
#include "scope/request_table.h"

#include "base/buffer.h"
#include "base/hash.h"
#include "base/sort_numbers.h"

#include <stdlib.h>
#include <string.h>

int lode_loop_table_init(struct lode_loop_table *table)
{
	memset(table, 0, sizeof(*table));
	return lode_strings_init(&table->names);
}

void lode_loop_table_release(struct lode_loop_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		lode_free(table->items[i].lengths);
	lode_free(table->items);
	lode_index_release(&table->index);
	lode_strings_release(&table->names);
	memset(table, 0, sizeof(*table));
}

/* The loop of these names, added if new; NULL when memory has run out. */
static struct lode_loop *loop_of(struct lode_loop_table *table, const char *process, const char *thread,
				 const char *frame)
{
	struct lode_loop loop = {
		.process = lode_strings_add(&table->names, process, strlen(process)),
		.thread = lode_strings_add(&table->names, thread, strlen(thread)),
		.frame = lode_strings_add(&table->names, frame, strlen(frame)),
	};
	uint64_t hash = lode_hash_pair(lode_hash_pair(loop.process, loop.thread), loop.frame);
	uint32_t id;

	if (loop.process == LODE_NONE || loop.thread == LODE_NONE || loop.frame == LODE_NONE)
		return NULL;
	id = LODE_INDEX_FIND(i, &table->index, hash,
			     table->items[i].process == loop.process && table->items[i].thread == loop.thread &&
				     table->items[i].frame == loop.frame);
	if (id != LODE_NONE)
		return &table->items[id];
	if (LODE_INDEX_APPEND(&table->index, hash, table->items, table->count, table->capacity, loop) < 0)
		return NULL;
	return &table->items[table->count - 1];
}

static void note_longest(struct lode_loop *loop, uint64_t length, uint64_t t, uint32_t tid, uint32_t stream)
{
	if (loop->longest_t | loop->longest && length <= loop->longest)
		return;
	loop->longest = length;
	loop->longest_t = t;
	loop->longest_tid = tid;
	loop->longest_stream = stream;
}

static int add_length(struct lode_loop *loop, uint64_t length)
{
	loop->time = lode_add_saturating(loop->time, length);
	return LODE_APPEND(loop->lengths, loop->count, loop->capacity, length);
}

/* The loop of the table that is loop `from` of a stream; NULL when memory has run out. */
static struct lode_loop *matching_loop(struct lode_loop_table *table, const struct lode_frames *frames,
				       const struct lode_request_loop *from)
{
	const char *module = lode_frames_module_name(frames, from->frame);
	struct lode_buffer name = { 0 };
	struct lode_loop *loop = NULL;

	lode_buffer_text(&name, module);
	lode_buffer_text(&name, *module ? "!" : "");
	lode_buffer_text(&name, lode_frames_function(frames, from->frame));
	lode_buffer_byte(&name, '\0');
	if (!name.failed)
		loop = loop_of(table, lode_strings_get(&frames->strings, from->process),
			       lode_strings_get(&frames->strings, from->thread), name.bytes);
	lode_buffer_release(&name);
	return loop;
}

/* The number in the table of a loop of the stream, found with its first request; LODE_NONE when memory has run out. */
static uint32_t number_loop(struct lode_loop_table *table, const struct lode_stream *stream,
			    const struct lode_requests *requests, uint32_t loop, uint32_t *numbers)
{
	const struct lode_loop *found;

	if (numbers[loop])
		return numbers[loop] - 1;
	found = matching_loop(table, &stream->dictionary->frames, &requests->loops[loop]);
	if (!found)
		return LODE_NONE;
	numbers[loop] = (uint32_t)(found - table->items) + 1;
	return numbers[loop] - 1;
}

int lode_loop_table_add(struct lode_loop_table *table, const struct lode_stream *stream, uint32_t number,
			const struct lode_requests *requests)
{
	uint32_t *numbers = lode_calloc(requests->loop_count + 1, sizeof(*numbers)); /* plus one; 0: not known yet */
	int code = numbers ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < requests->count; i++) {
		const struct lode_request *request = &requests->items[i];
		uint32_t place = number_loop(table, stream, requests, request->loop, numbers);
		uint64_t length = request->t1 - request->t0;

		if (place == LODE_NONE) {
			code = LODE_SYSTEM;
			break;
		}
		note_longest(&table->items[place], length, request->t0, stream->threads[request->thread].tid,
			     number);
		code = add_length(&table->items[place], length);
	}
	lode_free(numbers);
	return code;
}

int lode_loop_table_merge(struct lode_loop_table *table, const struct lode_loop_table *more)
{
	for (size_t i = 0; i < more->count; i++) {
		const struct lode_loop *from = &more->items[i];
		struct lode_loop *loop = loop_of(table, lode_strings_get(&more->names, from->process),
						 lode_strings_get(&more->names, from->thread),
						 lode_strings_get(&more->names, from->frame));

		if (!loop)
			return LODE_SYSTEM;
		note_longest(loop, from->longest, from->longest_t, from->longest_tid, from->longest_stream);
		for (size_t k = 0; k < from->count; k++)
			if (add_length(loop, from->lengths[k]) < 0)
				return LODE_SYSTEM;
	}
	return 0;
}

static int compare_loops(const void *left, const void *right, void *context)
{
	const struct lode_loop *a = left, *b = right;
	const struct lode_strings *names = context;
	int order;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	order = strcmp(lode_strings_get(names, a->process), lode_strings_get(names, b->process));
	if (!order)
		order = strcmp(lode_strings_get(names, a->thread), lode_strings_get(names, b->thread));
	return order ? order : strcmp(lode_strings_get(names, a->frame), lode_strings_get(names, b->frame));
}

void lode_loop_table_sort(struct lode_loop_table *table)
{
	if (table->count)
		qsort_r(table->items, table->count, sizeof(*table->items), compare_loops, &table->names);
	for (size_t i = 0; i < table->count; i++)
		lode_sort_u64(table->items[i].lengths, table->items[i].count);
}

uint64_t lode_loop_quantile(const struct lode_loop *loop, unsigned percent)
{
	size_t rank = (loop->count * percent + 99) / 100;

	return rank ? loop->lengths[rank - 1] : 0;
}
