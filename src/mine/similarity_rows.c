/*
 * Eight rows: see similarity_rows.h.
 *
 * Dynamic programming as in alignment.c, for eight rows (patterns) at a time
 * against one column (pattern) after another: the numbers of the eight are side
 * by side in vectors, so that one operation serves them all. Columns that begin alike
 * come one after the other, so that the table of one goes on where the next one differs.
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
#include "mine/similarity_rows.h"

#include "base/error.h"

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

/* ---- one thread's room ---- */

struct lane {
	const uint32_t *frames;
	const struct lode_similarity_weight *weights;
	uint32_t pattern;
	uint32_t length;
};

struct lode_similarity_rows {
	const struct lode_similarities *similarities;
	struct lane lanes[LANES];
	size_t lane_count;
	uint32_t longest;     /* of the lanes that take part */
	union lanes *profile; /* rows of `longest`, Sub - 1; row 0 is all zero */
	size_t profile_capacity;
	uint32_t *row_of_name; /* in the profile; 0: nothing in common */
	uint32_t *named;       /* names that have their own row, from row 1 on */
	size_t row_count;      /* of the profile, row 0 included */
	struct lode_near_name *near;
	uint32_t *common;
	union lanes *table; /* columns of longest + 1 */
	size_t table_capacity;
	uint32_t filled;                     /* frames of the rows that the table has */
	const union lanes **column_profiles; /* by frame of the column: its row of the profile */
	size_t column_capacity;
	struct lode_alignment alignment; /* for long patterns */
	struct lode_bound *bound;
};

void lode_similarity_rows_free(struct lode_similarity_rows *rows)
{
	if (!rows)
		return;
	lode_free(rows->profile);
	lode_free(rows->row_of_name);
	lode_free(rows->named);
	lode_free(rows->near);
	lode_free(rows->common);
	lode_free(rows->table);
	lode_free((void *)(uintptr_t)rows->column_profiles);
	lode_alignment_release(&rows->alignment);
	lode_bound_free(rows->bound);
	lode_free(rows);
}

struct lode_similarity_rows *lode_similarity_rows_make(const struct lode_similarities *similarities)
{
	struct lode_similarity_rows *rows = lode_calloc(1, sizeof(*rows));
	size_t names = similarities->names.count;

	if (!rows)
		return NULL;
	rows->similarities = similarities;
	rows->row_of_name = lode_calloc(names, sizeof(*rows->row_of_name));
	rows->named = lode_calloc(names + 1, sizeof(*rows->named));
	rows->near = lode_calloc(names, sizeof(*rows->near));
	rows->common = lode_calloc(names, sizeof(*rows->common));
	rows->bound = lode_bound_make(&similarities->bounds, names);
	if (!rows->bound || !rows->row_of_name || !rows->named || !rows->near || !rows->common) {
		lode_similarity_rows_free(rows);
		return NULL;
	}
	return rows;
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

static void forget_profile(struct lode_similarity_rows *rows)
{
	for (size_t row = 1; row < rows->row_count; row++)
		rows->row_of_name[rows->named[row]] = 0;
	rows->row_count = 0;
}

/* Appends a row of zeros. */
static int add_profile_row(struct lode_similarity_rows *rows)
{
	size_t width = rows->longest;

	if (LODE_GROW(rows->profile, rows->profile_capacity, (rows->row_count + 1) * width) < 0)
		return LODE_SYSTEM;
	if (width)
		memset(rows->profile + rows->row_count * width, 0, width * sizeof(*rows->profile));
	rows->row_count++;
	return 0;
}

/* Enters what is near to frame `at` of a lane. */
static int profile_frame(struct lode_similarity_rows *rows, size_t lane, uint32_t at, uint32_t name)
{
	size_t count = lode_names_near(&rows->similarities->names, name, rows->common, rows->near);

	for (size_t i = 0; i < count; i++) {
		struct lode_near_name near = rows->near[i];

		if (!rows->row_of_name[near.name]) {
			if (add_profile_row(rows) < 0)
				return LODE_SYSTEM;
			rows->row_of_name[near.name] = (uint32_t)rows->row_count - 1;
			rows->named[rows->row_count - 1] = near.name;
		}
		rows->profile[(size_t)rows->row_of_name[near.name] * rows->longest + at].lane[lane] =
			(int32_t)near.sub - ONE;
		if (lode_bound_add_near(rows->bound, lane, at, near) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

static int make_profile(struct lode_similarity_rows *rows)
{
	forget_profile(rows);
	lode_bound_clear(rows->bound);
	if (add_profile_row(rows) < 0)
		return LODE_SYSTEM;
	for (size_t k = 0; k < rows->lane_count; k++) {
		const struct lane *lane = &rows->lanes[k];
		const uint32_t *names = names_of(rows->similarities, lane->pattern);

		if (lane->length > LONGEST_IN_LANES)
			continue;
		lode_bound_add_row(rows->bound, k, rows->similarities->patterns->items[lane->pattern].first,
				   lane->length);
		for (uint32_t i = 0; i < lane->length; i++)
			if (profile_frame(rows, k, i, names[i]) < 0)
				return LODE_SYSTEM;
	}
	return 0;
}

/* ---- the table ---- */

static const union lanes *profile_of(const struct lode_similarity_rows *rows, uint32_t name)
{
	return rows->profile + (size_t)rows->row_of_name[name] * rows->longest;
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
static int fill_table(struct lode_similarity_rows *rows, uint32_t pattern, uint32_t length, uint32_t shared)
{
	const uint32_t *names = names_of(rows->similarities, pattern);
	size_t width = (size_t)rows->longest + 1;

	if (LODE_GROW(rows->table, rows->table_capacity, ((size_t)length + 1) * width) < 0 ||
	    LODE_GROW(rows->column_profiles, rows->column_capacity, length) < 0)
		return LODE_SYSTEM;
	if (!shared)
		memset(rows->table, 0, width * sizeof(*rows->table));
	for (uint32_t j = shared; j < length; j++) {
		union lanes *column = rows->table + (j + 1) * width;

		for (size_t k = 0; k < LANES; k++)
			column->lane[k] = ((int32_t)j + 1) * ONE;
		rows->column_profiles[j] = profile_of(rows, names[j]);
		fill_column(column - width, rows->column_profiles[j], column, rows->filled);
	}
	return 0;
}

/* ---- the way back ---- */

/* How far the way back has come, and the sums of Sim so far. */
struct way {
	const struct lode_similarity_rows *rows;
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
	return way->rows->column_profiles[j - 1][i - 1].lane[way->k];
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
	here = way->rows->table + way->j * way->width + way->i;
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

static double similarity_of_lane(const struct lode_similarity_rows *rows, size_t k, const struct lane *column)
{
	struct way way = {
		.rows = rows,
		.row = &rows->lanes[k],
		.column = column,
		.k = k,
		.width = (size_t)rows->longest + 1,
		.row_is_left = rows->lanes[k].pattern < column->pattern,
		.i = rows->lanes[k].length,
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

/*
 * The lanes, as bits, that may be as similar to a column as asked. Of a similarity in
 * units, which are rounded, half a unit may be missing.
 */
static unsigned possible_lanes(const struct lode_similarity_rows *rows, const struct lane *column, size_t lanes,
			       uint32_t least)
{
	unsigned all = (1u << lanes) - 1, possible;

	if (least <= 1 || column->length > LONGEST_IN_LANES)
		return all;
	possible = lode_bound_possible(rows->bound, rows->similarities->patterns->items[column->pattern].first,
				       column->length, ((double)least - 1) / LODE_SIM_UNITS);
	for (size_t k = 0; k < lanes; k++)
		if (rows->lanes[k].length > LONGEST_IN_LANES)
			possible |= 1u << k;
	return possible & all;
}

/* One column against the lanes that may be similar; results go to units[lane * stride]. */
static int compare_column(struct lode_similarity_rows *rows, const struct lane *column, size_t lanes,
			  unsigned possible, uint32_t *units, size_t stride)
{
	int is_long = column->length > LONGEST_IN_LANES;

	for (size_t k = 0; k < lanes; k++) {
		const struct lane *row = &rows->lanes[k];
		uint32_t *sim = &units[k * stride];

		if (!(possible >> k & 1))
			*sim = 0;
		else if (!is_long && row->length <= LONGEST_IN_LANES)
			*sim = lode_sim_units(similarity_of_lane(rows, k, column));
		else if (lode_similarities_of_pair(rows->similarities, row->pattern, column->pattern,
						   &rows->alignment, sim) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* How many frames of the rows and of the column are in front of what is equal from the leaf on. */
struct extent {
	uint32_t rows;
	uint32_t column;
};

static struct extent find_extent(const struct lode_similarity_rows *rows, const struct lane *column,
				 unsigned possible)
{
	struct extent extent = { 0, 0 };

	for (; possible; possible &= possible - 1) {
		const struct lane *row = &rows->lanes[__builtin_ctz(possible)];
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
static int prepare_table(struct lode_similarity_rows *rows, const struct lane *column, unsigned possible,
			 uint32_t *shared)
{
	struct extent extent = find_extent(rows, column, possible);

	if (extent.rows > rows->filled || !*shared) {
		rows->filled = extent.rows;
		*shared = 0;
	}
	if (extent.column <= *shared)
		return 0;
	if (fill_table(rows, column->pattern, extent.column, *shared) < 0)
		return LODE_SYSTEM;
	*shared = extent.column;
	return 0;
}

int lode_similarity_rows_take(struct lode_similarity_rows *rows, const uint32_t *patterns, size_t count)
{
	rows->lane_count = count;
	rows->longest = 0;
	for (size_t k = 0; k < count; k++) {
		struct lane *lane = &rows->lanes[k];

		*lane = get_lane(rows->similarities, patterns[k]);
		if (lane->length <= LONGEST_IN_LANES && lane->length > rows->longest)
			rows->longest = lane->length;
	}
	return make_profile(rows);
}

int lode_similarity_rows_compare(struct lode_similarity_rows *rows, uint32_t column, size_t count, uint32_t least,
				 uint32_t *shared, uint32_t *units, size_t stride)
{
	struct lane lane = get_lane(rows->similarities, column);
	size_t lanes = count < rows->lane_count ? count : rows->lane_count;
	unsigned possible = possible_lanes(rows, &lane, lanes, least);

	if (possible && lane.length <= LONGEST_IN_LANES && prepare_table(rows, &lane, possible, shared) < 0)
		return LODE_SYSTEM;
	return compare_column(rows, &lane, lanes, possible, units, stride);
}
