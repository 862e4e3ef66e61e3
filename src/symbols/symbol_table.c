/*
 * Table: see symbol_table.h.
 *
 * Segments are cut in one sweep over the ranges in order of their starts. The
 * ranges that are open at the sweep's position are in a heap with the latest
 * added on top: the top owns the address. A range that has ended is dropped when
 * it comes to the top, so each enters and leaves the heap once. Every segment
 * begins where some range starts or ends, so there are at most 2n.
 *
 */
#include "symbols/symbol_table.h"

#include "base/error.h"
#include "base/sort_order.h"

#include <string.h>

void lode_table_builder_release(struct lode_table_builder *builder)
{
	lode_free(builder->records);
	lode_free(builder->loads.items);
	lode_buffer_release(&builder->strings);
	memset(builder, 0, sizeof(*builder));
}

uint32_t lode_table_name(struct lode_table_builder *builder, const char *text, size_t length)
{
	size_t offset = builder->strings.size;

	length = strnlen(text, length);
	if (length >= LODE_TABLE_STRING_LIMIT - offset) {
		builder->failed = 1;
		return LODE_NONE;
	}
	lode_buffer_add(&builder->strings, text, length);
	lode_buffer_byte(&builder->strings, '\0');
	return (uint32_t)offset;
}

void lode_table_add(struct lode_table_builder *builder, uint64_t start, uint64_t end, uint32_t name, uint32_t link)
{
	if (builder->failed || builder->count >= LODE_TABLE_LIMIT ||
	    LODE_APPEND(builder->records, builder->count, builder->capacity,
			(struct lode_table_record){ start, end, name, link }) < 0)
		builder->failed = 1;
}

void lode_table_add_load(struct lode_table_builder *builder, const struct lode_load *load)
{
	LODE_PUSH(&builder->loads, *load);
}

/* The open ranges, latest added on top. */
struct heap {
	uint32_t *items;
	size_t count;
};

static void heap_push(struct heap *heap, uint32_t item)
{
	size_t at = heap->count++;

	while (at && heap->items[(at - 1) / 2] < item) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = item;
}

static void heap_pop(struct heap *heap)
{
	uint32_t item = heap->items[--heap->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < heap->count && heap->items[child + 1] > heap->items[child])
			child++;
		if (child >= heap->count || heap->items[child] <= item)
			break;
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = item;
}

struct sweep {
	const struct lode_table_record *records;
	struct heap open;
	uint64_t position;
	uint64_t *starts;
	uint32_t *owners;
	size_t segments;
};

static void begin_segment(struct sweep *sweep, uint32_t owner)
{
	if (sweep->segments && sweep->starts[sweep->segments - 1] == sweep->position)
		sweep->segments--;
	if (sweep->segments ? sweep->owners[sweep->segments - 1] == owner : owner == LODE_NONE)
		return;
	sweep->starts[sweep->segments] = sweep->position;
	sweep->owners[sweep->segments++] = owner;
}

/* Hands out the addresses from the sweep's position up to `limit`. */
static void sweep_to(struct sweep *sweep, uint64_t limit)
{
	while (sweep->open.count) {
		uint32_t owner = sweep->open.items[0];
		uint64_t end = sweep->records[owner].end;

		if (end <= sweep->position) {
			heap_pop(&sweep->open);
			continue;
		}
		begin_segment(sweep, owner);
		if (end >= limit) {
			sweep->position = limit;
			return;
		}
		sweep->position = end;
	}
	if (sweep->segments)
		begin_segment(sweep, LODE_NONE);
	sweep->position = limit;
}

static void cut_segments(struct sweep *sweep, const uint32_t *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct lode_table_record *record = &sweep->records[order[i]];

		if (record->start >= record->end)
			continue;
		if (record->start != sweep->position || !sweep->segments)
			sweep_to(sweep, record->start);
		heap_push(&sweep->open, order[i]);
	}
	sweep_to(sweep, UINT64_MAX);
}

static int make_segments(const struct lode_table_builder *builder, struct lode_table *table)
{
	size_t count = builder->count;
	uint64_t *keys = lode_realloc(NULL, count, sizeof(*keys));
	uint32_t *order = lode_realloc(NULL, count, sizeof(*order));
	struct sweep sweep = { .records = builder->records };
	int code = LODE_SYSTEM;

	sweep.open.items = lode_realloc(NULL, count, sizeof(*sweep.open.items));
	sweep.starts = lode_realloc(NULL, 2 * count + 1, sizeof(*sweep.starts));
	sweep.owners = lode_realloc(NULL, 2 * count + 1, sizeof(*sweep.owners));
	table->owned[0] = sweep.starts;
	table->owned[1] = sweep.owners;
	if (!keys || !order || !sweep.open.items || !sweep.starts || !sweep.owners)
		goto out;
	for (size_t i = 0; i < count; i++)
		keys[i] = builder->records[i].start;
	code = lode_sort_order(keys, count, order);
	if (code < 0)
		goto out;
	cut_segments(&sweep, order, count);
	table->starts = sweep.starts;
	table->owners = sweep.owners;
	table->segments = sweep.segments;
out:
	lode_free(keys);
	lode_free(order);
	lode_free(sweep.open.items);
	return code;
}

/* The builder's arrays become the table's; the strings always get a NUL at the end. */
static void take_arrays(struct lode_table_builder *builder, struct lode_table *table)
{
	table->owned[2] = builder->records;
	table->owned[3] = builder->loads.items;
	table->owned[4] = builder->strings.bytes;
	table->records = builder->records;
	table->count = builder->count;
	table->loads = builder->loads.items;
	table->load_count = builder->loads.count;
	table->strings = builder->strings.bytes;
	table->string_size = builder->strings.size;
	memset(builder, 0, sizeof(*builder));
}

int lode_table_finish(struct lode_table_builder *builder, struct lode_table *table)
{
	memset(table, 0, sizeof(*table));
	if (!builder->strings.size || builder->strings.bytes[builder->strings.size - 1])
		lode_buffer_byte(&builder->strings, '\0');
	if (builder->failed || builder->loads.failed || builder->strings.failed ||
	    (builder->count && make_segments(builder, table) < 0)) {
		lode_table_builder_release(builder);
		lode_table_release(table);
		return LODE_SYSTEM;
	}
	take_arrays(builder, table);
	return 0;
}

void lode_table_release(struct lode_table *table)
{
	for (size_t i = 0; i < sizeof(table->owned) / sizeof(table->owned[0]); i++)
		lode_free(table->owned[i]);
	lode_map_close(&table->map);
	memset(table, 0, sizeof(*table));
}

uint32_t lode_table_find(const struct lode_table *table, uint64_t address)
{
	const uint64_t *base = table->starts;
	size_t left = table->segments;
	uint32_t owner;

	if (!left || address < base[0])
		return LODE_NONE;
	while (left > 1) {
		size_t half = left / 2;

		base = base[half] <= address ? base + half : base;
		left -= half;
	}
	owner = table->owners[base - table->starts];
	return owner < table->count ? owner : LODE_NONE;
}

const char *lode_table_text(const struct lode_table *table, uint32_t offset)
{
	return offset < table->string_size ? table->strings + offset : NULL;
}
