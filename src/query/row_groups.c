/*
 * Groups of rows: see row_groups.h.
 *
 * Two passes over the events. The first one reads only the columns to group by, gives each distinct
 * combination a number, and notes the number of each row. Then the place of each group is known, and the second
 * pass copies the columns straight to where they belong: a counting sort whose keys are numbered as they
 * appear, linear in the rows for any key. Groups are placed in the order that SQL has, texts by their bytes.
 */
#include "query/row_groups.h"

#include <stdlib.h>
#include <string.h>

struct group {
	uint64_t key;
	size_t count; /* rows; then the place of the next one */
};

struct grouping {
	struct lode_query_data *data;
	const struct lode_row_plan *plan;
	LODE_ARRAY(struct group) groups;
	struct lode_index index;
	LODE_ARRAY(uint32_t) of_rows; /* the group of each row, in the order of the scan */
	uint32_t last;                /* the group of the row before */
};

void lode_rows_release(struct lode_rows *rows)
{
	lode_events_release(&rows->events);
	lode_free(rows->n);
	lode_free(rows->streams);
	lode_free(rows->types);
	memset(rows, 0, sizeof(*rows));
}

/* ---- keys ---- */

/* In the order that SQL has, but for texts: NULL is less than anything. */
static uint64_t key_of_field(const struct grouping *grouping, enum lode_row_field field,
			     const struct lode_rows *rows, size_t i)
{
	static const uint64_t types[LODE_EVENT_TYPES] = { [LODE_CALL] = 0, [LODE_RUN] = 1, [LODE_WAIT] = 2 };
	const struct lode_events *events = &rows->events;
	uint64_t first = (uint64_t)grouping->data->streams[lode_rows_stream(rows, i)].first_thread;

	switch (field) {
	case LODE_ROW_STREAM:
		return lode_rows_stream(rows, i);
	case LODE_ROW_TYPE:
		return types[lode_rows_type(rows, i)];
	case LODE_ROW_THREAD:
		return first + events->thread[i];
	case LODE_ROW_WAKER:
		return events->waker[i] == LODE_NONE ? 0 : first + events->waker[i] + 1;
	case LODE_ROW_HOLDER:
		return lode_events_holder(events, i) == LODE_NONE ? 0 : first + lode_events_holder(events, i) + 1;
	case LODE_ROW_CPU:
		return events->cpu[i] == LODE_NO_CPU ? 0 : (uint64_t)events->cpu[i] + 1;
	case LODE_ROW_STACK:
		return events->stack[i];
	case LODE_ROW_WAKER_STACK:
		return events->waker_stack[i];
	case LODE_ROW_NAME:
		return events->name[i];
	case LODE_ROW_OBJECT:
		return lode_events_object(events, i);
	default:
		return lode_events_context(events, i);
	}
}

static uint64_t key_of(const struct grouping *grouping, const struct lode_rows *rows, size_t i)
{
	const struct lode_row_plan *plan = grouping->plan;
	uint64_t key = key_of_field(grouping, plan->groups[0], rows, i);

	for (size_t k = 1; k < plan->group_count; k++)
		key = key << lode_row_group_bits(grouping->data, plan->groups[k]) |
		      key_of_field(grouping, plan->groups[k], rows, i);
	return key;
}

static uint32_t group_of(struct grouping *grouping, uint64_t key)
{
	const struct group *groups = grouping->groups.items;
	uint64_t hash;
	uint32_t found;

	if (grouping->last < grouping->groups.count && groups[grouping->last].key == key)
		return grouping->last;
	hash = lode_hash_u64(key);
	found = LODE_INDEX_FIND(at, &grouping->index, hash, groups[at].key == key);
	if (found == LODE_NONE) {
		if (LODE_INDEX_PUSH(&grouping->index, hash, &grouping->groups, (struct group){ key, 0 }) < 0)
			return LODE_NONE;
		found = (uint32_t)grouping->groups.count - 1;
	}
	return grouping->last = found;
}

/* ---- texts ---- */

static int is_text(enum lode_row_field field)
{
	return field == LODE_ROW_NAME || field == LODE_ROW_OBJECT || field == LODE_ROW_CONTEXT;
}

/* Where the number of a field begins in a key. */
static int shift_of(const struct grouping *grouping, size_t k)
{
	const struct lode_row_plan *plan = grouping->plan;
	int shift = 0;

	while (++k < plan->group_count)
		shift += lode_row_group_bits(grouping->data, plan->groups[k]);
	return shift;
}

/* The texts that groups have. */
struct texts {
	uint32_t *ranks; /* by string: its place among them, from 1; 0: none has it */
	uint32_t *used;  /* strings */
	size_t count;
};

static void collect_texts(const struct grouping *grouping, int shift, struct texts *texts)
{
	for (size_t i = 0; i < grouping->groups.count; i++) {
		uint32_t string = (uint32_t)(grouping->groups.items[i].key >> shift);

		if (!string || texts->ranks[string])
			continue;
		texts->ranks[string] = 1;
		texts->used[texts->count++] = string;
	}
}

static void put_ranks(struct grouping *grouping, int shift, const struct texts *texts)
{
	for (size_t i = 0; i < grouping->groups.count; i++) {
		uint64_t *key = &grouping->groups.items[i].key;
		uint64_t string = *key >> shift & UINT32_MAX;

		*key += (texts->ranks[string] - string) << shift;
	}
}

static int compare_texts(const void *a, const void *b, void *strings)
{
	return strcmp(lode_strings_get(strings, *(const uint32_t *)a),
		      lode_strings_get(strings, *(const uint32_t *)b));
}

/* Numbers of strings say nothing about the order of their texts, so in the keys ranks take their place. */
static int rank_texts(struct grouping *grouping)
{
	struct lode_strings *strings = &grouping->data->dictionary.frames.strings;
	const struct lode_row_plan *plan = grouping->plan;
	struct texts texts = { lode_calloc(strings->count + 1, sizeof(*texts.ranks)),
			       lode_calloc(strings->count + 1, sizeof(*texts.used)), 0 };
	int code = texts.ranks && texts.used ? 0 : lode_query_no_memory(grouping->data);

	for (size_t k = 0; !code && k < plan->group_count; k++)
		if (is_text(plan->groups[k]))
			collect_texts(grouping, shift_of(grouping, k), &texts);
	if (texts.count)
		qsort_r(texts.used, texts.count, sizeof(*texts.used), compare_texts, strings);
	for (size_t i = 0; i < texts.count; i++)
		texts.ranks[texts.used[i]] = (uint32_t)i + 1;
	for (size_t k = 0; !code && k < plan->group_count; k++)
		if (is_text(plan->groups[k]))
			put_ranks(grouping, shift_of(grouping, k), &texts);
	lode_free(texts.ranks);
	lode_free(texts.used);
	return code;
}

/* ---- the first pass ---- */

static int number_block(struct grouping *grouping, const struct lode_row_scan *scan)
{
	size_t count = lode_row_scan_count(scan);

	if (LODE_RESERVE(&grouping->of_rows, count) < 0)
		return lode_query_no_memory(grouping->data);
	for (size_t i = 0; i < count; i++) {
		uint32_t group = group_of(grouping, key_of(grouping, &scan->rows, lode_row_scan_at(scan, i)));

		if (group == LODE_NONE)
			return lode_query_no_memory(grouping->data);
		grouping->groups.items[group].count++;
		grouping->of_rows.items[grouping->of_rows.count++] = group;
	}
	return 0;
}

static int compare_groups(const void *a, const void *b, void *context)
{
	const struct group *groups = context;
	uint64_t x = groups[*(const uint32_t *)a].key, y = groups[*(const uint32_t *)b].key;

	return (x > y) - (x < y);
}

/* Turns the number of rows of each group into the place of its first one. */
static int place_groups(struct grouping *grouping, size_t *total)
{
	size_t count = grouping->groups.count, place = 0;
	uint32_t *order = lode_calloc(count + 1, sizeof(*order));

	if (!order)
		return lode_query_no_memory(grouping->data);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_groups, grouping->groups.items);
	for (size_t i = 0; i < count; i++) {
		struct group *group = &grouping->groups.items[order[i]];
		size_t rows = grouping->plan->distinct ? 1 : group->count;

		group->count = place;
		place += rows;
	}
	lode_free(order);
	*total = place;
	return 0;
}

/* ---- the second pass ---- */

static int make_room(struct lode_rows *rows, const struct lode_row_scan *scan, unsigned fields, size_t total)
{
	if (!scan->of_sums && scan->columns && lode_events_reserve(&rows->events, total + 1, scan->columns) < 0)
		return LODE_SYSTEM;
	if (scan->of_sums && lode_events_reserve(&rows->events, total + 1, LODE_THREAD | LODE_STACK | LODE_COST) < 0)
		return LODE_SYSTEM;
	if (scan->of_sums && !(rows->n = lode_calloc(total + 1, sizeof(*rows->n))))
		return LODE_SYSTEM;
	/* Which stream a thread is of is part of its number. */
	if (!(rows->streams = lode_calloc(total + 1, sizeof(*rows->streams))))
		return LODE_SYSTEM;
	if (fields & 1u << LODE_ROW_TYPE && !(rows->types = lode_calloc(total + 1, sizeof(*rows->types))))
		return LODE_SYSTEM;
	rows->count = total;
	return 0;
}

/* Copies a column of a block's rows to their places. */
#define SCATTER(to, from)                                                                                         \
	do {                                                                                                      \
		if ((to) && (from))                                                                               \
			for (size_t i_ = 0; i_ < count; i_++)                                                     \
				(to)[places[i_]] = (from)[lode_row_scan_at(scan, i_)];                            \
	} while (0)

static void scatter_columns(struct lode_rows *rows, const struct lode_row_scan *scan, const uint32_t *places,
			    size_t count)
{
	struct lode_events *to = &rows->events;
	const struct lode_events *from = &scan->rows.events;

	SCATTER(to->t, from->t);
	SCATTER(to->cost, from->cost);
	SCATTER(to->delay, from->delay);
	SCATTER(to->thread, from->thread);
	SCATTER(to->stack, from->stack);
	SCATTER(to->waker, from->waker);
	SCATTER(to->waker_stack, from->waker_stack);
	SCATTER(to->name, from->name);
	SCATTER(to->cpu, from->cpu);
	SCATTER(to->weight, from->weight);
	SCATTER(to->object, from->object);
	SCATTER(to->holder, from->holder);
	SCATTER(to->context, from->context);
	SCATTER(rows->n, scan->rows.n);
	SCATTER(rows->types, scan->rows.types);
	for (size_t i = 0; i < count; i++)
		rows->streams[places[i]] = scan->rows.stream;
	for (size_t i = 0; rows->types && !scan->rows.types && i < count; i++)
		rows->types[places[i]] = scan->rows.type;
}

/* `groups`: of the rows of the block; they become their places. */
static void place_block(struct grouping *grouping, const struct lode_row_scan *scan, uint32_t *groups,
			struct lode_rows *rows)
{
	size_t count = lode_row_scan_count(scan);

	for (size_t i = 0; i < count; i++) {
		struct group *group = &grouping->groups.items[groups[i]];

		groups[i] = (uint32_t)group->count;
		group->count += (size_t)!grouping->plan->distinct;
	}
	scatter_columns(rows, scan, groups, count);
}

static unsigned group_fields(const struct lode_row_plan *plan)
{
	unsigned fields = 0;

	for (size_t i = 0; i < plan->group_count; i++)
		fields |= 1u << plan->groups[i];
	return fields;
}

static int number_rows(struct grouping *grouping, struct lode_row_scan *scan, const struct lode_row_filter *filter,
		       int of_sums)
{
	unsigned fields = group_fields(grouping->plan);
	int code = lode_row_scan_start(scan, grouping->data, filter, of_sums, fields, grouping->plan->fields),
	    found = 0;

	while (!code && (found = lode_row_scan_next(scan)) > 0)
		code = number_block(grouping, scan);
	return code ? code : found;
}

/* Rows are matched with their groups by their order alone. */
static int fail_changed(struct lode_query_data *data)
{
	return data->code = lode_fail(&data->error, LODE_SYSTEM,
				      "query: a stream changed while it was read; ask again");
}

static int place_rows(struct grouping *grouping, struct lode_row_scan *scan, const struct lode_row_filter *filter,
		      int of_sums, size_t total, struct lode_rows *rows)
{
	unsigned fields = grouping->plan->fields | group_fields(grouping->plan);
	size_t done = 0;
	int code = lode_row_scan_start(scan, grouping->data, filter, of_sums, fields, 0), found = 0;

	if (!code && make_room(rows, scan, fields, total) < 0)
		code = lode_query_no_memory(grouping->data);
	while (!code && (found = lode_row_scan_next(scan)) > 0) {
		if (lode_row_scan_count(scan) > grouping->of_rows.count - done)
			return fail_changed(grouping->data);
		place_block(grouping, scan, grouping->of_rows.items + done, rows);
		done += lode_row_scan_count(scan);
	}
	if (!code && !found && done < grouping->of_rows.count)
		return fail_changed(grouping->data);
	return code ? code : found;
}

int lode_row_groups_make(struct lode_query_data *data, const struct lode_row_plan *plan, struct lode_row_scan *scan,
			 const struct lode_row_filter *filter, int of_sums, struct lode_rows *rows)
{
	struct grouping grouping = { .data = data, .plan = plan, .last = LODE_NONE };
	size_t total = 0;
	int code = number_rows(&grouping, scan, filter, of_sums);

	memset(rows, 0, sizeof(*rows));
	if (!code)
		code = rank_texts(&grouping);
	if (!code)
		code = place_groups(&grouping, &total);
	if (!code)
		code = place_rows(&grouping, scan, filter, of_sums, total, rows);
	lode_free(grouping.groups.items);
	lode_free(grouping.of_rows.items);
	lode_index_release(&grouping.index);
	return code;
}
