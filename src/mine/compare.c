/*
 * Two corpora side by side: see compare.h.
 */
#include "mine/compare.h"

#include "base/permutation.h"
#include "mine/matching_stacks.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 9999

/* A cluster of the other side is known when this share of its cost is covered by clusters of this side. */
#define KNOWN 0.9

const char *lode_change_name(enum lode_pattern_change change)
{
	static const char *const names[LODE_CHANGES] = { "new", "gone", "slower", "faster", "same" };

	return names[change];
}

/* One corpus, made ready for measuring. */
struct side {
	const struct lode_compare_side *given;
	struct lode_matcher matcher;
	struct lode_pattern_costs *costs;
	uint32_t *frames; /* the other side's frame numbers in this side's */
	struct lode_shares shares;
};

struct work {
	struct side here;
	struct side other;
	struct lode_comparison *comparison;
};

/* The numbers that the frames of `from` have in `to`. NULL when memory has run out. */
static uint32_t *translate(const struct lode_frames *from, struct lode_frames *to)
{
	uint32_t *frames = lode_calloc(from->count + 1, sizeof(*frames));

	for (uint32_t i = 0; frames && i < from->count; i++) {
		const char *module = lode_frames_module_name(from, i), *function = lode_frames_function(from, i);

		frames[i] = lode_frames_add(to, lode_frames_module(to, module, strlen(module)), function,
					    strlen(function));
		if (frames[i] != LODE_NONE)
			continue;
		lode_free(frames);
		frames = NULL;
	}
	return frames;
}

static int prepare(struct side *side, enum lode_event_type kind)
{
	const struct lode_dictionary *dictionary = &side->given->area->dictionary;

	if (lode_matcher_init(&side->matcher, &dictionary->tree, dictionary->frames.count) < 0)
		return LODE_SYSTEM;
	side->costs = lode_pattern_costs_make(side->given->area, kind, &side->matcher);
	return side->costs ? 0 : LODE_SYSTEM;
}

static void release_side(struct side *side)
{
	lode_pattern_costs_free(side->costs);
	lode_matcher_release(&side->matcher);
	lode_shares_release(&side->shares);
	lode_free(side->frames);
}

/* The patterns of a cluster of `from` with the frame numbers of `to`. */
static int match_patterns(const struct side *from, size_t cluster, const struct side *to,
			  struct lode_patterns *patterns)
{
	const struct lode_mined *mined = from->given->mined;
	const struct lode_pattern_cluster *items = &mined->clusters.items[cluster];

	for (size_t i = 0; i < items->count; i++) {
		uint32_t pattern = mined->clusters.members[items->first + i];
		uint32_t length = mined->patterns.items[pattern].length;

		if (lode_patterns_add(patterns, lode_pattern_frames(&mined->patterns, pattern), length, 0) < 0)
			return LODE_SYSTEM;
		for (uint32_t k = 0; from != to && k < length; k++) {
			uint32_t *frame = &patterns->frames[patterns->frame_count - length + k];

			*frame = to->frames[*frame];
		}
	}
	return 0;
}

static int measure(struct side *side, const struct lode_patterns *patterns, struct lode_metrics *metrics)
{
	struct lode_sequence *sequences = lode_calloc(patterns->count + 1, sizeof(*sequences));
	int code;

	if (!sequences)
		return LODE_SYSTEM;
	for (size_t i = 0; i < patterns->count; i++)
		sequences[i] =
			(struct lode_sequence){ lode_pattern_frames(patterns, i), patterns->items[i].length };
	code = lode_pattern_costs_measure(side->costs, sequences, patterns->count, 0, metrics, &side->shares);
	lode_free(sequences);
	return code;
}

static int measure_on(const struct side *from, size_t cluster, struct side *side, struct lode_metrics *metrics)
{
	struct lode_patterns patterns = { 0 };
	int code = match_patterns(from, cluster, side, &patterns);

	if (!code)
		code = measure(side, &patterns, metrics);
	lode_patterns_release(&patterns);
	return code;
}

/* What the last measured cluster cost in each stream, zeros too. NULL when memory has run out. */
static uint64_t *costs_by_stream(const struct side *side)
{
	uint64_t *costs = lode_calloc(side->given->area->stream_count + 1, sizeof(*costs));

	for (size_t i = 0; costs && i < side->shares.count; i++)
		costs[side->shares.items[i].stream] = side->shares.items[i].cost;
	return costs;
}

static double mean(uint64_t cost, size_t streams)
{
	return streams ? (double)cost / (double)streams : 0;
}

static enum lode_pattern_change change_of(const struct lode_compared *compared)
{
	if (!compared->other.events)
		return LODE_CHANGE_NEW;
	if (!compared->here.events)
		return LODE_CHANGE_GONE;
	if (compared->here_mean > compared->other_mean)
		return LODE_CHANGE_SLOWER;
	return compared->here_mean < compared->other_mean ? LODE_CHANGE_FASTER : LODE_CHANGE_SAME;
}

static int judge(struct work *work, struct lode_compared *compared)
{
	size_t here = work->here.given->area->stream_count, other = work->other.given->area->stream_count;
	uint64_t *left = costs_by_stream(&work->here), *right = costs_by_stream(&work->other);
	int failed = !left || !right;

	compared->here_mean = mean(compared->here.cost, here);
	compared->other_mean = mean(compared->other.cost, other);
	compared->change = change_of(compared);
	if (!failed)
		compared->p = lode_permutation_p(left, here, right, other, ROUNDS);
	lode_free(left);
	lode_free(right);
	return failed ? LODE_SYSTEM : 0;
}

static int compare_cluster(struct work *work, const struct side *from, size_t cluster)
{
	struct lode_comparison *comparison = work->comparison;
	struct lode_compared compared = { .from_other = from == &work->other, .cluster = cluster };

	memcpy(compared.id, from->given->mined->cluster_groups[cluster].id, LODE_ID);
	if (measure_on(from, cluster, &work->here, &compared.here) < 0 ||
	    measure_on(from, cluster, &work->other, &compared.other) < 0 || judge(work, &compared) < 0 ||
	    LODE_APPEND(comparison->items, comparison->count, comparison->capacity, compared) < 0)
		return LODE_SYSTEM;
	return 0;
}

/* ---- clusters of the other side that are new to this one ---- */

/* Marks the stacks of the other side that clusters of this side cover. NULL when memory has run out. */
static uint8_t *mark_known(struct work *work)
{
	uint8_t *marks = lode_calloc(work->other.matcher.nodes + 1, 1);
	struct lode_patterns patterns = { 0 };
	int code = marks ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < work->here.given->mined->clusters.count; i++)
		code = match_patterns(&work->here, i, &work->other, &patterns);
	if (!code)
		code = lode_matching_stacks_add(&work->other.matcher, &patterns, 0, patterns.count, marks);
	lode_patterns_release(&patterns);
	if (!code)
		return marks;
	lode_free(marks);
	return NULL;
}

/* What of a cluster of the other side is marked as known, as a share of its cost; negative when memory ran out. */
static double known_share(struct work *work, size_t cluster, const uint8_t *known, enum lode_event_type kind)
{
	const struct lode_area_rows *rows = &work->other.given->area->rows[kind];
	uint8_t *marks = lode_calloc(work->other.matcher.nodes + 1, 1);
	struct lode_patterns patterns = { 0 };
	double all = 0, covered = 0;
	int code = marks ? match_patterns(&work->other, cluster, &work->other, &patterns) : LODE_SYSTEM;

	if (!code)
		code = lode_matching_stacks_add(&work->other.matcher, &patterns, 0, patterns.count, marks);
	for (size_t i = 0; !code && i < rows->count; i++) {
		if (!marks[rows->items[i].stack])
			continue;
		all += (double)rows->items[i].cost;
		covered += known[rows->items[i].stack] ? (double)rows->items[i].cost : 0;
	}
	lode_patterns_release(&patterns);
	lode_free(marks);
	return code ? -1 : all > 0 ? covered / all : 1;
}

static int compare_unknown(struct work *work, enum lode_event_type kind)
{
	uint8_t *known = mark_known(work);
	int code = known ? 0 : LODE_SYSTEM;

	for (size_t i = 0; !code && i < work->other.given->mined->clusters.count; i++) {
		double share = known_share(work, i, known, kind);

		if (share < 0)
			code = LODE_SYSTEM;
		else if (share < KNOWN)
			code = compare_cluster(work, &work->other, i);
	}
	lode_free(known);
	return code;
}

/* ---- the list ---- */

static int compare_p(const void *a, const void *b)
{
	const struct lode_compared *left = a, *right = b;

	return left->p < right->p ? -1 : left->p > right->p;
}

/* Benjamini and Hochberg: the share of false alarms among all differences at least as sure as this one. */
static void correct(struct lode_comparison *comparison)
{
	double least = 1;

	if (comparison->count)
		qsort(comparison->items, comparison->count, sizeof(*comparison->items), compare_p);
	for (size_t i = comparison->count; i-- > 0;) {
		double q = comparison->items[i].p * (double)comparison->count / (double)(i + 1);

		least = q < least ? q : least;
		comparison->items[i].q = least;
	}
}

static double difference(const struct lode_compared *compared)
{
	double difference = compared->here_mean - compared->other_mean;

	return difference < 0 ? -difference : difference;
}

static int compare_rows(const void *a, const void *b)
{
	const struct lode_compared *left = a, *right = b;
	int left_sure = left->q < LODE_COMPARE_LEVEL, right_sure = right->q < LODE_COMPARE_LEVEL;

	if (left_sure != right_sure)
		return left_sure ? -1 : 1;
	if (difference(left) != difference(right))
		return difference(left) > difference(right) ? -1 : 1;
	return strcmp(left->id, right->id);
}

static int work_out(struct work *work, enum lode_event_type kind)
{
	struct lode_comparison *comparison = work->comparison;

	work->here.frames =
		translate(&work->other.given->area->dictionary.frames, &work->here.given->area->dictionary.frames);
	work->other.frames =
		translate(&work->here.given->area->dictionary.frames, &work->other.given->area->dictionary.frames);
	if (!work->here.frames || !work->other.frames || prepare(&work->here, kind) < 0 ||
	    prepare(&work->other, kind) < 0)
		return LODE_SYSTEM;
	for (size_t i = 0; i < work->here.given->mined->clusters.count; i++)
		if (compare_cluster(work, &work->here, i) < 0)
			return LODE_SYSTEM;
	if (compare_unknown(work, kind) < 0)
		return LODE_SYSTEM;
	correct(comparison);
	if (comparison->count)
		qsort(comparison->items, comparison->count, sizeof(*comparison->items), compare_rows);
	return 0;
}

int lode_compare(const struct lode_compare_side *here, const struct lode_compare_side *other,
		 enum lode_event_type kind, struct lode_comparison *comparison, struct lode_error *error)
{
	struct work work = { .here.given = here, .other.given = other, .comparison = comparison };
	int code = work_out(&work, kind);

	release_side(&work.here);
	release_side(&work.other);
	return code ? lode_fail_memory(error) : 0;
}

void lode_comparison_release(struct lode_comparison *comparison)
{
	lode_free(comparison->items);
	memset(comparison, 0, sizeof(*comparison));
}
