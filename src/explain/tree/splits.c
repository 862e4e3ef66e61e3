/*
 * Splits: see splits.h.
 *
 * Binary features are counted all at once, row by row: a row is a string of bits,
 * one per feature, and the strings of a cluster's rows are added up bit by bit in
 * planes, plane p holding bit p of every feature's count. Seven rows are first added
 * with four full adders (three planes come out), these are added to the planes. So
 * the time for a node depends on its rows, not on the size of the table, with 64
 * features per machine word. Ranks and categories are counted by a histogram.
 */
#include "explain/tree/splits.h"

#include "explain/tree/impurity.h"

#include <math.h>
#include <string.h>

/* Counts are below 2^PLANES: rows are below 2^32. */
#define PLANES 33

int lode_split_space_make(struct lode_split_space *space, const struct lode_features *features, unsigned clusters)
{
	size_t most = 0;

	for (size_t f = 0; f < features->count; f++)
		if (features->items[f].kind != LODE_FEATURE_BITS && features->items[f].value_count > most)
			most = features->items[f].value_count;
	space->histogram = lode_calloc(most + 1, clusters * sizeof(*space->histogram));
	space->counts = lode_calloc(features->row_words * 64 + 1, clusters * sizeof(*space->counts));
	space->planes = lode_calloc(features->row_words + 1, PLANES * sizeof(*space->planes));
	return space->histogram && space->counts && space->planes ? 0 : LODE_SYSTEM;
}

void lode_split_space_release(struct lode_split_space *space)
{
	lode_free(space->histogram);
	lode_free(space->counts);
	lode_free(space->planes);
}

/* ---- counting bits ---- */

/* a + b + c: the sum's bit in *a, the carry is returned. */
static inline uint64_t add(uint64_t *a, uint64_t b, uint64_t c)
{
	uint64_t half = *a ^ b, carry = (*a & b) | (half & c);

	*a = half ^ c;
	return carry;
}

/* Adds seven rows to the planes; `used` planes can be other than 0 afterwards. */
static void add_seven(uint64_t *planes, size_t words, const uint64_t *const rows[7], unsigned used)
{
	for (size_t w = 0; w < words; w++) {
		uint64_t one = rows[0][w], two, two_more, two_last, four, four_more, carry;

		two = add(&one, rows[1][w], rows[2][w]);
		two_more = add(&one, rows[3][w], rows[4][w]);
		two_last = add(&one, rows[5][w], rows[6][w]);
		four = add(&two, two_more, two_last);
		carry = planes[w] & one;
		planes[w] ^= one;
		four_more = add(&planes[words + w], two, carry);
		carry = add(&planes[2 * words + w], four, four_more);
		for (unsigned p = 3; p < used && carry; p++) {
			uint64_t next = planes[p * words + w] & carry;

			planes[p * words + w] ^= carry;
			carry = next;
		}
	}
}

/* From planes to one count a feature. */
static void read_planes(const uint64_t *planes, size_t words, unsigned used, uint32_t *counts)
{
	memset(counts, 0, words * 64 * sizeof(*counts));
	for (unsigned p = 0; p < used; p++)
		for (size_t w = 0; w < words; w++) {
			uint64_t plane = planes[p * words + w];

			for (unsigned i = 0; plane && i < 64; i++)
				counts[w * 64 + i] |= (uint32_t)(plane >> i & 1) << p;
		}
}

static void count_cluster(const struct lode_features *features, const uint32_t *rows, size_t count,
			  uint64_t *planes, uint32_t *counts)
{
	size_t words = features->row_words;
	uint64_t *nothing = planes + (PLANES - 1) * words; /* never reached by a count */
	const uint64_t *seven[7];
	unsigned used = 3;

	while (used < PLANES - 1 && count >> used)
		used++;
	memset(planes, 0, used * words * sizeof(*planes));
	memset(nothing, 0, words * sizeof(*planes));
	for (size_t i = 0; i < count; i += 7) {
		for (size_t k = 0; k < 7; k++)
			seven[k] = i + k < count ? features->by_row + rows[i + k] * words : nothing;
		add_seven(planes, words, seven, used);
	}
	read_planes(planes, words, used, counts);
}

/* ---- offers ---- */

/* Takes the split over when it is better. */
static void offer(const struct lode_node_rows *node, enum lode_criterion criterion, struct lode_test test,
		  double threshold, const size_t *left, struct lode_split *best)
{
	size_t right[LODE_MAX_CLUSTERS], left_count = 0;
	double impurity;

	for (unsigned k = 0; k < node->clusters; k++) {
		left_count += left[k];
		right[k] = node->sizes[k] - left[k];
	}
	if (!left_count || left_count == node->count)
		return;
	impurity = lode_impurity(criterion, left, node->clusters) + lode_impurity(criterion, right, node->clusters);
	if (best->test.feature != LODE_NONE && impurity >= best->impurity - 1e-12 * (double)node->count)
		return;
	best->test = test;
	best->threshold = threshold;
	best->impurity = impurity;
	memcpy(best->left, left, node->clusters * sizeof(*left));
}

static void try_bits(const struct lode_node_rows *node, enum lode_criterion criterion, uint32_t f,
		     const uint32_t *counts, struct lode_split *best)
{
	size_t left[LODE_MAX_CLUSTERS];
	struct lode_test test = { f, 0 };

	for (unsigned k = 0; k < node->clusters; k++)
		left[k] = node->sizes[k] - counts[k * node->features->row_words * 64 + f];
	offer(node, criterion, test, node->features->items[f].threshold, left, best);
}

/* Counts the node's rows by code and cluster. */
static void count_codes(const struct lode_node_rows *node, const struct lode_feature *feature, size_t *histogram)
{
	memset(histogram, 0, (size_t)feature->value_count * node->clusters * sizeof(*histogram));
	for (size_t i = 0; i < node->count; i++)
		histogram[(size_t)feature->codes[node->rows[i]] * node->clusters + node->labels[node->rows[i]]]++;
}

static size_t total_of(const size_t *sizes, unsigned clusters)
{
	size_t total = 0;

	for (unsigned k = 0; k < clusters; k++)
		total += sizes[k];
	return total;
}

/* Half-way between two values. Below the smallest there may be "missing" alone, which is -infinity. */
static double between(double low, double high)
{
	double middle = low / 2 + high / 2;

	if (!isfinite(low))
		return low;
	return middle >= high ? low : middle;
}

static void try_ranks(const struct lode_node_rows *node, enum lode_criterion criterion, uint32_t f,
		      size_t *histogram, struct lode_split *best)
{
	const struct lode_feature *feature = &node->features->items[f];
	size_t left[LODE_MAX_CLUSTERS] = { 0 };
	uint32_t last = LODE_NONE;

	count_codes(node, feature, histogram);
	for (uint32_t code = 0; code < feature->value_count; code++) {
		const size_t *here = histogram + (size_t)code * node->clusters;
		struct lode_test test = { f, last };

		if (!total_of(here, node->clusters))
			continue;
		if (last != LODE_NONE)
			offer(node, criterion, test, between(feature->values[last], feature->values[code]), left,
			      best);
		for (unsigned k = 0; k < node->clusters; k++)
			left[k] += here[k];
		last = code;
	}
}

static void try_category(const struct lode_node_rows *node, enum lode_criterion criterion, uint32_t f,
			 size_t *histogram, struct lode_split *best)
{
	const struct lode_feature *feature = &node->features->items[f];
	size_t left[LODE_MAX_CLUSTERS];

	count_codes(node, feature, histogram);
	for (uint32_t code = 0; code < feature->value_count; code++) {
		const size_t *here = histogram + (size_t)code * node->clusters;
		struct lode_test test = { f, code };

		for (unsigned k = 0; k < node->clusters; k++)
			left[k] = node->sizes[k] - here[k];
		offer(node, criterion, test, 0.5, left, best);
	}
}

void lode_split_find(const struct lode_node_rows *node, enum lode_criterion criterion,
		     struct lode_split_space *space, struct lode_split *split)
{
	const struct lode_features *features = node->features;
	const uint32_t *rows = node->rows;

	split->test.feature = LODE_NONE;
	for (unsigned k = 0; k < node->clusters; k++) {
		count_cluster(features, rows, node->sizes[k], space->planes,
			      space->counts + k * features->row_words * 64);
		rows += node->sizes[k];
	}
	for (uint32_t f = 0; f < features->count; f++) {
		switch (features->items[f].kind) {
		case LODE_FEATURE_BITS:
			try_bits(node, criterion, f, space->counts, split);
			break;
		case LODE_FEATURE_RANKS:
			try_ranks(node, criterion, f, space->histogram, split);
			break;
		default:
			try_category(node, criterion, f, space->histogram, split);
		}
	}
}
