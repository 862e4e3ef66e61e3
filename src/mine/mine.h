/*
 * lode mine as a library: area -> patterns -> clusters -> ranked list.
 */
#ifndef LODE_MINE_MINE_H
#define LODE_MINE_MINE_H

#include "mine/clusters.h"
#include "mine/ranking.h"

/* The similarity at which clusters are cut unless --similarity says otherwise: see docs/mining.md. */
#define LODE_SIMILARITY 0.5

struct lode_mine_options {
	enum lode_event_type kind;  /* LODE_RUN or LODE_WAIT */
	uint64_t threshold;         /* ns; 0: from impact */
	double impact_share;        /* with impact_cost: threshold = share * cost * streams */
	uint64_t impact_cost;
	double similarity;
	enum lode_rank rank;
	int fold_recursion;
	uint32_t min_length;
	uint32_t max_length;
	uint64_t max_patterns;
	const struct lode_patterns *given; /* measure these patterns instead of mining; NULL: mine */
	unsigned resamples;
	unsigned jobs;
	const struct lode_progress *progress;
};

#define LODE_ID 13 /* twelve hexadecimal digits and a NUL */

struct lode_mined_group {
	char id[LODE_ID];   /* from its frames: the same pattern has the same id in every run */
	struct lode_metrics metrics;
};

struct lode_mined {
	uint64_t threshold;
	struct lode_patterns patterns;     /* by cost, then by their text */
	struct lode_mined_group *pattern_groups; /* beside patterns */
	struct lode_clusters clusters;     /* in the order asked for */
	struct lode_mined_group *cluster_groups; /* beside clusters */
	uint32_t **common;                 /* beside clusters: frames */
	uint32_t *common_length;
};

/* Mines an area. Returns 0 or a negative code. Release in either case (zeroed before). */
int lode_mine(const struct lode_area *area, const struct lode_mine_options *options, struct lode_mined *mined,
	      struct lode_error *error);
void lode_mined_release(struct lode_mined *mined);

/* The id of a sequence of frames: of their texts, so that it does not depend on numbers. */
void lode_sequence_id(const struct lode_frames *frames, const uint32_t *sequence, uint32_t length,
		      char id[LODE_ID]);

#endif
