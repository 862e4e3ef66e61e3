/*
 * Events in columns: see events.h.
 *
 * Sorting works on an array of row numbers; each column is permuted afterwards, one at a time.
 */
#include "trace/events.h"

#include "base/error.h"
#include "base/sort_order.h"

#include <string.h>

const char *lode_event_type_name(enum lode_event_type type)
{
	static const char *const names[LODE_EVENT_TYPES] = { "run", "wait", "call" };

	return names[type];
}

/* The position of a column in struct lode_events, and its width. */
struct column {
	size_t offset;
	size_t width;
};

#define COLUMN(field)                                                                                             \
	{                                                                                                         \
		offsetof(struct lode_events, field), sizeof(*((struct lode_events *)0)->field)                    \
	}

/* In the order of enum lode_column. */
static const struct column columns[] = {
	COLUMN(t),      COLUMN(cost),        COLUMN(delay),   COLUMN(thread), COLUMN(stack),
	COLUMN(waker),  COLUMN(waker_stack), COLUMN(name),    COLUMN(cpu),    COLUMN(weight),
	COLUMN(object), COLUMN(holder),      COLUMN(context),
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void **column_of(struct lode_events *events, size_t i)
{
	return (void **)(void *)((char *)events + columns[i].offset);
}

void lode_events_release(struct lode_events *events)
{
	for (size_t i = 0; i < COLUMNS; i++)
		lode_free(*column_of(events, i));
	memset(events, 0, sizeof(*events));
}

void lode_events_keep_threads(struct lode_events *events, const uint8_t *threads)
{
	size_t kept = 0;

	for (size_t i = 0; i < events->count; i++) {
		if (!threads[events->thread[i]])
			continue;
		for (size_t k = 0; kept < i && k < COLUMNS; k++) {
			char *column = *column_of(events, k);

			if (column)
				memcpy(column + kept * columns[k].width, column + i * columns[k].width,
				       columns[k].width);
		}
		kept++;
	}
	events->count = kept;
}

unsigned lode_events_columns(const struct lode_events *events)
{
	unsigned mask = 0;

	for (size_t i = 0; i < COLUMNS; i++) {
		const void *column;

		memcpy(&column, (const char *)events + columns[i].offset, sizeof(column));
		mask |= column ? 1u << i : 0;
	}
	return mask;
}

/* What events from `first` on have that were added without a rare column. */
static void fill_rare(struct lode_events *events, size_t first, unsigned fresh)
{
	for (size_t i = first; fresh & LODE_WEIGHT && i < events->count; i++)
		events->weight[i] = 1;
	for (size_t i = first; fresh & LODE_OBJECT && i < events->count; i++)
		events->object[i] = 0;
	for (size_t i = first; fresh & LODE_HOLDER && i < events->count; i++)
		events->holder[i] = LODE_NONE;
	for (size_t i = 0; fresh & LODE_CONTEXT && i < events->count; i++)
		events->context[i] = 0;
}

/* One capacity holds for all columns, so those that are there already grow with the ones of the mask. */
int lode_events_reserve(struct lode_events *events, size_t capacity, unsigned mask)
{
	unsigned had = lode_events_columns(events);
	size_t room = capacity > events->capacity ? capacity : events->capacity;

	if (room > events->capacity)
		mask |= had;
	for (size_t i = 0; i < COLUMNS; i++) {
		void **column = column_of(events, i);
		void *grown;

		if (!(mask & 1u << i) || (*column && room == events->capacity))
			continue;
		grown = lode_realloc(*column, room, columns[i].width);
		if (!grown)
			return LODE_SYSTEM;
		*column = grown;
	}
	fill_rare(events, 0, lode_events_columns(events) & ~had);
	events->capacity = room;
	return 0;
}

/* Event `i` of `from` at place `at`; a rare column that is not there stays as it was filled. */
static void copy_event(struct lode_events *events, size_t at, const struct lode_events *from, size_t i)
{
	for (size_t k = 0; k < COLUMNS; k++) {
		char *column = *column_of(events, k);
		const char *source;

		memcpy(&source, (const char *)from + columns[k].offset, sizeof(source));
		if (column && source)
			memcpy(column + at * columns[k].width, source + i * columns[k].width, columns[k].width);
	}
}

int lode_events_append(struct lode_events *events, const struct lode_events *from, const uint8_t *wanted)
{
	size_t at = events->count, all = at;

	for (size_t i = 0; i < from->count; i++)
		all += wanted[i] != 0;
	if (all == at)
		return 0;
	if (lode_events_reserve(events, all, lode_events_columns(events) | lode_events_columns(from)) < 0)
		return LODE_SYSTEM;
	events->count = all;
	fill_rare(events, at, lode_events_columns(events) & ~lode_events_columns(from));
	for (size_t i = 0; i < from->count; i++)
		if (wanted[i])
			copy_event(events, at++, from, i);
	return 0;
}

/* Makes the rare columns that the event needs. */
static int need_rare(struct lode_events *events, const struct lode_event *event)
{
	unsigned missing = (event->weight > 1 && !events->weight ? LODE_WEIGHT : 0) |
			   (event->object && !events->object ? LODE_OBJECT : 0) |
			   (event->object && event->holder != LODE_NONE && !events->holder ? LODE_HOLDER : 0) |
			   (event->context && !events->context ? LODE_CONTEXT : 0);

	return missing ? lode_events_reserve(events, events->capacity, missing) : 0;
}

int lode_events_add(struct lode_events *events, const struct lode_event *event)
{
	size_t i = events->count;
	unsigned mask = lode_events_columns(events) | (LODE_ALL_COLUMNS & ~LODE_RARE_COLUMNS);

	if ((i == events->capacity && lode_events_reserve(events, i ? i * 2 : 256, mask) < 0) ||
	    need_rare(events, event) < 0)
		return LODE_SYSTEM;
	if (events->weight)
		events->weight[i] = event->weight ? event->weight : 1;
	if (events->object)
		events->object[i] = event->object;
	if (events->holder)
		events->holder[i] = event->object ? event->holder : LODE_NONE;
	if (events->context)
		events->context[i] = event->context;
	events->t[i] = event->t;
	events->cost[i] = event->cost;
	events->delay[i] = event->delay;
	events->thread[i] = event->thread;
	events->stack[i] = event->stack;
	events->waker[i] = event->waker;
	events->waker_stack[i] = event->waker_stack;
	events->name[i] = event->name;
	events->cpu[i] = event->cpu;
	events->count++;
	return 0;
}

struct lode_event lode_events_get(const struct lode_events *events, size_t i)
{
	return (struct lode_event){
		.t = events->t[i],
		.cost = events->cost[i],
		.delay = events->delay[i],
		.thread = events->thread[i],
		.stack = events->stack[i],
		.waker = events->waker[i],
		.waker_stack = events->waker_stack[i],
		.name = events->name[i],
		.cpu = events->cpu[i],
		.weight = (uint32_t)lode_events_weight(events, i),
		.object = lode_events_object(events, i),
		.holder = lode_events_holder(events, i),
		.context = lode_events_context(events, i),
	};
}

int lode_events_thinned(const struct lode_events *events)
{
	for (size_t i = 0; events->weight && i < events->count; i++)
		if (events->weight[i] > 1)
			return 1;
	return 0;
}

int lode_events_have_objects(const struct lode_events *events)
{
	for (size_t i = 0; events->object && i < events->count; i++)
		if (events->object[i])
			return 1;
	return 0;
}

#define PERMUTE(type)                                                                                             \
	do {                                                                                                      \
		const type *source = from;                                                                        \
		type *target = to;                                                                                \
		for (size_t row = 0; row < count; row++)                                                          \
			target[row] = source[order[row]];                                                         \
	} while (0)

static void permute_column(const void *from, void *to, size_t width, const uint32_t *order, size_t count)
{
	if (width == sizeof(uint64_t))
		PERMUTE(uint64_t);
	else if (width == sizeof(uint32_t))
		PERMUTE(uint32_t);
	else
		PERMUTE(uint16_t);
}

#undef PERMUTE

/* Whether all rows have one value, as some columns do in most recordings. */
static int is_constant(const void *column, size_t size, size_t width)
{
	return memcmp(column, (const char *)column + width, size - width) == 0;
}

static int permute(struct lode_events *events, const uint32_t *order)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		void **column = column_of(events, i), *sorted;

		if (!*column || is_constant(*column, events->count * columns[i].width, columns[i].width))
			continue;
		sorted = lode_realloc(NULL, events->capacity, columns[i].width);
		if (!sorted)
			return LODE_SYSTEM;
		permute_column(*column, sorted, columns[i].width, order, events->count);
		lode_free(*column);
		*column = sorted;
	}
	return 0;
}

static int is_sorted(const struct lode_events *events)
{
	for (size_t i = 1; i < events->count; i++)
		if (events->t[i - 1] > events->t[i])
			return 0;
	return 1;
}

int lode_events_sort(struct lode_events *events)
{
	uint32_t *order;
	int code;

	if (is_sorted(events))
		return 0;
	if (events->count >= LODE_NONE)
		return LODE_SYSTEM;
	order = lode_realloc(NULL, events->count, sizeof(*order));
	code = order ? lode_sort_order(events->t, events->count, order) : LODE_SYSTEM;
	if (code == 0)
		code = permute(events, order);
	lode_free(order);
	return code;
}
