/*
 * How the latencies of each node are spread: see sketch.h.
 *
 * Most nodes have few instances, and those lie close together: a node keeps only the steps
 * that occur, in a row that is short enough for a line or two of cache. Rows that grow move
 * to a place twice as large; what they leave behind is never more than what they have.
 */
#include "latency/sketch.h"

#include "base/error.h"

#include <string.h>

#define FIRST_BINS 2u
#define FINE	   3 /* bits of a number below its highest one that choose the step */

uint32_t lode_sketch_step(uint64_t latency)
{
	unsigned high;

	if (latency < 2u << FINE)
		return (uint32_t)latency;
	high = 63u - (unsigned)__builtin_clzll(latency);
	return ((high - FINE) << FINE) + (uint32_t)(latency >> (high - FINE));
}

/* The inverse: above the exact numbers, adding 1 << FINE steps doubles the number. */
uint64_t lode_sketch_floor(uint32_t step)
{
	unsigned shift;

	if (step < 2u << FINE)
		return step;
	shift = (step >> FINE) - 1;
	return (uint64_t)((step & ((1u << FINE) - 1)) | 1u << FINE) << shift;
}

void lode_sketch_release(struct lode_sketch *sketch)
{
	lode_free(sketch->rows);
	lode_arena_release(&sketch->arena);
	memset(sketch, 0, sizeof(*sketch));
}

static struct lode_sketch_row *row_of(struct lode_sketch *sketch, uint32_t node)
{
	if (node < sketch->count)
		return &sketch->rows[node];
	if (lode_grow(&sketch->rows, &sketch->capacity, (size_t)node + 1, sizeof(*sketch->rows)) < 0)
		return NULL;
	memset(sketch->rows + sketch->count, 0, (node + 1 - sketch->count) * sizeof(*sketch->rows));
	sketch->count = (size_t)node + 1;
	return &sketch->rows[node];
}

static int make_room(struct lode_sketch *sketch, struct lode_sketch_row *row)
{
	uint32_t capacity = row->capacity ? 2 * row->capacity : FIRST_BINS;
	struct lode_sketch_bin *bins;

	if (row->count < row->capacity)
		return 0;
	bins = lode_arena_alloc(&sketch->arena, capacity * sizeof(*bins));
	if (!bins)
		return LODE_SYSTEM;
	if (row->count)
		memcpy(bins, row->bins, row->count * sizeof(*bins));
	row->bins = bins;
	row->capacity = capacity;
	return 0;
}

/* The first bin that is not below `step`. */
static uint32_t place_of(const struct lode_sketch_row *row, uint32_t step)
{
	uint32_t low = 0, high = row->count;

	while (low < high) {
		uint32_t half = low + (high - low) / 2;

		if (row->bins[half].step < step)
			low = half + 1;
		else
			high = half;
	}
	return low;
}

static int add(struct lode_sketch *sketch, uint32_t node, uint32_t step, uint32_t count)
{
	struct lode_sketch_row *row = row_of(sketch, node);
	struct lode_sketch_bin *bin;
	uint32_t place;

	if (!row)
		return LODE_SYSTEM;
	place = place_of(row, step);
	if (place == row->count || row->bins[place].step != step) {
		if (make_room(sketch, row) < 0)
			return LODE_SYSTEM;
		memmove(&row->bins[place + 1], &row->bins[place], (row->count++ - place) * sizeof(*row->bins));
		row->bins[place] = (struct lode_sketch_bin){ step, 0 };
	}
	bin = &row->bins[place];
	bin->count = bin->count < UINT32_MAX - count ? bin->count + count : UINT32_MAX;
	return 0;
}

int lode_sketch_add(struct lode_sketch *sketch, uint32_t node, uint64_t latency)
{
	return add(sketch, node, lode_sketch_step(latency), 1);
}

int lode_sketch_merge(struct lode_sketch *sketch, const struct lode_sketch *from, const uint32_t *nodes)
{
	int code = 0;

	for (size_t node = 0; node < from->count; node++)
		for (uint32_t i = 0; !code && i < from->rows[node].count; i++)
			code = add(sketch, nodes[node], from->rows[node].bins[i].step, from->rows[node].bins[i].count);
	return code;
}

static uint64_t middle_of(uint32_t step)
{
	uint64_t low = lode_sketch_floor(step);

	/* Behind the last step the next one's floor is 2^64, which wraps to 0 as it should. */
	return low + (lode_sketch_floor(step + 1) - low - 1) / 2;
}

uint64_t lode_sketch_quantile(const struct lode_sketch *sketch, uint32_t node, double share)
{
	const struct lode_sketch_row *row = node < sketch->count ? &sketch->rows[node] : NULL;
	uint64_t total = 0, rank, before = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; row && i < row->count; i++)
		total += row->bins[i].count;
	if (!total)
		return 0;
	rank = (uint64_t)(share * (double)(total - 1) + 0.5);
	while (at + 1 < row->count && before + row->bins[at].count <= rank)
		before += row->bins[at++].count;
	return middle_of(row->bins[at].step);
}
