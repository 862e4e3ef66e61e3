/*
 * Look-ahead: see look_ahead.h.
 *
 * A group of binary tests that says something about a cluster must show in one
 * of its Walsh coefficients: the agreement of "row is of this cluster" with the
 * exclusive or of some of the tests. Those of one test alone are what greedy
 * splits see; here are those of two and of three. They are taken on a sample of 256
 * rows, the second half of it only where the first one looks promising, and the few
 * with the strongest agreement are then judged by all rows of the node.
 *
 * All triples are too many when there are more than ALL_TRIPLES tests. Then only
 * the pure parity of three tests is looked for: a xor b xor c = cluster means a xor
 * b = cluster xor c, and the right sides of all c fit in a hash table. Several small
 * groups of rows are tried, so that a few wrong labels do not hide it.
 */
#include "explain/tree/look_ahead.h"

#include "base/parallel.h"
#include "base/sort_numbers.h"
#include "explain/tree/impurity.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE      256
#define WORDS       (SAMPLE / 64)
#define ALL_TRIPLES 160
/* Candidates that are judged by all rows. */
#define KEPT 24
/* Agreement beyond this many deviations on half the sample is promising: one pair in two thousand by chance.
 */
#define PROMISING 3.5

struct candidate {
	uint32_t test[3]; /* numbers in `tests` */
	unsigned count;
	unsigned score; /* rows of agreement or disagreement beyond half */
};

struct sampled {
	uint64_t words[WORDS];
};

struct ahead {
	const struct lode_node_rows *node;
	struct lode_test *tests;
	double *thresholds;
	struct sampled *columns; /* answers of the sample to each test */
	uint32_t count;
	size_t sample;
	struct sampled clusters[LODE_MAX_CLUSTERS];
	unsigned cluster_count;
	struct candidate (*best)[KEPT]; /* one list a piece of work */
	unsigned degree;
	int promising; /* agreement of half the sample beyond which the other half is looked at */
};

/* ---- what is looked at ---- */

/* The code in the middle of a sample of the node's rows: where a column of ranks is cut. */
static int middle_test(const struct lode_feature *feature, const uint32_t *rows, size_t count, uint32_t f,
		       struct lode_test *test, double *threshold)
{
	uint32_t codes[SAMPLE];
	size_t middle = count / 2;

	for (size_t i = 0; i < count; i++)
		codes[i] = feature->codes[rows[i]];
	lode_sort_u32(codes, count);
	while (middle > 0 && codes[middle - 1] == codes[count - 1])
		middle--;
	if (!middle || codes[0] == codes[count - 1])
		return 0;
	*test = (struct lode_test){ f, codes[middle - 1] };
	*threshold = feature->values[codes[middle - 1]];
	if (isfinite(*threshold) && test->code + 1 < feature->value_count)
		*threshold = *threshold / 2 + feature->values[test->code + 1] / 2;
	return 1;
}

static void collect_tests(struct ahead *ahead, const uint32_t *only, size_t count, const uint32_t *rows)
{
	const struct lode_features *features = ahead->node->features;

	for (size_t i = 0; i < count; i++) {
		uint32_t f = only ? only[i] : (uint32_t)i;
		const struct lode_feature *feature = &features->items[f];
		struct lode_test test = { f, 0 };
		double threshold = feature->threshold;

		if (feature->kind == LODE_FEATURE_CATEGORY ||
		    (feature->kind == LODE_FEATURE_RANKS &&
		     !middle_test(feature, rows, ahead->sample, f, &test, &threshold)))
			continue;
		ahead->tests[ahead->count] = test;
		ahead->thresholds[ahead->count] = threshold;
		memset(&ahead->columns[ahead->count], 0, sizeof(ahead->columns[0]));
		for (size_t r = 0; r < ahead->sample; r++)
			ahead->columns[ahead->count].words[r / 64] |=
				(uint64_t)lode_test_row(features, test, rows[r]) << (r % 64);
		ahead->count++;
	}
}

/* One row of bits for each cluster that has a fair share of the sample; of two, one says it all. */
static void mark_clusters(struct ahead *ahead, const uint32_t *rows)
{
	unsigned present = 0;

	for (unsigned k = 0; k < ahead->node->clusters; k++)
		present += ahead->node->sizes[k] > 0;
	for (unsigned k = 0; k < ahead->node->clusters; k++) {
		struct sampled *bits = &ahead->clusters[ahead->cluster_count];
		size_t share = ahead->node->sizes[k] * 20;

		if (share < ahead->node->count || share > ahead->node->count * 19 ||
		    (present == 2 && ahead->cluster_count == 1))
			continue;
		memset(bits, 0, sizeof(*bits));
		for (size_t i = 0; i < ahead->sample; i++)
			if (ahead->node->labels[rows[i]] == k)
				bits->words[i / 64] |= (uint64_t)1 << (i % 64);
		ahead->cluster_count++;
	}
}

/* Different rows of the node, at random. */
static void draw_sample(struct ahead *ahead, uint64_t seed, uint32_t *rows)
{
	const struct lode_node_rows *node = ahead->node;
	struct lode_random random = lode_random_piece(seed, node->count);
	size_t taken = 0;

	for (size_t i = 0; i < node->count && taken < SAMPLE; i++)
		if (lode_random_below(&random, node->count - i) < SAMPLE - taken)
			rows[taken++] = node->rows[i];
	/* The node's rows are grouped by cluster; parts of the sample must not be. */
	for (size_t i = taken; i > 1; i--) {
		size_t other = lode_random_below(&random, i);
		uint32_t swap = rows[i - 1];

		rows[i - 1] = rows[other];
		rows[other] = swap;
	}
	ahead->sample = taken;
}

/* ---- agreement ---- */

/* Rows of agreement or disagreement beyond half of the sample; 0 where half of it shows little. */
static inline unsigned agreement(const struct ahead *ahead, const struct sampled *a, const struct sampled *b)
{
	size_t half = ahead->sample < SAMPLE / 2 ? ahead->sample : SAMPLE / 2;
	int count = 0, beyond;

	for (unsigned w = 0; w < WORDS / 2; w++)
		count += __builtin_popcountll(a->words[w] ^ b->words[w]);
	beyond = 2 * count - (int)half;
	if (beyond < ahead->promising && -beyond < ahead->promising)
		return 0;
	for (unsigned w = WORDS / 2; w < WORDS; w++)
		count += __builtin_popcountll(a->words[w] ^ b->words[w]);
	return (unsigned)abs(2 * count - (int)ahead->sample);
}

static struct sampled both(const struct sampled *a, const struct sampled *b)
{
	struct sampled result;

	for (unsigned w = 0; w < WORDS; w++)
		result.words[w] = a->words[w] ^ b->words[w];
	return result;
}

/* Keeps the list in order, best first; of equal ones the first to come stays ahead. */
static void keep(struct candidate *list, const struct candidate *candidate)
{
	unsigned at = KEPT - 1;

	if (candidate->score <= list[at].score)
		return;
	for (; at > 0 && list[at - 1].score < candidate->score; at--)
		list[at] = list[at - 1];
	list[at] = *candidate;
}

static void scan_pairs(struct ahead *ahead, uint32_t i, struct candidate *list)
{
	for (unsigned k = 0; k < ahead->cluster_count; k++) {
		struct sampled wanted = both(&ahead->clusters[k], &ahead->columns[i]);

		for (uint32_t j = i + 1; j < ahead->count; j++) {
			unsigned score = agreement(ahead, &wanted, &ahead->columns[j]);

			if (score)
				keep(list, &(struct candidate){ { i, j, 0 }, 2, score });
		}
	}
}

static void scan_triples(struct ahead *ahead, uint32_t i, struct candidate *list)
{
	for (unsigned k = 0; k < ahead->cluster_count; k++) {
		struct sampled wanted = both(&ahead->clusters[k], &ahead->columns[i]);

		for (uint32_t j = i + 1; j < ahead->count; j++) {
			struct sampled rest = both(&wanted, &ahead->columns[j]);

			for (uint32_t l = j + 1; l < ahead->count; l++) {
				unsigned score = agreement(ahead, &rest, &ahead->columns[l]);

				if (score)
					keep(list, &(struct candidate){ { i, j, l }, 3, score });
			}
		}
	}
}

static void scan_piece(void *context, size_t piece)
{
	struct ahead *ahead = context;

	if (ahead->degree == 2)
		scan_pairs(ahead, (uint32_t)piece, ahead->best[piece]);
	else
		scan_triples(ahead, (uint32_t)piece, ahead->best[piece]);
}

/* ---- pure parity of three, by hashing ---- */

struct parity {
	struct ahead *ahead;
	uint64_t *keys;        /* of each test, on the rows of this group */
	uint64_t filter[1024]; /* a bit for each key that is there, by its hash: most look-ups end here */
	struct lode_index index;
	uint64_t wanted;
	uint64_t mask;
	unsigned rows; /* of a group: enough that chance finds no triple, few enough that all labels may be
			  right */
};

/* A key and its complement mean the same split. */
static uint64_t canonical(uint64_t key, uint64_t mask)
{
	return key & 1 ? ~key & mask : key;
}

static void make_keys(struct parity *parity, size_t group, unsigned cluster)
{
	const struct ahead *ahead = parity->ahead;
	size_t first = group * parity->rows;

	parity->wanted = 0;
	parity->mask = ((uint64_t)1 << parity->rows) - 1;
	memset(parity->keys, 0, ahead->count * sizeof(*parity->keys));
	for (size_t i = 0; i < parity->rows; i++) {
		size_t row = first + i;

		parity->wanted |= (ahead->clusters[cluster].words[row / 64] >> (row % 64) & 1) << i;
		for (uint32_t t = 0; t < ahead->count; t++)
			parity->keys[t] |= (ahead->columns[t].words[row / 64] >> (row % 64) & 1) << i;
	}
}

/* Which bit of the filter a key has. */
static uint32_t filter_bit(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 48);
}

static int index_keys(struct parity *parity)
{
	memset(parity->filter, 0, sizeof(parity->filter));
	for (uint32_t t = 0; t < parity->ahead->count; t++)
		lode_bit_set(parity->filter, filter_bit(canonical(parity->keys[t], parity->mask)));
	lode_index_release(&parity->index);
	if (lode_index_reserve(&parity->index, parity->ahead->count) < 0)
		return LODE_SYSTEM;
	for (uint32_t t = 0; t < parity->ahead->count; t++)
		if (lode_index_insert(&parity->index, lode_hash_u64(canonical(parity->keys[t], parity->mask)), t) <
		    0)
			return LODE_SYSTEM;
	return 0;
}

static void look_up(struct parity *parity, uint32_t i, uint32_t j)
{
	uint64_t key = canonical(parity->keys[i] ^ parity->keys[j] ^ parity->wanted, parity->mask);
	size_t probe = 0;
	uint32_t t;

	if (!lode_bit_get(parity->filter, filter_bit(key)))
		return;
	while ((t = lode_index_next(&parity->index, lode_hash_u64(key), &probe)) != LODE_NONE) {
		struct candidate candidate = { { i, j, t }, 3, SAMPLE };

		if (t > j && canonical(parity->keys[t], parity->mask) == key)
			keep(parity->ahead->best[0], &candidate);
	}
}

static int scan_parities(struct ahead *ahead)
{
	struct parity parity = { .ahead = ahead, .rows = 4 };
	unsigned groups;
	int code = 0;

	while (parity.rows < 60 && exp2(parity.rows - 4) < (double)ahead->count * ahead->count * ahead->count)
		parity.rows++;
	groups = (unsigned)(ahead->sample / parity.rows);
	parity.keys = lode_calloc(ahead->count, sizeof(*parity.keys));
	if (!parity.keys)
		return LODE_SYSTEM;
	for (unsigned work = 0; code == 0 && work < groups * ahead->cluster_count; work++) {
		if (ahead->best[0][0].count)
			break;
		make_keys(&parity, work % groups, work / groups);
		code = index_keys(&parity);
		for (uint32_t i = 0; code == 0 && i < ahead->count; i++)
			for (uint32_t j = i + 1; j < ahead->count; j++)
				look_up(&parity, i, j);
	}
	lode_index_release(&parity.index);
	lode_free(parity.keys);
	return code;
}

/* ---- judging by all rows ---- */

static void judge(const struct ahead *ahead, const struct candidate *candidate, struct lode_look_ahead *found)
{
	const struct lode_node_rows *node = ahead->node;
	size_t sizes[8][LODE_MAX_CLUSTERS] = { { 0 } };
	double gain = lode_entropy_nats(node->sizes, node->clusters), price = 0;
	unsigned cells = 1u << candidate->count;

	for (size_t i = 0; i < node->count; i++) {
		unsigned cell = 0;

		for (unsigned t = 0; t < candidate->count; t++)
			cell |= (unsigned)lode_test_row(node->features, ahead->tests[candidate->test[t]],
							node->rows[i])
				<< t;
		sizes[cell][node->labels[node->rows[i]]]++;
	}
	for (unsigned cell = 0; cell < cells; cell++)
		gain -= lode_entropy_nats(sizes[cell], node->clusters);
	for (unsigned t = 0; t < candidate->count; t++)
		price += (1u << t) * (lode_test_price(node->features, ahead->tests[candidate->test[t]].feature) +
				      lode_leaf_price(node->clusters));
	if (gain <= price || (found->count && gain - price <= found->gain - found->price))
		return;
	found->count = candidate->count;
	found->gain = gain;
	found->price = price;
	for (unsigned t = 0; t < candidate->count; t++) {
		found->tests[t] = ahead->tests[candidate->test[t]];
		found->thresholds[t] = ahead->thresholds[candidate->test[t]];
	}
}

static int scan(struct ahead *ahead, unsigned degree, unsigned jobs, struct lode_look_ahead *found)
{
	struct candidate list[KEPT];
	int code = 0;

	ahead->degree = degree;
	memset(ahead->best, 0, ahead->count * sizeof(*ahead->best));
	memset(list, 0, sizeof(list));
	if (degree == 3 && ahead->count > ALL_TRIPLES)
		code = scan_parities(ahead);
	else
		lode_parallel(jobs ? jobs : 1, ahead->count, scan_piece, ahead);
	for (uint32_t i = 0; i < ahead->count; i++)
		for (unsigned c = 0; c < KEPT && ahead->best[i][c].count; c++)
			keep(list, &ahead->best[i][c]);
	for (unsigned c = 0; c < KEPT && list[c].count; c++)
		judge(ahead, &list[c], found);
	return code;
}

double lode_look_ahead_work(const struct lode_node_rows *node, size_t features, unsigned size)
{
	double tests = (double)features, clusters = 0;

	for (unsigned k = 0; k < node->clusters; k++)
		clusters += node->sizes[k] > 0;
	if (clusters <= 2)
		clusters = 1;
	if (size == 2)
		return clusters * tests * tests;
	if (tests <= ALL_TRIPLES)
		return clusters * tests * tests * tests / 3;
	/* Several groups of rows, and look-ups cost more than comparisons. */
	return clusters * tests * tests * 7;
}

int lode_look_ahead(const struct lode_node_rows *node, const uint32_t *only, size_t count, unsigned size,
		    uint64_t seed, unsigned jobs, struct lode_look_ahead *found)
{
	struct ahead ahead = { .node = node };
	size_t features = only ? count : node->features->count;
	uint32_t rows[SAMPLE];
	int code = 0;

	memset(found, 0, sizeof(*found));
	ahead.tests = lode_calloc(features, sizeof(*ahead.tests));
	ahead.thresholds = lode_calloc(features, sizeof(*ahead.thresholds));
	ahead.columns = lode_calloc(features, sizeof(*ahead.columns));
	ahead.best = lode_calloc(features, sizeof(*ahead.best));
	if (ahead.tests && ahead.thresholds && ahead.columns && ahead.best) {
		draw_sample(&ahead, seed, rows);
		collect_tests(&ahead, only, features, rows);
		mark_clusters(&ahead, rows);
		ahead.promising = (int)(PROMISING * sqrt(ahead.sample < SAMPLE / 2 ? ahead.sample : SAMPLE / 2));
		code = scan(&ahead, size, jobs, found);
	} else {
		code = LODE_SYSTEM;
	}
	lode_free(ahead.tests);
	lode_free(ahead.thresholds);
	lode_free(ahead.columns);
	lode_free(ahead.best);
	return code;
}
