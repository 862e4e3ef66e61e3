/*
 * The way from an area to a ranked list: costs by stack, patterns, similarity and
 * clusters, metrics, order. Each step is a separate file; here they are joined.
 *
 * All output is ordered by costs and names, never by the numbers that frames
 * happened to get, so that two corpora with the same events give the same list,
 * even if they were imported in different ways.
 */
#include "mine/mine.h"

#include "base/id_array.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* ---- thresholds ---- */

/* A number followed by `%` and then by `end`, as a fraction; negative when it is none. */
static double parse_share(const char *text, char end)
{
	char *rest;
	double share = strtod(text, &rest);

	return rest > text && rest[0] == '%' && rest[1] == end && share > 0 && share <= 100 ? share / 100 : -1;
}

int lode_mine_threshold(const char *text, uint64_t cost, uint64_t *threshold, struct lode_error *error)
{
	int code = 0;

	if (strchr(text, '%')) {
		double share = parse_share(text, '\0');

		if (share < 0)
			return lode_fail(error, LODE_USAGE,
					 "'%s' is not a share of the cost; write a threshold as '1%%' or as '30s'",
					 text);
		*threshold = (uint64_t)(share * (double)cost);
		*threshold += !*threshold;
	} else {
		code = lode_duration_parse_in("--threshold", text, threshold, error);
	}
	if (!code && !*threshold)
		return lode_fail(
			error, LODE_USAGE,
			"a threshold of 0 would ask for every subsequence of every stack; give one such as '1%%' "
			"or '30s'");
	return code;
}

int lode_mine_impact(const char *text, size_t streams, uint64_t *threshold, struct lode_error *error)
{
	const char *comma = strchr(text, ',');
	double share = parse_share(text, ',');
	uint64_t cost;
	int code;

	if (!comma || share < 0)
		return lode_fail(error, LODE_USAGE,
				 "'%s' is not an impact; write '10%%,300ms' for a bug that costs 300 ms on "
				 "average in 10 %% "
				 "of the streams",
				 text);
	code = lode_duration_parse_in(text, comma + 1, &cost, error);
	if (code)
		return code;
	*threshold = (uint64_t)(share * (double)cost * (double)streams + 0.5);
	*threshold += !*threshold;
	return 0;
}

/* ---- ids ---- */

static void id_of_bytes(const struct lode_buffer *bytes, char id[LODE_ID])
{
	static const char digits[] = "0123456789abcdef";
	uint64_t hash = lode_digest_bytes(bytes->bytes, bytes->size);

	for (int i = 0; i < LODE_ID - 1; i++)
		id[i] = digits[hash >> (60 - 4 * i) & 15];
	id[LODE_ID - 1] = '\0';
}

int lode_sequence_id(const struct lode_frames *frames, const uint32_t *sequence, uint32_t length, char id[LODE_ID])
{
	struct lode_buffer text = { 0 };
	int code;

	for (uint32_t i = 0; i < length; i++) {
		lode_frames_text(frames, sequence[i], &text);
		lode_buffer_byte(&text, '\n');
	}
	id_of_bytes(&text, id);
	code = text.failed ? LODE_SYSTEM : 0;
	lode_buffer_release(&text);
	return code;
}

/* A cluster's id follows from those of its patterns. */
static int cluster_id(const struct lode_mined *mined, const struct lode_pattern_cluster *cluster, char id[LODE_ID])
{
	struct lode_buffer text = { 0 };
	int code;

	lode_buffer_text(&text, "cluster\n");
	for (size_t i = 0; i < cluster->count; i++)
		lode_buffer_text(&text, mined->pattern_groups[mined->clusters.members[cluster->first + i]].id);
	id_of_bytes(&text, id);
	code = text.failed ? LODE_SYSTEM : 0;
	lode_buffer_release(&text);
	return code;
}

/* ---- patterns in order ---- */

struct named_frame {
	char *text;
	uint32_t frame;
};

static int compare_named(const void *a, const void *b)
{
	return strcmp(((const struct named_frame *)a)->text, ((const struct named_frame *)b)->text);
}

/* By frame of the patterns: its place in the order of texts; 0 for the others. NULL when memory has run out. */
static uint32_t *rank_frames(const struct lode_frames *frames, const struct lode_patterns *patterns)
{
	uint32_t *ranks = lode_calloc(frames->count + 1, sizeof(*ranks));
	struct named_frame *named = lode_calloc(patterns->frame_count + 1, sizeof(*named));
	size_t count = 0;
	int failed = !ranks || !named;

	for (size_t i = 0; !failed && i < patterns->frame_count; i++) {
		uint32_t frame = patterns->frames[i];
		struct lode_buffer text = { 0 };

		if (ranks[frame])
			continue;
		ranks[frame] = 1;
		lode_frames_text(frames, frame, &text);
		lode_buffer_byte(&text, '\0');
		failed = text.failed;
		named[count++] = (struct named_frame){ text.bytes, frame };
	}
	if (!failed)
		qsort(named, count, sizeof(*named), compare_named);
	for (size_t i = 0; i < count; i++) {
		ranks[named[i].frame] = (uint32_t)i + 1;
		lode_free(named[i].text);
	}
	lode_free(named);
	if (!failed)
		return ranks;
	lode_free(ranks);
	return NULL;
}

struct order {
	const struct lode_patterns *patterns;
	const uint32_t *ranks;
};

static int compare_patterns(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	const struct lode_pattern *left = a, *right = b;

	if (left->cost != right->cost)
		return left->cost < right->cost ? 1 : -1;
	for (uint32_t i = 0; i < left->length && i < right->length; i++) {
		uint32_t x = order->ranks[order->patterns->frames[left->first + i]];
		uint32_t y = order->ranks[order->patterns->frames[right->first + i]];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return left->length < right->length ? -1 : left->length > right->length;
}

static int sort_patterns(struct lode_patterns *patterns, const struct lode_frames *frames)
{
	struct order order = { patterns, rank_frames(frames, patterns) };

	if (!order.ranks)
		return LODE_SYSTEM;
	if (patterns->count)
		qsort_r(patterns->items, patterns->count, sizeof(*patterns->items), compare_patterns, &order);
	lode_free((void *)(uintptr_t)order.ranks);
	return 0;
}

static int copy_given(const struct lode_patterns *given, struct lode_patterns *patterns)
{
	for (size_t i = 0; i < given->count; i++)
		if (lode_patterns_add(patterns, lode_pattern_frames(given, i), given->items[i].length, 0) < 0)
			return LODE_SYSTEM;
	return 0;
}

static int find_patterns(const struct lode_area *area, const struct lode_mine_options *options,
			 struct lode_patterns *patterns, struct lode_error *error)
{
	const struct lode_area_rows *rows = &area->rows[options->kind];
	uint64_t *cost;
	int code;

	if (options->given)
		return copy_given(options->given, patterns) < 0 ? lode_fail_memory(error) : 0;
	cost = lode_calloc(area->dictionary.tree.count, sizeof(*cost));
	if (!cost)
		return lode_fail_memory(error);
	for (size_t i = 0; i < rows->count; i++)
		cost[rows->items[i].stack] = lode_add_saturating(cost[rows->items[i].stack], rows->items[i].cost);
	code = lode_mine_patterns(
		&(struct lode_miner_input){
			.tree = &area->dictionary.tree,
			.cost = cost,
			.threshold = options->threshold,
			.min_length = options->min_length,
			.max_length = options->max_length,
			.max_patterns = options->max_patterns,
			.jobs = options->jobs,
			.progress = options->progress,
			.rank = options->job,
		},
		patterns, error);
	lode_free(cost);
	return code;
}

/* ---- metrics ---- */

struct measuring {
	const struct lode_area *area;
	const struct lode_mine_options *options;
	const struct lode_pattern_costs *costs;
	struct lode_mined *mined;
	int *codes; /* by pattern or cluster */
};

static void measure_pattern(void *context, size_t i)
{
	struct measuring *measuring = context;
	struct lode_mined *mined = measuring->mined;
	struct lode_sequence sequence = { lode_pattern_frames(&mined->patterns, i),
					  mined->patterns.items[i].length };
	struct lode_mined_group *group = &mined->pattern_groups[i];
	int code =
		lode_sequence_id(&measuring->area->dictionary.frames, sequence.frames, sequence.length, group->id);

	if (!code)
		code = lode_pattern_costs_measure(measuring->costs, &sequence, 1, 0, &group->metrics, NULL);
	measuring->codes[i] = code;
}

static int measure_members(struct measuring *measuring, const struct lode_pattern_cluster *cluster,
			   struct lode_mined_group *group)
{
	struct lode_mined *mined = measuring->mined;
	struct lode_sequence *sequences = lode_calloc(cluster->count + 1, sizeof(*sequences));
	int code;

	if (!sequences)
		return LODE_SYSTEM;
	for (size_t i = 0; i < cluster->count; i++) {
		uint32_t pattern = mined->clusters.members[cluster->first + i];

		sequences[i] = (struct lode_sequence){ lode_pattern_frames(&mined->patterns, pattern),
						       mined->patterns.items[pattern].length };
	}
	code = lode_pattern_costs_measure(measuring->costs, sequences, cluster->count, 1, &group->metrics,
					  &group->shares);
	lode_free(sequences);
	return code;
}

static int find_common(struct lode_mined *mined, size_t i)
{
	const struct lode_pattern_cluster *cluster = &mined->clusters.items[i];
	const uint32_t *members = mined->clusters.members + cluster->first;
	int length;

	mined->common[i] = lode_calloc(mined->patterns.items[members[0]].length + 1, sizeof(uint32_t));
	if (!mined->common[i])
		return LODE_SYSTEM;
	length = lode_cluster_common(&mined->patterns, members, cluster->count, mined->words, mined->common[i]);
	if (length < 0)
		return length;
	mined->common_length[i] = (uint32_t)length;
	return 0;
}

static void measure_cluster(void *context, size_t i)
{
	struct measuring *measuring = context;
	struct lode_mined *mined = measuring->mined;
	const struct lode_pattern_cluster *cluster = &mined->clusters.items[i];
	struct lode_mined_group *group = &mined->cluster_groups[i];
	int code = cluster_id(mined, cluster, group->id);

	if (!code)
		code = measure_members(measuring, cluster, group);
	if (!code)
		code = find_common(mined, i);
	measuring->codes[i] = code;
}

/* Measures `count` things on all threads. */
static int measure_all(struct measuring *measuring, size_t count, void (*piece)(void *context, size_t i))
{
	int code = 0;

	measuring->codes = lode_calloc(count + 1, sizeof(*measuring->codes));
	if (!measuring->codes)
		return LODE_SYSTEM;
	lode_parallel(measuring->options->jobs, count, piece, measuring);
	for (size_t i = 0; i < count; i++)
		code = code ? code : measuring->codes[i];
	lode_free(measuring->codes);
	return code;
}

/* Given patterns come without a cost. */
static void set_costs(struct lode_mined *mined)
{
	for (size_t i = 0; i < mined->patterns.count; i++)
		mined->patterns.items[i].cost = mined->pattern_groups[i].metrics.cost;
}

static int measure_patterns(struct measuring *measuring)
{
	struct lode_mined *mined = measuring->mined;

	mined->pattern_groups = lode_calloc(mined->patterns.count + 1, sizeof(*mined->pattern_groups));
	if (!mined->pattern_groups)
		return LODE_SYSTEM;
	return measure_all(measuring, mined->patterns.count, measure_pattern);
}

/*
 * Given patterns are measured once to learn their costs and, in the order that
 * follows from these, once more.
 */
static int order_patterns(struct measuring *measuring)
{
	struct lode_mined *mined = measuring->mined;
	int code;

	if (measuring->options->given) {
		code = measure_patterns(measuring);
		if (code)
			return code;
		set_costs(mined);
		lode_free(mined->pattern_groups);
	}
	code = sort_patterns(&mined->patterns, &measuring->area->dictionary.frames);
	return code ? code : measure_patterns(measuring);
}

/* ---- clusters in order ---- */

static uint64_t metric(const struct lode_mined_group *group, enum lode_rank rank)
{
	const struct lode_metrics *metrics = &group->metrics;

	switch (rank) {
	case LODE_RANK_GAIN:
		return group->gain;
	case LODE_RANK_STREAMS:
		return metrics->streams;
	case LODE_RANK_EVENTS:
		return metrics->events;
	case LODE_RANK_AVERAGE:
		return metrics->average;
	default:
		return metrics->cost;
	}
}

struct cluster_order {
	const struct lode_mined *mined;
	enum lode_rank rank;
};

/* By the metric, then by cost, then by their first patterns, whose order is that of costs and texts. */
static int compare_clusters(const void *a, const void *b, void *context)
{
	const struct cluster_order *order = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const struct lode_mined_group *x = &order->mined->cluster_groups[left];
	const struct lode_mined_group *y = &order->mined->cluster_groups[right];

	if (metric(x, order->rank) != metric(y, order->rank))
		return metric(x, order->rank) < metric(y, order->rank) ? 1 : -1;
	if (x->metrics.cost != y->metrics.cost)
		return x->metrics.cost < y->metrics.cost ? 1 : -1;
	return left < right ? -1 : left > right;
}

/* Moves `count` items of `size` bytes so that place i holds what was at order[i]. */
static int permute(void *items, const uint32_t *order, size_t count, size_t size)
{
	char *old = lode_calloc(count + 1, size);

	if (!old)
		return LODE_SYSTEM;
	memcpy(old, items, count * size);
	for (size_t i = 0; i < count; i++)
		memcpy((char *)items + i * size, old + order[i] * size, size);
	lode_free(old);
	return 0;
}

int lode_mined_rank(struct lode_mined *mined, enum lode_rank rank)
{
	struct cluster_order context = { mined, rank };
	size_t count = mined->clusters.count;
	uint32_t *order = lode_ids_sorted(count, compare_clusters, &context);
	int code = order ? 0 : LODE_SYSTEM;

	if (!code)
		code = permute(mined->clusters.items, order, count, sizeof(*mined->clusters.items));
	if (!code)
		code = permute(mined->cluster_groups, order, count, sizeof(*mined->cluster_groups));
	if (!code)
		code = permute(mined->common, order, count, sizeof(*mined->common));
	if (!code)
		code = permute(mined->common_length, order, count, sizeof(*mined->common_length));
	lode_free(order);
	return code;
}

/* Hands progress on, and remembers that a stop was requested. */
struct watch {
	const struct lode_progress *progress;
	int stopped;
};

static int watch_progress(void *context, const char *phase, const char *unit, uint64_t done, uint64_t total)
{
	struct watch *watch = context;

	watch->stopped |= lode_progress_report(watch->progress, phase, unit, done, total) != 0;
	return watch->stopped;
}

static int cluster_alike(struct measuring *measuring, struct watch *watch, struct lode_error *error)
{
	const struct lode_dictionary *dictionary = &measuring->area->dictionary;
	struct lode_mined *mined = measuring->mined;
	struct lode_progress progress = { watch_progress, watch };
	struct lode_call_counts *counts =
		lode_call_counts_make(&dictionary->tree, measuring->area->occurrences, dictionary->frames.count);
	int code;

	if (!counts)
		return lode_fail_memory(error);
	code = lode_clusters_make(
		&(struct lode_clusters_input){
			.patterns = &mined->patterns,
			.words = mined->words,
			.counts = counts,
			.similarity = measuring->options->similarity,
			.jobs = measuring->options->jobs,
			.progress = &progress,
			.rank = measuring->options->job,
		},
		&mined->clusters, error);
	lode_call_counts_free(counts);
	return code;
}

/* Each pattern by itself. */
static int cluster_none(struct lode_mined *mined)
{
	size_t count = mined->patterns.count;

	lode_clusters_release(&mined->clusters);
	mined->clusters.items = lode_calloc(count + 1, sizeof(*mined->clusters.items));
	mined->clusters.members = lode_ids_below(count);
	if (!mined->clusters.items || !mined->clusters.members)
		return LODE_SYSTEM;
	mined->clusters.count = count;
	for (size_t i = 0; i < count; i++)
		mined->clusters.items[i] = (struct lode_pattern_cluster){ i, 1 };
	mined->unclustered = 1;
	return 0;
}

/* Who does not want to wait gets the patterns as they are. */
static int make_clusters(struct measuring *measuring, struct lode_error *error)
{
	struct lode_mined *mined = measuring->mined;
	struct watch watch = { measuring->options->progress, mined->patterns.end == LODE_MINER_INTERRUPTED };
	int code = 0;

	mined->words = lode_words_make(&measuring->area->dictionary.frames);
	if (!mined->words)
		return lode_fail_memory(error);
	if (!watch.stopped)
		code = cluster_alike(measuring, &watch, error);
	if (watch.stopped)
		code = cluster_none(mined) < 0 ? lode_fail_memory(error) : 0;
	return code;
}

static int rank_clusters(struct measuring *measuring)
{
	struct lode_mined *mined = measuring->mined;
	size_t count = mined->clusters.count;
	int code;

	mined->cluster_groups = lode_calloc(count + 1, sizeof(*mined->cluster_groups));
	mined->common = lode_calloc(count + 1, sizeof(*mined->common));
	mined->common_length = lode_calloc(count + 1, sizeof(*mined->common_length));
	if (!mined->cluster_groups || !mined->common || !mined->common_length)
		return LODE_SYSTEM;
	code = measure_all(measuring, count, measure_cluster);
	return code ? code : lode_mined_rank(mined, measuring->options->rank);
}

/* ---- the whole ---- */

static int finish(struct measuring *measuring, struct lode_error *error)
{
	struct lode_mine_timing *timing = &measuring->mined->timing;
	uint64_t began = lode_now(), ended;
	int code = order_patterns(measuring) < 0 ? lode_fail_memory(error) : 0;

	ended = lode_now();
	timing->ranking = ended - began;
	began = ended;
	if (!code)
		code = make_clusters(measuring, error);
	ended = lode_now();
	timing->clustering = ended - began;
	began = ended;
	if (!code && rank_clusters(measuring) < 0)
		code = lode_fail_memory(error);
	timing->ranking += lode_now() - began;
	return code;
}

int lode_mine(const struct lode_area *area, const struct lode_mine_options *options, struct lode_mined *mined,
	      struct lode_error *error)
{
	struct lode_matcher matcher = { 0 };
	struct measuring measuring = { .area = area, .options = options, .mined = mined };
	struct lode_pattern_costs *costs = NULL;
	uint64_t began = lode_now();
	int code = find_patterns(area, options, &mined->patterns, error);

	mined->timing.mining = lode_now() - began;
	if (code)
		return code;
	if (!lode_matcher_init(&matcher, &area->dictionary.tree, area->dictionary.frames.count))
		costs = lode_pattern_costs_make(area, options->kind, &matcher);
	measuring.costs = costs;
	code = costs ? finish(&measuring, error) : lode_fail_memory(error);
	lode_pattern_costs_free(costs);
	lode_matcher_release(&matcher);
	return code;
}

void lode_mined_release(struct lode_mined *mined)
{
	for (size_t i = 0; mined->cluster_groups && i < mined->clusters.count; i++)
		lode_shares_release(&mined->cluster_groups[i].shares);
	for (size_t i = 0; mined->common && i < mined->clusters.count; i++)
		lode_free(mined->common[i]);
	lode_free(mined->common);
	lode_free(mined->common_length);
	lode_free(mined->pattern_groups);
	lode_free(mined->cluster_groups);
	lode_words_free(mined->words);
	lode_clusters_release(&mined->clusters);
	lode_patterns_release(&mined->patterns);
	memset(mined, 0, sizeof(*mined));
}
