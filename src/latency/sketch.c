/*
 * How the latencies of each node are spread: see sketch.h.
 *
 * The cells of all nodes lie in one hash table, node and step together being the key: most
 * nodes have few instances, and those lie close together. For asking, the cells are packed
 * and sorted, and a node's are a row.
 */
#include "latency/sketch.h"

#include "base/error.h"
#include "base/index.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256u
#define FINE	       3 /* bits of a number below its highest one that choose the step */

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
	lode_free(sketch->cells);
	memset(sketch, 0, sizeof(*sketch));
}

/* The cell of a key, or the free one where it belongs. */
static struct lode_sketch_cell *find(const struct lode_sketch *sketch, uint32_t node, uint32_t step)
{
	size_t at = (size_t)lode_hash_pair(node, step) >> 20;

	for (;; at++) {
		struct lode_sketch_cell *cell = &sketch->cells[at & (sketch->capacity - 1)];

		if (cell->node == LODE_NONE || (cell->node == node && cell->step == step))
			return cell;
	}
}

/* Half of the cells stay free. */
static int make_room(struct lode_sketch *sketch)
{
	struct lode_sketch old = *sketch;
	size_t capacity = old.capacity ? 2 * old.capacity : FIRST_CAPACITY;
	struct lode_sketch_cell *cells;

	if (2 * (old.count + 1) <= old.capacity)
		return 0;
	cells = lode_calloc(capacity, sizeof(*cells));
	if (!cells)
		return LODE_SYSTEM;
	for (size_t i = 0; i < capacity; i++)
		cells[i].node = LODE_NONE;
	sketch->cells = cells;
	sketch->capacity = capacity;
	for (size_t i = 0; i < old.capacity; i++)
		if (old.cells[i].node != LODE_NONE)
			*find(sketch, old.cells[i].node, old.cells[i].step) = old.cells[i];
	lode_free(old.cells);
	return 0;
}

static int add_cell(struct lode_sketch *sketch, uint32_t node, uint32_t step, uint64_t count)
{
	struct lode_sketch_cell *cell;

	if (make_room(sketch) < 0)
		return LODE_SYSTEM;
	cell = find(sketch, node, step);
	if (cell->node == LODE_NONE) {
		*cell = (struct lode_sketch_cell){ node, step, 0 };
		sketch->count++;
	}
	cell->count += count;
	return 0;
}

int lode_sketch_add(struct lode_sketch *sketch, uint32_t node, uint64_t latency, uint64_t count)
{
	return add_cell(sketch, node, lode_sketch_step(latency), count);
}

int lode_sketch_merge(struct lode_sketch *sketch, const struct lode_sketch *from, const uint32_t *nodes)
{
	size_t cells = from->sorted ? from->count : from->capacity;
	int code = 0;

	for (size_t i = 0; !code && i < cells; i++) {
		const struct lode_sketch_cell *cell = &from->cells[i];

		if (cell->node != LODE_NONE)
			code = add_cell(sketch, nodes[cell->node], cell->step, cell->count);
	}
	return code;
}

static int compare_cells(const void *a, const void *b)
{
	const struct lode_sketch_cell *left = a, *right = b;

	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	return left->step < right->step ? -1 : left->step > right->step;
}

void lode_sketch_sort(struct lode_sketch *sketch)
{
	size_t count = 0;

	for (size_t i = 0; !sketch->sorted && i < sketch->capacity; i++)
		if (sketch->cells[i].node != LODE_NONE)
			sketch->cells[count++] = sketch->cells[i];
	if (!sketch->sorted && count)
		qsort(sketch->cells, count, sizeof(*sketch->cells), compare_cells);
	sketch->sorted = 1;
}

/* The first cell of a node, or of the next node that has one. */
static size_t first_cell(const struct lode_sketch *sketch, uint32_t node)
{
	size_t low = 0, high = sketch->count;

	while (low < high) {
		size_t half = low + (high - low) / 2;

		if (sketch->cells[half].node < node)
			low = half + 1;
		else
			high = half;
	}
	return low;
}

static uint64_t middle_of(uint32_t step)
{
	uint64_t low = lode_sketch_floor(step);

	/* Behind the last step the next one's floor is 2^64, which wraps to 0 as it should. */
	return low + (lode_sketch_floor(step + 1) - low - 1) / 2;
}

uint64_t lode_sketch_quantile(const struct lode_sketch *sketch, uint32_t node, double share)
{
	size_t first = first_cell(sketch, node), last = first;
	uint64_t total = 0, rank, before = 0;

	for (; last < sketch->count && sketch->cells[last].node == node; last++)
		total += sketch->cells[last].count;
	if (!total)
		return 0;
	rank = (uint64_t)(share * (double)(total - 1) + 0.5);
	while (first + 1 < last && before + sketch->cells[first].count <= rank)
		before += sketch->cells[first++].count;
	return middle_of(sketch->cells[first].step);
}
