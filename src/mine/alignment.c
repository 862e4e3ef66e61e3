/*
 * Alignment: see alignment.h (StackMine, section VI).
 *
 * Dynamic programming over the beginnings of both patterns, in whole units of
 * cost (word_groups.h), so that ties are real ties and every machine breaks them alike.
 * Of the table only the choice at each place is kept, two bits of it, so that two
 * stacks of the greatest depth fit into 64 MiB; the costs need one row.
 *
 * Two things follow from costs of at most 1 and are used here and elsewhere:
 * where the last frames are equal, matching them is always among the cheapest; and
 * an insertion is never next to a deletion, because one substitution in place
 * of both is cheaper. So a segment of insertions and deletions (the paper's ID)
 * is made of one of the two, and the neighbours of a function in its segment are
 * its neighbours in the pattern.
 */
#include "mine/alignment.h"

#include "base/error.h"
#include "mine/word_groups.h"

#include <string.h>

/* The room for one alignment, in one piece: a row of costs, then the choices, four a byte. */
struct table {
	uint64_t *row;
	uint8_t *choices;
	size_t width; /* places a row: right_length + 1 */
};

static int make_table(struct lode_alignment *alignment, uint32_t left_length, uint32_t right_length,
		      struct table *table)
{
	size_t width = (size_t)right_length + 1, cells, bytes;

	if (__builtin_mul_overflow(width, (size_t)left_length + 1, &cells))
		return LODE_SYSTEM;
	bytes = width * sizeof(*table->row) + cells / 4 + 1;
	if (lode_grow(&alignment->work, &alignment->work_capacity, bytes, 1) < 0)
		return LODE_SYSTEM;
	table->row = alignment->work;
	table->choices = (uint8_t *)alignment->work + width * sizeof(*table->row);
	table->width = width;
	memset(table->choices, 0, cells / 4 + 1);
	return 0;
}

static void put_choice(struct table *table, size_t i, size_t j, enum lode_alignment_step step)
{
	size_t cell = i * table->width + j;

	table->choices[cell / 4] |= (uint8_t)((unsigned)step << cell % 4 * 2);
}

static enum lode_alignment_step get_choice(const struct table *table, size_t i, size_t j)
{
	size_t cell = i * table->width + j;

	return (enum lode_alignment_step)(table->choices[cell / 4] >> cell % 4 * 2 & 3);
}

/* One row of the table: the first `i` frames of the left one against all beginnings of the right one. */
static void fill_row(const struct lode_words *words, struct table *table, size_t i, uint32_t frame,
		     const uint32_t *right, size_t right_length)
{
	uint64_t diagonal = table->row[0];

	table->row[0] += LODE_SUB_UNITS;
	put_choice(table, i, 0, LODE_DELETE);
	for (size_t j = 1; j <= right_length; j++) {
		enum lode_alignment_step step = frame == right[j - 1] ? LODE_MATCH : LODE_SUBSTITUTE;
		uint64_t cost = diagonal + lode_words_sub_units(words, frame, right[j - 1]);

		diagonal = table->row[j];
		if (table->row[j] + LODE_SUB_UNITS < cost) {
			cost = table->row[j] + LODE_SUB_UNITS;
			step = LODE_DELETE;
		}
		if (table->row[j - 1] + LODE_SUB_UNITS < cost) {
			cost = table->row[j - 1] + LODE_SUB_UNITS;
			step = LODE_INSERT;
		}
		table->row[j] = cost;
		put_choice(table, i, j, step);
	}
}

static void fill(const struct lode_words *words, struct table *table, const uint32_t *left, size_t left_length,
		 const uint32_t *right, size_t right_length)
{
	for (size_t j = 0; j <= right_length; j++) {
		table->row[j] = (uint64_t)j * LODE_SUB_UNITS;
		put_choice(table, 0, j, LODE_INSERT);
	}
	for (size_t i = 1; i <= left_length; i++)
		fill_row(words, table, i, left[i - 1], right, right_length);
}

/* Walks back from the leaf end and writes the steps from behind. */
static void walk_back(const struct table *table, size_t i, size_t j, struct lode_alignment *alignment)
{
	size_t at = i + j, total = at;

	while (i || j) {
		enum lode_alignment_step step = get_choice(table, i, j);

		alignment->steps[--at] = (uint8_t)step;
		i -= step != LODE_INSERT;
		j -= step != LODE_DELETE;
	}
	alignment->count = total - at;
	if (alignment->count)
		memmove(alignment->steps, alignment->steps + at, alignment->count);
}

int lode_align(const struct lode_words *words, const uint32_t *left, uint32_t left_length, const uint32_t *right,
	       uint32_t right_length, struct lode_alignment *alignment)
{
	size_t most = (size_t)left_length + right_length;
	struct table table;

	alignment->count = 0;
	if (LODE_GROW(alignment->steps, alignment->capacity, most) < 0 ||
	    make_table(alignment, left_length, right_length, &table) < 0)
		return LODE_SYSTEM;
	fill(words, &table, left, left_length, right, right_length);
	walk_back(&table, left_length, right_length, alignment);
	alignment->cost = (double)table.row[right_length] / LODE_SUB_UNITS;
	return 0;
}

void lode_alignment_release(struct lode_alignment *alignment)
{
	lode_free(alignment->steps);
	lode_free(alignment->work);
	memset(alignment, 0, sizeof(*alignment));
}

/* ---- similarity ---- */

/* The weight of the function at `at`; `before` and `after` say whether its segment goes on there. */
static double weight(const struct lode_call_counts *counts, const uint32_t *frames, size_t at, int before,
		     int after)
{
	double forward = before ? lode_call_fbi(counts, frames[at - 1], frames[at]) : 1;
	double backward = after ? lode_call_bbi(counts, frames[at], frames[at + 1]) : 1;

	return lode_call_uni(counts, frames[at]) * (forward + backward) / 2;
}

/* Sums up from the leaf end: the order matters for the last digit, and similarities.c keeps to it, too. */
double lode_alignment_similarity(const struct lode_alignment *alignment, const struct lode_words *words,
				 const struct lode_call_counts *counts, const uint32_t *left, const uint32_t *right)
{
	const uint8_t *steps = alignment->steps;
	double matched = 0, rest = 0;
	size_t i = 0, j = 0, differences = 0;

	for (size_t at = 0; at < alignment->count; at++) {
		i += steps[at] != LODE_INSERT;
		j += steps[at] != LODE_DELETE;
		differences += steps[at] != LODE_MATCH;
	}
	for (size_t at = alignment->count; at-- > 0;) {
		int before = at > 0 && steps[at - 1] == steps[at];
		int after = at + 1 < alignment->count && steps[at + 1] == steps[at];

		i -= steps[at] != LODE_INSERT;
		j -= steps[at] != LODE_DELETE;
		if (steps[at] == LODE_MATCH)
			matched += weight(counts, left, i, before, after);
		else if (steps[at] == LODE_DELETE)
			rest += weight(counts, left, i, before, after);
		else if (steps[at] == LODE_INSERT)
			rest += weight(counts, right, j, before, after);
		else
			rest += lode_words_sub(words, left[i], right[j]) / 2 *
				(weight(counts, left, i, before, after) + weight(counts, right, j, before, after));
	}
	if (matched + rest == 0)
		return differences == 0;
	return matched / (matched + rest);
}
