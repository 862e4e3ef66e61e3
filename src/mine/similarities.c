/*
 * Similarities: see similarities.h.
 *
 * Eight rows at a time are compared with all columns behind them (similarity_rows.h). Columns are taken in the
 * order of their frames, rows in that of their frames from the leaf on, so that eight neighbours are alike and a
 * bound (similarity_bound.h) mostly says that none of them can be as similar as asked. Threads
 * take eight rows each; several processes take blocks of such rows from the queue that they share, so that
 * one that is slower takes fewer.
 */
#include "mine/similarities.h"

#include "base/id_array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "mine/similarity_rows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define LANES LODE_BOUND_LANES

/* Of rows that are taken together; taking costs up to a millisecond. */
#define BLOCKS_A_PROCESS 24

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
	similarities->order = lode_ids_sorted(patterns->count, compare_from_leaf, (void *)(uintptr_t)patterns);
	if (!similarities->weights || !similarities->order ||
	    lode_names_make(&similarities->names, patterns, similarities->words) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < patterns->count; i++)
		weigh_pattern(similarities->counts, lode_pattern_frames(patterns, i), patterns->items[i].length,
			      similarities->weights + patterns->items[i].first);
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

/* ---- comparing ---- */

/* What is compared: some patterns in the order of rows, and in that of columns. */
struct members {
	const uint32_t *patterns;
	size_t count;
	uint32_t least;      /* what a similarity must be to count, in units */
	uint32_t *by_frames; /* places in `patterns` */
	uint32_t *shared;    /* parallel to by_frames: how many frames the one before begins with, too */
};

/* One thread's room. */
struct worker {
	struct worker *next; /* among those at rest */
	struct lode_similarity_rows *rows;
	size_t row_count;
	uint32_t *units; /* LANES rows of results */
	size_t unit_capacity;
	struct lode_similar *similar; /* of all rows, one after the other */
	size_t similar_count;
	size_t similar_capacity;
	size_t row_ends[LANES]; /* in `similar` */
};

static void free_worker(struct worker *worker)
{
	if (!worker)
		return;
	lode_similarity_rows_free(worker->rows);
	lode_free(worker->units);
	lode_free(worker->similar);
	lode_free(worker);
}

static struct worker *make_worker(const struct lode_similarities *similarities)
{
	struct worker *worker = lode_calloc(1, sizeof(*worker));

	if (!worker)
		return NULL;
	worker->rows = lode_similarity_rows_make(similarities);
	if (!worker->rows) {
		free_worker(worker);
		return NULL;
	}
	return worker;
}

/* Rows first..first+LANES-1 against all columns behind each, in the order of their frames. */
static int compare_rows(struct worker *worker, const struct members *members, size_t first)
{
	size_t left = members->count - first;
	uint32_t shared = 0;

	worker->row_count = left < LANES ? left : LANES;
	if (LODE_GROW(worker->units, worker->unit_capacity, LANES * members->count) < 0 ||
	    lode_similarity_rows_take(worker->rows, members->patterns + first, worker->row_count) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < members->count; i++) {
		size_t place = members->by_frames[i];

		shared = members->shared[i] < shared ? members->shared[i] : shared;
		if (place > first && lode_similarity_rows_compare(worker->rows, members->patterns[place],
								  place - first, members->least, &shared,
								  worker->units + place, members->count) < 0)
			return LODE_SYSTEM;
	}
	return 0;
}

/* Keeps what is similar enough. */
static int pick_similar(struct worker *worker, const struct members *members, size_t first)
{
	worker->similar_count = 0;
	for (size_t k = 0; k < worker->row_count; k++) {
		const uint32_t *units = worker->units + k * members->count;

		for (size_t j = first + k + 1; j < members->count; j++) {
			if (units[j] < members->least)
				continue;
			if (LODE_APPEND(worker->similar, worker->similar_count, worker->similar_capacity,
					(struct lode_similar){ (uint32_t)j, units[j] }) < 0)
				return LODE_SYSTEM;
		}
		worker->row_ends[k] = worker->similar_count;
	}
	return 0;
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

	members->by_frames = lode_ids_sorted(members->count, compare_frames, &sorting);
	members->shared = lode_calloc(members->count, sizeof(*members->shared));
	if (!members->by_frames || !members->shared)
		return LODE_SYSTEM;
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
	const struct lode_job_rank *rank; /* NULL: this process compares all */
	struct lode_job_turns turns;
	size_t block;  /* pieces that a process takes at a time */
	size_t blocks; /* there are */
};

static struct worker *acquire_worker(struct comparison *comparison)
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
	for (size_t k = 0; k < worker->row_count && !code; k++) {
		size_t start = k ? worker->row_ends[k - 1] : 0;

		comparison->sink->row(comparison->sink->context, first + k, worker->similar + start,
				      worker->row_ends[k] - start);
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
	struct worker *worker = acquire_worker(comparison);
	int code;

	if (!worker)
		return;
	code = compare_rows(worker, &comparison->members, piece * LANES);
	if (!code)
		code = pick_similar(worker, &comparison->members, piece * LANES);
	finish_rows(comparison, worker, piece * LANES, code);
}

static size_t count_pieces(const struct comparison *comparison)
{
	return (comparison->members.count + LANES - 1) / LANES;
}

/* One turn of a thread; there are as many as blocks. */
static void compare_block(void *context, size_t turn)
{
	struct comparison *comparison = context;
	size_t pieces = count_pieces(comparison);
	uint64_t number = lode_job_take(comparison->rank, &comparison->turns);

	(void)turn;
	for (size_t i = 0; number < comparison->blocks && i < comparison->block; i++)
		if (number * comparison->block + i < pieces)
			compare_piece(comparison, number * comparison->block + i);
}

/* Blocks get cheaper from the first to the last: the last ones even out what processes have done. */
static void compare_share(struct comparison *comparison, unsigned jobs)
{
	size_t pieces = count_pieces(comparison);

	comparison->block = pieces / ((size_t)BLOCKS_A_PROCESS * comparison->rank->count) + 1;
	comparison->blocks = (pieces + comparison->block - 1) / comparison->block;
	lode_parallel(jobs, comparison->blocks, compare_block, comparison);
	if (comparison->rank->take && !comparison->rank->number && (comparison->stopped || comparison->failed))
		comparison->rank->close(comparison->rank->context);
}

int lode_similarities_compare(const struct lode_similarities *similarities, uint32_t least, unsigned jobs,
			      const struct lode_job_rank *rank, const struct lode_progress *progress,
			      const struct lode_similarities_sink *sink, struct lode_error *error)
{
	struct comparison comparison = {
		.similarities = similarities,
		.members = { similarities->order, similarities->patterns->count, least, NULL, NULL },
		.progress = progress,
		.sink = sink,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.rank = rank,
	};

	comparison.failed = sort_members(&comparison.members, similarities->patterns) < 0;
	if (!comparison.failed && rank)
		compare_share(&comparison, jobs);
	else if (!comparison.failed)
		lode_parallel(jobs, count_pieces(&comparison), compare_piece, &comparison);
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
