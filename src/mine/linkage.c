/*
 * Average linkage: see linkage.h.
 *
 * The matrix holds the sum of the similarities of each pair of clusters; joining
 * adds two rows, and an average is a sum by the product of two sizes. A cluster
 * is in the row of its first member, and a pair in the row of the first of
 * the two. For each row the best partner behind it is remembered. Joining a and b:
 *
 *	- changes the row of a: its best is looked for anew;
 *	- can only lower what a row in front remembers of a or b, because the new
 *	  average is between the two old ones. Such a row is marked, and looked
 *	  through only when what it remembers would be the best of all;
 *	- leaves alone what other rows remember: had a or b been as good, they would
 *	  have been remembered, for an earlier one or for a better one.
 *
 * So most joins cost two passes over rows, and the whole is quadratic, unless
 * neighbours keep vanishing.
 */
#include "mine/linkage.h"

#include "base/memory.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* Steps between two looks at the progress: a step is one or two passes over a row. */
#define STEPS_BETWEEN_REPORTS 256

struct row {
	uint64_t sum;      /* of the best pair */
	uint64_t pairs;    /* that it is the sum of */
	uint32_t best;     /* the other cluster; LODE_NONE: there is none */
	uint32_t size;     /* 0: joined to another */
	uint32_t outdated; /* the best may be worse than remembered, or gone */
};

struct linkage {
	uint64_t *sums;
	size_t count;
	struct row *rows;
};

static uint64_t *sum_of(const struct linkage *linkage, size_t i, size_t j)
{
	return &linkage->sums[i < j ? lode_pair_place(linkage->count, i, j) : lode_pair_place(linkage->count, j, i)];
}

/* Whether sum / pairs is a higher average than that of the other. */
static int is_higher(uint64_t sum, uint64_t pairs, uint64_t other_sum, uint64_t other_pairs)
{
	return (wide)sum * other_pairs > (wide)other_sum * pairs;
}

static void find_best(struct linkage *linkage, size_t i)
{
	struct row *row = &linkage->rows[i];
	const uint64_t *sums = i + 1 < linkage->count ? sum_of(linkage, i, i + 1) : NULL;

	row->best = LODE_NONE;
	row->outdated = 0;
	for (size_t j = i + 1; j < linkage->count; j++) {
		uint64_t pairs = (uint64_t)row->size * linkage->rows[j].size, sum = sums[j - i - 1];

		if (!pairs || (row->best != LODE_NONE && !is_higher(sum, pairs, row->sum, row->pairs)))
			continue;
		row->best = (uint32_t)j;
		row->sum = sum;
		row->pairs = pairs;
	}
}

/* The row whose best pair is the best of all; `count` when there are no pairs. */
static size_t find_highest(const struct linkage *linkage)
{
	const struct row *rows = linkage->rows;
	size_t highest = linkage->count;

	for (size_t i = 0; i < linkage->count; i++) {
		if (!rows[i].size || rows[i].best == LODE_NONE)
			continue;
		if (highest == linkage->count ||
		    is_higher(rows[i].sum, rows[i].pairs, rows[highest].sum, rows[highest].pairs))
			highest = i;
	}
	return highest;
}

static void join(struct linkage *linkage, size_t a, size_t b)
{
	struct row *rows = linkage->rows;

	for (size_t i = 0; i < linkage->count; i++)
		if (rows[i].size && i != a && i != b)
			*sum_of(linkage, a, i) += *sum_of(linkage, b, i);
	rows[a].size += rows[b].size;
	rows[b].size = 0;
	for (size_t i = 0; i < b; i++)
		if (rows[i].best == a || rows[i].best == b)
			rows[i].outdated = 1;
	find_best(linkage, a);
}

static int link_all(struct linkage *linkage, uint64_t cut, uint32_t *leaders, const struct lode_progress *progress,
		    struct lode_error *error)
{
	size_t highest;

	for (uint64_t step = 0; (highest = find_highest(linkage)) < linkage->count; step++) {
		struct row *row = &linkage->rows[highest];

		if (step % STEPS_BETWEEN_REPORTS == 0 &&
		    lode_progress_report(progress, "joining clusters", "steps", step, 0))
			return lode_fail(error, LODE_SYSTEM, "joining clusters was stopped");

		if (row->outdated) {
			find_best(linkage, highest);
			continue;
		}
		if ((wide)row->sum < (wide)cut * row->pairs)
			break;
		leaders[row->best] = (uint32_t)highest;
		join(linkage, highest, row->best);
	}
	return 0;
}

int lode_linkage(uint64_t *sums, size_t count, uint64_t cut, uint32_t *leaders,
		 const struct lode_progress *progress, struct lode_error *error)
{
	struct linkage linkage = { sums, count, lode_calloc(count, sizeof(*linkage.rows)) };
	int code;

	if (!linkage.rows)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		linkage.rows[i].size = 1;
		leaders[i] = (uint32_t)i;
	}
	for (size_t i = 0; i < count; i++)
		find_best(&linkage, i);
	code = link_all(&linkage, cut, leaders, progress, error);
	/* Leaders come before those they lead, so their own leaders are final when they are needed. */
	for (size_t i = 0; i < count; i++)
		leaders[i] = leaders[leaders[i]];
	lode_free(linkage.rows);
	return code;
}
