/*
 * The miner: all costly maximal patterns of weighted stacks (StackMine, section V).
 *
 * A pattern is a sequence of frames; a stack supports it when the pattern is a
 * subsequence of it, not necessarily contiguous, and then adds its cost once,
 * however often it matches. Costly: the costs of the supporting stacks sum up to
 * the threshold or more. Maximal: no longer costly pattern contains it.
 */
#ifndef LODE_MINE_MINER_H
#define LODE_MINE_MINER_H

#include "base/error.h"
#include "base/job_rank.h"
#include "base/progress.h"
#include "trace/stack_tree.h"

struct lode_miner_input {
	const struct lode_stack_tree *tree;
	const uint64_t *cost;  /* by node: what events with exactly this stack cost; sums stop at UINT64_MAX */
	uint64_t threshold;    /* at least 1 */
	uint32_t min_length;   /* shorter patterns are left out of the result; 0 or 1: none are */
	uint32_t max_length;   /* patterns up to this length are looked for, maximal among those; 0: no limit */
	uint64_t max_patterns; /* stop after this many; 0: no limit */
	unsigned jobs;         /* 0: one per processor */
	const struct lode_progress *progress;
	/*
	 * Only a part of the search, for one of several processes: of `parts` that with the number `part`. The
	 * maximal ones of what all parts find are those of the whole. 0 and 1: all of it.
	 */
	unsigned part;
	unsigned parts;
	const struct lode_job_rank *rank; /* the first process, which others serve (miner_job.h); NULL: alone */
};

struct lode_pattern {
	size_t first; /* of its frames in `frames` */
	uint32_t length;
	uint32_t unused; /* 0 */
	uint64_t cost;
};

enum lode_miner_end {
	LODE_MINER_COMPLETE,
	LODE_MINER_MAX_PATTERNS, /* stopped at max_patterns: there are more, and some found may not be maximal */
	LODE_MINER_INTERRUPTED,  /* the progress callback asked to stop: the same */
};

/* "complete", "max-patterns", "interrupted". */
const char *lode_miner_end_name(enum lode_miner_end end);

struct lode_patterns {
	struct lode_pattern *items; /* by cost, largest first; then by length, longest first; then by frame numbers */
	size_t count;
	size_t capacity;
	uint32_t *frames; /* of all patterns, root first */
	size_t frame_count;
	size_t frame_capacity;
	enum lode_miner_end end;
	uint64_t prefixes; /* that were looked at, to show how hard it was */
};

/*
 * Fills `patterns` (zeroed). The set does not depend on `jobs` when the search is
 * complete. Returns 0 or LODE_SYSTEM. Release in either case.
 */
int lode_mine_patterns(const struct lode_miner_input *input, struct lode_patterns *patterns,
		       struct lode_error *error);
void lode_patterns_release(struct lode_patterns *patterns);
/* Appends one. Returns 0 or LODE_SYSTEM. */
int lode_patterns_add(struct lode_patterns *patterns, const uint32_t *frames, uint32_t length, uint64_t cost);

static inline const uint32_t *lode_pattern_frames(const struct lode_patterns *patterns, size_t i)
{
	return patterns->frames + patterns->items[i].first;
}

#endif
