/*
 * Where the time went: the latencies of slow streams against those of good ones
 * (IntroPerf, section 3.4.2).
 *
 * The trees of both sides are overlaid: two paths are the same if they have the same
 * functions in the same order. Each node then has its own latency per stream on either
 * side; a context that the good side does not have counts in full. A path, from a root
 * to a leaf of the slow side's tree, costs the sum of what its nodes take more.
 */
#ifndef LODE_LATENCY_DIFF_H
#define LODE_LATENCY_DIFF_H

#include "latency/latency.h"
#include "latency/code_layer.h"
#include "latency/gate.h"

/*
 * What is called sure is wrong in at most this share of all comparisons of equal sides: all paths
 * and the whole run together, not each of them (chance.h).
 */
#define LODE_DIFF_LEVEL 0.05

/*
 * Where a function surely takes more, the whole run and the function's callers must confirm it. Only one
 * direction is asked about then, so that 5 of 100 is a p of twice that.
 */
#define LODE_DIFF_CONFIRMED (2 * LODE_DIFF_LEVEL)

struct lode_diff_path {
	uint32_t leaf;
	uint32_t hottest; /* its node that takes most more */
	int is_new;       /* the good side does not have this context */
	int whole;        /* all of it counts, regardless of what the good side takes there (paper_ranking.h) */
	int64_t cost;     /* ns per stream: sum of what its nodes take more */
	double p; /* that chance makes it take so much more (permutation test over streams); 1 where not tested */
	double q; /* the same for all functions together; at least p */
};

/* What a function takes more in all its contexts together, ns per stream. */
struct lode_diff_function_growth {
	int64_t more; /* itself, and in the kernel and the C library for it */
	/*
	 * What ranks its paths: that, or what it takes more in one context alone, where others have less. Who waits for
	 * another thread takes longer than that one, and is to blame if it did not wait in this context before.
	 */
	int64_t weight;
	double p; /* as of a path; 1 where not tested */
	double q; /* the same for all functions and the whole run together */
};

/* What the streams can show at all. */
struct lode_diff_chance {
	int tested; /* there are streams enough for a test */
	double p;   /* of the whole run, as of a path */
	double q;
	size_t sure_paths;     /* that surely take more */
	size_t sure_functions; /* that surely take more in all contexts together */
	/*
	 * ns per stream: a difference that would have been called sure LODE_CHANCE_POWER times of 100,
	 * however it is spread over the run; and one of a single path. -1: none, or not known.
	 */
	int64_t detectable;
	int64_t detectable_path;
	double streams_for_5; /* streams a side needed to show one of 5 % of a run, about; 0: not known */
};

/* The function to look at first. */
struct lode_root_cause {
	uint32_t node;   /* 0: nothing surely takes more */
	uint32_t caller; /* the node that calls it; 0: none */
	int is_new;      /* it was never called from there on the good side */
	/*
	 * ns per stream that it takes more in all its contexts, with what it calls; no more than its callers
	 * do, since time that was only moved from another function is not extra time.
	 */
	int64_t more;
	enum lode_layer layer;
	int sure; /* it surely takes more, and so does the whole run; else it is a guess */
	double p; /* of the function in all contexts */
	double q;
};

/* Why there is no cause. */
enum lode_no_cause {
	LODE_CAUSE_KNOWN,
	LODE_CAUSE_NOTHING_SURE, /* no function surely takes more */
	LODE_CAUSE_NOT_SLOWER,   /* the runs take no more time, so nothing made them slow */
	LODE_CAUSE_TOTAL_UNSURE, /* a function surely takes more (`cause_hint`), but the whole run may by chance */
	LODE_CAUSE_MOVED,        /* what takes more was moved from elsewhere: its callers take as long as before */
};

struct lode_diff {
	const struct lode_dictionary *dictionary; /* the base's, which has both sides' stacks */
	uint64_t *base;                           /* by node: own latency, ns per stream */
	uint64_t *slow;
	uint8_t *known;        /* by node: the base has it */
	int64_t *more;         /* by node: what it and all below it take more, ns per stream */
	uint32_t *function_of; /* by node: the frame that its own time counts for (lode_stack_who) */
	struct lode_diff_function_growth *functions; /* by frame */
	/*
	 * Sure ones first, then likely ones; those whose hottest function has most weight first, then by
	 * cost, by names.
	 */
	struct lode_diff_path *paths;
	size_t path_count;
	size_t path_capacity;
	struct lode_diff_chance chance;
	uint64_t base_whole; /* ns per stream: of all nodes of the base */
	int64_t difference;  /* ns per stream: of all nodes */
	double *base_means;  /* by node: own latency a call, by the paper's arithmetic; NULL: not requested */
	double *slow_means;
	struct lode_root_cause cause;
	enum lode_no_cause no_cause;
	uint32_t cause_hint;          /* node; 0: none */
	struct lode_gate_result gate; /* where rules were given */
};

struct lode_diff_options {
	unsigned jobs;            /* as in lode_parallel */
	int guess;                /* name a cause though nothing is sure */
	const char *const *match; /* globs: only a path with a fitting frame has a cause; NULL: any */
	/* To the letter of the paper (paper_ranking.h); with either, paths are ordered by cost alone. */
	int mean;                     /* paths cost what their functions take more a call, not a stream */
	enum lode_latency_rule rule;  /* of these means */
	int whole_new_paths;          /* a path that the base does not have counts with all its functions */
	const struct lode_gate *gate; /* rules to judge; NULL: none */
};

/* `nothing-sure`, `faster`, `total-unsure`, `moved`; NULL: there is a cause, or no such number. */
const char *lode_no_cause_name(unsigned no_cause);

/*
 * Compares. The slow side's stacks are added to the base's dictionary; the two must stay
 * as long as the result. Returns 0 or LODE_SYSTEM; release in either case.
 */
int lode_diff(struct lode_latency *base, const struct lode_latency *slow, const struct lode_diff_options *options,
	      struct lode_diff *diff);
void lode_diff_release(struct lode_diff *diff);

/* Whether the run as a whole takes more, by a test of its own. */
static inline int lode_diff_total_is_confirmed(const struct lode_diff *diff)
{
	return diff->difference > 0 && diff->chance.p < LODE_DIFF_CONFIRMED;
}

/* Whether something surely takes more: a function, or the run as a whole. */
int lode_diff_is_sure(const struct lode_diff *diff);

static inline int lode_diff_path_is_sure(const struct lode_diff_path *path)
{
	return path->cost > 0 && path->q < LODE_DIFF_LEVEL;
}

static inline int lode_diff_function_is_sure(const struct lode_diff_function_growth *function)
{
	return function->more > 0 && function->q < LODE_DIFF_LEVEL;
}

/* Of the function that the time of `node` counts for. */
static inline const struct lode_diff_function_growth *lode_diff_function_of(const struct lode_diff *diff,
									    uint32_t node)
{
	return &diff->functions[diff->function_of[node]];
}

/* What the side takes that takes more, ns per stream. */
static inline uint64_t lode_diff_whole(const struct lode_diff *diff)
{
	return lode_add_saturating(diff->base_whole, diff->difference > 0 ? (uint64_t)diff->difference : 0);
}

/* What a node by itself takes more, ns per stream. */
static inline int64_t lode_diff_delta(const struct lode_diff *diff, uint32_t node)
{
	return (int64_t)(diff->slow[node] - diff->base[node]);
}

/* What of a path's cost is a node's: ns per stream, or with means per call. */
static inline double lode_diff_gain(const struct lode_diff *diff, const struct lode_diff_path *path, uint32_t node)
{
	double base = diff->base_means ? diff->base_means[node] : (double)diff->base[node];
	double slow = diff->slow_means ? diff->slow_means[node] : (double)diff->slow[node];

	return path->whole ? slow : slow - base;
}

#endif
