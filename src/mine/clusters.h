/*
 * Clusters of similar patterns: average linkage on 1 - Sim, cut at a similarity.
 * Of equally similar clusters those with the first patterns are joined first.
 */
#ifndef LODE_MINE_CLUSTERS_H
#define LODE_MINE_CLUSTERS_H

#include "base/job_rank.h"
#include "mine/alignment.h"
#include "mine/miner.h"

struct lode_pattern_cluster {
	size_t first; /* of its patterns in `members` */
	size_t count;
};

struct lode_clusters {
	struct lode_pattern_cluster *items; /* by their first pattern */
	size_t count;
	uint32_t *members; /* numbers of patterns, rising in each cluster */
};

struct lode_clusters_input {
	const struct lode_patterns *patterns;
	const struct lode_words *words;
	const struct lode_call_counts *counts;
	double similarity; /* clusters whose average Sim is at least this are joined, most similar first */
	unsigned jobs;
	const struct lode_progress *progress;
	const struct lode_job_rank *rank; /* the first process, which others serve (similarity_job.h); NULL: alone */
};

/*
 * Returns 0 or a negative code. The result does not depend on `jobs`. Memory grows with
 * the pairs that are at least seven eighths as similar. Release in either case.
 */
int lode_clusters_make(const struct lode_clusters_input *input, struct lode_clusters *clusters,
		       struct lode_error *error);
void lode_clusters_release(struct lode_clusters *clusters);

/*
 * What all patterns of a cluster have in common, for people: the first pattern's
 * frames, narrowed by aligning it with each of the others in turn and keeping
 * what matched. Written to `common`, which has room for the first pattern's
 * length; returns the number of frames or LODE_SYSTEM.
 */
int lode_cluster_common(const struct lode_patterns *patterns, const uint32_t *members, size_t count,
			const struct lode_words *words, uint32_t *common);

#endif
