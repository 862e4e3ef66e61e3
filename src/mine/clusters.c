/*
 * Clusters: see clusters.h.
 *
 * Two clusters can be joined only when some pattern of one is at least as similar
 * to some pattern of the other as the cut asks: an average is no higher than its
 * highest part. So the patterns fall into groups that such pairs connect,
 * and the hierarchy (linkage.h) is built in each group alone, with the same result
 * as over all patterns, in the memory that the largest group needs.
 *
 * Similarities of all pairs are held until then, four bytes each. Where there are
 * too many patterns for that, the first pass only finds the groups, and the pairs
 * inside the groups are compared a second time.
 */
#include "mine/clusters.h"

#include "mine/linkage.h"
#include "mine/similarities.h"

#include <math.h>
#include <string.h>

/* Similarities of so many patterns take 512 MiB, the sums of one group of so many 1 GiB. */
#define HELD 16384

struct clustering {
	const struct lode_clusters_input *input;
	struct lode_similarities *similarities;
	const uint32_t *order; /* of all patterns, as they are compared */
	size_t count;
	size_t held;
	uint32_t cut;         /* in LODE_SIM_UNITS */
	uint32_t *held_units; /* by place in `order`, lode_pair_place; NULL: not held */
	uint32_t *group;      /* by pattern: a lower one that it is connected with, itself at last */
	uint32_t *leaders;    /* by pattern: the first of its cluster */
	uint32_t *number;     /* by pattern: its place in the current group; at last by leader: its cluster */
};

static void release_clustering(struct clustering *clustering)
{
	lode_similarities_free(clustering->similarities);
	lode_free(clustering->held_units);
	lode_free(clustering->group);
	lode_free(clustering->leaders);
	lode_free(clustering->number);
}

static int prepare(struct clustering *clustering, struct lode_error *error)
{
	const struct lode_clusters_input *input = clustering->input;
	size_t count = clustering->count;

	clustering->similarities = lode_similarities_make(input->patterns, input->words, input->counts);
	clustering->group = lode_calloc(count, sizeof(*clustering->group));
	clustering->leaders = lode_calloc(count, sizeof(*clustering->leaders));
	clustering->number = lode_calloc(count, sizeof(*clustering->number));
	if (count > 1 && count <= clustering->held)
		clustering->held_units = lode_calloc(count * (count - 1) / 2, sizeof(*clustering->held_units));
	if (!clustering->similarities || !clustering->group || !clustering->leaders || !clustering->number ||
	    (count > 1 && count <= clustering->held && !clustering->held_units))
		return lode_fail_memory(error);
	clustering->order = lode_similarities_order(clustering->similarities);
	for (size_t i = 0; i < count; i++)
		clustering->group[i] = clustering->leaders[i] = (uint32_t)i;
	return 0;
}

/* ---- connected groups ---- */

static uint32_t find_group(uint32_t *group, uint32_t pattern)
{
	while (group[pattern] != pattern)
		pattern = group[pattern] = group[group[pattern]];
	return pattern;
}

static void hang_together(uint32_t *group, uint32_t a, uint32_t b)
{
	a = find_group(group, a);
	b = find_group(group, b);
	if (a < b)
		group[b] = a;
	else
		group[a] = b;
}

static void take_row(void *context, size_t row, const uint32_t *units)
{
	struct clustering *clustering = context;
	size_t count = clustering->count;

	if (row + 1 == count)
		return;
	for (size_t j = row + 1; j < count; j++)
		if (units[j] >= clustering->cut)
			hang_together(clustering->group, clustering->order[row], clustering->order[j]);
	if (clustering->held_units)
		memcpy(clustering->held_units + lode_pair_place(count, row, row + 1), units + row + 1,
		       (count - row - 1) * sizeof(*units));
}

static int find_groups(struct clustering *clustering, struct lode_error *error)
{
	const struct lode_clusters_input *input = clustering->input;
	struct lode_similarities_sink sink = { take_row, clustering };
	int code = lode_similarities_compare(clustering->similarities, clustering->order, clustering->count,
					     input->jobs, input->progress, &sink, error);

	for (size_t i = 0; i < clustering->count; i++)
		clustering->group[i] = find_group(clustering->group, (uint32_t)i);
	return code;
}

/* ---- one group ---- */

struct group {
	const uint32_t *patterns; /* rising */
	const uint32_t *places;   /* of the same patterns in the order, rising */
	size_t count;
	uint64_t *sums;    /* by places in `patterns`, lode_pair_place */
	uint32_t *members; /* the patterns in the order, for comparing them again */
	uint32_t *leaders; /* beside `patterns` */
	const struct clustering *clustering;
};

static void put_pair(struct group *group, size_t a, size_t b, uint32_t units)
{
	const struct clustering *clustering = group->clustering;
	size_t i = clustering->number[clustering->order[group->places[a]]];
	size_t j = clustering->number[clustering->order[group->places[b]]];

	group->sums[lode_pair_place(group->count, i < j ? i : j, i < j ? j : i)] = units;
}

static void take_group_row(void *context, size_t row, const uint32_t *units)
{
	struct group *group = context;

	for (size_t j = row + 1; j < group->count; j++)
		put_pair(group, row, j, units[j]);
}

static int compare_again(struct group *group, struct lode_error *error)
{
	const struct clustering *clustering = group->clustering;
	struct lode_similarities_sink sink = { take_group_row, group };

	for (size_t i = 0; i < group->count; i++)
		group->members[i] = clustering->order[group->places[i]];
	return lode_similarities_compare(clustering->similarities, group->members, group->count,
					 clustering->input->jobs, clustering->input->progress, &sink, error);
}

static int fill_sums(struct group *group, struct lode_error *error)
{
	const struct clustering *clustering = group->clustering;

	for (size_t i = 0; i < group->count; i++)
		clustering->number[group->patterns[i]] = (uint32_t)i;
	if (!clustering->held_units)
		return compare_again(group, error);
	for (size_t a = 0; a < group->count; a++)
		for (size_t b = a + 1; b < group->count; b++)
			put_pair(group, a, b,
				 clustering->held_units[lode_pair_place(clustering->count, group->places[a],
									group->places[b])]);
	return 0;
}

static int link_filled(struct group *group, struct lode_error *error)
{
	const struct clustering *clustering = group->clustering;
	int code = fill_sums(group, error);

	if (!code)
		code = lode_linkage(group->sums, group->count, clustering->cut, group->leaders,
				    clustering->input->progress, error);
	for (size_t i = 0; i < group->count && !code; i++)
		clustering->leaders[group->patterns[i]] = group->patterns[group->leaders[i]];
	return code;
}

static int link_group(struct group *group, struct lode_error *error)
{
	size_t count = group->count, held = group->clustering->held;
	int code;

	if (count > held)
		return lode_fail(error, LODE_USAGE,
				 "%zu patterns are connected at this similarity, more than the %zu that can "
				 "be clustered at once; raise the threshold or the similarity",
				 count, held);
	group->sums = lode_calloc(count * (count - 1) / 2, sizeof(*group->sums));
	group->members = lode_calloc(count, sizeof(*group->members));
	group->leaders = lode_calloc(count, sizeof(*group->leaders));
	if (group->sums && group->members && group->leaders)
		code = link_filled(group, error);
	else
		code = lode_fail_memory(error);
	lode_free(group->sums);
	lode_free(group->members);
	lode_free(group->leaders);
	return code;
}

/* ---- all groups ---- */

/* All patterns by group. */
struct sorted {
	size_t *starts;     /* by group (its first pattern), one more */
	uint32_t *patterns; /* rising in each group */
	uint32_t *places;   /* in clustering->order, the same */
};

static void sort_by_group(const struct clustering *clustering, struct sorted *sorted)
{
	const uint32_t *group = clustering->group;
	size_t count = clustering->count, sum = 0;

	for (size_t i = 0; i < count; i++)
		sorted->starts[group[i]]++;
	for (size_t i = 0; i <= count; i++)
		sorted->starts[i] = sum += sorted->starts[i];
	for (size_t i = count; i-- > 0;)
		sorted->patterns[--sorted->starts[group[i]]] = (uint32_t)i;
	for (size_t i = 0; i < count; i++)
		sorted->places[sorted->starts[group[clustering->order[i]]]++] = (uint32_t)i;
	for (size_t i = count; i > 0; i--)
		sorted->starts[i] = sorted->starts[i - 1];
	sorted->starts[0] = 0;
}

static int link_groups(const struct clustering *clustering, const struct sorted *sorted, struct lode_error *error)
{
	int code = 0;

	for (size_t i = 0; i < clustering->count && !code; i++) {
		struct group group = {
			.patterns = sorted->patterns + sorted->starts[i],
			.places = sorted->places + sorted->starts[i],
			.count = sorted->starts[i + 1] - sorted->starts[i],
			.clustering = clustering,
		};

		if (group.count > 1)
			code = link_group(&group, error);
	}
	return code;
}

static int sort_and_link(const struct clustering *clustering, struct lode_error *error)
{
	size_t count = clustering->count;
	struct sorted sorted = {
		.starts = lode_calloc(count + 1, sizeof(*sorted.starts)),
		.patterns = lode_calloc(count, sizeof(*sorted.patterns)),
		.places = lode_calloc(count, sizeof(*sorted.places)),
	};
	int code;

	if (sorted.starts && sorted.patterns && sorted.places) {
		sort_by_group(clustering, &sorted);
		code = link_groups(clustering, &sorted, error);
	} else {
		code = lode_fail_memory(error);
	}
	lode_free(sorted.starts);
	lode_free(sorted.patterns);
	lode_free(sorted.places);
	return code;
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
		struct lode_cluster *cluster = &clusters->items[number[clustering->leaders[i]]];

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
		.held = input->held && input->held < HELD ? input->held : HELD,
		.cut = cut_units(input->similarity),
	};
	int code;

	memset(clusters, 0, sizeof(*clusters));
	if (isnan(input->similarity))
		return lode_fail(error, LODE_USAGE, "the similarity is not a number; give one from 0 to 1");
	if (clustering.count >= LODE_NONE)
		return lode_fail(error, LODE_USAGE, "%zu patterns are too many to cluster at once",
				 clustering.count);
	code = prepare(&clustering, error);
	if (!code)
		code = find_groups(&clustering, error);
	if (!code)
		code = sort_and_link(&clustering, error);
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
