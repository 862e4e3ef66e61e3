/*
 * Simultaneous intervals for differences within blocks: see blocked_intervals.h.
 *
 * The difference of a column is the mean over blocks of slow minus base, a block with b and s streams weighing
 * b s / (b + s), which is best where streams vary alike. Its standard error allows the sides to vary differently
 * (Welch), because a new version may well be less regular than the old one, and often has fewer streams.
 *
 * An interval is the difference plus and minus some standard errors. How many it takes for one column, Student's
 * distribution says. For all columns together: the largest of their studentised differences stays below c in 1 - level
 * of random splits of the streams' residuals within their blocks (single-step maxT). The level at which one column
 * alone would have this c is the level of each column. It takes the place of a division by the number of columns, and
 * Student's point at that level, with a column's own degrees of freedom, makes its interval. The simulations in the
 * tests measure how often intervals hold.
 *
 * A run that something else disturbed takes much longer than all others. Of the residuals of a side the tenth at either
 * end counts as much as the next one, and standard errors are those of such winsorised means (Tukey and McLaughlin).
 */
#include "latency/blocked_intervals.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/sort_numbers.h"
#include "base/student.h"
#include "latency/chance.h"

#include <math.h>
#include <string.h>

#define ROUNDS 4999
#define FEW    999 /* rounds where more than MOST additions would be needed */
#define MOST   4e9
#define BLOCK  200 /* rounds a piece of work */
#define SEED   0x9a7e5eedu

/* With fewer degrees of freedom on a side its own deviation is too uncertain, and both sides share one. */
#define MIN_FREEDOM 4

/* A block that both sides have. */
struct block {
	size_t counts[2];
	size_t starts[2]; /* of its streams of a side among all that count */
	double weight;
};

struct work {
	const struct lode_blocked_input *input;
	struct block *blocks;
	size_t block_count;
	uint32_t *streams; /* those that count, by block, then by side */
	size_t count;
	size_t sides[2]; /* how many of them */
	double freedom[2];
	double spread[2];  /* what a side's variance contributes to that of the difference */
	double *residuals; /* by place in `streams`, then by column */
	double *largest;   /* by round */
	size_t rounds;
	int failed;
};

/* ---- which streams ---- */

static uint32_t block_of(const struct work *work, size_t stream)
{
	return work->input->blocks ? work->input->blocks[stream] : 0;
}

/* By block: the number of streams of each side. */
static void count_streams(const struct work *work, size_t (*counts)[2])
{
	for (size_t i = 0; i < work->input->base + work->input->slow; i++)
		counts[block_of(work, i)][i >= work->input->base]++;
}

static double weight_of(const size_t counts[2])
{
	double base = (double)counts[0], slow = (double)counts[1];

	return base * slow / (base + slow);
}

static void list_streams(struct work *work, const uint32_t *compact)
{
	size_t all = work->input->base + work->input->slow;

	for (uint32_t block = 0; block < work->block_count; block++) {
		struct block *here = &work->blocks[block];
		size_t at[2] = { work->count, work->count + here->counts[0] };

		memcpy(here->starts, at, sizeof(at));
		for (size_t i = 0; i < all; i++)
			if (compact[block_of(work, i)] == block + 1)
				work->streams[at[i >= work->input->base]++] = (uint32_t)i;
		work->count = at[1];
	}
}

static void weigh_blocks(struct work *work)
{
	double sum = 0;

	for (size_t i = 0; i < work->block_count; i++)
		sum += weight_of(work->blocks[i].counts);
	for (size_t i = 0; i < work->block_count; i++) {
		struct block *block = &work->blocks[i];

		block->weight = weight_of(block->counts) / sum;
		for (int side = 0; side < 2; side++) {
			double count = (double)block->counts[side];

			work->sides[side] += block->counts[side];
			work->freedom[side] += count - 1;
			work->spread[side] += block->weight * block->weight / count;
		}
	}
}

static int find_blocks(struct work *work)
{
	size_t all = work->input->base + work->input->slow;
	size_t(*counts)[2] = lode_calloc(all + 1, sizeof(*counts));
	uint32_t *compact = lode_calloc(all + 1, sizeof(*compact));
	int code = LODE_SYSTEM;

	work->blocks = lode_calloc(all + 1, sizeof(*work->blocks));
	work->streams = lode_calloc(all + 1, sizeof(*work->streams));
	if (counts && compact && work->blocks && work->streams) {
		count_streams(work, counts);
		for (size_t i = 0; i < all; i++)
			if (counts[i][0] && counts[i][1]) {
				memcpy(work->blocks[work->block_count].counts, counts[i], sizeof(counts[i]));
				compact[i] = (uint32_t)++work->block_count;
			}
		list_streams(work, compact);
		weigh_blocks(work);
		code = 0;
	}
	lode_free(counts);
	lode_free(compact);
	return code;
}

/* Whether the streams can show anything: there are enough splits within blocks that chance rarely hits the real one. */
static int is_enough(const struct work *work)
{
	double ways = 1;

	for (size_t i = 0; i < work->block_count; i++) {
		const size_t *counts = work->blocks[i].counts;

		if (lode_chance_can_detect(counts[0], counts[1], work->input->level))
			return 1;
		for (size_t k = 0; k < counts[0] && ways < 1e9; k++)
			ways = ways * (double)(counts[0] + counts[1] - k) / (double)(k + 1);
	}
	return work->block_count && 2 / ways < work->input->level &&
	       work->freedom[0] + work->freedom[1] >= MIN_FREEDOM;
}

/* ---- one column ---- */

/* Room for the values of a column, by place in `streams`. */
struct column {
	double *values;
	double *residuals;
	double *sorted;
};

static double median_of(const double *values, size_t count, double *sorted)
{
	memcpy(sorted, values, count * sizeof(*sorted));
	lode_sort_double(sorted, count);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/*
 * How many residuals at either end of a side are clipped. Medians of few streams vary as much as these do, so blocks must
 * have some.
 */
static size_t outliers_of(const struct work *work, int side)
{
	return work->block_count == 1 || work->sides[side] >= 20 * work->block_count ? work->sides[side] / 10 : 0;
}

/* Clips the residuals of a side from the medians of its blocks. */
static void clip_side(const struct work *work, int side, struct column *column)
{
	size_t count = 0, outliers = outliers_of(work, side);
	double low, high;

	for (size_t block = 0; block < work->block_count; block++) {
		size_t start = work->blocks[block].starts[side], size = work->blocks[block].counts[side];
		double median = median_of(column->values + start, size, column->sorted);

		for (size_t i = start; i < start + size; i++)
			column->residuals[count++] = column->values[i] - median;
	}
	memcpy(column->sorted, column->residuals, count * sizeof(*column->sorted));
	lode_sort_double(column->sorted, count);
	low = column->sorted[outliers];
	high = column->sorted[count - 1 - outliers];
	count = 0;
	for (size_t block = 0; block < work->block_count; block++) {
		size_t start = work->blocks[block].starts[side], size = work->blocks[block].counts[side];

		for (size_t i = start; i < start + size; i++, count++)
			column->values[i] +=
				fmin(fmax(column->residuals[count], low), high) - column->residuals[count];
	}
}

/* The mean over blocks of a side; its values become residuals. `squares`: sum of these, squared. */
static double centre_side(const struct work *work, int side, double *values, double *squares)
{
	double mean = 0;

	*squares = 0;
	for (size_t block = 0; block < work->block_count; block++) {
		size_t start = work->blocks[block].starts[side], size = work->blocks[block].counts[side];
		double sum = 0;

		for (size_t i = start; i < start + size; i++)
			sum += values[i];
		sum /= (double)size;
		mean += work->blocks[block].weight * sum;
		for (size_t i = start; i < start + size; i++) {
			values[i] -= sum;
			*squares += values[i] * values[i];
		}
	}
	return mean;
}

static int sides_share_deviation(const struct work *work)
{
	return work->freedom[0] < MIN_FREEDOM || work->freedom[1] < MIN_FREEDOM;
}

/* Variances of streams of either side from their sums of squares. */
static void find_variances(const struct work *work, const double squares[2], double floor, double variances[2])
{
	for (int side = 0; side < 2; side++)
		variances[side] = floor * floor +
				  (sides_share_deviation(work)
					   ? (squares[0] + squares[1]) / (work->freedom[0] + work->freedom[1])
					   : squares[side] / work->freedom[side]);
}

/* Welch's degrees of freedom, given what either side contributes to the variance; clipped streams are none. */
static double freedom_of(const struct work *work, const double parts[2])
{
	double sum = parts[0] + parts[1], all = 0, terms = 0;

	for (int side = 0; side < 2; side++) {
		double freedom = fmax(work->freedom[side] - 2 * (double)outliers_of(work, side), 1);

		all += freedom;
		terms += parts[side] * parts[side] / freedom;
	}
	return sides_share_deviation(work) || !(terms > 0) ? all : sum * sum / terms;
}

/* Returns the standard error of the difference. */
static double measure_column(struct work *work, size_t at, struct column *column,
			     struct lode_blocked_interval *interval, double *freedom)
{
	const struct lode_blocked_input *input = work->input;
	const double *values = input->values + at * (input->base + input->slow);
	double squares[2], variances[2], parts[2], slow;

	for (size_t i = 0; i < work->count; i++)
		column->values[i] = values[work->streams[i]];
	clip_side(work, 0, column);
	clip_side(work, 1, column);
	interval->base = centre_side(work, 0, column->values, &squares[0]);
	slow = centre_side(work, 1, column->values, &squares[1]);
	interval->more = slow - interval->base;
	for (size_t i = 0; i < work->count; i++)
		work->residuals[i * input->columns + at] = column->values[i];
	find_variances(work, squares, input->floors[at], variances);
	for (int side = 0; side < 2; side++) {
		double kept = 1 - 2 * (double)outliers_of(work, side) / (double)work->sides[side];

		parts[side] = variances[side] * work->spread[side] / (kept * kept);
	}
	*freedom = freedom_of(work, parts);
	return sqrt(parts[0] + parts[1]);
}

/* ---- splits ---- */

struct round {
	uint32_t *places;  /* a split: by block, base before slow */
	double *sums[2];   /* by column: of the block's streams of a side */
	double *more;      /* by column */
	double *within[2]; /* by column: squares of a side */
};

static void shuffle(const struct work *work, struct lode_random *random, uint32_t *places)
{
	for (size_t block = 0; block < work->block_count; block++) {
		size_t start = work->blocks[block].starts[0];
		size_t all = work->blocks[block].counts[0] + work->blocks[block].counts[1];

		for (size_t i = 0; i < work->blocks[block].counts[0]; i++) {
			size_t other = i + lode_random_below(random, all - i);
			uint32_t place = places[start + other];

			places[start + other] = places[start + i];
			places[start + i] = place;
		}
	}
}

static void add_block_side(const struct work *work, struct round *round, size_t block, int side)
{
	size_t columns = work->input->columns, size = work->blocks[block].counts[side];
	size_t start = work->blocks[block].starts[side];
	double *sums = round->sums[side], *within = round->within[side], weight = work->blocks[block].weight;

	memset(sums, 0, columns * sizeof(*sums));
	for (size_t i = start; i < start + size; i++) {
		const double *row = work->residuals + (size_t)round->places[i] * columns;

		for (size_t at = 0; at < columns; at++) {
			sums[at] += row[at];
			within[at] += row[at] * row[at];
		}
	}
	for (size_t at = 0; at < columns; at++) {
		double mean = sums[at] / (double)size;

		within[at] -= mean * sums[at];
		round->more[at] += side ? weight * mean : -weight * mean;
	}
}

/* The largest studentised difference of a split. */
static double largest_of(const struct work *work, struct round *round)
{
	size_t columns = work->input->columns;
	double largest = 0;

	memset(round->more, 0, columns * sizeof(*round->more));
	memset(round->within[0], 0, columns * sizeof(*round->within[0]));
	memset(round->within[1], 0, columns * sizeof(*round->within[1]));
	for (size_t block = 0; block < work->block_count; block++) {
		add_block_side(work, round, block, 0);
		add_block_side(work, round, block, 1);
	}
	for (size_t at = 0; at < columns; at++) {
		double squares[2] = { fmax(round->within[0][at], 0), fmax(round->within[1][at], 0) }, variances[2];
		double error;

		find_variances(work, squares, work->input->floors[at], variances);
		error = sqrt(variances[0] * work->spread[0] + variances[1] * work->spread[1]);
		if (error > 0)
			largest = fmax(largest, fabs(round->more[at]) / error);
	}
	return largest;
}

static void try_piece(void *context, size_t piece)
{
	struct work *work = context;
	size_t columns = work->input->columns;
	struct lode_random random = lode_random_piece(SEED, piece);
	double *room = lode_calloc(5 * columns, sizeof(*room));
	struct round round = {
		.places = lode_calloc(work->count, sizeof(*round.places)),
		.sums = { room, room + columns },
		.more = room + 2 * columns,
		.within = { room + 3 * columns, room + 4 * columns },
	};

	if (round.places && room) {
		for (size_t i = 0; i < work->count; i++)
			round.places[i] = (uint32_t)i;
		for (size_t i = piece * BLOCK; i < (piece + 1) * BLOCK && i < work->rounds; i++) {
			shuffle(work, &random, round.places);
			work->largest[i] = largest_of(work, &round);
		}
	} else {
		__atomic_store_n(&work->failed, 1, __ATOMIC_RELAXED);
	}
	lode_free(round.places);
	lode_free(room);
}

/* So many standard errors contain all differences of 1 - level of splits. */
static int find_critical(struct work *work, double *critical)
{
	double additions = (double)work->input->columns * (double)work->count * ROUNDS;
	size_t at;

	work->rounds = additions > MOST ? FEW : ROUNDS;
	work->largest = lode_calloc(work->rounds, sizeof(*work->largest));
	if (!work->largest)
		return LODE_SYSTEM;
	lode_parallel(work->input->jobs, (work->rounds + BLOCK - 1) / BLOCK, try_piece, work);
	if (work->failed)
		return LODE_SYSTEM;
	lode_sort_double(work->largest, work->rounds);
	at = (size_t)ceil((1 - work->input->level) * (double)(work->rounds + 1)) - 1;
	*critical = work->largest[at < work->rounds ? at : work->rounds - 1];
	return 0;
}

/* ---- the whole ---- */

static int measure(struct work *work, struct column *column, double (*errors)[2],
		   struct lode_blocked_interval *intervals)
{
	const struct lode_blocked_input *input = work->input;
	double critical, own;

	for (size_t i = 0; i < input->columns; i++)
		errors[i][0] = measure_column(work, i, column, &intervals[i], &errors[i][1]);
	if (!is_enough(work))
		return 0;
	if (find_critical(work, &critical) < 0)
		return LODE_SYSTEM;
	own = 2 * lode_student_below(-critical, work->freedom[0] + work->freedom[1]);
	own = fmin(own, input->level);
	for (size_t i = 0; i < input->columns; i++) {
		double reach = lode_student_point(1 - own / 2, errors[i][1]) * errors[i][0];

		intervals[i].low = intervals[i].more - reach;
		intervals[i].high = intervals[i].more + reach;
	}
	return 0;
}

static int run(struct work *work, struct lode_blocked_interval *intervals)
{
	size_t columns = work->input->columns;
	double *room = lode_calloc(3 * work->count, sizeof(*room));
	double(*errors)[2] = lode_calloc(columns, sizeof(*errors));
	struct column column;
	int code = LODE_SYSTEM;

	work->residuals = lode_calloc(columns, work->count * sizeof(*work->residuals));
	if (room && errors && work->residuals) {
		column = (struct column){ room, room + work->count, room + 2 * work->count };
		code = measure(work, &column, errors, intervals);
	}
	lode_free(room);
	lode_free(errors);
	return code;
}

int lode_blocked_intervals(const struct lode_blocked_input *input, struct lode_blocked_interval *intervals,
			   struct lode_blocked_use *use)
{
	struct work work = { .input = input };
	int code = find_blocks(&work);

	for (size_t i = 0; i < input->columns; i++)
		intervals[i] = (struct lode_blocked_interval){ .low = -INFINITY, .high = INFINITY };
	*use = (struct lode_blocked_use){ work.block_count, work.sides[0], work.sides[1], 0 };
	if (!code && work.block_count) {
		use->enough = is_enough(&work);
		if (input->columns)
			code = run(&work, intervals);
	}
	lode_free(work.blocks);
	lode_free(work.streams);
	lode_free(work.residuals);
	lode_free(work.largest);
	return code;
}
