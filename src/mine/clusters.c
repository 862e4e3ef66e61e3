/*
 * Clusters: see clusters.h.
 *
 * Two clusters can be joined only when some pattern of one is at least as similar to
 * some pattern of the other as the cut asks: an average is no higher than its highest
 * part. And a pattern that is far from all patterns of another cluster hardly affects
 * whether the two are joined. So only pairs at or above a floor, seven eighths of the
 * cut, are looked for (similarities.h) and held; linkage.h asks for the few others
 * that matter. Memory grows with the similar pairs, not with all pairs.
 */
#include "mine/clusters.h"

#include "mine/linkage.h"
#include "mine/similarity_job.h"

#include <math.h>
#include <string.h>

/* The similar ones behind a pattern, in the order of comparing. */
struct similar_row {
	struct lode_similar *items;
	uint32_t count;
};

struct clustering {
	const struct lode_clusters_input *input;
	struct lode_similarities *similarities;
	const uint32_t *order; /* of all patterns, as they are compared */
	size_t count;
	uint32_t cut; /* in LODE_SIM_UNITS */
	uint32_t floor;
	struct similar_row *rows; /* by place in `order`; `other` is a pattern */
	int failed;
	size_t *starts; /* of both directions, by pattern, one more */
	struct lode_similar *similar;
	struct lode_alignment alignment;
	uint32_t *leaders; /* by pattern: the first of its cluster */
	uint32_t *number;  /* by leader: its cluster */
};

static void release_rows(struct clustering *clustering)
{
	for (size_t i = 0; clustering->rows && i < clustering->count; i++)
		lode_free(clustering->rows[i].items);
	lode_free(clustering->rows);
	clustering->rows = NULL;
}

static void release_clustering(struct clustering *clustering)
{
	release_rows(clustering);
	lode_similarities_free(clustering->similarities);
	lode_alignment_release(&clustering->alignment);
	lode_free(clustering->starts);
	lode_free(clustering->similar);
	lode_free(clustering->leaders);
	lode_free(clustering->number);
}

static int prepare(struct clustering *clustering, struct lode_error *error)
{
	size_t count = clustering->count;

	clustering->leaders = lode_calloc(count, sizeof(*clustering->leaders));
	clustering->number = lode_calloc(count, sizeof(*clustering->number));
	if (!clustering->leaders || !clustering->number)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++)
		clustering->leaders[i] = clustering->cut ? (uint32_t)i : 0;
	return 0;
}

/* ---- similar pairs ---- */

static void handle_row(void *context, size_t row, const struct lode_similar *found, size_t count)
{
	struct clustering *clustering = context;
	struct similar_row *similar = &clustering->rows[row];

	if (!count)
		return;
	similar->items = lode_calloc(count, sizeof(*similar->items));
	if (!similar->items) {
		clustering->failed = 1;
		return;
	}
	for (size_t i = 0; i < count; i++)
		similar->items[i] = (struct lode_similar){ clustering->order[found[i].other], found[i].units };
	similar->count = (uint32_t)count;
}

/* With few patterns there is little to divide. */
static int is_worth_sharing(const struct clustering *clustering)
{
	return clustering->input->rank && clustering->count >= LODE_WORTH_SHARING;
}

static int find_similar(struct clustering *clustering, struct lode_error *error)
{
	const struct lode_clusters_input *input = clustering->input;
	struct lode_similarities_sink sink = { handle_row, clustering };
	int code;

	clustering->similarities = lode_similarities_make(input->patterns, input->words, input->counts);
	clustering->rows = lode_calloc(clustering->count, sizeof(*clustering->rows));
	if (!clustering->similarities || !clustering->rows)
		return lode_fail_memory(error);
	clustering->order = lode_similarities_order(clustering->similarities);
	if (is_worth_sharing(clustering))
		code = lode_similarities_call(input, clustering->similarities, clustering->floor, &sink, error);
	else
		code = lode_similarities_compare(clustering->similarities, clustering->floor, input->jobs, NULL,
						 input->progress, &sink, error);
	return !code && clustering->failed ? lode_fail_memory(error) : code;
}

/* Enters a pair for the first of the two; starts[a + 1] is where its next one goes. */
static void put_similar(struct clustering *clustering, uint32_t a, uint32_t b, uint32_t units)
{
	clustering->similar[clustering->starts[a + 1]++] = (struct lode_similar){ b, units };
}

/* Lists each pair for both of its patterns. */
static int list_both_ways(struct clustering *clustering, struct lode_error *error)
{
	size_t count = clustering->count, sum = 0, *starts;

	clustering->starts = starts = lode_calloc(count + 2, sizeof(*starts));
	if (!starts)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		starts[clustering->order[i] + 1] += clustering->rows[i].count;
		for (uint32_t k = 0; k < clustering->rows[i].count; k++)
			starts[clustering->rows[i].items[k].other + 1]++;
	}
	for (size_t i = 1; i <= count; i++) {
		size_t own = starts[i];

		starts[i] = sum;
		sum += own;
	}
	clustering->similar = lode_calloc(sum, sizeof(*clustering->similar));
	if (!clustering->similar)
		return lode_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < clustering->rows[i].count; k++) {
			struct lode_similar *pair = &clustering->rows[i].items[k];

			put_similar(clustering, clustering->order[i], pair->other, pair->units);
			put_similar(clustering, pair->other, clustering->order[i], pair->units);
		}
		lode_free(clustering->rows[i].items);
		clustering->rows[i].items = NULL;
	}
	return 0;
}

/* ---- joining ---- */

static int compare_pair(void *context, uint32_t a, uint32_t b, uint32_t *units)
{
	struct clustering *clustering = context;

	return lode_similarities_of_pair(clustering->similarities, a, b, &clustering->alignment, units);
}

static int link_patterns(struct clustering *clustering, struct lode_error *error)
{
	struct lode_linkage_input input = {
		.count = clustering->count,
		.cut = clustering->cut,
		.floor = clustering->floor,
		.compare = compare_pair,
		.context = clustering,
		.progress = clustering->input->progress,
	};
	int code = find_similar(clustering, error);

	if (!code)
		code = list_both_ways(clustering, error);
	release_rows(clustering);
	input.starts = clustering->starts;
	input.similar = clustering->similar;
	return code ? code : lode_linkage(&input, clustering->leaders, NULL, error);
}

/* ---- the result ---- */

/* A cluster is seen first at its leader, so clusters come by their first patterns and members rise. */
static int write_clusters(const struct clustering *clustering, struct lode_clusters *clusters)
{
	uint32_t *number = clustering->number; /* by leader: number of its cluster */
	size_t count = clustering->count, sum = 0;

	clusters->items = lode_calloc(count, sizeof(*clusters->items));
	clusters->members = lode_calloc(count, sizeof(*clusters->members));
	if (!clusters->items || !clusters->members)
		return LODE_SYSTEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t leader = clustering->leaders[i];

		if (leader == i)
			number[i] = (uint32_t)clusters->count++;
		clusters->items[number[leader]].count++;
	}
	for (size_t i = 0; i < clusters->count; i++) {
		clusters->items[i].first = sum;
		sum += clusters->items[i].count;
		clusters->items[i].count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct lode_pattern_cluster *cluster = &clusters->items[number[clustering->leaders[i]]];

		clusters->members[cluster->first + cluster->count++] = (uint32_t)i;
	}
	return 0;
}

/* Above 1 nothing is similar enough, at 0 and below everything is. */
static uint32_t cut_units(double similarity)
{
	if (similarity > 1)
		return LODE_SIM_UNITS + 1;
	return similarity > 0 ? lode_sim_units(similarity) : 0;
}

int lode_clusters_make(const struct lode_clusters_input *input, struct lode_clusters *clusters,
		       struct lode_error *error)
{
	struct clustering clustering = {
		.input = input,
		.count = input->patterns->count,
		.cut = cut_units(input->similarity),
	};
	int code;

	memset(clusters, 0, sizeof(*clusters));
	if (isnan(input->similarity))
		return lode_fail(error, LODE_USAGE, "the similarity is not a number; give one from 0 to 1");
	if (clustering.count > LODE_LINKAGE_MEMBERS)
		return lode_fail(error, LODE_USAGE,
				 "%zu patterns are more than the %d that can be clustered; raise the threshold",
				 clustering.count, LODE_LINKAGE_MEMBERS);
	clustering.floor = clustering.cut - clustering.cut / 8;
	code = prepare(&clustering, error);
	if (!code && clustering.cut && clustering.cut <= LODE_SIM_UNITS)
		code = link_patterns(&clustering, error);
	if (!code && write_clusters(&clustering, clusters) < 0)
		code = lode_fail_memory(error);
	release_clustering(&clustering);
	return code;
}

void lode_clusters_release(struct lode_clusters *clusters)
{
	lode_free(clusters->items);
	lode_free(clusters->members);
	memset(clusters, 0, sizeof(*clusters));
}

/* ---- what a cluster has in common ---- */

/* Keeps of `common` what matches in the alignment of which it is the left part; returns the new length. */
static uint32_t keep_matches(const struct lode_alignment *alignment, uint32_t *common)
{
	uint32_t at = 0, kept = 0;

	for (size_t i = 0; i < alignment->count; i++) {
		if (alignment->steps[i] == LODE_MATCH)
			common[kept++] = common[at];
		at += alignment->steps[i] != LODE_INSERT;
	}
	return kept;
}

int lode_cluster_common(const struct lode_patterns *patterns, const uint32_t *members, size_t count,
			const struct lode_words *words, uint32_t *common)
{
	struct lode_alignment alignment = { 0 };
	uint32_t length;
	int code = 0;

	if (!count)
		return 0;
	length = patterns->items[members[0]].length;
	if (length)
		memcpy(common, lode_pattern_frames(patterns, members[0]), length * sizeof(*common));
	for (size_t i = 1; i < count && length && !code; i++) {
		const struct lode_pattern *other = &patterns->items[members[i]];

		code = lode_align(words, common, length, lode_pattern_frames(patterns, members[i]), other->length,
				  &alignment);
		if (!code)
			length = keep_matches(&alignment, common);
	}
	lode_alignment_release(&alignment);
	return code ? code : (int)length;
}
