/*
 * Costs of patterns: the four metrics of StackMine over the union of the events that match
 * any pattern of a group (a cluster, a signature, or one pattern), so that no
 * event counts twice; with a confidence interval over streams for the total.
 */
#ifndef LODE_MINE_PATTERN_COSTS_H
#define LODE_MINE_PATTERN_COSTS_H

#include "mine/matcher.h"
#include "scope/area.h"

enum lode_rank {
	LODE_RANK_TOTAL,
	LODE_RANK_STREAMS,
	LODE_RANK_EVENTS,
	LODE_RANK_AVERAGE,
	LODE_RANK_GAIN, /* what fixing it would gain (gain.h), where that was made; then by cost */
	LODE_RANKS,
};

/* "total", "streams", "events", "average", "gain". */
const char *lode_rank_name(enum lode_rank rank);

struct lode_metrics {
	uint64_t cost; /* ns */
	uint64_t events;
	uint64_t streams;
	uint64_t average; /* cost / events, rounded; 0 when there are none */
	uint64_t low;     /* 95 % interval of the total to be expected of as many such streams, */
	uint64_t high;
	int sure;        /* where there is one; else both are the cost */
	double variance; /* of the cost, by what thinned recordings left out; 0: nothing */
};

/* What a group costs in one stream. */
struct lode_share {
	uint32_t stream;
	uint32_t row; /* of the costliest event among the group's rows of this stream, to jump to */
	uint64_t cost;
	uint64_t events;
	double variance;
};

struct lode_shares {
	struct lode_share *items; /* by stream */
	size_t count;
	size_t capacity;
};

/* Rows of an area sorted for matching: by preorder number of their stacks. */
struct lode_pattern_costs;

/*
 * `area` and `matcher`, which is that of the area's tree, must outlive it. `kind`:
 * LODE_RUN or LODE_WAIT. NULL when memory has run out.
 */
struct lode_pattern_costs *lode_pattern_costs_make(const struct lode_area *area, enum lode_event_type kind,
						   const struct lode_matcher *matcher);
void lode_pattern_costs_free(struct lode_pattern_costs *costs);

/* A pattern as it is handed around: frames of the area's dictionary, root first. */
struct lode_sequence {
	const uint32_t *frames;
	uint32_t length;
};

/*
 * Metrics of the union of `count` patterns, and, where `shares` is not NULL, what
 * they cost in each stream (zeroed before first use, reused). `interval` 0: no
 * interval (low = high = cost). Threads may share it. Returns 0 or LODE_SYSTEM.
 */
int lode_pattern_costs_measure(const struct lode_pattern_costs *costs, const struct lode_sequence *patterns,
			       size_t count, int interval, struct lode_metrics *metrics,
			       struct lode_shares *shares);
void lode_shares_release(struct lode_shares *shares);

/* Fewer streams say nothing of others. */
#define LODE_INTERVAL_STREAMS 3

struct lode_interval {
	double low;
	double high;
};

/*
 * 95 % interval of the total over `streams` streams, of which `nonzero` cost
 * something (`costs`) and the others nothing. The interval of the mean per stream
 * is this divided by `streams`. Returns whether there is one; if not, both ends are
 * the total. Same numbers for the same input on every machine.
 */
int lode_total_interval(const uint64_t *costs, size_t nonzero, size_t streams, struct lode_interval *interval);

/*
 * 95 % interval of what the very streams that were recorded would have come to, had nothing been
 * left out: `cost` is the estimate, `variance` that of its sampling. lode_total_interval knows
 * of this by itself, since estimates of streams differ by it as well.
 */
struct lode_interval lode_sampling_interval(uint64_t cost, double variance);

#endif
