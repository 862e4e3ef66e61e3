/*
 * How the latencies of each node are spread: see sketch.h.
 *
 * Most nodes have few instances, and those are close together: a node keeps only the steps
 * that occur, in a row that is short enough for a line or two of cache. Rows that grow move
 * to a place twice as large; what they leave behind is never more than what they have.
 */
#include "latency/sketch.h"

#include "base/error.h"

#include <string.h>

#define FIRST_STEPS 4u
#define FINE        LODE_SKETCH_FINE

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

int lode_sketch_reserve(struct lode_sketch *sketch, size_t nodes)
{
	if (nodes <= sketch->count)
		return 0;
	if (LODE_GROW(sketch->rows, sketch->capacity, nodes) < 0)
		return LODE_SYSTEM;
	memset(sketch->rows + sketch->count, 0, (nodes - sketch->count) * sizeof(*sketch->rows));
	sketch->count = nodes;
	return 0;
}

static struct lode_sketch_row *row_of(struct lode_sketch *sketch, uint32_t node)
{
	return lode_sketch_reserve(sketch, (size_t)node + 1) < 0 ? NULL : &sketch->rows[node];
}

static uint16_t *steps_of(const struct lode_sketch_row *row)
{
	return (uint16_t *)(row->counts + row->capacity);
}

/* Makes room for `wanted` steps in total. */
static int make_room(struct lode_sketch *sketch, struct lode_sketch_row *row, uint32_t wanted)
{
	struct lode_sketch_row larger = { NULL, row->count, row->capacity ? 2 * row->capacity : FIRST_STEPS };

	if (wanted <= row->capacity)
		return 0;
	while (larger.capacity < wanted)
		larger.capacity *= 2;
	larger.counts =
		lode_arena_alloc(&sketch->arena, larger.capacity * (sizeof(*larger.counts) + sizeof(uint16_t)));
	if (!larger.counts)
		return LODE_SYSTEM;
	if (row->count) {
		memcpy(larger.counts, row->counts, row->count * sizeof(*row->counts));
		memcpy(steps_of(&larger), steps_of(row), row->count * sizeof(uint16_t));
	}
	*row = larger;
	return 0;
}

/* The place of the first step that is not below `step`, without a branch that depends on what is there. */
static uint32_t place_of(const struct lode_sketch_row *row, uint32_t step)
{
	const uint16_t *steps = steps_of(row), *at = steps;
	uint32_t left = row->count;

	if (!left)
		return 0;
	while (left > 1) {
		uint32_t half = left / 2;

		at = at[half - 1] < step ? at + half : at;
		left -= half;
	}
	return (uint32_t)(at - steps) + (*at < step);
}

static int insert(struct lode_sketch *sketch, struct lode_sketch_row *row, uint32_t place, uint32_t step)
{
	uint16_t *steps;

	if (make_room(sketch, row, row->count + 1) < 0)
		return LODE_SYSTEM;
	steps = steps_of(row);
	memmove(&row->counts[place + 1], &row->counts[place], (row->count - place) * sizeof(*row->counts));
	memmove(&steps[place + 1], &steps[place], (row->count - place) * sizeof(*steps));
	row->counts[place] = 0;
	steps[place] = (uint16_t)step;
	row->count++;
	return 0;
}

static uint32_t add_counts(uint32_t a, uint32_t b)
{
	return a < UINT32_MAX - b ? a + b : UINT32_MAX;
}

static int add(struct lode_sketch *sketch, uint32_t node, uint32_t step, uint32_t count)
{
	struct lode_sketch_row *row = row_of(sketch, node);
	uint32_t place;

	if (!row)
		return LODE_SYSTEM;
	place = place_of(row, step);
	if ((place == row->count || steps_of(row)[place] != step) && insert(sketch, row, place, step) < 0)
		return LODE_SYSTEM;
	row->counts[place] = add_counts(row->counts[place], count);
	return 0;
}

/* How many steps of `from` are new to `row`. */
static uint32_t count_new(const struct lode_sketch_row *row, const struct lode_sketch_row *from)
{
	const uint16_t *steps = steps_of(row), *others = steps_of(from);
	uint32_t at = 0, shared = 0;

	for (uint32_t i = 0; i < from->count; i++) {
		while (at < row->count && steps[at] < others[i])
			at++;
		shared += at < row->count && steps[at] == others[i];
	}
	return from->count - shared;
}

/* Both are in order: from the end, each step goes to its last place. */
static int merge_row(struct lode_sketch *sketch, struct lode_sketch_row *row, const struct lode_sketch_row *from)
{
	uint32_t left = row->count, right = from->count, at = left + count_new(row, from);
	const uint16_t *others = steps_of(from);
	uint16_t *steps;

	if (make_room(sketch, row, at) < 0)
		return LODE_SYSTEM;
	steps = steps_of(row);
	row->count = at;
	while (right) {
		int mine = left && steps[left - 1] >= others[right - 1];
		int theirs = !left || steps[left - 1] <= others[right - 1];
		uint32_t count = add_counts(mine ? row->counts[left - 1] : 0, theirs ? from->counts[right - 1] : 0);

		at--;
		steps[at] = mine ? steps[left - 1] : others[right - 1];
		row->counts[at] = count;
		left -= (uint32_t)mine;
		right -= (uint32_t)theirs;
	}
	return 0;
}

int lode_sketch_merge_row(struct lode_sketch *sketch, uint32_t node, const struct lode_sketch_row *from)
{
	struct lode_sketch_row *row = from->count ? row_of(sketch, node) : NULL;

	return from->count && (!row || merge_row(sketch, row, from) < 0) ? LODE_SYSTEM : 0;
}

/* ---- many latencies ---- */

#define STEPS 512 /* more than there are */

int lode_sketch_batch_init(struct lode_sketch_batch *batch, size_t nodes, size_t room)
{
	memset(batch, 0, sizeof(*batch));
	batch->nodes = nodes;
	batch->room = room;
	batch->items = lode_calloc(room, sizeof(*batch->items));
	batch->ends = lode_calloc(nodes + 1, sizeof(*batch->ends));
	batch->sorted = lode_calloc(room, sizeof(*batch->sorted));
	return batch->items && batch->ends && batch->sorted ? 0 : LODE_SYSTEM;
}

void lode_sketch_batch_release(struct lode_sketch_batch *batch)
{
	lode_free(batch->items);
	lode_free(batch->ends);
	lode_free(batch->sorted);
	memset(batch, 0, sizeof(*batch));
}

/* The steps of one node, in any order, become a row: how often each occurs, in their order. */
static void make_row(const uint16_t *steps, size_t count, uint32_t *histogram, struct lode_sketch_row *row)
{
	uint64_t occurring[STEPS / 64] = { 0 };

	for (size_t i = 0; i < count; i++) {
		histogram[steps[i]]++;
		occurring[steps[i] / 64] |= (uint64_t)1 << steps[i] % 64;
	}
	row->count = 0;
	for (uint32_t word = 0; word < STEPS / 64; word++)
		for (uint64_t left = occurring[word]; left; left &= left - 1) {
			uint32_t step = 64 * word + (uint32_t)__builtin_ctzll(left);

			row->counts[row->count] = histogram[step];
			steps_of(row)[row->count++] = (uint16_t)step;
			histogram[step] = 0;
		}
}

/* Steps by node: a counting sort, for which adding has counted. */
static void sort_batch(struct lode_sketch_batch *batch)
{
	uint32_t before = 0;

	for (size_t node = 0; node <= batch->nodes; node++) {
		uint32_t count = batch->ends[node];

		batch->ends[node] = before;
		before += count;
	}
	for (size_t i = 0; i < batch->count; i++)
		batch->sorted[batch->ends[batch->items[i].node]++] = batch->items[i].step;
}

int lode_sketch_batch_flush(struct lode_sketch_batch *batch, struct lode_sketch *sketch)
{
	uint32_t counts[STEPS + STEPS / 2], histogram[STEPS] = { 0 };
	struct lode_sketch_row row = { counts, 0, STEPS };
	uint32_t start = 0;
	int code = 0;

	sort_batch(batch);
	for (size_t node = 0; !code && node < batch->nodes; node++) {
		if (batch->ends[node] == start)
			continue;
		make_row(batch->sorted + start, batch->ends[node] - start, histogram, &row);
		start = batch->ends[node];
		code = lode_sketch_merge_row(sketch, (uint32_t)node, &row);
	}
	memset(batch->ends, 0, (batch->nodes + 1) * sizeof(*batch->ends));
	batch->count = 0;
	return code;
}

uint32_t lode_sketch_steps(const struct lode_sketch *sketch, uint32_t node, struct lode_sketch_step *steps)
{
	const struct lode_sketch_row *row = node < sketch->count ? &sketch->rows[node] : NULL;

	for (uint32_t i = 0; steps && row && i < row->count; i++)
		steps[i] = (struct lode_sketch_step){ steps_of(row)[i], row->counts[i] };
	return row ? row->count : 0;
}

int lode_sketch_put(struct lode_sketch *sketch, uint32_t node, const struct lode_sketch_step *steps, uint32_t count)
{
	uint32_t highest = lode_sketch_step(UINT64_MAX);
	int code = 0;

	for (uint32_t i = 0; !code && i < count; i++) {
		if (steps[i].step > highest || (i && steps[i].step <= steps[i - 1].step))
			return LODE_BAD_INPUT;
		code = add(sketch, node, steps[i].step, steps[i].count);
	}
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
		total += row->counts[i];
	if (!total)
		return 0;
	rank = (uint64_t)(share * (double)(total - 1) + 0.5);
	while (at + 1 < row->count && before + row->counts[at] <= rank)
		before += row->counts[at++];
	return middle_of(steps_of(row)[at]);
}
