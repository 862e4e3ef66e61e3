/*
 * lode mine as a library: area -> patterns -> clusters -> ranked list.
 */
#ifndef LODE_MINE_MINE_H
#define LODE_MINE_MINE_H

#include "mine/clusters.h"
#include "mine/pattern_costs.h"

/* The similarity at which clusters are cut unless --similarity says otherwise: docs/mining.md says why. */
#define LODE_SIMILARITY 0.45

struct lode_mine_options {
	enum lode_event_type kind; /* LODE_RUN or LODE_WAIT */
	int both;                  /* the rows of `kind` hold runs and waits (lode_area_join_kinds) */
	int ready;                 /* the rows of waits are times on the run queue (area.h) */
	uint64_t threshold;        /* ns, at least 1: lode_mine_threshold */
	double similarity;
	enum lode_rank rank;
	int fold_recursion; /* the area is folded (lode_area_fold), to be shown */
	uint32_t min_length;
	uint32_t max_length;
	uint64_t max_patterns;
	const struct lode_patterns *given; /* measure these (frames of the area) instead of mining; NULL: mine */
	unsigned jobs;
	const struct lode_progress *progress;
	const struct lode_job_rank *job; /* the first process, which others serve (mine_services.h); NULL: alone */
};

/* "run", "wait", "both", "ready". */
static inline const char *lode_mine_kind_name(const struct lode_mine_options *options)
{
	if (options->ready)
		return "ready";
	return options->both ? "both" : lode_event_type_name(options->kind);
}

#define LODE_ID 13 /* twelve hexadecimal digits and a NUL */

/* A pattern or a cluster: what it is called and what it costs. */
struct lode_mined_group {
	char id[LODE_ID]; /* from its frames: the same pattern has the same id in every run */
	struct lode_metrics metrics;
	struct lode_shares shares; /* by stream; clusters only */
	uint64_t gain;             /* ns that fixing it gains, where that was made (gain.h); clusters only, */
	uint32_t gain_target;      /* as is the number of its target there plus one; 0: it was not */
};

/* Nanoseconds that each step took. */
struct lode_mine_timing {
	uint64_t mining;
	uint64_t clustering;
	uint64_t ranking;
};

struct lode_mined {
	struct lode_patterns patterns;           /* by cost, then by the texts of their frames */
	struct lode_mined_group *pattern_groups; /* parallel to patterns */
	struct lode_clusters clusters;           /* in the order requested */
	int unclustered;                         /* stopped before: each pattern is a separate cluster */
	struct lode_mined_group *cluster_groups; /* parallel to clusters */
	uint32_t **common;                       /* parallel to clusters: frames that all their patterns share */
	uint32_t *common_length;
	struct lode_words *words; /* of the area's frames, to show alignments */
	struct lode_mine_timing timing;
};

/*
 * Reads a threshold: a duration, or a share of `cost` such as `1%`. 0 and what is
 * no number is LODE_USAGE.
 */
int lode_mine_threshold(const char *text, uint64_t cost, uint64_t *threshold, struct lode_error *error);
/* Reads `10%,300ms`: a bug that costs 300 ms on average in 10 % of `streams`. */
int lode_mine_impact(const char *text, size_t streams, uint64_t *threshold, struct lode_error *error);

/* Mines an area. Returns 0 or a negative code. `mined` is zeroed before; release it in either case. */
int lode_mine(const struct lode_area *area, const struct lode_mine_options *options, struct lode_mined *mined,
	      struct lode_error *error);
void lode_mined_release(struct lode_mined *mined);
/* Puts the clusters into another order. Returns 0 or LODE_SYSTEM. */
int lode_mined_rank(struct lode_mined *mined, enum lode_rank rank);

/* The id of a sequence of frames: of their texts, so that it does not depend on numbers. 0 or LODE_SYSTEM. */
int lode_sequence_id(const struct lode_frames *frames, const uint32_t *sequence, uint32_t length, char id[LODE_ID]);

#endif
