/*
 * Rows of two sides: see diff_rows.h.
 */
#include "latency/diff_rows.h"

/*
 * Whether sleeps count there, which are idle otherwise: a thread that sleeps where none slept before
 * was made to. A thread that is new from its root on may well have nothing to do.
 */
static int has_new_sleeps(const struct lode_diff_rows *rows, const uint8_t *known, uint32_t node)
{
	if (known[node])
		return 0;
	while (node && !known[node])
		node = rows->tree->nodes[node].parent;
	return node != 0;
}

/*
 * What of a row is compared. Waiting for a processor is not: how busy the machine was beside
 * the program is no part of it, and who keeps processors busy is seen to run.
 */
static uint64_t own_of(const struct lode_diff_rows *rows, const uint8_t *known, int side,
		       const struct lode_latency_row *row)
{
	uint64_t own = row->own - row->queued;

	if (side && row->slept && has_new_sleeps(rows, known, lode_diff_rows_node(rows, side, row->node)))
		own = lode_add_saturating(own, row->slept);
	return own;
}

static int order_side(struct lode_diff_rows *rows, const uint8_t *known, int side)
{
	const struct lode_latency *latency = rows->sides[side];
	size_t nodes = rows->tree->count, *starts;

	rows->starts[side] = starts = lode_calloc(nodes + 2, sizeof(*starts));
	rows->rows[side] = lode_calloc(latency->row_count + 1, sizeof(*rows->rows[side]));
	if (!starts || !rows->rows[side])
		return LODE_SYSTEM;
	for (size_t i = 0; i < latency->row_count; i++)
		starts[lode_diff_rows_node(rows, side, latency->rows[i].node) + 2]++;
	for (size_t i = 2; i < nodes + 2; i++)
		starts[i] += starts[i - 1];
	/* Filling moves each start to the next node's: one place off at first, right in the end. */
	for (size_t i = 0; i < latency->row_count; i++) {
		uint32_t node = lode_diff_rows_node(rows, side, latency->rows[i].node);
		struct lode_latency_row *row = &rows->rows[side][starts[node + 1]++];

		*row = latency->rows[i];
		row->own = own_of(rows, known, side, &latency->rows[i]);
	}
	return 0;
}

int lode_diff_rows_order(struct lode_diff_rows *rows, const uint8_t *known)
{
	return order_side(rows, known, 0) < 0 || order_side(rows, known, 1) < 0 ? LODE_SYSTEM : 0;
}

void lode_diff_rows_release(struct lode_diff_rows *rows)
{
	for (int side = 0; side < 2; side++) {
		lode_free(rows->starts[side]);
		lode_free(rows->rows[side]);
	}
}

uint64_t lode_diff_rows_own(const struct lode_diff_rows *rows, int side, uint32_t node)
{
	uint64_t sum = 0;

	for (size_t i = rows->starts[side][node]; i < rows->starts[side][node + 1]; i++)
		sum = lode_add_saturating(sum, rows->rows[side][i].own);
	return sum;
}

void lode_diff_rows_add(const struct lode_diff_rows *rows, uint32_t node, double *values)
{
	for (int side = 0; side < 2; side++) {
		size_t first = side ? rows->sides[0]->stream_count : 0;

		for (size_t i = rows->starts[side][node]; i < rows->starts[side][node + 1]; i++)
			values[first + rows->rows[side][i].stream] += (double)rows->rows[side][i].own;
	}
}
