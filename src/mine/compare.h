/*
 * Two corpora side by side: which clusters are new, gone, or changed in cost per
 * stream, and whether that is more than chance; the regression list of a release.
 *
 * Each side is mined by itself; then the clusters of both are measured on both.
 * A cluster of the other side whose events the clusters of this side cover already
 * is left out: it is the same thing, found with other frames.
 */
#ifndef LODE_MINE_COMPARE_H
#define LODE_MINE_COMPARE_H

#include "mine/mine.h"

/* A difference counts when chance alone gives one as large in fewer than this share of all lists. */
#define LODE_COMPARE_LEVEL 0.05

enum lode_pattern_change {
	LODE_CHANGE_NEW,    /* nothing of it in the other corpus */
	LODE_CHANGE_GONE,   /* nothing of it in this one */
	LODE_CHANGE_SLOWER, /* more of it per stream */
	LODE_CHANGE_FASTER, /* less */
	LODE_CHANGE_SAME,
	LODE_CHANGES,
};

/* "new", "gone", "slower", "faster", "same". */
const char *lode_change_name(enum lode_pattern_change change);

struct lode_compared {
	char id[LODE_ID];
	int from_other; /* the cluster was found in the other corpus only */
	size_t cluster; /* its number there or here */
	enum lode_pattern_change change;
	struct lode_metrics here;
	struct lode_metrics other;
	double here_mean; /* ns per stream */
	double other_mean;
	double p; /* of a difference of means as large as this by chance */
	double q; /* the same, corrected for looking at many clusters (Benjamini and Hochberg) */
};

struct lode_comparison {
	struct lode_compared *items; /* significant ones first, then by the difference of means, largest first */
	size_t count;
	size_t capacity;
};

struct lode_compare_side {
	struct lode_area *area; /* the other side's frames are added to its dictionary */
	const struct lode_mined *mined;
};

/* Returns 0 or a negative code. `comparison` is zeroed before; release it in either case. */
int lode_compare(const struct lode_compare_side *here, const struct lode_compare_side *other,
		 enum lode_event_type kind, struct lode_comparison *comparison, struct lode_error *error);
void lode_comparison_release(struct lode_comparison *comparison);

#endif
