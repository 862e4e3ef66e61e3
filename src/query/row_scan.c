/*
 * Scans of rows: see row_scan.h.
 *
 * Streams and blocks that cannot have a wanted row are passed without being read: by number of the stream,
 * by type, by the span of time that the footer has of a block. In a block events are sorted by time, so a time
 * span is found by bisection. Threads and stacks are looked up in one byte each. SQLite then sees only rows
 * that fit, which is what makes selective statements quick: it needs ten times as long per row.
 */
#include "query/row_scan.h"

#include "base/bisect.h"
#include "query/sums.h"

#include <string.h>

void lode_row_scan_release(struct lode_row_scan *scan)
{
	for (size_t i = 0; i < LODE_SCAN_BLOCKS; i++)
		lode_events_release(&scan->blocks[i].events);
	lode_free(scan->thread_fits);
	lode_free(scan->stack_fits);
	lode_free(scan->pick_room);
	memset(scan, 0, sizeof(*scan));
}

#define BIT(field) (1u << (field))
#define STACKS     (BIT(LODE_ROW_STACK) | BIT(LODE_ROW_WAKER_STACK))
#define NAMES                                                                                                     \
	(BIT(LODE_ROW_THREAD) | BIT(LODE_ROW_WAKER) | BIT(LODE_ROW_HOLDER) | BIT(LODE_ROW_NAME) |                 \
	 BIT(LODE_ROW_OBJECT) | BIT(LODE_ROW_CONTEXT) | BIT(LODE_ROW_TID) | BIT(LODE_ROW_PID))

/* Fields that the filter itself looks at. */
static unsigned filtered_fields(const struct lode_row_filter *filter)
{
	unsigned fields = 0;

	if (filter->t.low > 0 || filter->t.high < INT64_MAX)
		fields |= BIT(LODE_ROW_T);
	if (filter->cost.low > 0 || filter->cost.high < INT64_MAX)
		fields |= BIT(LODE_ROW_COST);
	if (filter->thread_set.is_given)
		fields |= BIT(LODE_ROW_THREAD);
	if (filter->stack_set.is_given || filter->glob_count)
		fields |= BIT(LODE_ROW_STACK);
	return fields;
}

static unsigned columns_of(unsigned fields)
{
	static const unsigned columns[] = {
		[LODE_ROW_T] = LODE_T,
		[LODE_ROW_COST] = LODE_COST,
		[LODE_ROW_THREAD] = LODE_THREAD,
		[LODE_ROW_STACK] = LODE_STACK,
		[LODE_ROW_DELAY] = LODE_DELAY,
		[LODE_ROW_WAKER] = LODE_WAKER,
		[LODE_ROW_WAKER_STACK] = LODE_WAKER_STACK,
		[LODE_ROW_NAME] = LODE_NAME,
		[LODE_ROW_CPU] = LODE_CPU,
		[LODE_ROW_WEIGHT] = LODE_WEIGHT,
		[LODE_ROW_OBJECT] = LODE_OBJECT,
		[LODE_ROW_HOLDER] = LODE_HOLDER,
		[LODE_ROW_CONTEXT] = LODE_CONTEXT,
		[LODE_ROW_UNTIL] = LODE_T | LODE_COST,
		[LODE_ROW_TID] = LODE_THREAD,
		[LODE_ROW_PID] = LODE_THREAD,
	};
	unsigned mask = 0;

	for (unsigned i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (fields & BIT(i))
			mask |= columns[i];
	return mask;
}

static enum lode_query_level level_of(unsigned fields, int of_sums)
{
	if (fields & STACKS)
		return LODE_QUERY_STACKS;
	if (of_sums && fields & NAMES && !(fields & (BIT(LODE_ROW_TID) | BIT(LODE_ROW_PID))))
		return LODE_QUERY_CLOSED;
	return fields & NAMES ? LODE_QUERY_THREADS : LODE_QUERY_OPENED;
}

int lode_row_scan_start(struct lode_row_scan *scan, struct lode_query_data *data,
			const struct lode_row_filter *filter, int of_sums, unsigned fields, unsigned later)
{
	fields |= filtered_fields(filter);
	scan->data = data;
	scan->filter = filter;
	scan->of_sums = of_sums;
	scan->columns = columns_of(fields);
	scan->level = level_of(fields | later, of_sums);
	scan->stream = scan->block = 0;
	scan->in_stream = 0;
	/* Together they are made by several threads; a few are made when their turn comes. */
	if (of_sums && !filter->stream_set.is_given && !filter->thread_set.is_given)
		return lode_query_make_sums(data, 0, data->stream_count, scan->level == LODE_QUERY_STACKS);
	return 0;
}

/* ---- what fits, in one stream ---- */

static int fit_threads(struct lode_row_scan *scan)
{
	const struct lode_query_stream *stream = &scan->data->streams[scan->stream];
	size_t count = stream->entry->threads;

	lode_free(scan->thread_fits);
	scan->thread_fits = NULL;
	if (!scan->filter->thread_set.is_given)
		return 0;
	scan->thread_fits = lode_calloc(count + 1, 1);
	if (!scan->thread_fits)
		return LODE_SYSTEM;
	for (size_t i = 0; i < scan->filter->thread_set.numbers.count; i++) {
		int64_t thread = scan->filter->thread_set.numbers.items[i] - stream->first_thread;

		if (thread >= 0 && (uint64_t)thread < count)
			scan->thread_fits[thread] = 1;
	}
	return 0;
}

/* Narrows what fits to the stacks of a glob. */
static int fit_glob(struct lode_row_scan *scan, const char *text, size_t count)
{
	struct lode_stack_glob *glob = lode_stack_globs_get(&scan->data->globs, text);

	if (!glob || lode_stack_glob_extend(glob, &scan->data->dictionary) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++)
		scan->stack_fits[i] &= glob->nodes[i];
	return 0;
}

static int fit_stacks(struct lode_row_scan *scan)
{
	const struct lode_row_filter *filter = scan->filter;
	size_t count = scan->data->dictionary.tree.count;
	int code = 0;

	lode_free(scan->stack_fits);
	scan->stack_fits = NULL;
	if (!filter->stack_set.is_given && !filter->glob_count)
		return 0;
	scan->stack_fits = lode_calloc(count + 1, 1);
	if (!scan->stack_fits)
		return LODE_SYSTEM;
	if (!filter->stack_set.is_given)
		memset(scan->stack_fits, 1, count);
	for (size_t i = 0; i < filter->stack_set.numbers.count; i++) {
		int64_t stack = filter->stack_set.numbers.items[i];

		if (stack >= 0 && (uint64_t)stack < count)
			scan->stack_fits[stack] = 1;
	}
	for (size_t i = 0; !code && i < filter->glob_count; i++)
		code = fit_glob(scan, filter->globs[i], count);
	return code;
}

static int enter_stream(struct lode_row_scan *scan)
{
	struct lode_query_data *data = scan->data;
	int code = lode_query_must_stop(data) ? LODE_USAGE : 0;

	if (!code && scan->of_sums)
		code = lode_query_make_sums(data, scan->stream, scan->stream + 1, scan->level == LODE_QUERY_STACKS);
	if (!code)
		code = lode_query_load(data, scan->stream, scan->level);
	if (code || data->streams[scan->stream].unread)
		return code;
	if (fit_threads(scan) < 0 || fit_stacks(scan) < 0)
		return lode_query_no_memory(data);
	scan->block = 0;
	scan->before = scan->behind = 0;
	scan->in_stream = 1;
	return 0;
}

/* ---- rows of a block ---- */

static int fits(const struct lode_row_scan *scan, size_t i)
{
	const struct lode_events *events = &scan->rows.events;

	return (!scan->thread_fits || scan->thread_fits[events->thread[i]]) &&
	       (!scan->stack_fits || scan->stack_fits[events->stack[i]]) &&
	       (!events->cost || lode_row_in_range(&scan->filter->cost, events->cost[i])) &&
	       (!scan->rows.types || scan->filter->types & 1u << scan->rows.types[i]);
}

static int has_cost_range(const struct lode_row_filter *filter)
{
	return filter->cost.low > 0 || filter->cost.high < INT64_MAX;
}

/* Finds the rows between `first` and `end` that fit. */
static int pick_rows(struct lode_row_scan *scan)
{
	unsigned all = (1u << LODE_EVENT_TYPES) - 1;

	scan->picks = NULL;
	if (!scan->thread_fits && !scan->stack_fits && !has_cost_range(scan->filter) &&
	    (!scan->rows.types || scan->filter->types == all))
		return 0;
	if (LODE_GROW(scan->pick_room, scan->pick_capacity, scan->end - scan->first + 1) < 0)
		return lode_query_no_memory(scan->data);
	scan->pick_count = 0;
	for (size_t i = scan->first; i < scan->end; i++) {
		scan->pick_room[scan->pick_count] = (uint32_t)i;
		scan->pick_count += (size_t)(fits(scan, i) != 0);
	}
	scan->picks = scan->pick_room;
	return 0;
}

/* Unpacks a block, or finds it where it was unpacked before. */
static struct lode_scan_block *unpack(struct lode_row_scan *scan, size_t block)
{
	struct lode_scan_block *oldest = &scan->blocks[0];
	struct lode_error error = { "" };
	int code;

	/* A slot that is used again and again stays in the processor's cache. */
	for (size_t i = 0; i < (scan->keep_blocks ? LODE_SCAN_BLOCKS : 1); i++) {
		struct lode_scan_block *slot = &scan->blocks[i];

		if (slot->used && slot->stream == scan->stream && slot->block == block &&
		    slot->columns == scan->columns) {
			slot->used = ++scan->uses;
			return slot;
		}
		if (slot->used < oldest->used)
			oldest = slot;
	}
	oldest->used = 0;
	code = lode_store_events(scan->data->streams[scan->stream].store, block, scan->columns, &oldest->events,
				 &error);
	if (code) {
		scan->data->code = code;
		scan->data->error = error;
		return NULL;
	}
	oldest->stream = scan->stream;
	oldest->block = block;
	oldest->columns = scan->columns;
	oldest->used = ++scan->uses;
	return oldest;
}

/* The columns that were asked for now; others may be left from before. */
static struct lode_events view(const struct lode_events *events, unsigned columns)
{
	return (struct lode_events){
		.count = events->count,
		.t = columns & LODE_T ? events->t : NULL,
		.cost = columns & LODE_COST ? events->cost : NULL,
		.delay = columns & LODE_DELAY ? events->delay : NULL,
		.thread = columns & LODE_THREAD ? events->thread : NULL,
		.stack = columns & LODE_STACK ? events->stack : NULL,
		.waker = columns & LODE_WAKER ? events->waker : NULL,
		.waker_stack = columns & LODE_WAKER_STACK ? events->waker_stack : NULL,
		.name = columns & LODE_NAME ? events->name : NULL,
		.cpu = columns & LODE_CPU ? events->cpu : NULL,
		.weight = columns & LODE_WEIGHT ? events->weight : NULL,
		.object = columns & LODE_OBJECT ? events->object : NULL,
		.holder = columns & LODE_HOLDER ? events->holder : NULL,
		.context = columns & LODE_CONTEXT ? events->context : NULL,
	};
}

static int take_block(struct lode_row_scan *scan, size_t number)
{
	const struct lode_store_block *block = lode_store_block(scan->data->streams[scan->stream].store, number);
	const struct lode_row_range *t = &scan->filter->t;
	const struct lode_scan_block *unpacked;

	/* `last_t` is the latest end, which is not before any start. */
	if (!block->count || !(scan->filter->types & 1u << block->type) || t->low > t->high ||
	    lode_query_number(block->first_t) > t->high || lode_query_number(block->last_t) < t->low)
		return 0;
	scan->rows = (struct lode_rows){ .count = block->count,
					 .stream = (uint32_t)scan->stream,
					 .type = (uint8_t)block->type };
	scan->first = 0;
	scan->end = block->count;
	scan->picks = NULL;
	if (!scan->columns)
		return lode_query_must_stop(scan->data) ? LODE_USAGE : 1;
	unpacked = unpack(scan, number);
	if (!unpacked || lode_query_must_stop(scan->data))
		return unpacked ? LODE_USAGE : scan->data->code;
	scan->rows.events = view(&unpacked->events, scan->columns);
	if (scan->rows.events.t) {
		const uint64_t *times = scan->rows.events.t;

		scan->first = LODE_BISECT(i, 0, scan->end, lode_query_number(times[i]) < t->low);
		scan->end = LODE_BISECT(i, scan->first, scan->end, lode_query_number(times[i]) <= t->high);
	}
	return pick_rows(scan) < 0 ? scan->data->code : lode_row_scan_count(scan) > 0;
}

static int take_sums(struct lode_row_scan *scan)
{
	const struct lode_query_sums *sums = scan->data->streams[scan->stream].sums;

	scan->rows = (struct lode_rows){
		.count = sums->count,
		.events = { .count = sums->count, .thread = sums->thread, .stack = sums->stack, .cost = sums->cost },
		.n = sums->n,
		.types = sums->kind,
		.stream = (uint32_t)scan->stream,
	};
	scan->first = 0;
	scan->end = sums->count;
	return pick_rows(scan) < 0 ? scan->data->code : lode_row_scan_count(scan) > 0;
}

/* The next block of the current stream; leaves the stream behind its last one. */
static int next_of_stream(struct lode_row_scan *scan)
{
	const struct lode_store *store = scan->data->streams[scan->stream].store;
	size_t count = scan->of_sums ? 1 : lode_store_blocks(store);
	int found = 0;

	while (!found && scan->block < count) {
		scan->before = scan->behind;
		scan->behind += scan->of_sums ? 0 : lode_store_block(store, scan->block)->count;
		found = scan->of_sums ? take_sums(scan) : take_block(scan, scan->block);
		scan->block++;
	}
	scan->in_stream = found != 0;
	scan->stream += (size_t)(found == 0);
	return found;
}

int lode_row_scan_next(struct lode_row_scan *scan)
{
	struct lode_query_data *data = scan->data;
	int code = 0, found = 0;

	while (!found && scan->stream < data->stream_count) {
		if (!scan->in_stream && !lode_row_filter_has_stream(scan->filter, data, scan->stream)) {
			scan->stream++;
			continue;
		}
		if (!scan->in_stream && (code = enter_stream(scan)))
			return code;
		if (scan->in_stream)
			found = next_of_stream(scan);
	}
	return found;
}
