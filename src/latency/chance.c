/*
 * Westfall and Young's step-down maxT over all columns: see chance.h.
 *
 * A column's statistic is the difference of the means of the two sides over the standard
 * deviation of all streams, which no split changes; it is a growing function of Student's t.
 * Then the statistic of a split is a sum over one side of values that are scaled once and for
 * all, in whole numbers, so that sums do not depend on the order and equal ones are equal.
 *
 * With the columns in the order of their real statistics, the largest first, a split beats
 * column k when the largest statistic of k and all behind it is as large as the real one of k.
 * Scaling makes columns comparable; the deviation floor, added to the deviations, keeps columns with
 * hardly any time, of which there are many and which happen to be equal in all streams of a
 * side, from hiding those that matter.
 *
 * A run that something else disturbed takes much longer than all others. Such runs, the tenth of
 * either end, count as much as the next ones: a mean that one of them decides says nothing.
 *
 * All splits are tested if there are at most ROUNDS, otherwise ROUNDS random ones, in blocks with a seed
 * each, so that threads change nothing.
 */
#include "latency/chance.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/sort_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS        9999
#define BLOCK         101 /* rounds; the others are multiples */
#define FEW           909 /* rounds where more than MAX_ADDITIONS would be needed: seconds instead of minutes */
#define MAX_ADDITIONS 2e10
#define SEED          0x5eed10deu
#define SIDES         2.0          /* either might have been the slower one, so chance has two tries */
#define ONE           4294967296.0 /* a standard deviation, in whole numbers */
#define POWER_Z       0.8416       /* normal quantile of LODE_CHANCE_POWER */

/* Normal quantile at 1 - 0.05 / 2 / 1000: so far above 0 is the largest of a thousand columns by chance. */
#define THOUSAND_COLUMNS_Z 4.0556

struct work {
	const struct lode_chance_input *input;
	struct lode_chance_column *columns;
	size_t streams;
	size_t size;      /* of the smaller side, which is summed up */
	int slow_smaller; /* it is the slow one */
	uint32_t *order;  /* columns, the largest real statistic first */
	int64_t *scaled;  /* by stream, then by place in the order */
	int64_t *totals;  /* by place: of all streams */
	int64_t *real;    /* by place */
	uint64_t *beaten; /* by place: splits with this column as large */
	uint64_t *beaten_by_any;
	int64_t *largest; /* by split */
	uint64_t splits;  /* tested */
	int exact;
	int failed;
};

/* ---- scaling ---- */

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return count ? sum / (double)count : 0;
}

static double squares_around(const double *values, size_t count, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

static double deviation_within(const struct lode_chance_input *input, const double *values)
{
	const double *slow = values + input->base;
	size_t freedom = input->base + input->slow - (input->base > 0) - (input->slow > 0);
	double sum = squares_around(values, input->base, mean_of(values, input->base)) +
		     squares_around(slow, input->slow, mean_of(slow, input->slow));

	return freedom ? sqrt(sum / (double)freedom) : 0;
}

/* How many values at either end are clipped: a tenth, but not so many that a side could disappear. */
static size_t outliers_of(const struct lode_chance_input *input)
{
	size_t streams = input->base + input->slow, side = input->base < input->slow ? input->base : input->slow;

	return streams / 10 < side / 3 ? streams / 10 : side / 3;
}

/* The deviation of clipped values is that of fewer: the usual correction of winsorised means. */
static double without_clipping(const struct lode_chance_input *input, double within)
{
	double streams = (double)(input->base + input->slow);

	return within / (1 - 2 * (double)outliers_of(input) / streams);
}

static double statistic_of(const struct lode_chance_input *input, const double *values)
{
	size_t streams = input->base + input->slow;
	double squares = squares_around(values, streams, mean_of(values, streams));
	double deviation = sqrt(squares / (double)streams) + input->deviation_floor;
	double more = mean_of(values + input->base, input->slow) - mean_of(values, input->base);

	return deviation > 0 ? more / deviation : 0;
}

/* By statistic, largest first. */
static int order_columns(struct work *work)
{
	const struct lode_chance_input *input = work->input;
	struct lode_ranked *places = lode_calloc(input->columns, sizeof(*places));

	for (size_t i = 0; places && i < input->columns; i++)
		places[i] = (struct lode_ranked){ -statistic_of(input, input->values + i * work->streams),
						  (uint32_t)i };
	if (places)
		lode_sort_ranked(places, input->columns);
	for (size_t i = 0; places && i < input->columns; i++)
		work->order[i] = places[i].id;
	lode_free(places);
	return places ? 0 : LODE_SYSTEM;
}

static void scale_columns(struct work *work)
{
	const struct lode_chance_input *input = work->input;

	for (size_t at = 0; at < input->columns; at++) {
		const double *values = input->values + work->order[at] * work->streams;
		double mean = mean_of(values, work->streams);
		double deviation = sqrt(squares_around(values, work->streams, mean) / (double)work->streams) +
				   input->deviation_floor;

		for (size_t i = 0; i < work->streams; i++) {
			double value = deviation > 0 ? (values[i] - mean) / deviation : 0;
			int64_t scaled = llround(value * ONE);

			work->scaled[i * input->columns + at] = scaled;
			work->totals[at] += scaled;
			if (i >= input->base)
				work->real[at] += scaled;
		}
	}
}

/* ---- splits ---- */

/* Takes note of a split, given the sums of the smaller side, which become those of the slow one. */
static void note_split(struct work *work, int64_t *sums, uint64_t *beaten, uint64_t *beaten_by_any, uint64_t split)
{
	size_t columns = work->input->columns;
	int64_t largest = INT64_MIN;

	for (size_t at = columns; at-- > 0;) {
		int64_t sum = work->slow_smaller ? sums[at] : work->totals[at] - sums[at];

		largest = sum > largest ? sum : largest;
		beaten[at] += sum >= work->real[at];
		beaten_by_any[at] += largest >= work->real[at];
	}
	work->largest[split] = largest;
}

static void sum_up(const struct work *work, const size_t *places, int64_t *sums)
{
	size_t columns = work->input->columns;

	memset(sums, 0, columns * sizeof(*sums));
	for (size_t i = 0; i < work->size; i++) {
		const int64_t *row = work->scaled + places[i] * columns;

		for (size_t at = 0; at < columns; at++)
			sums[at] += row[at];
	}
}

/* Goes through all choices of `size` places, each as a rising row of places. */
static void try_all(struct work *work, size_t *places, int64_t *sums)
{
	for (size_t i = 0; i < work->size; i++)
		places[i] = i;
	for (uint64_t split = 0;; split++) {
		size_t last = work->size;

		sum_up(work, places, sums);
		note_split(work, sums, work->beaten, work->beaten_by_any, split);
		while (last > 0 && places[last - 1] == work->streams - work->size + last - 1)
			last--;
		if (!last)
			return;
		places[last - 1]++;
		for (size_t i = last; i < work->size; i++)
			places[i] = places[i - 1] + 1;
	}
}

static void draw(const struct work *work, uint64_t *random, size_t *places)
{
	for (size_t i = 0; i < work->size; i++) {
		size_t other = i + lode_random_scale((uint32_t)(lode_splitmix64(random) >> 32), work->streams - i);
		size_t place = places[other];

		places[other] = places[i];
		places[i] = place;
	}
}

static void add_counts(uint64_t *to, const uint64_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		__atomic_fetch_add(&to[i], from[i], __ATOMIC_RELAXED);
}

static void try_block(void *context, size_t block)
{
	struct work *work = context;
	size_t columns = work->input->columns;
	size_t *places = lode_calloc(work->streams, sizeof(*places));
	int64_t *sums = lode_calloc(columns, sizeof(*sums));
	uint64_t *counts = lode_calloc(columns, 2 * sizeof(*counts));
	uint64_t random = SEED + (uint64_t)block;

	if (places && sums && counts) {
		for (size_t i = 0; i < work->streams; i++)
			places[i] = i;
		for (size_t i = 0; i < BLOCK; i++) {
			draw(work, &random, places);
			sum_up(work, places, sums);
			note_split(work, sums, counts, counts + columns, block * BLOCK + i);
		}
		add_counts(work->beaten, counts, columns);
		add_counts(work->beaten_by_any, counts + columns, columns);
	} else {
		__atomic_store_n(&work->failed, 1, __ATOMIC_RELAXED);
	}
	lode_free(places);
	lode_free(sums);
	lode_free(counts);
}

static int try_splits(struct work *work)
{
	size_t *places;
	int64_t *sums;

	if (!work->exact) {
		lode_parallel(work->input->jobs, work->splits / BLOCK, try_block, work);
		return work->failed ? LODE_SYSTEM : 0;
	}
	places = lode_calloc(work->streams, sizeof(*places));
	sums = lode_calloc(work->input->columns, sizeof(*sums));
	if (places && sums)
		try_all(work, places, sums);
	lode_free(places);
	lode_free(sums);
	return places && sums ? 0 : LODE_SYSTEM;
}

/* ---- what follows ---- */

static int falling(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left > right ? -1 : left < right;
}

/* The difference of means, in deviations of all streams, above which the first column is sure. */
static double critical(struct work *work)
{
	double base = (double)work->input->base, slow = (double)work->input->slow;
	uint64_t at = (uint64_t)(work->input->level / SIDES * (double)work->splits);

	qsort(work->largest, work->splits, sizeof(*work->largest), falling);
	at = at < work->splits ? at : work->splits - 1;
	return (double)work->largest[at] / ONE * (base + slow) / (base * slow);
}

/*
 * The critical value as a normal quantile, which hardly depends on the number of streams: the
 * statistic is a correlation, so there is a Student's t, and Wallace's approximation of its quantile.
 */
static double normal_quantile(const struct work *work, double least)
{
	double base = (double)work->input->base, slow = (double)work->input->slow;
	double freedom = base + slow - 2, part = least * least * base * slow / ((base + slow) * (base + slow));

	if (part >= 1 - 1e-9 || freedom < 1)
		return THOUSAND_COLUMNS_Z;
	return (8 * freedom + 1) / (8 * freedom + 3) * sqrt(-freedom * log(1 - part));
}

/*
 * The size of a difference whose statistic reaches `least`: the deviation of all streams grows
 * with the difference itself, so that with few streams no difference may be large enough.
 */
static double detectable(const struct work *work, double within, double least)
{
	double base = (double)work->input->base, slow = (double)work->input->slow;
	double part = base * slow / ((base + slow) * (base + slow)), deviation_floor = work->input->deviation_floor;
	double rest = 1 - least * least * part, root;

	if (least <= 0)
		return deviation_floor; /* nothing varies at all */
	if (rest <= 1e-9)
		return INFINITY;
	root = deviation_floor * deviation_floor + rest * (within * within - deviation_floor * deviation_floor);
	return least * (deviation_floor + sqrt(root > 0 ? root : 0)) / rest +
	       POWER_Z * within * sqrt(1 / base + 1 / slow);
}

static void fill_in(struct work *work, double *z)
{
	const struct lode_chance_input *input = work->input;
	double seen = (double)work->splits + !work->exact, q = 0, least = critical(work);

	*z = normal_quantile(work, least);
	for (size_t at = 0; at < input->columns; at++) {
		struct lode_chance_column *column = &work->columns[work->order[at]];
		double own = fmin(1, SIDES * ((double)work->beaten_by_any[at] + !work->exact) / seen);

		/* None is surer than one before it. */
		q = own > q ? own : q;
		column->p = fmin(1, SIDES * ((double)work->beaten[at] + !work->exact) / seen);
		column->q = q;
		column->detectable = detectable(work, column->within, least);
	}
}

/* ---- the whole ---- */

/* Number of splits, or `limit` + 1 when there are more. */
static uint64_t count_splits(size_t base, size_t slow, uint64_t limit)
{
	size_t smaller = base < slow ? base : slow;
	double ways = 1;

	for (size_t i = 0; i < smaller && ways <= (double)limit; i++)
		ways = round(ways * (double)(base + slow - i) / (double)(i + 1));
	return ways > (double)limit ? limit + 1 : (uint64_t)ways;
}

int lode_chance_can_detect(size_t base, size_t slow, double level)
{
	return base && slow && SIDES / (double)count_splits(base, slow, ROUNDS) < level;
}

static int test(struct work *work, double *z)
{
	size_t columns = work->input->columns;
	uint64_t ways = count_splits(work->input->base, work->input->slow, ROUNDS);

	work->exact = ways <= ROUNDS;
	work->slow_smaller = work->input->slow <= work->input->base;
	work->size = work->slow_smaller ? work->input->slow : work->input->base;
	work->splits = work->exact                                                     ? ways
		       : (double)columns * (double)work->size * ROUNDS > MAX_ADDITIONS ? FEW
										       : ROUNDS;
	work->order = lode_calloc(columns, sizeof(*work->order));
	work->scaled = lode_calloc(columns, work->streams * sizeof(*work->scaled));
	work->totals = lode_calloc(columns, sizeof(*work->totals));
	work->real = lode_calloc(columns, sizeof(*work->real));
	work->beaten = lode_calloc(columns, sizeof(*work->beaten));
	work->beaten_by_any = lode_calloc(columns, sizeof(*work->beaten_by_any));
	work->largest = lode_calloc(work->splits, sizeof(*work->largest));
	if (!work->order || !work->scaled || !work->totals || !work->real || !work->beaten ||
	    !work->beaten_by_any || !work->largest || order_columns(work) < 0)
		return LODE_SYSTEM;
	scale_columns(work);
	if (try_splits(work) < 0)
		return LODE_SYSTEM;
	fill_in(work, z);
	return 0;
}

/* ---- runs that went wrong ---- */

/* Makes the `outliers` smallest and largest values as large as the next ones. `sorted`: room. */
static void clip(double *values, size_t streams, size_t outliers, double *sorted)
{
	double low, high;

	memcpy(sorted, values, streams * sizeof(*sorted));
	lode_sort_double(sorted, streams);
	low = sorted[outliers];
	high = sorted[streams - 1 - outliers];
	for (size_t i = 0; i < streams; i++)
		values[i] = fmin(fmax(values[i], low), high);
}

/* The values, clipped. The sides have no say in it, so the test stays what it is. NULL when memory has run out. */
static double *without_outliers(const struct lode_chance_input *input)
{
	size_t streams = input->base + input->slow, outliers = outliers_of(input);
	double *values = lode_calloc(input->columns + 1, (streams + 1) * sizeof(*values));

	if (!values)
		return NULL;
	for (size_t i = 0; i < input->columns * streams; i++)
		values[i] = input->values[i];
	for (size_t i = 0; outliers && i < input->columns; i++)
		clip(values + i * streams, streams, outliers, values + input->columns * streams);
	return values;
}

static int test_clipped(const struct lode_chance_input *input, struct lode_chance_column *columns, double *z)
{
	struct work work = { .input = input, .columns = columns, .streams = input->base + input->slow };
	int code = 0;

	*z = THOUSAND_COLUMNS_Z;
	for (size_t i = 0; i < input->columns; i++)
		columns[i] = (struct lode_chance_column){
			.p = 1,
			.q = 1,
			.within = without_clipping(input, deviation_within(input, input->values + i * work.streams)),
			.detectable = INFINITY,
		};
	if (input->columns && lode_chance_can_detect(input->base, input->slow, input->level))
		code = test(&work, z);
	lode_free(work.order);
	lode_free(work.scaled);
	lode_free(work.totals);
	lode_free(work.real);
	lode_free(work.beaten);
	lode_free(work.beaten_by_any);
	lode_free(work.largest);
	return code;
}

int lode_chance_test(const struct lode_chance_input *input, struct lode_chance_column *columns, double *z)
{
	struct lode_chance_input clipped = *input;
	double *values = without_outliers(input);
	int code = LODE_SYSTEM;

	clipped.values = values;
	if (values)
		code = test_clipped(&clipped, columns, z);
	lode_free(values);
	return code;
}

double lode_chance_streams(double within, double size, double z, double level)
{
	double streams, least = (z + POWER_Z) * within;

	if (!(size > 0))
		return INFINITY;
	/* Two more for not knowing the deviation, and so many that anything can be sure. */
	streams = ceil(2 * (least / size) * (least / size)) + 2;
	while (!lode_chance_can_detect((size_t)streams, (size_t)streams, level))
		streams++;
	return streams;
}
