/*
 * Similarities: see similarities.h.
 *
 * Dynamic programming as in alignment.c, for eight rows (patterns) at a time
 * against one column (pattern) after another: the numbers of the eight are side
 * by side in vectors, so that one operation serves them all. Columns are taken in the
 * order of their frames, so that the table of one goes on where the next one differs.
 * Before that a bound (similarity_bound.h) says which of the eight can be as similar
 * as asked; rows are taken in the order of their frames from the leaf on, so that
 * eight neighbours are alike and it mostly says none.
 *
 * With D the cost of aligning the first i frames of a row with the first j of a
 * column, the table holds D - i, in units of Sub. Then a deletion changes nothing,
 * and the costs of a row's beginning are 0:
 *
 *	E[i][j] = min(E[i-1][j-1] + Sub - 1, E[i][j-1] + 1, E[i-1][j])
 *
 * `Sub - 1` comes from a profile: for each name that has a word in common with any
 * frame of the eight, a row of numbers as long as the longest of them; all other
 * names share a row of zeros. Which of the eight is the left pattern does not
 * matter for the costs, only for ties on the way back.
 *
 * The way back follows the rule for ties run by run: equal frames always match
 * (alignment.c says why), so runs of matches need no look at the table.
 */
#include "mine/similarities.h"

#include "base/error.h"
#include "base/parallel.h"
#include "mine/similar_names.h"
#include "mine/similarity_bound.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LANES LODE_BOUND_LANES
#define ONE   ((int32_t)LODE_SUB_UNITS)

/*
 * Patterns longer than this are aligned one by one, without vectors: below it the
 * numbers fit 32 bits, and table and profile stay small.
 */
#define LONGEST_IN_LANES 1024

/* One number for each of the eight, in two vectors of the size that every machine has. */
typedef int32_t vector __attribute__((vector_size(16)));

union lanes {
	vector half[2];
	int32_t lane[LANES];
};

struct lode_similarities {
	const struct lode_patterns *patterns;
	const struct lode_words *words;
	const struct lode_call_counts *counts;
	struct lode_names names;
	struct lode_similarity_weight *weights; /* beside the patterns' frames */
	struct lode_bound_patterns bounds;
	uint32_t *order;
};

/* ---- preparing ---- */

static void weigh_pattern(const struct lode_call_counts *counts, const uint32_t *frames, uint32_t length,
			  struct lode_similarity_weight *weights)
{
	for (uint32_t i = 0; i < length; i++) {
		struct lode_similarity_weight *weight = &weights[i];

		weight->uni = lode_call_uni(counts, frames[i]);
		weight->forward = i ? lode_call_fbi(counts, frames[i - 1], frames[i]) : 1;
		weight->backward = i + 1 < length ? lode_call_bbi(counts, frames[i], frames[i + 1]) : 1;
		weight->inner = weight->uni * (weight->forward + weight->backward) / 2;
	}
}

/* By frames from the leaf on: the eight that are compared together look alike, and are ruled out together. */
static int compare_from_leaf(const void *a, const void *b, void *context)
{
	const struct lode_patterns *patterns = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint32_t x = patterns->items[left].length, y = patterns->items[right].length;
	const uint32_t *one = lode_pattern_frames(patterns, left) + x;
	const uint32_t *other = lode_pattern_frames(patterns, right) + y;

	for (uint32_t i = 1; i <= x && i <= y; i++)
		if (*(one - i) != *(other - i))
			return *(one - i) < *(other - i) ? -1 : 1;
	return x != y ? (x < y ? -1 : 1) : (left > right) - (left < right);
}

static int prepare(struct lode_similarities *similarities)
{
	const struct lode_patterns *patterns = similarities->patterns;

	similarities->weights = lode_calloc(patterns->frame_count, sizeof(*similarities->weights));
	similarities->order = lode_calloc(patterns->count, sizeof(*similarities->order));
	if (!similarities->weights || !similarities->order ||
	    lode_names_make(&similarities->names, patterns, similarities->words) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < patterns->count; i++) {
		weigh_pattern(similarities->counts, lode_pattern_frames(patterns, i), patterns->items[i].length,
			      similarities->weights + patterns->items[i].first);
		similarities->order[i] = (uint32_t)i;
	}
	if (patterns->count)
		qsort_r(similarities->order, patterns->count, sizeof(*similarities->order), compare_from_leaf,
			(void *)(uintptr_t)patterns);
	return lode_bound_patterns_make(&similarities->bounds, patterns, &similarities->names,
					similarities->weights);
}

struct lode_similarities *lode_similarities_make(const struct lode_patterns *patterns,
						 const struct lode_words *words,
						 const struct lode_call_counts *counts)
{
	struct lode_similarities *similarities = lode_calloc(1, sizeof(*similarities));

	if (!similarities)
		return NULL;
	similarities->patterns = patterns;
	similarities->words = words;
	similarities->counts = counts;
	if (prepare(similarities) < 0) {
		lode_similarities_free(similarities);
		return NULL;
	}
	return similarities;
}

void lode_similarities_free(struct lode_similarities *similarities)
{
	if (!similarities)
		return;
	lode_names_release(&similarities->names);
	lode_bound_patterns_release(&similarities->bounds);
	lode_free(similarities->weights);
	lode_free(similarities->order);
	lode_free(similarities);
}

const uint32_t *lode_similarities_order(const struct lode_similarities *similarities)
{
	return similarities->order;
}

/* ---- a worker: one thread's room ---- */

struct lane {
	const uint32_t *frames;
	const struct lode_similarity_weight *weights;
	uint32_t pattern;
	uint32_t length;
};

struct worker {
	struct worker *next; /* among those at rest */
	const struct lode_similarities *similarities;
	struct lane lanes[LANES];
	size_t lane_count;
	uint32_t longest;     /* of the lanes that take part */
	union lanes *profile; /* rows of `longest`, Sub - 1; row 0 is all zero */
	size_t profile_capacity;
	uint32_t *row_of_name; /* in the profile; 0: nothing in common */
	uint32_t *named;       /* names that have a row of their own, from row 1 on */
	size_t row_count;      /* of the profile, row 0 included */
	struct lode_near_name *near;
	uint32_t *common;
	union lanes *table; /* columns of longest + 1 */
	size_t table_capacity;
	uint32_t filled;                     /* frames of the rows that the table has */
	const union lanes **column_profiles; /* by frame of the column: its row of the profile */
	size_t column_capacity;
	uint32_t *units; /* LANES rows of results */
	size_t unit_capacity;
	struct lode_alignment alignment; /* for long patterns */
	struct lode_bound *bound;
};

static void free_worker(struct worker *worker)
{
	if (!worker)
		return;
	lode_free(worker->profile);
	lode_free(worker->row_of_name);
	lode_free(worker->named);
	lode_free(worker->near);
	lode_free(worker->common);
	lode_free(worker->table);
	lode_free((void *)(uintptr_t)worker->column_profiles);
	lode_free(worker->units);
	lode_alignment_release(&worker->alignment);
	lode_bound_free(worker->bound);
	lode_free(worker);
}

static struct worker *make_worker(const struct lode_similarities *similarities)
{
	struct worker *worker = lode_calloc(1, sizeof(*worker));
	size_t names = similarities->names.count;

	if (!worker)
		return NULL;
	worker->similarities = similarities;
	worker->row_of_name = lode_calloc(names, sizeof(*worker->row_of_name));
	worker->named = lode_calloc(names + 1, sizeof(*worker->named));
	worker->near = lode_calloc(names, sizeof(*worker->near));
	worker->common = lode_calloc(names, sizeof(*worker->common));
	worker->bound = lode_bound_make(&similarities->bounds, names);
	if (!worker->bound || !worker->row_of_name || !worker->named || !worker->near || !worker->common) {
		free_worker(worker);
		return NULL;
	}
	return worker;
}

static struct lane get_lane(const struct lode_similarities *similarities, uint32_t pattern)
{
	const struct lode_pattern *item = &similarities->patterns->items[pattern];

	return (struct lane){ similarities->patterns->frames + item->first, similarities->weights + item->first,
			      pattern, item->length };
}

static const uint32_t *names_of(const struct lode_similarities *similarities, uint32_t pattern)
{
	return similarities->names.of + similarities->patterns->items[pattern].first;
}

/* ---- the profile ---- */

static void forget_profile(struct worker *worker)
{
	for (size_t row = 1; row < worker->row_count; row++)
		worker->row_of_name[worker->named[row]] = 0;
	worker->row_count = 0;
}

/* Appends a row of zeros. */
static int add_profile_row(struct worker *worker)
{
	size_t width = worker->longest;

	if (lode_grow(&worker->profile, &worker->profile_capacity, (worker->row_count + 1) * width,
		      sizeof(*worker->profile)) < 0)
		return LODE_SYSTEM;
	if (width)
		memset(worker->profile + worker->row_count * width, 0, width * sizeof(*worker->profile));
	worker->row_count++;
	return 0;
}

/* Enters what is near to frame `at` of a lane. */
static int profile_frame(struct worker *worker, size_t lane, uint32_t at, uint32_t name)
{
	size_t count = lode_names_near(&worker->similarities->names, name, worker->common, worker->near);

	for (size_t i = 0; i < count; i++) {
		struct lode_near_name near = worker->near[i];

		if (!worker->row_of_name[near.name]) {
			if (add_profile_row(worker) < 0)
				return LODE_SYSTEM;
			worker->row_of_name[near.name] = (uint32_t)worker->row_count - 1;
			worker->named[worker->row_count - 1] = near.name;
		}
		worker->profile[(size_t)worker->row_of_name[near.name] * worker->longest + at].lane[lane] =
			(int32_t)near.sub - ONE;
		if (lode_bound_add_near(worker->bound, lane, at, near) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int make_profile(struct worker *worker)
{
	forget_profile(worker);
	lode_bound_clear(worker->bound);
	if (add_profile_row(worker) < 0)
		return LODE_SYSTEM;
	for (size_t k = 0; k < worker->lane_count; k++) {
		const struct lane *lane = &worker->lanes[k];
		const uint32_t *names = names_of(worker->similarities, lane->pattern);

		if (lane->length > LONGEST_IN_LANES)
			continue;
		lode_bound_add_row(worker->bound, k, worker->similarities->patterns->items[lane->pattern].first,
				   lane->length);
		for (uint32_t i = 0; i < lane->length; i++)
			if (profile_frame(worker, k, i, names[i]) < 0)
				return LODE_SYSTEM;
	}
	return 0;
}

/* ---- the table ---- */

static const union lanes *profile_of(const struct worker *worker, uint32_t name)
{
	return worker->profile + (size_t)worker->row_of_name[name] * worker->longest;
}

static inline vector smaller(vector a, vector b)
{
	vector mask = a < b;

	return (a & mask) | (b & ~mask);
}

/* One column from the one before it; the first number of `column` is there already. */
static void fill_column(const union lanes *restrict before, const union lanes *restrict profile,
			union lanes *restrict column, size_t length)
{
	union lanes above = column[0], diagonal = before[0];

	for (size_t i = 0; i < length; i++) {
		union lanes insert = before[i + 1];

		for (int k = 0; k < 2; k++)
			above.half[k] = smaller(above.half[k], smaller(diagonal.half[k] + profile[i].half[k],
								       insert.half[k] + ONE));
		column[i + 1] = above;
		diagonal = insert;
	}
}

/*
 * The table of the first `length` frames of a pattern, `filled` frames of the rows; it begins
 * with the same `shared` frames as the one whose table is there.
 */
static int fill_table(struct worker *worker, uint32_t pattern, uint32_t length, uint32_t shared)
{
	const uint32_t *names = names_of(worker->similarities, pattern);
	size_t width = (size_t)worker->longest + 1;

	if (lode_grow(&worker->table, &worker->table_capacity, ((size_t)length + 1) * width,
		      sizeof(*worker->table)) < 0 ||
	    lode_grow(&worker->column_profiles, &worker->column_capacity, length,
		      sizeof(*worker->column_profiles)) < 0)
		return LODE_SYSTEM;
	if (!shared)
		memset(worker->table, 0, width * sizeof(*worker->table));
	for (uint32_t j = shared; j < length; j++) {
		union lanes *column = worker->table + (j + 1) * width;

		for (size_t k = 0; k < LANES; k++)
			column->lane[k] = ((int32_t)j + 1) * ONE;
		worker->column_profiles[j] = profile_of(worker, names[j]);
		fill_column(column - width, worker->column_profiles[j], column, worker->filled);
	}
	return 0;
}

/* ---- the way back ---- */

/* How far the way back has come, and the sums of Sim so far. */
struct way {
	const struct worker *worker;
	const struct lane *row;
	const struct lane *column;
	size_t width; /* of the table */
	size_t k;     /* lane of the row */
	int row_is_left;
	uint32_t i; /* frames of the row that are still to go */
	uint32_t j; /* of the column */
	double matched;
	double rest;
};

enum turn {
	MATCH,
	SUBSTITUTE,
	LEAVE_ROW, /* a frame of the row is unmatched */
	LEAVE_COLUMN,
};

/* Sub - 1 of the frames in front of i and j. */
static inline int32_t nearness(const struct way *way, uint32_t i, uint32_t j)
{
	return way->worker->column_profiles[j - 1][i - 1].lane[way->k];
}

static inline enum turn next_turn(const struct way *way)
{
	const union lanes *here, *before;
	int32_t cost;
	int row, column;

	if (!way->i || !way->j)
		return way->i ? LEAVE_ROW : LEAVE_COLUMN;
	if (way->row->frames[way->i - 1] == way->column->frames[way->j - 1])
		return MATCH;
	here = way->worker->table + way->j * way->width + way->i;
	before = here - way->width;
	cost = here->lane[way->k];
	if (before[-1].lane[way->k] + nearness(way, way->i, way->j) == cost)
		return SUBSTITUTE;
	row = here[-1].lane[way->k] == cost;
	column = before->lane[way->k] + ONE == cost;
	return row && (way->row_is_left || !column) ? LEAVE_ROW : LEAVE_COLUMN;
}

/* The weight of a function; `before` and `after` say whether its segment goes on there. */
static inline double weight_at(const struct lode_similarity_weight *weight, int before, int after)
{
	return weight->uni * ((before ? weight->forward : 1) + (after ? weight->backward : 1)) / 2;
}

/* Adds the weights of functions first..last-1 of a pattern, one segment, to `sum`, from the leaf end. */
static inline double add_segment(double sum, const struct lode_similarity_weight *weights, uint32_t first,
				 uint32_t last)
{
	if (last - first == 1)
		return sum + weight_at(&weights[first], 0, 0);
	sum += weight_at(&weights[last - 1], 1, 0);
	for (uint32_t i = last - 1; i-- > first + 1;)
		sum += weights[i].inner;
	return sum + weight_at(&weights[first], 0, 1);
}

/* The same for a segment of substitutions that ends in front of i and j. */
static inline double add_substitutions(double sum, const struct way *way, uint32_t i, uint32_t j)
{
	for (int after = 0; i > way->i; i--, j--, after = 1) {
		int before = i - 1 > way->i;
		double sub = (double)(nearness(way, i, j) + ONE) / LODE_SUB_UNITS;
		double row = weight_at(&way->row->weights[i - 1], before, after);
		double column = weight_at(&way->column->weights[j - 1], before, after);

		sum += sub * (row + column) / 2;
	}
	return sum;
}

/* Goes back over one segment and adds its weight. */
static inline void go_along(struct way *way, enum turn *turn)
{
	enum turn kind = *turn;
	uint32_t i = way->i, j = way->j;

	do {
		way->i -= kind != LEAVE_COLUMN;
		way->j -= kind != LEAVE_ROW;
	} while ((way->i || way->j) && (*turn = next_turn(way)) == kind);
	if (kind == MATCH)
		way->matched = add_segment(way->matched, way->row->weights, way->i, i);
	else if (kind == LEAVE_ROW)
		way->rest = add_segment(way->rest, way->row->weights, way->i, i);
	else if (kind == LEAVE_COLUMN)
		way->rest = add_segment(way->rest, way->column->weights, way->j, j);
	else
		way->rest = add_substitutions(way->rest, way, i, j);
}

static double similarity_of_lane(const struct worker *worker, size_t k, const struct lane *column)
{
	struct way way = {
		.worker = worker,
		.row = &worker->lanes[k],
		.column = column,
		.k = k,
		.width = (size_t)worker->longest + 1,
		.row_is_left = worker->lanes[k].pattern < column->pattern,
		.i = worker->lanes[k].length,
		.j = column->length,
	};
	enum turn turn = MATCH;
	int equal = 1;

	if (way.i || way.j)
		turn = next_turn(&way);
	while (way.i || way.j) {
		equal &= turn == MATCH;
		go_along(&way, &turn);
	}
	if (way.matched + way.rest == 0)
		return equal;
	return way.matched / (way.matched + way.rest);
}

/* ---- comparing ---- */

int lode_similarities_of_pair(const struct lode_similarities *similarities, uint32_t a, uint32_t b,
			      struct lode_alignment *alignment, uint32_t *units)
{
	struct lane left = get_lane(similarities, a < b ? a : b), right = get_lane(similarities, a < b ? b : a);

	if (lode_align(similarities->words, left.frames, left.length, right.frames, right.length, alignment) < 0)
		return LODE_SYSTEM;
	*units = lode_sim_units(lode_alignment_similarity(alignment, similarities->words, similarities->counts,
							  left.frames, right.frames));
	return 0;
}

/* What is compared: some patterns in the order of rows, and in that of columns. */
struct members {
	const uint32_t *patterns;
	size_t count;
	uint32_t least;      /* what a similarity must be to count, in units */
	uint32_t *by_frames; /* places in `patterns` */
	uint32_t *shared;    /* beside by_frames: how many frames the one before begins with, too */
};

/*
 * The lanes, as bits, that may be as similar to a column as asked. Of a similarity in
 * units, which are rounded, half a unit may be missing.
 */
static unsigned possible_lanes(const struct worker *worker, const struct lane *column, size_t lanes, uint32_t least)
{
	unsigned all = (1u << lanes) - 1, possible;

	if (least <= 1 || column->length > LONGEST_IN_LANES)
		return all;
	possible = lode_bound_possible(worker->bound, worker->similarities->patterns->items[column->pattern].first,
				       column->length, ((double)least - 1) / LODE_SIM_UNITS);
	for (size_t k = 0; k < lanes; k++)
		if (worker->lanes[k].length > LONGEST_IN_LANES)
			possible |= 1u << k;
	return possible & all;
}

/* One column against the lanes that may be similar; results go to units[lane * stride]. */
static int compare_column(struct worker *worker, const struct lane *column, size_t lanes, unsigned possible,
			  uint32_t *units, size_t stride)
{
	int is_long = column->length > LONGEST_IN_LANES;

	for (size_t k = 0; k < lanes; k++) {
		const struct lane *row = &worker->lanes[k];
		uint32_t *sim = &units[k * stride];

		if (!(possible >> k & 1))
			*sim = 0;
		else if (!is_long && row->length <= LONGEST_IN_LANES)
			*sim = lode_sim_units(similarity_of_lane(worker, k, column));
		else if (lode_similarities_of_pair(worker->similarities, row->pattern, column->pattern,
						   &worker->alignment, sim) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* How many frames of the rows and of the column are in front of what is equal from the leaf on. */
struct extent {
	uint32_t rows;
	uint32_t column;
};

static struct extent find_extent(const struct worker *worker, const struct lane *column, unsigned possible)
{
	struct extent extent = { 0, 0 };

	for (; possible; possible &= possible - 1) {
		const struct lane *row = &worker->lanes[__builtin_ctz(possible)];
		uint32_t i = row->length, j = column->length;

		if (i > LONGEST_IN_LANES)
			continue;
		while (i && j && row->frames[i - 1] == column->frames[j - 1])
			i--, j--;
		extent.rows = i > extent.rows ? i : extent.rows;
		extent.column = j > extent.column ? j : extent.column;
	}
	return extent;
}

/*
 * Fills the table as far as the ways back look at it: frames that are equal from the
 * leaf on always match. Of the table there `*shared` columns are good; and afterwards.
 */
static int prepare_table(struct worker *worker, const struct lane *column, unsigned possible, uint32_t *shared)
{
	struct extent extent = find_extent(worker, column, possible);

	if (extent.rows > worker->filled || !*shared) {
		worker->filled = extent.rows;
		*shared = 0;
	}
	if (extent.column <= *shared)
		return 0;
	if (fill_table(worker, column->pattern, extent.column, *shared) < 0)
		return LODE_SYSTEM;
	*shared = extent.column;
	return 0;
}

/* All columns behind row `first`, in the order of their frames. */
static int compare_columns(struct worker *worker, const struct members *members, size_t first)
{
	const struct lode_similarities *similarities = worker->similarities;
	uint32_t shared = 0;

	for (size_t i = 0; i < members->count; i++) {
		size_t place = members->by_frames[i], lanes = place - first;
		struct lane column;
		unsigned possible;

		shared = members->shared[i] < shared ? members->shared[i] : shared;
		if (place <= first)
			continue;
		lanes = lanes < worker->lane_count ? lanes : worker->lane_count;
		column = get_lane(similarities, members->patterns[place]);
		possible = possible_lanes(worker, &column, lanes, members->least);
		if (possible && column.length <= LONGEST_IN_LANES &&
		    prepare_table(worker, &column, possible, &shared) < 0)
			return LODE_SYSTEM;
		if (compare_column(worker, &column, lanes, possible, worker->units + place, members->count) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static void take_lanes(struct worker *worker, const uint32_t *patterns, size_t count)
{
	worker->lane_count = count;
	worker->longest = 0;
	for (size_t k = 0; k < count; k++) {
		struct lane *lane = &worker->lanes[k];

		*lane = get_lane(worker->similarities, patterns[k]);
		if (lane->length <= LONGEST_IN_LANES && lane->length > worker->longest)
			worker->longest = lane->length;
	}
}

/* Rows first..first+LANES-1 against all columns behind each. */
static int compare_rows(struct worker *worker, const struct members *members, size_t first)
{
	size_t left = members->count - first;

	take_lanes(worker, members->patterns + first, left < LANES ? left : LANES);
	if (lode_grow(&worker->units, &worker->unit_capacity, LANES * members->count, sizeof(*worker->units)) < 0 ||
	    make_profile(worker) < 0)
		return LODE_SYSTEM;
	return compare_columns(worker, members, first);
}

/* ---- the order of the columns ---- */

struct sorting {
	const struct lode_patterns *patterns;
	const uint32_t *members;
};

/* How many frames two patterns begin with alike. */
static uint32_t count_shared(const struct lode_patterns *patterns, uint32_t a, uint32_t b)
{
	const uint32_t *left = lode_pattern_frames(patterns, a), *right = lode_pattern_frames(patterns, b);
	uint32_t x = patterns->items[a].length, y = patterns->items[b].length, shared = 0;

	while (shared < x && shared < y && left[shared] == right[shared])
		shared++;
	return shared;
}

static int compare_frames(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	uint32_t left = sorting->members[*(const uint32_t *)a];
	uint32_t right = sorting->members[*(const uint32_t *)b];
	uint32_t shared = count_shared(sorting->patterns, left, right);
	uint32_t x = sorting->patterns->items[left].length, y = sorting->patterns->items[right].length;

	if (shared < x && shared < y) {
		x = lode_pattern_frames(sorting->patterns, left)[shared];
		y = lode_pattern_frames(sorting->patterns, right)[shared];
	}
	return (x > y) - (x < y);
}

static int sort_members(struct members *members, const struct lode_patterns *patterns)
{
	struct sorting sorting = { patterns, members->patterns };

	members->by_frames = lode_calloc(members->count, sizeof(*members->by_frames));
	members->shared = lode_calloc(members->count, sizeof(*members->shared));
	if (!members->by_frames || !members->shared)
		return LODE_SYSTEM;
	for (size_t i = 0; i < members->count; i++)
		members->by_frames[i] = (uint32_t)i;
	if (members->count)
		qsort_r(members->by_frames, members->count, sizeof(*members->by_frames), compare_frames, &sorting);
	for (size_t i = 1; i < members->count; i++)
		members->shared[i] = count_shared(patterns, members->patterns[members->by_frames[i - 1]],
						  members->patterns[members->by_frames[i]]);
	return 0;
}

/* ---- all pairs on several threads ---- */

struct comparison {
	const struct lode_similarities *similarities;
	struct members members;
	const struct lode_progress *progress;
	const struct lode_similarities_sink *sink;
	pthread_mutex_t lock; /* for all below, for the sink and for progress */
	struct worker *at_rest;
	uint64_t done; /* pairs */
	int stopped;
	int failed;
};

static struct worker *take_worker(struct comparison *comparison)
{
	struct worker *worker = NULL;
	int over;

	pthread_mutex_lock(&comparison->lock);
	over = comparison->stopped || comparison->failed;
	if (!over && (worker = comparison->at_rest))
		comparison->at_rest = worker->next;
	pthread_mutex_unlock(&comparison->lock);
	if (over || worker)
		return worker;
	worker = make_worker(comparison->similarities);
	if (!worker) {
		pthread_mutex_lock(&comparison->lock);
		comparison->failed = 1;
		pthread_mutex_unlock(&comparison->lock);
	}
	return worker;
}

static uint64_t pairs(uint64_t count)
{
	return count * (count - 1) / 2;
}

/* Hands the rows over and lets the worker rest. */
static void finish_rows(struct comparison *comparison, struct worker *worker, size_t first, int code)
{
	size_t count = comparison->members.count;

	pthread_mutex_lock(&comparison->lock);
	for (size_t k = 0; k < worker->lane_count && !code; k++) {
		comparison->sink->row(comparison->sink->context, first + k, worker->units + k * count);
		comparison->done += count - (first + k) - 1;
	}
	comparison->failed |= code != 0;
	comparison->stopped |= lode_progress_report(comparison->progress, "comparing patterns", "pairs",
						    comparison->done, pairs(count)) != 0;
	worker->next = comparison->at_rest;
	comparison->at_rest = worker;
	pthread_mutex_unlock(&comparison->lock);
}

static void compare_piece(void *context, size_t piece)
{
	struct comparison *comparison = context;
	struct worker *worker = take_worker(comparison);
	int code;

	if (!worker)
		return;
	code = compare_rows(worker, &comparison->members, piece * LANES);
	finish_rows(comparison, worker, piece * LANES, code);
}

int lode_similarities_compare(const struct lode_similarities *similarities, uint32_t least, unsigned jobs,
			      const struct lode_progress *progress, const struct lode_similarities_sink *sink,
			      struct lode_error *error)
{
	struct comparison comparison = {
		.similarities = similarities,
		.members = { similarities->order, similarities->patterns->count, least, NULL, NULL },
		.progress = progress,
		.sink = sink,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	comparison.failed = sort_members(&comparison.members, similarities->patterns) < 0;
	if (!comparison.failed)
		lode_parallel(jobs, (comparison.members.count + LANES - 1) / LANES, compare_piece, &comparison);
	while (comparison.at_rest) {
		struct worker *worker = comparison.at_rest;

		comparison.at_rest = worker->next;
		free_worker(worker);
	}
	pthread_mutex_destroy(&comparison.lock);
	lode_free(comparison.members.by_frames);
	lode_free(comparison.members.shared);
	if (comparison.failed)
		return lode_fail_memory(error);
	if (comparison.stopped)
		return lode_fail(error, LODE_SYSTEM, "comparing the patterns was stopped");
	return 0;
}
